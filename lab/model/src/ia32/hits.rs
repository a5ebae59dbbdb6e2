// SPDX-License-Identifier: GPL-2.0-or-later
//! Memoised stretches of events that hit everywhere.
//!
//! For a stretch of events that missed nothing it is enough to remember which pages and lines were looked up, in the
//! order of their last use. On a machine that holds all of them, in whatever slots, the same events miss nothing again:
//! a hit neither evicts nor fills an entry, however often it happens and whatever would be replaced next. A jump that
//! went as predicted moves its counter towards the end where it stands, and twice does no more than once; the return
//! stack sees the same calls and returns again. So a repeated stretch uses each of these once, in this order, modifies
//! the same lines, leaves the front end as it did, and costs what it cost before.

use super::front_end::Open;
use super::machine::{Memory, NEVER};
use super::prediction::Left;
use super::{Machine, Walk};
use crate::core::notes::{Lookup, Notes};
use crate::{Linear, Tables};

/// What a stretch of events looks up and how it leaves the front end. The lookups are in a list of the caller's, in the
/// order of the structures below.
pub struct Hits {
    first: u32,
    /// Where those of each structure end, from the first on.
    ends: [u32; STRUCTURES],
    open: Open,
    left: Option<Left>,
    stores: Vec<(u32, u32)>,
}

/// TLBs of code and of data, the front end's cache, the first and the second level, predictions, the return stack.
const STRUCTURES: usize = 7;

/// What a machine knows of the code before the next, as far as it matters for the latter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation(u32);

impl Machine {
    /// Where it stands before code that is executed at `linear`, where the last jump has led.
    #[inline]
    pub fn situation(&mut self, linear: Linear) -> Situation {
        if self.left.is_some() {
            self.resolve_jump(linear);
        }
        Situation(self.front.situation(linear, &self.memory))
    }

    /// Starts to note what is looked up.
    pub fn watch(&mut self) {
        let Memory { tlbs, l1, l2, again, missed, .. } = &mut self.memory;
        (*again, *missed) = (NEVER, false);
        tlbs.notes(true, Notes::start);
        tlbs.notes(false, Notes::start);
        l1.notes().start();
        l2.iter_mut().for_each(|l2| l2.notes().start());
        self.front.notes(Notes::start);
        if let Some(predictor) = &mut self.predictor {
            predictor.watch();
        }
    }

    /// Ends that. If everything that was looked up was there, and pages are where `tables` say, appends it to
    /// `lookups`.
    pub fn watched(&mut self, lookups: &mut Vec<Lookup>, tables: &mut dyn Tables<Walk>) -> Option<Hits> {
        let Memory { tlbs, l1, l2, missed, .. } = &mut self.memory;
        let (first, mut ends) = (lookups.len(), [0; STRUCTURES]);
        let mut put = |structure: usize, notes: &mut Notes| {
            notes.finish(|key, modified| lookups.push(Lookup { key, value: modified as u32 }));
            ends[structure..].fill((lookups.len() - first) as u32);
        };
        tlbs.notes(true, |notes| put(0, notes));
        tlbs.notes(false, |notes| put(1, notes));
        self.front.notes(|notes| put(2, notes));
        put(3, l1.notes());
        if let Some(l2) = l2 {
            put(4, l2.notes());
        }
        if let Some(predictor) = &mut self.predictor {
            let mut stack = Vec::new();
            let jump = |key, value| lookups.push(Lookup { key, value });
            predictor.watched(jump, |key, came| stack.push(Lookup { key, value: came as u32 }));
            ends[5] = (lookups.len() - first) as u32;
            lookups.append(&mut stack);
            ends[6] = (lookups.len() - first) as u32;
        }
        let mut pages = lookups[first..first + ends[1] as usize].iter_mut().enumerate();
        let where_told = |(number, page): (usize, &mut Lookup)| {
            let frame = tlbs.holds(number < ends[0] as usize, page.page());
            page.value = frame.unwrap_or_default().0;
            frame.is_some() && tables.frame(page.page().start()) == frame
        };
        if *missed || !pages.all(where_told) {
            lookups.truncate(first);
            return None;
        }
        let stores = self.memory.stores.held();
        Some(Hits { first: first as u32, ends, open: self.front.open(), left: self.left, stores })
    }

    /// If everything is there that `hits` name, uses it as the events did that they are known from. Returns whether
    /// that is so; if not, nothing has changed. The machine has to stand where it stood before those events
    /// ([`Machine::situation`]). Costs are not booked.
    #[inline]
    pub fn use_again(&mut self, hits: &Hits, lookups: &mut [Lookup], tables: &mut impl Tables<Walk>) -> bool {
        let Memory { tlbs, l1, l2, again, stores, .. } = &mut self.memory;
        let [end0, end1, end2, end3, end4, end5, end6] = hits.ends.map(|end| end as usize);
        let (code_pages, rest) = lookups[hits.first as usize..][..end6].split_at_mut(end0);
        let (data_pages, rest) = rest.split_at_mut(end1 - end0);
        let (front, rest) = rest.split_at_mut(end2 - end1);
        let (first_level, rest) = rest.split_at_mut(end3 - end2);
        let (second_level, rest) = rest.split_at_mut(end4 - end3);
        let (jumps, stack) = rest.split_at_mut(end5 - end4);
        let mut holds_page = |of_code: bool, page: &Lookup| {
            let frame = Some(page.frame());
            tlbs.holds(of_code, page.page()) == frame && tables.frame(page.page().start()) == frame
        };
        let there = code_pages.iter().all(|page| holds_page(true, page))
            && data_pages.iter().all(|page| holds_page(false, page))
            && first_level.iter_mut().all(|line| l1.holds(line))
            && self.front.holds(front)
            && l2.as_mut().is_none_or(|l2| second_level.iter_mut().all(|line| l2.holds(line)))
            && self.predictor.as_mut().is_none_or(|predictor| {
                jumps.iter().all(|jump| predictor.holds(jump.key, jump.value))
                    && predictor.tries(stack.iter().map(|one| (one.key, one.value != 0)))
            });
        if !there {
            return false;
        }
        code_pages.iter().for_each(|page| tlbs.use_again(true, page.page()));
        data_pages.iter().for_each(|page| tlbs.use_again(false, page.page()));
        first_level.iter().for_each(|line| l1.use_again(line));
        self.front.use_again(front);
        if let Some(l2) = l2 {
            second_level.iter().for_each(|line| l2.use_again(line));
        }
        if let Some(predictor) = &mut self.predictor {
            jumps.iter().for_each(|jump| predictor.use_again(jump.key, jump.value));
            predictor.commit();
        }
        *again = NEVER;
        stores.set_held(&hits.stores);
        self.front.set_open(hits.open);
        self.left = hits.left;
        true
    }

    /// Whether something was looked up that was not there, since this was last asked.
    #[inline(always)]
    pub fn has_missed(&mut self) -> bool {
        std::mem::take(&mut self.memory.missed)
    }
}
