// SPDX-License-Identifier: GPL-2.0-or-later
//! ARM instructions, as far as costs and what the plugin follows need (ARM Architecture Reference Manual, A3). Thumb
//! instructions are told apart coarsely: no program of the laboratory's measured ones uses them.

use cobnut_model::arm::{Class, Instruction, Operation};

/// `mov r12, r12`: R0 says what it marks, R1 which case.
const MARKER: u32 = 0xe1a0_c00c;
const PC: u16 = 1 << 15;

/// What has to be looked at when it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    None,
    Marker,
    /// It may be at a place of a region.
    Place,
    /// A system call of Linux or its like, with the number in it.
    Call(u32),
    /// With the number of the register that has the operand, and the condition.
    Coprocessor {
        operation: Operation,
        register: usize,
        condition: u32,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    pub instruction: Instruction,
    pub special: Special,
    /// Where a direct jump goes, from its own address.
    pub jump: Option<i32>,
}

impl Decoded {
    fn new(class: Class, reads: u16) -> Self {
        let instruction = Instruction { reads, ..Instruction::new(class) };
        Decoded { instruction, special: Special::None, jump: None }
    }
}

fn bit(number: u32) -> u16 {
    1 << number
}

/// The number in `swi`, where `bytes` are that (A4.1.50 of the manual; Thumb's, A7.1.61, has none of Linux's).
pub fn call(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [a, b, c, d] if d & 0xf == 0xf => Some(u32::from_le_bytes([a, b, c, 0])),
        [_, 0xdf] => Some(0),
        _ => None,
    }
}

/// An instruction of 4 bytes, or of 2 in Thumb code.
pub fn decode(bytes: &[u8]) -> Decoded {
    match *bytes {
        [a, b, c, d] => arm(u32::from_le_bytes([a, b, c, d])),
        [a, b] => thumb(u16::from_le_bytes([a, b])),
        _ => Decoded::new(Class::Alu, 0),
    }
}

fn arm(code: u32) -> Decoded {
    let field = |shift: u32| code >> shift & 15;
    let (n, d, s, m) = (bit(field(16)), bit(field(12)), bit(field(8)), bit(field(0)));
    let loads = code >> 20 & 1 == 1;
    if code == MARKER {
        return Decoded { special: Special::Marker, ..Decoded::new(Class::Alu, 0) };
    }
    match code >> 25 & 7 {
        0 if code & 0x0fff_fff0 == 0x012f_ff10 || code & 0x0fff_fff0 == 0x012f_ff30 => Decoded::new(Class::WritePc, m),
        0 if code & 0x0fb0_0ff0 == 0x0100_0090 => late(Decoded::new(Class::Swap, n | m), d, code >> 22 & 1 == 1),
        0 if code & 0x0fc0_00f0 == 0x0000_0090 => late(Decoded::new(Class::Multiply, m | s | d), n, false),
        0 if code & 0x0f80_00f0 == 0x0080_0090 => late(Decoded::new(Class::MultiplyLong, m | s), d | n, false),
        // Halfwords, signed bytes, and pairs of words.
        0 if code & 0x90 == 0x90 && code & 0x60 != 0 => {
            let reads = n | if code >> 22 & 1 == 0 { m } else { 0 };
            let pair = !loads && code & 0x40 != 0;
            match (loads || pair && code & 0x20 == 0, pair) {
                (true, false) => late(Decoded::new(Class::Load, reads), d, true),
                (true, true) => late(words(Decoded::new(Class::LoadMultiple, reads), 2), d | d << 1, false),
                (false, true) => words(Decoded::new(Class::StoreMultiple, reads | d), 2),
                (false, false) => Decoded::new(Class::Store, reads | d),
            }
        }
        0 | 1 if code & 0x0190_0000 == 0x0100_0000 => match code & 0x0020_0000 {
            0 => Decoded::new(Class::StatusRead, 0),
            _ => Decoded::new(Class::StatusWrite, if code >> 25 & 1 == 0 { m } else { 0 }),
        },
        kind @ (0 | 1) => {
            let by_register = kind == 0 && code & 0x10 != 0;
            let reads = n | if kind == 0 { m } else { 0 } | if by_register { s } else { 0 };
            let compares = code >> 23 & 3 == 2;
            match (compares, d == PC, by_register) {
                (false, true, _) => Decoded::new(Class::WritePc, reads),
                (_, _, true) => Decoded::new(Class::AluShift, reads),
                _ => Decoded::new(Class::Alu, reads),
            }
        }
        kind @ (2 | 3) => {
            let reads = n | if kind == 3 { m } else { 0 };
            match (loads, d == PC) {
                (true, true) => Decoded::new(Class::LoadPc, reads),
                (true, false) => late(Decoded::new(Class::Load, reads), d, code >> 22 & 1 == 1),
                (false, _) => Decoded::new(Class::Store, reads | d),
            }
        }
        4 => {
            let list = code as u16;
            let class = match (loads, list & PC != 0) {
                (true, true) => Class::LoadPc,
                (true, false) => Class::LoadMultiple,
                (false, _) => Class::StoreMultiple,
            };
            let last = if loads && list != 0 { 1 << (15 - list.leading_zeros()) } else { 0 };
            let moves = words(Decoded::new(class, n | if loads { 0 } else { list }), list.count_ones() as u8);
            late(moves, last, false)
        }
        5 => Decoded { jump: Some(((code << 8) as i32 >> 6) + 8), ..Decoded::new(Class::Branch, 0) },
        7 if code >> 24 & 1 == 1 => Decoded::new(Class::SoftwareInterrupt, 0),
        7 if code & 0x10 != 0 && field(8) == 15 => {
            let operation = Operation::decode(loads, field(16), code >> 21 & 7, field(0), code >> 5 & 7);
            let special = match operation {
                Operation::Wait | Operation::Other => Special::None,
                _ => Special::Coprocessor { operation, register: field(12) as usize, condition: code >> 28 },
            };
            Decoded { special, ..Decoded::new(Class::Coprocessor, if loads { 0 } else { d }) }
        }
        _ => Decoded::new(Class::Coprocessor, 0),
    }
}

