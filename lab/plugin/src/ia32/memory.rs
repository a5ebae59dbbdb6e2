// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's physical memory and its page tables.

use crate::core::ram::Ram;
use cobnut_model::ia32::Walk;
use cobnut_model::{Linear, Physical, PhysicalMemory, Tables};

const PRESENT: u32 = 1;
const USER: u32 = 1 << 2;
const LARGE: u32 = 1 << 7;
const GLOBAL: u32 = 1 << 8;

pub struct Memory {
    ram: Ram,
    directory: Physical,
    /// CR4.PSE: 4 MB pages are on.
    large_pages: bool,
    /// CR0.PG.
    paging: bool,
}

impl Memory {
    pub fn new(ram: Ram) -> Self {
        Memory { ram, directory: Physical(0), large_pages: false, paging: false }
    }

    /// The page directory in force.
    pub fn directory(&self) -> Physical {
        self.directory
    }

    /// Bytes of memory.
    pub fn size(&self) -> u32 {
        self.ram.size()
    }

    /// A word at a linear address, which may straddle two pages.
    pub fn read_linear(&mut self, at: Linear) -> Option<u32> {
        if at.page() == at.plus(3).page() {
            let physical = self.translate(at)?;
            return self.word(physical);
        }
        let mut word = 0;
        for byte in 0..4 {
            let linear = at.plus(byte);
            let physical = self.translate(linear)?;
            word |= (self.ram.byte(physical)? as u32) << (8 * byte);
        }
        Some(word)
    }

    /// What the control registers say from now on.
    pub fn set_control(&mut self, cr0: u32, cr3: u32, cr4: u32) {
        self.directory = Physical(cr3).frame();
        self.large_pages = cr4 >> 4 & 1 == 1;
        self.paging = cr0 >> 31 == 1;
    }

    /// Whether user code may reach the page of `linear`.
    pub fn user_page(&self, linear: Linear) -> bool {
        let directory = self.word(self.directory_entry(linear)).unwrap_or(0);
        if directory & LARGE != 0 && self.large_pages {
            return directory & USER != 0;
        }
        let leaf = self.word(table_entry(directory, linear)).unwrap_or(0);
        directory & leaf & USER != 0
    }

    /// Physical address of `linear`, if mapped.
    #[inline]
    pub fn translate(&mut self, linear: Linear) -> Option<Physical> {
        Some(self.walk(linear)?.frame.at(linear))
    }

    /// Where the entry of `linear` stands in the directory.
    #[inline]
    fn directory_entry(&self, linear: Linear) -> Physical {
        self.directory.plus((linear.0 >> 22) * 4)
    }
}

/// Where the entry of `linear` stands in the table that a directory entry leads to.
#[inline]
fn table_entry(directory_entry: u32, linear: Linear) -> Physical {
    Physical(directory_entry).frame().plus((linear.page().0 & 0x3ff) * 4)
}

impl PhysicalMemory for Memory {
    #[inline]
    fn word(&self, physical: Physical) -> Option<u32> {
        self.ram.word(physical)
    }
}

impl Tables<Walk> for Memory {
    #[inline]
    fn walk(&mut self, linear: Linear) -> Option<Walk> {
        if !self.paging {
            return Some(Walk {
                frame: Physical(linear.0).frame(),
                large: false,
                global: false,
                entries: [Physical(0); 2],
            });
        }
        let directory_entry = self.directory_entry(linear);
        let directory = self.word(directory_entry)?;
        if directory & PRESENT == 0 {
            return None;
        }
        if directory & LARGE != 0 && self.large_pages {
            let frame = Physical(directory & 0xffc0_0000 | linear.0 & 0x003f_f000);
            let entries = [directory_entry, Physical(0)];
            return Some(Walk { frame, large: true, global: directory & GLOBAL != 0, entries });
        }
        let table_entry = table_entry(directory, linear);
        let leaf = self.word(table_entry)?;
        if leaf & PRESENT == 0 {
            return None;
        }
        let entries = [directory_entry, table_entry];
        Some(Walk { frame: Physical(leaf).frame(), large: false, global: leaf & GLOBAL != 0, entries })
    }
}
