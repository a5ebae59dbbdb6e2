// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that models a long run in random windows, and says of every figure how far it is likely to be off.
//!
//! Counters count over the whole run. A machine is there for a window and the units before it that warm it, and starts
//! with nothing in it: so what a window shows depends on nothing before, and a run that was broken off can go on with
//! the windows that it has measured already. Or else (`misses=on`) it is there all the time, with TLBs, caches and the
//! front end asked and their misses counted, and outside of windows nothing is predicted and no store followed. What
//! predicts jumps starts with nothing before each window then, so that such a run can go on, too: it follows all of the
//! guest, and measures the windows that are missing.

mod breakdown;
mod estimate;
mod pieces;
mod plan;

pub use pieces::Pieces;
pub use plan::Plan;

use super::causes::Distinct;
use super::code_ranges::Sum;
use super::measurement::Measurement;
use super::named::Named;
use super::processor::{Machine, Processor};
use super::regions::{advance, Sample as Counts};
use super::run::Run;
use super::sink::Sink;
use crate::{Header, Marker, ProgramCode};
use breakdown::{Breakdown, Cause, Shown, Spent, Switches};
use cobnut_model::{Charges, Code, Counted, Linear, MachineFile, Tables, CATEGORIES, MILLI};
use estimate::{Estimate, Sample, Sums};
use pieces::{Origin, Window};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

type CountsOf<P> = <<P as Processor>::Machine as Machine<P>>::Counts;

/// What is measured in a window: cycles, the ledger's rows in thousandths, what the machine counts.
const CYCLES: usize = 0;
const ROWS: usize = 1;
const COUNTS: usize = ROWS + CATEGORIES.len();

/// How a unit is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between windows.
    Rest,
    Warm,
    Window,
}

pub struct Windows<P: Processor> {
    inner: Measurement<P>,
    file: MachineFile,
    overrides: Vec<String>,
    without_flush: bool,
    plan: Plan,
    pieces: Option<Pieces>,
    phase: Phase,
    /// The number of the unit, and how many instructions it has yet to have.
    unit: u64,
    left: i64,
    instructions: u64,
    /// What was counted when it began.
    began: Began<P>,
    /// Up to this unit all windows are known from the file.
    known_to: u64,
    /// What says where an empty machine stands.
    standing: Vec<P::Event>,
    switches: Switches,
    whole: Scope<P>,
    /// The case that is open, and what it was when the iteration began.
    case: Option<(Scope<P>, Scope<P>)>,
    /// An iteration of it is measured.
    measuring: bool,
    done: Vec<Scope<P>>,
}

/// What was counted when a unit began.
struct Began<P: Processor> {
    counts: Counts<P>,
    /// In parts of the code.
    parts: Vec<Sum>,
    /// What functions have cost and what was charged, where it is a window.
    shown: Option<(Vec<u64>, Charges)>,
}

/// What figures are of: the run, or a case.
struct Scope<P: Processor> {
    case: Option<u32>,
    iterations: u64,
    sample: Sample,
    sums: Vec<Sums>,
    /// Shared with what it was when the iteration began, as long as no window has ended since.
    breakdown: Rc<Breakdown>,
    /// Counted over all units, and in parts of the code.
    counted: Counts<P>,
    parts: Vec<Sum>,
}

impl<P: Processor> Clone for Scope<P> {
    fn clone(&self) -> Self {
        Scope { sums: self.sums.clone(), breakdown: self.breakdown.clone(), parts: self.parts.clone(), ..*self }
    }
}

impl<P: Processor> Scope<P> {
    fn new(case: Option<u32>) -> Self {
        let sums = vec![Sums::default(); COUNTS + CountsOf::<P>::NAMES.len()];
        let (sample, counted) = (Sample::default(), Counts::default());
        Scope { case, iterations: 0, sample, sums, breakdown: Rc::default(), counted, parts: Vec::new() }
    }

    /// A unit has ended.
    fn unit(&mut self, instructions: u64, from: &Began<P>, to: &Counts<P>, parts: &[Sum]) {
        self.sample.unit(instructions);
        advance(&mut self.counted.counters, &from.counts.counters, &to.counters, 1);
        self.counted.counts.advance(&from.counts.counts, &to.counts, 1);
        self.parts.resize(parts.len(), Sum::default());
        let spans = from.parts.iter().zip(parts);
        self.parts.iter_mut().zip(spans).for_each(|(sum, (from, to))| *sum = sum.advanced(from, to, 1));
    }

