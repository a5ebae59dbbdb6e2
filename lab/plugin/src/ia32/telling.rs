// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells a sink: for measuring and recording. Accesses past their segments' limits, which QEMU does
//! not refuse, are told as the faults that they would be.

use super::follower::KERNEL;
use super::limits::{Limits, Passed};
use super::operands::{self, Operands};
use super::{Access, Event, Ia32Guest, Instruction, Observer, Place, State};
use crate::core::observer;
use crate::core::output::Output;
use crate::core::setup::Setup;
use cobnut_model::ia32::control::{emptying, CR0_PAGING, CR4_GLOBAL_PAGES, CR4_PAE};
use cobnut_model::ia32::sanitizer::{CS, FS, GS};
use cobnut_model::{ia32, Linear, Physical};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{Marker, Mode, Run, Sink};
use std::ops::Range;

/// The registers that are loaded and used within one block.
const ANNOUNCED: u8 = 1 << FS | 1 << GS;

pub struct Telling {
    output: Output<Ia32>,
    limits: Limits,
    /// User code has loaded a segment register and been left since.
    loaded: bool,
    /// Which of CR0 and CR4's bits were set that empty the TLB when they change.
    emptying: u32,
}

/// A run, and what it does with segment registers.
pub struct Told {
    run: Run<Ia32>,
    through: u8,
    loads: bool,
}

impl observer::Observer<Ia32Guest> for Telling {
    type Prepared = Told;
    type Site = Operands;

    fn create(setup: &Setup, memory: u32) -> Result<Self, String> {
        let limits = Limits::new(setup.kernel.has_small_spaces());
        Ok(Telling { output: Output::new(setup, memory)?, limits, loaded: false, emptying: 0 })
    }

    fn prepare(&self, at: Linear, instructions: &[Instruction]) -> Told {
        let told = |one: &Instruction| {
            let Instruction { length, decoded, .. } = *one;
            ia32::Instruction { length, class: decoded.class, issue: decoded.issue }
        };
        let operands = instructions.iter().map(operands_of);
        let (through, loads) = operands.fold((1 << CS, false), |(through, loads), one| {
            (through | one.reads | one.writes, loads | (one.loaded != 0))
        });
        Told { run: self.output.prepare(at, instructions.iter().map(told).collect()), through, loads }
    }

    fn site(&self, _offset: u32, instruction: &Instruction) -> Operands {
        operands_of(instruction)
    }

    fn belongs(told: &mut Told, mode: Mode) {
        told.run.mode = mode;
    }

    fn of_program(&self, told: &mut Told, address: u32, program: usize) {
        self.output.of_program(&mut told.run, address, program);
    }

    #[inline]
    fn run(&mut self, told: &Told, place: &Place, state: &mut State) {
        if std::mem::take(&mut self.loaded) {
            self.limits.forget();
        }
        // the trampoline's segments are flat
        let user = place.privilege != KERNEL && told.run.mode != Mode::Trampoline;
        self.limits.run(user, told.through, state);
        self.loaded = user && told.loads;
        if let Some(past) = self.limits.fetched(place.linear) {
            self.past_limit(past, place.linear, state);
        }
        self.output.run(&told.run, place.linear, &mut state.memory);
    }

    fn retract(&mut self, told: &Told, instructions: Range<usize>) {
        self.output.retract(&told.run, instructions);
    }

    #[inline]
    fn data(&mut self, operands: &Operands, access: &Access, state: &mut State) {
        if let Some(past) = self.limits.data(operands, access, state) {
            self.past_limit(past, access.linear, state);
        }
        self.output.data(access.linear, access.size as u8, access.write, &mut state.memory);
    }

    #[inline]
    fn event(&mut self, event: Event, state: &mut State) {
        let told = match event {
            Event::Arrived(_) => return,
            Event::ControlWritten { at, cr3_written, just_enabled, control } => {
                return self.control_written(at, (cr3_written, just_enabled), control, state)
            }
            Event::UserCode { base } => ia32::Event::UserCode { base },
            Event::PageFault { linear } => ia32::Event::PageFault { linear },
            Event::Entry(kind) => ia32::Event::Entry(kind),
            Event::Invlpg { linear, .. } => ia32::Event::Invlpg { linear },
        };
        self.output.event(&told, &mut state.memory);
    }

    fn marker(&mut self, marker: Marker) {
        self.output.marker(marker);
    }

    fn process(&mut self, name: &str) {
        self.output.process(name);
    }

    fn doubt(&mut self, text: String) {
        self.output.warn(text);
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        self.output.finish(&setup.arguments.out)
    }
}

impl Telling {
    fn control_written(
        &mut self,
        at: u32,
        (cr3_written, just_enabled): (bool, bool),
        [cr0, cr3, cr4]: [u32; 3],
        state: &mut State,
    ) {
        let changed = std::mem::replace(&mut self.emptying, emptying(cr0, cr4)) != self.emptying;
        if cr0 & CR0_PAGING == 0 {
            return;
        }
        if cr4 & CR4_PAE != 0 {
            let doubt = "the guest uses PAE page tables, which are not understood: physical addresses are wrong";
            self.output.warn(doubt.into());
        }
        if cr3_written || just_enabled {
            self.output.event(&ia32::Event::Cr3Write { directory: Physical(cr3).frame(), at }, &mut state.memory);
        }
        if changed {
            let event = ia32::Event::ControlWrite { global_pages: cr4 & CR4_GLOBAL_PAGES != 0 };
            self.output.event(&event, &mut state.memory);
        }
    }

    #[cold]
    fn past_limit(&mut self, past: Passed, linear: Linear, state: &mut State) {
        self.output.event(&ia32::Event::LimitFault { linear }, &mut state.memory);
        if let Passed::Grown(segment) = past {
            self.output.warn(format!(
                "user code reached {linear:x}, past its segment ({:x}, base {:x}, limit {:x}): a processor would have \
                 told the kernel, which was not told here",
                segment.selector, segment.base, segment.limit
            ));
        }
    }
}

fn operands_of(instruction: &Instruction) -> Operands {
    operands::operands(&instruction.bytes[..instruction.length as usize])
}

impl Observer for Telling {
    const CUT: bool = true;
    const ENDS: bool = true;
    const PHYSICAL: bool = false;
    const TABLES_ARE_DATA: bool = false;

    /// One behind a load: other registers end QEMU's block.
    fn announces(_site: &Operands, before: Option<&Operands>) -> bool {
        before.is_some_and(|before| before.loaded & ANNOUNCED != 0)
    }

    fn announced(&mut self, site: &Operands, state: &mut State) {
        self.limits.loaded(site.reads | site.writes, state);
    }
}
