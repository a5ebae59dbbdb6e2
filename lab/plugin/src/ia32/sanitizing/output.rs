// SPDX-License-Identifier: GPL-2.0-or-later
//! What the sanitizer of IA-32 guests has found, as lines and as JSON.

use crate::core::findings::{by_instruction, findings, lines, Erasure, Findings, Hex, Loss, Words};
use crate::core::symbols::Symbols;
use cobnut_model::ia32::sanitizer::{Counts, Sanitizer};
use serde::Serialize;

const WORDS: Words = Words { tables: "cr3", guilt: "changed without invalidation " };

/// Where a report is from.
#[derive(Serialize)]
struct At {
    cr3: Hex,
    /// What was accessed, and its page.
    linear: Hex,
    page: Hex,
}

#[derive(Serialize)]
struct Invalidation {
    /// What it does: `invlpg`, `cr3` or `control`.
    by: &'static str,
    executed: u64,
    /// How often it dropped anything, and anything stale.
    effective: u64,
    needed: u64,
}

/// One line for each report.
pub fn told(sanitizer: &Sanitizer, symbols: &Symbols) -> Vec<String> {
    lines(&sanitizer.reports, &WORDS, symbols)
}

pub fn json(sanitizer: &Sanitizer, symbols: &Symbols, warnings: &[String]) -> String {
    let all: Findings<At, Invalidation, Counts> = Findings {
        plugin_version: env!("CARGO_PKG_VERSION"),
        reports: findings(&sanitizer.reports, &WORDS, symbols, |report| {
            let (linear, page) = (report.address.0.into(), report.address.page().start().0.into());
            (At { cr3: report.tables.0.into(), linear, page }, Some(report.entry.0.into()))
        }),
        invalidations: by_instruction(sanitizer.invalidators(), symbols, |i| {
            let (by, executed, effective, needed) = (i.by, i.executed, i.effective, i.needed);
            (i.instruction, Invalidation { by, executed, effective, needed })
        }),
        marks: None,
        erasures: by_instruction(sanitizer.erasers(), symbols, |e| {
            (e.instruction, Erasure { directory_entries: e.directory_entries, global_bits: e.global_bits })
        }),
        losses: by_instruction(&sanitizer.delays(), symbols, |d| {
            (d.store, Loss { losses: d.losses, longest: d.longest })
        }),
        counts: sanitizer.counts,
        warnings,
    };
    all.to_json()
}
