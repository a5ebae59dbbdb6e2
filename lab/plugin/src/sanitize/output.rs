// SPDX-License-Identifier: GPL-2.0-or-later
//! The sanitizer's reports as lines for people and as JSON.

use super::Symbols;
use cobnut_model::sanitizer::{Report, Sanitizer};
use serde_json::{json, Value};

/// One line for each report.
pub fn lines(sanitizer: &Sanitizer, symbols: &Symbols) -> Vec<String> {
    sanitizer.reports.list().iter().map(|report| line(report, symbols)).collect()
}

fn line(report: &Report, symbols: &Symbols) -> String {
    let who = if report.user { "user" } else { "kernel" };
    let what = match (report.faulted, report.write) {
        (true, _) => "faulted at",
        (false, true) => "writing",
        (false, false) => "reading",
    };
    let store = match report.store {
        0 => String::new(),
        at => format!("; changed without invalidation by {}", symbols.place(at)),
    };
    format!(
        "{}: {} {}, cr3 {:08x}, {what} {:08x}: {}{store}; {} ({} times)",
        report.kind.name(),
        who,
        symbols.place(report.instruction),
        report.cr3,
        report.linear,
        report.kind.sentence(),
        report.detail,
        report.count
    )
}

pub fn json(sanitizer: &Sanitizer, symbols: &Symbols, warnings: &[String]) -> Value {
    let hex = |value: u32| format!("{value:#010x}");
    let reports: Vec<Value> = sanitizer
        .reports
        .list()
        .iter()
        .map(|r| {
            json!({
                "kind": r.kind.name(),
                "instruction": hex(r.instruction),
                "symbol": symbols.name(r.instruction),
                "privilege": if r.user { 3 } else { 0 },
                "cr3": hex(r.cr3),
                "linear": hex(r.linear),
                "page": hex(r.linear & !0xfff),
                "write": r.write,
                "faulted": r.faulted,
                "store": (r.store != 0).then(|| hex(r.store)),
                "store_symbol": symbols.name(r.store),
                "entry": hex(r.entry),
                "detail": r.detail,
                "count": r.count,
                "line": line(r, symbols),
            })
        })
        .collect();
    let invalidations: Vec<Value> = sanitizer
        .invalidators()
        .iter()
        .map(|i| {
            json!({
                "instruction": hex(i.instruction),
                "symbol": symbols.name(i.instruction),
                "by": i.by,
                "executed": i.executed,
                "effective": i.effective,
                "needed": i.needed,
            })
        })
        .collect();
    let erasures: Vec<Value> = sanitizer
        .erasers()
        .iter()
        .map(|e| {
            json!({
                "instruction": hex(e.instruction),
                "symbol": symbols.name(e.instruction),
                "directory_entries": e.directory_entries,
                "global_bits": e.global_bits,
            })
        })
        .collect();
    let losses: Vec<Value> = sanitizer
        .delays()
        .iter()
        .map(|d| {
            json!({
                "instruction": hex(d.store),
                "symbol": symbols.name(d.store),
                "losses": d.losses,
                "longest": d.longest,
            })
        })
        .collect();
    let c = &sanitizer.counts;
    json!({
        "plugin_version": env!("CARGO_PKG_VERSION"),
        "reports": reports,
        "invalidations": invalidations,
        "erasures": erasures,
        "losses": losses,
        "counts": {
            "accesses": c.accesses,
            "cr3_writes": c.cr3_writes,
            "full_flushes": c.full_flushes,
            "invlpg": c.invlpg,
            "table_stores": c.table_stores,
            "losses": c.losses,
            "page_faults": c.page_faults,
            "late_rights": c.late_rights,
        },
        "warnings": warnings,
    })
}
