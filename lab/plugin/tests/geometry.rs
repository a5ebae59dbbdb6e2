// SPDX-License-Identifier: GPL-2.0-or-later
//! What stands in a machine file shows from the outside: small guests recover it from counts and cycles alone.
//!
//! Every file in lab/machines is covered, and a second time with its values changed: what is recovered must follow. Two
//! replacement policies differ from four ways on only, and what no probe asks for is named in `NOT_PROBED`.

mod probe;
#[path = "probe/recover.rs"]
mod recover;

use cobnut_model::{MachineFile, Value, MILLI};
use probe::common::machine_files;
use probe::Subject;
use recover::Recovered;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Sections whose parameters are recovered.
const PROBED: [&str; 13] = [
    "tlb",
    "itlb",
    "dtlb",
    "dtlb_large",
    "walker",
    "l1",
    "l1i",
    "l1d",
    "l2",
    "memory",
    "segments",
    "address_space",
    "pipeline",
];

/// Parameters of these sections that are not: with one cost stated as a whole (recovered for its part), a second level
/// that shows lines only if stores allocate (its bytes per fill do), what write buffers hide, and what a processor
/// never lets a program see.
const NOT_PROBED: [&str; 10] = [
    "refill_cycles",
    "reload_cycles",
    "loads",
    "lines_per_fill",
    "random_seed",
    "far_return_cycles",
    "far_jump_cycles",
    "l1i.tagged",
    "l2.tagged",
    "memory.store_cycles",
];

fn render(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Full => "full".into(),
        // Reports have whole cycles.
        Value::Milli(milli) => (milli / MILLI).to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Choice(name) => name.clone(),
    }
}

/// Whole cycles of one part of what a file states as a whole.
fn share(file: &MachineFile, whole: &str, parts: &str) -> Option<String> {
    Some((file.milli(whole)? / file.integer(parts)? / MILLI).to_string())
}

/// What the file says of a recovered parameter.
fn stated(file: &MachineFile, path: &str) -> Option<String> {
    let (section, key) = path.split_once('.')?;
    let of = |key: &str| format!("{section}.{key}");
    let plain = || file.value(path).map(render);
    match key {
        "associativity" => {
            let every = file.integer(&of("entries"));
            plain().map(|ways| if every.is_some_and(|n| ways == n.to_string()) { "full".into() } else { ways })
        }
        "miss_cycles" => plain().or_else(|| share(file, &of("refill_cycles"), &of("entries"))),
        "load_cycles" => plain().or_else(|| share(file, &of("reload_cycles"), &of("loads"))),
        // Of nops, each a micro-operation.
        "line_cycles" => {
            let delivered = MILLI / file.integer(&of("uops_per_cycle"))?;
            let each = file.milli(&of("decode_cycles"))?.saturating_sub(delivered);
            Some((file.integer(&of("uops_per_line"))? * each / MILLI).to_string())
        }
        "bytes_per_fill" => Some((file.integer(&of("line_bytes"))? * file.integer(&of("lines_per_fill"))?).to_string()),
        _ => plain(),
    }
}

/// What of a file should have been recovered.
fn expected(file: &MachineFile) -> BTreeSet<String> {
    let four_ways = |section: &str| {
        let entries = file.integer(&format!("{section}.entries")).unwrap_or(4);
        file.ways(&format!("{section}.associativity"), entries) >= 4
    };
    let seen = |path: &str| {
        let (section, key) = path.split_once('.').unwrap();
        PROBED.contains(&section)
            && !NOT_PROBED.contains(&key)
            && !NOT_PROBED.contains(&path)
            && (key != "replacement" || four_ways(section))
            && (path != "l2.line_bytes" || file.flag("l2.write_allocate"))
    };
    file.parameters().map(|(path, _)| path.to_string()).filter(|path| seen(path)).collect()
}

/// Another value for a parameter, where the probes can show it.
fn changed(file: &MachineFile, path: &str, value: &Value) -> Option<String> {
    let (section, key) = path.split_once('.')?;
    let cache = file.value(&format!("{section}.line_bytes")).is_some();
    // The page of the case's own code is used all the time, which only in true order keeps it from shielding others.
    let sets = file.value(&format!("{section}.associativity")).is_some_and(|ways| *ways != Value::Full);
    let apart = file.has_section("dtlb_large") && section.starts_with("dtlb");
    let other = |one: &str, two: &str| if *value == Value::Choice(one.into()) { two } else { one }.to_string();
    Some(match (key, value) {
        ("entries", Value::Integer(n)) => (n / 2).to_string(),
        ("associativity", Value::Integer(n)) if cache => if *n <= 2 { n * 2 } else { n / 2 }.to_string(),
        ("line_bytes" | "size_bytes", Value::Integer(n)) => (n * 2).to_string(),
        ("uops_per_line", _) => "10".into(),
        ("replacement", _) if sets && section != "trace_cache" => other("lru", "pseudo-lru"),
        ("pages", _) if !apart => other("4k", "4k+4m"),
        ("reads_through", _) => other("l1", "l2"),
        ("pairing", _) => other("none", "pentium"),
        ("write_policy", _) if section != "l2" && !file.flag(&format!("{section}.write_allocate")) => {
            other("write-through", "write-back")
        }
        ("global_bit" | "flushed_by_cr3", Value::Bool(flag)) => (!flag).to_string(),
        ("write_allocate", Value::Bool(flag)) if section == "l2" => (!flag).to_string(),
        ("decode_cycles" | "refill_cycles" | "reload_cycles", Value::Milli(n)) => (n / MILLI * 2).to_string(),
        (_, Value::Milli(n)) if PROBED.contains(&section) || key == "int_iret_cycles" => (n / MILLI + 5).to_string(),
        _ => return None,
    })
}

