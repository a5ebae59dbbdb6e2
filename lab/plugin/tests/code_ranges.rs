// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of the code that are counted by themselves (`range=`), on a guest whose instructions can be counted by hand.

mod common;
use common::*;
use serde_json::Value;

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

/// A program and kernel are one file in these guests.
fn program(run: &str) -> String {
    format!(",program=it:{}", work_folder(run).join("sysenter").display())
}

#[test]
fn a_case_needs_no_marks_where_its_places_are_known() {
    let region = ",region=21:it/asks..asked";
    let report = report("sysenter", "ranges-places", &format!("{}{region}", program("ranges-places")));
    // Each time the loop of case 8 comes to its `int` it has not come to its end before: one iteration for each.
    let case = report.0["regions"].as_array().unwrap().iter().filter(|region| region["case"] == 21);
    let series = |one: &Value| one["per_iteration"]["entries_int"].clone();
    let found: Vec<Value> = case.map(series).collect();
    assert_eq!(found, vec![serde_json::json!([1]); 11]);
}

#[test]
fn what_belongs_to_a_program_is_counted_under_its_name() {
    let ranges = ",range=calls:it/asks..asked,range=loop:it/user..asks";
    let report = report("sysenter", "ranges-program", &format!("{}{ranges}", program("ranges-program")));
    assert_eq!(part(&report, 8, "it", "instructions"), report.series(8, "instructions_user"), "and nothing privileged");
    assert_eq!(part(&report, 8, "calls", "instructions"), vec![1; 10]);
    assert_eq!(part(&report, 7, "calls", "instructions"), vec![0; 10]);
    assert_eq!(part(&report, 7, "loop", "instructions"), report.series(7, "instructions_user"));
    let functions = report.case(8)["functions"].as_array().unwrap();
    assert!(functions.iter().any(|one| one["symbol"] == "it/asks"), "{functions:?}");
}

#[test]
fn without_ranges_there_is_nothing_to_report() {
    assert_eq!(report("sysenter", "ranges-none", "").0["ranges"], serde_json::json!([]));
}
