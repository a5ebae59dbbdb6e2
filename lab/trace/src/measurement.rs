// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that measures: counters, footprints and, if wanted, a machine model, sampled at the guest's markers.

use crate::causes;
use crate::code_ranges::{CodeRange, CodeRanges, Sum};
use crate::counters::{self, Counters, Mode};
use crate::effects::{Advice, Booking, Effects, Sums};
use crate::footprint::Footprint;
use crate::regions::{Regions, Sample, Totals};
use crate::run::Run;
use crate::sink::{Marker, Sink};
use crate::stretch::Stretch;
use crate::warnings::Warnings;
use cobnut_model::{Costs, Event, Instruction, Machine, MachineFile, PageTables, Situation};
use serde_json::{json, Value};
use std::ops::Range;

pub struct Measurement {
    costs: Costs,
    machine: Option<Machine>,
    /// Name of the machine and what was changed of it.
    title: Option<(String, Vec<String>)>,
    lacks_sysenter: bool,
    without_flush: bool,
    counters: Counters,
    footprint: Footprint,
    regions: Regions,
    ranges: CodeRanges,
    totals: Option<Totals>,
    warnings: Warnings,
    effects: Effects,
    /// Whether an iteration is being measured, so that footprints matter.
    measuring: bool,
    /// Nothing is counted before the first case begins.
    waiting: bool,
    mode: Mode,
}

impl Measurement {
    /// On the machine of `file`, changed by `overrides` already, which are only reported; without a file, counters and
    /// footprints only. `ranges` are counted by themselves, too; `memory` is the size of the guest's main memory in
    /// bytes.
    pub fn new(file: Option<&MachineFile>, overrides: &[String], ranges: &[CodeRange], memory: usize) -> Self {
        Measurement {
            costs: file.map(Costs::from_file).unwrap_or_default(),
            machine: file.map(Machine::new),
            title: file.map(|f| (f.name.clone(), overrides.to_vec())),
            lacks_sysenter: file.is_some_and(|f| f.milli("entry.sysenter_sysexit_cycles").is_none()),
            without_flush: false,
            counters: Counters::default(),
            footprint: Footprint::new(memory),
            regions: Regions::new(file.is_some()),
            ranges: CodeRanges::new(ranges),
            totals: None,
            warnings: Warnings::default(),
            effects: Effects::default(),
            measuring: false,
            waiting: false,
            mode: Mode::Kernel,
        }
    }

    /// On the machine that it would be if switches flushed nothing, to be chosen before anything is measured.
    pub fn without_flush(mut self) -> Self {
        self.machine = self.machine.map(Machine::without_flush);
        self.without_flush = true;
        self
    }

    /// Counts and models nothing until the first case begins: a guest that takes long to get there need not be modelled
    /// all the way. TLBs and caches are empty then.
    pub fn from_begin(mut self) -> Self {
        self.waiting = true;
        self
    }

    fn totals_now(&self) -> Totals {
        Totals::new(&self.counters, self.machine.as_ref())
    }

    /// Everything measured, as JSON. Totals run to the last marker; without markers, up to now.
    pub fn report(&mut self) -> Value {
        let mut warnings = self.warnings.list().to_vec();
        if let Some(case) = self.regions.unfinished() {
            warnings.push(format!("case {case} has no END: it is left out"));
        }
        if self.lacks_sysenter && self.counters[counters::ENTRIES_SYSENTER] > 0 {
            warnings.push("the machine has no sysenter: the guest used it, and it cost nothing".to_string());
        }
        let (name, overrides) = self.title.as_ref().map(|(name, set)| (name, set)).unzip();
        json!({
            "plugin_version": env!("CARGO_PKG_VERSION"),
            "machine": name,
            "machine_set": overrides.unwrap_or(&Vec::new()),
            "without": self.without_flush.then_some("flush"),
            "regions": self.regions.reports(),
            "ranges": self.ranges.reports(),
            "switches": self.machine.as_mut().map(|machine| causes::switches(machine.causes())),
            "totals": self.totals.unwrap_or_else(|| self.totals_now()).report(),
            "warnings": warnings,
        })
    }

    /// Counts what an execution of `run` counts besides instructions.
    #[inline(never)]
    fn count(&mut self, run: &Run) {
        for &(counter, n) in &run.counts {
            self.counters[counter] += n;
        }
        self.ranges.executed(&run.shares);
    }

    fn sums(&self) -> Sums {
        let ledger = self.machine.as_ref().map(|machine| *machine.ledger()).unwrap_or_default();
        Sums { counters: self.counters, ledger, parts: self.ranges.sums().to_vec() }
    }

