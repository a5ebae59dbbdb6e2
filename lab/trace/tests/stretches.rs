// SPDX-License-Identifier: GPL-2.0-or-later
//! Stretches that come again and again, in an order that is never the same: a replay that books what it knows of them
//! measures what the run did, to the byte, on every machine.

mod common;

use cobnut_model::ia32::{EntryKind, Event};
use cobnut_model::{Linear, Physical};
use cobnut_trace::Marker;
use common::{compare, machine, Call, Random, CODE, RUNS, STRIDE};

/// Of the pages that data accesses are made to: in one area by small pages, in one by a 4 MB page, in one now by these
/// and now by that.
const AREAS: [u32; 3] = [0x100_0000, 0x90_0000, 0xd0_0000];

/// A line of a stack.
fn stack(random: &mut Random) -> Call {
    Call::Data(AREAS[0] + random.below(3) * 64, 4, random.below(2) == 0)
}

/// A part of a guest's work: runs and accesses to a few pages. The first and the last access are often to the same
/// line, as where registers are pushed and popped.
fn work(random: &mut Random) -> Vec<Call> {
    let (area, pages) = (AREAS[random.below(3) as usize], 1 + random.below(6));
    let first = random.below(30);
    let mut calls = Vec::new();
    for _ in 0..4 + random.below(20) {
        let run = random.below(RUNS as u32) as usize;
        calls.push(Call::Run(run, CODE + run as u32 * STRIDE + 0x40_0000 * (random.below(8) / 7)));
        if random.below(12) == 0 {
            calls.push(Call::Retract(run));
        }
        if calls.len() == 1 {
            calls.push(stack(random));
        }
        for _ in 0..random.below(5) {
            let linear = area + ((first + random.below(pages)) << 12) + random.below(0x1000);
            calls.push(Call::Data(linear, 1 << random.below(5), random.below(3) == 0));
        }
    }
    calls.push(stack(random));
    calls
}

/// What happens between two parts of the work, mostly nothing.
fn disturb(random: &mut Random, calls: &mut Vec<Call>) {
    let linear = AREAS[random.below(3) as usize] + (random.below(36) << 12);
    match random.below(120) {
        0..=3 => calls
            .push(Call::Event(Event::Cr3Write { directory: Physical((1 + random.below(3)) << 12), at: 0xf000_0000 })),
        4 => calls.push(Call::Event(Event::UserCode { base: Linear(random.below(3) << 24) })),
        5 => calls.push(Call::Event(Event::Invlpg { linear: Linear(linear) })),
        6 => calls.push(Call::Event(Event::PageFault { linear: Linear(linear) })),
        7 => calls.push(Call::Event(Event::Entry(EntryKind::Interrupt))),
        8 => calls.push(Call::Event(Event::Invlpg { linear: Linear(CODE + (random.below(24) << 12)) })),
        9 => calls.push(Call::Change),
        _ => {}
    }
}

/// Half of the work is one of a few parts, and all of it is done under markers in the second of three cases.
fn script(seed: u64) -> Vec<Call> {
    let mut random = Random(seed);
    let parts: Vec<_> = (0..40).map(|_| work(&mut random)).collect();
    let mut calls = vec![
        Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0xf000_0000 }),
        Call::Event(Event::ControlWrite { global_pages: seed & 1 == 0 }),
    ];
    for case in 0..3 {
        calls.push(Call::Marker(Marker::Begin(case)));
        for round in 0..1000 {
            if round % 100 == 99 && case == 1 || round == 900 {
                calls.push(Call::Marker(Marker::Iteration));
            }
            let among = if random.below(2) == 0 { 4 } else { parts.len() as u32 };
            calls.extend(&parts[random.below(among) as usize]);
            disturb(&mut random, &mut calls);
        }
        calls.push(Call::Marker(Marker::Iteration));
        calls.push(Call::Marker(Marker::End));
    }
    calls
}

#[test]
fn a_replay_that_knows_stretches_measures_the_same() {
    let machines = [
        machine("pentium4-1400", &[]),
        machine("pentium4-1400", &["trace_cache.taken_branches:0", "itlb.lookup:trace-build", "l1d.line_bytes:16"]),
        machine(
            "pentium4-1400",
            &["dtlb.entries:8", "dtlb.replacement:random", "l1d.replacement:random", "itlb.entries:8"],
        ),
        machine(
            "pentium4-1400",
            &["l1d.write_policy:write-back", "l1d.replacement:round-robin", "trace_cache.lines:64"],
        ),
        machine(
            "pentium4-1400",
            &["l1d.tagged:virtual", "dtlb.associativity:4", "l2.write_allocate:false", "l2.size_bytes:16384"],
        ),
        machine("pentium-133", &[]),
        machine("pentium-133", &["l1d.write_allocate:true", "l1i.replacement:random"]),
        machine("pentium-90", &["l1d.tagged:virtual", "l1i.tagged:virtual"]),
        machine("i486", &[]),
        machine("i486", &["tlb.replacement:random", "l1.write_policy:write-back"]),
    ];
    for seed in 1..=3 {
        let calls = script(seed * 0x9e37_79b9);
        for (number, machine) in machines.iter().enumerate() {
            for without_flush in [false, true] {
                let what = format!("seed {seed}, machine {number}, without flush {without_flush}");
                compare(&calls, Some(machine), without_flush, &what);
            }
        }
    }
}

/// More than a record remembers: both sides forget at the same place, and numbers mean something else from then on.
#[test]
fn stretches_are_forgotten_on_both_sides() {
    let mut random = Random(1);
    let parts: Vec<_> = (0..40).map(|_| work(&mut random)).collect();
    let mut calls = vec![Call::Event(Event::Cr3Write { directory: Physical(0x1000), at: 0xf000_0000 })];
    for round in 0..60_000 {
        calls.push(Call::Run(1, CODE + STRIDE));
        calls.extend((0..40).map(|_| Call::Data(random.below(1 << 28), 4, false)));
        if round % 8 == 0 {
            (0..4).for_each(|_| calls.extend(&parts[random.below(40) as usize]));
        }
    }
    compare(&calls, Some(&machine("pentium4-1400", &[])), false, "forgetting");
}
