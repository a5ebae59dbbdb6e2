// SPDX-License-Identifier: GPL-2.0-or-later
//! What the TLBs may hold: every translation that could be walked since it was invalidated, by whatever tables were in
//! force. Nothing has to be recorded until an entry changes: then the translation that it gave is stale.

use crate::arm::tables::NO_ENTRY;
use crate::arm::{translate, Side, Translation};
use crate::{Linear, Page, Physical, PhysicalMemory};
use std::collections::{HashMap, HashSet};

const FIRST_LEVEL_WORDS: u32 = 4096;
const WORDS: usize = 256;
const COARSE: u32 = 1;
/// Entries of a large page: its second-level entry stands there so many times, and any of them may have been walked.
const LARGE_PAGE: u32 = 1;
const COPIES: u32 = 16;
const CODE: u8 = 1;
const DATA: u8 = 2;

fn sides(side: Side) -> u8 {
    (side.code() as u8 * CODE) | (side.data() as u8 * DATA)
}

/// The first-level table that holds the entry at `at`.
fn tables_of(at: Physical) -> Physical {
    Physical(at.0 & !0x3fff)
}

/// The first page of the megabyte of which the entry at `at` is.
fn first_page(at: Physical) -> Page {
    Page((at.0 & 0x3ffc) << 6)
}

/// A translation that the tables no longer give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    pub cached: Translation,
    /// Physical address of the entry that has changed, and the instruction that stored there; 0, 0 where other tables
    /// have been put in force since.
    pub entry: Physical,
    pub store: u32,
    sides: u8,
}

/// A kilobyte of entries as it was last seen.
struct Shadow {
    words: Vec<u32>,
    /// Physical addresses of the first-level entries that lead here, if it is a second-level table.
    leads: Vec<Physical>,
}

#[derive(Default)]
pub struct Translations {
    tables: HashMap<u32, Shadow>,
    /// A bit for each kilobyte that is watched.
    watched: Vec<u64>,
    /// Tables in force, and those that were since the TLBs were last emptied.
    current: Physical,
    older: Vec<Physical>,
    stale: HashMap<Page, Vec<Stale>>,
    /// A byte for each page: something stale may be held.
    marks: Vec<u8>,
}

impl Translations {
    pub fn new() -> Self {
        Translations { watched: vec![0; 1 << 16], marks: vec![0; 1 << 20], ..Translations::default() }
    }

    /// The tables at `base` are in force.
    pub fn put_in_force(&mut self, base: Physical, memory: &dyn PhysicalMemory) {
        if self.current != base {
            self.older.push(self.current);
            self.older.retain(|&older| older != base && older != Physical(0));
        }
        self.current = base;
        for index in 0..FIRST_LEVEL_WORDS {
            let at = base.plus(4 * index);
            let value = memory.word(at).unwrap_or(0);
            self.watch(at.0 >> 10, memory);
            if let Some(table) = self.tables.get_mut(&(at.0 >> 10)) {
                table.words[index as usize % WORDS] = value;
            }
            self.link(at, value, memory);
        }
    }

    fn watch(&mut self, kilobyte: u32, memory: &dyn PhysicalMemory) {
        self.watched[kilobyte as usize / 64] |= 1 << (kilobyte % 64);
        self.tables.entry(kilobyte).or_insert_with(|| {
            let words =
                (0..WORDS as u32).map(|n| memory.word(Physical((kilobyte << 10) + 4 * n)).unwrap_or(0)).collect();
            Shadow { words, leads: Vec::new() }
        });
    }

    fn link(&mut self, at: Physical, value: u32, memory: &dyn PhysicalMemory) {
        if value & 3 != COARSE {
            return;
        }
        self.watch(value >> 10, memory);
        if let Some(table) = self.tables.get_mut(&(value >> 10)).filter(|table| !table.leads.contains(&at)) {
            table.leads.push(at);
        }
    }

    /// Whether a store to `physical` has to be told.
    #[inline]
    pub fn watches(&self, physical: Physical) -> bool {
        let kilobyte = physical.0 >> 10;
        self.watched[kilobyte as usize / 64] >> (kilobyte % 64) & 1 == 1
    }

    fn live(&self, base: Physical) -> bool {
        base == self.current || self.older.contains(&base)
    }

    /// The instruction `by` has stored to the watched word at `physical`.
    pub fn stored(&mut self, physical: Physical, by: u32, memory: &dyn PhysicalMemory) {
        let (at, number) = (Physical(physical.0 & !3), (physical.0 >> 2) as usize % WORDS);
        let (Some(new), Some(table)) = (memory.word(at), self.tables.get_mut(&(at.0 >> 10))) else { return };
        let old = std::mem::replace(&mut table.words[number], new);
        if old == new {
            return;
        }
        let leads = table.leads.clone();
        let base = tables_of(at);
        if self.live(base) {
            self.first_level_changed(at, old, by);
            self.link(at, new, memory);
        }
        for lead in leads {
            let value = memory.word(lead).unwrap_or(0);
            let leads_here = value & 3 == COARSE && value >> 10 == at.0 >> 10;
            if leads_here && self.live(tables_of(lead)) {
                let first = first_page(lead);
                let number = number as u32;
                let served = if old & 3 == LARGE_PAGE {
                    number / COPIES * COPIES..(number / COPIES + 1) * COPIES
                } else {
                    number..number + 1
                };
                for number in served {
                    let second = (Physical(value & 0xffff_fc00 | number << 2), old);
                    self.lose(Page(first.0 | number), at, by, &Entries { first: (lead, value), second });
                }
            } else if !leads_here {
                if let Some(table) = self.tables.get_mut(&(at.0 >> 10)) {
                    table.leads.retain(|&other| other != lead);
                }
            }
        }
    }

