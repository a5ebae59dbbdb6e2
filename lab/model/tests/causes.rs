// SPDX-License-Identifier: GPL-2.0-or-later
//! 6xx: what refills are charged to.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::*;
use common::*;
use std::collections::BTreeMap;

const A: u32 = 0x10_0000;
const B: u32 = 0x20_0000;
const C: u32 = 0x30_0000;
/// Where the CR3 writes of these tests stand.
const AT: u32 = 0xf010_0000;
const MACHINES: [&str; 4] = ["i486", "pentium-90", "pentium-133", "pentium4-1400"];

fn feed(machine: &mut Machine, tables: &mut Identity, events: &[Event]) {
    events.iter().for_each(|event| machine.event(event, tables));
}

/// CR3 is written, and user code runs.
fn switch(directory: u32, base: u32) -> [Event; 2] {
    [Event::Cr3Write { directory: Physical(directory), at: AT }, Event::UserCode { base: Linear(base) }]
}

fn read(page: u32) -> Event {
    read_at(page << 12)
}

fn space(directory: u32, code_base: u32) -> Space {
    Space { directory: Physical(directory), code_base: Linear(code_base) }
}

/// Refills of the data TLB by kind and switch.
fn data_refills(machine: &mut Machine) -> Vec<(Kind, Switch, u64)> {
    let causes = machine.causes();
    let charges = causes.charges().since(&Charges::default());
    let data = charges.into_iter().filter(|charge| charge.category == Category::TlbRefillData);
    data.map(|charge| (charge.kind, causes.switches()[charge.switch], charge.sum.refills)).collect()
}

#[test]
fn t601_a_refill_is_charged_to_the_switch_that_flushed_its_entry() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    for _ in 0..3 {
        feed(&mut machine, &mut tables, &switch(A, 0));
        feed(&mut machine, &mut tables, &[read(1), read(2)]);
        feed(&mut machine, &mut tables, &switch(B, 0));
        feed(&mut machine, &mut tables, &[read(1)]);
    }
    let flushed = |from, to| Switch { from: space(from, 0), to: space(to, 0), how: How::Cr3, at: AT };
    let refills = data_refills(&mut machine);
    assert_eq!(refills[0], (Kind::Flushed, flushed(A, B), 2 * 2), "both pages, in both rounds after the first");
    assert_eq!(refills[1], (Kind::Flushed, flushed(B, A), 2));
    assert_eq!((refills[2].0, refills[2].2), (Kind::Cold, 3), "a page that another space had is new to this one");
    assert_eq!(refills.len(), 3);
}

#[test]
fn t602_an_eviction_is_charged_to_the_switch_before_it() {
    let mut machine = Machine::new(&pentium4(&["dtlb.entries:4"]));
    let mut tables = Identity::default();
    feed(&mut machine, &mut tables, &switch(A, 0));
    feed(&mut machine, &mut tables, &[1, 2, 3, 4].map(read));
    // To a small space in the same directory, by segments: nothing is flushed, but its pages displace two.
    feed(&mut machine, &mut tables, &[Event::UserCode { base: Linear(0xd000_0000) }, read(0xd0001), read(0xd0002)]);
    feed(&mut machine, &mut tables, &[Event::UserCode { base: Linear(0) }, read(1)]);
    let by_segments = Switch { from: space(A, 0), to: space(A, 0xd000_0000), how: How::Segments, at: 0 };
    let refills = data_refills(&mut machine);
    assert_eq!(refills[0], (Kind::Evicted, by_segments, 1));
    assert_eq!((refills[1].0, refills[1].2), (Kind::Cold, 6));
}

#[test]
fn t603_a_cr3_write_with_other_segments_is_one_switch() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    feed(&mut machine, &mut tables, &switch(A, 0));
    feed(&mut machine, &mut tables, &[read(1)]);
    feed(&mut machine, &mut tables, &[Event::Cr3Write { directory: Physical(B), at: AT }, read(1)]);
    feed(&mut machine, &mut tables, &[Event::UserCode { base: Linear(0xd000_0000) }]);
    feed(&mut machine, &mut tables, &switch(A, 0));
    feed(&mut machine, &mut tables, &[read(1)]);
    let switches = machine.causes().switches();
    let known: Vec<_> = switches.iter().filter(|s| s.how != How::Unknown).map(|s| (s.from, s.to, s.how)).collect();
    let (a, b) = (space(A, 0), space(B, 0xd000_0000));
    assert_eq!(known, [(space(0, 0), a, How::Cr3), (a, b, How::Cr3), (b, a, How::Cr3)]);
    assert_eq!(data_refills(&mut machine)[0].1.to, b);
}