/// A machine, its file as it is or changed, and what was recovered of it.
struct Recovery {
    file: MachineFile,
    set: Vec<String>,
    found: Recovered,
}

impl Recovery {
    fn new(machine: &Path, set: Vec<String>, name: &str) -> Self {
        let mut file = MachineFile::read(machine).unwrap();
        set.iter().for_each(|assignment| file.set(assignment).unwrap());
        let subject = Subject { machine: machine.into(), set: set.clone(), name: format!("{}-{name}", file.name) };
        Recovery { found: recover::recover(&subject), file, set }
    }

    fn title(&self) -> String {
        format!("{}{}", self.file.name, if self.set.is_empty() { "" } else { ", changed" })
    }
}

/// Each machine as it is, then changed; the two side by side.
static RECOVERIES: LazyLock<Vec<[Recovery; 2]>> = LazyLock::new(|| {
    let plain = |machine: &PathBuf| Recovery::new(machine, Vec::new(), "as-is");
    let other = |machine: &PathBuf| {
        let file = MachineFile::read(machine).unwrap();
        let set = file
            .parameters()
            .filter_map(|(path, parameter)| Some(format!("{path}:{}", changed(&file, path, &parameter.value)?)));
        Recovery::new(machine, set.collect(), "changed")
    };
    let machines = machine_files();
    std::thread::scope(|scope| {
        let others = scope.spawn(|| machines.iter().map(other).collect::<Vec<_>>());
        let plains: Vec<_> = machines.iter().map(plain).collect();
        plains.into_iter().zip(others.join().unwrap()).map(|(plain, other)| [plain, other]).collect()
    })
});

/// What was recovered under these keys of these sections is what the files say, with and without changes.
fn property(sections: &[&str], keys: &[&str]) {
    let mut compared = 0;
    for recovery in RECOVERIES.iter().flatten() {
        let wanted = |path: &str| {
            let (section, key) = path.split_once('.').unwrap();
            sections.contains(&section) && keys.contains(&key)
        };
        for (path, value) in recovery.found.iter().filter(|(path, _)| wanted(path)) {
            assert_eq!(Some(value), stated(&recovery.file, path).as_ref(), "{}: {path}", recovery.title());
            compared += 1;
        }
    }
    assert!(compared > 0, "no machine has {keys:?}");
}

const TLBS: [&str; 4] = ["tlb", "itlb", "dtlb", "dtlb_large"];
const CACHES: [&str; 4] = ["l1", "l1i", "l1d", "l2"];

#[test]
fn t130_tlb_entries_and_ways() {
    property(&TLBS, &["entries", "associativity"]);
}

#[test]
fn t131_tlb_replacement() {
    property(&TLBS, &["replacement"]);
}

#[test]
fn t132_global_bit() {
    property(&TLBS, &["global_bit"]);
}

#[test]
fn t133_page_sizes() {
    property(&TLBS, &["pages"]);
}

#[test]
fn t134_cost_of_a_tlb_miss() {
    property(&TLBS, &["miss_cycles"]);
}

#[test]
fn t135_where_walks_read() {
    property(&["walker"], &["reads_through"]);
}

#[test]
fn t136_when_the_code_tlb_is_asked() {
    property(&["itlb"], &["lookup"]);
}

#[test]
fn t230_cache_size_and_ways() {
    property(&CACHES, &["size_bytes", "associativity"]);
}

#[test]
fn t231_cache_lines_and_fills() {
    property(&CACHES, &["line_bytes", "bytes_per_fill"]);
}

#[test]
fn t232_cache_replacement() {
    property(&CACHES, &["replacement"]);
}

#[test]
fn t233_write_policy_and_allocation() {
    property(&CACHES, &["write_policy", "write_allocate"]);
}

#[test]
fn t234_physical_tags() {
    property(&CACHES, &["tagged"]);
}

#[test]
fn t235_costs_beyond_the_first_level() {
    property(&["l2", "memory"], &["hit_cycles", "read_cycles", "write_back_cycles"]);
}

#[test]
fn t330_a_trace_line_and_its_cost() {
    property(&["trace_cache"], &["uops_per_line", "line_cycles"]);
}

#[test]
fn t331_what_a_cr3_write_does_to_traces() {
    property(&["trace_cache"], &["flushed_by_cr3"]);
}

#[test]
fn t430_direct_costs() {
    property(
        &["address_space", "segments", "entry"],
        &["cr3_cycles", "invlpg_cycles", "load_cycles", "int_iret_cycles"],
    );
}

#[test]
fn t431_pairs_stalls_and_prefixes() {
    property(&["pipeline"], &["pairing", "address_stall_cycles", "prefix_cycles"]);
}

#[test]
fn t530_nothing_that_shows_is_left_out() {
    for recovery in RECOVERIES.iter().flatten() {
        let missing: Vec<_> =
            expected(&recovery.file).into_iter().filter(|path| !recovery.found.contains_key(path)).collect();
        assert!(missing.is_empty(), "{}: not recovered: {missing:?}", recovery.title());
    }
}

#[test]
fn t531_a_changed_value_changes_what_is_recovered() {
    for [plain, other] in RECOVERIES.iter() {
        let moved = other.found.iter().filter(|(path, value)| plain.found.get(*path).is_some_and(|was| was != *value));
        assert!(moved.count() > 20, "{}: {:?}", other.title(), other.set);
        for (path, _) in other.set.iter().map(|assignment| assignment.split_once(':').unwrap()) {
            if let (Some(was), Some(is)) = (plain.found.get(path), other.found.get(path)) {
                assert_ne!(was, is, "{}: {path}", other.title());
            }
        }
    }
}
