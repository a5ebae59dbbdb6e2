// SPDX-License-Identifier: GPL-2.0-or-later
//! How an instruction can be issued on a processor that issues two at a time: pipes, registers, address.
//!
//! Pipes follow the pairing table of Intel, "Optimizations for Intel's 32-bit Processors" (AP-500, 241799). Registers
//! are exact for instructions that pair, and for what others write, since an address may wait for that; flags are left
//! out, for they never keep two of these instructions apart.

use cobnut_model::{Issue, Pipe};

const EAX: u8 = 1 << 0;
const ECX: u8 = 1 << 1;
const EDX: u8 = 1 << 2;
const ESP: u8 = 1 << 4;
const EBP: u8 = 1 << 5;
const ESI: u8 = 1 << 6;
const EDI: u8 = 1 << 7;

/// Operands of a ModRM byte with 32-bit addressing.
struct ModRm {
    /// The register operand, and the one in r/m where that is a register; as sets.
    reg: u8,
    rm: u8,
    /// Registers of the address; empty where r/m is a register.
    address: u8,
    /// The middle field as the number of an operation.
    group: u8,
    memory: bool,
    displacement: bool,
}

impl ModRm {
    /// `bytes` start with the ModRM byte; `byte_sized`: register numbers 4 to 7 name the second bytes of the first
    /// four.
    fn new(bytes: &[u8], byte_sized: bool) -> Self {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0xc0);
        let (mode, group, low) = (byte(0) >> 6, byte(0) >> 3 & 7, byte(0) & 7);
        let register = |number: u8| 1 << if byte_sized { number & 3 } else { number };
        let memory = mode != 3;
        let (mut address, mut base) = (0, low);
        if memory && low == 4 {
            let (index, sib_base) = (byte(1) >> 3 & 7, byte(1) & 7);
            address |= if index == 4 { 0 } else { 1 << index };
            base = sib_base;
        }
        let absolute = mode == 0 && base == 5;
        if memory && !absolute {
            address |= 1 << base;
        }
        let rm = if memory { 0 } else { register(low) };
        ModRm { reg: register(group), rm, address, group, memory, displacement: memory && (mode != 0 || absolute) }
    }
}

/// From opcode and what follows, without prefixes; `prefixes` is how many of those that take time there were.
pub fn issue(opcode: u8, rest: &[u8], prefixes: u8) -> Issue {
    let plain = if opcode == 0x0f { two_byte(rest) } else { one_byte(opcode, rest) };
    let pipe = match plain.pipe {
        Pipe::Either if prefixes > 0 => Pipe::First,
        Pipe::Second if prefixes > 0 => Pipe::Alone,
        pipe => pipe,
    };
    Issue { pipe, prefixes, ..plain }
}

