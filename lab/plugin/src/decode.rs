// SPDX-License-Identifier: GPL-2.0-or-later
//! Just enough IA-32 decoding (32-bit code): what class an instruction belongs to and what the tracker has to do about
//! it. Lengths come from QEMU, memory addresses from its memory callbacks.

use crate::issue::issue;
use cobnut_model::{Class, Issue};

/// What the tracker does when the instruction has been, or is about to be, executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    None,
    /// `xchg %cx,%cx`: the guest talks to the laboratory.
    Marker,
    Cr3Write,
    /// CR0 or CR4.
    ControlWrite,
    /// `invlpg` with its addressing: segment register number, ModRM byte and what follows.
    Invlpg(Addressing),
    Lgdt,
    Lidt,
    Int(u8),
    /// `out`, to a port that it names itself or to the one in dx.
    PortWrite(Option<u8>),
}

/// A memory operand with 32-bit addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressing {
    /// 0 es, 1 cs, 2 ss, 3 ds, 4 fs, 5 gs.
    pub segment: u8,
    pub base: Option<u8>,
    /// Register and shift.
    pub index: Option<(u8, u8)>,
    pub displacement: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    pub class: Class,
    pub special: Special,
    /// A repeated string instruction: QEMU may come back to it for every repetition.
    pub repeated: bool,
    /// Displacement of a direct near jump or call, relative to the next instruction.
    pub jump: Option<i32>,
    /// Execution may continue after it (false for an unconditional jump).
    pub falls_through: bool,
    /// What decides when it can be issued.
    pub issue: Issue,
}

const DS: u8 = 3;
const SS: u8 = 2;

/// Decodes one instruction from its bytes.
pub fn decode(bytes: &[u8]) -> Decoded {
    let mut at = 0;
    let (mut repeated, mut lock, mut narrow, mut segment) = (false, false, false, None);
    let mut prefixes = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0x66 => narrow = true,
            0xf2 | 0xf3 => repeated = true,
            0xf0 => lock = true,
            0x26 | 0x2e | 0x36 | 0x3e => segment = Some(byte >> 3 & 3),
            0x64 | 0x65 => segment = Some(byte & 7),
            0x67 => {}
            _ => break,
        }
        // The cost of a repetition or a lock is in the class.
        prefixes += !matches!(byte, 0xf0 | 0xf2 | 0xf3) as u8;
        at += 1;
    }
    let rest = bytes.get(at..).unwrap_or(&[]);
    let opcode = rest.first().copied().unwrap_or(0x90);
    let mut decoded = if opcode == 0x0f { two_byte(&rest[1..], segment) } else { one_byte(opcode, &rest[1..], narrow) };
    if lock && decoded.class == Class::AluStore {
        decoded.class = Class::Atomic;
    }
    decoded.issue = issue(opcode, rest.get(1..).unwrap_or(&[]), prefixes);
    decoded.repeated = repeated && decoded.class == Class::String;
    decoded
}

fn plain(class: Class) -> Decoded {
    let issue = Issue::default();
    Decoded { class, special: Special::None, repeated: false, jump: None, falls_through: true, issue }
}

fn special(class: Class, special: Special) -> Decoded {
    Decoded { special, ..plain(class) }
}

fn jump(class: Class, distance: i32, falls_through: bool) -> Decoded {
    Decoded { jump: Some(distance), falls_through, ..plain(class) }
}

fn leaves(class: Class) -> Decoded {
    Decoded { falls_through: false, ..plain(class) }
}

fn in_memory(modrm: u8) -> bool {
    modrm < 0xc0
}

fn either(modrm: u8, memory: Class, register: Class) -> Class {
    if in_memory(modrm) {
        memory
    } else {
        register
    }
}

fn byte_at(rest: &[u8], at: usize) -> u8 {
    rest.get(at).copied().unwrap_or(0xc0)
}