#[test]
fn t604_invalidations_are_no_switches_and_named() {
    let charged_to = |event: Event| {
        let mut machine = Machine::new(&pentium4(&[]));
        let mut tables = Identity::default();
        feed(&mut machine, &mut tables, &switch(A, 0));
        feed(&mut machine, &mut tables, &[read(1), event, read(1)]);
        let (kind, switch, refills) = data_refills(&mut machine)[0];
        assert_eq!((kind, refills), (Kind::Flushed, 1));
        assert_eq!((switch.from, switch.to), (space(A, 0), space(A, 0)));
        switch.how
    };
    assert_eq!(charged_to(Event::Cr3Write { directory: Physical(A), at: AT }), How::Reload);
    assert_eq!(charged_to(Event::ControlWrite { global_pages: true }), How::Control);
    assert_eq!(charged_to(Event::Invlpg { linear: Linear(0x1000) }), How::Invlpg);
    assert_eq!(charged_to(Event::PageFault { linear: Linear(0x1000) }), How::PageFault);
}

#[test]
fn t605_a_loss_too_long_ago_is_charged_to_no_known_switch() {
    let how = |invalidations| {
        let mut machine = Machine::new(&pentium4(&["dtlb.entries:4", "itlb.entries:4"]));
        let mut tables = Identity::default();
        feed(&mut machine, &mut tables, &switch(A, 0));
        feed(&mut machine, &mut tables, &[read(1)]);
        feed(&mut machine, &mut tables, &switch(B, 0));
        feed(&mut machine, &mut tables, &switch(A, 0));
        (0..invalidations).for_each(|_| machine.event(&Event::PageFault { linear: Linear(0) }, &mut tables));
        feed(&mut machine, &mut tables, &[read(1)]);
        data_refills(&mut machine)[0].1.how
    };
    assert_eq!(how((1 << 20) - 2), How::Cr3);
    assert_eq!(how((1 << 20) - 1), How::Unknown);
}

/// Pages from this one on are global.
const GLOBAL_PAGES: u32 = 10;
const ENTRIES: usize = 4;

fn random_event(dice: &mut Dice) -> Event {
    let page = 1 + dice.below(14);
    match dice.below(40) {
        0..3 => Event::Cr3Write {
            directory: dice.of(&[Physical(A), Physical(B), Physical(C)]),
            at: dice.of(&[AT, AT + 16]),
        },
        3..6 => Event::UserCode { base: dice.of(&[Linear(0), Linear(0), Linear(0xd000_0000)]) },
        6 => Event::Invlpg { linear: Linear(page << 12) },
        7 => Event::PageFault { linear: Linear(page << 12) },
        8 if dice.below(4) == 0 => Event::ControlWrite { global_pages: dice.below(4) > 0 },
        _ => read(page),
    }
}

/// A data TLB told as naively as possible, with everything that ever happened kept in lists.
#[derive(Default)]
struct Reference {
    /// Page, its directory unless global, and when it was last used.
    held: Vec<(u32, Option<Physical>, usize)>,
    /// Page and directory, whether it was flushed, and by which event.
    lost: Vec<(u32, Option<Physical>, bool, usize)>,
    /// How each miss came about: flushed or evicted at an event, or cold.
    misses: Vec<Option<(bool, usize)>>,
}

impl Reference {
    fn run(&mut self, events: &[Event]) {
        let (mut directory, mut global_pages) = (Physical(0), false);
        for (now, event) in events.iter().enumerate() {
            match *event {
                Event::Read { linear, .. } => {
                    let Page(page) = linear.page();
                    let owner = if page >= GLOBAL_PAGES && global_pages { None } else { Some(directory) };
                    self.read(page, owner, now);
                }
                Event::Cr3Write { directory: next, .. } => {
                    self.drop(now, |_, owner| owner.is_some());
                    directory = next;
                }
                Event::ControlWrite { global_pages: enabled } => {
                    self.drop(now, |_, _| true);
                    global_pages = enabled;
                }
                Event::Invlpg { linear } | Event::PageFault { linear } => {
                    self.drop(now, |page, _| page == linear.page().0)
                }
                _ => {}
            }
        }
    }

    fn read(&mut self, page: u32, owner: Option<Physical>, now: usize) {
        if let Some(entry) = self.held.iter_mut().find(|entry| entry.0 == page) {
            entry.2 = now;
            return;
        }
        let lost = self.lost.iter().rev().find(|lost| (lost.0, lost.1) == (page, owner));
        self.misses.push(lost.map(|lost| (lost.2, lost.3)));
        if self.held.len() == ENTRIES {
            let oldest = (0..ENTRIES).min_by_key(|&i| self.held[i].2).unwrap();
            let victim = self.held.remove(oldest);
            self.lost.push((victim.0, victim.1, false, now));
        }
        self.held.push((page, owner, now));
    }