fn one_byte(opcode: u8, rest: &[u8]) -> Issue {
    let sized = |byte_sized: bool| ModRm::new(rest, byte_sized);
    let byte_sized = opcode & 1 == 0;
    let number = 1 << (opcode & 7);
    let stack = |issue: Issue| Issue { address: issue.address | ESP, stack: true, ..issue };
    match opcode {
        // add or adc sbb and sub xor cmp: r/m,r; r,r/m; accumulator,immediate
        0x00..=0x3f if opcode & 7 < 6 => {
            let (pipe, m) = (arithmetic_pipe(opcode >> 3), sized(byte_sized));
            let kept = opcode >> 3 == 7;
            match opcode & 7 {
                0 | 1 => of(pipe, m.reg | m.rm, if kept { 0 } else { m.rm }, &m),
                2 | 3 => of(pipe, m.reg | m.rm, if kept { 0 } else { m.reg }, &m),
                _ => Issue { pipe, reads: EAX, writes: if kept { 0 } else { EAX }, ..Issue::default() },
            }
        }
        0x40..=0x4f => Issue { pipe: Pipe::Either, reads: number, writes: number, ..Issue::default() },
        0x50..=0x57 => stack(Issue { pipe: Pipe::Either, reads: number, ..Issue::default() }),
        0x58..=0x5f => stack(Issue { pipe: Pipe::Either, writes: number, ..Issue::default() }),
        0x68 | 0x6a => stack(Issue { pipe: Pipe::Either, ..Issue::default() }),
        0x61 => stack(Issue { writes: !ESP, ..Issue::default() }),
        0x60 | 0x9c | 0x9d | 0x06 | 0x0e | 0x16 | 0x1e | 0x07 | 0x17 | 0x1f => stack(Issue::default()),
        0x69 | 0x6b => writing(sized(false), |m| m.reg),
        0x70..=0x7f | 0xe9 | 0xeb => Issue { pipe: Pipe::Second, ..Issue::default() },
        0xe8 => stack(Issue { pipe: Pipe::Second, ..Issue::default() }),
        0x80..=0x83 => {
            let m = sized(opcode != 0x81 && opcode != 0x83);
            with_immediate(of(arithmetic_pipe(m.group), m.rm, if m.group == 7 { 0 } else { m.rm }, &m), &m)
        }
        0x84 | 0x85 => {
            let m = sized(byte_sized);
            of(Pipe::Either, m.reg | m.rm, 0, &m)
        }
        0x86 | 0x87 => writing(sized(byte_sized), |m| m.reg | m.rm),
        0x88 | 0x89 => {
            let m = sized(byte_sized);
            of(Pipe::Either, m.reg, m.rm, &m)
        }
        0x8a | 0x8b => {
            let m = sized(byte_sized);
            of(Pipe::Either, m.rm, m.reg, &m)
        }
        0x8c => writing(sized(false), |m| m.rm),
        0x8d => {
            let m = sized(false);
            of(Pipe::Either, 0, m.reg, &m)
        }
        0x8e | 0x62 | 0x63 => writing(sized(false), |_| 0),
        0x8f => stack(writing(sized(false), |m| m.rm)),
        0x90 => Issue { pipe: Pipe::Either, ..Issue::default() },
        0x91..=0x97 => Issue { writes: EAX | number, ..Issue::default() },
        0x98 => Issue { writes: EAX, ..Issue::default() },
        0x99 => Issue { writes: EDX, ..Issue::default() },
        0xa0 | 0xa1 => Issue { pipe: Pipe::Either, writes: EAX, ..Issue::default() },
        0xa2 | 0xa3 => Issue { pipe: Pipe::Either, reads: EAX, ..Issue::default() },
        0xa8 | 0xa9 => Issue { pipe: Pipe::Either, reads: EAX, ..Issue::default() },
        0xa4..=0xa7 | 0x6c..=0x6f => string(ESI | EDI, ESI | EDI | ECX),
        0xaa | 0xab | 0xae | 0xaf => string(EDI, EDI | ECX),
        0xac | 0xad => string(ESI, EAX | ESI | ECX),
        0xb0..=0xb7 => Issue { pipe: Pipe::Either, writes: 1 << (opcode & 3), ..Issue::default() },
        0xb8..=0xbf => Issue { pipe: Pipe::Either, writes: number, ..Issue::default() },
        0xc0 | 0xc1 | 0xd0 | 0xd1 => {
            let m = sized(byte_sized);
            let by_one = opcode >= 0xd0;
            let pipe = if by_one || m.group >= 4 { Pipe::First } else { Pipe::Alone };
            let shift = of(pipe, m.rm, m.rm, &m);
            if by_one {
                shift
            } else {
                with_immediate(shift, &m)
            }
        }
        0xd2 | 0xd3 => writing(sized(byte_sized), |m| m.rm),
        0xc2 | 0xc3 | 0xca | 0xcb | 0xcf => stack(Issue::default()),
        0xc4 | 0xc5 => writing(sized(false), |m| m.reg),
        0xc6 | 0xc7 => {
            let m = sized(byte_sized);
            with_immediate(of(Pipe::Either, 0, m.rm, &m), &m)
        }
        0xc9 => stack(Issue { writes: EBP, address: EBP, ..Issue::default() }),
        0xe0..=0xe2 => Issue { writes: ECX, ..Issue::default() },
        0xe4 | 0xe5 | 0xec | 0xed => Issue { writes: EAX, ..Issue::default() },
        0xf6 | 0xf7 => writing(sized(byte_sized), |m| match m.group {
            0 | 1 => 0,
            2 | 3 => m.rm,
            _ if byte_sized => EAX,
            _ => EAX | EDX,
        }),
        0xfe | 0xff => {
            let m = sized(byte_sized);
            match m.group {
                0 | 1 => of(Pipe::Either, m.rm, m.rm, &m),
                2 | 3 | 6 => stack(writing(m, |_| 0)),
                _ => writing(m, |_| 0),
            }
        }
        0xd8..=0xdf => writing(sized(false), |_| 0),
        _ => Issue::default(),
    }
}

/// None of these pairs, but for the conditional jumps.
fn two_byte(rest: &[u8]) -> Issue {
    let opcode = rest.first().copied().unwrap_or(0);
    let modrm = |byte_sized: bool| ModRm::new(rest.get(1..).unwrap_or(&[]), byte_sized);
    match opcode {
        0x80..=0x8f => Issue { pipe: Pipe::Second, ..Issue::default() },
        0x20 | 0x21 => writing(modrm(false), |m| m.rm),
        0x31 | 0x32 => Issue { writes: EAX | EDX, ..Issue::default() },
        0xa2 => Issue { writes: 0x0f, ..Issue::default() },
        0xa0 | 0xa1 | 0xa8 | 0xa9 => Issue { address: ESP, stack: true, ..Issue::default() },
        0x40..=0x4f | 0xaf | 0xb2 | 0xb4..=0xb7 | 0xbc..=0xbf | 0x02 | 0x03 => writing(modrm(false), |m| m.reg),
        0x90..=0x9f => writing(modrm(true), |m| m.rm),
        0xa4 | 0xa5 | 0xac | 0xad | 0xab | 0xb3 | 0xba | 0xbb => writing(modrm(false), |m| m.rm),
        0xb0 | 0xb1 => writing(modrm(opcode == 0xb0), |m| m.rm | EAX),
        0xc0 | 0xc1 => writing(modrm(opcode == 0xc0), |m| m.rm | m.reg),
        0xc8..=0xcf => Issue { writes: 1 << (opcode & 7), ..Issue::default() },
        0x00 | 0x01 | 0xa3 | 0xc7 => writing(modrm(false), |_| 0),
        _ => Issue::default(),
    }
}

/// adc and sbb need the U pipe.
fn arithmetic_pipe(operation: u8) -> Pipe {
    if matches!(operation, 2 | 3) {
        Pipe::First
    } else {
        Pipe::Either
    }
}

fn of(pipe: Pipe, reads: u8, writes: u8, m: &ModRm) -> Issue {
    Issue { pipe, reads, writes, address: m.address, ..Issue::default() }
}

fn with_immediate(issue: Issue, m: &ModRm) -> Issue {
    Issue { displacement_and_immediate: m.memory && m.displacement, ..issue }
}

/// An instruction that is issued alone.
fn writing(m: ModRm, writes: impl Fn(&ModRm) -> u8) -> Issue {
    of(Pipe::Alone, 0, writes(&m), &m)
}

fn string(address: u8, writes: u8) -> Issue {
    Issue { address, writes, ..Issue::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

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
