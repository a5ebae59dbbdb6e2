// SPDX-License-Identifier: GPL-2.0-or-later
//! What is counted besides the machine model, with the names that reports use.

use cobnut_model::arm::{Exception, Operation};

const INSTRUCTIONS_KERNEL: usize = 0;
const INSTRUCTIONS_STUB: usize = 1;
const INSTRUCTIONS_USER: usize = 2;
const ENTRIES_CALL: usize = 3;
const ENTRIES_PREFETCH: usize = 4;
const ENTRIES_DATA: usize = 5;
const ENTRIES_UNDEFINED: usize = 6;
const ENTRIES_SWI: usize = 7;
const ENTRIES_IRQ: usize = 8;
const TABLE_BASE_WRITES: usize = 9;
const DOMAIN_WRITES: usize = 10;
const PID_WRITES: usize = 11;
const TLB_FLUSHES: usize = 12;
const TLB_ENTRY_FLUSHES: usize = 13;
const DCACHE_FLUSHES: usize = 14;
const ICACHE_FLUSHES: usize = 15;
const LINE_OPERATIONS: usize = 16;
const DRAINS: usize = 17;

pub const NAMES: [&str; 18] = [
    "instructions_kernel",
    "instructions_stub",
    "instructions_user",
    "entries_call",
    "entries_prefetch",
    "entries_data",
    "entries_undefined",
    "entries_swi",
    "entries_irq",
    "table_base_writes",
    "domain_writes",
    "pid_writes",
    "tlb_flushes",
    "tlb_entry_flushes",
    "dcache_flushes",
    "icache_flushes",
    "line_operations",
    "drains",
];

/// The counters of instructions, by mode: there is no trampoline.
pub const INSTRUCTIONS: [usize; 4] = [INSTRUCTIONS_KERNEL, INSTRUCTIONS_STUB, INSTRUCTIONS_USER, INSTRUCTIONS_USER];

/// The counter of entries into the kernel.
pub fn of_exception(exception: Exception) -> &'static [usize] {
    match exception {
        Exception::Call => &[ENTRIES_CALL],
        Exception::Prefetch => &[ENTRIES_PREFETCH],
        Exception::Data => &[ENTRIES_DATA],
        Exception::Undefined => &[ENTRIES_UNDEFINED],
        Exception::SoftwareInterrupt => &[ENTRIES_SWI],
        Exception::Interrupt => &[ENTRIES_IRQ],
    }
}

/// The counters that a coprocessor operation raises.
pub fn of_operation(operation: Operation) -> &'static [usize] {
    use cobnut_model::arm::Side;
    use Operation::*;
    match operation {
        TableBase => &[TABLE_BASE_WRITES],
        DomainAccess => &[DOMAIN_WRITES],
        ProcessId => &[PID_WRITES],
        InvalidateTlb(_) => &[TLB_FLUSHES],
        InvalidateTlbEntry(_) => &[TLB_ENTRY_FLUSHES],
        InvalidateCache(Side::Code) => &[ICACHE_FLUSHES],
        InvalidateCache(Side::Data) => &[DCACHE_FLUSHES],
        InvalidateCache(Side::Both) => &[ICACHE_FLUSHES, DCACHE_FLUSHES],
        InvalidateLine(_) | CleanLine | CleanInvalidateLine => &[LINE_OPERATIONS],
        InvalidateSlot | CleanSlot | CleanInvalidateSlot => &[LINE_OPERATIONS],
        DrainWriteBuffer => &[DRAINS],
        Control | TestClean | TestCleanInvalidate | Wait | Other => &[],
    }
}
