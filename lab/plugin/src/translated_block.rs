// SPDX-License-Identifier: GPL-2.0-or-later
//! What is known of one QEMU translation block.
//!
//! QEMU keys a block by physical page, code segment base and processor flags (which hold the privilege level), not by
//! linear address. So privilege, code base and frame are constants of a block, learned when it is first executed: then
//! the linear address that QEMU reported at translation still is the true one, and `linear - eip` is the code base. This
//! saves shadowing descriptors, and is right also for the code segment that sysenter loads without a descriptor.

use crate::code_ranges::{CodeRanges, Share};
use crate::counters;
use crate::decode::{Decoded, Special};
use cobnut_model::{Block, Costs, Instruction};

/// Whom an instruction is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Mode {
    Kernel = counters::INSTRUCTIONS_KERNEL,
    Stub = counters::INSTRUCTIONS_STUB,
    Trampoline = counters::INSTRUCTIONS_TRAMPOLINE,
    User = counters::INSTRUCTIONS_USER,
}

/// Part of a block that is accounted for at once: the block is cut before every marker.
pub struct Segment {
    /// Bytes from the start of the translation block.
    pub offset: u32,
    pub starts_with_marker: bool,
    pub block: Block,
    /// Counter and increment, besides the instructions themselves.
    pub counts: Vec<(usize, u64)>,
    /// What of it lies in parts of the code that are counted by themselves.
    pub shares: Vec<Share>,
}

impl Segment {
    fn new(
        offset: u32,
        starts_with_marker: bool,
        instructions: Vec<Instruction>,
        costs: &Costs,
        shares: Vec<Share>,
    ) -> Self {
        let mut counts: Vec<(usize, u64)> = Vec::new();
        for &counter in instructions.iter().flat_map(|i| counters::raised_by(i.class)) {
            match counts.iter_mut().find(|(c, _)| *c == counter) {
                Some((_, n)) => *n += 1,
                None => counts.push((counter, 1)),
            }
        }
        Segment { offset, starts_with_marker, block: Block::new(instructions, costs), counts, shares }
    }
}

/// What the first execution showed.
#[derive(Clone, Copy)]
pub struct Learned {
    pub code_base: u32,
    pub privilege: u8,
    pub mode: Mode,
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
    /// From the instructions with their lengths; never empty.
    pub fn new(reported: u32, decoded: &[(Decoded, u8)], costs: &Costs, ranges: &CodeRanges) -> Self {
        let segment = |start: u32, marker: bool, instructions: Vec<Instruction>| {
            let shares = ranges.shares(reported.wrapping_add(start), &instructions, costs);
            Segment::new(start, marker, instructions, costs, shares)
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
            open.push(Instruction { length, class: instruction.class });
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