fn late(mut decoded: Decoded, registers: u16, narrow: bool) -> Decoded {
    (decoded.instruction.late, decoded.instruction.narrow) = (registers, narrow);
    decoded
}

fn words(mut decoded: Decoded, words: u8) -> Decoded {
    decoded.instruction.words = words;
    decoded
}

fn thumb(code: u16) -> Decoded {
    let list = (code & 0xff).count_ones() as u8;
    let mut decoded = match code >> 12 {
        4 if code >> 8 == 0x47 => Decoded::new(Class::WritePc, 0),
        4 if code & 0x0800 == 0 => Decoded::new(Class::Alu, 0),
        4 | 9 if code & 0x0800 != 0 => Decoded::new(Class::Load, 0),
        5 if code & 0x0e00 >= 0x0600 => Decoded::new(Class::Load, 0),
        6..=8 if code & 0x0800 != 0 => Decoded::new(Class::Load, 0),
        5..=9 => Decoded::new(Class::Store, 0),
        11 if code & 0x0f00 == 0x0d00 => words(Decoded::new(Class::LoadPc, 0), list + 1),
        11 if code & 0x0e00 == 0x0c00 => words(Decoded::new(Class::LoadMultiple, 0), list),
        11 if code & 0x0e00 == 0x0400 => words(Decoded::new(Class::StoreMultiple, 0), list + (code >> 8 & 1) as u8),
        12 if code & 0x0800 != 0 => words(Decoded::new(Class::LoadMultiple, 0), list),
        12 => words(Decoded::new(Class::StoreMultiple, 0), list),
        13 if code & 0x0f00 == 0x0f00 => Decoded::new(Class::SoftwareInterrupt, 0),
        13..=15 => Decoded::new(Class::Branch, 0),
        _ => Decoded::new(Class::Alu, 0),
    };
    decoded.instruction.length = 2;
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use cobnut_model::arm::Side;

    fn class(code: u32) -> Class {
        decode(&code.to_le_bytes()).instruction.class
    }

    #[test]
    fn classes_by_encoding() {
        let of = [
            (0xe3a0_0001, Class::Alu),           // mov r0, #1
            (0xe1a0_0211, Class::AluShift),      // mov r0, r1, lsl r2
            (0xe000_0291, Class::Multiply),      // mul r0, r1, r2
            (0xe081_0392, Class::MultiplyLong),  // umull r0, r1, r2, r3
            (0xe591_0000, Class::Load),          // ldr r0, [r1]
            (0xe1d1_00b0, Class::Load),          // ldrh r0, [r1]
            (0xe1c1_00b0, Class::Store),         // strh r0, [r1]
            (0xe1c1_00d0, Class::LoadMultiple),  // ldrd r0, [r1]
            (0xe1c1_00f0, Class::StoreMultiple), // strd r0, [r1]
            (0xe581_0000, Class::Store),         // str r0, [r1]
            (0xe59f_f000, Class::LoadPc),        // ldr pc, [pc]
            (0xe8bd_0007, Class::LoadMultiple),  // ldmfd sp!, {r0-r2}
            (0xe8bd_8007, Class::LoadPc),        // ldmfd sp!, {r0-r2, pc}
            (0xe92d_4007, Class::StoreMultiple), // stmfd sp!, {r0-r2, lr}
            (0xe101_0092, Class::Swap),          // swp r0, r2, [r1]
            (0xeb00_0000, Class::Branch),        // bl
            (0xe12f_ff1e, Class::WritePc),       // bx lr
            (0xe1b0_f00e, Class::WritePc),       // movs pc, lr
            (0xe3e0_f0ff, Class::WritePc),       // mvn pc, #255
            (0xe14f_0000, Class::StatusRead),    // mrs r0, spsr
            (0xe121_f000, Class::StatusWrite),   // msr cpsr_c, r0
            (0xe321_f0d3, Class::StatusWrite),   // msr cpsr_c, #0xd3
            (0xe350_0000, Class::Alu),           // cmp r0, #0
            (0xef12_3456, Class::SoftwareInterrupt),
            (0xee07_0f3a, Class::Coprocessor), // mcr p15, 0, r0, c7, c10, 1
        ];
        for (code, expected) in of {
            assert_eq!(class(code), expected, "{code:08x}");
        }
    }

    #[test]
    fn coprocessor_operations() {
        let special = |code: u32| decode(&code.to_le_bytes()).special;
        let register = |operation, register| Special::Coprocessor { operation, register, condition: 14 };
        assert_eq!(special(0xee02_1f10), register(Operation::TableBase, 1)); // mcr p15, 0, r1, c2, c0, 0
        assert_eq!(special(0xee03_2f10), register(Operation::DomainAccess, 2)); // mcr p15, 0, r2, c3, c0, 0
        assert_eq!(special(0xee0d_0f10), register(Operation::ProcessId, 0)); // mcr p15, 0, r0, c13, c0, 0
        assert_eq!(special(0xee08_0f17), register(Operation::InvalidateTlb(Side::Both), 0)); // c8, c7, 0
        assert_eq!(special(0xee08_3f36), register(Operation::InvalidateTlbEntry(Side::Data), 3)); // c8, c6, 1
        assert_eq!(special(0xee07_0f3a), register(Operation::CleanLine, 0)); // c7, c10, 1
        assert_eq!(special(0xee17_ff7e), register(Operation::TestCleanInvalidate, 15)); // mrc p15, 0, r15, c7, c14, 3
        assert_eq!(special(0xee15_0f10), Special::None); // mrc p15, 0, r0, c5, c0, 0
        assert_eq!(special(0xe1a0_c00c), Special::Marker);
    }

    #[test]
    fn a_jump_says_where_it_goes() {
        assert_eq!(decode(&0xeaff_fffeu32.to_le_bytes()).jump, Some(0));
        assert_eq!(decode(&0xeb00_0001u32.to_le_bytes()).jump, Some(12));
    }

    #[test]
    fn what_a_load_brings_late() {
        let bytes = decode(&0xe5d1_0000u32.to_le_bytes()).instruction; // ldrb r0, [r1]
        assert_eq!((bytes.late, bytes.narrow, bytes.reads), (1, true, 2));
        let several = decode(&0xe8b1_0005u32.to_le_bytes()).instruction; // ldmia r1!, {r0, r2}
        assert_eq!((several.late, several.words, several.reads), (4, 2, 2));
    }
}
