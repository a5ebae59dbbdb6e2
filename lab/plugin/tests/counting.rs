// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin counts, on guests whose instructions can be counted by hand.

mod common;
use cobnut_model::MachineFile;
use common::*;

#[test]
fn a_round_trip_through_sysenter_is_counted_to_the_instruction() {
    let report = report("sysenter", "count-sysenter", "");
    let expected = [
        ("instructions_kernel", 9),
        ("instructions_stub", 2),
        ("instructions_trampoline", 2),
        ("instructions_user", 8),
        ("cr3_writes", 1),
        ("segment_loads", 4),
        ("far_returns", 1),
        ("entries_sysenter", 1),
        ("entries_int", 0),
        ("entries_fault", 0),
        ("entries_irq", 0),
        ("exits_sysexit", 1),
        ("exits_iret", 0),
    ];
    for (counter, n) in expected {
        assert_eq!(report.series(7, counter), vec![n; 10], "{counter}");
    }
    assert_eq!(report.0["warnings"], serde_json::json!([]));
}

#[test]
fn int_and_an_undefined_instruction_are_told_apart() {
    let report = report("sysenter", "count-int", "");
    for (counter, n) in [("entries_int", 1), ("entries_fault", 1), ("exits_iret", 2), ("instructions_kernel", 3)] {
        assert_eq!(report.series(8, counter), vec![n; 10], "{counter}");
    }
    assert_eq!(report.steady(8, "instructions_user"), 6, "the undefined instruction itself never completes");
}

#[test]
fn a_page_fault_in_the_middle_of_a_block_counts_nothing_twice() {
    let report = report("faults", "count-faults", "");
    assert_eq!(report.steady(0, "instructions_user"), 10);
    assert_eq!(report.steady(0, "entries_fault"), 1);
    assert_eq!(report.steady(0, "entries_int"), 1);
    assert_eq!(report.steady(0, "invlpg"), 1);
    assert_eq!(report.steady(0, "dtlb_flushed_refills"), 1);
}

#[test]
fn a_repeated_string_instruction_counts_once() {
    let report = report("faults", "count-string", "");
    assert_eq!(report.steady(1, "instructions_user"), 9);
    assert_eq!(report.case(1)["footprint"]["data_lines"], 32);
}

#[test]
fn interrupts_are_seen_and_leave_the_count_of_user_instructions_alone() {
    let report = report("faults", "count-interrupts", "");
    assert_eq!(report.series(2, "instructions_user"), vec![4_000_006; 2]);
    let interrupts = report.series(2, "entries_irq");
    assert!(interrupts.iter().all(|&n| (3..=5).contains(&n)), "4 ms of virtual time: {interrupts:?}");
    assert_eq!(report.series(2, "exits_iret"), interrupts);
}

#[test]
fn what_comes_before_the_first_case_can_be_left_out() {
    let whole = report("sysenter", "count-whole", "");
    let from_begin = report("sysenter", "count-from-begin", ",from=begin");
    for counter in
        ["instructions_kernel", "instructions_user", "cr3_writes", "entries_sysenter", "itlb_flushed_refills"]
    {
        assert_eq!(from_begin.series(7, counter), whole.series(7, counter), "{counter}");
    }
    let before = |report: &Report| report.0["totals"]["instructions_kernel"].as_u64().unwrap();
    assert!(before(&from_begin) < before(&whole), "the way there is not counted");
}

#[test]
fn switches_of_a_case_are_counted() {
    let report = report("sysenter", "count-switches", "");
    let case = report.case(7);
    let times: u64 = case["switches"].as_array().unwrap().iter().map(|s| s["times"].as_u64().unwrap()).sum();
    let written: u64 = report.series(7, "cr3_writes").iter().sum();
    assert_eq!(times, written, "each write of CR3 names the directory in force: {case}");
    let index = case["switches"][0]["switch"].as_u64().unwrap() as usize;
    assert_eq!(report.0["switches"][index]["how"], "reload");
}

#[test]
fn footprint_of_a_round_trip() {
    let report = report("sysenter", "footprint", "");
    let footprint = &report.case(7)["footprint"];
    assert_eq!(footprint["code_pages"], 3, "program and kernel, interface page, trampoline: {footprint}");
    assert_eq!(footprint["kernel_code_pages"], 1);
    assert_eq!(footprint["data_lines"], 3, "descriptors, user stack, kernel stack: {footprint}");
    assert_eq!(footprint["kernel_data_lines"], 2);
}

#[test]
fn counting_without_a_model_counts_the_same() {
    let modelled = report("sysenter", "mode-model", "");
    let counted = report("sysenter", "mode-count", ",mode=count");
    assert!(counted.0["machine"].is_null());
    for counter in ["instructions_kernel", "segment_loads", "entries_sysenter"] {
        assert_eq!(modelled.series(7, counter), counted.series(7, counter));
    }
    assert!(counted.case(7).get("ledger").is_none(), "no model, no cycles");
    assert_eq!(modelled.case(7)["footprint"], counted.case(7)["footprint"]);
}

#[test]
fn an_access_past_a_limit_is_the_fault_that_a_processor_would_have_raised() {
    let report = report("limits", "count-limits", "");
    assert_eq!(report.series(0, "limit_faults"), vec![2; 10], "turned, and back");
    assert_eq!(report.series(0, "entries_fault"), vec![0; 10], "none is raised");
    let row = report.case(0)["ledger"]["limit_fault"].as_u64().unwrap();
    let file = MachineFile::read(&machine_file()).unwrap();
    let one = file.milli("entry.fault_cycles").unwrap() + file.milli("entry.limit_fault_path_cycles").unwrap();
    assert_eq!(row, 20 * one / 1000);
    let mut once = vec![0; 10];
    once[0] = 1;
    assert_eq!(report.series(1, "limit_faults"), once, "then the space would be larger");
    let warnings = report.0["warnings"].as_array().unwrap();
    assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().contains("past its segment (43, "), "{warnings:?}");
}

#[test]
fn a_record_holds_the_limits_that_were_passed() {
    use cobnut_trace::{ia32::Ia32, Header, Measurement, Replay};
    let live = report_text("limits", "limits-live", "");
    let record = record("limits", "limits-record", "");
    let replay = Replay::new(&record[..]).unwrap();
    let header: Header = replay.header.clone();
    let mut measurement = Measurement::<Ia32>::new(Some(&MachineFile::read(&machine_file()).unwrap()), &[], &header);
    replay.run(&mut measurement).unwrap();
    assert_eq!(format!("{}\n", measurement.report().to_json()), live);
}
