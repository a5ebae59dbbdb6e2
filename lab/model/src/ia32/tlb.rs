// SPDX-License-Identifier: GPL-2.0-or-later
//! A translation look-aside buffer, without address-space tags unless it is told otherwise ([`Running::tagged`]).

use super::Walk;
use crate::core::loss_history::LossHistory;
use crate::core::notes::Notes;
use crate::{Associative, Linear, Loss, Moment, Page, Physical, Replacement, Running, Tag};

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
    frames: Vec<Physical>,
    tags: Vec<Tag>,
    large_entries: usize,
    global_pages: bool,
    running: Running,
    history: LossHistory,
    /// The page that was looked up last, and its frame. It was used last of all, so that using it once more changes
    /// nothing.
    last: (Page, Physical),
    /// Where pages were found the last time. Verified at each use, so that nothing but a change of the tag has to clear
    /// it. Between small spaces fewer than one lookup in a thousand has to search.
    found: [Found; FOUND],
    /// Pages that were looked up and found.
    notes: Notes,
}

const FOUND: usize = 128;
const NO_PAGE: (Page, Physical) = (Page(u32::MAX), Physical(0));

/// Where the entry was that translates `page`. Between two fills of the page itself no other entry can come to
/// translate it while this one is held.
#[derive(Clone, Copy)]
struct Found {
    page: Page,
    slot: u32,
    key: u64,
    /// Bits of an address that the entry passes on to the frame.
    within: u32,
}

impl Found {
    const NOTHING: Found = Found { page: Page(u32::MAX), slot: 0, key: 0, within: 0 };
}

impl Tlb {
    pub fn new(shape: TlbShape) -> Self {
        Tlb {
            shape,
            store: Associative::new(shape.entries, shape.ways, shape.replacement),
            frames: vec![Physical(0); shape.entries],
            tags: vec![Tag::SHARED; shape.entries],
            large_entries: 0,
            global_pages: false,
            running: Running::START,
            history: LossHistory::new(),
            last: NO_PAGE,
            found: [Found::NOTHING; FOUND],
            notes: Notes::default(),
        }
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        if running.tagged || self.running.tagged {
            self.found = [Found::NOTHING; FOUND];
            self.last = NO_PAGE;
        }
        self.running = running;
    }

    /// Appends everything that decides what it will find and lose.
    pub fn state(&self, out: &mut Vec<u64>) {
        self.store.state(out, |slot| self.frames[slot].0 as u64 | (self.tags[slot].number() as u64) << 32);
        out.extend([self.running.tag.number() as u64, self.global_pages as u64]);
    }

    /// The 4 KB frame of `linear`, when the TLB holds it.
    #[inline(always)]
    pub fn lookup(&mut self, linear: Linear) -> Option<Physical> {
        let page = linear.page();
        match page == self.last.0 {
            true => Some(self.last.1),
            false => self.lookup_another(linear),
        }
    }

    #[inline(never)]
    fn lookup_another(&mut self, linear: Linear) -> Option<Physical> {
        let page = linear.page();
        let found = &self.found[place(page)];
        if found.page == page && self.store.lookup_at(found.slot as usize, found.key) {
            self.last = (page, self.frames[found.slot as usize].plus(linear.0 & found.within));
            self.notes.put(page.0);
            return Some(self.last.1);
        }
        let (slot, frame) = self.search(page)?;
        self.store.touch(slot);
        self.last = (page, frame);
        self.notes.put(page.0);
        Some(frame)
    }

    /// The slot that translates `page`, and the frame; marks nothing used.
    #[inline(never)]
    fn search(&mut self, page: Page) -> Option<(usize, Physical)> {
        let mut within = 0;
        let mut slot = self.find(page.0 as usize, page.0 as u64);
        if slot.is_none() && self.large_entries > 0 {
            within = 0x003f_f000;
            slot = self.find((page.0 >> 10) as usize, (page.0 >> 10) as u64 | LARGE);
        }
        Some((slot?, self.remember(page, slot?, within)))
    }

    /// Returns the frame of `page`, which `slot` translates.
    fn remember(&mut self, page: Page, slot: usize, within: u32) -> Physical {
        if let Some(key) = self.store.key(slot) {
            self.found[place(page)] = Found { page, slot: slot as u32, key, within };
        }
        self.frames[slot].plus(page.start().0 & within)
    }

    #[inline]
    fn find(&mut self, set: usize, key: u64) -> Option<usize> {
        if self.running.tagged {
            let own = self.store.find(set, self.running.stored(key, self.running.tag));
            return own.or_else(|| self.store.find(set, self.running.stored(key, Tag::SHARED)));
        }
        self.store.find(set, key)
    }

    /// What [`lookup`](Self::lookup) would return for an address on `page`; marks nothing used.
    #[inline]
    pub(crate) fn holds(&mut self, page: Page) -> Option<Physical> {
        let found = &self.found[place(page)];
        if found.page == page && self.store.key(found.slot as usize) == Some(found.key) {
            return Some(self.frames[found.slot as usize].plus(page.start().0 & found.within));
        }
        self.search(page).map(|(_, frame)| frame)
    }

    /// The notes of what was found. The next lookup is noted, whatever the last one was.
    pub(crate) fn notes(&mut self) -> &mut Notes {
        self.last = NO_PAGE;
        &mut self.notes
    }

    /// Stores the result of a walk after a miss. Returns how this space lost the page the last time.
    pub fn fill(&mut self, linear: Linear, walk: &Walk) -> Loss {
        let page = linear.page().0 as u64;
        let large = walk.large && self.shape.large_pages;
        let (key, frame) =
            if large { (page >> 10 | LARGE, Physical(walk.frame.0 & 0xffc0_0000)) } else { (page, walk.frame) };
        let global = walk.global && self.global_pages && self.shape.global;
        let tag = if global { Tag::SHARED } else { self.running.tag };
        let set = (key & !LARGE) as usize;
        let (slot, evicted) = self.store.insert(set, self.running.stored(key, tag));
        if let Some(old) = evicted {
            let old = self.forget(old);
            self.history.evicted(old, self.tags[slot], self.running.since);
        }
        self.large_entries += large as usize;
        self.frames[slot] = frame;
        self.tags[slot] = tag;
        self.last = (linear.page(), self.remember(linear.page(), slot, if large { 0x003f_f000 } else { 0 }));
        self.history.of(key, tag)
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
    pub fn invalidate(&mut self, linear: Linear, by: Moment) {
        let page = linear.page().0 as u64;
        let (tag, large) = (self.running.tag, page >> 10 | LARGE);
        self.drop_where(by, |tlb, slot, key| {
            (key == page || key == large) && [tag, Tag::SHARED].contains(&tlb.tags[slot])
        });
    }

    /// Drops the entries for which `goes` holds, given their slots and keys.
    fn drop_where(&mut self, by: Moment, goes: impl Fn(&Self, usize, u64) -> bool) {
        self.last = NO_PAGE;
        let mut next = 0;
        while let Some(slot) = self.store.next_occupied(next) {
            next = slot + 1;
            if let Some(stored) = self.store.key(slot) {
                if goes(self, slot, self.running.taken_apart(stored).0) {
                    self.store.remove(slot);
                    let key = self.forget(stored);
                    self.history.flushed(key, self.tags[slot], by);
                }
            }
        }
    }
}

/// Where a page is remembered.
#[inline]
fn place(Page(page): Page) -> usize {
    (page ^ page >> 7 ^ page >> 14) as usize % FOUND
}
