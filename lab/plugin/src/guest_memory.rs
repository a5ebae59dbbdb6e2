// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's physical memory (QEMU's backing file, mapped read-only) and its page tables.

use cobnut_model::sanitizer::PhysicalMemory;
use cobnut_model::{PageTables, Walk};
use memmap2::Mmap;
use std::path::Path;

const PRESENT: u32 = 1;
const USER: u32 = 1 << 2;
const LARGE: u32 = 1 << 7;
const GLOBAL: u32 = 1 << 8;

pub struct GuestMemory {
    ram: Mmap,
    directory: u32,
    /// CR4.PSE: 4 MB pages are on.
    large_pages: bool,
    /// CR0.PG.
    paging: bool,
}

impl GuestMemory {
    /// Maps the file that backs the guest's memory. It must have its full size already.
    pub fn map(path: &Path) -> Result<Self, String> {
        let named = |e: std::io::Error| format!("ram file {}: {e}", path.display());
        let file = std::fs::File::open(path).map_err(named)?;
        // The guest changes this memory while we look at it; every read copies out a word.
        let ram = unsafe { Mmap::map(&file) }.map_err(named)?;
        if ram.is_empty() {
            return Err(format!("ram file {}: empty", path.display()));
        }
        Ok(GuestMemory { ram, directory: 0, large_pages: false, paging: false })
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.ram.len()
    }

    pub fn read_physical(&self, at: u32) -> Option<u32> {
        let at = at as usize;
        let bytes = self.ram.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A word at a linear address, which may straddle two pages.
    pub fn read_linear(&mut self, at: u32) -> Option<u32> {
        let mut word = 0;
        for byte in 0..4 {
            let linear = at.wrapping_add(byte);
            let physical = self.translate(linear)? as usize;
            word |= (*self.ram.get(physical)? as u32) << (8 * byte);
        }
        Some(word)
    }

    /// What the control registers say from now on.
    pub fn set_control(&mut self, cr0: u32, cr3: u32, cr4: u32) {
        self.directory = cr3 & !0xfff;
        self.large_pages = cr4 >> 4 & 1 == 1;
        self.paging = cr0 >> 31 == 1;
    }

    /// Whether user code may reach the page of `linear`.
    pub fn user_page(&self, linear: u32) -> bool {
        let directory = self.read_physical(self.directory + (linear >> 22) * 4).unwrap_or(0);
        if directory & LARGE != 0 && self.large_pages {
            return directory & USER != 0;
        }
        let leaf = self.read_physical((directory & !0xfff) + (linear >> 12 & 0x3ff) * 4).unwrap_or(0);
        directory & leaf & USER != 0
    }

    /// Physical address of `linear`, if mapped.
    #[inline]
    pub fn translate(&mut self, linear: u32) -> Option<u32> {
        Some(self.walk(linear)?.frame | linear & 0xfff)
    }
}

impl PhysicalMemory for GuestMemory {
    fn word(&self, physical: u32) -> Option<u32> {
        self.read_physical(physical)
    }
}

impl PageTables for GuestMemory {
    #[inline]
    fn walk(&mut self, linear: u32) -> Option<Walk> {
        if !self.paging {
            return Some(Walk { frame: linear & !0xfff, large: false, global: false, entries: [0, 0] });
        }
        let directory_entry = self.directory + (linear >> 22) * 4;
        let directory = self.read_physical(directory_entry)?;
        if directory & PRESENT == 0 {
            return None;
        }
        if directory & LARGE != 0 && self.large_pages {
            let frame = directory & 0xffc0_0000 | linear & 0x003f_f000;
            return Some(Walk { frame, large: true, global: directory & GLOBAL != 0, entries: [directory_entry, 0] });
        }
        let table_entry = (directory & !0xfff) + (linear >> 12 & 0x3ff) * 4;
        let leaf = self.read_physical(table_entry)?;
        if leaf & PRESENT == 0 {
            return None;
        }
        let entries = [directory_entry, table_entry];
        Some(Walk { frame: leaf & !0xfff, large: false, global: leaf & GLOBAL != 0, entries })
    }
}
