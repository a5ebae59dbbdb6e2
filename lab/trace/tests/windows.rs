// SPDX-License-Identifier: GPL-2.0-or-later
//! A run that is modelled in random windows, held against the same run modelled as a whole.

// of which this test uses a part
#[allow(dead_code)]
mod common;

use cobnut_model::ia32::{EntryKind, Event};
use cobnut_model::{Linear, Physical};
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{CodeRange, Header, Marker, Measurement, Plan, Recorder, Replay, Windows};
use common::{machine, play, Call, Random, CODE, MEMORY, RUNS, STRIDE};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

const MACHINE: &str = "pentium-133";
const ROUNDS: usize = 4_000;
/// Page directories of two spaces, of which one has segments of its own.
const SPACES: [u32; 2] = [0x1000, 0x5000];

/// Work in turns of ten rounds, of which two take much longer than the others: a fixed step would see always these or
/// never. It gets dearer with time, too. Before and after the case there is work that is none of it.
fn guest() -> Vec<Call> {
    let mut random = Random(4711);
    let mut calls = vec![
        Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: CODE }),
        Call::Event(Event::ControlWrite { global_pages: true }),
        Call::Marker(Marker::Begin(7)),
    ];
    for round in 0..ROUNDS {
        if round % 100 == 50 {
            calls.push(Call::Marker(Marker::Iteration));
        }
        let dear = round % 10 >= 8;
        for _ in 0..12 {
            let run = random.below(if dear { RUNS as u32 } else { 4 }) as usize;
            calls.push(Call::Run(run, CODE + run as u32 * STRIDE));
            let area = if dear { 0x8_0000 } else { 0x400 + round as u32 };
            calls.push(Call::Data(0x100_0000 + random.below(area), 4, random.below(2) == 0));
        }
        match random.below(40) {
            3 if round % 3 == 0 => {
                // the new space's first user code follows at once: no unit ends in between
                let space = SPACES[round % SPACES.len()];
                calls.push(Call::Event(Event::Cr3Write { directory: Physical(space), at: CODE }));
                calls.push(Call::Event(Event::UserCode { base: Linear(space & 0x4000) }));
            }
            0 => calls.push(Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: CODE })),
            1 => calls.push(Call::Event(Event::Entry(EntryKind::Interrupt))),
            2 => calls.push(Call::Retract(0)),
            _ => {}
        }
    }
    calls.extend([Call::Marker(Marker::Iteration), Call::Marker(Marker::End)]);
    calls
}

/// Of which functions and one part of the code have names.
fn header() -> Header {
    let code = |name: String, runs: Range<u32>| CodeRange {
        name,
        addresses: CODE + runs.start * STRIDE..CODE + runs.end * STRIDE,
    };
    Header {
        architecture: "ia32".into(),
        memory: MEMORY,
        ranges: vec![code("part".into(), 1..3)],
        functions: (0..RUNS as u32 / 2).map(|n| code(format!("f{n}"), n..n + 1)).collect(),
        provenance: Value::Null,
    }
}

/// What `plan` shows of the guest, as text; with `pieces` it goes on with those.
fn sampled(calls: &[Call], plan: &str, pieces: Option<&Path>) -> Result<String, String> {
    sampled_on(MACHINE, calls, plan, pieces)
}

fn sampled_on(name: &str, calls: &[Call], plan: &str, pieces: Option<&Path>) -> Result<String, String> {
    let mut windows = Windows::<Ia32>::new(&machine(name, &[]), &[], &header(), Plan::parse(plan)?);
    if let Some(path) = pieces {
        windows = windows.with_pieces(path, &Value::Null)?;
    }
    let mut windows = windows.start();
    play(calls, &mut windows);
    Ok(windows.report().to_json())
}

fn shown(calls: &[Call], plan: &str) -> Value {
    serde_json::from_str(&sampled(calls, plan, None).unwrap()).unwrap()
}

