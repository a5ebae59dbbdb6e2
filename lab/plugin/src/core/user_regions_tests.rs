// SPDX-License-Identifier: GPL-2.0-or-later
use super::*;

const LOOP: &[u8] = &[0x90, 0xcd, 0x80, 0xeb, 0xfb, 0xc3];
const ONE: Thread = Thread { space: (0x1000, 0), stack: 0xbfff_0000 };
const OTHER: Thread = Thread { space: (0x2000, 0), ..ONE };

fn programs() -> Programs {
    Programs::one("it", 0x8048000, LOOP, &[(0x8048000, "again"), (0x8048001, "call"), (0x8048005, "done")])
}

fn regions(arguments: &[&str]) -> Result<UserRegions, String> {
    let arguments: Vec<String> = arguments.iter().map(|one| one.to_string()).collect();
    let list = vec![(0xc100_0010, "do_one".to_string()), (0xc100_0040, "do_two".to_string())];
    UserRegions::parse(&arguments, &programs(), &Symbols::new(list, vec![(0xc100_0000, 0xc100_1000)]))
}

#[test]
fn a_loop_is_a_case_whose_turns_are_iterations() {
    let mut regions = regions(&["3:it/again..done"]).unwrap();
    assert_eq!(regions.reached(0x8048005, false), [], "it has not begun");
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(3), Marker::Iteration]);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Iteration]);
    assert_eq!(regions.reached(0x8048001, false), [], "no place of a region");
    assert_eq!(regions.reached(0x8048000, true), [], "the kernel has the same address");
    assert_eq!(regions.reached(0x8048005, false), [Marker::Iteration, Marker::End]);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(3), Marker::Iteration], "again");
}

#[test]
fn a_turn_whose_first_instruction_faults_is_one() {
    let mut regions = regions(&["3:it/again..done"]).unwrap();
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(3), Marker::Iteration]);
    regions.undone(0x8048000);
    assert_eq!(regions.reached(0x8048000, false), [], "it begins again");
    assert_eq!(regions.reached(0x8048000, false), [Marker::Iteration]);
    regions.undone(0x8048003);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Iteration], "another one had faulted");
    regions.undone(0x8048005);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Iteration], "it was not the next one");
    assert_eq!(regions.reached(0x8048005, false), [Marker::Iteration, Marker::End]);
}

#[test]
fn the_first_turns_may_be_no_iterations() {
    let mut regions = regions(&["3:it/again..done@2"]).unwrap();
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(3)]);
    assert_eq!(regions.reached(0x8048000, false), []);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Iteration]);
    assert_eq!(regions.reached(0x8048005, false), [Marker::Iteration, Marker::End]);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(3)]);
    assert_eq!(regions.reached(0x8048005, false), [Marker::End], "none was measured");
}

#[test]
fn places_of_the_kernel_are_symbols_or_addresses() {
    let mut regions = regions(&["0:kernel/do_one..0xc1000040"]).unwrap();
    assert!(regions.may_be_within(0x010) && regions.may_be_at(0x040, &[], &programs()));
    assert_eq!(regions.reached(0xc100_0010, false), [], "user code");
    assert_eq!(regions.reached(0xc100_0010, true), [Marker::Begin(0), Marker::Iteration]);
    assert_eq!(regions.reached(0xc100_0040, true), [Marker::Iteration, Marker::End]);
}

#[test]
fn a_place_is_known_by_its_bytes_in_whatever_page() {
    let regions = regions(&["3:it/again..done"]).unwrap();
    assert!(regions.may_be_at(0, &LOOP[..3], &programs()) && regions.may_be_at(5, &LOOP[5..], &programs()));
    assert!(!regions.may_be_at(1, &LOOP[1..], &programs()), "another instruction");
    assert!(!regions.may_be_at(0, &[0x90, 0xcd, 0x81], &programs()), "another program");
}

#[test]
fn a_case_inside_another_is_not_measured_and_told() {
    let mut regions = regions(&["1:it/again..done", "2:kernel/do_one..do_two"]).unwrap();
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(1), Marker::Iteration]);
    assert_eq!(regions.reached(0xc100_0010, true), []);
    assert_eq!(regions.reached(0xc100_0040, true), []);
    assert_eq!(regions.reached(0xc100_0010, true), []);
    assert_eq!(regions.doubts().collect::<Vec<_>>(), ["case 2 began inside case 1: not measured there"]);
    assert_eq!(regions.reached(0x8048005, false), [Marker::Iteration, Marker::End]);
    assert_eq!(regions.reached(0xc100_0010, true), [Marker::Begin(2), Marker::Iteration]);
}

#[test]
fn a_call_is_an_iteration_until_its_thread_returns() {
    let mut regions = regions(&["0:call=20"]).unwrap();
    assert_eq!(regions.calls(4, ONE), [], "another call");
    assert_eq!(regions.calls(20, ONE), [Marker::Begin(0), Marker::Iteration]);
    assert!(regions.waits());
    assert_eq!(regions.returned(OTHER), None, "another thread");
    assert_eq!(regions.calls(20, OTHER), [], "a call inside it");
    assert_eq!(regions.returned(ONE), Some(Marker::Pause));
    assert_eq!(regions.returned(ONE), None);
    assert_eq!(regions.calls(20, OTHER), [Marker::Iteration]);
    assert_eq!(regions.finish(), [Marker::Drop, Marker::End], "it never returned");
}

