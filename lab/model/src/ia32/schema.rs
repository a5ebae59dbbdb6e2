// SPDX-License-Identifier: GPL-2.0-or-later
//! Which parameters the machine file of an IA-32 machine has.

use super::event::ORDINARY_CLASSES;
use super::CLASSES;
use crate::core::schema::{Kind, Layout, Schema, Spec, BYTES, CACHES, CYCLES, ENTRIES, LINE, REPLACEMENT, SEED, TLBS};

pub(crate) fn schema() -> Schema {
    Schema {
        specs: all(),
        layouts: &LAYOUTS,
        alternatives: &ALTERNATIVES,
        optional_keys: &OPTIONAL_KEYS,
        optional_sections: &OPTIONAL_SECTIONS,
    }
}

/// Sections that exclude or need each other: of each group a machine has exactly one of the lists. Apart from them only
/// these may be left out.
const LAYOUTS: [Layout; 2] = [
    &[&["trace_cache", "micro_ops", "l1d"], &["l1i", "l1d"], &["l1"]],
    &[&["itlb", "dtlb"], &["itlb", "dtlb", "dtlb_large"], &["tlb"]],
];
const OPTIONAL_SECTIONS: [&str; 4] = ["l2", "branch_prediction", "trace_prediction", "store_forwarding"];

const TLB: [(&str, Kind); 8] = [
    ("entries", ENTRIES),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("pages", Kind::Choice(&["4k", "4m", "4k+4m"])),
    ("global_bit", Kind::Bool),
    ("refill_cycles", CYCLES),
    ("miss_cycles", CYCLES),
    ("random_seed", SEED),
];

const CACHE: [(&str, Kind); 8] = [
    ("size_bytes", BYTES),
    ("line_bytes", LINE),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("tagged", Kind::Choice(&["physical", "virtual"])),
    ("write_policy", Kind::Choice(&["write-back", "write-through"])),
    ("write_allocate", Kind::Bool),
    ("lines_per_fill", Kind::Integer { min: 1, max: 8 }),
];

const SINGLE: [(&str, &str, Kind); 45] = [
    ("processor", "clock_mhz", Kind::Integer { min: 1, max: 10_000 }),
    ("processor", "emulated_as", Kind::Choice(&["486", "pentium", "pentium2", "pentium3"])),
    ("pipeline", "pairing", Kind::Choice(&["none", "pentium"])),
    ("pipeline", "address_stall_cycles", CYCLES),
    ("pipeline", "prefix_cycles", CYCLES),
    ("itlb", "lookup", Kind::Choice(&["trace-build", "fetch"])),
    ("walker", "reads_through", Kind::Choice(&["l2", "l1", "constant"])),
    ("trace_cache", "lines", ENTRIES),
    ("trace_cache", "associativity", Kind::Ways),
    ("trace_cache", "replacement", REPLACEMENT),
    ("trace_cache", "uops_per_line", Kind::Integer { min: 1, max: 64 }),
    ("trace_cache", "taken_branches", Kind::Integer { min: 0, max: 63 }),
    ("trace_cache", "index_shift", Kind::Integer { min: 0, max: 12 }),
    ("trace_cache", "uops_per_cycle", Kind::Integer { min: 1, max: 64 }),
    ("trace_cache", "decode_cycles", CYCLES),
    ("trace_cache", "flushed_by_cr3", Kind::Bool),
    ("branch_prediction", "entries", ENTRIES),
    ("branch_prediction", "associativity", Kind::Ways),
    ("branch_prediction", "replacement", REPLACEMENT),
    ("branch_prediction", "unknown", Kind::Choice(&["not-taken", "backward-taken"])),
    ("branch_prediction", "return_stack", Kind::Integer { min: 0, max: 64 }),
    ("branch_prediction", "mispredicted_cycles", CYCLES),
    ("branch_prediction", "mispredicted_paired_cycles", CYCLES),
    ("trace_prediction", "entries", ENTRIES),
    ("trace_prediction", "associativity", Kind::Ways),
    ("trace_prediction", "replacement", REPLACEMENT),
    ("store_forwarding", "stores", Kind::Integer { min: 1, max: 64 }),
    ("store_forwarding", "blocked_cycles", CYCLES),
    ("l2", "hit_cycles", CYCLES),
    ("memory", "read_cycles", CYCLES),
    ("memory", "write_back_cycles", CYCLES),
    ("memory", "store_cycles", CYCLES),
    ("segments", "reload_cycles", CYCLES),
    ("segments", "loads", Kind::Integer { min: 1, max: 6 }),
    ("segments", "load_cycles", CYCLES),
    ("segments", "far_return_cycles", CYCLES),
    ("segments", "far_jump_cycles", CYCLES),
    ("address_space", "cr3_cycles", CYCLES),
    ("address_space", "invlpg_cycles", CYCLES),
    ("entry", "sysenter_sysexit_cycles", CYCLES),
    ("entry", "int_iret_cycles", CYCLES),
    ("entry", "iret_cycles", CYCLES),
    ("entry", "fault_cycles", CYCLES),
    ("entry", "interrupt_cycles", CYCLES),
    ("entry", "limit_fault_path_cycles", CYCLES),
];

/// Two ways to state one cost, of the whole or of one part: a section has exactly one of the lists.
const REFILL: [&[&str]; 2] = [&["refill_cycles"], &["miss_cycles"]];
const ALTERNATIVES: [(&str, [&[&str]; 2]); 5] = [
    ("tlb", REFILL),
    ("itlb", REFILL),
    ("dtlb", REFILL),
    ("dtlb_large", REFILL),
    ("segments", [&["reload_cycles", "loads"], &["load_cycles"]]),
];

/// Parameters that may be left out of a section that is there.
const OPTIONAL_KEYS: [&str; 9] = [
    "random_seed",
    "far_return_cycles",
    "far_jump_cycles",
    "sysenter_sysexit_cycles",
    "iret_cycles",
    "branch_taken",
    "mispredicted_paired_cycles",
    "limit_fault_path_cycles",
    "store_cycles",
];

/// Every parameter of every section of an IA-32 machine.
fn all() -> Vec<Spec> {
    let mut specs: Vec<Spec> = Vec::new();
    for &(section, key, kind) in &SINGLE {
        specs.push(Spec { section, key, kind });
    }
    for section in TLBS {
        specs.extend(TLB.iter().map(|&(key, kind)| Spec { section, key, kind }));
    }
    for section in CACHES {
        let written = |key: &str| key.starts_with("write");
        let keys = CACHE.iter().filter(|(key, _)| section != "l1i" || !written(key));
        specs.extend(keys.map(|&(key, kind)| Spec { section, key, kind }));
    }
    for &(_, key) in &CLASSES[..ORDINARY_CLASSES] {
        specs.push(Spec { section: "instructions", key, kind: Kind::Cycles { max: 10_000 } });
    }
    specs.push(Spec { section: "instructions", key: "branch_taken", kind: Kind::Cycles { max: 10_000 } });
    for &(_, key) in &CLASSES {
        specs.push(Spec { section: "micro_ops", key, kind: Kind::Integer { min: 1, max: 64 } });
    }
    specs
}
