// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of the code that are counted by themselves (`range=`), on a guest whose instructions can be counted by hand.

mod common;
use common::*;

fn part(report: &Report, case: u64, name: &str, what: &str) -> Vec<u64> {
    let found = report.0["ranges"].as_array().unwrap().iter().find(|r| r["case"] == case).expect("no such case");
    found["per_iteration"][name][what].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn the_instructions_between_two_symbols_are_counted_with_their_costs() {
    let set = ",set=segments.reload_cycles:60,set=instructions.control:40,set=address_space.cr3_cycles:480";
    let ranges = ",range=space:on_sysenter..segments,range=segments:segments..leaves";
    let report = report("sysenter", "ranges-sysenter", &format!("{set}{ranges}"));
    assert_eq!(part(&report, 7, "space", "instructions"), vec![2; 10]);
    assert_eq!(part(&report, 7, "space", "cycles"), vec![40 + 480; 10]);
    // An alu, a store (one cycle each) and three loads of segment registers, ten cycles each.
    assert_eq!(part(&report, 7, "segments", "instructions"), vec![5; 10]);
    assert_eq!(part(&report, 7, "segments", "cycles"), vec![32; 10]);
    assert_eq!(part(&report, 8, "space", "instructions"), vec![0; 10], "not executed in the other case");
}

#[test]
fn ranges_of_one_name_add_up() {
    let both = ",range=both:on_sysenter..segments,range=both:segments..leaves";
    let report = report("sysenter", "ranges-both", both);
    assert_eq!(part(&report, 7, "both", "instructions"), vec![7; 10]);
}

#[test]
fn an_instruction_that_faults_is_not_counted() {
    let report = report("sysenter", "ranges-fault", ",range=asks:asks..asked");
    assert_eq!(part(&report, 8, "asks", "instructions"), vec![1; 10], "int, but not the undefined instruction");
    assert_eq!(part(&report, 8, "asks", "cycles"), vec![500; 10], "half of entry and exit by int");
}

#[test]
fn without_ranges_there_is_nothing_to_report() {
    assert_eq!(report("sysenter", "ranges-none", "").0["ranges"], serde_json::json!([]));
}
