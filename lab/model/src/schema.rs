// SPDX-License-Identifier: GPL-2.0-or-later
//! Which parameters a machine file has, and which values make sense: one table, used for parsing, overriding and
//! reporting.

use crate::arm::CLASSES as ARM_CLASSES;
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

/// Which processors a machine file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    Ia32,
    Arm,
}

impl Architecture {
    pub fn name(self) -> &'static str {
        match self {
            Architecture::Ia32 => "ia32",
            Architecture::Arm => "arm",
        }
    }

    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let known = [Architecture::Ia32, Architecture::Arm].into_iter().find(|known| known.name() == name);
        known.ok_or(format!("architecture: {name} is not one of ia32, arm"))
    }
}

/// Everything that a file may and has to say.
pub(crate) struct Schema {
    pub specs: Vec<Spec>,
    pub layouts: &'static [Layout],
    pub alternatives: &'static [(&'static str, [&'static [&'static str]; 2])],
    optional_keys: &'static [&'static str],
    optional_section: Option<&'static str>,
}

/// Sections of which a machine has exactly one list.
pub(crate) type Layout = &'static [&'static [&'static str]];

impl Schema {
    /// Whether a machine may lack a whole section.
    pub fn optional_section(&self, section: &str) -> bool {
        let chosen = self.layouts.iter().any(|lists| lists.iter().any(|list| list.contains(&section)));
        self.optional_section == Some(section) || chosen
    }

    /// Whether a parameter may be left out of a section that is there.
    pub fn optional_key(&self, section: &str, key: &str) -> bool {
        let alternative = |(s, lists): &(&str, [&[&str]; 2])| *s == section && lists.iter().any(|l| l.contains(&key));
        self.optional_keys.contains(&key) || self.alternatives.iter().any(alternative)
    }
}

/// The schema of machine files of this architecture.
pub(crate) fn of(architecture: Architecture) -> Schema {
    match architecture {
        Architecture::Ia32 => Schema {
            specs: all(),
            layouts: &LAYOUTS,
            alternatives: &ALTERNATIVES,
            optional_keys: &OPTIONAL_KEYS,
            optional_section: Some(OPTIONAL_SECTION),
        },
        Architecture::Arm => Schema {
            specs: arm(),
            layouts: &ARM_LAYOUTS,
            alternatives: &[],
            optional_keys: &["random_seed", "zeros_at", "zeros_line_read_cycles"],
            optional_section: None,
        },
    }
}

/// Sections that exclude or need each other: of each group a machine has exactly one of the lists. Apart from them only
/// l2 may be left out.
const LAYOUTS: [Layout; 2] = [
    &[&["trace_cache", "micro_ops", "l1d"], &["l1i", "l1d"], &["l1"]],
    &[&["itlb", "dtlb"], &["itlb", "dtlb", "dtlb_large"], &["tlb"]],
];
const OPTIONAL_SECTION: &str = "l2";

pub(crate) const TLBS: [&str; 4] = ["tlb", "itlb", "dtlb", "dtlb_large"];
pub(crate) const CACHES: [&str; 4] = ["l1i", "l1d", "l1", "l2"];

const REPLACEMENT: Kind = Kind::Choice(&["lru", "pseudo-lru", "round-robin", "random"]);
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
const ALTERNATIVES: [(&str, [&[&str]; 2]); 5] = [
    ("tlb", REFILL),
    ("itlb", REFILL),
    ("dtlb", REFILL),
    ("dtlb_large", REFILL),
    ("segments", [&["reload_cycles", "loads"], &["load_cycles"]]),
];

/// Parameters that may be left out of a section that is there.
const OPTIONAL_KEYS: [&str; 6] =
    ["random_seed", "far_return_cycles", "far_jump_cycles", "sysenter_sysexit_cycles", "iret_cycles", "branch_taken"];

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

const ARM_LAYOUTS: [Layout; 1] = [&[&["itlb", "dtlb"], &["tlb"]]];

const ARM_TLB: [(&str, Kind); 6] = [
    ("entries", ENTRIES),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("miss_cycles", CYCLES),
    ("section_miss_cycles", CYCLES),
    ("random_seed", Kind::Integer { min: 0, max: u32::MAX as u64 }),
];

const ARM_CACHE: [(&str, Kind); 5] = [
    ("size_bytes", BYTES),
    ("line_bytes", LINE),
    ("associativity", Kind::Ways),
    ("replacement", REPLACEMENT),
    ("random_seed", Kind::Integer { min: 0, max: u32::MAX as u64 }),
];

const ARM_SINGLE: [(&str, &str, Kind); 15] = [
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
fn arm() -> Vec<Spec> {
    let spec = |section, (key, kind)| Spec { section, key, kind };
    let mut specs: Vec<Spec> = ARM_SINGLE.iter().map(|&(section, key, kind)| spec(section, (key, kind))).collect();
    specs.extend(["tlb", "itlb", "dtlb"].iter().flat_map(|section| ARM_TLB.map(|key| spec(section, key))));
    specs.extend(["l1i", "l1d"].iter().flat_map(|section| ARM_CACHE.map(|key| spec(section, key))));
    let more = ["branch_taken", "word", "late_use", "late_narrow_use"];
    let keys = ARM_CLASSES.iter().map(|&(_, name)| name).chain(more);
    specs.extend(keys.map(|key| spec("instructions", (key, CYCLES))));
    specs
}