    /// Books what is known of a stretch instead of making its calls, if the machine holds what it looks up. Returns
    /// whether that is so.
    #[inline]
    fn use_again(&mut self, effect: usize, tables: &mut impl PageTables) -> bool {
        let (Some(machine), (effect, lookups, bookings)) = (&mut self.machine, self.effects.get(effect)) else {
            return false;
        };
        let there = machine.use_again(&effect.hits, lookups, tables);
        if there {
            self.mode = effect.mode;
            for booking in bookings {
                match *booking {
                    Booking::Counter(counter, n) => self.counters[counter as usize] += n,
                    Booking::Cost(category, milli) => machine.book(category, milli),
                    Booking::PartInstructions(part, n) => self.ranges.add(part as usize, n, 0),
                    Booking::PartCost(part, milli) => self.ranges.add(part as usize, 0, milli),
                }
            }
        }
        there
    }

    /// Makes the calls of `stretch`.
    #[inline(never)]
    fn play(&mut self, number: u32, stretch: Stretch, tables: &mut impl PageTables) {
        self.machine.as_mut().map(Machine::has_missed);
        stretch.play(self, tables);
        let missed = self.machine.as_mut().is_none_or(Machine::has_missed);
        self.effects.played(number, missed);
    }

    /// Makes the calls of `stretch` and sees what they do.
    #[inline(never)]
    fn watch(&mut self, number: u32, situation: Situation, stretch: Stretch, tables: &mut impl PageTables) {
        let from = self.sums();
        self.machine.iter_mut().for_each(Machine::watch);
        stretch.play(self, tables);
        let machine = self.machine.as_mut();
        match machine.and_then(|machine| machine.watched(&mut self.effects.lookups, tables)) {
            Some(hits) => {
                let to = self.sums();
                self.effects.learn(number, situation, hits, self.mode, &from, &to);
            }
            None => self.effects.played(number, true),
        }
    }

    #[inline(never)]
    fn touch_code(&mut self, linear: u32, bytes: u32, tables: &mut impl PageTables) {
        let here = bytes.min(0x1000 - (linear & 0xfff));
        let kernel = self.mode == Mode::Kernel;
        for (at, bytes) in [(linear, here), (linear.wrapping_add(here), bytes - here)] {
            if bytes > 0 {
                if let Some(frame) = tables.frame(at) {
                    self.footprint.code(frame | at & 0xfff, bytes, kernel);
                }
            }
        }
    }

    #[inline(never)]
    fn touch_data(&mut self, linear: u32, physical: u32, size: u32, tables: &mut impl PageTables) {
        let kernel = self.mode == Mode::Kernel;
        let here = size.min(0x1000 - (linear & 0xfff));
        self.footprint.data(physical, here, kernel);
        if here < size {
            if let Some(walk) = tables.walk(linear.wrapping_add(here)) {
                self.footprint.data(walk.frame, size - here, kernel);
            }
        }
    }
}

/// A measurement between two calls.
pub struct Checkpoint {
    machine: Option<cobnut_model::Checkpoint>,
    mode: Mode,
    measuring: bool,
    waiting: bool,
    counters: Counters,
    ranges: Vec<Sum>,
    iterations: usize,
    markers: usize,
}

impl Checkpoint {
    /// Whether the measurement will do the same from here as from `other`.
    pub fn same_state(&self, other: &Checkpoint) -> bool {
        let same_machine = match (&self.machine, &other.machine) {
            (Some(machine), Some(other)) => machine.same_state(other),
            (machine, other) => machine.is_none() && other.is_none(),
        };
        same_machine && (self.mode, self.measuring, self.waiting) == (other.mode, other.measuring, other.waiting)
    }

    fn sample(&self) -> Sample {
        let machine = self.machine.as_ref();
        Sample {
            counters: self.counters,
            counts: machine.map(|m| *m.counts()).unwrap_or_default(),
            ledger: machine.map(|m| *m.ledger()).unwrap_or_default(),
        }
    }
}

impl Sink for Measurement {
    fn prepare(&self, linear: u32, instructions: Vec<Instruction>) -> Run {
        let shares = self.ranges.shares(linear, &instructions, &self.costs);
        Run::new(linear, instructions, &self.costs, shares)
    }

    #[inline(always)]
    fn run(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        self.mode = run.mode;
        if self.waiting {
            return;
        }
        self.counters[run.mode as usize] += run.block.instructions().len() as u64;
        if !run.plain {
            self.count(run);
        }
        if let Some(machine) = &mut self.machine {
            machine.block(&run.block, linear, tables);
        }
        if self.measuring {
            self.touch_code(linear, run.block.bytes(), tables);
        }
    }

