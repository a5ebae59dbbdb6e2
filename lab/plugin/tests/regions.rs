// SPDX-License-Identifier: GPL-2.0-or-later
//! Cases of a guest that has no marks. Expected figures are counted by hand from tests/guests.

mod common;
use common::*;

/// Instructions of kernel and user in each iteration of `region`, of the guest `calls`.
fn counted(run: &str, region: &str) -> Vec<(u64, u64)> {
    counted_of("calls", run, region)
}

fn counted_of(guest: &str, run: &str, region: &str) -> Vec<(u64, u64)> {
    let image = work_folder(run).join(guest);
    let report = report(guest, run, &format!(",program=it:{},region=5:{region}", image.display()));
    assert_eq!(
        report.0["warnings"],
        serde_json::json!([
            "no symbol kip: stub instructions count as user",
            "no symbol trampoline: its instructions count as user"
        ])
    );
    report.series(5, "instructions_kernel").into_iter().zip(report.series(5, "instructions_user")).collect()
}

#[test]
fn a_call_is_counted_from_its_instruction_to_its_return() {
    assert_eq!(counted("regions-call", "call=20"), [(6, 1); 11]);
    assert_eq!(counted("regions-other-call", "call=4"), [(5, 1); 11]);
    assert_eq!(counted("regions-call-of", "it/call=20@3"), [(6, 1); 8]);
}

#[test]
fn places_in_the_kernel_delimit_a_case() {
    // Between two calls: either 20, its return, and 4 of user code; or 4, its return, and the rest of a turn.
    let turns = counted("regions-kernel", "kernel/on_call..last");
    assert_eq!(turns.len(), 23);
    assert_eq!(turns[..2], [(6, 2), (5, 10)]);
    assert_eq!(turns[22], (2, 0), "the last call ends the case");
}

#[test]
fn a_turn_whose_first_instruction_faults_is_one() {
    let turns = counted_of("restarts", "regions-restarts", "it/again..finished");
    assert_eq!(turns, [(3, 5), (6, 5), (6, 5), (6, 5), (6, 5)], "before the first one the page is there");
}

#[test]
fn a_program_and_its_texts_delimit_a_case() {
    let turns = counted("regions-program", "it/again..finished");
    assert_eq!(turns, [(11, 12); 11]);
    let turns = counted("regions-console", "console=on..on!");
    assert_eq!(turns.len(), 11, "what is printed last ends the case");
    assert!(turns[..10].iter().all(|turn| *turn == (11, 12)), "{turns:?}");
}

/// The same of a guest with two processes, on a machine; with the names of its spaces.
fn of_processes(run: &str, region: &str) -> (Vec<(u64, u64)>, serde_json::Value) {
    let description = work_folder(run).join("processes.toml");
    std::fs::write(&description, "[current]\nvariable = \"current\"\n").unwrap();
    let arguments = format!(",processes={},region=5:{region}", description.display());
    let report = report("processes", run, &arguments);
    let kernel = report.series(5, "instructions_kernel");
    (kernel.into_iter().zip(report.series(5, "instructions_user")).collect(), report.0["processes"].clone())
}

#[test]
fn regions_and_spaces_belong_to_processes() {
    let calls = |run: &str, region: &str| of_processes(run, region).0;
    assert_eq!(calls("processes-all", "call=20"), [(5, 1); 5]);
    assert_eq!(calls("processes-name", "process=init/call=20"), [(5, 1); 3]);
    assert_eq!(calls("processes-number", "process=17/call=20"), [(5, 1); 2]);
    assert_eq!(calls("processes-kernel", "process=sh/kernel/on_call..away"), [(4, 0)], "its call 20");
}

#[test]
fn a_process_is_measured_while_it_runs() {
    // Calls 20 and 2 with what is around them; the block that switches ends the stay of the one that is switched from.
    let (stays, names) = of_processes("processes-stays", "process=sh");
    assert_eq!(stays, [(14, 6); 2]);
    let names = names.as_object().unwrap().values().collect::<Vec<_>>();
    assert_eq!(names, [&serde_json::json!(["init (1)", "sh (17)"])], "one space, named after both");
    assert_eq!(of_processes("processes-warmup", "process=sh@1").0, [(14, 6)]);
}