#[test]
fn a_call_that_is_not_seen_to_return_is_none() {
    let mut regions = regions(&["0:call=11"]).unwrap();
    assert_eq!(regions.calls(11, ONE), [Marker::Begin(0), Marker::Iteration]);
    let behind = Thread { stack: 0xbfff_8000, ..ONE };
    assert_eq!(regions.calls(4, behind), [Marker::Drop], "with another program and stack");
    assert_eq!(regions.calls(11, behind), [Marker::Iteration]);
    assert_eq!(regions.returned(behind), Some(Marker::Pause));
    assert_eq!(regions.finish(), [Marker::End]);
}

#[test]
fn calls_of_a_program_are_those_of_the_spaces_that_it_runs_in() {
    let mut regions = regions(&["0:it/call=20@1"]).unwrap();
    assert_eq!(regions.calls(20, ONE), []);
    regions.runs(0, ONE.space);
    assert_eq!(regions.calls(20, OTHER), []);
    assert_eq!(regions.calls(20, ONE), [Marker::Begin(0)], "not measured");
    assert_eq!(regions.returned(ONE), None);
    assert_eq!(regions.calls(20, ONE), [Marker::Iteration]);
    assert_eq!(regions.returned(ONE), Some(Marker::Pause));
}

#[test]
fn what_the_guest_prints_delimits_a_case() {
    let mut regions = regions(&["7:console=round..all done"]).unwrap();
    let mut say = |text: &str| text.bytes().flat_map(|byte| regions.printed(byte)).collect::<Vec<_>>();
    assert_eq!(say("all done\n"), [], "it has not begun");
    assert_eq!(say("a round\n"), [Marker::Begin(7), Marker::Iteration]);
    assert_eq!(say("another round"), [Marker::Iteration]);
    assert_eq!(say(", all done"), [Marker::Iteration, Marker::End]);
}

#[test]
fn a_wrong_region_is_refused() {
    for (argument, why) in [
        ("3", FORM),
        ("x:it/again..done", FORM),
        ("3:again..done", FORM),
        ("3:it/again..done@x", FORM),
        ("3:call=getpid", FORM),
        ("3:console=x", FORM),
        ("3:process=", FORM),
        ("3:process=/call=3", FORM),
        ("3:process=sh/call", FORM),
        ("3:other/again..done", "there is no program=other:FILE"),
        ("3:other/call=3", "there is no program=other:FILE"),
        ("3:it/again..nowhere", "it has no symbol nowhere, or several"),
        ("3:kernel/do_one..do_three", "the kernel's code has no symbol do_three"),
        ("3:it/again..again", "starts where it ends"),
        ("3:console=x..x", "needs two different texts"),
    ] {
        let error = regions(&[argument]).err();
        assert_eq!(error, Some(format!("argument region={argument}: {why}")));
    }
    let shared = regions(&["1:it/again..done", "2:it/again..call"]).err();
    assert_eq!(shared.as_deref(), Some("argument region=2:it/again..call: starts where case 1 starts"));
    let calls = regions(&["1:call=20", "2:call=3"]).err();
    assert_eq!(calls.as_deref(), Some("argument region: calls are measured alone, in a run of their own"));
    let stays = regions(&["1:process=sh", "2:it/again..done"]).err();
    assert_eq!(stays.as_deref(), Some("argument region: a process's stays are measured alone, in a run of their own"));
}

fn process(number: u32, name: &str) -> Process {
    Process { number, name: name.to_string() }
}

#[test]
fn a_region_may_be_a_process_s() {
    let mut regions = regions(&["1:process=sh/it/again..done", "2:process=7/it/again..done"]).unwrap();
    assert!(regions.of_process());
    assert_eq!(regions.reached(0x8048000, false), [], "nobody knows who runs");
    assert_eq!(regions.switched(&process(7, "cat")), []);
    assert_eq!(regions.reached(0x8048000, false), [Marker::Begin(2), Marker::Iteration]);
    assert_eq!(regions.switched(&process(5, "cat")), []);
    assert_eq!(regions.reached(0x8048005, false), [], "the end is another's");
    assert_eq!(regions.switched(&process(7, "sh")), [], "by number");
    assert_eq!(regions.reached(0x8048005, false), [], "the first that fits has not begun");
    assert_eq!(regions.switched(&process(7, "cat")), []);
    assert_eq!(regions.reached(0x8048005, false), [Marker::Iteration, Marker::End]);
}

#[test]
fn stays_of_a_process_are_iterations() {
    let mut regions = regions(&["4:process=sh@1"]).unwrap();
    assert_eq!(regions.switched(&process(1, "init")), []);
    assert_eq!(regions.switched(&process(2, "sh")), [Marker::Begin(4)], "not measured");
    assert_eq!(regions.switched(&process(1, "init")), []);
    assert_eq!(regions.switched(&process(2, "sh")), [Marker::Iteration]);
    assert_eq!(regions.switched(&process(3, "sh")), [], "another of the same name");
    assert_eq!(regions.switched(&process(3, "cat")), [Marker::Pause], "it has executed another program");
    assert_eq!(regions.switched(&process(3, "sh")), [Marker::Iteration]);
    assert_eq!(regions.finish(), [Marker::Drop, Marker::End]);
}

#[test]
fn calls_and_texts_may_be_a_process_s() {
    let mut calls = regions(&["0:process=sh/call=20"]).unwrap();
    calls.switched(&process(1, "init"));
    assert_eq!(calls.calls(20, ONE), []);
    calls.switched(&process(2, "sh"));
    assert_eq!(calls.calls(20, ONE), [Marker::Begin(0), Marker::Iteration]);
    let mut console = regions(&["0:process=sh/console=a..b"]).unwrap();
    assert_eq!(console.printed(b'a'), []);
    console.switched(&process(2, "sh"));
    assert_eq!(console.printed(b'a'), [Marker::Begin(0), Marker::Iteration]);
}