/// What the guest costs when all of it is modelled.
fn whole(calls: &[Call]) -> Value {
    let mut measurement = Measurement::<Ia32>::new(Some(&machine(MACHINE, &[])), &[], &header());
    play(calls, &mut measurement);
    serde_json::from_str(&measurement.report().to_json()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_run_that_is_all_windows_costs_what_it_costs() {
    let calls = guest();
    let (all, found) = (whole(&calls), shown(&calls, "200/1:warm=0"));
    let estimated = &found["run"]["estimated"];
    let rows = all["totals"]["ledger"].as_object().unwrap();
    for (name, cycles) in rows.iter().chain([(&"cycles".to_string(), &all["totals"]["cycles"])]) {
        let value = number(&estimated[name]["value"]);
        assert_eq!(value.floor(), number(cycles), "{name}");
        assert!(number(&estimated[name]["error"]) < 0.01, "{name}");
    }
    assert_eq!(found["run"]["windows"], found["run"]["units"]);
    assert_eq!(found["run"]["counted"]["entries_irq"], all["totals"]["entries_irq"]);
    let case: f64 = all["regions"][0]["cycles_total"].as_f64().unwrap();
    assert_eq!(number(&found["cases"][0]["estimated"]["cycles"]["value"]).floor(), case);
    assert_eq!(found["cases"][0]["iterations"], all["regions"][0]["iterations"]);
}

#[test]
fn such_a_run_has_the_functions_causes_and_parts_that_it_has() {
    let calls = guest();
    let (all, found) = (whole(&calls), shown(&calls, "200/1:warm=0"));
    let (region, case) = (&all["regions"][0], &found["cases"][0]);
    let functions: BTreeMap<&str, f64> =
        list(&region["functions"]).iter().map(|one| (text(&one["symbol"]), number(&one["cycles"]))).collect();
    assert_eq!(list(&case["functions"]).len(), functions.len());
    for one in list(&case["functions"]) {
        assert_eq!(number(&one["value"]).floor(), functions[text(&one["symbol"])], "{one}");
        assert_eq!(number(&one["error"]), 0.0, "{one}");
    }
    // by names, for windows number switches as they come
    let named = |causes: &Value, switches: &Value| -> BTreeMap<String, (f64, f64)> {
        let named = |one: &Value| {
            let switch = one["switch"].as_u64().map(|index| switches[index as usize].to_string());
            let of = |what: &Value| number(what.get("value").unwrap_or(what));
            let key = format!("{} {} {}", one["category"], one["kind"], switch.unwrap_or_default());
            (key, (of(&one["refills"]), of(&one["cycles"])))
        };
        list(causes).iter().map(named).collect()
    };
    let (charged, estimated) = (named(&region["causes"], &all["switches"]), named(&case["causes"], &found["switches"]));
    assert!(charged.len() > 10 && charged.keys().any(|key| key.contains("cr3") && key.contains("flushed")));
    assert_eq!(charged.keys().collect::<Vec<_>>(), estimated.keys().collect::<Vec<_>>());
    for (key, (refills, cycles)) in charged {
        let (same, close) = estimated[&key];
        assert_eq!(refills, same, "{key}");
        // whole cycles are rounded along the charges of a category
        assert!((close - cycles).abs() < 1.0, "{key}: {close} for {cycles}");
    }
    let sum = |what: &str| -> f64 { list(&all["ranges"][0]["per_iteration"]["part"][what]).iter().map(number).sum() };
    assert_eq!(number(&case["ranges"]["part"]["instructions"]), sum("instructions"));
    assert!((number(&case["ranges"]["part"]["cycles"]) - sum("cycles")).abs() <= 1.0);
}

#[test]
fn functions_and_causes_are_parts_of_what_they_are_of() {
    for plan in ["60/8:warm=40", "60/8:warm=0", "60/8:warm=0:misses=on"] {
        let found = shown(&guest(), plan);
        let run = &found["run"];
        let close = |part: f64, all: &Value| (part - number(&all["value"])).abs() < 1.0;
        let spent: f64 = list(&run["functions"]).iter().map(|one| number(&one["value"])).sum();
        assert!(close(spent, &run["estimated"]["cycles"]), "{plan}: {spent}");
        let refilled: f64 = list(&run["causes"])
            .iter()
            .filter(|one| one["category"] == "tlb_refill_data")
            .map(|one| number(&one["cycles"]["value"]))
            .sum();
        assert!(refilled > 0.0 && close(refilled, &run["estimated"]["tlb_refill_data"]), "{plan}: {refilled}");
        assert!(list(&run["functions"]).iter().all(|one| number(&one["error"]) > 0.0), "{plan}");
    }
}

#[test]
fn windows_are_off_by_what_they_say() {
    const SEEDS: usize = 60;
    let calls = guest();
    let truth = number(&whole(&calls)["totals"]["cycles"]);
    let (mut within, mut relative) = ([0, 0], 0.0);
    for seed in 1..=SEEDS {
        let found = shown(&calls, &format!("60/8:warm=40:seed={seed}"));
        let cycles = &found["run"]["estimated"]["cycles"];
        let (value, error) = (number(&cycles["value"]), number(&cycles["error"]));
        let off = (value - truth).abs();
        within[0] += (off <= error) as usize;
        within[1] += (off <= 2.0 * error) as usize;
        relative += error / truth / SEEDS as f64;
    }
    assert!((0.005..0.15).contains(&relative), "the error is one that can be missed: {relative}");
    assert!((SEEDS * 52 / 100..=SEEDS * 83 / 100).contains(&within[0]), "two thirds within one error: {within:?}");
    assert!(within[1] >= SEEDS * 88 / 100, "nineteen of twenty within two: {within:?}");
}

#[test]
fn misses_are_those_of_the_whole_run() {
    let calls = guest();
    let (all, found) = (whole(&calls), shown(&calls, "60/20:warm=4:misses=on"));
    for name in ["itlb_misses", "dtlb_misses", "dtlb_flushed_refills"] {
        assert!(number(&all["totals"][name]) > 0.0 || name == "dtlb_flushed_refills", "{name}");
        assert_eq!(found["run"]["counted"][name], all["totals"][name], "{name}");
    }
    for name in ["mispredictions", "blocked_loads"] {
        assert_eq!(found["run"]["counted"][name], Value::Null, "jumps and stores are followed in windows only");
        assert!(found["run"]["estimated"][name].is_object(), "{name}");
    }
    let plain = shown(&calls, "60/20:warm=4");
    assert_eq!(plain["run"]["counted"]["itlb_misses"], Value::Null, "nothing looks them up between windows");
}

#[test]
fn a_replay_measures_the_same_windows() {
    let calls = guest();
    let mut record = Vec::new();
    let mut recorder = Recorder::<Ia32, _>::new(&mut record, &header()).unwrap();
    play(&calls, &mut recorder);
    recorder.finish().unwrap();
    drop(recorder);
    for plan in ["60/8:warm=3", "60/8:warm=3:misses=on"] {
        let file = machine(MACHINE, &[]);
        let mut replayed = Windows::<Ia32>::new(&file, &[], &header(), Plan::parse(plan).unwrap()).start();
        Replay::new(&record[..]).unwrap().run(&mut replayed).unwrap();
        assert_eq!(replayed.report().to_json(), sampled(&calls, plan, None).unwrap(), "{plan}");
    }
}

/// A file that goes with the test.
struct Pieces(PathBuf);

impl Pieces {
    fn new(name: &str) -> Self {
        Pieces(std::env::temp_dir().join(format!("cobnut-pieces-{name}-{}", std::process::id())))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }

    fn write(&self, text: &str) {
        std::fs::write(&self.0, text).unwrap();
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

#[test]
fn a_run_goes_on_with_the_windows_that_it_has() {
    for machine in [MACHINE, "pentium4-1400"] {
        for plan in ["60/8:warm=3", "60/8:warm=3:misses=on", "9/8:warm=0:misses=on"] {
            goes_on(machine, plan);
        }
    }
}

/// The guest, whose spaces run user code only some time after the switches to them: units end in between.
fn unresolved() -> Vec<Call> {
    let mut calls = guest();
    for at in (0..calls.len() - 30).rev() {
        if matches!(calls[at], Call::Event(Event::UserCode { .. })) {
            calls[at..at + 24].rotate_left(1);
        }
    }
    calls
}

fn goes_on(machine: &str, plan: &str) {
    let (calls, pieces) = (unresolved(), Pieces::new("goes-on"));
    let sampled = |calls: &[Call], plan: &str, pieces: Option<&Path>| sampled_on(machine, calls, plan, pieces);
    let all = sampled(&calls, plan, None).unwrap();
    assert_eq!(sampled(&calls, plan, Some(&pieces.0)).unwrap(), all);
    let text = pieces.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 20, "{}", lines.len());
    for cut in [1, 2, 9, lines.len() / 2, lines.len()] {
        let broken_off = lines[cut..].first().map_or("", |line| &line[..line.len() / 2]);
        pieces.write(&(lines[..cut].join("\n") + "\n" + broken_off));
        assert_eq!(sampled(&calls, plan, Some(&pieces.0)).unwrap(), all, "{plan} from {cut} lines");
        assert_eq!(pieces.text().lines().count(), lines.len(), "{plan} from {cut} lines");
    }
    // windows that are there are not measured again: what the file says of one counts
    let (before, last) = text.rsplit_once("\"figures\":[").unwrap();
    let all_there = format!("{before}\"figures\":[9{last}");
    pieces.write(&all_there);
    assert_ne!(sampled(&calls, plan, Some(&pieces.0)).unwrap(), all);
    assert_eq!(pieces.text(), all_there);
}

#[test]
fn windows_of_something_else_are_refused() {
    let (calls, pieces) = (guest(), Pieces::new("refused"));
    sampled(&calls, "60/8", Some(&pieces.0)).unwrap();
    let refused = |plan: &str| sampled(&calls, plan, Some(&pieces.0)).unwrap_err();
    assert!(refused("60/8:seed=2").contains("is of another run"));
    assert!(refused("60/8:misses=on").contains("is of another run"));
    let kept = pieces.text();
    let causes = r#"[{"category":99,"kind":0,"switch":null,"refills":1,"milli":1}]"#;
    let no_category = format!(r#"{{"unit":1,"instructions":1,"figures":[],"functions":[],"causes":{causes}}}"#);
    for wrong in ["{}", &no_category] {
        pieces.write(&format!("{kept}{wrong}\n"));
        assert!(refused("60/8").contains("holds what is no window"), "{wrong}");
    }
}
