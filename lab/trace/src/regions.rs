// SPDX-License-Identifier: GPL-2.0-or-later
//! What the markers delimit: cases, each a number of iterations.

use crate::causes::CaseCauses;
use crate::counters::{self, Counters};
use crate::footprint::{Footprint, Sizes};
use cobnut_model::{Counts, Ledger, Machine, CATEGORIES};
use serde_json::{Map, Value};

/// Everything that is sampled at a marker.
#[derive(Clone, Copy)]
pub struct Sample {
    pub counters: Counters,
    pub counts: Counts,
    pub ledger: Ledger,
}

impl Sample {
    /// Adds what was sampled between `from` and `to` so many `times`.
    fn advance(&mut self, from: &Sample, to: &Sample, times: u64) {
        counters::advance(&mut self.counters, &from.counters, &to.counters, times);
        self.counts.advance(&from.counts, &to.counts, times);
        self.ledger.advance(&from.ledger, &to.ledger, times);
    }
}

/// What was counted in one iteration, and the ledger at its end.
#[derive(Clone, Copy)]
struct Iteration {
    counters: Counters,
    counts: Counts,
    ledger: Ledger,
}

struct Region {
    case: u32,
    /// Sample at the first ITER.
    origin: Option<Sample>,
    last: Option<Sample>,
    causes: Option<CaseCauses>,
    iterations: Vec<Iteration>,
    footprint: Sizes,
    footprint_is_steady: bool,
}

/// The case being measured and the reports of those that are done.
pub struct Regions {
    open: Option<Region>,
    done: Vec<Value>,
    modelled: bool,
}

impl Regions {
    pub fn new(modelled: bool) -> Self {
        Regions { open: None, done: Vec::new(), modelled }
    }

    /// Whether an iteration is being measured, so that footprints matter.
    #[inline]
    pub fn measuring(&self) -> bool {
        matches!(&self.open, Some(region) if region.origin.is_some())
    }

    /// Case number of a case that never ended.
    pub fn unfinished(&self) -> Option<u32> {
        self.open.as_ref().map(|region| region.case)
    }

    pub fn begin(&mut self, case: u32) {
        let footprint = Sizes::default();
        self.open = Some(Region {
            case,
            origin: None,
            last: None,
            causes: None,
            iterations: Vec::new(),
            footprint,
            footprint_is_steady: false,
        });
    }

    /// End of one iteration and start of the next.
    pub fn iteration(&mut self, counters: &Counters, machine: Option<&mut Machine>, footprint: &mut Footprint) {
        let Some(region) = &mut self.open else { return };
        let machine = machine.map(|machine| {
            let causes = machine.causes();
            match &mut region.causes {
                Some(charged) => charged.iteration(causes),
                None => region.causes = Some(CaseCauses::start(causes)),
            }
            &*machine
        });
        let now = Sample {
            counters: *counters,
            counts: machine.map(|m| *m.counts()).unwrap_or_default(),
            ledger: machine.map(|m| *m.ledger()).unwrap_or_default(),
        };
        let touched = footprint.take();
        if let Some(last) = &region.last {
            let counters: Counters = std::array::from_fn(|i| now.counters[i] - last.counters[i]);
            let disturbed = counters[counters::ENTRIES_IRQ] + counters[counters::ENTRIES_FAULT] > 0;
            if !disturbed || !region.footprint_is_steady {
                region.footprint = touched;
                region.footprint_is_steady = !disturbed;
            }
            let counts = difference(&now.counts, &last.counts);
            region.iterations.push(Iteration { counters, counts, ledger: now.ledger });
        } else {
            region.origin = Some(now);
        }
        region.last = Some(now);
    }

    /// How many iterations of the open case have ended.
    pub fn iterations(&self) -> usize {
        self.open.as_ref().map_or(0, |region| region.iterations.len())
    }

    /// The iterations from index `first` on, and whatever else was sampled between `from` and `to`, happen so many
    /// `times` more.
    pub fn repeat(&mut self, first: usize, from: &Sample, to: &Sample, times: u64) {
        let Some(region) = self.open.as_mut().filter(|region| region.iterations.len() > first) else { return };
        let again = first..region.iterations.len();
        for time in 1..=times {
            for index in again.clone() {
                let Iteration { counters, counts, mut ledger } = region.iterations[index];
                ledger.advance(&from.ledger, &to.ledger, time);
                region.iterations.push(Iteration { counters, counts, ledger });
            }
        }
        if let Some(last) = &mut region.last {
            last.advance(from, to, times);
        }
    }

