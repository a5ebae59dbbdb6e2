// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that measures: counters, footprints and, if wanted, a machine model, sampled at the guest's markers.

use super::causes;
use super::code_ranges::{CodeRanges, InRanges, Sum};
use super::effects::{Advice, Booking, Effects, SituationOf, Sums};
use super::footprint::Footprint;
use super::functions::Functions;
use super::header::{Header, ProgramCode};
use super::processor::{Checkpoint as _, Machine, Processor};
use super::regions::{advance, Case, Regions, Sample, Totals, TotalsReport};
use super::run::Run;
use super::sink::Sink;
use super::stretch::Stretch;
use super::successions::{Succession, Successions};
use super::warnings::Warnings;
use crate::Marker;
use crate::Mode;
use cobnut_model::{Code, Linear, MachineFile, Mapping, Physical, Tables};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

pub struct Measurement<P: Processor> {
    costs: P::Costs,
    pub(super) machine: Option<P::Machine>,
    /// Name of the machine and what was changed of it.
    title: Option<(String, Vec<String>)>,
    /// What is doubtful on this machine if the counter has counted.
    doubt: Option<(usize, &'static str)>,
    without_flush: bool,
    counters: P::Counters,
    pub(super) footprint: Option<Footprint>,
    pub(super) functions: Functions,
    regions: Regions<P>,
    pub(super) ranges: CodeRanges,
    totals: Option<Totals<P>>,
    /// Who has run in each space, as they came.
    processes: BTreeMap<String, Vec<String>>,
    successions: Successions,
    warnings: Warnings,
    effects: Effects<P>,
    /// Whether an iteration is being measured, so that footprints and functions matter.
    pub(super) measuring: bool,
    /// Nothing is counted before the first case begins.
    pub(super) waiting: bool,
    mode: Mode,
}

/// What is reported of a run: the JSON of the plugin and of a replay.
#[derive(Serialize)]
pub struct Measured<'a> {
    plugin_version: &'static str,
    /// The machine's name and what was changed of it (PARAMETER:VALUE); no name where nothing was modelled.
    machine: Option<&'a str>,
    machine_set: &'a [String],
    /// What the machine did without.
    without: Option<&'static str>,
    /// The cases that have ended.
    regions: &'a [Case],
    ranges: &'a [InRanges],
    /// Every distinct switch and invalidation, on a machine.
    switches: Option<Vec<causes::Distinct>>,
    totals: TotalsReport,
    /// By space, the processes that have run in it, on a machine; of guests whose processes are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<&'a BTreeMap<String, Vec<String>>>,
    /// Which process ran after which in measured iterations, of guests whose processes are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    successions: Vec<Succession<'a>>,
    /// What makes these figures doubtful.
    warnings: Vec<String>,
}

