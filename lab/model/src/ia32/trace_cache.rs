// SPDX-License-Identifier: GPL-2.0-or-later
//! A virtually tagged trace cache: lines of decoded micro-operations, found by the linear address of their first
//! instruction.
//!
//! A line is identified by where it starts; the path that it took over branches is not part of the key, so a line
//! that starts at the same place but continues elsewhere counts as held. An address-space switch empties the cache
//! (U02, section 2.1).

use crate::core::loss_history::LossHistory;
use crate::core::notes::{Lookup, Notes};
use crate::{Associative, Linear, Loss, Moment, Replacement, Running, Tag};
use std::cell::Cell;

/// Geometry of a trace cache.
#[derive(Clone, Copy, Debug)]
pub struct TraceCacheShape {
    pub lines: usize,
    pub ways: usize,
    pub replacement: Replacement,
    /// Micro-operations that fit into one line.
    pub uops_per_line: u8,
    /// Taken branches after which a line still goes on at the target.
    pub taken_branches: u8,
    /// The set is chosen by the linear address shifted right by this.
    pub index_shift: u32,
}

pub struct TraceCache {
    shape: TraceCacheShape,
    store: Associative,
    /// How many lines start on the pages of each number modulo the size: most pages that are invalidated hold data.
    on_pages: [u32; PAGES],
    running: Running,
    history: LossHistory,
    /// Starts of lines that were looked up.
    notes: Notes,
}

const PAGES: usize = 1024;

fn page_of(start: u64) -> usize {
    (start >> 12) as usize % PAGES
}

impl TraceCache {
    pub fn new(shape: TraceCacheShape) -> Self {
        let store = Associative::new(shape.lines, shape.ways, shape.replacement);
        TraceCache {
            shape,
            store,
            on_pages: [0; PAGES],
            running: Running::START,
            history: LossHistory::new(),
            notes: Notes::default(),
        }
    }

    pub fn shape(&self) -> &TraceCacheShape {
        &self.shape
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        self.running = running;
    }

    /// Appends everything that decides what it will find and lose.
    pub fn state(&self, out: &mut Vec<u64>) {
        self.store.state(out, |_| 0);
        out.push(self.running.tag.number() as u64);
    }

    /// Looks for the line that starts at `linear` and makes it present; `slot` says where it may be, and then where it
    /// is. Returns how it was lost if it was not there.
    #[inline(always)]
    pub fn access(&mut self, linear: Linear, slot: &Cell<u32>) -> Option<Loss> {
        let (set, key) = ((linear.0 >> self.shape.index_shift) as usize, linear.0 as u64);
        let stored = self.running.stored(key, self.running.tag);
        self.notes.put(linear.0);
        if self.store.lookup_at(slot.get() as usize, stored) {
            return None;
        }
        self.search(set, key, stored, slot)
    }

    #[inline(never)]
    fn search(&mut self, set: usize, key: u64, stored: u64, slot: &Cell<u32>) -> Option<Loss> {
        if let Some(found) = self.store.lookup(set, stored) {
            slot.set(found as u32);
            return None;
        }
        let (filled, evicted) = self.store.insert(set, stored);
        slot.set(filled as u32);
        self.on_pages[page_of(key)] += 1;
        if let Some(old) = evicted {
            let (old, tag) = self.running.taken_apart(old);
            self.on_pages[page_of(old)] -= 1;
            self.history.evicted(old, tag, self.running.since);
        }
        Some(self.history.of(key, self.running.tag))
    }

    /// Whether a lookup would find `line`; marks nothing used.
    #[inline(always)]
    pub(crate) fn holds(&mut self, line: &mut Lookup) -> bool {
        let set = (line.key >> self.shape.index_shift) as usize;
        let stored = self.running.stored(line.key as u64, self.running.tag);
        let slot = self.store.find_at(line.slot(), set, stored);
        slot.is_some_and(|slot| {
            line.set_slot(slot);
            true
        })
    }

    /// Uses a line that it [`holds`](Self::holds).
    #[inline(always)]
    pub(crate) fn use_again(&mut self, line: &Lookup) {
        self.store.touch(line.slot());
    }

    pub(crate) fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// Drops the lines of the space that runs, which are all where they are not told apart; or `everything`.
    pub fn flush(&mut self, by: Moment, everything: bool) {
        let tag = self.running.tag;
        self.drop_where(by, |_, of| everything || of == tag);
    }

    /// Drops the lines that start on the page of `linear`.
    pub fn invalidate_page(&mut self, linear: Linear, by: Moment) {
        if self.on_pages[page_of(linear.0 as u64)] == 0 {
            return;
        }
        let tag = self.running.tag;
        self.drop_where(by, |start, of| start >> 12 == linear.page().0 as u64 && of == tag);
    }

    fn drop_where(&mut self, by: Moment, goes: impl Fn(u64, Tag) -> bool) {
        let mut next = 0;
        while let Some(slot) = self.store.next_occupied(next) {
            next = slot + 1;
            let Some(stored) = self.store.key(slot) else { continue };
            let (key, tag) = self.running.taken_apart(stored);
            if goes(key, tag) {
                self.store.remove(slot);
                self.on_pages[page_of(key)] -= 1;
                self.history.flushed(key, tag, by);
            }
        }
    }
}
