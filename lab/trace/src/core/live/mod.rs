// SPDX-License-Identifier: GPL-2.0-or-later
//! A measurement while the guest runs: what a loop does again and again is counted, not modelled.
//!
//! It is what a replay does with passes that repeat themselves ([`Sink::repeat`]), but where a loop ends is not known
//! before it does. So calls are compared with those of the last pass and counted; when one differs, all passes but the
//! last two are booked at once, and these and what has begun of the next are made.
//!
//! Nobody tells when page tables change. So a loop is modelled that writes to a page with entries of its own
//! translations. Of any other, pass after pass of the same calls runs under the same tables.

mod calls;
mod captured;
mod history;

use super::measurement::{Checkpoint, Measured, Measurement};
use super::processor::Processor;
use super::run::Run;
use super::sink::Sink;
use crate::Marker;
use calls::{Call, Calls};
use captured::Captured;
use cobnut_model::{Linear, Tables};
use history::History;
use std::ops::Range;

/// Passes that have to be made after those that are only booked ([`Sink::repeat`]).
const PASSES_AFTER: usize = 2;
/// Passes within which a state has to come back.
const TRIALS: usize = 8;
/// A pass has at least so many calls, if need be those of several rounds of a loop.
const SHORTEST_PASS: usize = 64;
/// So many calls have to be repetitions before states are compared, which costs as much as modelling as many. If it was
/// in vain, more have to be the next time.
const PATIENCE: usize = 1 << 14;
/// It was not if so many calls were counted.
const WORTH: u64 = 1 << 16;
const MOST_PATIENCE: usize = 1 << 22;
/// So many calls are counted before they are booked at the latest. No more than they can be the switches that a
/// machine remembers.
const MOST_COUNTED: usize = 1 << 19;

/// What happens to calls.
enum Phase<P: Processor> {
    /// They are made, whatever they are.
    Off,
    /// Made, and repetitions are looked for.
    Seek,
    /// Made, as long as they repeat the pass, at the end of which states are compared.
    Compare { seen: Vec<Checkpoint<P>> },
    /// The same; their translations are kept. `before` is the state from which the pass before began, too.
    Capture { before: Checkpoint<P>, captured: Captured<P> },
    /// Counted, as long as they repeat the pass.
    Count { before: Checkpoint<P>, now: Checkpoint<P>, captured: Captured<P>, passes: usize },
}

/// Makes the calls of a guest that runs, or counts them.
pub struct Live<P: Processor> {
    inner: Measurement<P>,
    calls: Calls<P>,
    history: History,
    phase: Phase<P>,
    /// The phase is [`Phase::Count`].
    counting: bool,
    pass: Vec<Call>,
    /// The call of the pass that is expected next.
    next: usize,
    patience: usize,
    counted: u64,
}

impl<P: Processor> Live<P> {
    pub fn new(inner: Measurement<P>) -> Self {
        let phase = if is_modelled(&inner) { Phase::Seek } else { Phase::Off };
        Live {
            inner,
            calls: Calls::default(),
            history: History::default(),
            phase,
            counting: false,
            pass: Vec::new(),
            next: 0,
            patience: PATIENCE,
            counted: 0,
        }
    }

