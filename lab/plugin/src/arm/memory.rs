// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's physical memory and its translation tables.

use crate::core::ram::Ram;
use cobnut_model::arm::{translate, Translation};
use cobnut_model::{Linear, Physical, PhysicalMemory, Tables};

const CONTROL_MMU: u32 = 1;
const CONTROL_HIGH_VECTORS: u32 = 1 << 13;
const HIGH_VECTORS: u32 = 0xffff_0000;
/// Addresses below are those that the process identifier relocates.
const RELOCATED: u32 = 32 << 20;

/// Main memory, and what coprocessor 15 says about translation at the moment.
pub struct Memory {
    ram: Ram,
    pub control: u32,
    pub table_base: Physical,
    pub domain_access: u32,
    /// What is added to addresses below 32 MB.
    pub process_id: u32,
}

impl Memory {
    pub fn new(ram: Ram) -> Self {
        Memory { ram, control: 0, table_base: Physical(0), domain_access: 0, process_id: 0 }
    }

    pub fn mmu_on(&self) -> bool {
        self.control & CONTROL_MMU != 0
    }

    /// Address of the exception vectors.
    pub fn vectors(&self) -> u32 {
        if self.control & CONTROL_HIGH_VECTORS != 0 {
            HIGH_VECTORS
        } else {
            0
        }
    }

    /// The modified virtual address that TLBs and caches see for an address of a program.
    #[inline]
    pub fn mva(&self, address: u32) -> Linear {
        Linear(if address < RELOCATED { address | self.process_id } else { address })
    }
}

impl PhysicalMemory for Memory {
    #[inline]
    fn word(&self, physical: Physical) -> Option<u32> {
        self.ram.word(physical)
    }
}

impl Tables<Translation> for Memory {
    #[inline]
    fn walk(&mut self, mva: Linear) -> Option<Translation> {
        translate(self, self.table_base, mva)
    }
}