    pub fn end(&mut self) {
        if let Some(region) = self.open.take() {
            self.done.push(region.report(self.modelled));
        }
    }

    pub fn reports(&self) -> &[Value] {
        &self.done
    }
}

impl Region {
    /// Whole cycles of each iteration.
    fn cycles(&self) -> Vec<u64> {
        let Some(origin) = &self.origin else { return Vec::new() };
        let ends = self.iterations.iter().map(|iteration| whole(&iteration.ledger, origin));
        let cycles = ends.scan(0, |before, end| Some(end - std::mem::replace(before, end)));
        cycles.collect()
    }

    fn report(&self, modelled: bool) -> Value {
        let series =
            |f: &dyn Fn(&Iteration) -> u64| -> Value { self.iterations.iter().map(f).collect::<Vec<u64>>().into() };
        let cycles = Value::from(self.cycles());
        let mut per_iteration = Map::new();
        for (index, name) in counters::NAMES.iter().enumerate() {
            per_iteration.insert(name.to_string(), series(&|i| i.counters[index]));
        }
        let mut report = Map::new();
        report.insert("case".into(), self.case.into());
        report.insert("iterations".into(), self.iterations.len().into());
        if modelled {
            for (name, count) in COUNTS {
                per_iteration.insert(name.to_string(), series(&|i| count(&i.counts)));
            }
            per_iteration.insert("cycles".into(), cycles.clone());
        }
        report.insert("per_iteration".into(), per_iteration.into());
        report.insert("footprint".into(), self.footprint.report());
        if let (true, Some(origin), Some(last)) = (modelled, &self.origin, &self.last) {
            let rows = last.ledger.whole_cycles_since(&origin.ledger);
            let ledger: Map<_, _> =
                CATEGORIES.iter().map(|&(c, name)| (name.to_string(), rows[c as usize].into())).collect();
            report.insert("ledger".into(), ledger.into());
            report.insert("cycles_total".into(), rows.iter().sum::<u64>().into());
            report.insert("cycles_per_iteration".into(), cycles);
        }
        if let Some(causes) = &self.causes {
            report.insert("space".into(), causes.space());
            report.insert("switches".into(), causes.switches());
            report.insert("causes".into(), causes.report());
        }
        report.into()
    }
}

type Count = fn(&Counts) -> u64;

/// The machine model's own counters with their output names.
const COUNTS: [(&str, Count); 5] = [
    ("itlb_misses", |c| c.itlb_misses),
    ("dtlb_misses", |c| c.dtlb_misses),
    ("itlb_flushed_refills", |c| c.itlb_flushed_refills),
    ("dtlb_flushed_refills", |c| c.dtlb_flushed_refills),
    ("trace_misses", |c| c.trace_misses),
];

fn whole(ledger: &Ledger, origin: &Sample) -> u64 {
    ledger.whole_cycles_since(&origin.ledger).iter().sum()
}

fn difference(now: &Counts, last: &Counts) -> Counts {
    Counts {
        itlb_misses: now.itlb_misses - last.itlb_misses,
        dtlb_misses: now.dtlb_misses - last.dtlb_misses,
        itlb_flushed_refills: now.itlb_flushed_refills - last.itlb_flushed_refills,
        dtlb_flushed_refills: now.dtlb_flushed_refills - last.dtlb_flushed_refills,
        trace_misses: now.trace_misses - last.trace_misses,
    }
}

/// Everything counted so far.
#[derive(Clone, Copy)]
pub struct Totals {
    counters: Counters,
    modelled: Option<(Counts, Ledger)>,
}

impl Totals {
    pub fn new(counters: &Counters, machine: Option<&Machine>) -> Self {
        let modelled = machine.map(|m| (*m.counts(), *m.ledger()));
        Totals { counters: *counters, modelled }
    }

    pub fn report(&self) -> Value {
        let mut totals: Map<String, Value> =
            counters::NAMES.iter().zip(&self.counters).map(|(name, &n)| (name.to_string(), n.into())).collect();
        if let Some((counts, ledger)) = &self.modelled {
            for (name, count) in COUNTS {
                totals.insert(name.into(), count(counts).into());
            }
            totals.insert("cycles".into(), (ledger.total() / cobnut_model::MILLI).into());
            let rows = ledger.whole_cycles_since(&Ledger::default());
            let rows: Map<_, _> = CATEGORIES.iter().map(|&(c, name)| (name.into(), rows[c as usize].into())).collect();
            totals.insert("ledger".into(), rows.into());
        }
        totals.into()
    }
}
