// SPDX-License-Identifier: GPL-2.0-or-later
//! How an instruction can be issued on a processor that issues two at a time: pipes, registers, address.
//!
//! Pipes follow the pairing table of Intel, "Optimizations for Intel's 32-bit Processors" (AP-500, 241799). Registers
//! are exact for instructions that pair, and for what others write, since an address may wait for that; flags are left
//! out, for they never keep two of these instructions apart.

use super::decode::is_prefix;
use cobnut_model::ia32::{Condition, Issue, Pipe};
use iced_x86::{Code, Instruction, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

const ESP: u8 = 1 << 4;

/// How `found` is issued, the instruction that has these `bytes`.
pub fn issue(found: &Instruction, bytes: &[u8]) -> Issue {
    // The cost of a repetition or a lock is in the class.
    let costly = |byte: &&u8| !matches!(byte, 0xf0 | 0xf2 | 0xf3);
    let prefixes = bytes.iter().take_while(|&&byte| is_prefix(byte)).filter(costly).count() as u8;
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(found);
    let stack = found.is_stack_instruction();
    let alone = pipe_of(found);
    let pipe = match alone {
        Pipe::Either if prefixes > 0 => Pipe::First,
        Pipe::Second if prefixes > 0 => Pipe::Alone,
        pipe => pipe,
    };
    let (reads, writes) = match alone {
        Pipe::Alone => (0, written(info) & if stack { !ESP } else { !0 }),
        _ => operands(found),
    };
    let memory = found.memory_displ_size() > 0 && (0..found.op_count()).any(|n| found.op_kind(n) == OpKind::Memory);
    let immediate = (1..found.op_count()).any(|n| found.op_kind(n) != OpKind::Memory && is_immediate(found.op_kind(n)));
    Issue {
        pipe,
        prefixes,
        reads,
        writes,
        address: address(found, info) | if stack { ESP } else { 0 },
        displacement_and_immediate: alone != Pipe::Alone && memory && immediate && !by_one(found),
        stack,
        condition: condition(found),
    }
}

/// When a direct jump is taken. That `found` stands at address 0 makes no difference.
fn condition(found: &Instruction) -> Condition {
    let conditional = found.is_jcc_short_or_near() || found.is_loop() || found.is_loopcc() || found.is_jcx_short();
    match (found.near_branch32().wrapping_sub(found.next_ip32()) as i32) < 0 {
        _ if !conditional => Condition::Always,
        true => Condition::Backward,
        false => Condition::Forward,
    }
}

/// The general register that `register` is or is a part of, as a set.
fn set(register: Register) -> u8 {
    if register.is_gpr() {
        1 << register.full_register32().number()
    } else {
        0
    }
}

/// The pipe before prefixes are looked at.
fn pipe_of(found: &Instruction) -> Pipe {
    use Mnemonic::*;
    let kinds = [found.op0_kind(), found.op1_kind()];
    let general = [found.op0_register(), found.op1_register()].iter().all(|r| *r == Register::None || r.is_gpr());
    match found.mnemonic() {
        Add | And | Or | Sub | Xor | Cmp | Inc | Dec | Lea | Nop | Pause if found.code() != Code::Nop_rm32 => {
            Pipe::Either
        }
        Adc | Sbb => Pipe::First,
        // By an immediate only of the accumulator.
        Test if is_immediate(kinds[1]) && !takes_accumulator(found.code()) => Pipe::Alone,
        Mov | Test if general => Pipe::Either,
        Push | Pop if kinds[0] != OpKind::Memory && general => Pipe::Either,
        Shl | Sal | Shr | Sar if kinds[1] != OpKind::Register => Pipe::First,
        Rol | Ror | Rcl | Rcr if by_one(found) => Pipe::First,
        _ if found.is_jcc_short_or_near() || found.is_jmp_short_or_near() || found.is_call_near() => Pipe::Second,
        _ => Pipe::Alone,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    use OpKind::*;
    matches!(kind, Immediate8 | Immediate16 | Immediate32 | Immediate8to16 | Immediate8to32)
}

fn takes_accumulator(code: Code) -> bool {
    matches!(code, Code::Test_AL_imm8 | Code::Test_AX_imm16 | Code::Test_EAX_imm32)
}

/// A shift or rotation by one that says so by its opcode.
fn by_one(found: &Instruction) -> bool {
    use Code::*;
    matches!(
        found.code(),
        Rol_rm8_1
            | Rol_rm16_1
            | Rol_rm32_1
            | Ror_rm8_1
            | Ror_rm16_1
            | Ror_rm32_1
            | Rcl_rm8_1
            | Rcl_rm16_1
            | Rcl_rm32_1
            | Rcr_rm8_1
            | Rcr_rm16_1
            | Rcr_rm32_1
            | Shl_rm8_1
            | Shl_rm16_1
            | Shl_rm32_1
            | Shr_rm8_1
            | Shr_rm16_1
            | Shr_rm32_1
            | Sar_rm8_1
            | Sar_rm16_1
            | Sar_rm32_1
            | Sal_rm8_1
            | Sal_rm16_1
            | Sal_rm32_1
    )
}

/// Registers that an instruction of the pairing table reads and writes, apart from its address. That an exclusive or
/// with itself needs no register, no Pentium knows.
fn operands(found: &Instruction) -> (u8, u8) {
    use Mnemonic::*;
    let register = |n: u32| if found.op_kind(n) == OpKind::Register { set(found.op_register(n)) } else { 0 };
    let others: u8 = (1..found.op_count()).map(register).fold(0, |all, one| all | one);
    let first = if found.op_count() > 0 { register(0) } else { 0 };
    match found.mnemonic() {
        Nop => (0, 0),
        Mov | Lea | Pop => (others, first),
        Cmp | Test | Push => (others | first, 0),
        _ => (others | first, first),
    }
}

/// Every general register that is written, named in the instruction or not.
fn written(info: &InstructionInfo) -> u8 {
    let used = info.used_registers().iter().filter(|used| {
        use OpAccess::*;
        matches!(used.access(), Write | CondWrite | ReadWrite | ReadCondWrite)
    });
    used.fold(0, |all, used| all | set(used.register()))
}

/// Registers that addresses are formed from, those of `lea` among them.
fn address(found: &Instruction, info: &InstructionInfo) -> u8 {
    let used = info.used_memory().iter().fold(0, |all, used| all | set(used.base()) | set(used.index()));
    used | set(found.memory_base()) | set(found.memory_index())
}

#[cfg(test)]
mod tests {
    use super::super::decode::decode;
    use super::*;

    const EAX: u8 = 1 << 0;
    const ECX: u8 = 1 << 1;
    const EDX: u8 = 1 << 2;

    fn of_bytes(bytes: &[u8]) -> Issue {
        decode(bytes).issue
    }

    #[test]
    fn pipes_of_the_pairing_table() {
        let pipe = |bytes: &[u8]| of_bytes(bytes).pipe;
        for bytes in [
            &[0x89, 0xd8][..],         // mov eax, ebx
            &[0x03, 0x03],             // add eax, [ebx]
            &[0x01, 0x03],             // add [ebx], eax
            &[0x83, 0xc0, 1],          // add eax, 1
            &[0x85, 0xc0],             // test eax, eax
            &[0xa9, 1, 0, 0, 0],       // test eax, 1
            &[0x43],                   // inc ebx
            &[0xff, 0x03],             // inc dword [ebx]
            &[0x8d, 0x43, 4],          // lea eax, [ebx + 4]
            &[0x55],                   // push ebp
            &[0x6a, 1],                // push 1
            &[0x5d],                   // pop ebp
            &[0x90],                   // nop
            &[0xc7, 0x03, 1, 0, 0, 0], // mov dword [ebx], 1
        ] {
            assert_eq!(pipe(bytes), Pipe::Either, "{bytes:x?}");
        }
        for bytes in [
            &[0x13, 0xc3][..],   // adc eax, ebx
            &[0x83, 0xd8, 1],    // sbb eax, 1
            &[0xc1, 0xe0, 4],    // shl eax, 4
            &[0xd1, 0xd8],       // rcr eax, 1
            &[0x66, 0x89, 0xd8], // mov ax, bx
            &[0x65, 0x8b, 0x03], // mov eax, gs:[ebx]
        ] {
            assert_eq!(pipe(bytes), Pipe::First, "{bytes:x?}");
        }
        for bytes in [&[0x74, 4][..], &[0x0f, 0x84, 0, 0, 0, 0], &[0xeb, 4], &[0xe8, 0, 0, 0, 0]] {
            assert_eq!(pipe(bytes), Pipe::Second, "{bytes:x?}");
        }
        for bytes in [
            &[0xd3, 0xe0][..],         // shl eax, cl
            &[0xc1, 0xc0, 4],          // rol eax, 4
            &[0xf7, 0xd8],             // neg eax
            &[0xf7, 0xc3, 1, 0, 0, 0], // test ebx, 1
            &[0x0f, 0xb6, 0xc3],       // movzx eax, bl
            &[0x8e, 0xd8],             // mov ds, eax
            &[0xff, 0x33],             // push dword [ebx]
            &[0xff, 0xd0],             // call eax
            &[0xc3],                   // ret
            &[0xcf],                   // iret
        ] {
            assert_eq!(pipe(bytes), Pipe::Alone, "{bytes:x?}");
        }
    }

    #[test]
    fn registers_read_written_and_addressed() {
        let registers = |bytes: &[u8]| {
            let Issue { reads, writes, address, .. } = of_bytes(bytes);
            (reads, writes, address)
        };
        assert_eq!(registers(&[0x8b, 0x44, 0x8b, 8]), (0, EAX, 1 << 3 | ECX), "mov eax, [ebx + ecx*4 + 8]");
        assert_eq!(registers(&[0x8b, 0x04, 0x24]), (0, EAX, ESP), "mov eax, [esp]");
        assert_eq!(registers(&[0x8b, 0x04, 0x8d, 0, 0, 0, 0]), (0, EAX, ECX), "mov eax, [ecx*4]");
        assert_eq!(registers(&[0xa1, 0, 0, 0, 0]), (0, EAX, 0), "mov eax, [0]");
        assert_eq!(registers(&[0x88, 0x25, 0, 0, 0, 0]), (EAX, 0, 0), "mov [0], ah");
        assert_eq!(registers(&[0xb4, 0xf3]), (0, EAX, 0), "mov ah, 0xf3");
        assert_eq!(registers(&[0x39, 0xd8]), (EAX | 1 << 3, 0, 0), "cmp eax, ebx");
        assert_eq!(registers(&[0x29, 0xd8]), (EAX | 1 << 3, EAX, 0), "sub eax, ebx");
        assert_eq!(registers(&[0xf7, 0xe3]), (0, EAX | EDX, 0), "mul ebx");
        assert_eq!(registers(&[0x53]), (1 << 3, 0, ESP), "push ebx");
    }

    #[test]
    fn displacement_and_immediate_together() {
        assert!(of_bytes(&[0xc7, 0x43, 4, 1, 0, 0, 0]).displacement_and_immediate, "mov dword [ebx + 4], 1");
        assert!(of_bytes(&[0x83, 0x3d, 0, 0, 0, 0, 1]).displacement_and_immediate, "cmp dword [0], 1");
        assert!(!of_bytes(&[0x83, 0x3b, 1]).displacement_and_immediate, "cmp dword [ebx], 1");
        assert!(!of_bytes(&[0x8b, 0x43, 4]).displacement_and_immediate, "mov eax, [ebx + 4]");
    }

    #[test]
    fn prefixes_that_take_time() {
        assert_eq!(of_bytes(&[0x66, 0x65, 0x8b, 0x03]).prefixes, 2);
        assert_eq!(of_bytes(&[0xf3, 0xa5]).prefixes, 0, "a repetition is in the class");
        assert_eq!(of_bytes(&[0x0f, 0xb6, 0xc3]).prefixes, 0);
    }
}
