// SPDX-License-Identifier: GPL-2.0-or-later
//! A TLB that never evicts, seen from its dangerous side: it holds what may still be cached although the entries that
//! it came from have lost it. What agrees with the page tables does not have to be held.

use super::entry::Translation;
use crate::{Linear, Page, Physical};
use std::collections::HashMap;

const PAGES: usize = 1 << 20;
const REGION: usize = 1 << 10;
/// Of one page only so many different stale translations are told apart.
const MOST: usize = 8;
const HAS_PAGE: u8 = 1;
const HAS_REGION: u8 = 2;

/// What was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    TableEntry,
    DirectoryEntry,
    /// Nothing: the table entry has more rights than what is cached.
    OlderRights,
}

/// A translation that may still be cached, and what has become of its source.
#[derive(Clone, Copy, Debug)]
pub struct Stale {
    pub cached: Translation,
    /// Physical addresses of the directory entry and the table entry (0 for a 4 MB page) and their values then.
    pub entries: [(Physical, u32); 2],
    pub loss: Loss,
    /// The instruction that stored the new entry.
    pub store: u32,
    /// When that was.
    pub when: u64,
    /// Accesses of the guest until then.
    pub accesses: u64,
}

/// An instruction that took translations away: how many, and during how many accesses one of them stayed in place at
/// most. Until the invalidation that time is harmless as long as the page is not used.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    pub store: u32,
    pub losses: u64,
    pub longest: u64,
}

#[derive(Default)]
pub struct StaleSet {
    flags: Vec<u8>,
    pages: HashMap<u32, Vec<Stale>>,
    /// 4 MB pages, by region.
    regions: HashMap<u32, Vec<Stale>>,
    /// Pages and regions that a CR3 write may free.
    local: Vec<(bool, u32)>,
    /// When each page was last invalidated alone.
    invalidated: Vec<u64>,
    dropped_all: u64,
    delays: HashMap<u32, Delay>,
}

impl StaleSet {
    pub fn new() -> Self {
        StaleSet { flags: vec![0; PAGES], invalidated: vec![0; PAGES], ..Default::default() }
    }

    /// Whether anything stale may be cached for the page of `linear`.
    #[inline]
    pub fn touches(&self, linear: Linear) -> bool {
        self.flags[linear.page().0 as usize] != 0
    }

    /// Since when a global translation of `page` can have stayed cached.
    pub fn kept_since(&self, page: Page) -> u64 {
        self.invalidated[page.0 as usize].max(self.dropped_all)
    }

    pub fn at(&self, linear: Linear) -> impl Iterator<Item = &Stale> {
        let pages = self.pages.get(&linear.page().0).into_iter().flatten();
        pages.chain(self.regions.get(&(linear.0 >> 22)).into_iter().flatten())
    }

    pub fn add(&mut self, page: Page, stale: Stale) {
        self.delays.entry(stale.store).or_insert(Delay { store: stale.store, losses: 0, longest: 0 }).losses += 1;
        let large = stale.cached.large;
        let key = if large { page.0 >> 10 } else { page.0 };
        let list = if large { &mut self.regions } else { &mut self.pages }.entry(key).or_default();
        if list.len() >= MOST || list.iter().any(|s| s.cached == stale.cached && s.entries == stale.entries) {
            return;
        }
        list.push(stale);
        if !stale.cached.global {
            self.local.push((large, key));
        }
        if large {
            let first = (key as usize) * REGION;
            self.flags[first..first + REGION].iter_mut().for_each(|f| *f |= HAS_REGION);
        } else {
            self.flags[key as usize] |= HAS_PAGE;
        }
    }

    /// A CR3 write. Returns how many stale translations that took away.
    pub fn drop_local(&mut self, accesses: u64) -> usize {
        let mut dropped = 0;
        for (large, key) in std::mem::take(&mut self.local) {
            let map = if large { &mut self.regions } else { &mut self.pages };
            let Some(list) = map.get_mut(&key) else { continue };
            let before = list.len();
            for gone in list.extract_if(.., |s| !s.cached.global) {
                ended(&mut self.delays, &gone, accesses);
            }
            dropped += before - list.len();
            if list.is_empty() {
                map.remove(&key);
                self.clear_flag(large, key);
            }
        }
        dropped
    }

    /// A change of CR0.PG, CR4.PGE, CR4.PSE.
    pub fn drop_all(&mut self, now: u64, accesses: u64) -> usize {
        let mut dropped = 0;
        for gone in self.pages.values().chain(self.regions.values()).flatten() {
            dropped += 1;
            ended(&mut self.delays, gone, accesses);
        }
        for (map, large) in [(std::mem::take(&mut self.pages), false), (std::mem::take(&mut self.regions), true)] {
            for key in map.into_keys() {
                self.clear_flag(large, key);
            }
        }
        self.local.clear();
        self.dropped_all = now;
        dropped
    }

    /// `invlpg`, which takes the whole of a 4 MB page.
    pub fn drop_page(&mut self, linear: Linear, now: u64, accesses: u64) -> usize {
        let (page, region) = (linear.page().0, linear.0 >> 22);
        self.invalidated[page as usize] = now;
        let mut dropped = 0;
        if self.flags[page as usize] & HAS_PAGE != 0 {
            dropped += self.remove(false, page, accesses);
        }
        if self.flags[page as usize] & HAS_REGION != 0 {
            dropped += self.remove(true, region, accesses);
        }
        dropped
    }

    /// All that is stale of one page or region goes.
    fn remove(&mut self, large: bool, key: u32, accesses: u64) -> usize {
        let list = if large { &mut self.regions } else { &mut self.pages }.remove(&key).unwrap_or_default();
        for gone in &list {
            ended(&mut self.delays, gone, accesses);
        }
        self.clear_flag(large, key);
        list.len()
    }

    /// The instructions that took translations away, and for how long they stayed; `accesses` is now.
    pub fn delays(&self, accesses: u64) -> Vec<Delay> {
        let mut delays = self.delays.clone();
        for still in self.pages.values().chain(self.regions.values()).flatten() {
            ended(&mut delays, still, accesses);
        }
        let mut list: Vec<Delay> = delays.into_values().collect();
        list.sort_by_key(|delay| delay.store);
        list
    }

    fn clear_flag(&mut self, large: bool, key: u32) {
        if large {
            let first = (key as usize) * REGION;
            self.flags[first..first + REGION].iter_mut().for_each(|f| *f &= !HAS_REGION);
        } else {
            self.flags[key as usize] &= !HAS_PAGE;
        }
    }
}

/// A stale translation has been invalidated after all.
fn ended(delays: &mut HashMap<u32, Delay>, gone: &Stale, accesses: u64) {
    if let Some(delay) = delays.get_mut(&gone.store) {
        delay.longest = delay.longest.max(accesses - gone.accesses);
    }
}
