// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls of a sink, each as a number.

use super::super::processor::Processor;
use super::super::run::Run;
use cobnut_model::Linear;
use std::ops::Range;

/// A call with its arguments: its kind in the upper three bits, then a number of 29 bits, then an address or the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call(u64);

const RUN: u64 = 0;
const DATA: u64 = 1;
const RETRACT: u64 = 2;
const EVENT: u64 = 3;
const ITERATION: u64 = 4;
const KIND_SHIFT: u32 = 61;
const NUMBER_BITS: u32 = 29;
/// Of the number of a data access: it writes. Below is its size.
const WRITE: u32 = 1 << 8;

impl Call {
    pub const ITERATION: Call = Call(ITERATION << KIND_SHIFT);

    #[inline(always)]
    fn new(kind: u64, number: u32, rest: u32) -> Self {
        Call(kind << KIND_SHIFT | (number as u64) << 32 | rest as u64)
    }

    #[inline(always)]
    pub fn run(number: u32, linear: Linear) -> Self {
        Call::new(RUN, number, linear.0)
    }

    #[inline(always)]
    pub fn data(linear: Linear, size: u8, write: bool) -> Self {
        Call::new(DATA, size as u32 | if write { WRITE } else { 0 }, linear.0)
    }

    /// Runs have fewer than 65,536 instructions.
    pub fn retract(number: u32, instructions: &Range<usize>) -> Self {
        Call::new(RETRACT, number, (instructions.start as u32) << 16 | instructions.len() as u32)
    }
}

/// A call, taken apart.
pub(super) enum Made<P: Processor> {
    Run(&'static Run<P>, Linear),
    Retract(&'static Run<P>, Range<usize>),
    Data {
        linear: Linear,
        size: u8,
        write: bool,
    },
    Event(P::Event),
    /// An iteration ends.
    Iteration,
}

/// What the numbers of calls stand for.
pub(super) struct Calls<P: Processor> {
    runs: Vec<&'static Run<P>>,
    /// Tags and words of events.
    events: Vec<(u8, Vec<u32>)>,
}

/// Distinct events that are told apart: loops have few.
const MOST_EVENTS: usize = 256;

impl<P: Processor> Default for Calls<P> {
    fn default() -> Self {
        Calls { runs: Vec::new(), events: Vec::new() }
    }
}

impl<P: Processor> Calls<P> {
    #[inline(always)]
    pub fn number(&mut self, run: &'static Run<P>) -> u32 {
        match run.number.get() {
            Run::<P>::UNNUMBERED => self.number_first(run),
            number => number,
        }
    }

    #[cold]
    fn number_first(&mut self, run: &'static Run<P>) -> u32 {
        let number = self.runs.len() as u32;
        assert!(number >> NUMBER_BITS == 0, "more runs than numbers");
        self.runs.push(run);
        run.number.set(number);
        number
    }

    /// None: there are too many distinct ones to tell them apart.
    pub fn event(&mut self, event: &P::Event) -> Option<Call> {
        let told = P::write_event(event);
        let known = self.events.iter().position(|known| *known == told);
        let number = match known {
            Some(number) => number,
            None if self.events.len() == MOST_EVENTS => return None,
            None => {
                self.events.push(told);
                self.events.len() - 1
            }
        };
        Some(Call::new(EVENT, number as u32, 0))
    }

    /// Numbers of events are given anew.
    pub fn forget_events(&mut self) {
        self.events.clear();
    }

    pub fn made(&self, Call(bits): Call) -> Made<P> {
        let (number, rest) = ((bits >> 32) as u32 & ((1 << NUMBER_BITS) - 1), bits as u32);
        match bits >> KIND_SHIFT {
            RUN => Made::Run(self.runs[number as usize], Linear(rest)),
            RETRACT => {
                let first = (rest >> 16) as usize;
                Made::Retract(self.runs[number as usize], first..first + (rest as u16) as usize)
            }
            DATA => Made::Data { linear: Linear(rest), size: number as u8, write: number & WRITE != 0 },
            EVENT => {
                let (tag, words) = &self.events[number as usize];
                let mut words = words.iter().copied();
                Made::Event(P::read_event(*tag, &mut || words.next()).expect("an event that was written"))
            }
            _ => Made::Iteration,
        }
    }
}
