// SPDX-License-Identifier: GPL-2.0-or-later
//! A virtually tagged trace cache: lines of decoded micro-operations, found by the linear address of their first
//! instruction.
//!
//! A line is identified by where it starts; the path that it took over branches is not part of the key, so a line
//! that starts at the same place but continues elsewhere counts as held. An address-space switch empties the cache
//! (U02, section 2.1).

use crate::{Associative, Replacement};

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
    occupied: bool,
}

impl TraceCache {
    pub fn new(shape: TraceCacheShape) -> Self {
        TraceCache { shape, store: Associative::new(shape.lines, shape.ways, shape.replacement), occupied: false }
    }

    pub fn shape(&self) -> &TraceCacheShape {
        &self.shape
    }

    /// Looks for the line that starts at `linear` and makes it present. Returns whether it was.
    #[inline]
    pub fn access(&mut self, linear: u32) -> bool {
        let set = (linear >> self.shape.index_shift) as usize;
        if self.store.lookup(set, linear as u64).is_some() {
            return true;
        }
        self.store.insert(set, linear as u64);
        self.occupied = true;
        false
    }

    pub fn flush(&mut self) {
        if std::mem::take(&mut self.occupied) {
            self.drop_where(|_| true);
        }
    }

    /// Drops the lines that start on the page of `linear`.
    pub fn invalidate_page(&mut self, linear: u32) {
        self.drop_where(|start| start >> 12 == (linear >> 12) as u64);
    }

    fn drop_where(&mut self, goes: impl Fn(u64) -> bool) {
        for slot in 0..self.store.slots() {
            if self.store.key(slot).is_some_and(&goes) {
                self.store.remove(slot);
            }
        }
    }
}
