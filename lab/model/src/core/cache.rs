// SPDX-License-Identifier: GPL-2.0-or-later
//! A cache of lines: physically or virtually tagged, write-through or write-back.

use super::loss_history::LossHistory;
use super::notes::{Lookup, Notes};
use crate::{Address, Associative, Linear, Loss, Moment, Physical, Replacement, Running, Tag};
use std::marker::PhantomData;

/// Geometry and policy of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheShape {
    pub size: usize,
    pub line: usize,
    pub ways: usize,
    pub replacement: Replacement,
    /// Tagged with linear addresses, so that an address-space switch empties it.
    pub virtually_tagged: bool,
    pub write_back: bool,
    pub write_allocate: bool,
    /// Aligned group of lines that one read miss brings in.
    pub lines_per_fill: usize,
}

/// What an access did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the line was lost; nothing if it was there.
    pub missed: Option<Loss>,
    /// Modified lines that had to be written to the next level.
    pub write_backs: u32,
}

impl Outcome {
    pub fn hit(&self) -> bool {
        self.missed.is_none()
    }
}

/// The address by which a cache finds a line that may be tagged with either kind: [`Cache::tag`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsTagged(u32);

impl Address for AsTagged {
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0
    }
}

/// A cache that finds its lines by such addresses.
pub struct Cache<A = AsTagged> {
    shape: CacheShape,
    store: Associative,
    dirty: Vec<bool>,
    line_shift: u32,
    /// The line that was found or brought in last, and its slot. It was used last of all, so that using it once more
    /// changes nothing.
    last: (u64, usize),
    running: Running,
    history: LossHistory,
    /// Lines that were looked up and found.
    notes: Notes,
    found_by: PhantomData<A>,
}

const NO_LINE: (u64, usize) = (u64::MAX, 0);

impl Cache {
    /// What it finds by, of an address and what that is translated to.
    #[inline(always)]
    pub fn tag(&self, linear: Linear, physical: Physical) -> AsTagged {
        AsTagged(if self.shape.virtually_tagged { linear.0 } else { physical.0 })
    }
}

impl<A: Address> Cache<A> {
    pub fn new(shape: CacheShape) -> Self {
        let lines = shape.size / shape.line;
        Cache {
            shape,
            store: Associative::new(lines, shape.ways, shape.replacement),
            dirty: vec![false; lines],
            line_shift: shape.line.trailing_zeros(),
            last: NO_LINE,
            running: if shape.virtually_tagged { Running::START } else { Running::START.shared() },
            history: LossHistory::new(),
            notes: Notes::default(),
            found_by: PhantomData,
        }
    }

    pub fn shape(&self) -> &CacheShape {
        &self.shape
    }

