// SPDX-License-Identifier: GPL-2.0-or-later
//! The geometry of the components that machines of every processor have, as a machine file states it.

use crate::{CacheShape, MachineFile, Replacement};

pub(crate) fn replacement(file: &MachineFile, section: &str) -> Replacement {
    match file.choice(&format!("{section}.replacement")) {
        "pseudo-lru" => Replacement::PseudoLru,
        "round-robin" => Replacement::RoundRobin,
        "random" => Replacement::Random { seed: file.integer(&format!("{section}.random_seed")).unwrap_or(1) },
        _ => Replacement::Lru,
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
