// SPDX-License-Identifier: GPL-2.0-or-later
//! The registers of an ARM processor that the plugin reads.

use crate::core::reader::{Handle, Reader};

pub struct Registers {
    reader: Reader,
    general: [Handle; 16],
    cpsr: Handle,
    fault_address: Handle,
}

const PC: usize = 15;
pub const SP: usize = 13;
pub const LR: usize = 14;
/// Where Linux takes the number of a system call from, if it does not stand in the instruction.
pub const NUMBER: usize = 7;
const MODE_USER: u32 = 0x10;
const CPSR_MODE: u32 = 0xf;

impl Registers {
    /// Must be called in the context of a virtual processor that exists already.
    pub fn find() -> Result<Self, String> {
        let (_, general) = Reader::find([
            "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc",
        ])?;
        let (reader, [cpsr, fault_address]) = Reader::find(["cpsr", "DFAR"])?;
        Ok(Registers { reader, general, cpsr, fault_address })
    }

    #[inline]
    pub fn pc(&self) -> u32 {
        self.general(PC)
    }

    #[inline]
    pub fn general(&self, number: usize) -> u32 {
        self.reader.read(self.general[number])
    }

    /// Condition flags, mode, interrupt masks.
    pub fn status(&self) -> u32 {
        self.reader.read(self.cpsr)
    }

    /// Of the last data abort. QEMU gives it before relocation.
    pub fn fault_address(&self) -> u32 {
        self.reader.read(self.fault_address)
    }

    /// Whether it runs in any mode but user mode.
    pub fn privileged(&self) -> bool {
        self.status() & CPSR_MODE != MODE_USER & CPSR_MODE
    }
}
