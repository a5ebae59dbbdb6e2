// SPDX-License-Identifier: GPL-2.0-or-later
//! Which parameters the machine file of an ARM machine has.

use super::CLASSES;
use crate::core::schema::{Kind, Layout, Schema, Spec, BYTES, CYCLES, ENTRIES, LINE, REPLACEMENT, SEED};

pub(crate) fn schema() -> Schema {
    Schema {
        specs: all(),
        layouts: &LAYOUTS,
        alternatives: &[],
        optional_keys: &["random_seed", "zeros_at", "zeros_line_read_cycles"],
        optional_sections: &[],
    }
}

const LAYOUTS: [Layout; 1] = [&[&["itlb", "dtlb"], &["tlb"]]];

const TLB: [(&str, Kind); 6] = [
    ("entries", ENTRIES),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("miss_cycles", CYCLES),
    ("section_miss_cycles", CYCLES),
    ("random_seed", SEED),
];

const CACHE: [(&str, Kind); 5] = [
    ("size_bytes", BYTES),
    ("line_bytes", LINE),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("random_seed", SEED),
];

const SINGLE: [(&str, &str, Kind); 15] = [
    ("processor", "clock_mhz", Kind::Integer { min: 1, max: 10_000 }),
    ("processor", "emulated_as", Kind::Choice(&["collie", "versatilepb"])),
    ("write_buffer", "entries", Kind::Integer { min: 1, max: 64 }),
    ("write_buffer", "entry_bytes", Kind::Integer { min: 4, max: 64 }),
    ("write_buffer", "write_cycles", CYCLES),
    ("memory", "line_read_cycles", CYCLES),
    ("memory", "line_write_cycles", CYCLES),
    ("memory", "word_read_cycles", CYCLES),
    ("memory", "zeros_at", Kind::Integer { min: 0, max: u32::MAX as u64 }),
    ("memory", "zeros_line_read_cycles", CYCLES),
    ("coprocessor", "register_cycles", CYCLES),
    ("coprocessor", "operation_cycles", CYCLES),
    ("coprocessor", "test_cycles", CYCLES),
    ("entry", "exception_cycles", CYCLES),
    ("l1d", "write_allocate", Kind::Bool),
];

/// Every parameter of every section of an ARM machine.
fn all() -> Vec<Spec> {
    let spec = |section, (key, kind)| Spec { section, key, kind };
    let mut specs: Vec<Spec> = SINGLE.iter().map(|&(section, key, kind)| spec(section, (key, kind))).collect();
    specs.extend(["tlb", "itlb", "dtlb"].iter().flat_map(|section| TLB.map(|key| spec(section, key))));
    specs.extend(["l1i", "l1d"].iter().flat_map(|section| CACHE.map(|key| spec(section, key))));
    let more = ["branch_taken", "word", "late_use", "late_narrow_use"];
    let keys = CLASSES.iter().map(|&(_, name)| name).chain(more);
    specs.extend(keys.map(|key| spec("instructions", (key, CYCLES))));
    specs
}
