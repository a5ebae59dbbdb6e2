// SPDX-License-Identifier: GPL-2.0-or-later
//! What the refills of a case were charged to.

use cobnut_model::{Causes, Charges, Linear, Space, Switch, CATEGORIES, KINDS, MILLI, UNKNOWN};
use serde::{Deserialize, Serialize};

/// The charges of the case that is open.
pub struct CaseCauses {
    /// Runs at the first marker.
    spaces: Vec<Space>,
    origin: Charges,
    last: Charges,
}

impl CaseCauses {
    /// The first iteration starts.
    pub fn start(causes: &Causes) -> Self {
        let charges = causes.charges();
        CaseCauses { spaces: vec![causes.space()], origin: charges.clone(), last: charges.clone() }
    }

    /// An iteration ends.
    pub fn iteration(&mut self, causes: &Causes) {
        if !self.spaces.contains(&causes.space()) {
            self.spaces.push(causes.space());
        }
        self.last = causes.charges().clone();
    }

    /// What was charged since the last marker is not the case's.
    pub fn resume(&mut self, causes: &Causes) {
        self.origin.pass_over(&self.last, causes.charges());
        self.last = causes.charges().clone();
    }

    /// Those that ran at its markers, each once, the first one first.
    pub fn spaces(&self) -> Vec<String> {
        self.spaces.iter().copied().map(name).collect()
    }

    /// The switches and invalidations that happened, and how often.
    pub fn switches(&self) -> Vec<Taken> {
        let times = self.last.switches_since(&self.origin).into_iter();
        times.map(|(switch, times)| Taken { switch, times }).collect()
    }

    /// In whole cycles, rounded down along the charges of a category, so that they and the costs that are no refills
    /// are the category's whole cycles.
    pub fn report(&self) -> Vec<Cause> {
        let mut sums = [0; CATEGORIES.len()];
        let charges = self.last.since(&self.origin).into_iter().map(|charge| {
            let sum = &mut sums[charge.category as usize];
            let before = *sum / MILLI;
            *sum += charge.sum.milli;
            Cause {
                category: CATEGORIES[charge.category as usize].1,
                kind: KINDS[charge.kind as usize].1,
                switch: Some(charge.switch).filter(|&switch| switch != UNKNOWN),
                refills: charge.sum.refills,
                cycles: *sum / MILLI - before,
            }
        });
        charges.collect()
    }
}

/// A switch or invalidation of a case.
#[derive(Serialize)]
pub struct Taken {
    /// Its index among the run's.
    switch: usize,
    times: u64,
}

/// What a case was charged with for one reason.
#[derive(Serialize)]
pub struct Cause {
    /// Of the ledger.
    category: &'static str,
    /// `flushed`, `evicted` or `cold`.
    kind: &'static str,
    /// Index of the switch that took the entries, among the run's; nothing where none did or it is not known.
    switch: Option<usize>,
    refills: u64,
    cycles: u64,
}

/// A distinct switch or invalidation of a run, by the names of spaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Distinct {
    from: String,
    to: String,
    how: String,
    /// The instruction that did it, where one is named: 8 hexadecimal digits.
    at: Option<String>,
}

/// Every distinct switch and invalidation; what is charged names them by index.
pub fn switches(causes: &Causes) -> Vec<Distinct> {
    causes.switches().iter().map(named).collect()
}

pub(super) fn named(switch: &Switch) -> Distinct {
    Distinct {
        from: name(switch.from),
        to: name(switch.to),
        how: switch.how.name().to_string(),
        at: (switch.at != 0).then(|| format!("{:08x}", switch.at)),
    }
}

/// Its directory's physical address, and where its code segment starts unless that is 0.
pub(super) fn name(space: Space) -> String {
    match space.code_base {
        Linear(0) => format!("{:08x}", space.directory),
        base => format!("{:08x}+{base:08x}", space.directory),
    }
}
