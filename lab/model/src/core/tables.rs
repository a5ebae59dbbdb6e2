// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's page tables, as machines ask for them.

use super::address::{Linear, Physical};

/// What a walk of a processor's tables finds for an address.
pub trait Mapping: Copy + PartialEq {
    /// Physical address of the 4 KB that `at` lies in.
    fn frame_of(&self, at: Linear) -> Physical;

    /// Physical addresses of the entries that the walk read, as far as they are known; 0 for none.
    fn entries(&self) -> [Physical; 2];
}

/// The tables as the control registers name them at present.
pub trait Tables<M: Mapping> {
    /// Translation of the address, or None where nothing is mapped.
    fn walk(&mut self, at: Linear) -> Option<M>;

    /// Only the frame of the translation.
    fn frame(&mut self, at: Linear) -> Option<Physical> {
        self.walk(at).map(|found| found.frame_of(at))
    }
}
