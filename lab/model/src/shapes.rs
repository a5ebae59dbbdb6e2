// SPDX-License-Identifier: GPL-2.0-or-later
//! The geometry of each component, as a machine file states it.

use crate::{CacheShape, MachineFile, Replacement, TlbShape, TraceCacheShape};

pub(crate) fn replacement(file: &MachineFile, section: &str) -> Replacement {
    match file.choice(&format!("{section}.replacement")) {
        "pseudo-lru" => Replacement::PseudoLru,
        "round-robin" => Replacement::RoundRobin,
        "random" => Replacement::Random { seed: file.integer(&format!("{section}.random_seed")).unwrap_or(1) },
        _ => Replacement::Lru,
    }
}

pub(crate) fn tlb_shape(file: &MachineFile, section: &str) -> TlbShape {
    let path = |key: &str| format!("{section}.{key}");
    let entries = file.integer(&path("entries")).unwrap_or(1);
    TlbShape {
        entries: entries as usize,
        ways: file.ways(&path("associativity"), entries) as usize,
        replacement: replacement(file, section),
        large_pages: file.choice(&path("pages")) != "4k",
        global: file.flag(&path("global_bit")),
    }
}

pub(crate) fn cache_shape(file: &MachineFile, section: &str) -> CacheShape {
    let path = |key: &str| format!("{section}.{key}");
    let (size, line) =
        (file.integer(&path("size_bytes")).unwrap_or(64), file.integer(&path("line_bytes")).unwrap_or(64));
    CacheShape {
        size: size as usize,
        line: line as usize,
        ways: file.ways(&path("associativity"), size / line) as usize,
        replacement: replacement(file, section),
        virtually_tagged: file.choice(&path("tagged")) == "virtual",
        write_back: file.choice(&path("write_policy")) == "write-back",
        write_allocate: file.flag(&path("write_allocate")),
        lines_per_fill: file.integer(&path("lines_per_fill")).unwrap_or(1) as usize,
    }
}

/// The caches of ARM machines are all found by virtual addresses, and write back.
pub(crate) fn arm_cache_shape(file: &MachineFile, section: &str) -> CacheShape {
    CacheShape { virtually_tagged: true, write_back: true, lines_per_fill: 1, ..cache_shape(file, section) }
}

pub(crate) fn trace_cache_shape(file: &MachineFile) -> TraceCacheShape {
    let number = |key: &str| file.integer(&format!("trace_cache.{key}")).unwrap_or(1);
    TraceCacheShape {
        lines: number("lines") as usize,
        ways: file.ways("trace_cache.associativity", number("lines")) as usize,
        replacement: replacement(file, "trace_cache"),
        uops_per_line: number("uops_per_line") as u8,
        taken_branches: number("taken_branches") as u8,
        index_shift: number("index_shift") as u32,
    }
}
