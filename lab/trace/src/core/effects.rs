// SPDX-License-Identifier: GPL-2.0-or-later
//! What stretches do to a measurement whose machine holds all that they look up.

use super::code_ranges::Sum;
use super::processor::{Machine, Processor};
use crate::Mode;
use cobnut_model::{Category, Ledger, CATEGORIES};
use std::ops::Range;

pub(crate) type SituationOf<P> = <<P as Processor>::Machine as Machine<P>>::Situation;
type HitsOf<P> = <<P as Processor>::Machine as Machine<P>>::Hits;
type LookupOf<P> = <<P as Processor>::Machine as Machine<P>>::Lookup;

/// Situations that are told apart for each stretch: code that is always entered the same way leaves one.
const SITUATIONS: usize = 4;

/// One execution of a stretch.
pub(crate) struct Effect<P: Processor> {
    pub hits: HitsOf<P>,
    /// Of its last run.
    pub mode: Mode,
    /// Among all bookings.
    booked: Range<u32>,
    situation: SituationOf<P>,
    /// The next effect of the same stretch.
    next: u32,
}

/// What is added to one sum.
#[derive(Clone, Copy)]
pub(crate) enum Booking {
    Counter(u8, u64),
    Cost(Category, u64),
    PartInstructions(u16, u64),
    PartCost(u16, u64),
}

/// Every sum to which a stretch that misses nothing can add.
pub(crate) struct Sums<P: Processor> {
    pub counters: P::Counters,
    pub ledger: Ledger,
    pub parts: Vec<Sum>,
}

impl<P: Processor> Sums<P> {
    /// Appends what was added between `from` and `self`.
    fn since(&self, from: &Sums<P>, to: &mut Vec<Booking>) {
        let mut put = |booking: fn(u16, u64) -> Booking, index: usize, now: u64, then: u64| {
            if now != then {
                to.push(booking(index as u16, now - then));
            }
        };
        for (index, (now, then)) in self.counters.as_ref().iter().zip(from.counters.as_ref()).enumerate() {
            put(|index, n| Booking::Counter(index as u8, n), index, *now, *then);
        }
        for (index, &(row, _)) in CATEGORIES.iter().enumerate() {
            put(
                |index, n| Booking::Cost(CATEGORIES[index as usize].0, n),
                index,
                self.ledger.row(row),
                from.ledger.row(row),
            );
        }
        for (index, (now, then)) in self.parts.iter().zip(&from.parts).enumerate() {
            put(Booking::PartInstructions, index, now.instructions, then.instructions);
            put(Booking::PartCost, index, now.milli, then.milli);
        }
    }
}

/// What is known of a stretch.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    /// It has missed something the last time, or has not been here.
    Nothing,
    /// It has missed nothing the last time: worth being watched.
    HasHit,
    /// Its first effect.
    Effect(u32),
}

const NONE: u32 = u32::MAX;

/// The effects that are known of each stretch, by its number.
pub(crate) struct Effects<P: Processor> {
    stretches: Vec<Known>,
    effects: Vec<Effect<P>>,
    pub lookups: Vec<LookupOf<P>>,
    bookings: Vec<Booking>,
}

/// What to do with a stretch that comes again.
pub(crate) enum Advice {
    /// Its calls need not be made if the machine holds what this effect looks up.
    Use(usize),
    /// Its calls are to be watched.
    Watch,
    /// Its calls are to be made.
    Play,
}

impl<P: Processor> Default for Effects<P> {
    fn default() -> Self {
        Effects { stretches: Vec::new(), effects: Vec::new(), lookups: Vec::new(), bookings: Vec::new() }
    }
}

impl<P: Processor> Effects<P> {
    /// Numbers of stretches are given anew.
    pub fn forget(&mut self) {
        *self = Effects::default();
    }

    /// `stretch` is to be executed in `situation`.
    #[inline]
    pub fn advice(&self, stretch: u32, situation: SituationOf<P>) -> Advice {
        let mut next = match self.stretches.get(stretch as usize) {
            Some(Known::Effect(first)) => *first,
            Some(Known::HasHit) => return Advice::Watch,
            Some(Known::Nothing) | None => return Advice::Play,
        };
        for _ in 0..SITUATIONS {
            let Some(effect) = self.effects.get(next as usize) else { return Advice::Watch };
            if effect.situation == situation {
                return Advice::Use(next as usize);
            }
            next = effect.next;
        }
        Advice::Play
    }

    /// An effect with its lookups and bookings.
    #[inline]
    pub fn get(&mut self, effect: usize) -> (&Effect<P>, &mut [LookupOf<P>], &[Booking]) {
        let effect = &self.effects[effect];
        (effect, &mut self.lookups, &self.bookings[effect.booked.start as usize..effect.booked.end as usize])
    }

    /// The calls of `stretch` were made, and something was missing, or nothing was.
    #[inline]
    pub fn played(&mut self, stretch: u32, missed: bool) {
        let stretch = stretch as usize;
        if stretch >= self.stretches.len() {
            self.stretches.resize(stretch + 1, Known::Nothing);
        }
        let known = &mut self.stretches[stretch];
        if !matches!(known, Known::Effect(_)) {
            *known = if missed { Known::Nothing } else { Known::HasHit };
        }
    }

    /// The calls of `stretch` were made in `situation`. They have looked up what was there, `hits`, and added to the
    /// sums what lies between `from` and `to`.
    pub fn learn(
        &mut self,
        stretch: u32,
        situation: SituationOf<P>,
        hits: HitsOf<P>,
        mode: Mode,
        from: &Sums<P>,
        to: &Sums<P>,
    ) {
        let start = self.bookings.len() as u32;
        to.since(from, &mut self.bookings);
        let booked = start..self.bookings.len() as u32;
        let known = &mut self.stretches[stretch as usize];
        let next = if let Known::Effect(first) = *known { first } else { NONE };
        *known = Known::Effect(self.effects.len() as u32);
        self.effects.push(Effect { hits, mode, booked, situation, next });
    }
}
