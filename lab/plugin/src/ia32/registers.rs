// SPDX-License-Identifier: GPL-2.0-or-later
//! The registers of an IA-32 processor that the plugin reads.

use crate::core::reader::{Handle, Reader};

/// Handles of the registers that the plugin reads.
pub struct Registers {
    reader: Reader,
    eip: Handle,
    cr0: Handle,
    cr2: Handle,
    cr3: Handle,
    cr4: Handle,
    /// eax ecx edx ebx esp ebp esi edi
    general: [Handle; 8],
    /// es cs ss ds fs gs
    segments: [Handle; 6],
}

pub const EAX: usize = 0;
pub const EDX: usize = 2;
pub const ESP: usize = 4;
pub const CS: usize = 1;
pub const SS: usize = 2;

impl Registers {
    /// Must be called in the context of a virtual processor that exists already.
    pub fn find() -> Result<Self, String> {
        let (_, general) = Reader::find(["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi"])?;
        let (_, segments) = Reader::find(["es", "cs", "ss", "ds", "fs", "gs"])?;
        let (reader, [eip, cr0, cr2, cr3, cr4]) = Reader::find(["eip", "cr0", "cr2", "cr3", "cr4"])?;
        Ok(Registers { reader, eip, cr0, cr2, cr3, cr4, general, segments })
    }

    #[inline]
    fn read(&self, handle: Handle) -> u32 {
        self.reader.read(handle)
    }

    #[inline]
    pub fn eip(&self) -> u32 {
        self.read(self.eip)
    }

    /// CR0, CR3 and CR4.
    pub fn control(&self) -> [u32; 3] {
        [self.cr0, self.cr3, self.cr4].map(|handle| self.read(handle))
    }

    pub fn cr2(&self) -> u32 {
        self.read(self.cr2)
    }

    /// General register by its number in an instruction.
    pub fn general(&self, number: usize) -> u32 {
        self.read(self.general[number])
    }

    /// Selector in a segment register, by its number in an instruction.
    pub fn selector(&self, number: usize) -> u32 {
        self.read(self.segments[number]) & 0xffff
    }
}
