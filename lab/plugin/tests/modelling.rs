// SPDX-License-Identifier: GPL-2.0-or-later
//! The machine model as a guest experiences it.

mod common;
use common::*;

#[test]
fn the_ledger_adds_up_exactly() {
    for (guest, cases) in [("sysenter", 7..9), ("faults", 0..3), ("reads", 1..11)] {
        let report = report(guest, &format!("ledger-{guest}"), "");
        for case in cases {
            let region = report.case(case);
            let total = region["cycles_total"].as_u64().unwrap();
            let rows: u64 = region["ledger"].as_object().unwrap().values().map(|v| v.as_u64().unwrap()).sum();
            assert_eq!(rows, total, "{guest} {case}");
            assert_eq!(report.series(case, "cycles").iter().sum::<u64>(), total, "{guest} {case}");
            for category in ["tlb_refill_code", "tlb_refill_data", "cache_refill", "trace_rebuild"] {
                let charges = region["causes"].as_array().unwrap().iter().filter(|c| c["category"] == category);
                let charged: u64 = charges.map(|c| c["cycles"].as_u64().unwrap()).sum();
                assert_eq!(charged, region["ledger"][category].as_u64().unwrap(), "{guest} {case}: {category}");
            }
        }
    }
}

#[test]
fn a_run_repeats_to_the_digit() {
    for guest in ["sysenter", "faults"] {
        assert_eq!(
            report_text(guest, &format!("repeat-{guest}-1"), ""),
            report_text(guest, &format!("repeat-{guest}-2"), "")
        );
    }
}

#[test]
fn one_frame_at_two_linear_addresses_takes_two_translations() {
    // By page alias and by segment base: QEMU reports one address for both, the linear addresses tell them apart.
    let report = report("aliases", "aliases", ",set=itlb.lookup:fetch,set=itlb.associativity:2,set=itlb.entries:2");
    assert_eq!(report.steady(0, "itlb_misses"), 0, "program page and one more");
    assert!(report.steady(1, "itlb_misses") >= 2, "a third page by alias");
    assert!(report.steady(2, "itlb_misses") >= 2, "a third page by segment base");
    for case in 0..3 {
        assert_eq!(report.case(case)["footprint"]["code_pages"], 2, "physically there are two");
    }
}

#[test]
fn one_word_through_two_segments_takes_two_translations() {
    for (entries, misses) in [(1, 2), (2, 0)] {
        let report = report("aliases", "segments", &format!(",set=dtlb.entries:{entries}"));
        assert_eq!(report.steady(3, "dtlb_misses"), misses);
        assert_eq!(report.case(3)["footprint"]["data_lines"], 1, "physically it is one");
    }
}

#[test]
fn the_size_of_the_data_tlb_shows_from_outside() {
    for entries in [8u64, 24] {
        let set = format!(",set=dtlb.entries:{entries}");
        let report = report("reads", &format!("geometry-{entries}"), &set);
        for case in 1..11 {
            // The stack is one page more.
            let pages = 4 * case + 1;
            let misses = report.steady(case, "dtlb_misses");
            assert_eq!(misses == 0, pages <= entries, "{entries} entries, {pages} pages: {misses} misses");
        }
    }
}

#[test]
fn associativity_shows_from_outside() {
    let report = report("reads", "geometry-ways", ",set=dtlb.entries:32,set=dtlb.associativity:4");
    assert_eq!(report.steady(6, "dtlb_misses"), 0, "24 consecutive pages use 3 of 4 ways of each set");
    assert!(report.steady(9, "dtlb_misses") > 0, "36 pages do not fit");
}

#[test]
fn what_writes_of_control_registers_and_invlpg_take_away() {
    let report = report("flush", "flush", "");
    // Kernel stack and task segment or user stack are two pages besides the eight.
    assert_eq!(report.steady(0, "dtlb_flushed_refills"), 10, "ordinary pages");
    assert_eq!(report.steady(1, "dtlb_flushed_refills"), 2, "global pages survive");
    assert_eq!(report.steady(2, "dtlb_flushed_refills"), 1, "invlpg takes one global page");
    assert_eq!(report.steady(2, "trace_misses"), 0);
    assert!(report.steady(0, "trace_misses") > 0, "the trace cache was flushed");
    let flush = report.case(0)["ledger"]["flush"].as_u64().unwrap();
    assert_eq!(flush, 5 * 480);
    assert_eq!(report.steady(3, "dtlb_misses"), 0, "CR0.TS has nothing to do with paging");
    assert_eq!(report.steady(3, "trace_misses"), 0);
    assert_eq!(report.steady(4, "dtlb_flushed_refills"), 10, "a change of CR4.PGE takes global pages, too");
}

#[test]
fn refills_are_charged_to_what_took_the_entries() {
    let report = report("flush", "causes", "");
    let charged_to = |case, how: &str| -> u64 {
        let switch = |charge: &serde_json::Value| &report.0["switches"][charge["switch"].as_u64().unwrap() as usize];
        let charges = report.case(case)["causes"].as_array().unwrap().iter();
        let flushed = charges.filter(|c| c["kind"] == "flushed" && c["category"] == "tlb_refill_data");
        flushed.filter(|c| switch(c)["how"] == how).map(|c| c["refills"].as_u64().unwrap()).sum()
    };
    for (case, how) in [(0, "reload"), (2, "invlpg")] {
        let flushed: u64 = report.series(case, "dtlb_flushed_refills").iter().sum();
        assert!(flushed > 0);
        assert_eq!(charged_to(case, how), flushed, "the guest has one page directory: a CR3 write is no switch");
    }
}

/// The one that turns paging on as well: nothing was followed before it.
#[test]
fn switches_are_listed_with_the_addresses_of_their_instructions() {
    const LOADED_AT: u32 = 0x10_0000;
    for guest in ["sysenter", "faults", "reads"] {
        let report = report(guest, &format!("switch-at-{guest}"), "");
        let switches = report.0["switches"].as_array().unwrap().iter();
        let listed: Vec<u32> = switches.filter_map(|one| u32::from_str_radix(one["at"].as_str()?, 16).ok()).collect();
        assert!(!listed.is_empty() && listed.iter().all(|&at| at >= LOADED_AT), "{guest}: {listed:x?}");
    }
}

#[test]
fn direct_costs_of_a_round_trip() {
    let report = report("sysenter", "direct", "");
    let ledger = &report.case(7)["ledger"];
    assert_eq!(ledger["kernel_entry_exit"], 10 * 166);
    assert_eq!(ledger["flush"], 10 * 480);
    let reload = ledger["segment_reload"].as_u64().unwrap();
    assert!(reload.abs_diff(10 * 4 * 253 / 6) <= 1, "{reload}");
}

#[test]
fn a_set_parameter_changes_the_outcome_and_is_recorded() {
    let report = report("sysenter", "set", ",set=address_space.cr3_cycles:1000");
    assert_eq!(report.case(7)["ledger"]["flush"], 10 * 1000);
    assert_eq!(report.0["machine_set"], serde_json::json!(["address_space.cr3_cycles:1000"]));
}