    /// It was a window.
    fn window(&mut self, window: &Window, switches: &mut Switches) {
        let Window { instructions, figures, shown, .. } = window;
        self.sample.window(*instructions);
        self.sums.iter_mut().zip(figures).for_each(|(sums, &figure)| sums.add(*instructions, figure));
        Rc::make_mut(&mut self.breakdown).add(*instructions, shown, switches);
    }
}

/// What is reported of a run that was modelled in windows: the JSON of the plugin and of a replay.
#[derive(Serialize)]
pub struct Sampled<'a> {
    plugin_version: &'static str,
    machine: &'a str,
    machine_set: &'a [String],
    without: Option<&'static str>,
    windows: Plan,
    /// All of the run.
    run: InWindows,
    /// The cases that have ended.
    cases: Vec<InWindows>,
    /// Every distinct switch and invalidation that something is charged to.
    switches: &'a [Distinct],
    warnings: &'a [String],
}

impl Sampled<'_> {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct InWindows {
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u64>,
    /// All of them, and units of so many.
    instructions: u64,
    units: u64,
    /// Units that were measured.
    windows: u64,
    /// By counter, exactly; on a machine that is there all the time its misses, too.
    counted: Named<u64>,
    /// By figure: cycles, each category of the ledger, each of the machine's counts.
    estimated: Named<Option<Estimate>>,
    /// Functions of the kernel and of programs, the dearest first.
    functions: Vec<Spent>,
    causes: Vec<Cause>,
    /// By part of the code, exactly.
    ranges: Named<Part>,
}

/// What was executed in a part of the code.
#[derive(Serialize)]
struct Part {
    instructions: u64,
    /// Whole cycles that the instructions always cost.
    cycles: u64,
}

impl<P: Processor> Windows<P> {
    pub fn new(file: &MachineFile, overrides: &[String], header: &Header, plan: Plan) -> Self {
        let mut made = Windows {
            inner: Measurement::new(Some(file), overrides, header),
            file: file.clone(),
            overrides: overrides.to_vec(),
            without_flush: false,
            plan,
            pieces: None,
            phase: Phase::Rest,
            unit: 0,
            left: plan.length as i64,
            instructions: 0,
            began: Began { counts: Counts::default(), parts: Vec::new(), shown: None },
            known_to: 0,
            standing: Vec::new(),
            switches: Switches::default(),
            whole: Scope::new(None),
            case: None,
            measuring: false,
            done: Vec::new(),
        };
        (made.inner.machine, made.inner.footprint) = (None, None);
        made
    }

    /// On the machine whose switches flush nothing, to be chosen first.
    pub fn without_flush(mut self) -> Self {
        self.without_flush = true;
        self
    }

    /// Nothing counts before the first case begins.
    pub fn from_begin(mut self) -> Self {
        self.inner = self.inner.from_begin();
        self
    }

    /// Counts parts of programs' code, too, and tells their functions apart.
    pub fn with_programs(mut self, programs: &[ProgramCode]) -> Self {
        self.inner = self.inner.with_programs(programs);
        self
    }

    /// As [`Measurement::of_program`].
    pub fn of_program(&self, run: &mut Run<P>, address: u32, program: usize) {
        self.inner.of_program(run, address, program);
    }

    /// Windows are kept in the file, and those that it has are not measured again. `guest` says what runs.
    pub fn with_pieces(mut self, path: &Path, guest: &serde_json::Value) -> Result<Self, String> {
        let figures = self.names().collect();
        let (machine, machine_set, without) = (&self.file.name[..], &self.overrides[..], self.without());
        let origin = Origin { windows: self.plan, machine, machine_set, without, figures, guest };
        self.pieces = Some(Pieces::open(path, &origin)?);
        Ok(self)
    }

    /// The run begins.
    pub fn start(mut self) -> Self {
        self.begin_unit();
        self
    }

