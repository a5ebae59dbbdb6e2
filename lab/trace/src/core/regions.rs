// SPDX-License-Identifier: GPL-2.0-or-later
//! What the markers delimit: cases, each a number of iterations.

use super::causes::{CaseCauses, Cause, Taken};
use super::footprint::{Footprint, Sizes};
use super::functions::Functions;
use super::named::Named;
use super::processor::{Machine, Processor};
use cobnut_model::{Counted, Ledger, CATEGORIES, MILLI};
use serde::Serialize;

pub(crate) type CountsOf<P> = <<P as Processor>::Machine as Machine<P>>::Counts;

/// Adds to `counters` what was counted between `from` and `to` so many `times`. That may be less than nothing, where
/// instructions are taken back that were counted before `from`.
pub(crate) fn advance<C: AsRef<[u64]> + AsMut<[u64]>>(counters: &mut C, from: &C, to: &C, times: u64) {
    let spans = from.as_ref().iter().zip(to.as_ref());
    counters.as_mut().iter_mut().zip(spans).for_each(|(counter, (from, to))| {
        *counter = counter.wrapping_add(to.wrapping_sub(*from).wrapping_mul(times));
    });
}

/// Everything that is sampled at a marker.
pub struct Sample<P: Processor> {
    pub counters: P::Counters,
    pub counts: CountsOf<P>,
    pub ledger: Ledger,
}

impl<P: Processor> Clone for Sample<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Processor> Copy for Sample<P> {}

impl<P: Processor> Default for Sample<P> {
    fn default() -> Self {
        Sample { counters: P::Counters::default(), counts: CountsOf::<P>::default(), ledger: Ledger::default() }
    }
}

impl<P: Processor> Sample<P> {
    /// What was sampled since `from`.
    fn since(&self, from: &Sample<P>) -> Sample<P> {
        let mut counters = self.counters;
        counters.as_mut().iter_mut().zip(from.counters.as_ref()).for_each(|(now, from)| *now -= from);
        let mut ledger = Ledger::default();
        ledger.advance(&from.ledger, &self.ledger, 1);
        Sample { counters, counts: self.counts.since(from.counts), ledger }
    }

    /// Adds what was sampled between `from` and `to` so many `times`.
    fn advance(&mut self, from: &Sample<P>, to: &Sample<P>, times: u64) {
        advance(&mut self.counters, &from.counters, &to.counters, times);
        self.counts.advance(&from.counts, &to.counts, times);
        self.ledger.advance(&from.ledger, &to.ledger, times);
    }
}

/// What was counted in one iteration, and the ledger at its end.
struct Iteration<P: Processor> {
    counters: P::Counters,
    counts: CountsOf<P>,
    ledger: Ledger,
}

struct Region<P: Processor> {
    case: u32,
    /// Sample at the first ITER.
    origin: Option<Sample<P>>,
    last: Option<Sample<P>>,
    causes: Option<CaseCauses>,
    iterations: Vec<Iteration<P>>,
    footprint: Sizes,
    footprint_is_steady: bool,
    /// Cycles by function at the first marker of an iteration, and at the last.
    functions: Option<(Vec<u64>, Vec<u64>)>,
    /// What was sampled at the last marker, with what was passed over before it.
    since: Option<Sample<P>>,
    /// What happened while no iteration was measured. Samples are without it, but for `since`.
    gaps: Option<Sample<P>>,
    paused: bool,
}

/// The case being measured and the reports of those that are done.
pub struct Regions<P: Processor> {
    open: Option<Region<P>>,
    done: Vec<Case>,
    modelled: bool,
}

impl<P: Processor> Regions<P> {
    pub fn new(modelled: bool) -> Self {
        Regions { open: None, done: Vec::new(), modelled }
    }

    /// Whether an iteration is being measured, so that footprints matter.
    #[inline]
    pub fn measuring(&self) -> bool {
        matches!(&self.open, Some(region) if region.origin.is_some() && !region.paused)
    }

