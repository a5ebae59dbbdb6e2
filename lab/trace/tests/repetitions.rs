// SPDX-License-Identifier: GPL-2.0-or-later
//! Calls that repeat themselves: a replay that makes only some of them and counts the others measures what one that makes
//! all does, to the byte, on every machine.

use cobnut_model::{Class, EntryKind, Event, Instruction, Issue, MachineFile, PageTables, Pipe, Walk};
use cobnut_trace::{Checkpoint, CodeRange, Header, Marker, Measurement, Recorder, Replay, Run, Sink};
use std::ops::Range;
use std::path::Path;

const MEMORY: usize = 16 << 20;
const RUNS: usize = 24;
const CODE: u32 = 0x40_0000;
/// Of the distance between two runs, so that some start on one page and end on the next.
const STRIDE: u32 = 0xff8;

/// One frame for each page, some of them global, some by 4 MB pages.
struct Tables;

impl PageTables for Tables {
    fn walk(&mut self, linear: u32) -> Option<Walk> {
        let (page, large) = (linear >> 12, (0x80_0000..0xc0_0000).contains(&linear));
        let entries = [0x1000 + (linear >> 22) * 4, 0x2000 + page % 1024 * 4];
        let frame = (page << 12) % MEMORY as u32;
        (page % 61 != 60).then_some(Walk { frame, large, global: page % 5 == 0, entries })
    }
}

#[derive(Clone, Copy)]
enum Call {
    Run(usize, u32),
    Retract(usize),
    Data(u32, u8, bool),
    Event(Event),
    Marker(Marker),
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % bound
    }
}

fn instructions(number: usize) -> Vec<Instruction> {
    let classes =
        [Class::Alu, Class::Load, Class::Store, Class::Branch, Class::Cr3Write, Class::SegmentLoad, Class::Iret];
    let issue = Issue { pipe: Pipe::Either, writes: 1, address: 2, ..Issue::default() };
    let instruction = |n: usize| Instruction { length: 1 + (n % 5) as u8, class: classes[n % classes.len()], issue };
    (0..1 + number % 6).map(|n| instruction(n * 3 + number)).collect()
}

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
                calls.push(Call::Event(Event::Cr3Write { directory: (1 + random.below(3)) << 12, at: 0xf000_0000 }));
                calls.push(Call::Run(last, CODE + last as u32 * STRIDE));
                calls.push(Call::Event(Event::UserCode { base: random.below(3) << 24 }));
            }
            37 if switches => calls.push(Call::Event(Event::PageFault { linear: random.below(pages) << 12 })),
            38 if switches => {
                calls.push(Call::Event(Event::Invlpg { linear: 0x90_0000 + (random.below(pages) << 12) }))
            }
            39 if switches => calls.push(Call::Event(Event::Entry(EntryKind::Fault))),
            _ => calls.push(Call::Run(last, CODE + last as u32 * STRIDE)),
        }
    }
    calls
}

/// Loops, some with a marker in each round, disturbed now and then.
fn script(seed: u64) -> Vec<Call> {
    let mut random = Random(seed);
    let mut calls = vec![
        Call::Event(Event::Cr3Write { directory: 0x1000, at: 0xf000_0000 }),
        Call::Event(Event::ControlWrite { global_pages: seed & 1 == 0 }),
    ];
    for case in 0..4 {
        let length = 2 + random.below(120) as usize;
        let body = body(&mut random, length, case != 0);
        calls.push(Call::Marker(Marker::Begin(case)));
        for round in 0..600 {
            if case % 2 == 1 || round % 200 == 100 {
                calls.push(Call::Marker(Marker::Iteration));
            }
            calls.extend(&body);
            if random.below(200) == 0 {
                calls.push(Call::Event(Event::Entry(EntryKind::Interrupt)));
                calls.push(Call::Run(0, CODE));
            }
        }
        calls.push(Call::Marker(Marker::End));
    }
    calls
}

fn play(calls: &[Call], sink: &mut impl Sink) {
    let runs: Vec<Run> = (0..RUNS).map(|n| sink.prepare(CODE + n as u32 * STRIDE, instructions(n))).collect();
    for call in calls {
        match *call {
            Call::Run(run, linear) => sink.run(&runs[run], linear, &mut Tables),
            Call::Retract(run) => sink.retract(&runs[run], 0..1),
            Call::Data(linear, size, write) => sink.data(linear, size, write, &mut Tables),
            Call::Event(event) => sink.event(&event, &mut Tables),
            Call::Marker(marker) => sink.marker(marker),
        }
    }
}

/// Counts the calls that its measurement gets.
struct Counting(Measurement, usize);

