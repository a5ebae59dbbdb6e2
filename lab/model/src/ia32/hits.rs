// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of which it is known what they do when everything that they look up is there.
//!
//! Of a stretch of events that has missed nothing it is enough to remember which pages and lines were looked up, in the
//! order of their last use. On a machine that holds all of them, in whatever slots, the same events miss nothing again:
//! finding an entry neither takes one away nor brings one, however often it happens and whatever would be replaced
//! next. So what they do is to use each of these once, in this order, to modify the same lines, and to leave the front
//! end as they did. What they cost is what they cost before.

use super::front_end::Open;
use super::machine::{Memory, NEVER};
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
    after_branch: Option<Linear>,
}

/// TLBs of code and of data, the front end's cache, the first and the second level.
const STRUCTURES: usize = 5;

/// What a machine knows of the code before the next, as far as it matters for the latter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation(u32);

const JUMPS: u32 = 1 << 31;

impl Machine {
    /// Where it stands before code that is executed at `linear`.
    #[inline]
    pub fn situation(&self, linear: Linear) -> Situation {
        let jumps = self.after_branch.is_some_and(|next| next != linear);
        Situation(self.front.situation(linear, &self.memory) | if jumps { JUMPS } else { 0 })
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
        Some(Hits { first: first as u32, ends, open: self.front.open(), after_branch: self.after_branch })
    }

    /// If everything is there that `hits` name, uses it as the events did that they are known from. Returns whether
    /// that is so; if not, nothing has changed. The machine has to stand where it stood before those events
    /// ([`Machine::situation`]). Costs are not booked.
    #[inline]
    pub fn use_again(&mut self, hits: &Hits, lookups: &mut [Lookup], tables: &mut impl Tables<Walk>) -> bool {
        let Memory { tlbs, l1, l2, again, .. } = &mut self.memory;
        let [end0, end1, end2, end3, end4] = hits.ends.map(|end| end as usize);
        let (code_pages, rest) = lookups[hits.first as usize..][..end4].split_at_mut(end0);
        let (data_pages, rest) = rest.split_at_mut(end1 - end0);
        let (front, rest) = rest.split_at_mut(end2 - end1);
        let (first_level, second_level) = rest.split_at_mut(end3 - end2);
        let mut holds_page = |of_code: bool, page: &Lookup| {
            let frame = Some(page.frame());
            tlbs.holds(of_code, page.page()) == frame && tables.frame(page.page().start()) == frame
        };
        let there = code_pages.iter().all(|page| holds_page(true, page))
            && data_pages.iter().all(|page| holds_page(false, page))
            && first_level.iter_mut().all(|line| l1.holds(line))
            && self.front.holds(front)
            && l2.as_mut().is_none_or(|l2| second_level.iter_mut().all(|line| l2.holds(line)));
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
        *again = NEVER;
        self.front.set_open(hits.open);
        self.after_branch = hits.after_branch;
        true
    }

    /// Whether something was looked up that was not there, since this was last asked.
    #[inline(always)]
    pub fn has_missed(&mut self) -> bool {
        std::mem::take(&mut self.memory.missed)
    }
}
