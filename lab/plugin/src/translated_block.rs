// SPDX-License-Identifier: GPL-2.0-or-later
//! What is known of one QEMU translation block.
//!
//! QEMU keys a block by physical page, code segment base and processor flags (which hold the privilege level), not by
//! linear address. So privilege, code base and frame are constants of a block, learned when it is first executed: then
//! the linear address that QEMU reported at translation still is the true one, and `linear - eip` is the code base.
//! This saves shadowing descriptors, and is right also for the code segment that sysenter loads without a descriptor.

use crate::decode::{Decoded, Special};
use cobnut_model::Instruction;
use cobnut_trace::Run;

/// Part of a block that is accounted for at once: the block is cut before every marker.
pub struct Segment {
    /// Bytes from the start of the translation block.
    pub offset: u32,
    pub starts_with_marker: bool,
    /// Its mode is learned with the block.
    pub run: Run,
}

/// What the first execution showed.
#[derive(Clone, Copy)]
pub struct Learned {
    pub code_base: u32,
    pub privilege: u8,
}

pub struct TranslatedBlock {
    /// Linear address that QEMU gave at translation.
    pub reported: u32,
    pub bytes: u32,
    pub segments: Vec<Segment>,
    pub last: Decoded,
    /// Offset of the last instruction.
    pub last_offset: u32,
    pub first_repeated: bool,
    pub learned: Option<Learned>,
    /// Where it was last executed.
    pub linear: u32,
}

/// A linear address that no block starts at.
pub const NOWHERE: u32 = u32::MAX;

impl TranslatedBlock {
    /// From the instructions with their lengths; never empty. `prepare` makes runs of the instructions that stand at a
    /// linear address.
    pub fn new(reported: u32, decoded: &[(Decoded, u8)], prepare: impl Fn(u32, Vec<Instruction>) -> Run) -> Self {
        let segment = |offset: u32, starts_with_marker, instructions| {
            let run = prepare(reported.wrapping_add(offset), instructions);
            Segment { offset, starts_with_marker, run }
        };
        let mut segments = Vec::new();
        let mut open: Vec<Instruction> = Vec::new();
        let (mut start, mut at, mut marker) = (0, 0, false);
        for &(instruction, length) in decoded {
            if instruction.special == Special::Marker {
                if at > 0 {
                    segments.push(segment(start, marker, std::mem::take(&mut open)));
                }
                (start, marker) = (at, true);
            }
            open.push(Instruction { length, class: instruction.class, issue: instruction.issue });
            at += length as u32;
        }
        segments.push(segment(start, marker, open));
        let (last, last_length) = decoded[decoded.len() - 1];
        TranslatedBlock {
            reported,
            bytes: at,
            segments,
            last,
            last_offset: at - last_length as u32,
            first_repeated: decoded[0].0.repeated,
            learned: None,
            linear: NOWHERE,
        }
    }

    /// Where direct control flow can go from here: past the end, or to the target of a jump.
    pub fn successors(&self, linear: u32) -> (u32, u32) {
        let end = linear.wrapping_add(self.bytes);
        let fall = if self.last.falls_through { end } else { NOWHERE };
        (fall, self.last.jump.map_or(fall, |distance| end.wrapping_add(distance as u32)))
    }
}