    fn without(&self) -> Option<&'static str> {
        self.without_flush.then_some("flush")
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        let rows = CATEGORIES.iter().map(|&(_, name)| name);
        std::iter::once("cycles").chain(rows).chain(CountsOf::<P>::NAMES.iter().copied())
    }

    /// The unit ends here. The next one begins where the next run of code does.
    #[inline(never)]
    fn end_unit(&mut self) {
        if self.instructions > 0 {
            let now = self.inner.sample();
            // whether or not it was a window: a run that goes on charges as one that was not broken off
            self.inner.machine.as_mut().map(P::Machine::causes);
            let window = self.plan.chooses(self.unit).then(|| self.window(&now));
            let measuring = self.measuring;
            let cases = self.case.iter_mut().map(|(case, _)| case).filter(|_| measuring);
            for scope in std::iter::once(&mut self.whole).chain(cases) {
                scope.unit(self.instructions, &self.began, &now, self.inner.ranges.sums());
                window.iter().for_each(|window| scope.window(window, &mut self.switches));
            }
            self.unit += 1;
        }
        self.begin_unit();
    }

    /// What the window showed, by now or in an earlier run.
    fn window(&mut self, now: &Counts<P>) -> Window {
        let (unit, began) = (self.unit, &self.began.counts);
        if let Some(known) = self.pieces.as_ref().and_then(|pieces| pieces.known(unit)) {
            return known.clone();
        }
        let rows = CATEGORIES.iter().map(|&(row, _)| now.ledger.row(row) - began.ledger.row(row));
        let total = now.ledger.total() - began.ledger.total();
        let counts = now.counts.since(began.counts).named().into_iter().map(|(_, count)| count);
        let figures = std::iter::once(total).chain(rows).chain(counts).collect();
        let window = Window { unit, instructions: self.instructions, figures, shown: self.shown() };
        if let Some(Err(doubt)) = self.pieces.as_mut().map(|pieces| pieces.keep(&window)) {
            self.inner.warn(doubt);
        }
        window
    }

    fn shown(&mut self) -> Shown {
        let total = self.inner.total();
        let Measurement { machine, functions, .. } = &mut self.inner;
        let (Some(machine), Some((spent, charges))) = (machine, &self.began.shown) else { return Shown::default() };
        let (causes, now) = (machine.causes(), functions.sums(total));
        Shown::new(functions.since(spent, &now), causes.charges().since(charges), causes.switches())
    }

    fn begin_unit(&mut self) {
        let phase = self.phase_of(self.unit);
        self.enter(phase);
        (self.left, self.instructions) = (self.plan.length as i64, 0);
        let spent = self.inner.functions.sums(self.inner.total());
        let charges = self.inner.machine.as_mut().filter(|_| phase == Phase::Window);
        let shown = charges.map(|machine| (spent, machine.causes().charges().clone()));
        self.began = Began { counts: self.inner.sample(), parts: self.inner.ranges.sums().to_vec(), shown };
    }

    /// Whether the unit is modelled. Windows that share their warming are all known, or none is taken as known.
    fn phase_of(&mut self, unit: u64) -> Phase {
        let Some(first) = self.plan.warms_for(unit) else { return Phase::Rest };
        if self.phase == Phase::Rest && unit >= self.known_to {
            let (mut next, mut all_known) = (Some(first), self.pieces.is_some());
            while let Some(window) = next {
                all_known &= self.pieces.as_ref().is_some_and(|pieces| pieces.known(window).is_some());
                self.known_to = window + 1;
                next = self.plan.warms_for(window + 1).filter(|_| all_known);
            }
            if !all_known {
                self.known_to = 0;
            }
        }
        match (unit < self.known_to, self.plan.chooses(unit)) {
            (true, _) => Phase::Rest,
            (_, true) => Phase::Window,
            (_, false) => Phase::Warm,
        }
    }

    fn enter(&mut self, phase: Phase) {
        match (self.inner.machine.is_some(), phase) {
            (true, Phase::Rest) if !self.plan.misses => self.inner.machine = None,
            (false, Phase::Rest) if !self.plan.misses => {}
            (false, _) => self.inner.machine = Some(self.empty_machine()),
            (true, _) => {}
        }
        if let Some(machine) = self.inner.machine.as_mut().filter(|_| self.plan.misses) {
            machine.only_misses(phase == Phase::Rest);
        }
        if self.phase == Phase::Rest {
            self.inner.functions.restart(self.inner.total());
        }
        self.inner.measuring = phase != Phase::Rest;
        self.phase = phase;
    }

    /// A machine with nothing in it that stands where the guest does.
    fn empty_machine(&self) -> P::Machine {
        let machine = P::Machine::new(&self.file);
        let mut machine = if self.without_flush { machine.without_flush() } else { machine };
        self.standing.iter().for_each(|event| machine.stand(event));
        machine
    }

    fn scope_ends(&mut self) {
        self.end_unit();
        if let Some((scope, _)) = self.case.take() {
            self.done.push(scope);
        }
        self.measuring = false;
    }

    /// An iteration has ended, if one was measured.
    fn iteration(&mut self, another: bool) {
        if self.measuring != another || !another {
            self.end_unit();
        }
        if let Some((scope, before)) = &mut self.case {
            scope.iterations += self.measuring as u64;
            *before = scope.clone();
            self.measuring = another;
        }
    }

    /// Everything measured, up to now.
    pub fn report(&mut self) -> Sampled<'_> {
        self.end_unit();
        if let Some((case, _)) = &self.case {
            self.inner.warn(format!("case {} has no END: it is left out", case.case.unwrap_or_default()));
        }
        Sampled {
            plugin_version: env!("CARGO_PKG_VERSION"),
            machine: &self.file.name,
            machine_set: &self.overrides,
            without: self.without(),
            windows: self.plan,
            run: self.report_of(&self.whole),
            cases: self.done.iter().map(|scope| self.report_of(scope)).collect(),
            switches: self.switches.list(),
            warnings: self.inner.warnings(),
        }
    }

    fn report_of(&self, scope: &Scope<P>) -> InWindows {
        let mut counted: Named<u64> =
            P::COUNTERS.iter().copied().zip(scope.counted.counters.as_ref().iter().copied()).collect();
        if self.plan.misses {
            let misses = scope.counted.counts.named().into_iter().take(CountsOf::<P>::MISSES);
            misses.for_each(|(name, count)| counted.put(name, count));
        }
        let estimates = self.names().zip(&scope.sums).enumerate().map(|(index, (name, sums))| {
            let each = if (CYCLES..COUNTS).contains(&index) { MILLI } else { 1 };
            (name, scope.sample.estimate(sums).map(|estimate| estimate.in_units_of(each)))
        });
        InWindows {
            case: scope.case,
            iterations: scope.case.map(|_| scope.iterations),
            instructions: scope.sample.all_instructions,
            units: scope.sample.units,
            windows: scope.sample.windows,
            counted,
            estimated: estimates.collect(),
            functions: scope.breakdown.functions(&scope.sample),
            causes: scope.breakdown.causes(&scope.sample),
            ranges: self.inner.ranges.names().iter().cloned().zip(scope.parts.iter().map(part)).collect(),
        }
    }
}

