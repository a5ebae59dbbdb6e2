// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls that repeat themselves: a replay that makes only some of them and counts the others measures what one that
//! makes all does, to the byte, on every machine.

mod common;

use cobnut_model::ia32::{EntryKind, Event};
use cobnut_model::{Linear, MachineFile, Physical};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{Live, Marker, Measurement, Run};
use common::{compare, header, machine, play, runs, Call, Random, Tables, CODE, RUNS, STRIDE};

/// A body of a loop: what a round trip might be.
fn body(random: &mut Random, length: usize, switches: bool) -> Vec<Call> {
    let (pages, mut calls, mut last) = (1 + random.below(100), Vec::new(), 0);
    while calls.len() < length {
        match random.below(40) {
            0..=14 => {
                last = random.below(RUNS as u32) as usize;
                calls.push(Call::Run(last, CODE + last as u32 * STRIDE + 0x40_0000 * random.below(3)));
                if random.below(10) == 0 {
                    calls.push(Call::Retract(last));
                }
            }
            15..=35 => {
                let linear = 0x90_0000 + (random.below(pages) << 12) + random.below(0x1000);
                calls.push(Call::Data(linear, 1 << random.below(5), random.below(3) == 0));
            }
            36 if switches => {
                calls.push(Call::Event(Event::Cr3Write {
                    directory: Physical((1 + random.below(3)) << 12),
                    at: 0xf000_0000,
                }));
                calls.push(Call::Run(last, CODE + last as u32 * STRIDE));
                calls.push(Call::Event(Event::UserCode { base: Linear(random.below(3) << 24) }));
            }
            37 if switches => calls.push(Call::Event(Event::PageFault { linear: Linear(random.below(pages) << 12) })),
            38 if switches => {
                calls.push(Call::Event(Event::Invlpg { linear: Linear(0x90_0000 + (random.below(pages) << 12)) }))
            }
            39 if switches => calls.push(Call::Event(Event::Entry(EntryKind::Fault))),
            _ => calls.push(Call::Run(last, CODE + last as u32 * STRIDE)),
        }
    }
    calls
}

/// Loops, some with a marker in each round, disturbed once in so many rounds.
fn script(seed: u64, disturbed: u32) -> Vec<Call> {
    let mut random = Random(seed);
    let mut calls = vec![
        Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0xf000_0000 }),
        Call::Event(Event::ControlWrite { global_pages: seed & 1 == 0 }),
    ];
    for case in 0..4 {
        let length = 2 + random.below(120) as usize;
        let body = body(&mut random, length, case != 0);
        calls.push(Call::Marker(Marker::Begin(case)));
        for round in 0..1500 {
            if case % 2 == 1 || round % 500 == 100 {
                calls.push(Call::Marker(Marker::Iteration));
            }
            calls.extend(&body);
            if random.below(disturbed) == 0 {
                calls.push(Call::Event(Event::Entry(EntryKind::Interrupt)));
                calls.push(Call::Run(0, CODE));
            }
        }
        calls.extend([Call::Marker(Marker::End), Call::Change]);
    }
    calls
}

#[test]
fn a_replay_that_counts_repetitions_measures_the_same() {
    let machines = [
        machine("pentium4-1400", &[]),
        machine("pentium4-1400", &["dtlb.entries:8", "l2.replacement:lru", "itlb.lookup:trace-build"]),
        machine("pentium-133", &[]),
        machine("pentium-90", &["l1d.tagged:virtual"]),
        machine("i486", &[]),
    ];
    let mut shares = Vec::new();
    for seed in 1..=12 {
        let calls = script(seed * 0x9e37_79b9, 500);
        for (number, machine) in machines.iter().enumerate() {
            for without_flush in [false, true] {
                let what = format!("seed {seed}, machine {number}, without flush {without_flush}");
                shares.push(compare(&calls, Some(machine), without_flush, &what));
            }
        }
        compare(&calls, None, false, "counters only");
    }
    shares.sort_by(f64::total_cmp);
    assert!(shares[shares.len() / 2] < 0.5, "most replays make few of the calls: {shares:?}");
}

/// Two runs that follow each other are the same byte again and again, and trace lines come out even only after some
/// rounds.
#[test]
fn a_loop_of_runs_is_hardly_modelled() {
    let mut calls = vec![Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0 })];
    for _ in 0..100_000 {
        calls.extend([Call::Run(3, CODE + 3 * STRIDE), Call::Run(5, CODE + 5 * STRIDE)]);
    }
    let share = compare(&calls, Some(&machine("pentium4-1400", &[])), false, "loop");
    assert!(share < 0.01, "{share}");
}

