// SPDX-License-Identifier: GPL-2.0-or-later
//! Recognising that a machine does the same again, so that a repetition need not be modelled.
//!
//! What a machine does with a sequence of events, a *pass*, depends on its state alone. Where passes of the same events
//! lead from a state to the same state again, any number of further ones cost what the last one did. The state is
//! compared whole and exactly: what TLBs and caches hold and in which order it would leave, what is open in the front
//! end, which space runs. Only when something was lost is left out, because it differs each time. To which switch
//! a refill is charged follows from that, so it takes two passes from and to the same state to know: in the second one
//! whatever was lost in the first is charged, as it will be in the third.

use super::machine::Memory;
use super::{Counts, Machine};
use crate::{Charges, Counted, Ledger, Moment};

/// A machine between two events.
pub struct Checkpoint {
    state: Vec<u64>,
    ledger: Ledger,
    counts: Counts,
    charges: Charges,
    newest: Moment,
}

impl Checkpoint {
    /// What was booked until then.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether the machine will do the same from here as from `other`.
    pub fn same_state(&self, other: &Checkpoint) -> bool {
        self.state == other.state
    }
}

impl Machine {
    /// Where it stands now.
    pub fn checkpoint(&self) -> Checkpoint {
        let Memory { ledger, counts, causes, .. } = &self.memory;
        let (charges, newest) = (causes.all_charges().clone(), causes.newest());
        Checkpoint { state: self.state(), ledger: *ledger, counts: *counts, charges, newest }
    }

    /// How often the pass that began at `from` and ends now can be repeated at once.
    pub fn repeatable(&self, from: &Checkpoint) -> u64 {
        self.memory.causes.repeatable(from.newest)
    }

    /// The pass from `from` to now is made so many `times` more. It was the second one from the same state to the same
    /// state. When something was lost is then not up to date: the events of two more passes have to follow before any
    /// others.
    pub fn repeat(&mut self, from: &Checkpoint, times: u64) {
        let Memory { ledger, counts, causes, .. } = &mut self.memory;
        let (booked, counted) = (*ledger, *counts);
        ledger.advance(&from.ledger, &booked, times);
        counts.advance(&from.counts, &counted, times);
        causes.repeat(from.newest, &from.charges, times);
    }

    /// Everything that decides what the next events do.
    fn state(&self) -> Vec<u64> {
        let Memory { tlbs, l1, l2, causes, last_code_line, stores, .. } = &self.memory;
        let mut state = Vec::with_capacity(1 << 14);
        self.front.state(&mut state);
        tlbs.state(&mut state);
        l1.state(&mut state);
        if let Some(l2) = l2 {
            l2.state(&mut state);
        }
        causes.state(&mut state);
        state.extend([last_code_line.0 as u64, self.left.map_or(u64::MAX, |left| left.number())]);
        stores.state(&mut state);
        if let Some(predictor) = &self.predictor {
            predictor.state(&mut state);
        }
        state
    }
}
