// SPDX-License-Identifier: GPL-2.0-or-later
//! Iterations with something between them that is none of theirs, as where system calls are measured.

mod common;

use cobnut_model::ia32::Event;
use cobnut_model::{Physical, CATEGORIES};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{CodeRange, Header, Marker, Measurement};
use common::{compare, machine, play, Call, Random, CODE, MEMORY, RUNS, STRIDE};
use serde_json::Value;

const MACHINES: [&str; 4] = ["i486", "pentium-90", "pentium-133", "pentium4-1400"];

/// Some runs with their accesses.
fn work(random: &mut Random, calls: &mut Vec<Call>) {
    for _ in 0..3 + random.below(9) {
        let run = random.below(RUNS as u32) as usize;
        calls.push(Call::Run(run, CODE + run as u32 * STRIDE));
        match random.below(12) {
            0 => calls.push(Call::Retract(run)),
            1 => calls.push(Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: CODE })),
            2 => calls.push(Call::Change),
            _ => {}
        }
        calls.push(Call::Data(0x100_0000 + random.below(0x4_0000), 4, random.below(2) == 0));
    }
}

/// Twenty iterations, each followed by a gap that begins with `gap`.
fn guest(gap: impl Fn(usize) -> Marker) -> Vec<Call> {
    let mut random = Random(4711);
    let mut calls = vec![Call::Marker(Marker::Begin(1))];
    for turn in 0..20 {
        calls.push(Call::Marker(Marker::Iteration));
        work(&mut random, &mut calls);
        calls.push(Call::Marker(gap(turn)));
        work(&mut random, &mut calls);
    }
    calls.extend([Call::Marker(Marker::Iteration), Call::Marker(Marker::End)]);
    calls
}

fn measured(calls: &[Call], name: &str) -> Value {
    let header = Header {
        architecture: "ia32".into(),
        memory: MEMORY,
        ranges: vec![CodeRange { name: "part".into(), addresses: CODE..CODE + 5 * STRIDE }],
        functions: vec![CodeRange { name: "f".into(), addresses: CODE..CODE + 9 * STRIDE }],
        provenance: Value::Null,
    };
    let mut measurement = Measurement::<Ia32>::new(Some(&machine(name, &[])), &[], &header);
    play(calls, &mut measurement);
    serde_json::from_str(&measurement.report().to_json()).unwrap()
}

fn series(of: &Value) -> Vec<(String, Vec<u64>)> {
    let numbers = |list: &Value| list.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    of.as_object().unwrap().iter().map(|(name, list)| (name.clone(), numbers(list))).collect()
}

/// Of all intervals between two markers, those that are iterations.
fn picked(all: &[u64], wanted: impl Fn(usize) -> bool) -> Vec<u64> {
    all.iter().enumerate().filter(|(index, _)| wanted(*index)).map(|(_, n)| *n).collect()
}

fn hold_against_each_other(gapped: &Value, whole: &Value, wanted: impl Fn(usize) -> bool + Copy, name: &str) {
    let (ours, all) = (&gapped["regions"][0], &whole["regions"][0]);
    for ((counter, found), (_, all)) in series(&ours["per_iteration"]).iter().zip(series(&all["per_iteration"])) {
        let all = picked(&all, wanted);
        // each row of the ledger is rounded down along the case
        let slack = if counter == "cycles" { CATEGORIES.len() as u64 } else { 0 };
        let near = found.iter().zip(&all).all(|(a, b)| a.abs_diff(*b) <= slack);
        assert!(found.len() == all.len() && near, "{name} {counter}: {found:?} {all:?}");
    }
    let sum: u64 = series(&ours["per_iteration"]).iter().find(|(name, _)| name == "cycles").unwrap().1.iter().sum();
    assert_eq!(ours["cycles_total"], sum, "{name}");
    let rows: u64 = ours["ledger"].as_object().unwrap().values().map(|row| row.as_u64().unwrap()).sum();
    assert_eq!(rows, sum, "{name}");
    let functions = ours["functions"].as_array().unwrap();
    let spent: u64 = functions.iter().map(|one| one["cycles"].as_u64().unwrap()).sum();
    assert!(spent.abs_diff(sum) <= 2 * functions.len() as u64, "{name}: {spent} {sum}");
    let refills = |category: &str| {
        let causes = ours["causes"].as_array().unwrap().iter();
        causes.filter(|one| one["category"] == category).map(|one| one["cycles"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(ours["ledger"]["tlb_refill_data"], refills("tlb_refill_data"), "{name}");
    let part = |of: &Value| series(&of["ranges"][0]["per_iteration"]["part"])[0].1.clone();
    assert_eq!(part(gapped), picked(&part(whole), wanted), "{name}");
}

/// The machine sees the same whether or not what lies between is an iteration.
#[test]
fn what_is_passed_over_is_in_no_iteration() {
    for name in MACHINES {
        let whole = measured(&guest(|_| Marker::Iteration), name);
        hold_against_each_other(
            &measured(&guest(|_| Marker::Pause), name),
            &whole,
            |index| index.is_multiple_of(2),
            name,
        );
    }
}

#[test]
fn an_iteration_that_is_dropped_is_none() {
    for name in MACHINES {
        let dropped = |turn: usize| turn % 3 == 1;
        let gap = |turn| if dropped(turn) { Marker::Drop } else { Marker::Pause };
        let whole = measured(&guest(|_| Marker::Iteration), name);
        let wanted = |index: usize| index.is_multiple_of(2) && !dropped(index / 2);
        hold_against_each_other(&measured(&guest(gap), name), &whole, wanted, name);
    }
}

#[test]
fn a_replay_measures_the_same() {
    let calls = guest(|turn| [Marker::Pause, Marker::Drop, Marker::Iteration][turn % 3]);
    for name in MACHINES {
        compare(&calls, Some(&machine(name, &[])), false, name);
    }
    compare(&calls, None, false, "none");
}
