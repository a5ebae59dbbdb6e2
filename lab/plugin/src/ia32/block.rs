// SPDX-License-Identifier: GPL-2.0-or-later
//! What is known of one QEMU translation block.
//!
//! QEMU keys a block by physical page, code segment base and processor flags (which hold the privilege level), not by
//! linear address. So privilege, code base and frame are constants of a block, learned when it is first executed: then
//! the linear address that QEMU reported at translation still is the true one, and `linear - eip` is the code base.
//! This saves shadowing descriptors, and is right also for the code segment that sysenter loads without a descriptor.

use super::decode::Decoded;
use super::Instruction;
use cobnut_model::Linear;

/// What is told before the instruction that has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// What the guest says with a marker.
    Said,
    /// That the instruction is reached.
    Place,
    /// That it makes a system call.
    Call,
}

/// Part of a block that is told at once.
pub struct Segment<P> {
    /// Bytes from the start of the block.
    pub offset: u32,
    /// It begins with a marker, or with what may be a place of a region, which is told before.
    pub marked: Option<Mark>,
    /// The lengths of its instructions.
    pub lengths: Vec<u8>,
    pub prepared: P,
}

/// What the first execution showed.
#[derive(Clone, Copy)]
pub struct Learned {
    pub code_base: Linear,
    pub privilege: u8,
    /// The page is the way back from sysexit.
    pub trampoline: bool,
    /// The number of the program that it is code of.
    pub program: Option<usize>,
}

pub struct Block<P> {
    /// Linear address that QEMU gave at translation.
    pub reported: Linear,
    pub bytes: u32,
    pub segments: Vec<Segment<P>>,
    pub last: Decoded,
    /// Offset of the last instruction.
    pub last_offset: u32,
    pub first_repeated: bool,
    pub learned: Option<Learned>,
    /// Its bytes, until that is known, if it may be a program's.
    pub text: Vec<u8>,
    /// Where it was last executed.
    pub linear: Linear,
}

/// A linear address that no block starts at.
pub const NOWHERE: Linear = Linear(u32::MAX);

impl<P> Block<P> {
    /// From the instructions; never empty. A segment begins with each that has one of the `marks`. `prepare` prepares
    /// instructions that stand at a linear address.
    pub fn new(
        reported: Linear,
        instructions: &[Instruction],
        marks: &[Option<Mark>],
        prepare: impl Fn(Linear, &[Instruction]) -> P,
    ) -> Self {
        let (mut segments, mut at, mut first) = (Vec::new(), 0, 0);
        while first < instructions.len() {
            let behind = &marks[first + 1..];
            let end = first + 1 + behind.iter().position(Option::is_some).unwrap_or(behind.len());
            let part = &instructions[first..end];
            let lengths: Vec<u8> = part.iter().map(|one| one.length).collect();
            let prepared = prepare(reported.plus(at), part);
            let bytes: u32 = lengths.iter().map(|&length| length as u32).sum();
            segments.push(Segment { offset: at, marked: marks[first], lengths, prepared });
            (first, at) = (end, at + bytes);
        }
        let last = &instructions[instructions.len() - 1];
        Block {
            reported,
            bytes: at,
            segments,
            last: last.decoded,
            last_offset: at - last.length as u32,
            first_repeated: instructions[0].decoded.repeated,
            learned: None,
            text: Vec::new(),
            linear: NOWHERE,
        }
    }

    /// Where direct control flow can go from here: past the end, or to the target of a jump.
    pub fn successors(&self, linear: Linear) -> (Linear, Linear) {
        let end = linear.plus(self.bytes);
        let fall = if self.last.falls_through { end } else { NOWHERE };
        (fall, self.last.jump.map_or(fall, |distance| end.plus(distance as u32)))
    }
}
