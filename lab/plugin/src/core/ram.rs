// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's physical memory: QEMU's backing file, mapped read-only.

use cobnut_model::{Physical, PhysicalMemory};
use memmap2::Mmap;
use std::path::Path;

pub struct Ram {
    map: Mmap,
    /// Physical address of its first byte.
    base: Physical,
}

impl Ram {
    /// Maps the file that backs the guest's memory from the physical address `base` on. It must have its full size
    /// already.
    pub fn map(path: &Path, base: Physical) -> Result<Self, String> {
        let named = |e: std::io::Error| format!("ram file {}: {e}", path.display());
        let file = std::fs::File::open(path).map_err(named)?;
        // The guest changes this memory while we look at it; every read copies out a word.
        let map = unsafe { Mmap::map(&file) }.map_err(named)?;
        if map.is_empty() {
            return Err(format!("ram file {}: empty", path.display()));
        }
        Ok(Ram { map, base })
    }

    /// Bytes of memory.
    pub fn size(&self) -> u32 {
        self.map.len() as u32
    }

    pub fn byte(&self, physical: Physical) -> Option<u8> {
        self.map.get(physical.0.wrapping_sub(self.base.0) as usize).copied()
    }
}

impl PhysicalMemory for Ram {
    #[inline]
    fn word(&self, physical: Physical) -> Option<u32> {
        let at = physical.0.wrapping_sub(self.base.0) as usize;
        let bytes = self.map.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
