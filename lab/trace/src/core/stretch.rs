// SPDX-License-Identifier: GPL-2.0-or-later
//! Stretches: what a guest does between two places that its code decides, to the last address.
//!
//! Guests do little that is new, so a record writes each stretch down once and then refers to it. Both sides number
//! stretches in the order of their definitions, and forget all of them when there is no room for another one.

use super::processor::Processor;
use super::run::Run;
use super::sink::Sink;
use cobnut_model::{Linear, Tables};
use std::ops::Range;

/// Bytes of the definitions of all stretches that are remembered, at most.
const MOST_BYTES: usize = 10 << 20;
/// Steps of one stretch, at most.
pub(crate) const LONGEST: usize = 512;

/// Whether a stretch of `steps` steps ends before a run at `linear`. That is decided by the code, so that a stretch
/// that comes again is cut where it was cut before, whatever came before it.
#[inline]
pub(crate) fn ends_before(linear: Linear, steps: usize) -> bool {
    const LEAST: usize = 12;
    // The upper bits of the product depend on all bits of the address.
    steps >= LONGEST || steps >= LEAST && linear.0.wrapping_mul(0x9e37_79b9) >> 30 == 0
}

/// How much is remembered.
#[derive(Default)]
pub(crate) struct Room {
    bytes: usize,
}

impl Room {
    /// Takes room for a definition of so many bytes. Returns whether all others have to be forgotten for it.
    pub fn take(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let full = self.bytes > MOST_BYTES;
        if full {
            self.bytes = bytes;
        }
        full
    }
}

/// One of the calls of a [`Sink`] that a stretch consists of.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// The run of this number is executed at an address.
    Run {
        run: u32,
        linear: Linear,
    },
    /// Its code is fetched, and nothing of it executed.
    Fetch {
        run: u32,
        linear: Linear,
    },
    /// The first instruction of the run of this number was not executed.
    RetractFirst {
        run: u32,
    },
    Data {
        linear: Linear,
        size: u8,
        write: bool,
    },
}

/// A stretch, whose steps name none but these runs.
pub struct Stretch<'a, P: Processor> {
    steps: &'a [Step],
    runs: &'a [Run<P>],
}

impl<'a, P: Processor> Clone for Stretch<'a, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, P: Processor> Copy for Stretch<'a, P> {}

impl<'a, P: Processor> Stretch<'a, P> {
    /// Makes its calls.
    #[inline(always)]
    pub fn play(self, sink: &mut (impl Sink<P> + ?Sized), tables: &mut impl Tables<P::Mapping>) {
        for step in self.steps {
            match *step {
                Step::Run { run, linear } => sink.run(&self.runs[run as usize], linear, tables),
                Step::Fetch { run, linear } => sink.fetch(&self.runs[run as usize], linear, tables),
                Step::RetractFirst { run } => sink.retract(&self.runs[run as usize], 0..1),
                Step::Data { linear, size, write } => sink.data(linear, size, write, tables),
            }
        }
    }

    /// Where its code begins, if it begins with code and not with what code before it does.
    #[inline]
    pub fn start(self) -> Option<Linear> {
        match self.steps.first() {
            Some(&(Step::Run { linear, .. } | Step::Fetch { linear, .. })) => Some(linear),
            _ => None,
        }
    }

    /// The runs that are executed, or at least fetched, and where.
    #[inline]
    pub fn runs(self) -> impl Iterator<Item = (&'a Run<P>, Linear)> {
        self.steps.iter().filter_map(move |step| match *step {
            Step::Run { run, linear } | Step::Fetch { run, linear } => Some((&self.runs[run as usize], linear)),
            _ => None,
        })
    }
}

/// The stretches that are remembered, by number.
#[derive(Default)]
pub(crate) struct Stretches {
    steps: Vec<Step>,
    places: Vec<Range<u32>>,
    /// Where the stretch starts that is being defined.
    start: usize,
    room: Room,
}

impl Stretches {
    /// Starts the next stretch, which is defined in so many bytes. Returns whether all others were forgotten.
    pub fn begin(&mut self, bytes: usize) -> bool {
        let full = self.room.take(bytes);
        if full {
            self.steps.clear();
            self.places.clear();
        }
        self.start = self.steps.len();
        full
    }

    #[inline(always)]
    pub fn put(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// The run that is the step before, if one is.
    pub fn run_before(&self) -> Option<u32> {
        match self.steps[self.start..].last() {
            Some(&Step::Run { run, .. }) => Some(run),
            _ => None,
        }
    }

    /// Ends the stretch that was started, and returns it.
    pub fn end<'a, P: Processor>(&'a mut self, runs: &'a [Run<P>]) -> Stretch<'a, P> {
        self.places.push(self.start as u32..self.steps.len() as u32);
        Stretch { steps: &self.steps[self.start..], runs }
    }

    /// The stretch of this number, if there is one.
    #[inline]
    pub fn get<'a, P: Processor>(&'a self, number: u32, runs: &'a [Run<P>]) -> Option<Stretch<'a, P>> {
        let Range { start, end } = self.places.get(number as usize)?;
        Some(Stretch { steps: &self.steps[*start as usize..*end as usize], runs })
    }
}
