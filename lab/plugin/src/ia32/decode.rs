// SPDX-License-Identifier: GPL-2.0-or-later
//! What class an IA-32 instruction (32-bit code) belongs to and what the follower has to do about it. iced-x86 decodes
//! it; lengths come from QEMU, memory addresses from its memory callbacks.

use super::issue::issue;
use cobnut_model::ia32::{Class, Issue};
use iced_x86::{ConditionCode, Decoder, DecoderOptions, Mnemonic, OpKind, Register};

/// What the follower does when the instruction has been, or is about to be, executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    None,
    /// `xchg %cx,%cx`: the guest talks to the laboratory.
    Marker,
    Cr3Write,
    /// CR0 or CR4.
    ControlWrite,
    /// `invlpg` with its addressing.
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

/// The instruction that `bytes` start with, as iced-x86 sees it at address 0. What is none is told as invalid.
pub fn parse(bytes: &[u8]) -> iced_x86::Instruction {
    // What processors of the time make of `rep bsf` and `rep bsr`.
    let options = DecoderOptions::NO_MPFX_0FBC | DecoderOptions::NO_MPFX_0FBD;
    Decoder::new(32, bytes, options).decode()
}

/// Decodes one instruction from its bytes.
pub fn decode(bytes: &[u8]) -> Decoded {
    let found = parse(bytes);
    let (class, special) = match bytes {
        [0x66, 0x87, 0xc9] => (Class::Alu, Special::Marker),
        _ => (class_of(&found, bytes), special_of(&found)),
    };
    use Class::*;
    let leaves = matches!(class, Call | Return | Indirect | FarReturn | FarJump | Iret | Sysenter | Sysexit);
    let direct = matches!(found.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32);
    Decoded {
        class,
        special,
        repeated: class == String && (found.has_rep_prefix() || found.has_repne_prefix()),
        jump: direct.then(|| found.near_branch32().wrapping_sub(found.next_ip32()) as i32),
        falls_through: !leaves && !found.is_jmp_short_or_near(),
        issue: issue(&found, bytes),
    }
}

/// Whether a byte in front of the opcode says something about it.
pub fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}

fn special_of(found: &iced_x86::Instruction) -> Special {
    match found.mnemonic() {
        Mnemonic::Mov if found.op0_register() == Register::CR3 => Special::Cr3Write,
        Mnemonic::Mov if found.op0_register().is_cr() => Special::ControlWrite,
        Mnemonic::Clts | Mnemonic::Lmsw => Special::ControlWrite,
        Mnemonic::Invlpg => Special::Invlpg(addressing(found)),
        Mnemonic::Lgdt => Special::Lgdt,
        Mnemonic::Lidt => Special::Lidt,
        Mnemonic::Int3 => Special::Int(3),
        Mnemonic::Into => Special::Int(4),
        Mnemonic::Int => Special::Int(found.immediate8()),
        Mnemonic::Out if found.op0_kind() == OpKind::Immediate8 => Special::PortWrite(Some(found.immediate8())),
        Mnemonic::Out => Special::PortWrite(None),
        _ => Special::None,
    }
}

fn addressing(found: &iced_x86::Instruction) -> Addressing {
    let number = |register: Register| (register != Register::None).then(|| register.number() as u8);
    Addressing {
        segment: found.memory_segment().number() as u8,
        base: number(found.memory_base()),
        index: number(found.memory_index()).map(|n| (n, found.memory_index_scale().trailing_zeros() as u8)),
        displacement: found.memory_displacement32(),
    }
}

/// Whether it is one of the coprocessor's.
fn is_float(bytes: &[u8]) -> bool {
    bytes.iter().find(|&&byte| !is_prefix(byte)).is_some_and(|&opcode| (0xd8..=0xdf).contains(&opcode))
}

