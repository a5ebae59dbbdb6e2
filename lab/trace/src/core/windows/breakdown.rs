// SPDX-License-Identifier: GPL-2.0-or-later
//! What windows show of things that have names at run time only: cycles by function, and what refills were charged to.

use super::estimate::{Estimate, Sample, Sums};
use crate::core::causes::{named, Distinct};
use cobnut_model::{Charge, Switch, CATEGORIES, KINDS, MILLI, UNKNOWN};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What one window showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Each function with its thousandths of a cycle.
    functions: Vec<(String, u64)>,
    causes: Vec<Charged>,
}

/// What was charged for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Charged {
    /// Indices into the ledger's categories and the kinds.
    category: usize,
    kind: usize,
    /// Nothing where none took the entries or it is not known.
    switch: Option<Distinct>,
    refills: u64,
    milli: u64,
}

impl Shown {
    /// Functions with thousandths of a cycle, and charges to `switches`, which the machine has numbered.
    pub fn new(functions: Vec<(&str, u64)>, charges: Vec<Charge>, switches: &[Switch]) -> Self {
        let functions = functions.into_iter().map(|(name, milli)| (name.to_string(), milli)).collect();
        let charged = |charge: Charge| Charged {
            category: charge.category as usize,
            kind: charge.kind as usize,
            switch: (charge.switch != UNKNOWN).then(|| named(&switches[charge.switch])),
            refills: charge.sum.refills,
            milli: charge.sum.milli,
        };
        Shown { functions, causes: charges.into_iter().map(charged).collect() }
    }

    /// Whether its numbers name a category and a kind each.
    pub fn is_sound(&self) -> bool {
        self.causes.iter().all(|one| one.category < CATEGORIES.len() && one.kind < KINDS.len())
    }
}

/// The switches of all windows, each once: every window's machine has numbered them anew.
#[derive(Default)]
pub struct Switches {
    list: Vec<Distinct>,
    numbers: HashMap<Distinct, usize>,
}

impl Switches {
    fn number(&mut self, switch: &Distinct) -> usize {
        *self.numbers.entry(switch.clone()).or_insert_with(|| {
            self.list.push(switch.clone());
            self.list.len() - 1
        })
    }

    pub fn list(&self) -> &[Distinct] {
        &self.list
    }
}

/// Sums over windows. One that does not show a name adds nothing to its sums, as it should.
#[derive(Clone, Default)]
pub struct Breakdown {
    functions: BTreeMap<String, Sums>,
    /// By category, kind and switch the refills and what they cost.
    causes: BTreeMap<(usize, usize, Option<usize>), [Sums; 2]>,
}

/// A function of the kernel or of a program, in cycles.
#[derive(Serialize)]
pub struct Spent {
    symbol: String,
    #[serde(flatten)]
    cycles: Estimate,
}

/// What refills of a category were charged to.
#[derive(Serialize)]
pub struct Cause {
    category: &'static str,
    /// `flushed`, `evicted` or `cold`.
    kind: &'static str,
    /// Index of the switch that took the entries, among the report's; nothing where none did or it is not known.
    switch: Option<usize>,
    refills: Estimate,
    cycles: Estimate,
}

impl Breakdown {
    /// A window of so many instructions.
    pub fn add(&mut self, instructions: u64, shown: &Shown, switches: &mut Switches) {
        for (name, milli) in &shown.functions {
            self.functions.entry(name.clone()).or_default().add(instructions, *milli);
        }
        for charged in &shown.causes {
            let switch = charged.switch.as_ref().map(|switch| switches.number(switch));
            let [refills, cost] = self.causes.entry((charged.category, charged.kind, switch)).or_default();
            refills.add(instructions, charged.refills);
            cost.add(instructions, charged.milli);
        }
    }

    /// The functions of the whole that `sample` is of, the dearest first.
    pub fn functions(&self, sample: &Sample) -> Vec<Spent> {
        let spent = self.functions.iter().filter_map(|(name, sums)| {
            let cycles = sample.estimate(sums)?.in_units_of(MILLI);
            Some(Spent { symbol: name.clone(), cycles })
        });
        let mut spent: Vec<Spent> = spent.collect();
        spent.sort_by(|one, other| other.cycles.value.total_cmp(&one.cycles.value));
        spent
    }

    /// What its refills were charged to, by category, kind and switch.
    pub fn causes(&self, sample: &Sample) -> Vec<Cause> {
        let causes = self.causes.iter().filter_map(|(&(category, kind, switch), [refills, cost])| {
            Some(Cause {
                category: CATEGORIES[category].1,
                kind: KINDS[kind].1,
                switch,
                refills: sample.estimate(refills)?.in_units_of(1),
                cycles: sample.estimate(cost)?.in_units_of(MILLI),
            })
        });
        causes.collect()
    }
}