    #[inline(always)]
    fn fetch(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        self.mode = run.mode;
        if self.waiting {
            return;
        }
        if let Some(machine) = &mut self.machine {
            machine.fetch(&run.block, linear, tables);
        }
        if self.measuring {
            self.touch_code(linear, run.block.bytes(), tables);
        }
    }

    fn retract(&mut self, run: &Run, instructions: Range<usize>) {
        if self.waiting {
            return;
        }
        let taken = &run.block.instructions()[instructions.clone()];
        self.counters[run.mode as usize] -= taken.len() as u64;
        for &counter in taken.iter().flat_map(|i| counters::raised_by(i.class)) {
            self.counters[counter] -= 1;
        }
        if let Some(machine) = &mut self.machine {
            machine.retract(&run.block, instructions.clone());
        }
        self.ranges.take_back(&run.shares, run.block.instructions(), instructions, &self.costs);
    }

    #[inline(always)]
    fn data(&mut self, linear: u32, size: u8, write: bool, tables: &mut impl PageTables) {
        if self.waiting {
            return;
        }
        if !self.measuring && self.machine.as_ref().is_some_and(|machine| machine.has_just_seen(linear, size, write)) {
            return;
        }
        let Some(frame) = tables.frame(linear) else { return };
        let physical = frame | linear & 0xfff;
        if let Some(machine) = &mut self.machine {
            machine.data(linear, physical, size, write, tables);
        }
        if self.measuring {
            self.touch_data(linear, physical, size as u32, tables);
        }
    }

    fn event(&mut self, event: &Event, tables: &mut impl PageTables) {
        if let (Event::Entry(kind), false) = (event, self.waiting) {
            self.counters[counters::of_entry(*kind)] += 1;
        }
        if let Some(machine) = &mut self.machine {
            machine.event(event, tables);
        }
    }

    fn marker(&mut self, marker: Marker) {
        match marker {
            Marker::Begin(case) => {
                self.waiting = false;
                if let Some(open) = self.regions.unfinished() {
                    self.warn(format!("case {open} has no END"));
                }
                self.regions.begin(case);
                self.ranges.begin();
            }
            Marker::Iteration => {
                self.regions.iteration(&self.counters, self.machine.as_mut(), &mut self.footprint);
                self.ranges.iteration();
            }
            Marker::End => {
                if let Some(case) = self.regions.unfinished() {
                    self.ranges.end(case);
                }
                self.regions.end();
            }
            Marker::Other => {}
        }
        self.measuring = self.regions.measuring();
        self.totals = Some(self.totals_now());
    }

    fn warn(&mut self, text: String) {
        self.warnings.add(text);
    }

    /// While an iteration is measured, footprints need every call.
    #[inline]
    fn again(&mut self, number: u32, stretch: Stretch, tables: &mut impl PageTables) {
        let machine = self.machine.as_mut().filter(|_| !self.waiting && !self.measuring);
        let Some((machine, (_, start))) = machine.zip(stretch.runs().next()) else { return stretch.play(self, tables) };
        let situation = machine.situation(start);
        match self.effects.advice(number, situation) {
            Advice::Use(effect) if self.use_again(effect, tables) => {}
            Advice::Watch => self.watch(number, situation, stretch, tables),
            _ => self.play(number, stretch, tables),
        }
    }

    fn forget_stretches(&mut self) {
        self.effects.forget();
    }

    fn checkpoint(&self) -> Option<Checkpoint> {
        Some(Checkpoint {
            machine: self.machine.as_ref().map(Machine::checkpoint),
            mode: self.mode,
            measuring: self.measuring,
            waiting: self.waiting,
            counters: self.counters,
            ranges: self.ranges.sums().to_vec(),
            iterations: self.regions.iterations(),
            markers: self.ranges.markers(),
        })
    }

    fn repeat(&mut self, from: &Checkpoint, now: &Checkpoint, at_most: u64) -> u64 {
        let mut times = at_most;
        if let (Some(machine), Some(origin)) = (&mut self.machine, &from.machine) {
            times = times.min(machine.repeatable(origin));
            machine.repeat(origin, times);
        }
        counters::advance(&mut self.counters, &from.counters, &now.counters, times);
        self.ranges.repeat(from.markers, &from.ranges, times);
        self.regions.repeat(from.iterations, &from.sample(), &now.sample(), times);
        times
    }
}