/// What was lost more than 1,048,576 switches and invalidations ago is charged to none of them, however these came
/// about.
#[test]
fn what_was_lost_long_ago_is_charged_as_in_the_run() {
    let machine = machine("pentium4-1400", &[]);
    let (early, late) = (Call::Data(0x100_0000, 4, false), Call::Data(0x91_0000, 4, false));
    for rounds in [250_000, 300_000] {
        let mut calls = vec![
            Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0 }),
            Call::Event(Event::UserCode { base: Linear(0) }),
            Call::Marker(Marker::Begin(0)),
            Call::Marker(Marker::Iteration),
            Call::Run(1, CODE),
            early,
            Call::Event(Event::Invlpg { linear: Linear(0x100_0000) }),
        ];
        for _ in 0..rounds {
            for base in [1 << 24, 0] {
                calls.extend([late, Call::Event(Event::Invlpg { linear: Linear(0x91_0000) })]);
                calls.extend([Call::Event(Event::UserCode { base: Linear(base) }), Call::Run(2, CODE)]);
            }
        }
        calls.extend([early, Call::Marker(Marker::Iteration), Call::Marker(Marker::End)]);
        let share = compare(&calls, Some(&machine), false, &format!("{rounds} rounds"));
        assert!(share < 0.05, "{share}");
    }
}

/// What was evicted from a set at random depends on how often that has happened: such a state does not come back.
#[test]
fn a_state_that_does_not_come_back_is_modelled_to_the_end() {
    let machine = machine("pentium4-1400", &["dtlb.replacement:random", "dtlb.entries:8"]);
    let mut calls = vec![Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0 }), Call::Run(0, CODE)];
    for _ in 0..2000 {
        calls.extend((0..20).flat_map(|page| [Call::Run(1, CODE), Call::Data(page << 12, 4, false)]));
    }
    assert_eq!(compare(&calls, Some(&machine), false, "random"), 1.0);
}

/// Compares a run that counts its loops with one that makes all calls; returns which share of the calls the former has
/// made.
fn compare_live(calls: &[Call], machine: &MachineFile, what: &str) -> f64 {
    let header = header();
    let measurement = || Measurement::<Ia32>::new(Some(machine), &[], &header);
    let (mut all, mut live) = (measurement(), Live::new(measurement()));
    play(calls, &mut all);
    let runs: &'static [Run<Ia32>] = runs(|linear, instructions| live.prepare(linear, instructions)).leak();
    let mut tables = Tables::default();
    for call in calls {
        match *call {
            Call::Run(run, linear) => live.run(&runs[run], Linear(linear), &mut tables),
            Call::Retract(run) => live.retract(&runs[run], 0..1),
            Call::Data(linear, size, write) => live.data(Linear(linear), size, write, &mut tables),
            Call::Event(event) => live.event(&event, &mut tables),
            Call::Marker(marker) => live.marker(marker),
            Call::Change => tables.changes += 1,
        }
    }
    assert_eq!(live.report().to_json(), all.report().to_json(), "{what}");
    1.0 - live.counted() as f64 / calls.len() as f64
}

/// While a guest runs, its loops are counted, too.
#[test]
fn a_run_that_counts_its_loops_measures_the_same() {
    let machines = [
        machine("pentium4-1400", &[]),
        machine("pentium4-1400", &["dtlb.entries:8", "l2.replacement:lru", "itlb.lookup:trace-build"]),
        machine("pentium-133", &[]),
        machine("i486", &[]),
    ];
    let mut shares = Vec::new();
    for seed in 1..=8 {
        let mut calls = script(seed * 0x9e37_79b9, 2000);
        // What makes an unmapped page a mapped one is not known: loops that reach for one are modelled.
        calls.retain(|call| !matches!(call, Call::Data(linear, ..) if linear >> 12 > 0x90c));
        for (number, machine) in machines.iter().enumerate() {
            shares.push(compare_live(&calls, machine, &format!("seed {seed}, machine {number}")));
        }
    }
    shares.sort_by(f64::total_cmp);
    assert!(shares[0] < 0.7, "some loops are long enough: {shares:?}");
}

/// A loop that writes to its page tables may change them without a call that says so.
#[test]
fn a_loop_that_writes_to_its_tables_is_modelled() {
    let machine = machine("pentium4-1400", &[]);
    let (table, page) = (0x2000, 7 << 12);
    let round = |write: u32| {
        let access = [Call::Data(page, 4, false), Call::Event(Event::Invlpg { linear: Linear(page) })];
        [&[Call::Run(1, CODE), Call::Data(write, 4, true)], &access[..]].concat()
    };
    let script = |write: u32, changes: bool| {
        let mut calls = vec![
            Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0 }),
            Call::Event(Event::UserCode { base: Linear(0) }),
        ];
        for number in 0..60_000 {
            calls.extend(round(write));
            calls.extend((changes && number % 100 == 7).then_some(Call::Change));
        }
        calls
    };
    assert_eq!(compare_live(&script(table, true), &machine, "tables written"), 1.0);
    let share = compare_live(&script(table + 0x3000, false), &machine, "another page written");
    assert!(share < 0.2, "{share}");
}
