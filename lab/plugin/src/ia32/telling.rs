// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells a sink: for measuring and recording.

use super::{Access, Event, Ia32Guest, Instruction, Observer, Place, State};
use crate::core::observer;
use crate::core::output::Output;
use crate::core::setup::Setup;
use cobnut_model::{ia32, Linear, Physical};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{Marker, Mode, Run, Sink};
use std::ops::Range;

const CR0_PAGING: u32 = 1 << 31;
const CR4_PAE: u32 = 1 << 5;
const CR4_GLOBAL_PAGES: u32 = 1 << 7;

impl observer::Observer<Ia32Guest> for Output<Ia32> {
    type Prepared = Run<Ia32>;
    type Site = ();

    fn create(setup: &Setup, memory: u32) -> Result<Self, String> {
        Output::new(setup, memory)
    }

    fn prepare(&self, at: Linear, instructions: &[Instruction]) -> Run<Ia32> {
        let told = |one: &Instruction| {
            let Instruction { length, decoded, .. } = *one;
            ia32::Instruction { length, class: decoded.class, issue: decoded.issue }
        };
        Sink::prepare(self, at, instructions.iter().map(told).collect())
    }

    fn site(&self, _offset: u32, _instruction: &Instruction) {}

    fn belongs(run: &mut Run<Ia32>, mode: Mode) {
        run.mode = mode;
    }

    fn of_program(&self, run: &mut Run<Ia32>, address: u32, program: usize) {
        Output::of_program(self, run, address, program);
    }

    #[inline]
    fn run(&mut self, run: &Run<Ia32>, place: &Place, state: &mut State) {
        Sink::run(self, run, place.linear, &mut state.memory);
    }

    fn retract(&mut self, run: &Run<Ia32>, instructions: Range<usize>) {
        Sink::retract(self, run, instructions);
    }

    #[inline]
    fn data(&mut self, _site: &(), access: &Access, state: &mut State) {
        Sink::data(self, access.linear, access.size as u8, access.write, &mut state.memory);
    }

    #[inline]
    fn event(&mut self, event: Event, state: &mut State) {
        let told = match event {
            Event::Arrived(_) => return,
            Event::ControlWritten { at, cr3_written, just_enabled, control } => {
                return control_written(self, at, (cr3_written, just_enabled), control, state)
            }
            Event::UserCode { base } => ia32::Event::UserCode { base },
            Event::PageFault { linear } => ia32::Event::PageFault { linear },
            Event::Entry(kind) => ia32::Event::Entry(kind),
            Event::Invlpg { linear, .. } => ia32::Event::Invlpg { linear },
        };
        Sink::event(self, &told, &mut state.memory);
    }

    fn marker(&mut self, marker: Marker) {
        Sink::marker(self, marker);
    }

    fn doubt(&mut self, text: String) {
        self.warn(text);
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        Output::finish(self, &setup.arguments.out)
    }
}

fn control_written(
    output: &mut Output<Ia32>,
    at: u32,
    (cr3_written, just_enabled): (bool, bool),
    [cr0, cr3, cr4]: [u32; 3],
    state: &mut State,
) {
    if cr0 & CR0_PAGING == 0 {
        return;
    }
    if cr4 & CR4_PAE != 0 {
        output.warn("the guest uses PAE page tables, which are not understood: physical addresses are wrong".into());
    }
    if cr3_written || just_enabled {
        output.event(&ia32::Event::Cr3Write { directory: Physical(cr3).frame(), at }, &mut state.memory);
    }
    if !cr3_written {
        let event = ia32::Event::ControlWrite { global_pages: cr4 & CR4_GLOBAL_PAGES != 0 };
        output.event(&event, &mut state.memory);
    }
}

impl Observer for Output<Ia32> {
    const CUT: bool = true;
    const ENDS: bool = true;
    const PHYSICAL: bool = false;
    const TABLES_ARE_DATA: bool = false;

    fn announces(_site: &(), _before: Option<&()>) -> bool {
        false
    }
}