    fn drop(&mut self, now: usize, goes: impl Fn(u32, Option<Physical>) -> bool) {
        let (gone, kept) = self.held.iter().partition(|entry| goes(entry.0, entry.1));
        self.held = kept;
        let gone: Vec<(u32, Option<Physical>, usize)> = gone;
        self.lost.extend(gone.iter().map(|entry| (entry.0, entry.1, true, now)));
    }
}

/// The space after each event as it is known then. Its code segment is that of the user code that ran last.
fn known_spaces(events: &[Event]) -> Vec<Space> {
    let mut running = Space::default();
    let one = |event: &Event| {
        match *event {
            Event::Cr3Write { directory, .. } => running.directory = directory,
            Event::UserCode { base } => running.code_base = base,
            _ => {}
        }
        running
    };
    events.iter().map(one).collect()
}

/// The same with hindsight: after a switch by CR3 it is the one whose user code came next.
fn spaces(events: &[Event]) -> Vec<Space> {
    let mut running = Space::default();
    let mut found = Vec::new();
    for (now, event) in events.iter().enumerate() {
        match *event {
            Event::Cr3Write { directory, .. } if directory != running.directory => {
                running.directory = directory;
                let until_next = events[now + 1..].iter().take_while(|e| !matches!(e, Event::Cr3Write { .. }));
                let next = until_next.filter_map(|e| if let Event::UserCode { base } = e { Some(*base) } else { None });
                running.code_base = next.take(1).last().unwrap_or(running.code_base);
            }
            Event::UserCode { base } => running.code_base = base,
            _ => {}
        }
        found.push(running);
    }
    found
}

/// What happened at event `now`: a switch or an invalidation.
fn happened(events: &[Event], now: usize) -> Option<Switch> {
    let spaces = spaces(events);
    let from = if now == 0 { Space::default() } else { spaces[now - 1] };
    let (to, known) = (spaces[now], known_spaces(events)[now]);
    let invalidated = |how| Some(Switch { from: known, to: known, how, at: 0 });
    match events[now] {
        Event::Cr3Write { at, .. } if from.directory != to.directory => Some(Switch { from, to, how: How::Cr3, at }),
        Event::Cr3Write { at, .. } => Some(Switch { from: known, to: known, how: How::Reload, at }),
        Event::UserCode { .. } if from != to => Some(Switch { from, to, how: How::Segments, at: 0 }),
        Event::ControlWrite { .. } => invalidated(How::Control),
        Event::Invlpg { .. } => invalidated(How::Invlpg),
        Event::PageFault { .. } => invalidated(How::PageFault),
        _ => None,
    }
}

#[test]
fn t606_random_streams_are_charged_as_by_a_model_that_keeps_everything() {
    for seed in 1..=200 {
        let mut dice = Dice::new(seed);
        let events: Vec<Event> = (0..1000).map(|_| random_event(&mut dice)).collect();
        let mut machine = Machine::new(&pentium4(&["dtlb.entries:4", "walker.reads_through:constant"]));
        let mut tables = Identity { global_from: GLOBAL_PAGES << 12, ..Default::default() };
        feed(&mut machine, &mut tables, &events);

        let mut reference = Reference::default();
        reference.run(&events);
        let happened: Vec<_> = (0..events.len()).map(|now| happened(&events, now)).collect();
        let is_switch = |s: &Switch| matches!(s.how, How::Cr3 | How::Segments);
        let mut wanted: BTreeMap<String, u64> = BTreeMap::new();
        for miss in &reference.misses {
            let name = match *miss {
                None => "cold".to_string(),
                Some((true, event)) => format!("flushed {:?}", happened[event].unwrap()),
                Some((false, event)) => {
                    let before = happened[..=event].iter().rev().flatten().find(|s| is_switch(s));
                    format!("evicted {:?}", before)
                }
            };
            *wanted.entry(name).or_default() += 1;
        }
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, switch, refills) in data_refills(&mut machine) {
            let name = match kind {
                Kind::Cold => "cold".to_string(),
                Kind::Flushed => format!("flushed {switch:?}"),
                Kind::Evicted => format!("evicted {:?}", Some(&switch).filter(|s| is_switch(s))),
            };
            *found.entry(name).or_default() += refills;
        }
        wanted.retain(|name, refills| {
            let same = found.get(name) == Some(refills);
            if same {
                found.remove(name);
            }
            !same
        });
        assert_eq!(found, wanted, "seed {seed}: charged otherwise");
    }
}

