// SPDX-License-Identifier: GPL-2.0-or-later
//! What the markers delimit: cases, each a number of iterations.

use super::counters::{Counters, NAMES};
use super::functions::Functions;
use cobnut_model::arm::Counts;
use cobnut_model::{Category, Causes, Ledger, CATEGORIES, MILLI};
use cobnut_trace::causes::CaseCauses;
use serde_json::{json, Map, Value};

/// The ledger's rows that there are on ARM.
const ROWS: [Category; 7] = [
    Category::Instructions,
    Category::KernelEntryExit,
    Category::TlbRefillCode,
    Category::TlbRefillData,
    Category::CacheRefill,
    Category::WriteBack,
    Category::Flush,
];

type Count = fn(&Counts) -> u64;

/// The machine model's own counters with their output names.
const COUNTS: [(&str, Count); 5] = [
    ("itlb_misses", |c| c.itlb_misses),
    ("dtlb_misses", |c| c.dtlb_misses),
    ("icache_misses", |c| c.icache_misses),
    ("dcache_misses", |c| c.dcache_misses),
    ("write_backs", |c| c.write_backs),
];

/// Everything that is sampled at a marker.
#[derive(Clone, Copy)]
pub struct Sample {
    pub counters: Counters,
    pub modelled: Option<(Counts, Ledger)>,
}

impl Sample {
    /// Everything counted so far.
    pub fn totals(&self) -> Value {
        let mut totals: Map<String, Value> =
            NAMES.iter().zip(&self.counters).map(|(name, &n)| (name.to_string(), n.into())).collect();
        if let Some((counts, ledger)) = &self.modelled {
            totals.extend(COUNTS.iter().map(|(name, count)| (name.to_string(), count(counts).into())));
            totals.insert("cycles".into(), (ledger.total() / MILLI).into());
            let rows = ledger.whole_cycles_since(&Ledger::default());
            let rows: Map<_, _> = CATEGORIES.iter().map(|&(c, name)| (name.into(), rows[c as usize].into())).collect();
            totals.insert("ledger".into(), rows.into());
        }
        totals.into()
    }

    fn whole_cycles_since(&self, origin: &Sample) -> Option<[u64; CATEGORIES.len()]> {
        let (now, origin) = (self.modelled.as_ref()?, origin.modelled.as_ref()?);
        Some(now.1.whole_cycles_since(&origin.1))
    }
}

struct Region {
    case: u32,
    /// At the first marker of an iteration, and at each that followed.
    samples: Vec<Sample>,
    causes: Option<CaseCauses>,
    /// Cycles by function at the first marker of an iteration, and at the last.
    functions: Option<(Vec<u64>, Vec<u64>)>,
}

/// The case being measured and the reports of those that are done.
#[derive(Default)]
pub struct Regions {
    open: Option<Region>,
    done: Vec<Value>,
}

impl Regions {
    /// Case number of a case that never ended.
    pub fn unfinished(&self) -> Option<u32> {
        self.open.as_ref().map(|region| region.case)
    }

    pub fn begin(&mut self, case: u32) {
        self.open = Some(Region { case, samples: Vec::new(), causes: None, functions: None });
    }

    /// End of one iteration and start of the next.
    pub fn iteration(&mut self, sample: Sample, causes: Option<&Causes>, functions: &Functions) {
        let Some(region) = &mut self.open else { return };
        region.samples.push(sample);
        if let Some(causes) = causes {
            match &mut region.causes {
                Some(charged) => charged.iteration(causes),
                None => region.causes = Some(CaseCauses::start(causes)),
            }
        }
        let now = functions.sums();
        match &mut region.functions {
            Some((_, last)) => *last = now,
            None => region.functions = Some((now.clone(), now)),
        }
    }

    pub fn end(&mut self, functions: &Functions) {
        if let Some(region) = self.open.take() {
            self.done.push(region.report(functions));
        }
    }

    pub fn reports(&self) -> &[Value] {
        &self.done
    }
}

impl Region {
    fn report(&self, functions: &Functions) -> Value {
        let pairs = || self.samples.windows(2).map(|pair| (&pair[0], &pair[1]));
        let mut series: Map<String, Value> = Map::new();
        for (index, name) in NAMES.iter().enumerate() {
            let counted: Vec<u64> = pairs().map(|(last, now)| now.counters[index] - last.counters[index]).collect();
            series.insert(name.to_string(), counted.into());
        }
        let mut report = Map::new();
        report.insert("case".into(), self.case.into());
        report.insert("iterations".into(), pairs().len().into());
        let ends = self.samples.first().zip(self.samples.last());
        let Some((origin, rows)) = ends.and_then(|(origin, last)| Some((origin, last.whole_cycles_since(origin)?)))
        else {
            report.insert("per_iteration".into(), series.into());
            return report.into();
        };
        for (name, count) in COUNTS {
            let of = |sample: &Sample| sample.modelled.as_ref().map_or(0, |(counts, _)| count(counts));
            let counted: Vec<u64> = pairs().map(|(last, now)| of(now) - of(last)).collect();
            series.insert(name.to_string(), counted.into());
        }
        let until = |sample: &Sample| sample.whole_cycles_since(origin).map_or(0, |rows| rows.iter().sum::<u64>());
        let cycles: Vec<u64> = pairs().map(|(last, now)| until(now) - until(last)).collect();
        series.insert("cycles".into(), cycles.clone().into());
        let name = |category: Category| CATEGORIES[category as usize].1.to_string();
        let ledger: Map<String, Value> = ROWS.iter().map(|&row| (name(row), rows[row as usize].into())).collect();
        report.insert("per_iteration".into(), series.into());
        report.insert("ledger".into(), ledger.into());
        report.insert("cycles_total".into(), rows.iter().sum::<u64>().into());
        report.insert("cycles_per_iteration".into(), cycles.into());
        if let Some(causes) = &self.causes {
            report.insert("space".into(), causes.space());
            report.insert("switches".into(), causes.switches());
            report.insert("causes".into(), causes.report());
        }
        if let Some((origin, last)) = &self.functions {
            let spent = functions.since(origin, last).into_iter();
            let spent = spent.map(|(name, milli)| json!({ "symbol": name, "cycles": milli / MILLI }));
            report.insert("functions".into(), spent.collect::<Vec<_>>().into());
        }
        report.into()
    }
}
