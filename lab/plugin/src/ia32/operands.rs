// SPDX-License-Identifier: GPL-2.0-or-later
//! Through which segment registers an instruction reaches memory, and which it loads.

use crate::ia32::decode::parse;
use iced_x86::{InstructionInfoFactory, Mnemonic, OpAccess, Register};

/// Registers as bit masks, for its reads and for its writes. Where several bits are set, any of them may have been
/// used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operands {
    pub reads: u8,
    pub writes: u8,
    /// Segment registers that it loads, other than by a far transfer.
    pub loaded: u8,
    /// Far transfers and segment loads read descriptors, and port accesses the task segment, with the processor's own
    /// right and through no segment.
    pub reads_tables: bool,
}

/// A segment register as a mask, by its number in instructions.
fn bit(register: Register) -> u8 {
    if register.is_segment_register() {
        1 << register.number()
    } else {
        0
    }
}

/// Those of the instruction with these `bytes`.
pub fn operands(bytes: &[u8]) -> Operands {
    use Mnemonic::*;
    use OpAccess::{CondRead, CondWrite, Read, ReadCondWrite, ReadWrite, Write};
    let found = parse(bytes);
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(&found);
    let through = |accesses: &[OpAccess]| {
        let used = info.used_memory().iter().filter(|used| accesses.contains(&used.access()));
        used.fold(0, |all, used| all | bit(used.segment()))
    };
    let reads = through(&[Read, CondRead, ReadWrite, ReadCondWrite]);
    let writes = through(&[Write, CondWrite, ReadWrite, ReadCondWrite]);
    let loads = |register: Register| Operands { loaded: bit(register), ..Operands::default() };
    let told = match found.mnemonic() {
        Mov | Pop if found.op0_register().is_segment_register() => loads(found.op0_register()),
        Les => loads(Register::ES),
        Lds => loads(Register::DS),
        Lss => loads(Register::SS),
        Lfs => loads(Register::FS),
        Lgs => loads(Register::GS),
        _ => Operands::default(),
    };
    let far = found.is_jmp_far() || found.is_jmp_far_indirect() || found.is_call_far() || found.is_call_far_indirect();
    let reads_tables = matches!(
        found.mnemonic(),
        Retf | Iret
            | Iretd
            | Int
            | Int3
            | Into
            | Sysenter
            | Sysexit
            | Sldt
            | Str
            | Lldt
            | Ltr
            | Verr
            | Verw
            | Lar
            | Lsl
    ) || matches!(found.mnemonic(), In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd);
    Operands {
        // An emulator may read what an instruction only writes.
        reads: if reads == 0 { writes } else { reads },
        writes: if writes == 0 { reads } else { writes },
        loaded: told.loaded,
        reads_tables: told.loaded != 0 || far || reads_tables,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cobnut_model::ia32::sanitizer::{DS, ES, FS, GS, SS};

    fn bit(register: usize) -> u8 {
        1 << register
    }

    #[test]
    fn addressing_names_the_segment() {
        assert_eq!(operands(&[0x8b, 0x03]).reads, bit(DS));
        assert_eq!(operands(&[0x8b, 0x45, 0x08]).reads, bit(SS), "8(%ebp)");
        assert_eq!(operands(&[0x8b, 0x04, 0x24]).reads, bit(SS), "(%esp)");
        assert_eq!(operands(&[0x8b, 0x04, 0x8b]).reads, bit(DS), "(%ebx,%ecx,4)");
        assert_eq!(operands(&[0x8b, 0x05, 0, 0, 0, 0]).reads, bit(DS), "absolute");
        assert_eq!(operands(&[0x36, 0x8b, 0x03]).reads, bit(SS));
        assert_eq!(operands(&[0x65, 0xa1, 0, 0, 0, 0]).reads, bit(GS));
    }

    #[test]
    fn strings_write_through_es() {
        let moved = operands(&[0xf3, 0x64, 0xa5]);
        assert_eq!((moved.reads, moved.writes), (bit(FS), bit(ES)));
        assert_eq!(operands(&[0xab]).writes, bit(ES));
    }

    #[test]
    fn the_stack_is_reached_through_ss() {
        assert_eq!(operands(&[0x55]).writes, bit(SS));
        let call = operands(&[0xff, 0x13]);
        assert_eq!((call.reads, call.writes), (bit(DS), bit(SS)));
    }

    #[test]
    fn segment_loads() {
        assert_eq!(operands(&[0x8e, 0xda]).loaded, bit(DS));
        assert_eq!(operands(&[0x0f, 0xa9]).loaded, bit(GS));
        assert_eq!(operands(&[0x8c, 0xda]).loaded, 0);
        assert!(operands(&[0xcb]).reads_tables && !operands(&[0xc3]).reads_tables);
    }
}
