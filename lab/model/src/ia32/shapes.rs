// SPDX-License-Identifier: GPL-2.0-or-later
//! The geometry of the components that only IA-32 machines have so, as a machine file states it.

use super::prediction::{BufferShape, PredictionShape, Unknown};
use super::{TlbShape, TraceCacheShape};
use crate::core::shapes::replacement;
use crate::MachineFile;

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

/// None where nothing is predicted.
pub(crate) fn prediction_shape(file: &MachineFile) -> Option<PredictionShape> {
    let buffer = |section: &str| {
        let entries = file.integer(&format!("{section}.entries"))?;
        let ways = file.ways(&format!("{section}.associativity"), entries) as usize;
        Some(BufferShape { entries: entries as usize, ways, replacement: replacement(file, section) })
    };
    Some(PredictionShape {
        buffer: buffer("branch_prediction")?,
        of_traces: buffer("trace_prediction"),
        unknown: match file.choice("branch_prediction.unknown") {
            "not-taken" => Unknown::NotTaken,
            _ => Unknown::BackwardTaken,
        },
        return_stack: file.integer("branch_prediction.return_stack").unwrap_or(0) as usize,
    })
}