    fn first_level_changed(&mut self, at: Physical, old: u32, by: u32) {
        let first = first_page(at);
        let table =
            if old & 3 == COARSE { self.tables.get(&(old >> 10)).map(|table| table.words.clone()) } else { None };
        for number in 0..WORDS as u32 {
            let second = match &table {
                Some(words) => (Physical(old & 0xffff_fc00 | number << 2), words[number as usize]),
                None => NO_ENTRY,
            };
            self.lose(Page(first.0 | number), at, by, &Entries { first: (at, old), second });
        }
    }

    /// The translation of `page` by these entries is no longer what the tables say, since the store to `entry`.
    fn lose(&mut self, page: Page, entry: Physical, store: u32, entries: &Entries) {
        let Some(cached) = translate(entries, tables_of(entries.first.0), page.start()) else { return };
        let stale = Stale { cached, entry, store, sides: CODE | DATA };
        let list = self.stale.entry(page).or_default();
        match list.iter_mut().find(|known| known.cached == cached) {
            Some(known) => *known = stale,
            None => list.push(stale),
        }
        self.marks[page.0 as usize] = 1;
    }

    pub fn any_stale(&self) -> bool {
        !self.stale.is_empty() || !self.older.is_empty()
    }

    /// Whether anything stale may translate `mva`.
    #[inline]
    pub fn suspects(&self, mva: Linear) -> bool {
        self.marks[mva.page().0 as usize] != 0 || !self.older.is_empty()
    }

    /// Everything stale that may translate `mva`.
    pub fn stale(&self, mva: Linear, side: Side, memory: &dyn PhysicalMemory) -> Vec<Stale> {
        let own = self.stale.get(&mva.page()).into_iter().flatten();
        let older = self.older.iter().filter_map(|&base| translate(memory, base, mva));
        let older = older.map(|cached| Stale { cached, entry: Physical(0), store: 0, sides: CODE | DATA });
        own.copied().filter(|stale| stale.sides & sides(side) != 0).chain(older).collect()
    }

    /// The TLBs are emptied. Entries whose change has not reached memory are walked again as they were: `pending` knows
    /// them. Returns whether anything stale was taken away.
    pub fn flush(&mut self, side: Side, pending: impl Fn(Physical) -> bool) -> bool {
        let mut any = side == Side::Both && !self.older.is_empty();
        if side == Side::Both {
            self.older.clear();
        }
        let pages: HashSet<Page> = self.stale.keys().copied().collect();
        for page in pages {
            any |= self.drop_page(page, side, |stale| !pending(stale.entry));
        }
        any
    }

    /// The entry that translates `mva` is dropped.
    pub fn invalidate(&mut self, mva: Linear, side: Side, pending: impl Fn(Physical) -> bool) -> bool {
        let goes = |stale: &Stale| !pending(stale.entry);
        let mut any = self.drop_page(mva.page(), side, goes);
        // A larger page goes as a whole, and a section.
        for page in (0..256).map(|number| Page(mva.0 >> 20 << 8 | number)).filter(|&page| page != mva.page()) {
            any |= self.drop_page(page, side, |stale| {
                let shift = stale.cached.shift;
                shift > 12 && page.start().0 >> shift == mva.0 >> shift && goes(stale)
            });
        }
        any
    }

    fn drop_page(&mut self, page: Page, side: Side, goes: impl Fn(&Stale) -> bool) -> bool {
        if self.marks[page.0 as usize] == 0 {
            return false;
        }
        let Some(list) = self.stale.get_mut(&page) else { return false };
        let mut dropped = false;
        for stale in list.iter_mut().filter(|stale| goes(stale)) {
            dropped |= stale.sides & sides(side) != 0;
            stale.sides &= !sides(side);
        }
        list.retain(|stale| stale.sides != 0);
        if list.is_empty() {
            self.stale.remove(&page);
            self.marks[page.0 as usize] = 0;
        }
        dropped
    }
}

/// The two entries of one walk, as memory that holds nothing else.
struct Entries {
    first: (Physical, u32),
    second: (Physical, u32),
}

impl PhysicalMemory for Entries {
    fn word(&self, physical: Physical) -> Option<u32> {
        [self.first, self.second].into_iter().find(|(at, _)| *at == physical).map(|(_, value)| value)
    }
}