fn part(sum: &Sum) -> Part {
    Part { instructions: sum.instructions, cycles: sum.milli / MILLI }
}

impl<P: Processor> Sink<P> for Windows<P> {
    fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
        self.inner.prepare(linear, instructions)
    }

    #[inline]
    fn run(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        if self.left <= 0 {
            self.end_unit();
        }
        self.inner.run(run, linear, tables);
        if !self.inner.waiting {
            let count = run.block.instructions().len();
            self.left -= count as i64;
            self.instructions += count as u64;
        }
    }

    fn retract(&mut self, run: &Run<P>, instructions: Range<usize>) {
        self.inner.retract(run, instructions);
    }

    #[inline]
    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>) {
        if self.inner.machine.is_some() {
            self.inner.data(linear, size, write, tables);
        }
    }

    fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>) {
        P::stands(&mut self.standing, event);
        self.inner.event(event, tables);
    }

    fn marker(&mut self, marker: Marker) {
        match marker {
            Marker::Begin(case) => {
                if self.case.is_some() {
                    self.scope_ends();
                }
                self.inner.waiting = false;
                self.end_unit();
                self.case = Some((Scope::new(Some(case)), Scope::new(Some(case))));
            }
            Marker::Iteration => self.iteration(true),
            Marker::Pause => self.iteration(false),
            Marker::Drop => {
                self.end_unit();
                self.measuring = false;
                if let Some((scope, before)) = &mut self.case {
                    scope.clone_from(before);
                }
            }
            Marker::End => self.scope_ends(),
            Marker::Other => {}
        }
    }

    fn warn(&mut self, text: String) {
        self.inner.warn(text);
    }
}
