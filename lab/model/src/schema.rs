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

/// Sections that a machine may lack. Exactly one of the first two must be there.
pub(crate) const OPTIONAL_SECTIONS: [&str; 4] = ["trace_cache", "l1i", "l2", "micro_ops"];

const REPLACEMENT: Kind = Kind::Choice(&["lru", "pseudo-lru", "random"]);
const ENTRIES: Kind = Kind::Integer { min: 1, max: 1 << 16 };
const BYTES: Kind = Kind::Integer { min: 64, max: 1 << 28 };
const LINE: Kind = Kind::Integer { min: 8, max: 4096 };
const CYCLES: Kind = Kind::Cycles { max: 1_000_000 };

const TLB: [(&str, Kind); 7] = [
    ("entries", ENTRIES),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("pages", Kind::Choice(&["4k", "4k+4m"])),
    ("global_bit", Kind::Bool),
    ("refill_cycles", CYCLES),
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

const SINGLE: [(&str, &str, Kind); 22] = [
    ("processor", "clock_mhz", Kind::Integer { min: 1, max: 10_000 }),
    ("itlb", "lookup", Kind::Choice(&["trace-build", "fetch"])),
    ("walker", "reads_through", Kind::Choice(&["l2", "l1d", "constant"])),
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
    ("address_space", "cr3_cycles", CYCLES),
    ("address_space", "invlpg_cycles", CYCLES),
    ("entry", "sysenter_sysexit_cycles", CYCLES),
    ("entry", "int_iret_cycles", CYCLES),
    ("entry", "fault_cycles", CYCLES),
    ("entry", "interrupt_cycles", CYCLES),
];

/// Parameters that may be left out of a section that is there.
pub(crate) const OPTIONAL_KEYS: [&str; 1] = ["random_seed"];

/// Every parameter of every section.
pub(crate) fn all() -> Vec<Spec> {
    let mut specs: Vec<Spec> = Vec::new();
    for &(section, key, kind) in &SINGLE {
        specs.push(Spec { section, key, kind });
    }
    for section in ["itlb", "dtlb"] {
        specs.extend(TLB.iter().map(|&(key, kind)| Spec { section, key, kind }));
    }
    for section in ["l1i", "l1d", "l2"] {
        specs.extend(CACHE.iter().map(|&(key, kind)| Spec { section, key, kind }));
    }
    for &(_, key) in &CLASSES[..ORDINARY_CLASSES] {
        specs.push(Spec { section: "instructions", key, kind: Kind::Cycles { max: 10_000 } });
    }
    for &(_, key) in &CLASSES {
        specs.push(Spec { section: "micro_ops", key, kind: Kind::Integer { min: 1, max: 64 } });
    }
    specs
}
