// SPDX-License-Identifier: GPL-2.0-or-later
//! Store forwarding: a load can have the data of a store that has not reached the cache yet, if it starts where the
//! store starts and wants no more; otherwise it is blocked until the store is done.
//!
//! The rules are Intel's (248966, section on store forwarding). A store counts as on its way to the end of its run of
//! code: how long it takes on a processor depends on what else is in flight, which the model does not know.

use crate::Linear;

#[derive(Clone, Copy)]
struct Store {
    first: u32,
    /// Its last byte.
    last: u32,
    splits: bool,
}

/// The stores of a run of code that are on their way.
pub(crate) struct Stores {
    /// How many there can be; 0 where loads never wait for one.
    most: usize,
    line_shift: u32,
    held: Vec<Store>,
}

impl Stores {
    pub fn new(most: usize, line_shift: u32) -> Self {
        Stores { most, line_shift, held: Vec::with_capacity(most) }
    }

    /// Another run of code begins.
    #[inline(always)]
    pub fn drain(&mut self) {
        self.held.clear();
    }

    /// Whether an access can be without effect on them, and they on it.
    #[inline(always)]
    pub fn indifferent(&self, write: bool) -> bool {
        self.most == 0 || !write && self.held.is_empty()
    }

    /// Whether a load is blocked; then they all have been waited for. A store comes to them.
    #[inline(always)]
    pub fn blocks(&mut self, linear: Linear, size: u8, write: bool) -> bool {
        if self.indifferent(write) {
            return false;
        }
        self.blocks_one(linear.0, linear.0.wrapping_add(size as u32 - 1), write)
    }

    fn blocks_one(&mut self, first: u32, last: u32, write: bool) -> bool {
        if write {
            if self.held.len() == self.most {
                self.held.remove(0);
            }
            self.held.push(Store { first, last, splits: (first ^ last) >> self.line_shift != 0 });
            return false;
        }
        let newest = self.held.iter().rev().find(|store| store.first <= last && first <= store.last);
        let blocked = newest.is_some_and(|store| store.first != first || store.last < last || store.splits);
        if blocked {
            self.held.clear();
        }
        blocked
    }

    /// Those that are on their way, for a stretch that leaves them so.
    pub fn held(&self) -> Vec<(u32, u32)> {
        self.held.iter().map(|store| (store.first, store.last)).collect()
    }

    pub fn set_held(&mut self, held: &[(u32, u32)]) {
        let shift = self.line_shift;
        self.held.clear();
        let stores = held.iter().map(|&(first, last)| Store { first, last, splits: (first ^ last) >> shift != 0 });
        self.held.extend(stores);
    }

    pub fn state(&self, out: &mut Vec<u64>) {
        out.push(self.held.len() as u64);
        out.extend(self.held.iter().map(|store| (store.first as u64) << 32 | store.last as u64));
    }
}