    pub fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        self.last = NO_LINE;
        self.running = if self.shape.virtually_tagged { running } else { running.shared() };
    }

    /// From here on it is asked for lines with `tag`, if it tells lines apart.
    pub(crate) fn ask_for(&mut self, tag: Tag) {
        if self.running.tag != tag {
            self.last = NO_LINE;
            self.running.tag = tag;
        }
    }

    /// Appends everything that decides what it will find and lose.
    pub fn state(&self, out: &mut Vec<u64>) {
        self.store.state(out, |slot| self.dirty[slot] as u64);
        out.push(self.running.tag.number() as u64);
    }

    /// The number of the line that holds `address`.
    #[inline(always)]
    fn line(&self, address: A) -> u64 {
        (address.bits() >> self.line_shift) as u64
    }

    /// One access to the line that holds `address`.
    #[inline]
    pub fn access(&mut self, address: A, write: bool) -> Outcome {
        match self.hit(address, write) {
            true => Outcome { missed: None, write_backs: 0 },
            false => self.miss(address, write),
        }
    }

    /// Whether the line of `address` was found or brought in last, so that finding it once more changes nothing.
    #[inline(always)]
    pub(crate) fn is_last(&self, address: A) -> bool {
        self.line(address) == self.last.0
    }

    /// An access, if it finds its line; otherwise [`Self::miss`] has to follow.
    #[inline(always)]
    pub(crate) fn hit(&mut self, address: A, write: bool) -> bool {
        let line = self.line(address);
        if line != self.last.0 {
            match self.store.lookup(line as usize, self.stored(line)) {
                Some(slot) => {
                    self.last = (line, slot);
                    self.notes.put(line as u32);
                }
                None => return false,
            }
        }
        if write && self.shape.write_back {
            self.dirty[self.last.1] = true;
            self.notes.mark();
        }
        true
    }

    /// Whether a lookup would find `line`; marks nothing used.
    #[inline(always)]
    pub(crate) fn holds(&mut self, line: &mut Lookup) -> bool {
        let number = line.key as u64;
        let slot = self.store.find_at(line.slot(), number as usize, self.stored(number));
        slot.is_some_and(|slot| {
            line.set_slot(slot);
            true
        })
    }

    /// Uses a line that it [`holds`](Self::holds).
    #[inline(always)]
    pub(crate) fn use_again(&mut self, line: &Lookup) {
        let slot = line.slot();
        self.store.touch(slot);
        self.last = (line.key as u64, slot);
        self.dirty[slot] |= line.modifies();
    }

    /// The notes of what was found. The next access is noted, whatever the last one was.
    pub(crate) fn notes(&mut self) -> &mut Notes {
        self.last = NO_LINE;
        &mut self.notes
    }

    /// An access that has not found its line.
    #[inline(never)]
    pub(crate) fn miss(&mut self, address: A, write: bool) -> Outcome {
        let line = self.line(address);
        let mut outcome = Outcome { missed: Some(self.history.of(line, self.running.tag)), write_backs: 0 };
        if write && !self.shape.write_allocate {
            return outcome;
        }
        let group = if write { 1 } else { self.shape.lines_per_fill as u64 };
        let first = line - line % group;
        for neighbour in (first..first + group).filter(|&n| n != line) {
            if self.store.find(neighbour as usize, self.stored(neighbour)).is_none() {
                outcome.write_backs += self.fill(neighbour, false);
            }
        }
        outcome.write_backs += self.fill(line, write && self.shape.write_back);
        outcome
    }

    #[inline]
    fn stored(&self, line: u64) -> u64 {
        self.running.stored(line, self.running.tag)
    }

    fn fill(&mut self, line: u64, dirty: bool) -> u32 {
        let (slot, evicted) = self.store.insert(line as usize, self.stored(line));
        if let Some(old) = evicted {
            let (old, tag) = self.running.taken_apart(old);
            self.history.evicted(old, tag, self.running.since);
        }
        let written = evicted.is_some() && self.dirty[slot];
        self.dirty[slot] = dirty;
        self.last = (line, slot);
        written as u32
    }

    /// What holds the line of `address`, if it is there; marks nothing used.
    fn slot(&mut self, address: A) -> Option<usize> {
        let line = self.line(address);
        self.store.find(line as usize, self.stored(line))
    }

    /// Writes the line of `address` back and keeps it, with whatever tags it is there; returns whether it was modified.
    pub fn clean(&mut self, address: A) -> bool {
        if self.running.tagged {
            let line = self.line(address);
            let there: Vec<usize> = self.slots_of(line).collect();
            return there.into_iter().fold(false, |dirty, slot| std::mem::take(&mut self.dirty[slot]) | dirty);
        }
        self.slot(address).is_some_and(|slot| std::mem::take(&mut self.dirty[slot]))
    }

    /// Writes every modified line back and keeps it; returns how many.
    pub fn clean_all(&mut self) -> u32 {
        self.dirty.iter_mut().map(|dirty| std::mem::take(dirty) as u32).sum()
    }

    /// The slots that hold `line`, whatever their tags.
    fn slots_of(&self, line: u64) -> impl Iterator<Item = usize> + '_ {
        let is_there =
            move |&slot: &usize| self.store.key(slot).is_some_and(|key| self.running.taken_apart(key).0 == line);
        (0..self.dirty.len()).filter(is_there)
    }

    /// Drops the line of `address`, with whatever tags it is there; returns whether it was modified, which is then lost
    /// unless the caller writes it back.
    pub fn invalidate(&mut self, address: A, by: Moment) -> bool {
        if self.running.tagged {
            let line = self.line(address);
            return self.drop_where(by, |of, _| of == line) > 0;
        }
        let Some(slot) = self.slot(address) else { return false };
        self.last = NO_LINE;
        self.store.remove(slot);
        self.history.flushed(self.line(address), self.running.tag, by);
        std::mem::take(&mut self.dirty[slot])
    }

    /// Empties the cache; returns how many modified lines had to be written back.
    pub fn flush(&mut self, by: Moment) -> u32 {
        self.drop_where(by, |_, _| true)
    }

    /// An address-space switch empties a virtually tagged cache: of the lines of the space that runs, which are all
    /// where they are not told apart, or of `everything`.
    pub fn flush_virtual(&mut self, by: Moment, everything: bool) -> u32 {
        let tag = self.running.tag;
        match self.shape.virtually_tagged {
            true => self.drop_where(by, |_, of| everything || of == tag),
            false => 0,
        }
    }

    fn drop_where(&mut self, by: Moment, goes: impl Fn(u64, Tag) -> bool) -> u32 {
        self.last = NO_LINE;
        let mut written = 0;
        let mut next = 0;
        while let Some(slot) = self.store.next_occupied(next) {
            next = slot + 1;
            let Some(stored) = self.store.key(slot) else { continue };
            let (line, tag) = self.running.taken_apart(stored);
            if goes(line, tag) {
                written += self.dirty[slot] as u32;
                self.dirty[slot] = false;
                self.store.remove(slot);
                self.history.flushed(line, tag, by);
            }
        }
        written
    }
}
