// SPDX-License-Identifier: GPL-2.0-or-later
//! Translation tables of ARMv4 and ARMv5 (ARM Architecture Reference Manual, B4): a first level with an entry for each
//! megabyte, sections in it, and second levels with pages of 64, 4 and 1 KB.

use crate::sanitizer::PhysicalMemory;

const SECTION: u32 = 2;
const COARSE: u32 = 1;
const FINE: u32 = 3;
const LARGE_PAGE: u32 = 1;
const SMALL_PAGE: u32 = 2;
const TINY_PAGE: u32 = 3;
const BUFFERED: u32 = 1 << 2;
const CACHED: u32 = 1 << 3;

/// What a walk found for one address: all that a TLB entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Physical address of the page or section.
    pub frame: u32,
    /// log2 of its size: 20, 16, 12 or 10.
    pub shift: u32,
    pub domain: u8,
    /// Access permissions (AP) of the address' own subpage.
    pub access: u8,
    pub cached: bool,
    pub buffered: bool,
    /// Physical address and value of the entries that the walk read; the second is (0, 0) for a section.
    pub entries: [(u32, u32); 2],
}

impl Translation {
    /// Physical address of `mva`, which it translates.
    #[inline]
    pub fn physical(&self, mva: u32) -> u32 {
        self.frame | mva & ((1 << self.shift) - 1)
    }

    pub fn is_section(&self) -> bool {
        self.shift == 20
    }
}

/// Walks the tables at `table_base` for `mva`; None where nothing is mapped.
pub fn translate(memory: &dyn PhysicalMemory, table_base: u32, mva: u32) -> Option<Translation> {
    let first_at = table_base & !0x3fff | mva >> 20 << 2;
    let first = memory.word(first_at)?;
    let domain = (first >> 5 & 15) as u8;
    let found = |frame, shift, access, entry: u32, second| {
        let (cached, buffered) = (entry & CACHED != 0, entry & BUFFERED != 0);
        Some(Translation { frame, shift, domain, access, cached, buffered, entries: [(first_at, first), second] })
    };
    let second_at = match first & 3 {
        SECTION => return found(first & 0xfff0_0000, 20, (first >> 10 & 3) as u8, first, (0, 0)),
        COARSE => first & 0xffff_fc00 | (mva >> 12 & 0xff) << 2,
        FINE => first & 0xffff_f000 | (mva >> 10 & 0x3ff) << 2,
        _ => return None,
    };
    let entry = memory.word(second_at)?;
    let second = (second_at, entry);
    // Four permissions, one for each quarter of the page.
    let subpage = |size: u32| (entry >> (4 + 2 * (mva >> (size - 2) & 3)) & 3) as u8;
    match entry & 3 {
        LARGE_PAGE => found(entry & 0xffff_0000, 16, subpage(16), entry, second),
        SMALL_PAGE => found(entry & 0xffff_f000, 12, subpage(12), entry, second),
        TINY_PAGE => found(entry & 0xffff_fc00, 10, (entry >> 4 & 3) as u8, entry, second),
        _ => None,
    }
}