    /// Whether something was passed over in the case that is open.
    pub fn has_gaps(&self) -> bool {
        matches!(&self.open, Some(region) if region.paused || region.gaps.is_some())
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
            functions: None,
            since: None,
            gaps: None,
            paused: false,
        });
    }

    /// No iteration is measured from now on. If one was, it has ended with the last call of `iteration`, or is none.
    pub fn pause(&mut self) {
        if let Some(region) = &mut self.open {
            region.paused = region.origin.is_some();
        }
    }

    /// End of one iteration and start of the next.
    pub fn iteration(
        &mut self,
        counters: &P::Counters,
        machine: Option<&mut P::Machine>,
        footprint: Option<&mut Footprint>,
        functions: Vec<u64>,
    ) {
        let Some(region) = &mut self.open else { return };
        let resumes = std::mem::take(&mut region.paused);
        let machine = machine.map(|machine| {
            let causes = machine.causes();
            match &mut region.causes {
                Some(charged) if resumes => charged.resume(causes),
                Some(charged) => charged.iteration(causes),
                None => region.causes = Some(CaseCauses::start(causes)),
            }
            &*machine
        });
        let now: Sample<P> = Sample {
            counters: *counters,
            counts: machine.map(|m| *m.counts()).unwrap_or_default(),
            ledger: machine.map(|m| *m.ledger()).unwrap_or_default(),
        };
        let touched = footprint.map(Footprint::take).unwrap_or_default();
        if resumes {
            return region.resume(now, functions);
        }
        region.since = Some(now);
        let now = region.without_gaps(now);
        match &mut region.functions {
            Some((_, last)) => *last = functions,
            None => region.functions = Some((functions.clone(), functions)),
        }
        if let Some(last) = &region.last {
            let mut counters = now.counters;
            counters.as_mut().iter_mut().zip(last.counters.as_ref()).for_each(|(now, last)| *now -= last);
            let disturbed = P::DISTURBANCES.iter().any(|&index| counters.as_ref()[index] > 0);
            if !disturbed || !region.footprint_is_steady {
                region.footprint = touched;
                region.footprint_is_steady = !disturbed;
            }
            let counts = now.counts.since(last.counts);
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
    pub fn repeat(&mut self, first: usize, from: &Sample<P>, to: &Sample<P>, functions: Vec<u64>, times: u64) {
        let Some(region) = self.open.as_mut().filter(|region| region.iterations.len() > first) else { return };
        let again = first..region.iterations.len();
        for time in 1..=times {
            for index in again.clone() {
                let &Iteration { counters, counts, mut ledger } = &region.iterations[index];
                ledger.advance(&from.ledger, &to.ledger, time);
                region.iterations.push(Iteration { counters, counts, ledger });
            }
        }
        if let Some(last) = &mut region.last {
            last.advance(from, to, times);
        }
        if let Some((_, last)) = &mut region.functions {
            *last = functions;
        }
    }

    pub fn end(&mut self, functions: &Functions) {
        if let Some(region) = self.open.take() {
            self.done.push(region.report(self.modelled, functions));
        }
    }

    pub fn reports(&self) -> &[Case] {
        &self.done
    }
}

impl<P: Processor> Region<P> {
    /// An iteration starts; what was sampled since the last marker belongs to none.
    fn resume(&mut self, now: Sample<P>, functions: Vec<u64>) {
        let Some(since) = self.since.replace(now) else { return };
        let gaps = self.gaps.get_or_insert_with(Sample::default);
        gaps.advance(&since, &now, 1);
        if let Some((origin, last)) = &mut self.functions {
            let passed = functions.iter().zip(&*last).map(|(now, last)| now - last);
            origin.iter_mut().zip(passed).for_each(|(origin, passed)| *origin += passed);
            *last = functions;
        }
        self.last = Some(self.without_gaps(now));
    }

    fn without_gaps(&self, now: Sample<P>) -> Sample<P> {
        self.gaps.map_or(now, |gaps| now.since(&gaps))
    }

    /// Whole cycles of each iteration.
    fn cycles(&self) -> Vec<u64> {
        let Some(origin) = &self.origin else { return Vec::new() };
        let ends = self.iterations.iter().map(|iteration| whole(&iteration.ledger, origin));
        let cycles = ends.scan(0, |before, end| Some(end - std::mem::replace(before, end)));
        cycles.collect()
    }

    fn report(&self, modelled: bool, functions: &Functions) -> Case {
        let series = |f: &dyn Fn(&Iteration<P>) -> u64| -> Vec<u64> { self.iterations.iter().map(f).collect() };
        let mut per_iteration = Named::default();
        for (index, &name) in P::COUNTERS.iter().enumerate() {
            per_iteration.put(name, series(&|i| i.counters.as_ref()[index]));
        }
        if modelled {
            for (index, (name, _)) in CountsOf::<P>::default().named().into_iter().enumerate() {
                per_iteration.put(name, series(&|i| i.counts.named()[index].1));
            }
            per_iteration.put("cycles", self.cycles());
        }
        let ends = self.origin.as_ref().zip(self.last.as_ref()).filter(|_| modelled);
        let spent = self.functions.as_ref().filter(|_| modelled).map(|(origin, last)| functions.since(origin, last));
        Case {
            case: self.case,
            iterations: self.iterations.len(),
            per_iteration,
            footprint: P::PHYSICAL.then_some(self.footprint),
            costs: ends.map(|(origin, last)| {
                let rows = last.ledger.whole_cycles_since(&origin.ledger);
                Costs {
                    ledger: P::ROWS.iter().map(|&row| (CATEGORIES[row as usize].1, rows[row as usize])).collect(),
                    cycles_total: rows.iter().sum(),
                    cycles_per_iteration: self.cycles(),
                }
            }),
            charged: self.causes.as_ref().map(|causes| Charged {
                space: causes.spaces().swap_remove(0),
                spaces: causes.spaces(),
                switches: causes.switches(),
                causes: causes.report(),
            }),
            functions: spent.map(|spent| {
                let spent = spent.into_iter();
                spent.map(|(name, milli)| Spent { symbol: name.to_string(), cycles: milli / MILLI }).collect()
            }),
        }
    }
}

/// What is reported of a case. Cycles are whole ones.
#[derive(Serialize)]
pub struct Case {
    /// The number that the guest has given it.
    case: u32,
    iterations: usize,
    /// By counter, how much it counted in each iteration.
    per_iteration: Named<Vec<u64>>,
    /// Of the last iteration without a fault or an interrupt; of guests whose physical addresses are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    footprint: Option<Sizes>,
    /// On a machine.
    #[serde(flatten)]
    costs: Option<Costs>,
    #[serde(flatten)]
    charged: Option<Charged>,
    /// What each function of the kernel cost in all iterations, the dearest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Vec<Spent>>,
}

/// What all iterations of a case cost.
#[derive(Serialize)]
struct Costs {
    /// By category.
    ledger: Named<u64>,
    /// The sum of the ledger.
    cycles_total: u64,
    cycles_per_iteration: Vec<u64>,
}

/// Where a case ran, and what its refills were charged to.
#[derive(Serialize)]
struct Charged {
    /// The space that ran at its first marker.
    space: String,
    /// Those that ran at its markers, each once: more than one if what marks it has moved.
    spaces: Vec<String>,
    switches: Vec<Taken>,
    causes: Vec<Cause>,
}

/// What a function cost, with all that it missed.
#[derive(Serialize)]
struct Spent {
    symbol: String,
    cycles: u64,
}

fn whole<P: Processor>(ledger: &Ledger, origin: &Sample<P>) -> u64 {
    ledger.whole_cycles_since(&origin.ledger).iter().sum()
}

/// Everything counted so far.
pub struct Totals<P: Processor> {
    counters: P::Counters,
    modelled: Option<(CountsOf<P>, Ledger)>,
}

impl<P: Processor> Totals<P> {
    pub fn new(counters: &P::Counters, machine: Option<&P::Machine>) -> Self {
        let modelled = machine.map(|m| (*m.counts(), *m.ledger()));
        Totals { counters: *counters, modelled }
    }

    pub fn report(&self) -> TotalsReport {
        let mut counted: Named<u64> = P::COUNTERS.iter().copied().zip(self.counters.as_ref().iter().copied()).collect();
        let modelled = self.modelled.as_ref().map(|(counts, ledger)| {
            counts.named().into_iter().for_each(|(name, count)| counted.put(name, count));
            let rows = ledger.whole_cycles_since(&Ledger::default());
            TotalCosts {
                cycles: ledger.total() / MILLI,
                ledger: CATEGORIES.iter().map(|&(category, name)| (name, rows[category as usize])).collect(),
            }
        });
        TotalsReport { counted, modelled }
    }
}

/// What is reported of all that was counted.
#[derive(Serialize)]
pub struct TotalsReport {
    /// By counter.
    #[serde(flatten)]
    counted: Named<u64>,
    /// On a machine.
    #[serde(flatten)]
    modelled: Option<TotalCosts>,
}

#[derive(Serialize)]
struct TotalCosts {
    /// Whole cycles, and where they went by category.
    cycles: u64,
    ledger: Named<u64>,
}