/// Code and data of three spaces, and switches between them. With few `pages` all of it fits into each set of each
/// machine.
fn busy_stream(dice: &mut Dice, pages: u32) -> Vec<Event> {
    let place = |dice: &mut Dice| dice.below(pages) * 0x1100 + dice.below(4) * 0x40;
    let mut events = Vec::new();
    let mut running = A;
    for _ in 0..400 {
        if dice.below(10) == 0 {
            running = match running {
                A => dice.of(&[B, C]),
                B => dice.of(&[C, A]),
                _ => dice.of(&[A, B]),
            };
            events.extend(switch(running, dice.of(&[0, 0, 0xd000_0000])));
        }
        let (linear, class) = (0x40_0000 + place(dice), dice.of(&[Class::Alu, Class::Branch, Class::Call]));
        events.push(Event::Fetch { linear: Linear(linear), instruction: instruction(class, 3) });
        let linear = 0x40_4400 + place(dice);
        events.push(match dice.below(3) {
            0 => write_at(linear),
            _ => read_at(linear),
        });
    }
    events
}

fn charged(machine: &mut Machine, which: impl Fn(&Charge, &Switch) -> bool) -> u64 {
    let causes = machine.causes();
    let charges = causes.charges().since(&Charges::default());
    charges.iter().filter(|c| which(c, &causes.switches()[c.switch])).map(|c| c.sum.milli).sum()
}

#[test]
fn t607_what_refills_cost_is_charged_to_the_last_cycle() {
    let refills = [Category::TlbRefillCode, Category::TlbRefillData, Category::CacheRefill, Category::TraceRebuild];
    for name in MACHINES {
        let file = shipped(name, &[]);
        let mut kinds = [0; KINDS.len()];
        for seed in 1..=20 {
            let mut dice = Dice::new(seed);
            let mut machine = Machine::new(&file);
            for event in busy_stream(&mut dice, 200) {
                machine.event(&event, &mut Identity::default());
            }
            for (category, row) in CATEGORIES {
                let sum = charged(&mut machine, |charge, _| charge.category == category);
                let all = machine.ledger().row(category);
                match refills.contains(&category) {
                    true => assert_eq!(sum, all, "{name}, seed {seed}: {row}"),
                    false => assert_eq!(sum, 0, "{name}, seed {seed}: {row}"),
                }
            }
            KINDS.iter().for_each(|&(kind, _)| kinds[kind as usize] += charged(&mut machine, |c, _| c.kind == kind));
        }
        assert!(kinds.iter().all(|&milli| milli > 0), "{name}: {kinds:?}");
    }
}

#[test]
fn t608_without_flushes_a_machine_saves_what_was_charged_to_them() {
    for name in MACHINES {
        let file = shipped(name, &[]);
        for seed in 1..=20 {
            let events = busy_stream(&mut Dice::new(seed), 3);
            let (mut flushing, mut tagged) = (Machine::new(&file), Machine::new(&file).without_flush());
            for machine in [&mut flushing, &mut tagged] {
                feed(machine, &mut Identity::default(), &events);
                assert_eq!(charged(machine, |c, _| c.kind == Kind::Evicted), 0, "{name}, seed {seed}: all fits");
            }
            let flushes = charged(&mut flushing, |c, s| c.kind == Kind::Flushed && s.how == How::Cr3);
            assert!(flushes > 0, "{name}");
            assert_eq!(charged(&mut tagged, |c, _| c.kind == Kind::Flushed), 0, "{name}");
            // What the pipeline waits for is no refill: a trace line that is kept has to come.
            let refilled = |machine: &Machine| machine.ledger().total() - machine.ledger().row(Category::Stall);
            assert_eq!(refilled(&flushing) - refilled(&tagged), flushes, "{name}, seed {seed}");
        }
    }
}

#[test]
fn t609_switches_are_counted_apart_from_what_they_cost() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    feed(&mut machine, &mut tables, &switch(A, 0));
    let origin = machine.causes().charges().clone();
    for _ in 0..3 {
        feed(&mut machine, &mut tables, &switch(B, 0));
        feed(&mut machine, &mut tables, &switch(A, 0));
        feed(&mut machine, &mut tables, &switch(A, 0));
        feed(&mut machine, &mut tables, &[Event::UserCode { base: Linear(C) }, Event::UserCode { base: Linear(0) }]);
    }
    let causes = machine.causes();
    let times = causes.charges().switches_since(&origin);
    let found: Vec<(How, u64)> = times.iter().map(|&(switch, times)| (causes.switches()[switch].how, times)).collect();
    let expected = [(How::Cr3, 3), (How::Cr3, 3), (How::Reload, 3), (How::Segments, 3), (How::Segments, 3)];
    assert_eq!(found, expected, "to B, back to A, A again, to another segment and back");
}
