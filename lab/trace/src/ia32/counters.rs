// SPDX-License-Identifier: GPL-2.0-or-later
//! What is counted besides the machine model, with the names that reports use.

use cobnut_model::ia32::Class;

// The first four are the instructions of each `Mode`.
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
pub const LIMIT_FAULTS: usize = 14;

pub const NAMES: [&str; 15] = [
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
    "limit_faults",
];

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
