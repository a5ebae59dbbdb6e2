// SPDX-License-Identifier: GPL-2.0-or-later
//! What the tests of replays share: calls of a made-up guest, and a comparison of a replay with the run itself.

use cobnut_model::ia32::{Class, Condition, Event, Instruction, Issue, Pipe, Walk};
use cobnut_model::{Linear, MachineFile, Page, Physical};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{CodeRange, Header, Marker, Mode, Recorder, Replay, Sink};
use std::ops::Range;
use std::path::Path;

type Run = cobnut_trace::Run<Ia32>;
type Measurement = cobnut_trace::Measurement<Ia32>;
type Checkpoint = cobnut_trace::Checkpoint<Ia32>;
type Stretch<'a> = cobnut_trace::Stretch<'a, Ia32>;

pub const MEMORY: u32 = 16 << 20;
pub const RUNS: usize = 24;
pub const CODE: u32 = 0x40_0000;
/// Of the distance between two runs, so that some start on one page and end on the next.
pub const STRIDE: u32 = 0xff8;

/// One frame for each page, some of them global, some by 4 MB pages. How often these were changed says which frame some
/// pages have, and whether some are parts of a 4 MB page.
#[derive(Default)]
pub struct Tables {
    pub changes: u32,
}

impl cobnut_model::Tables<Walk> for Tables {
    fn walk(&mut self, linear: Linear) -> Option<Walk> {
        let Page(page) = linear.page();
        let changed = if page % 16 == 7 { self.changes } else { 0 };
        let large = match linear.0 >> 22 {
            2 => true,
            3 => self.changes % 2 == 1,
            _ => false,
        };
        let entries = [Physical(0x1000 + (linear.0 >> 22) * 4), Physical(0x2000 + page % 1024 * 4)];
        let frame = Physical(((page + if large { 0 } else { changed * 64 }) << 12) % MEMORY);
        (page % 61 != 60).then_some(Walk { frame, large, global: page.is_multiple_of(5), entries })
    }
}

#[derive(Clone, Copy)]
pub enum Call {
    Run(usize, u32),
    Retract(usize),
    Data(u32, u8, bool),
    Event(Event),
    Marker(Marker),
    /// The page tables change without a call of the sink.
    Change,
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as u32 % bound
    }
}

pub fn instructions(number: usize) -> Vec<Instruction> {
    use Class::*;
    let classes = [Alu, Load, Store, Branch, Cr3Write, SegmentLoad, Iret, Call, Branch, Return, Indirect];
    let conditions = [Condition::Always, Condition::Forward, Condition::Backward];
    let instruction = |n: usize| {
        let condition = conditions[n % conditions.len()];
        let issue = Issue {
            pipe: Pipe::Either,
            writes: 1,
            address: 2,
            stack: n.is_multiple_of(2),
            condition,
            ..Issue::default()
        };
        Instruction { length: 1 + (n % 5) as u8, class: classes[n % classes.len()], issue }
    };
    (0..1 + number % 6).map(|n| instruction(n * 3 + number)).collect()
}

/// The runs of the made-up guest, as `prepare` makes them.
pub fn runs(prepare: impl Fn(Linear, Vec<Instruction>) -> Run) -> Vec<Run> {
    let run = |n: usize| {
        let mut run = prepare(Linear(CODE + n as u32 * STRIDE), instructions(n));
        run.mode = [Mode::Kernel, Mode::Stub, Mode::Trampoline, Mode::User][n % 4];
        run
    };
    (0..RUNS).map(run).collect()
}

pub fn play(calls: &[Call], sink: &mut impl Sink<Ia32>) {
    let runs = runs(|linear, instructions| sink.prepare(linear, instructions));
    let mut tables = Tables::default();
    for call in calls {
        match *call {
            Call::Run(run, linear) => sink.run(&runs[run], Linear(linear), &mut tables),
            Call::Retract(run) => sink.retract(&runs[run], 0..1),
            Call::Data(linear, size, write) => sink.data(Linear(linear), size, write, &mut tables),
            Call::Event(event) => sink.event(&event, &mut tables),
            Call::Marker(marker) => sink.marker(marker),
            Call::Change => tables.changes += 1,
        }
    }
}

/// Counts the runs that its measurement hears of.
pub struct Counting(Measurement, usize);

impl Sink<Ia32> for Counting {
    fn prepare(&self, linear: Linear, instructions: Vec<Instruction>) -> Run {
        self.0.prepare(linear, instructions)
    }
    fn run(&mut self, run: &Run, linear: Linear, tables: &mut impl cobnut_model::Tables<Walk>) {
        self.1 += 1;
        self.0.run(run, linear, tables);
    }
    fn retract(&mut self, run: &Run, instructions: Range<usize>) {
        self.0.retract(run, instructions);
    }
    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl cobnut_model::Tables<Walk>) {
        self.0.data(linear, size, write, tables);
    }
    fn event(&mut self, event: &Event, tables: &mut impl cobnut_model::Tables<Walk>) {
        self.0.event(event, tables);
    }
    fn marker(&mut self, marker: Marker) {
        self.0.marker(marker);
    }
    fn warn(&mut self, text: String) {
        self.0.warn(text);
    }
    fn again(&mut self, number: u32, stretch: Stretch, tables: &mut impl cobnut_model::Tables<Walk>) {
        self.1 += stretch.runs().count();
        self.0.again(number, stretch, tables);
    }
    fn forget_stretches(&mut self) {
        self.0.forget_stretches();
    }
    fn checkpoint(&self) -> Option<Checkpoint> {
        self.0.checkpoint()
    }
    fn repeat(&mut self, from: &Checkpoint, now: &Checkpoint, at_most: u64) -> u64 {
        self.0.repeat(from, now, at_most)
    }
}

/// What is said of the made-up guest.
pub fn header() -> Header {
    let ranges = [CodeRange { name: "part".into(), addresses: CODE..CODE + 5 * STRIDE }];
    let function = |n: u32| CodeRange { name: format!("f{n}"), addresses: CODE + n * STRIDE..CODE + (n + 1) * STRIDE };
    Header {
        architecture: "ia32".into(),
        memory: MEMORY,
        ranges: ranges.to_vec(),
        functions: (0..RUNS as u32 / 2).map(function).collect(),
        provenance: serde_json::Value::Null,
    }
}

/// Compares both; returns which share of the runs the replay has made.
pub fn compare(calls: &[Call], machine: Option<&MachineFile>, without_flush: bool, what: &str) -> f64 {
    let header = header();
    let measurement = || {
        let measurement = Measurement::new(machine, &[], &header);
        if without_flush {
            measurement.without_flush()
        } else {
            measurement
        }
    };
    let mut record = Vec::new();
    let mut recorder = Recorder::<Ia32, _>::new(&mut record, &header).unwrap();
    play(calls, &mut recorder);
    recorder.finish().unwrap();
    drop(recorder);
    let (mut live, mut replayed) = (measurement(), Counting(measurement(), 0));
    play(calls, &mut live);
    Replay::new(&record[..]).unwrap().run(&mut replayed).unwrap();
    assert_eq!(replayed.0.report().to_json(), live.report().to_json(), "{what}");
    let made = calls.iter().filter(|call| matches!(call, Call::Run(..))).count();
    replayed.1 as f64 / made as f64
}

pub fn machine(name: &str, changes: &[&str]) -> MachineFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    let mut machine = MachineFile::read(&folder.join(name).with_extension("toml")).unwrap();
    changes.iter().for_each(|change| machine.set(change).unwrap());
    machine
}