/// The class, by what the instruction does with memory: this is the model's own table.
fn class_of(found: &iced_x86::Instruction, bytes: &[u8]) -> Class {
    use iced_x86::Mnemonic as M;
    use Class::*;
    let to_memory = found.op0_kind() == OpKind::Memory;
    let memory = (0..found.op_count()).any(|n| found.op_kind(n) == OpKind::Memory);
    let either = |with_memory: Class, without: Class| if memory { with_memory } else { without };
    let [first, second] = [found.op0_register(), found.op1_register()];
    match found.mnemonic() {
        M::Adc | M::Add | M::And | M::Or | M::Sbb | M::Sub | M::Xor if !to_memory => either(LoadAlu, Alu),
        M::Bts | M::Btr | M::Btc if found.op1_kind() == OpKind::Immediate8 => either(LoadAlu, Alu),
        M::Adc
        | M::Add
        | M::And
        | M::Or
        | M::Sbb
        | M::Sub
        | M::Xor
        | M::Inc
        | M::Dec
        | M::Neg
        | M::Not
        | M::Rol
        | M::Ror
        | M::Rcl
        | M::Rcr
        | M::Shl
        | M::Shr
        | M::Sal
        | M::Sar
        | M::Shld
        | M::Shrd
        | M::Bts
        | M::Btr
        | M::Btc => match (memory, found.has_lock_prefix()) {
            (true, true) => Atomic,
            (true, false) => AluStore,
            (false, _) => Alu,
        },
        M::Cmp | M::Test | M::Bt | M::Bsf | M::Bsr => either(LoadAlu, Alu),
        M::Mov if first.is_segment_register() => SegmentLoad,
        M::Mov if second.is_segment_register() => SegmentRead,
        M::Mov if first == Register::CR3 => Cr3Write,
        M::Mov if [first, second].iter().any(|r| r.is_cr() || r.is_dr()) => Control,
        M::Mov if to_memory => Store,
        M::Mov | M::Movzx | M::Movsx => either(Load, Alu),
        M::Push if memory => AluStore,
        M::Push | M::Pusha | M::Pushad | M::Enter => Store,
        M::Pop if first.is_segment_register() => SegmentLoad,
        M::Pop => either(AluStore, Load),
        M::Popa | M::Popad | M::Leave => Load,
        M::Pushf | M::Pushfd | M::Popf | M::Popfd | M::Cli | M::Sti => Flags,
        M::Imul | M::Mul => Multiply,
        M::Div | M::Idiv => Divide,
        M::Xchg => either(Atomic, Alu),
        M::Cmpxchg | M::Xadd | M::Cmpxchg8b => Atomic,
        M::Lds | M::Les | M::Lfs | M::Lgs | M::Lss => SegmentLoad,
        M::Ret => Return,
        M::Retf => FarReturn,
        M::Iret | M::Iretd => Iret,
        M::Int | M::Int3 | M::Into => Int,
        M::Sysenter => Sysenter,
        M::Sysexit => Sysexit,
        M::In | M::Out => PortIo,
        M::Hlt => Halt,
        M::Nop
        | M::Reservednop
        | M::Endbr32
        | M::Pause
        | M::Prefetch
        | M::Prefetchnta
        | M::Prefetcht0
        | M::Prefetcht1
        | M::Prefetcht2
        | M::Prefetchw => Nop,
        M::Clts | M::Lmsw => Control,
        M::Invlpg => Invlpg,
        M::Wbinvd | M::Invd | M::Rdtsc | M::Rdmsr | M::Wrmsr | M::Rdpmc | M::Cpuid => Serialize,
        M::Sldt | M::Str | M::Lldt | M::Ltr | M::Verr | M::Verw | M::Sgdt | M::Sidt | M::Lgdt | M::Lidt | M::Smsw => {
            DescriptorTable
        }
        _ if found.is_string_instruction() => String,
        _ if found.is_jmp_far() || found.is_jmp_far_indirect() => FarJump,
        _ if found.is_call_far() || found.is_call_far_indirect() => FarJump,
        _ if found.is_jmp_near_indirect() || found.is_call_near_indirect() => Indirect,
        _ if found.is_call_near() => Call,
        _ if found.is_jcc_short_or_near() || found.is_jmp_short_or_near() => Branch,
        _ if found.is_loop() || found.is_loopcc() || found.is_jcx_short() => Branch,
        _ if is_float(bytes) => Float,
        _ if found.condition_code() != ConditionCode::None && found.op_count() == 1 => either(Store, Alu),
        _ if found.condition_code() != ConditionCode::None => either(LoadAlu, Alu),
        _ => Alu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cobnut_model::ia32::sanitizer::{DS, SS};

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
        let expected = Addressing { segment: SS as u8, base: Some(0), index: Some((1, 2)), displacement: 0x10 };
        assert_eq!(decoded.special, Special::Invlpg(expected));
        let absolute = decode(&[0x0f, 0x01, 0x3d, 0, 0x10, 0, 0]);
        let expected = Addressing { segment: DS as u8, base: None, index: None, displacement: 0x1000 };
        assert_eq!(absolute.special, Special::Invlpg(expected));
    }
}
