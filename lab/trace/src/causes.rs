// SPDX-License-Identifier: GPL-2.0-or-later
//! What the refills of a case were charged to.

use cobnut_model::{Causes, Charges, Space, Switch, CATEGORIES, KINDS, MILLI, UNKNOWN};
use serde_json::{json, Value};

/// The charges of the case that is open.
pub struct CaseCauses {
    /// Runs at the first marker.
    space: Space,
    origin: Charges,
    last: Charges,
}

impl CaseCauses {
    /// The first iteration starts.
    pub fn start(causes: &Causes) -> Self {
        let charges = causes.charges();
        CaseCauses { space: causes.space(), origin: charges.clone(), last: charges.clone() }
    }

    /// An iteration ends.
    pub fn iteration(&mut self, causes: &Causes) {
        self.last = causes.charges().clone();
    }

    pub fn space(&self) -> Value {
        name(self.space).into()
    }

    /// The switches and invalidations that happened, and how often.
    pub fn switches(&self) -> Value {
        let times = self.last.switches_since(&self.origin);
        times.into_iter().map(|(switch, times)| json!({ "switch": switch, "times": times })).collect::<Vec<_>>().into()
    }

    /// In whole cycles, rounded down along the charges of a category, so that they and the costs that are no refills
    /// are the category's whole cycles.
    pub fn report(&self) -> Value {
        let mut sums = [0; CATEGORIES.len()];
        let charges = self.last.since(&self.origin).into_iter().map(|charge| {
            let sum = &mut sums[charge.category as usize];
            let before = *sum / MILLI;
            *sum += charge.sum.milli;
            json!({
                "category": CATEGORIES[charge.category as usize].1,
                "kind": KINDS[charge.kind as usize].1,
                "switch": Some(charge.switch).filter(|&switch| switch != UNKNOWN),
                "refills": charge.sum.refills,
                "cycles": *sum / MILLI - before,
            })
        });
        charges.collect::<Vec<_>>().into()
    }
}

/// Every distinct switch and invalidation; what is charged names them by index.
pub fn switches(causes: &Causes) -> Value {
    let one = |switch: &Switch| {
        let at = (switch.at != 0).then(|| format!("{:08x}", switch.at));
        json!({ "from": name(switch.from), "to": name(switch.to), "how": switch.how.name(), "at": at })
    };
    causes.switches().iter().map(one).collect::<Vec<_>>().into()
}

/// Its directory's physical address, and where its code segment starts unless that is 0.
fn name(space: Space) -> String {
    match space.code_base {
        0 => format!("{:08x}", space.directory),
        base => format!("{:08x}+{base:08x}", space.directory),
    }
}
