// SPDX-License-Identifier: GPL-2.0-or-later
//! A translation look-aside buffer, without address-space tags unless it is told otherwise ([`Running::tagged`]).

use crate::past::Past;
use crate::{Associative, Loss, Moment, Replacement, Running, Tag, Walk};

/// Geometry of a TLB.
#[derive(Clone, Copy, Debug)]
pub struct TlbShape {
    pub entries: usize,
    /// Ways per set; equal to `entries` when fully associative.
    pub ways: usize,
    pub replacement: Replacement,
    /// Whether a 4 MB page takes one entry; otherwise each of its 4 KB parts takes one.
    pub large_pages: bool,
    /// Whether the processor has the global bit at all.
    pub global: bool,
}

const LARGE: u64 = 1 << 32;

pub struct Tlb {
    shape: TlbShape,
    store: Associative,
    frames: Vec<u32>,
    tags: Vec<Tag>,
    large_entries: usize,
    global_pages: bool,
    running: Running,
    past: Past,
    last_page: u64,
    last_slot: usize,
}

impl Tlb {
    pub fn new(shape: TlbShape) -> Self {
        Tlb {
            shape,
            store: Associative::new(shape.entries, shape.ways, shape.replacement),
            frames: vec![0; shape.entries],
            tags: vec![Tag::SHARED; shape.entries],
            large_entries: 0,
            global_pages: false,
            running: Running::START,
            past: Past::new(),
            last_page: u64::MAX,
            last_slot: 0,
        }
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        self.running = running;
        self.last_page = u64::MAX;
    }

    /// The 4 KB frame of `linear`, when the TLB holds it.
    #[inline]
    pub fn lookup(&mut self, linear: u32) -> Option<u32> {
        let page = (linear >> 12) as u64;
        if page == self.last_page {
            return Some(self.frames[self.last_slot]);
        }
        if let Some(slot) = self.find(page as usize, page) {
            (self.last_page, self.last_slot) = (page, slot);
            return Some(self.frames[slot]);
        }
        if self.large_entries > 0 {
            let slot = self.find((page >> 10) as usize, page >> 10 | LARGE)?;
            self.last_page = u64::MAX;
            return Some(self.frames[slot] + (linear & 0x003f_f000));
        }
        None
    }

    #[inline]
    fn find(&mut self, set: usize, key: u64) -> Option<usize> {
        if self.running.tagged {
            let own = self.store.lookup(set, self.running.stored(key, self.running.tag));
            return own.or_else(|| self.store.lookup(set, self.running.stored(key, Tag::SHARED)));
        }
        self.store.lookup(set, key)
    }

    /// Stores the result of a walk after a miss. Returns how this space lost the page the last time.
    pub fn fill(&mut self, linear: u32, walk: &Walk) -> Loss {
        let page = (linear >> 12) as u64;
        let large = walk.large && self.shape.large_pages;
        let (key, frame) = if large { (page >> 10 | LARGE, walk.frame & 0xffc0_0000) } else { (page, walk.frame) };
        let global = walk.global && self.global_pages && self.shape.global;
        let tag = if global { Tag::SHARED } else { self.running.tag };
        self.last_page = u64::MAX;
        let (slot, evicted) = self.store.insert((key & !LARGE) as usize, self.running.stored(key, tag));
        if let Some(old) = evicted {
            let old = self.forget(old);
            self.past.evicted(old, self.tags[slot], self.running.since);
        }
        self.large_entries += large as usize;
        self.frames[slot] = frame;
        self.tags[slot] = tag;
        self.past.of(key, tag)
    }

    /// The key of an entry that is no longer held.
    fn forget(&mut self, stored: u64) -> u64 {
        let (key, _) = self.running.taken_apart(stored);
        self.large_entries -= (key & LARGE != 0) as usize;
        key
    }

    /// A CR3 write: everything of the space that runs goes except, where enabled, global entries.
    pub fn flush(&mut self, by: Moment) {
        let tag = self.running.tag;
        self.drop_where(by, |tlb, slot, _| tlb.tags[slot] == tag);
    }

    /// A write of CR0 or CR4: everything goes; `global_pages` is CR4.PGE from now on.
    pub fn flush_all(&mut self, global_pages: bool, by: Moment) {
        self.global_pages = global_pages;
        self.drop_where(by, |_, _, _| true);
    }

    /// Drops the translation of one page, global or not.
    pub fn invalidate(&mut self, linear: u32, by: Moment) {
        let page = (linear >> 12) as u64;
        let (tag, large) = (self.running.tag, page >> 10 | LARGE);
        self.drop_where(by, |tlb, slot, key| {
            (key == page || key == large) && [tag, Tag::SHARED].contains(&tlb.tags[slot])
        });
    }

    /// Drops the entries for which `goes` holds, given their slots and keys.
    fn drop_where(&mut self, by: Moment, goes: impl Fn(&Self, usize, u64) -> bool) {
        self.last_page = u64::MAX;
        for slot in 0..self.store.slots() {
            if let Some(stored) = self.store.key(slot) {
                if goes(self, slot, self.running.taken_apart(stored).0) {
                    self.store.remove(slot);
                    let key = self.forget(stored);
                    self.past.flushed(key, self.tags[slot], by);
                }
            }
        }
    }
}
