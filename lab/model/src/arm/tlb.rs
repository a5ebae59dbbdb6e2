// SPDX-License-Identifier: GPL-2.0-or-later
//! A translation look-aside buffer: entries found by MVA, whatever tables are in force and whichever space runs.

use super::tables::NO_ENTRY;
use super::Translation;
use crate::core::loss_history::LossHistory;
use crate::{Associative, Linear, Loss, Moment, Physical, Replacement, Running, Tag};

/// The sizes that an entry can have, as shifts.
const SHIFTS: [u32; 4] = [12, 20, 16, 10];

pub struct Tlb {
    store: Associative,
    entries: Vec<Translation>,
    history: LossHistory,
    running: Running,
    /// Slot where each kilobyte was found the last time; verified at each use.
    found: [(u32, u32); FOUND],
}

const FOUND: usize = 256;
const NOWHERE: (u32, u32) = (u32::MAX, 0);
const NOTHING: Translation = Translation {
    frame: Physical(0),
    shift: 32,
    domain: 0,
    access: 0,
    cached: false,
    buffered: false,
    entries: [NO_ENTRY; 2],
};

impl Tlb {
    /// Fully associative when there are as many `ways` as `entries`.
    pub fn new(entries: usize, ways: usize, replacement: Replacement) -> Self {
        Tlb {
            store: Associative::new(entries, ways, replacement),
            entries: vec![NOTHING; entries],
            history: LossHistory::new(),
            running: Running::START.shared(),
            found: [NOWHERE; FOUND],
        }
    }

    /// A switch happened.
    pub(crate) fn enter(&mut self, running: Running) {
        self.running = running;
    }

    /// From here on it is asked for entries with `tag`, if it tells entries apart.
    pub(crate) fn ask_for(&mut self, tag: Tag) {
        self.running.tag = tag;
    }

    #[inline]
    fn stored(&self, key: u64) -> u64 {
        self.running.stored(key, self.running.tag)
    }

    /// The translation of `mva`, when it is held.
    #[inline]
    pub fn lookup(&mut self, mva: Linear) -> Option<&Translation> {
        let kilobyte = mva.0 >> 10;
        let (known, slot) = self.found[kilobyte as usize % FOUND];
        if known == kilobyte {
            let slot = slot as usize;
            let shift = self.entries[slot].shift;
            if self.store.lookup_at(slot, self.stored(key(mva, shift))) {
                return Some(&self.entries[slot]);
            }
        }
        self.search(mva)
    }

    #[inline(never)]
    fn search(&mut self, mva: Linear) -> Option<&Translation> {
        let slot = SHIFTS.into_iter().find_map(|shift| {
            let stored = self.stored(key(mva, shift));
            self.store.lookup(set(mva, shift), stored)
        })?;
        self.found[(mva.0 >> 10) as usize % FOUND] = (mva.0 >> 10, slot as u32);
        Some(&self.entries[slot])
    }

    /// Stores what a walk found after a miss. Returns how the entry was lost the last time.
    pub fn fill(&mut self, mva: Linear, walked: &Translation) -> Loss {
        let key = key(mva, walked.shift);
        let (slot, evicted) = self.store.insert(set(mva, walked.shift), self.stored(key));
        if let Some(old) = evicted {
            let (old, tag) = self.running.taken_apart(old);
            self.history.evicted(old, tag, self.running.since);
        }
        self.entries[slot] = *walked;
        self.history.of(key, self.running.tag)
    }

    pub fn flush(&mut self, by: Moment) {
        self.drop_where(by, |_, _| true);
    }

    /// Drops the entry that translates `mva`, whatever its tag.
    pub fn invalidate(&mut self, mva: Linear, by: Moment) {
        self.drop_where(by, |entry, key| key == self::key(mva, entry.shift));
    }

    fn drop_where(&mut self, by: Moment, goes: impl Fn(&Translation, u64) -> bool) {
        let mut next = 0;
        while let Some(slot) = self.store.next_occupied(next) {
            next = slot + 1;
            let Some(stored) = self.store.key(slot) else { continue };
            let (key, tag) = self.running.taken_apart(stored);
            if goes(&self.entries[slot], key) {
                self.store.remove(slot);
                self.history.flushed(key, tag, by);
            }
        }
    }
}

/// Entries of different sizes have different keys.
#[inline]
fn key(mva: Linear, shift: u32) -> u64 {
    (mva.0 >> shift) as u64 | (shift as u64) << 24
}

#[inline]
fn set(mva: Linear, shift: u32) -> usize {
    (mva.0 >> shift) as usize
}
