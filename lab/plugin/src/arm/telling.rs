// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells a sink: for measuring and recording.

use super::decode::Decoded;
use super::follower::{Access, ArmGuest, Event, Place};
use super::memory::Memory;
use crate::core::observer::Observer;
use crate::core::output::Output;
use crate::core::setup::Setup;
use cobnut_model::{arm, Linear, Space};
use cobnut_trace::arm::Arm;
use cobnut_trace::{Marker, Mode, Run, Sink};
use std::ops::Range;

impl Observer<ArmGuest> for Output<Arm> {
    type Prepared = Run<Arm>;
    type Site = ();

    fn create(setup: &Setup, memory: u32) -> Result<Self, String> {
        Output::new(setup, memory)
    }

    fn prepare(&self, at: u32, instructions: &[Decoded]) -> Run<Arm> {
        // Only a guess at where they will be executed, which each run says by MVA.
        Sink::prepare(self, Linear(at), instructions.iter().map(|decoded| decoded.instruction).collect())
    }

    fn site(&self, _offset: u32, _instruction: &Decoded) {}

    fn belongs(run: &mut Run<Arm>, mode: Mode) {
        run.mode = mode;
    }

    fn of_program(&self, run: &mut Run<Arm>, address: u32, program: usize) {
        Output::of_program(self, run, address, program);
    }

    #[inline]
    fn run(&mut self, run: &Run<Arm>, place: &Place, memory: &mut Memory) {
        Sink::run(self, run, place.mva, memory);
    }

    fn retract(&mut self, run: &Run<Arm>, instructions: Range<usize>) {
        Sink::retract(self, run, instructions);
    }

    #[inline]
    fn data(&mut self, _site: &(), access: &Access, memory: &mut Memory) {
        Sink::data(self, access.mva, access.size as u8, access.write, memory);
    }

    fn event(&mut self, event: Event, memory: &mut Memory) {
        let told = match event {
            Event::Operation { operation, operand, at } => {
                let space = Space { directory: memory.table_base, code_base: Linear(memory.process_id) };
                arm::Event::Operation { operation, operand, at, space }
            }
            Event::Exception { exception, .. } => arm::Event::Exception(exception),
        };
        Sink::event(self, &told, memory);
    }

    fn marker(&mut self, marker: Marker) {
        Sink::marker(self, marker);
    }

    fn process(&mut self, name: &str) {
        Sink::process(self, name);
    }

    fn doubt(&mut self, text: String) {
        self.warn(text);
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        Output::finish(self, &setup.arguments.out)
    }
}
