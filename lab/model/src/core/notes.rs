// SPDX-License-Identifier: GPL-2.0-or-later
//! What was looked up in a machine's structures and found: what a stretch of events needs to find again.

use super::address::{Page, Physical};

/// Notes of what was looked up in one structure and found, while notes are on.
#[derive(Default)]
pub(crate) struct Notes {
    on: bool,
    /// Twice what was found, plus 1 where it was modified.
    found: Vec<u64>,
}

impl Notes {
    #[inline(always)]
    pub fn put(&mut self, what: u32) {
        if self.on {
            self.found.push((what as u64) << 1);
        }
    }

    /// What was noted last is modified.
    #[inline(always)]
    pub fn mark(&mut self) {
        if self.on {
            if let Some(last) = self.found.last_mut() {
                *last |= 1;
            }
        }
    }

    pub fn start(&mut self) {
        self.on = true;
        self.found.clear();
    }

    /// Calls `each` for everything noted, in the order of the last time, with whether it was modified at any time.
    pub fn finish(&mut self, mut each: impl FnMut(u32, bool)) {
        self.on = false;
        // The last of each come to the end of the list, from where the search goes on.
        let mut first = self.found.len();
        for at in (0..self.found.len()).rev() {
            let note = self.found[at];
            match self.found[first..].iter_mut().find(|last| **last >> 1 == note >> 1) {
                Some(last) => *last |= note & 1,
                None => {
                    first -= 1;
                    self.found[first] = note;
                }
            }
        }
        self.found[first..].iter().for_each(|note| each((note >> 1) as u32, note & 1 != 0));
    }
}

/// Something that was looked up in one of a machine's structures and found.
#[derive(Clone, Copy)]
pub struct Lookup {
    /// As the structure names it: a page, a line's number, the linear address where a trace starts or a jump stands, or
    /// an address on the return stack.
    pub(crate) key: u32,
    /// Of a page, its frame. Of a line, twice the slot where it was found the last time, which is only a hint, plus 1
    /// if it is modified. Of a jump, what it did; of the return stack, 1 if the address came.
    pub(crate) value: u32,
}

impl Lookup {
    /// Of a TLB.
    #[inline(always)]
    pub(crate) fn page(&self) -> Page {
        Page(self.key)
    }

    #[inline(always)]
    pub(crate) fn frame(&self) -> Physical {
        Physical(self.value)
    }

    #[inline(always)]
    pub(crate) fn slot(&self) -> usize {
        (self.value >> 1) as usize
    }

    #[inline(always)]
    pub(crate) fn set_slot(&mut self, slot: usize) {
        self.value = (slot as u32) << 1 | self.value & 1;
    }

    #[inline(always)]
    pub(crate) fn modifies(&self) -> bool {
        self.value & 1 != 0
    }
}
