// SPDX-License-Identifier: GPL-2.0-or-later
//! What is counted besides the machine model, with the names that reports use.

use cobnut_model::{Class, EntryKind};

const INSTRUCTIONS_KERNEL: usize = 0;
const INSTRUCTIONS_STUB: usize = 1;
const INSTRUCTIONS_TRAMPOLINE: usize = 2;
const INSTRUCTIONS_USER: usize = 3;
const CR3_WRITES: usize = 4;
const SEGMENT_LOADS: usize = 5;
const FAR_RETURNS: usize = 6;
pub const ENTRIES_SYSENTER: usize = 7;
const ENTRIES_INT: usize = 8;
pub const ENTRIES_FAULT: usize = 9;
pub const ENTRIES_IRQ: usize = 10;
const EXITS_SYSEXIT: usize = 11;
const EXITS_IRET: usize = 12;
const INVLPG: usize = 13;

pub const NAMES: [&str; 14] = [
    "instructions_kernel",
    "instructions_stub",
    "instructions_trampoline",
    "instructions_user",
    "cr3_writes",
    "segment_loads",
    "far_returns",
    "entries_sysenter",
    "entries_int",
    "entries_fault",
    "entries_irq",
    "exits_sysexit",
    "exits_iret",
    "invlpg",
];

pub type Counters = [u64; NAMES.len()];

/// Adds to `counters` what was counted between `from` and `to` so many `times`.
pub fn advance(counters: &mut Counters, from: &Counters, to: &Counters, times: u64) {
    let spans = from.iter().zip(to);
    counters.iter_mut().zip(spans).for_each(|(counter, (from, to))| *counter += (to - from) * times);
}

/// Whom an instruction is counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Mode {
    Kernel = INSTRUCTIONS_KERNEL,
    Stub = INSTRUCTIONS_STUB,
    Trampoline = INSTRUCTIONS_TRAMPOLINE,
    User = INSTRUCTIONS_USER,
}

impl Mode {
    /// The mode that `mode as u8` was.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Mode::Kernel, Mode::Stub, Mode::Trampoline, Mode::User].into_iter().find(|&mode| mode as u8 == code)
    }
}

/// The counter of entries without an instruction that asks for them.
pub fn of_entry(kind: EntryKind) -> usize {
    match kind {
        EntryKind::Fault => ENTRIES_FAULT,
        EntryKind::Interrupt => ENTRIES_IRQ,
    }
}

/// The counters that an instruction of this class raises besides its own mode's.
pub fn raised_by(class: Class) -> &'static [usize] {
    match class {
        Class::SegmentLoad | Class::FarJump => &[SEGMENT_LOADS],
        Class::FarReturn => &[SEGMENT_LOADS, FAR_RETURNS],
        Class::Cr3Write => &[CR3_WRITES],
        Class::Sysenter => &[ENTRIES_SYSENTER],
        Class::Sysexit => &[EXITS_SYSEXIT],
        Class::Int => &[ENTRIES_INT],
        Class::Iret => &[EXITS_IRET],
        Class::Invlpg => &[INVLPG],
        _ => &[],
    }
}
