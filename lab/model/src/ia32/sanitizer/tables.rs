// SPDX-License-Identifier: GPL-2.0-or-later
//! The page directories and page tables that any CR3 has led to, as they were when last looked at.
//!
//! A page is watched from the moment it can be walked through. What stands in a directory that is not in force leads
//! nowhere until it is loaded: so a directory that has died and become something else tells no lies.

use crate::{Physical, PhysicalMemory};
use std::collections::HashMap;

pub const ENTRIES: usize = 1024;
const FRAMES: usize = 1 << 20;

/// One entry as it was last seen.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    pub value: u32,
    /// When it got this value.
    pub since: u64,
    /// The instruction that stored it; 0 if that was before it was watched.
    pub by: u32,
}

/// Where a table hangs: in which directory, at which index.
pub type Place = (Physical, u16);

pub struct Page {
    pub entries: Box<[Entry]>,
    /// For a page table: the directory entries that lead to it.
    pub places: Vec<Place>,
    /// For a page table: when user code last went through it by each place.
    pub uses: Vec<(Place, u64)>,
    /// When it was last wiped, and by which instruction: whatever it was, it begins anew.
    pub wiped: (u64, u32),
    /// How many of its first words were wiped so far, and in which period without an invalidation.
    wiping: (u32, u64),
    pub is_directory: bool,
    /// For a directory: entries that were stored while it was not in force.
    pub unlinked: Vec<u16>,
    /// For a directory: until when it was last in force.
    pub in_force_until: u64,
}

impl Page {
    /// `value` was stored at `index`, in the `period` between two invalidations. True when that was the last of stores
    /// that have filled the page with zeros from its first word on, as kernels prepare a page that they hand out. A
    /// table that is emptied entry by entry while it serves has invalidations in between.
    pub fn wipes(&mut self, index: u32, value: u32, period: u64) -> bool {
        let next = if index == 0 || self.wiping == (index, period) { index + 1 } else { 0 };
        self.wiping = if value == 0 { (next, period) } else { (0, period) };
        self.wiping.0 as usize == ENTRIES
    }
}

#[derive(Default)]
pub struct Tables {
    pages: HashMap<Physical, Page>,
    watched: Vec<u64>,
}

impl Tables {
    pub fn new() -> Self {
        Tables { pages: HashMap::new(), watched: vec![0; FRAMES / 64] }
    }

    /// Whether stores to the frame at `physical` matter.
    #[inline]
    pub fn watches(&self, physical: Physical) -> bool {
        let frame = (physical.0 >> 12) as usize;
        self.watched[frame / 64] >> (frame % 64) & 1 != 0
    }

    pub fn page(&self, frame: Physical) -> Option<&Page> {
        self.pages.get(&frame)
    }

    pub fn page_mut(&mut self, frame: Physical) -> Option<&mut Page> {
        self.pages.get_mut(&frame)
    }

    /// Starts to watch a page, with what stands in it now. False for what is no memory.
    pub fn watch(&mut self, frame: Physical, now: u64, memory: &dyn PhysicalMemory) -> bool {
        if self.pages.contains_key(&frame) {
            return true;
        }
        let mut entries = vec![Entry::default(); ENTRIES].into_boxed_slice();
        for (index, entry) in entries.iter_mut().enumerate() {
            let Some(value) = memory.word(frame.plus(4 * index as u32)) else { return false };
            *entry = Entry { value, since: now, by: 0 };
        }
        let page = Page {
            entries,
            places: Vec::new(),
            uses: Vec::new(),
            wiped: (0, 0),
            wiping: (0, 0),
            is_directory: false,
            unlinked: Vec::new(),
            in_force_until: 0,
        };
        self.pages.insert(frame, page);
        self.watched[frame.0 as usize >> 18] |= 1 << (frame.0 >> 12 & 63);
        true
    }

    /// `place` leads to the table at `frame` from now on.
    pub fn link(&mut self, frame: Physical, place: Place, now: u64, memory: &dyn PhysicalMemory) {
        if !self.watch(frame, now, memory) {
            return;
        }
        let places = &mut self.pages.get_mut(&frame).expect("is watched").places;
        if !places.contains(&place) {
            places.push(place);
        }
    }

    /// `place` no longer leads to the table at `frame`, which is forgotten when nothing leads there.
    pub fn unlink(&mut self, frame: Physical, place: Place) {
        let Some(page) = self.pages.get_mut(&frame) else { return };
        page.places.retain(|&p| p != place);
        page.uses.retain(|&(p, _)| p != place);
        self.forget_unused(frame);
    }

    /// The directory at `frame` is none any more.
    pub fn retire_directory(&mut self, frame: Physical) {
        let Some(page) = self.pages.get_mut(&frame) else { return };
        page.is_directory = false;
        page.unlinked.clear();
        self.forget_unused(frame);
    }

    fn forget_unused(&mut self, frame: Physical) {
        if self.pages.get(&frame).is_some_and(|page| page.places.is_empty() && !page.is_directory) {
            self.pages.remove(&frame);
            self.watched[frame.0 as usize >> 18] &= !(1 << (frame.0 >> 12 & 63));
        }
    }
}
