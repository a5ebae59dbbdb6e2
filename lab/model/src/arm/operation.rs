// SPDX-License-Identifier: GPL-2.0-or-later
//! The operations of coprocessor 15 (SA-1110 Developer's Manual 5.2; ARM926EJ-S TRM 2.3; both follow the ARM
//! Architecture Reference Manual, part B).

/// Whose TLB or cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Code,
    Data,
    Both,
}

impl Side {
    pub fn code(self) -> bool {
        self != Side::Data
    }

    pub fn data(self) -> bool {
        self != Side::Code
    }
}

/// What an access to coprocessor 15 does besides moving a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Control register: MMU, caches and place of the vectors.
    Control,
    TableBase,
    DomainAccess,
    ProcessId,
    InvalidateTlb(Side),
    /// The entry that translates the operand.
    InvalidateTlbEntry(Side),
    InvalidateCache(Side),
    /// The line that holds the operand, which is an MVA. What is dirty is lost.
    InvalidateLine(Side),
    CleanLine,
    CleanInvalidateLine,
    /// The same of a data line by its set and way.
    InvalidateSlot,
    CleanSlot,
    CleanInvalidateSlot,
    /// Cleans one dirty line, or says that there is none: loops of it clean the cache.
    TestClean,
    /// The same, and when there is none the cache is invalidated.
    TestCleanInvalidate,
    DrainWriteBuffer,
    Wait,
    /// Reads a register, or concerns neither memory nor caches.
    Other,
}

impl Operation {
    /// Of `mcr` (or `mrc`, if it `reads`) `p15, opc1, Rd, CRn, CRm, opc2`.
    pub fn decode(reads: bool, crn: u32, opc1: u32, crm: u32, opc2: u32) -> Self {
        use Operation::*;
        if opc1 != 0 {
            return Other;
        }
        if reads {
            return match (crn, crm, opc2) {
                (7, 10, 3) => TestClean,
                (7, 14, 3) => TestCleanInvalidate,
                _ => Other,
            };
        }
        let side = match crm {
            5 => Side::Code,
            6 => Side::Data,
            _ => Side::Both,
        };
        match (crn, crm, opc2) {
            (1, 0, 0) => Control,
            (2, 0, 0) => TableBase,
            (3, 0, 0) => DomainAccess,
            (13, 0, 0) => ProcessId,
            (8, 5..=7, 0) => InvalidateTlb(side),
            (8, 5..=7, 1) => InvalidateTlbEntry(side),
            (7, 5..=7, 0) => InvalidateCache(side),
            (7, 5..=6, 1) => InvalidateLine(side),
            (7, 6, 2) => InvalidateSlot,
            (7, 10, 1) => CleanLine,
            (7, 10, 2) => CleanSlot,
            (7, 14, 1) => CleanInvalidateLine,
            (7, 14, 2) => CleanInvalidateSlot,
            (7, 10, 4) => DrainWriteBuffer,
            (7, 0, 4) | (15, 8, 2) => Wait,
            _ => Other,
        }
    }

    /// Whether it is nothing but a new value of a register.
    pub fn writes_register(self) -> bool {
        use Operation::*;
        matches!(self, Control | TableBase | DomainAccess | ProcessId)
    }

    /// Whether it empties or cleans a whole TLB or cache, or is a step of that.
    pub fn is_of_all(self) -> bool {
        use Operation::*;
        matches!(
            self,
            InvalidateTlb(_)
                | InvalidateCache(_)
                | InvalidateSlot
                | CleanSlot
                | CleanInvalidateSlot
                | TestClean
                | TestCleanInvalidate
        )
    }

    /// The number of the operation in a record.
    pub fn number(self) -> u32 {
        OPERATIONS.iter().position(|&known| known == self).unwrap_or(0) as u32
    }

    /// The operation of this number, if there is one.
    pub fn of_number(number: u32) -> Option<Self> {
        OPERATIONS.get(number as usize).copied()
    }
}

/// Every operation, in the order of their numbers.
const OPERATIONS: [Operation; 25] = {
    use Operation::*;
    [
        Other,
        Control,
        TableBase,
        DomainAccess,
        ProcessId,
        InvalidateTlb(Side::Code),
        InvalidateTlb(Side::Data),
        InvalidateTlb(Side::Both),
        InvalidateTlbEntry(Side::Code),
        InvalidateTlbEntry(Side::Data),
        InvalidateTlbEntry(Side::Both),
        InvalidateCache(Side::Code),
        InvalidateCache(Side::Data),
        InvalidateCache(Side::Both),
        InvalidateLine(Side::Code),
        InvalidateLine(Side::Data),
        CleanLine,
        CleanInvalidateLine,
        InvalidateSlot,
        CleanSlot,
        CleanInvalidateSlot,
        TestClean,
        TestCleanInvalidate,
        DrainWriteBuffer,
        Wait,
    ]
};
