// SPDX-License-Identifier: GPL-2.0-or-later
//! Translation tables of ARMv4 and ARMv5 (ARM Architecture Reference Manual, B4): a first level with an entry for each
//! megabyte, sections in it, and second levels with pages of 64, 4 and 1 KB.

use crate::{Linear, Mapping, Physical, PhysicalMemory};

const SECTION: u32 = 2;
const COARSE: u32 = 1;
const FINE: u32 = 3;
const LARGE_PAGE: u32 = 1;
const SMALL_PAGE: u32 = 2;
const TINY_PAGE: u32 = 3;
const BUFFERED: u32 = 1 << 2;
const CACHED: u32 = 1 << 3;

/// Where a walk read nothing.
pub(crate) const NO_ENTRY: (Physical, u32) = (Physical(0), 0);

/// What a walk found for one address: all that a TLB entry holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Physical address of the page or section.
    pub frame: Physical,
    /// log2 of its size: 20, 16, 12 or 10.
    pub shift: u32,
    pub domain: u8,
    /// Access permissions (AP) of the address' own subpage.
    pub access: u8,
    pub cached: bool,
    pub buffered: bool,
    /// Physical address and value of the entries that the walk read; the second is 0, 0 for a section.
    pub entries: [(Physical, u32); 2],
}

impl Translation {
    /// Physical address of `mva`, which it translates.
    #[inline]
    pub fn physical(&self, mva: Linear) -> Physical {
        Physical(self.frame.0 | mva.0 & ((1 << self.shift) - 1))
    }

    /// Without what no machine asks for: its domain and permissions, and the entries that it came from.
    pub fn for_machines(self) -> Self {
        Translation { domain: 0, access: 0, entries: [NO_ENTRY; 2], ..self }
    }

    pub fn is_section(&self) -> bool {
        self.shift == 20
    }
}

impl Mapping for Translation {
    #[inline]
    fn frame_of(&self, at: Linear) -> Physical {
        self.physical(at).frame()
    }

    fn entries(&self) -> [Physical; 2] {
        self.entries.map(|(at, _)| at)
    }
}

/// Walks the tables at `table_base` for `mva`; None where nothing is mapped.
pub fn translate(memory: &dyn PhysicalMemory, table_base: Physical, mva: Linear) -> Option<Translation> {
    let Linear(mva) = mva;
    let first_at = Physical(table_base.0 & !0x3fff | mva >> 20 << 2);
    let first = memory.word(first_at)?;
    let domain = (first >> 5 & 15) as u8;
    let found = |frame: u32, shift, access, entry: u32, second| {
        let (cached, buffered) = (entry & CACHED != 0, entry & BUFFERED != 0);
        let (frame, entries) = (Physical(frame), [(first_at, first), second]);
        Some(Translation { frame, shift, domain, access, cached, buffered, entries })
    };
    let second_at = Physical(match first & 3 {
        SECTION => return found(first & 0xfff0_0000, 20, (first >> 10 & 3) as u8, first, NO_ENTRY),
        COARSE => first & 0xffff_fc00 | (mva >> 12 & 0xff) << 2,
        FINE => first & 0xffff_f000 | (mva >> 10 & 0x3ff) << 2,
        _ => return None,
    });
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