impl Measured<'_> {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl<P: Processor> Measurement<P> {
    /// On the machine of `file`, changed by `overrides` already, which are only reported; without a file, counters and
    /// footprints only. `header` says what the guest is like.
    pub fn new(file: Option<&MachineFile>, overrides: &[String], header: &Header) -> Self {
        Measurement {
            costs: file.map(P::costs).unwrap_or_default(),
            machine: file.map(P::Machine::new),
            title: file.map(|f| (f.name.clone(), overrides.to_vec())),
            doubt: file.and_then(P::doubt),
            without_flush: false,
            counters: P::Counters::default(),
            footprint: P::PHYSICAL.then(|| Footprint::new(header.memory as usize)),
            functions: Functions::new(&header.functions),
            regions: Regions::new(file.is_some()),
            ranges: CodeRanges::new(&header.ranges),
            totals: None,
            processes: BTreeMap::new(),
            successions: Successions::default(),
            warnings: Warnings::default(),
            effects: Effects::default(),
            measuring: false,
            waiting: false,
            mode: Mode::Kernel,
        }
    }

    /// On the machine that it would be if switches flushed nothing, to be chosen before anything is measured.
    pub fn without_flush(mut self) -> Self {
        self.machine = self.machine.map(P::Machine::without_flush);
        self.without_flush = true;
        self
    }

    /// Counts and models nothing until the first case begins: a guest that takes long to get there need not be modelled
    /// all the way. TLBs and caches are empty then.
    pub fn from_begin(mut self) -> Self {
        self.waiting = true;
        self
    }

    /// Counts parts of programs' code, too.
    pub fn with_programs(mut self, programs: &[ProgramCode]) -> Self {
        for program in programs {
            self.ranges.add_program(&program.ranges);
            self.functions.add_program(&program.functions);
        }
        self
    }

    /// `run`, which was prepared, is code of the program with this number, and stands at this address of it.
    pub fn of_program(&self, run: &mut Run<P>, address: u32, program: usize) {
        run.shares = self.ranges.shares_in::<P>(program, address, run.block.instructions(), &self.costs);
        run.plain = run.counts.is_empty() && run.shares.is_empty();
        run.function = self.functions.number_in(program, address);
    }

    /// Whether a machine is told of calls.
    pub(super) fn models(&self) -> bool {
        self.machine.is_some() && !self.waiting
    }

    /// What was counted so far.
    pub(super) fn sample(&self) -> Sample<P> {
        let machine = self.machine.as_ref();
        Sample {
            counters: self.counters,
            counts: machine.map(|m| *m.counts()).unwrap_or_default(),
            ledger: machine.map(|m| *m.ledger()).unwrap_or_default(),
        }
    }

    pub(super) fn warnings(&self) -> &[String] {
        self.warnings.list()
    }

    fn totals_now(&self) -> Totals<P> {
        Totals::new(&self.counters, self.machine.as_ref())
    }

    /// Everything measured. Totals run to the last marker; without markers, up to now.
    pub fn report(&mut self) -> Measured<'_> {
        let mut warnings = self.warnings.list().to_vec();
        if let Some(case) = self.regions.unfinished() {
            warnings.push(format!("case {case} has no END: it is left out"));
        }
        if let Some((_, doubt)) = self.doubt.filter(|&(counter, _)| self.counters.as_ref()[counter] > 0) {
            warnings.push(doubt.to_string());
        }
        let switches = self.machine.as_mut().map(|machine| causes::switches(machine.causes()));
        let (machine, machine_set) = self.title.as_ref().map(|(name, set)| (&name[..], &set[..])).unzip();
        Measured {
            plugin_version: env!("CARGO_PKG_VERSION"),
            machine,
            machine_set: machine_set.unwrap_or_default(),
            without: self.without_flush.then_some("flush"),
            regions: self.regions.reports(),
            ranges: self.ranges.reports(),
            switches,
            totals: self.totals.as_ref().map_or_else(|| self.totals_now().report(), Totals::report),
            processes: Some(&self.processes).filter(|processes| !processes.is_empty()),
            successions: self.successions.report(),
            warnings,
        }
    }

    /// Counts what an execution of `run` counts besides instructions.
    #[inline(never)]
    fn count(&mut self, run: &Run<P>) {
        for &(counter, n) in &run.counts {
            self.counters.as_mut()[counter] += n;
        }
        self.ranges.executed(&run.shares);
    }

    fn sums(&self) -> Sums<P> {
        let ledger = self.machine.as_ref().map(|machine| *machine.ledger()).unwrap_or_default();
        Sums { counters: self.counters, ledger, parts: self.ranges.sums().to_vec() }
    }

    /// Books what is known of a stretch instead of making its calls, if the machine holds what it looks up. Returns
    /// whether that is so.
    #[inline]
    fn use_again(&mut self, effect: usize, tables: &mut impl Tables<P::Mapping>) -> bool {
        let (Some(machine), (effect, lookups, bookings)) = (&mut self.machine, self.effects.get(effect)) else {
            return false;
        };
        let there = machine.use_again(&effect.hits, lookups, tables);
        if there {
            self.mode = effect.mode;
            for booking in bookings {
                match *booking {
                    Booking::Counter(counter, n) => self.counters.as_mut()[counter as usize] += n,
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
    fn play(&mut self, number: u32, stretch: Stretch<P>, tables: &mut impl Tables<P::Mapping>) {
        self.machine.as_mut().map(P::Machine::has_missed);
        stretch.play(self, tables);
        let missed = self.machine.as_mut().is_none_or(P::Machine::has_missed);
        self.effects.played(number, missed);
    }

    /// Makes the calls of `stretch` and sees what they do.
    #[inline(never)]
    fn watch(
        &mut self,
        number: u32,
        situation: SituationOf<P>,
        stretch: Stretch<P>,
        tables: &mut impl Tables<P::Mapping>,
    ) {
        let from = self.sums();
        self.machine.iter_mut().for_each(P::Machine::watch);
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
    fn touch_code(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        let machine = self.machine.as_ref();
        self.functions.enter(run.function, run.mode, || machine.map_or(0, |machine| machine.ledger().total()));
        let Some(footprint) = &mut self.footprint else { return };
        let bytes = run.block.bytes();
        let here = bytes.min(0x1000 - linear.within());
        for (at, bytes) in [(linear, here), (linear.plus(here), bytes - here)] {
            if bytes > 0 {
                if let Some(frame) = tables.frame(at) {
                    footprint.code(frame.at(at), bytes, run.mode == Mode::Kernel);
                }
            }
        }
    }

    #[inline(never)]
    fn touch_data(&mut self, linear: Linear, physical: Physical, size: u32, tables: &mut impl Tables<P::Mapping>) {
        let Some(footprint) = &mut self.footprint else { return };
        let kernel = self.mode == Mode::Kernel;
        let here = size.min(0x1000 - linear.within());
        footprint.data(physical, here, kernel);
        if here < size {
            let next = linear.plus(here);
            if let Some(found) = tables.walk(next) {
                footprint.data(found.frame_of(next), size - here, kernel);
            }
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.machine.as_ref().map_or(0, |machine| machine.ledger().total())
    }
}

type StateOf<P> = <<P as Processor>::Machine as Machine<P>>::Checkpoint;

/// A measurement between two calls.
pub struct Checkpoint<P: Processor> {
    machine: Option<StateOf<P>>,
    mode: Mode,
    measuring: bool,
    waiting: bool,
    counters: P::Counters,
    /// The function that runs, and what all have cost.
    function: u32,
    functions: Vec<u64>,
    ranges: Vec<Sum>,
    iterations: usize,
    markers: usize,
}

impl<P: Processor> Checkpoint<P> {
    /// Whether the measurement will do the same from here as from `other`.
    pub fn same_state(&self, other: &Checkpoint<P>) -> bool {
        let same_machine = match (&self.machine, &other.machine) {
            (Some(machine), Some(other)) => machine.same_state(other),
            (machine, other) => machine.is_none() && other.is_none(),
        };
        same_machine
            && (self.mode, self.measuring, self.waiting) == (other.mode, other.measuring, other.waiting)
            && (!self.measuring || self.function == other.function)
    }

    fn sample(&self) -> Sample<P> {
        let machine = self.machine.as_ref();
        Sample {
            counters: self.counters,
            counts: machine.map(|m| *m.counts()).unwrap_or_default(),
            ledger: machine.map(|m| *m.ledger()).unwrap_or_default(),
        }
    }
}

impl<P: Processor> Sink<P> for Measurement<P> {
    fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
        let shares = self.ranges.shares::<P>(linear, &instructions, &self.costs);
        let mut run = Run::new(linear, instructions, &self.costs, shares);
        run.function = self.functions.number(linear.0);
        run
    }

    #[inline(always)]
    fn run(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        self.mode = run.mode;
        if self.waiting {
            return;
        }
        self.counters.as_mut()[P::INSTRUCTIONS[run.mode as usize]] += run.block.instructions().len() as u64;
        if !run.plain {
            self.count(run);
        }
        if self.measuring {
            self.touch_code(run, linear, tables);
        }
        if let Some(machine) = &mut self.machine {
            machine.block(&run.block, linear, tables);
        }
    }

    #[inline(always)]
    fn fetch(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        self.mode = run.mode;
        if self.waiting {
            return;
        }
        if self.measuring {
            self.touch_code(run, linear, tables);
        }
        if let Some(machine) = &mut self.machine {
            machine.fetch(&run.block, linear, tables);
        }
    }

    fn retract(&mut self, run: &Run<P>, instructions: Range<usize>) {
        if self.waiting {
            return;
        }
        let taken = &run.block.instructions()[instructions.clone()];
        self.counters.as_mut()[P::INSTRUCTIONS[run.mode as usize]] -= taken.len() as u64;
        for &counter in taken.iter().flat_map(P::raised_by) {
            self.counters.as_mut()[counter] -= 1;
        }
        if let Some(machine) = &mut self.machine {
            machine.retract(&run.block, instructions.clone());
        }
        self.ranges.take_back::<P>(&run.shares, run.block.instructions(), instructions, &self.costs);
    }

    #[inline(always)]
    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>) {
        if self.waiting {
            return;
        }
        if !self.measuring && self.machine.as_ref().is_some_and(|machine| machine.has_just_seen(linear, size, write)) {
            return;
        }
        let physical = match P::PHYSICAL {
            true => match tables.frame(linear) {
                Some(frame) => frame.at(linear),
                None => return,
            },
            false => Physical(0),
        };
        if let Some(machine) = &mut self.machine {
            machine.data(linear, physical, size, write, tables);
        }
        if self.measuring {
            self.touch_data(linear, physical, size as u32, tables);
        }
    }

    fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>) {
        if !self.waiting {
            for &counter in P::counters_of(event) {
                self.counters.as_mut()[counter] += 1;
            }
        }
        if let Some(machine) = self.machine.as_mut().filter(|_| !self.waiting || P::PREPARES) {
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
                let functions = self.functions.sums(self.total());
                let footprint = self.footprint.as_mut();
                self.regions.iteration(&self.counters, self.machine.as_mut(), footprint, functions);
                self.ranges.iteration();
            }
            Marker::Pause => {
                self.marker(Marker::Iteration);
                self.regions.pause();
                self.ranges.pause();
            }
            Marker::Drop => {
                self.regions.pause();
                self.ranges.pause();
            }
            Marker::End => {
                if let Some(case) = self.regions.unfinished() {
                    self.ranges.end(case);
                }
                self.regions.end(&self.functions);
            }
            Marker::Other => {}
        }
        self.measuring = self.regions.measuring();
        self.totals = Some(self.totals_now());
    }

    fn process(&mut self, name: &str) {
        self.successions.runs(name, self.regions.unfinished().filter(|_| self.measuring));
        let Some(machine) = &mut self.machine else { return };
        let names = self.processes.entry(causes::name(machine.causes().space())).or_default();
        if names.iter().all(|known| known != name) {
            names.push(name.to_string());
        }
    }

    fn warn(&mut self, text: String) {
        self.warnings.add(text);
    }

    /// While an iteration is measured, footprints need every call.
    #[inline]
    fn again(&mut self, number: u32, stretch: Stretch<P>, tables: &mut impl Tables<P::Mapping>) {
        let machine = self.machine.as_mut().filter(|_| !self.waiting && !self.measuring);
        let Some((machine, start)) = machine.zip(stretch.start()) else { return stretch.play(self, tables) };
        let Some(situation) = machine.situation(start) else { return stretch.play(self, tables) };
        match self.effects.advice(number, situation) {
            Advice::Use(effect) if self.use_again(effect, tables) => {}
            Advice::Watch => self.watch(number, situation, stretch, tables),
            _ => self.play(number, stretch, tables),
        }
    }

    fn forget_stretches(&mut self) {
        self.effects.forget();
    }

    fn checkpoint(&self) -> Option<Checkpoint<P>> {
        if self.regions.has_gaps() {
            return None;
        }
        let machine = match &self.machine {
            Some(machine) => Some(machine.checkpoint()?),
            None => None,
        };
        Some(Checkpoint {
            machine,
            mode: self.mode,
            measuring: self.measuring,
            waiting: self.waiting,
            counters: self.counters,
            function: self.functions.current(),
            functions: self.functions.sums(self.total()),
            ranges: self.ranges.sums().to_vec(),
            iterations: self.regions.iterations(),
            markers: self.ranges.markers(),
        })
    }

    fn repeat(&mut self, from: &Checkpoint<P>, now: &Checkpoint<P>, at_most: u64) -> u64 {
        let mut times = at_most;
        if let (Some(machine), Some(origin)) = (&mut self.machine, &from.machine) {
            times = times.min(machine.repeatable(origin));
            machine.repeat(origin, times);
        }
        advance(&mut self.counters, &from.counters, &now.counters, times);
        let [then, up_to_now] = [from, now].map(|checkpoint| checkpoint.sample().ledger.total());
        self.functions.repeat(&from.functions, then, up_to_now, times);
        let functions = self.functions.sums(self.total());
        self.ranges.repeat(from.markers, &from.ranges, times);
        self.regions.repeat(from.iterations, &from.sample(), &now.sample(), functions, times);
        times
    }
}
