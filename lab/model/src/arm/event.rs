// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens in an ARM guest besides instructions and data accesses.

use super::Operation;
use crate::Space;

/// Why the processor entered an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exception {
    /// A prefetch abort that is a system call.
    Call,
    Undefined,
    SoftwareInterrupt,
    Prefetch,
    Data,
    Interrupt,
}

/// Every exception, in the order of their numbers in a record.
pub const EXCEPTIONS: [Exception; 6] = [
    Exception::Call,
    Exception::Undefined,
    Exception::SoftwareInterrupt,
    Exception::Prefetch,
    Exception::Data,
    Exception::Interrupt,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A coprocessor operation with its register's value, by the instruction at `at`. From then on `space` runs.
    Operation {
        operation: Operation,
        operand: u32,
        at: u32,
        space: Space,
    },
    Exception(Exception),
}
