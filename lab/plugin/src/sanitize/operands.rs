// SPDX-License-Identifier: GPL-2.0-or-later
//! Through which segment registers an instruction reaches memory, and which it loads.

use cobnut_model::sanitizer::{CS, DS, ES, FS, GS, SS};

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

fn bit(register: usize) -> u8 {
    1 << register
}

pub fn operands(bytes: &[u8]) -> Operands {
    let (mut at, mut given, mut address16) = (0, None, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            0x26 => given = Some(ES),
            0x2e => given = Some(CS),
            0x36 => given = Some(SS),
            0x3e => given = Some(DS),
            0x64 => given = Some(FS),
            0x65 => given = Some(GS),
            0x67 => address16 = true,
            0x66 | 0xf0 | 0xf2 | 0xf3 => {}
            _ => break,
        }
        at += 1;
    }
    let byte = |n: usize| bytes.get(at + n).copied().unwrap_or(0);
    let (opcode, two) = (byte(0), byte(0) == 0x0f);
    let code = if two { byte(1) } else { opcode };
    let (modrm, sib) = if two { (byte(2), byte(3)) } else { (byte(1), byte(2)) };
    let data = bit(given.unwrap_or(DS));
    let stack = bit(SS);
    let modrm_segment = if address16 {
        // 16-bit addressing: BP in it means the stack
        let bp = matches!(modrm & 7, 2 | 3) || modrm & 7 == 6 && modrm >> 6 != 0;
        bit(given.unwrap_or(if bp { SS } else { DS }))
    } else {
        let (mode, low) = (modrm >> 6, modrm & 7);
        let base = if low == 4 { sib & 7 } else { low };
        let is_stack = base == 4 && low == 4 || base == 5 && mode != 0;
        bit(given.unwrap_or(if is_stack { SS } else { DS }))
    };
    let both = |mask: u8| Operands { reads: mask, writes: mask, ..Operands::default() };
    let loads = |mask: u8, register: usize| Operands { loaded: bit(register), reads_tables: true, ..both(mask) };
    let far = |mask: u8| Operands { reads_tables: true, ..both(mask) };
    if two {
        return match code {
            0xa0 | 0xa8 => both(stack),
            0xa1 => loads(stack, FS),
            0xa9 => loads(stack, GS),
            0xb2 => loads(modrm_segment, SS),
            0xb4 => loads(modrm_segment, FS),
            0xb5 => loads(modrm_segment, GS),
            0x34 | 0x35 | 0x00 | 0x02 | 0x03 => far(modrm_segment),
            _ => both(modrm_segment),
        };
    }
    match code {
        0x8e => loads(modrm_segment, (modrm >> 3 & 7) as usize % 6),
        0x07 => loads(stack, ES),
        0x17 => loads(stack, SS),
        0x1f => loads(stack, DS),
        0xc4 => loads(modrm_segment, ES),
        0xc5 => loads(modrm_segment, DS),
        0x06 | 0x0e | 0x16 | 0x1e | 0x50..=0x61 | 0x68 | 0x6a | 0x9c | 0x9d | 0xc2 | 0xc3 | 0xc8 | 0xc9 | 0xe8 => {
            both(stack)
        }
        0x9a | 0xca | 0xcb | 0xcc | 0xcd | 0xce | 0xcf | 0xea => far(stack),
        0x8f => Operands { reads: stack, writes: modrm_segment, ..Operands::default() },
        0xff if matches!(modrm >> 3 & 7, 2 | 6) => {
            Operands { reads: modrm_segment, writes: stack, ..Operands::default() }
        }
        0xff if matches!(modrm >> 3 & 7, 3 | 5) => far(modrm_segment | stack),
        0xa0..=0xa3 | 0xd7 => both(data),
        0xa4 | 0xa5 => Operands { reads: data, writes: bit(ES), ..Operands::default() },
        0xa6 | 0xa7 => both(data | bit(ES)),
        0xaa | 0xab | 0xae | 0xaf => both(bit(ES)),
        0xac | 0xad => both(data),
        0x6c | 0x6d => far(bit(ES)),
        0x6e | 0x6f => far(data),
        0xe4..=0xe7 | 0xec..=0xef => far(0),
        _ => both(modrm_segment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