fn rel32(rest: &[u8]) -> i32 {
    rest.get(..4).map_or(0, |b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn one_byte(opcode: u8, rest: &[u8], narrow: bool) -> Decoded {
    use Class::*;
    let modrm = byte_at(rest, 0);
    let group = modrm >> 3 & 7;
    match opcode {
        0x07 | 0x17 | 0x1f | 0x8e => plain(SegmentLoad),
        0x06 | 0x0e | 0x16 | 0x1e => plain(Store),
        // The eight classic operations: r/m,r (0, 1), r,r/m (2, 3), immediate (4, 5); 7 is cmp, which only reads.
        0x00..=0x3f if opcode & 7 < 6 => plain(match opcode & 7 {
            0 | 1 if opcode >> 3 == 7 => either(modrm, LoadAlu, Alu),
            0 | 1 => either(modrm, AluStore, Alu),
            2 | 3 => either(modrm, LoadAlu, Alu),
            _ => Alu,
        }),
        0x50..=0x57 | 0x60 | 0x68 | 0x6a => plain(Store),
        0x58..=0x5f | 0x61 | 0xc9 => plain(Load),
        0x69 | 0x6b => plain(Multiply),
        0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf => plain(String),
        0x70..=0x7f | 0xe0..=0xe3 => jump(Branch, byte_at(rest, 0) as i8 as i32, true),
        0x80..=0x83 => plain(if group == 7 { either(modrm, LoadAlu, Alu) } else { either(modrm, AluStore, Alu) }),
        0x84 | 0x85 => plain(either(modrm, LoadAlu, Alu)),
        0x87 if narrow && modrm == 0xc9 => special(Alu, Special::Marker),
        0x86 | 0x87 => plain(either(modrm, Atomic, Alu)),
        0x88 | 0x89 | 0xc6 | 0xc7 => plain(either(modrm, Store, Alu)),
        0x8c => plain(SegmentRead),
        0x8a | 0x8b => plain(either(modrm, Load, Alu)),
        0x8f => plain(either(modrm, AluStore, Load)),
        0x90 => plain(Nop),
        0x9a | 0xea => leaves(FarJump),
        0x9c | 0x9d | 0xfa | 0xfb => plain(Flags),
        0xa0 | 0xa1 => plain(Load),
        0xa2 | 0xa3 => plain(Store),
        0xc0 | 0xc1 | 0xd0..=0xd3 => plain(either(modrm, AluStore, Alu)),
        0xc2 | 0xc3 => leaves(Return),
        0xc4 | 0xc5 => plain(SegmentLoad),
        0xc8 => plain(Store),
        0xca | 0xcb => leaves(FarReturn),
        0xcc => special(Int, Special::Int(3)),
        0xcd => special(Int, Special::Int(byte_at(rest, 0))),
        0xce => special(Int, Special::Int(4)),
        0xcf => leaves(Iret),
        0xd8..=0xdf => plain(Float),
        0xe6 | 0xe7 => special(PortIo, Special::PortWrite(Some(byte_at(rest, 0)))),
        0xee | 0xef => special(PortIo, Special::PortWrite(None)),
        0xe4 | 0xe5 | 0xec | 0xed => plain(PortIo),
        0xe8 => jump(Call, rel32(rest), false),
        0xe9 => jump(Branch, rel32(rest), false),
        0xeb => jump(Branch, byte_at(rest, 0) as i8 as i32, false),
        0xf4 => plain(Halt),
        0xf6 | 0xf7 => plain(match group {
            0 | 1 => either(modrm, LoadAlu, Alu),
            2 | 3 => either(modrm, AluStore, Alu),
            4 | 5 => Multiply,
            _ => Divide,
        }),
        0xfe | 0xff => match group {
            2 | 4 if opcode == 0xff => leaves(Indirect),
            3 | 5 if opcode == 0xff => leaves(FarJump),
            6 if opcode == 0xff => plain(either(modrm, AluStore, Store)),
            _ => plain(either(modrm, AluStore, Alu)),
        },
        _ => plain(Alu),
    }
}

fn two_byte(rest: &[u8], segment: Option<u8>) -> Decoded {
    use Class::*;
    let opcode = byte_at(rest, 0);
    let modrm = byte_at(rest, 1);
    let group = modrm >> 3 & 7;
    match opcode {
        0x00 => plain(DescriptorTable),
        0x01 => match group {
            2 if in_memory(modrm) => special(DescriptorTable, Special::Lgdt),
            3 if in_memory(modrm) => special(DescriptorTable, Special::Lidt),
            6 => special(Control, Special::ControlWrite),
            7 if in_memory(modrm) => special(Invlpg, Special::Invlpg(addressing(&rest[1..], segment))),
            _ => plain(DescriptorTable),
        },
        0x06 => special(Control, Special::ControlWrite),
        0x08 | 0x09 | 0x30 | 0x31 | 0x32 | 0x33 | 0xa2 => plain(Serialize),
        0x0d | 0x18..=0x1f => plain(Nop),
        0x20 | 0x21 | 0x23 => plain(Control),
        0x22 if group == 3 => special(Cr3Write, Special::Cr3Write),
        0x22 => special(Control, Special::ControlWrite),
        0x34 => leaves(Sysenter),
        0x35 => leaves(Sysexit),
        0x40..=0x4f => plain(either(modrm, LoadAlu, Alu)),
        0x80..=0x8f => jump(Branch, rel32(&rest[1..]), true),
        0xa0 | 0xa8 => plain(Store),
        0xa1 | 0xa9 | 0xb2 | 0xb4 | 0xb5 => plain(SegmentLoad),
        0xa3 | 0xba | 0xbc | 0xbd => plain(either(modrm, LoadAlu, Alu)),
        0xab | 0xb3 | 0xbb | 0xa4 | 0xa5 | 0xac | 0xad => plain(either(modrm, AluStore, Alu)),
        0xaf => plain(Multiply),
        0x90..=0x9f => plain(either(modrm, Store, Alu)),
        0xb6 | 0xb7 | 0xbe | 0xbf => plain(either(modrm, Load, Alu)),
        0xb0 | 0xb1 | 0xc0 | 0xc1 | 0xc7 => plain(Atomic),
        _ => plain(Alu),
    }
}

/// Memory operand of a ModRM byte at the front of `bytes`.
fn addressing(bytes: &[u8], segment: Option<u8>) -> Addressing {
    let modrm = byte_at(bytes, 0);
    let (mode, low) = (modrm >> 6, modrm & 7);
    let mut at = 1;
    let (mut base, mut index) = (Some(low), None);
    if low == 4 {
        let sib = byte_at(bytes, 1);
        at = 2;
        base = Some(sib & 7);
        index = Some((sib >> 3 & 7, sib >> 6)).filter(|&(register, _)| register != 4);
    }
    if base == Some(5) && mode == 0 {
        base = None;
    }
    let tail = bytes.get(at..).unwrap_or(&[]);
    let displacement = match (mode, base) {
        (1, _) => byte_at(tail, 0) as i8 as u32,
        (2, _) | (0, None) => rel32(tail) as u32,
        _ => 0,
    };
    let stack = matches!(base, Some(4) | Some(5));
    Addressing { segment: segment.unwrap_or(if stack { SS } else { DS }), base, index, displacement }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(bytes: &[u8]) -> Class {
        decode(bytes).class
    }

    #[test]
    fn segment_loads_and_far_transfers() {
        for bytes in [&[0x8e, 0xd8][..], &[0x07], &[0x1f], &[0x0f, 0xa9], &[0xc5, 0x00], &[0x66, 0x8e, 0xe0]] {
            assert_eq!(class(bytes), Class::SegmentLoad, "{bytes:x?}");
        }
        assert_eq!(class(&[0xcb]), Class::FarReturn);
        assert_eq!(class(&[0xea, 0, 0, 0, 0, 8, 0]), Class::FarJump);
        assert_eq!(class(&[0xff, 0x28]), Class::FarJump);
        assert_eq!(class(&[0xff, 0x20]), Class::Indirect);
        assert_eq!(class(&[0x8c, 0xd8]), Class::SegmentRead);
    }

    #[test]
    fn kernel_entries_and_exits() {
        assert_eq!(class(&[0x0f, 0x34]), Class::Sysenter);
        assert_eq!(class(&[0x0f, 0x35]), Class::Sysexit);
        assert_eq!(class(&[0xcf]), Class::Iret);
        assert_eq!(decode(&[0xcd, 0x30]).special, Special::Int(0x30));
    }

    #[test]
    fn markers_and_nops() {
        assert_eq!(decode(&[0x66, 0x87, 0xc9]).special, Special::Marker);
        assert_eq!(decode(&[0x87, 0xc9]).special, Special::None);
        assert_eq!(class(&[0x90]), Class::Nop);
        assert_eq!(class(&[0x0f, 0x1f, 0x00]), Class::Nop);
    }

    #[test]
    fn memory_forms() {
        assert_eq!(class(&[0x8b, 0x03]), Class::Load);
        assert_eq!(class(&[0x8b, 0xc3]), Class::Alu);
        assert_eq!(class(&[0x89, 0x03]), Class::Store);
        assert_eq!(class(&[0x03, 0x03]), Class::LoadAlu);
        assert_eq!(class(&[0x01, 0x03]), Class::AluStore);
        assert_eq!(class(&[0x39, 0x03]), Class::LoadAlu);
        assert_eq!(class(&[0xf0, 0x01, 0x03]), Class::Atomic);
        assert_eq!(class(&[0x36, 0x8b, 0x03]), Class::Load);
    }

    #[test]
    fn jumps_know_their_target() {
        let long = decode(&[0xe9, 0x36, 0x10, 0, 0]);
        assert_eq!((long.jump, long.falls_through), (Some(0x1036), false));
        let short = decode(&[0x75, 0xfe]);
        assert_eq!((short.jump, short.falls_through), (Some(-2), true));
    }

    #[test]
    fn control_registers() {
        assert_eq!(decode(&[0x0f, 0x22, 0xd8]).special, Special::Cr3Write);
        assert_eq!(decode(&[0x0f, 0x22, 0xe0]).special, Special::ControlWrite);
        assert_eq!(decode(&[0x0f, 0x20, 0xd8]).special, Special::None);
    }

    #[test]
    fn invlpg_operand() {
        let decoded = decode(&[0x36, 0x0f, 0x01, 0x7c, 0x88, 0x10]);
        let expected = Addressing { segment: SS, base: Some(0), index: Some((1, 2)), displacement: 0x10 };
        assert_eq!(decoded.special, Special::Invlpg(expected));
        let absolute = decode(&[0x0f, 0x01, 0x3d, 0, 0x10, 0, 0]);
        let expected = Addressing { segment: DS, base: None, index: None, displacement: 0x1000 };
        assert_eq!(absolute.special, Special::Invlpg(expected));
    }
}
