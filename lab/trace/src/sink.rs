// SPDX-License-Identifier: GPL-2.0-or-later
//! The seam between those who see a guest run and those who make something of it.

use crate::measurement::Checkpoint;
use crate::run::Run;
use crate::stretch::Stretch;
use cobnut_model::{Event, Instruction, PageTables};
use std::ops::Range;

/// What the guest says with a marker instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Case `.0` begins.
    Begin(u32),
    /// One iteration ends, the next starts.
    Iteration,
    /// The case ends.
    End,
    /// A marker of unknown kind: nothing but a moment up to which totals are known.
    Other,
}

/// Takes what happens in a guest from paging on, in order. `tables` are the guest's page tables at that moment.
pub trait Sink {
    /// Prepares some instructions for their execution. They stand at `linear`, or did when they were first seen.
    fn prepare(&self, linear: u32, instructions: Vec<Instruction>) -> Run;

    /// `run` is executed, its first instruction at `linear`.
    fn run(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables);

    /// The code of `run` is fetched, and nothing of it executed: the same as retracting all of it at once.
    fn fetch(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        self.run(run, linear, tables);
        self.retract(run, 0..run.block.instructions().len());
    }

    /// Some instructions of a run turn out not to have been executed. That their code was fetched stands.
    fn retract(&mut self, run: &Run, instructions: Range<usize>);

    /// A data access of 1 to 16 bytes was carried out by the run executed last. Where `linear` is not mapped, it did
    /// not happen.
    fn data(&mut self, linear: u32, size: u8, write: bool, tables: &mut impl PageTables);

    /// Anything else that happened: neither `Fetch` nor `Read` nor `Write`.
    fn event(&mut self, event: &Event, tables: &mut impl PageTables);

    fn marker(&mut self, marker: Marker);

    /// Something about the guest that makes figures doubtful.
    fn warn(&mut self, text: String);

    /// The calls of a stretch that has occurred before. It has this number until [`Sink::forget_stretches`].
    fn again(&mut self, _number: u32, stretch: Stretch, tables: &mut impl PageTables) {
        stretch.play(self, tables);
    }

    /// Numbers of stretches are given anew.
    fn forget_stretches(&mut self) {}

    /// Where the sink stands, to be held against where it stands later. None: it cannot tell.
    fn checkpoint(&self) -> Option<Checkpoint> {
        None
    }

    /// Takes the calls between `from` and `now` as made up to `at_most` times more; returns how often. For sinks that
    /// have checkpoints. The same calls have been made twice in a row, `from` lies between, and the state was the same
    /// before, between and after. They must be made twice more afterwards.
    fn repeat(&mut self, _from: &Checkpoint, _now: &Checkpoint, _at_most: u64) -> u64 {
        0
    }
}
