// SPDX-License-Identifier: GPL-2.0-or-later
//! The interface between observers of a guest and what is made of their calls: measurements and records.

use super::measurement::Checkpoint;
use super::processor::Processor;
use super::run::Run;
use super::stretch::Stretch;
use crate::Marker;
use cobnut_model::{Code, Linear, Tables};
use std::ops::Range;

/// Takes what happens in a guest from paging on, in order. `tables` are the guest's page tables at that moment.
pub trait Sink<P: Processor> {
    /// Prepares some instructions for their execution. They stand at `linear`, or did when they were first seen.
    fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P>;

    /// `run` is executed, its first instruction at `linear`.
    fn run(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>);

    /// The code of `run` is fetched, and nothing of it executed: the same as retracting all of it at once.
    fn fetch(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        self.run(run, linear, tables);
        self.retract(run, 0..run.block.instructions().len());
    }

    /// Some instructions of a run turn out not to have been executed. That their code was fetched stands.
    fn retract(&mut self, run: &Run<P>, instructions: Range<usize>);

    /// A data access of 1 to 16 bytes was carried out by the run executed last. Where `linear` is not mapped, it did
    /// not happen.
    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>);

    /// Anything else that happened.
    fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>);

    fn marker(&mut self, marker: Marker);

    /// A process of this name runs in the space in force.
    fn process(&mut self, _name: &str) {}

    /// Something about the guest that makes figures doubtful.
    fn warn(&mut self, text: String);

    /// The calls of a stretch that has occurred before. It has this number until [`Sink::forget_stretches`].
    fn again(&mut self, _number: u32, stretch: Stretch<P>, tables: &mut impl Tables<P::Mapping>) {
        stretch.play(self, tables);
    }

    /// Numbers of stretches are given anew.
    fn forget_stretches(&mut self) {}

    /// The sink's state, to be compared with a later one. None: it cannot tell.
    fn checkpoint(&self) -> Option<Checkpoint<P>> {
        None
    }

    /// Takes the calls between `from` and `now` as made up to `at_most` times more; returns how often. For sinks that
    /// have checkpoints. The same calls have been made twice in a row, `from` lies between, and the state was the same
    /// before, between and after. They must be made twice more afterwards.
    fn repeat(&mut self, _from: &Checkpoint<P>, _now: &Checkpoint<P>, _at_most: u64) -> u64 {
        0
    }
}
