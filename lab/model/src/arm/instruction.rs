// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine knows of an instruction, and straight runs of instructions with what they always cost.

use super::Costs;
use crate::Code;

/// Classes with a cost of their own. Their names are keys of `[instructions]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Alu,
    /// A shift by a register takes one more pass.
    AluShift,
    Multiply,
    MultiplyLong,
    Load,
    Store,
    /// `ldm`; the cost of each word comes on top.
    LoadMultiple,
    StoreMultiple,
    Swap,
    /// Direct jump or call, not taken.
    Branch,
    /// Arithmetic that writes the program counter, `bx`, return from an exception.
    WritePc,
    /// A load that writes the program counter, alone or with others.
    LoadPc,
    StatusRead,
    StatusWrite,
    /// `swi`; the exception comes on top.
    SoftwareInterrupt,
    /// `mcr` and `mrc`, without what the operation does.
    Coprocessor,
}

/// Every class with the name that machine files use.
pub const CLASSES: [(Class, &str); 16] = [
    (Class::Alu, "alu"),
    (Class::AluShift, "alu_shift"),
    (Class::Multiply, "multiply"),
    (Class::MultiplyLong, "multiply_long"),
    (Class::Load, "load"),
    (Class::Store, "store"),
    (Class::LoadMultiple, "load_multiple"),
    (Class::StoreMultiple, "store_multiple"),
    (Class::Swap, "swap"),
    (Class::Branch, "branch"),
    (Class::WritePc, "write_pc"),
    (Class::LoadPc, "load_pc"),
    (Class::StatusRead, "status_read"),
    (Class::StatusWrite, "status_write"),
    (Class::SoftwareInterrupt, "software_interrupt"),
    (Class::Coprocessor, "coprocessor"),
];

/// One instruction. Sets of registers have a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub class: Class,
    /// Bytes: 4, or 2 in Thumb code.
    pub length: u8,
    /// Words that a multiple transfer moves.
    pub words: u8,
    /// Registers that it needs, and the register that a load or multiplication before may bring too late.
    pub reads: u16,
    pub late: u16,
    /// The late register is a byte or halfword that has to be shifted into place.
    pub narrow: bool,
}

impl Instruction {
    pub fn new(class: Class) -> Self {
        Instruction { class, length: 4, words: 0, reads: 0, late: 0, narrow: false }
    }

    /// Size of an instruction as bytes.
    pub const BYTES: usize = 8;

    /// Everything about it, for a record.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let ([r0, r1], [l0, l1]) = (self.reads.to_le_bytes(), self.late.to_le_bytes());
        [self.length, self.class as u8, self.words, self.narrow as u8, r0, r1, l0, l1]
    }

    /// The instruction of which [`Self::to_bytes`] made `bytes`; None if there is none such.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [length, class, words, narrow, r0, r1, l0, l1] = bytes;
        let (reads, late) = (u16::from_le_bytes([r0, r1]), u16::from_le_bytes([l0, l1]));
        let (class, _) = *CLASSES.get(class as usize)?;
        let sound = matches!(length, 2 | 4) && narrow < 2 && words <= 16;
        sound.then_some(Instruction { class, length, words, reads, late, narrow: narrow == 1 })
    }
}

/// A straight run of instructions with what they always cost. An instruction whose condition is not met is taken to
/// cost what it costs otherwise; no jump is taken.
pub struct Block {
    instructions: Vec<Instruction>,
    bytes: u32,
    each: Vec<u64>,
    total: u64,
    ends_with_branch: bool,
}

impl Code for Block {
    type Instruction = Instruction;
    type Costs = Costs;

    fn new(instructions: Vec<Instruction>, costs: &Costs) -> Self {
        let mut late = (0u16, false);
        let each: Vec<u64> = instructions
            .iter()
            .map(|i| {
                let waits = if i.reads & late.0 != 0 { costs.late_use(late.1) } else { 0 };
                late = (i.late, i.narrow);
                costs.of(i) + waits
            })
            .collect();
        Block {
            bytes: instructions.iter().map(|i| i.length as u32).sum(),
            total: each.iter().sum(),
            each,
            ends_with_branch: instructions.last().is_some_and(|i| i.class == Class::Branch),
            instructions,
        }
    }

    #[inline(always)]
    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    #[inline(always)]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn fixed_milli(&self) -> u64 {
        self.total
    }

    fn each_milli(&self) -> &[u64] {
        &self.each
    }
}

impl Block {
    pub(crate) fn ends_with_branch(&self) -> bool {
        self.ends_with_branch
    }
}
