// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs in thousandths of a cycle, from a machine file.

use super::{Instruction, Operation, Translation, CLASSES};
use crate::{MachineFile, Physical};

/// Size of the bank of zeros.
const ZEROS_BYTES: u32 = 128 << 20;

/// Every cost of a machine.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    by_class: [u64; CLASSES.len()],
    /// Each word of a multiple transfer.
    per_word: u64,
    /// Using what the instruction before loads: a word, and something narrower.
    late_use: [u64; 2],
    pub branch_taken: u64,
    /// Entering an exception.
    pub exception: u64,
    /// A TLB miss that reads a page's two entries, and a section's one.
    tlb_misses: [u64; 2],
    pub line_fill: u64,
    /// Where the bank of zeros starts, if there is one, and a line of it.
    zeros: Option<(Physical, u64)>,
    /// Reading a word that is not cached.
    pub word_read: u64,
    /// Writing a line back.
    pub line_write: u64,
    /// Writing a register of the coprocessor's, beyond the instruction; an operation on TLBs and caches; and a test for
    /// a dirty line.
    pub register_write: u64,
    pub operation: u64,
    pub test: u64,
}

impl Costs {
    pub fn from_file(file: &MachineFile) -> Self {
        let milli = |path: &str| file.milli(path).unwrap_or(0);
        let tlb = if file.has_section("tlb") { "tlb" } else { "dtlb" };
        Costs {
            by_class: CLASSES.map(|(_, name)| milli(&format!("instructions.{name}"))),
            per_word: milli("instructions.word"),
            late_use: [milli("instructions.late_use"), milli("instructions.late_narrow_use")],
            branch_taken: milli("instructions.branch_taken").saturating_sub(milli("instructions.branch")),
            exception: milli("entry.exception_cycles"),
            tlb_misses: [milli(&format!("{tlb}.miss_cycles")), milli(&format!("{tlb}.section_miss_cycles"))],
            line_fill: milli("memory.line_read_cycles"),
            zeros: file
                .integer("memory.zeros_at")
                .zip(file.milli("memory.zeros_line_read_cycles"))
                .map(|(at, milli)| (Physical(at as u32), milli)),
            word_read: milli("memory.word_read_cycles"),
            line_write: milli("memory.line_write_cycles"),
            register_write: milli("coprocessor.register_cycles"),
            operation: milli("coprocessor.operation_cycles"),
            test: milli("coprocessor.test_cycles"),
        }
    }

    /// Fixed cost of an instruction.
    pub fn of(&self, instruction: &Instruction) -> u64 {
        self.by_class[instruction.class as usize] + instruction.words as u64 * self.per_word
    }

    /// What an operation costs beyond its instruction and what it writes to memory.
    pub(crate) fn operation(&self, operation: Operation) -> u64 {
        use Operation::*;
        match operation {
            _ if operation.writes_register() => self.register_write,
            DrainWriteBuffer | Wait | Other => 0,
            _ => self.operation,
        }
    }

    /// Reading the line of `physical`, if it is in the bank of zeros.
    pub(crate) fn zeros_read(&self, physical: Physical) -> Option<u64> {
        let (first, milli) = self.zeros?;
        (physical.0.wrapping_sub(first.0) < ZEROS_BYTES).then_some(milli)
    }

    pub(crate) fn late_use(&self, narrow: bool) -> u64 {
        self.late_use[narrow as usize]
    }

    pub(crate) fn tlb_miss(&self, walked: &Translation) -> u64 {
        self.tlb_misses[walked.is_section() as usize]
    }
}
