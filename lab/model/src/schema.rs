// SPDX-License-Identifier: GPL-2.0-or-later
//! Which parameters a machine file has, and which values make sense: one table, used for parsing, overriding and
//! reporting.

use crate::event::ORDINARY_CLASSES;
use crate::CLASSES;

/// What a parameter's value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A whole number in `min..=max`.
    Integer {
        min: u64,
        max: u64,
    },
    /// A whole number in `1..=max`, or "full" for fully associative.
    Ways,
    /// Cycles, with at most three decimals, in `0..=max`.
    Cycles {
        max: u64,
    },
    Bool,
    Choice(&'static [&'static str]),
}

/// One parameter: section, key, kind.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub section: &'static str,
    pub key: &'static str,
    pub kind: Kind,
}

/// Sections that exclude or need each other: of each group a machine has exactly one of the lists. Apart from them only l2
/// may be left out.
pub(crate) const LAYOUTS: [&[&[&str]]; 2] = [
    &[&["trace_cache", "micro_ops", "l1d"], &["l1i", "l1d"], &["l1"]],
    &[&["itlb", "dtlb"], &["itlb", "dtlb", "dtlb_large"], &["tlb"]],
];
const OPTIONAL_SECTION: &str = "l2";

pub(crate) const TLBS: [&str; 4] = ["tlb", "itlb", "dtlb", "dtlb_large"];
pub(crate) const CACHES: [&str; 4] = ["l1i", "l1d", "l1", "l2"];

const REPLACEMENT: Kind = Kind::Choice(&["lru", "pseudo-lru", "random"]);
const ENTRIES: Kind = Kind::Integer { min: 1, max: 1 << 16 };
const BYTES: Kind = Kind::Integer { min: 64, max: 1 << 28 };
const LINE: Kind = Kind::Integer { min: 8, max: 4096 };
const CYCLES: Kind = Kind::Cycles { max: 1_000_000 };

const TLB: [(&str, Kind); 8] = [
    ("entries", ENTRIES),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("pages", Kind::Choice(&["4k", "4m", "4k+4m"])),
    ("global_bit", Kind::Bool),
    ("refill_cycles", CYCLES),
    ("miss_cycles", CYCLES),
    ("random_seed", Kind::Integer { min: 0, max: u32::MAX as u64 }),
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

const SINGLE: [(&str, &str, Kind); 30] = [
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
    ("trace_cache", "rebuild_cycles", CYCLES),
    ("trace_cache", "flushed_by_cr3", Kind::Bool),
    ("l2", "hit_cycles", CYCLES),
    ("memory", "read_cycles", CYCLES),
    ("memory", "write_back_cycles", CYCLES),
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
];

/// Two ways to state one cost, of the whole or of one part: a section has exactly one of the lists.
const REFILL: [&[&str]; 2] = [&["refill_cycles"], &["miss_cycles"]];
pub(crate) const ALTERNATIVES: [(&str, [&[&str]; 2]); 5] = [
    ("tlb", REFILL),
    ("itlb", REFILL),
    ("dtlb", REFILL),
    ("dtlb_large", REFILL),
    ("segments", [&["reload_cycles", "loads"], &["load_cycles"]]),
];

/// Parameters that may be left out of a section that is there.
const OPTIONAL_KEYS: [&str; 6] =
    ["random_seed", "far_return_cycles", "far_jump_cycles", "sysenter_sysexit_cycles", "iret_cycles", "branch_taken"];

/// Whether a machine may lack a whole section.
pub(crate) fn optional_section(section: &str) -> bool {
    section == OPTIONAL_SECTION || LAYOUTS.iter().any(|lists| lists.iter().any(|list| list.contains(&section)))
}

/// Whether a parameter may be left out of a section that is there.
pub(crate) fn optional_key(section: &str, key: &str) -> bool {
    let alternative = |(s, lists): &(&str, [&[&str]; 2])| *s == section && lists.iter().any(|l| l.contains(&key));
    OPTIONAL_KEYS.contains(&key) || ALTERNATIVES.iter().any(alternative)
}

/// Every parameter of every section.
pub(crate) fn all() -> Vec<Spec> {
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
