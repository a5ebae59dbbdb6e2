// SPDX-License-Identifier: GPL-2.0-or-later
//! A cache of lines: physically or virtually tagged, write-through or write-back.

use crate::{Associative, Replacement};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub hit: bool,
    /// Modified lines that had to be written to the next level.
    pub write_backs: u32,
}

pub struct Cache {
    shape: CacheShape,
    store: Associative,
    dirty: Vec<bool>,
    line_shift: u32,
}

impl Cache {
    pub fn new(shape: CacheShape) -> Self {
        let lines = shape.size / shape.line;
        Cache {
            shape,
            store: Associative::new(lines, shape.ways, shape.replacement),
            dirty: vec![false; lines],
            line_shift: shape.line.trailing_zeros(),
        }
    }

    pub fn shape(&self) -> &CacheShape {
        &self.shape
    }

    pub fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// One access to the line that holds `address` (linear or physical, as the cache is tagged).
    #[inline]
    pub fn access(&mut self, address: u32, write: bool) -> Outcome {
        let line = (address >> self.line_shift) as u64;
        if let Some(slot) = self.store.lookup(line as usize, line) {
            self.dirty[slot] |= write && self.shape.write_back;
            return Outcome { hit: true, write_backs: 0 };
        }
        if write && !self.shape.write_allocate {
            return Outcome::default();
        }
        let mut outcome = Outcome::default();
        let group = if write { 1 } else { self.shape.lines_per_fill as u64 };
        let first = line - line % group;
        for neighbour in (first..first + group).filter(|&n| n != line) {
            if self.store.find(neighbour as usize, neighbour).is_none() {
                outcome.write_backs += self.fill(neighbour, false);
            }
        }
        outcome.write_backs += self.fill(line, write && self.shape.write_back);
        outcome
    }

    fn fill(&mut self, line: u64, dirty: bool) -> u32 {
        let (slot, evicted) = self.store.insert(line as usize, line);
        let written = evicted.is_some() && self.dirty[slot];
        self.dirty[slot] = dirty;
        written as u32
    }

    /// Empties the cache; returns how many modified lines had to be written back.
    pub fn flush(&mut self) -> u32 {
        let mut written = 0;
        for slot in 0..self.store.slots() {
            if self.store.key(slot).is_some() {
                written += self.dirty[slot] as u32;
                self.dirty[slot] = false;
                self.store.remove(slot);
            }
        }
        written
    }
}
