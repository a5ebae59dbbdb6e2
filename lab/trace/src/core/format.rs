// SPDX-License-Identifier: GPL-2.0-or-later
//! How events are encoded. docs/trace.md describes a record to the byte.
//!
//! The first byte of an event says what it is: `01000nnn` a stretch that comes again, anything below 40 hexadecimal one
//! of the rest. Within the definition of a stretch, it is `1wsssnnn` a data access, `01l00nnn` a run, or
//! [`RETRACT_FIRST`]. `nnn` is a number of bytes that follow.

/// `01000nnn`: bytes of the stretch's number.
pub const STRETCH: u8 = 0x40;
/// `1wsssnnn`: write, binary logarithm of the size, bytes of the distance from the address of the stretch's data access
/// before, or from 0.
pub const DATA: u8 = 0x80;
pub const DATA_WRITE: u8 = 0x40;
pub const DATA_SIZE_SHIFT: u8 = 3;
/// `01l00nnn`: whether a linear address of 4 bytes comes first, bytes of the run's number. Without an address it is
/// where that run was defined.
pub const RUN: u8 = 0x40;
pub const RUN_LINEAR: u8 = 0x20;
/// Bits of `nnn`.
pub const BYTES: u8 = 7;
/// Directly after a run: its first instruction was not executed. That is what QEMU does at each repetition of a string
/// instruction. Nothing else starts so, within a definition or behind it.
pub const RETRACT_FIRST: u8 = 0x20;

/// The events that have a whole byte to themselves. What follows each is in `recorder.rs` and docs/trace.md.
pub mod tag {
    pub const DEFINE: u8 = 0;
    pub const RETRACT: u8 = 1;
    pub const UNMAPPED: u8 = 2;
    pub const MAPPED: u8 = 3;
    pub const CR3_WRITE: u8 = 4;
    pub const CONTROL_WRITE: u8 = 5;
    pub const INVLPG: u8 = 6;
    pub const PAGE_FAULT: u8 = 7;
    pub const FAULT: u8 = 8;
    pub const INTERRUPT: u8 = 9;
    pub const USER_CODE: u8 = 10;
    pub const BEGIN: u8 = 11;
    pub const ITERATION: u8 = 12;
    pub const END: u8 = 13;
    pub const MARKER: u8 = 14;
    pub const WARNING: u8 = 15;
    pub const DEFINE_STRETCH: u8 = 16;
    pub const OPERATION: u8 = 17;
    pub const EXCEPTION: u8 = 18;
    pub const LIMIT_FAULT: u8 = 19;
    pub const PAUSE: u8 = 20;
    pub const DROP: u8 = 21;
    pub const PROCESS: u8 = 22;
}

pub const MAPPED_LARGE: u8 = 1;
pub const MAPPED_GLOBAL: u8 = 2;

/// Whether an event that starts so is a stretch that comes again.
#[inline]
pub fn is_stretch(first: u8) -> bool {
    first & !BYTES == STRETCH
}

/// Whether an event with this tag says something that holds from then on, so that saying it again is another thing.
#[inline]
pub fn is_lasting(first: u8) -> bool {
    matches!(
        first,
        tag::DEFINE
            | tag::DEFINE_STRETCH
            | tag::UNMAPPED
            | tag::MAPPED
            | tag::BEGIN
            | tag::END
            | tag::PAUSE
            | tag::DROP
            | tag::MARKER
            | tag::WARNING
            | tag::PROCESS
    )
}

/// An instruction set's longest instruction.
pub const LONGEST_INSTRUCTION: u8 = 15;
/// Instructions in one run, at most.
pub const LONGEST_RUN: usize = 4096;
/// Bytes in one data access, at most, as a binary logarithm.
pub const LARGEST_ACCESS: u8 = 5;

/// Bytes that `value` needs, 0 for 0.
#[inline]
pub fn bytes_of(value: u32) -> usize {
    4 - value.leading_zeros() as usize / 8
}

/// A signed distance as a number that is small where the distance is: 0, -1, 1, -2, ...
#[inline]
pub fn zigzag(distance: u32) -> u32 {
    distance << 1 ^ (distance as i32 >> 31) as u32
}

#[inline]
pub fn unzigzag(value: u32) -> u32 {
    value >> 1 ^ (value & 1).wrapping_neg()
}
