// SPDX-License-Identifier: GPL-2.0-or-later
//! Page-table entries of IA-32 without PAE: their bits, and what a change of one takes away.

use crate::{Linear, Physical};

pub const PRESENT: u32 = 1;
pub const WRITABLE: u32 = 1 << 1;
pub const USER: u32 = 1 << 2;
pub const LARGE: u32 = 1 << 7;
pub const GLOBAL: u32 = 1 << 8;
/// PWT and PCD, and the PAT bit of a table entry and of a 4 MB page: how the page is cached.
const TYPE: u32 = 3 << 3;
const TABLE_PAT: u32 = 1 << 7;
const LARGE_PAT: u32 = 1 << 12;
/// Accessed and dirty: written by the processor, and of no weight in a comparison.
const STATUS: u32 = 3 << 5;
const LARGE_FRAME: u32 = 0xffc0_0000;

/// What a translation permits and where it leads: all that a TLB holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Frame of 4 KB, or of 4 MB where `large`.
    pub frame: Physical,
    pub writable: bool,
    pub user: bool,
    pub global: bool,
    pub large: bool,
    /// PWT, PCD and PAT.
    pub memory_type: u32,
}

impl Translation {
    /// From a directory entry and, unless that maps 4 MB, a table entry; None where either is not present.
    pub fn of(directory: u32, table: u32, paging: Paging) -> Option<Translation> {
        if directory & PRESENT == 0 {
            return None;
        }
        if maps_large(directory, paging) {
            return Some(Translation {
                frame: Physical(directory & LARGE_FRAME),
                writable: directory & WRITABLE != 0,
                user: directory & USER != 0,
                global: paging.global_pages && directory & GLOBAL != 0,
                large: true,
                memory_type: directory & (TYPE | LARGE_PAT),
            });
        }
        (table & PRESENT != 0).then_some(Translation {
            frame: frame(table),
            writable: directory & table & WRITABLE != 0,
            user: directory & table & USER != 0,
            global: paging.global_pages && table & GLOBAL != 0,
            large: false,
            memory_type: table & (TYPE | TABLE_PAT),
        })
    }

    /// Frame of the 4 KB page of `linear`.
    pub fn frame_at(&self, linear: Linear) -> Physical {
        if self.large {
            Physical(self.frame.0 | linear.0 & 0x003f_f000)
        } else {
            self.frame
        }
    }

    pub fn permits(&self, write: bool, user: bool, write_protect: bool) -> bool {
        (!user || self.user) && (!write || self.writable || !user && !write_protect)
    }
}

/// How the control registers make the processor read page tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// CR0.PG.
    pub on: bool,
    /// CR0.WP.
    pub write_protect: bool,
    /// CR4.PSE.
    pub large_pages: bool,
    /// CR4.PGE.
    pub global_pages: bool,
}

/// Where the table or page is that an entry leads to.
pub fn frame(entry: u32) -> Physical {
    Physical(entry).frame()
}

pub fn without_status(entry: u32) -> u32 {
    entry & !STATUS
}

pub fn maps_large(directory_entry: u32, paging: Paging) -> bool {
    paging.large_pages && directory_entry & LARGE != 0
}

/// Whether replacing `old` by `new` takes something away from a processor that has cached `old`: presence, the frame, a
/// right, or the global bit. What only adds may be noticed late.
pub fn takes_away(old: u32, new: u32) -> bool {
    old & PRESENT != 0
        && (new & PRESENT == 0 || frame(old) != frame(new) || old & !new & (WRITABLE | USER | GLOBAL) != 0)
}

/// Whether replacing one table entry by another makes the processor cache a page otherwise.
pub fn changes_type(old: u32, new: u32) -> bool {
    old & new & PRESENT != 0 && (old ^ new) & (TYPE | TABLE_PAT) != 0
}

/// Whether replacing `old` by `new` only adds a right.
pub fn adds_rights(old: u32, new: u32) -> bool {
    old & new & PRESENT != 0 && !takes_away(old, new) && new & !old & (WRITABLE | USER) != 0
}