    /// How many calls were booked without being made.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// Everything measured ([`Measurement::report`]).
    pub fn report(&mut self) -> Measured<'_> {
        self.forget();
        self.inner.report()
    }

    /// See [`Measurement::of_program`].
    pub fn of_program(&self, run: &mut Run<P>, address: u32, program: usize) {
        self.inner.of_program(run, address, program);
    }

    // What follows are the calls of a sink, with runs that are there to the end.

    pub fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
        self.inner.prepare(linear, instructions)
    }

    #[inline(always)]
    pub fn run(&mut self, run: &'static Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        if !self.is_off() {
            let number = self.calls.number(run);
            if self.is_counted(Call::run(number, linear), Some(number), tables) {
                return;
            }
        }
        self.inner.run(run, linear, tables);
    }

    pub fn retract(&mut self, run: &'static Run<P>, instructions: Range<usize>) {
        let number = self.calls.number(run);
        if !self.is_counted(Call::retract(number, &instructions), None, &mut NoTables) {
            self.inner.retract(run, instructions);
        }
    }

    #[inline(always)]
    pub fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>) {
        if !self.is_counted(Call::data(linear, size, write), None, tables) {
            self.inner.data(linear, size, write, tables);
        }
    }

    pub fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>) {
        if !self.is_off() {
            match self.calls.event(event) {
                Some(call) if self.is_counted(call, None, tables) => return,
                Some(_) => {}
                None => {
                    self.forget();
                    self.calls.forget_events();
                }
            }
        }
        self.inner.event(event, tables);
    }

    /// Of markers only ends of iterations repeat themselves.
    pub fn marker(&mut self, marker: Marker) {
        match marker {
            Marker::Iteration if self.is_counted(Call::ITERATION, None, &mut NoTables) => return,
            Marker::Iteration => {}
            _ => self.forget(),
        }
        self.inner.marker(marker);
        if self.is_off() && is_modelled(&self.inner) {
            self.phase = Phase::Seek;
        }
    }

    pub fn process(&mut self, name: &str) {
        self.forget();
        self.inner.process(name);
    }

    pub fn warn(&mut self, text: String) {
        self.inner.warn(text);
    }

    /// Whether all calls are made: most of them do nothing then, before the first case begins.
    #[inline(always)]
    fn is_off(&self) -> bool {
        matches!(self.phase, Phase::Off)
    }

    /// Whether a call need not be made. `run` is the number of the run that is executed.
    #[inline(always)]
    fn is_counted(&mut self, call: Call, run: Option<u32>, tables: &mut impl Tables<P::Mapping>) -> bool {
        if self.counting {
            return self.counts(call) || self.note(call, run, tables);
        }
        !self.is_off() && self.note(call, run, tables)
    }

    /// Whether the call repeats the pass.
    #[inline(always)]
    fn counts(&mut self, call: Call) -> bool {
        if self.pass[self.next] != call {
            self.book();
            return false;
        }
        self.next += 1;
        if self.next == self.pass.len() {
            self.pass_counted();
        }
        true
    }

    #[inline(always)]
    fn note(&mut self, call: Call, run: Option<u32>, tables: &mut impl Tables<P::Mapping>) -> bool {
        if !matches!(self.phase, Phase::Seek) {
            return self.expect(call, tables);
        }
        if let Some((length, calls)) = run.and_then(|number| self.history.repeats(number)) {
            if calls >= self.patience.max(TRIALS * length) {
                self.pass = self.history.last(length).repeat(SHORTEST_PASS.div_ceil(length));
                (self.next, self.phase) = (0, Phase::Compare { seen: Vec::new() });
                return self.expect(call, tables);
            }
        }
        self.history.put(call);
        false
    }

    /// A call comes that is to be one of the pass. Returns whether that is so and it is counted.
    #[inline(never)]
    fn expect(&mut self, call: Call, tables: &mut impl Tables<P::Mapping>) -> bool {
        if self.next == self.pass.len() {
            self.next = 0;
        }
        if self.next == 0 && !self.pass_begins() {
            self.in_vain();
            self.phase = Phase::Seek;
            return false;
        }
        if self.counting {
            return self.counts(call);
        }
        if self.pass[self.next] != call {
            self.in_vain();
            self.phase = Phase::Seek;
            return false;
        }
        self.next += 1;
        if let Phase::Capture { captured, .. } = &mut self.phase {
            captured.see(call, &self.calls, tables);
        }
        false
    }

    /// A pass begins, and another may have ended. Returns whether there is hope that they need not be made.
    fn pass_begins(&mut self) -> bool {
        let Some(here) = self.inner.checkpoint() else { return false };
        match std::mem::replace(&mut self.phase, Phase::Seek) {
            Phase::Compare { mut seen } => {
                if let Some(place) = seen.iter().rposition(|before| before.same_state(&here)) {
                    self.pass = self.pass.repeat(seen.len() - place);
                    self.phase = Phase::Capture { before: here, captured: Captured::default() };
                    return true;
                }
                seen.push(here);
                let hope = seen.len() <= TRIALS;
                self.phase = Phase::Compare { seen };
                hope
            }
            Phase::Capture { before, captured } if captured.is_constant() && here.same_state(&before) => {
                self.phase = Phase::Count { before, now: here, captured, passes: 0 };
                self.counting = true;
                true
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn pass_counted(&mut self) {
        self.next = 0;
        let Phase::Count { passes, .. } = &mut self.phase else { return };
        *passes += 1;
        if *passes * self.pass.len() >= MOST_COUNTED {
            self.book();
            self.phase = Phase::Compare { seen: Vec::new() };
        }
    }

    /// No more is counted: books what was.
    #[inline(never)]
    fn book(&mut self) {
        let Phase::Count { before, now, mut captured, passes } = std::mem::replace(&mut self.phase, Phase::Seek) else {
            return;
        };
        self.counting = false;
        let booked = self.inner.repeat(&before, &now, passes.saturating_sub(PASSES_AFTER) as u64);
        for _ in booked..passes as u64 {
            captured.play(&self.pass, &self.calls, &mut self.inner);
        }
        captured.play(&self.pass[..self.next], &self.calls, &mut self.inner);
        let calls = booked * self.pass.len() as u64;
        self.counted += calls;
        match calls >= WORTH {
            true => self.patience = PATIENCE,
            false => self.in_vain(),
        }
        self.history.clear();
    }

    /// States were compared, and it did not pay.
    fn in_vain(&mut self) {
        self.patience = MOST_PATIENCE.min(2 * self.patience);
    }

    /// Something comes that is part of no loop.
    fn forget(&mut self) {
        self.book();
        if !self.is_off() {
            self.phase = Phase::Seek;
            self.history.clear();
        }
    }
}

/// Whether calls are modelled, by a machine that can tell its state: what is only counted is as fast as can be.
fn is_modelled<P: Processor>(inner: &Measurement<P>) -> bool {
    inner.models() && inner.checkpoint().is_some()
}

/// For calls that ask for no translation.
struct NoTables;

impl<M: cobnut_model::Mapping> Tables<M> for NoTables {
    fn walk(&mut self, _at: Linear) -> Option<M> {
        None
    }
}
