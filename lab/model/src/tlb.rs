// SPDX-License-Identifier: GPL-2.0-or-later
//! A translation look-aside buffer without address-space tags.

use crate::{Associative, Replacement, Walk};

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

/// How a translation was lost before it was needed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Flushed,
    Evicted,
}

const LARGE: u64 = 1 << 32;
const PAGES: usize = 1 << 20;
const LARGE_PAGES: usize = 1 << 10;

pub struct Tlb {
    shape: TlbShape,
    store: Associative,
    frames: Vec<u32>,
    global: Vec<bool>,
    large_entries: usize,
    global_pages: bool,
    /// How each page was lost, 4 KB pages first, then the 4 MB ones; the model remembers what hardware does not.
    lost: Vec<Option<Loss>>,
    last_page: u64,
    last_slot: usize,
}

impl Tlb {
    pub fn new(shape: TlbShape) -> Self {
        Tlb {
            shape,
            store: Associative::new(shape.entries, shape.ways, shape.replacement),
            frames: vec![0; shape.entries],
            global: vec![false; shape.entries],
            large_entries: 0,
            global_pages: false,
            lost: vec![None; PAGES + LARGE_PAGES],
            last_page: u64::MAX,
            last_slot: 0,
        }
    }

    /// The 4 KB frame of `linear`, when the TLB holds it.
    #[inline]
    pub fn lookup(&mut self, linear: u32) -> Option<u32> {
        let page = (linear >> 12) as u64;
        if page == self.last_page {
            return Some(self.frames[self.last_slot]);
        }
        if let Some(slot) = self.store.lookup(page as usize, page) {
            (self.last_page, self.last_slot) = (page, slot);
            return Some(self.frames[slot]);
        }
        if self.large_entries > 0 {
            let slot = self.store.lookup((page >> 10) as usize, page >> 10 | LARGE)?;
            self.last_page = u64::MAX;
            return Some(self.frames[slot] + (linear & 0x003f_f000));
        }
        None
    }

    /// Stores the result of a walk after a miss. Returns how this page was lost the last time, if it was ever held.
    pub fn fill(&mut self, linear: u32, walk: &Walk) -> Option<Loss> {
        let page = (linear >> 12) as u64;
        let large = walk.large && self.shape.large_pages;
        let (key, frame) = if large { (page >> 10 | LARGE, walk.frame & 0xffc0_0000) } else { (page, walk.frame) };
        self.last_page = u64::MAX;
        let (slot, evicted) = self.store.insert((key & !LARGE) as usize, key);
        if let Some(old) = evicted {
            self.forget(old, Loss::Evicted);
        }
        self.large_entries += large as usize;
        self.frames[slot] = frame;
        self.global[slot] = walk.global;
        self.lost[lost_index(key)].take()
    }

    fn forget(&mut self, key: u64, loss: Loss) {
        self.large_entries -= (key & LARGE != 0) as usize;
        self.lost[lost_index(key)] = Some(loss);
    }

    /// A CR3 write: everything goes except, where enabled, global entries.
    pub fn flush(&mut self) {
        let keep_global = self.global_pages && self.shape.global;
        self.drop_where(|tlb, slot| !(keep_global && tlb.global[slot]));
    }

    /// A write of CR0 or CR4: everything goes; `global_pages` is CR4.PGE from now on.
    pub fn flush_all(&mut self, global_pages: bool) {
        self.global_pages = global_pages;
        self.drop_where(|_, _| true);
    }

    /// Drops the translation of one page, global or not.
    pub fn invalidate(&mut self, linear: u32) {
        let page = (linear >> 12) as u64;
        let large = page >> 10 | LARGE;
        self.drop_where(|tlb, slot| matches!(tlb.store.key(slot), Some(k) if k == page || k == large));
    }

    fn drop_where(&mut self, goes: impl Fn(&Self, usize) -> bool) {
        self.last_page = u64::MAX;
        for slot in 0..self.store.slots() {
            if let Some(key) = self.store.key(slot) {
                if goes(self, slot) {
                    self.store.remove(slot);
                    self.forget(key, Loss::Flushed);
                }
            }
        }
    }
}

fn lost_index(key: u64) -> usize {
    let page = (key & !LARGE) as usize;
    if key & LARGE != 0 {
        PAGES + page
    } else {
        page
    }
}