impl Sink for Counting {
    fn prepare(&self, linear: u32, instructions: Vec<Instruction>) -> Run {
        self.0.prepare(linear, instructions)
    }
    fn run(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        self.1 += 1;
        self.0.run(run, linear, tables);
    }
    fn retract(&mut self, run: &Run, instructions: Range<usize>) {
        self.0.retract(run, instructions);
    }
    fn data(&mut self, linear: u32, size: u8, write: bool, tables: &mut impl PageTables) {
        self.0.data(linear, size, write, tables);
    }
    fn event(&mut self, event: &Event, tables: &mut impl PageTables) {
        self.0.event(event, tables);
    }
    fn marker(&mut self, marker: Marker) {
        self.0.marker(marker);
    }
    fn warn(&mut self, text: String) {
        self.0.warn(text);
    }
    fn checkpoint(&self) -> Option<Checkpoint> {
        self.0.checkpoint()
    }
    fn repeat(&mut self, from: &Checkpoint, now: &Checkpoint, at_most: u64) -> u64 {
        self.0.repeat(from, now, at_most)
    }
}

/// Holds both against each other; returns which share of the runs the replay has made.
fn compare(calls: &[Call], machine: Option<&MachineFile>, without_flush: bool, what: &str) -> f64 {
    let ranges = [CodeRange { name: "part".into(), addresses: CODE..CODE + 5 * STRIDE }];
    let measurement = || {
        let measurement = Measurement::new(machine, &[], &ranges, MEMORY);
        if without_flush {
            measurement.without_flush()
        } else {
            measurement
        }
    };
    let mut record = Vec::new();
    let header = Header { memory: MEMORY, ranges: ranges.to_vec(), provenance: serde_json::Value::Null };
    let mut recorder = Recorder::new(&mut record, &header).unwrap();
    play(calls, &mut recorder);
    recorder.finish().unwrap();
    drop(recorder);
    let (mut live, mut replayed) = (measurement(), Counting(measurement(), 0));
    play(calls, &mut live);
    Replay::new(&record[..]).unwrap().run(&mut replayed).unwrap();
    assert_eq!(replayed.0.report().to_string(), live.report().to_string(), "{what}");
    let made = calls.iter().filter(|call| matches!(call, Call::Run(..))).count();
    replayed.1 as f64 / made as f64
}

fn machine(name: &str, changes: &[&str]) -> MachineFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    let mut machine = MachineFile::read(&folder.join(name).with_extension("toml")).unwrap();
    changes.iter().for_each(|change| machine.set(change).unwrap());
    machine
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
        let calls = script(seed * 0x9e37_79b9);
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

/// Two runs that follow each other are the same byte again and again, and trace lines come out even only after some rounds.
#[test]
fn a_loop_of_runs_is_hardly_modelled() {
    let mut calls = vec![Call::Event(Event::Cr3Write { directory: 0x1000, at: 0 })];
    for _ in 0..100_000 {
        calls.extend([Call::Run(3, CODE + 3 * STRIDE), Call::Run(5, CODE + 5 * STRIDE)]);
    }
    let share = compare(&calls, Some(&machine("pentium4-1400", &[])), false, "loop");
    assert!(share < 0.01, "{share}");
}

/// What was lost more than 1,048,576 switches and invalidations ago is charged to none of them, however these came about.
#[test]
fn what_was_lost_long_ago_is_charged_as_in_the_run() {
    let machine = machine("pentium4-1400", &[]);
    let (early, late) = (Call::Data(0x100_0000, 4, false), Call::Data(0x91_0000, 4, false));
    for rounds in [250_000, 300_000] {
        let mut calls = vec![
            Call::Event(Event::Cr3Write { directory: 0x1000, at: 0 }),
            Call::Event(Event::UserCode { base: 0 }),
            Call::Marker(Marker::Begin(0)),
            Call::Marker(Marker::Iteration),
            Call::Run(1, CODE),
            early,
            Call::Event(Event::Invlpg { linear: 0x100_0000 }),
        ];
        for _ in 0..rounds {
            for base in [1 << 24, 0] {
                calls.extend([late, Call::Event(Event::Invlpg { linear: 0x91_0000 })]);
                calls.extend([Call::Event(Event::UserCode { base }), Call::Run(2, CODE)]);
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
    let mut calls = vec![Call::Event(Event::Cr3Write { directory: 0x1000, at: 0 }), Call::Run(0, CODE)];
    for _ in 0..2000 {
        calls.extend((0..20).flat_map(|page| [Call::Run(1, CODE), Call::Data(page << 12, 4, false)]));
    }
    assert_eq!(compare(&calls, Some(&machine), false, "random"), 1.0);
}
