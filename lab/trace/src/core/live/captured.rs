// SPDX-License-Identifier: GPL-2.0-or-later
//! The translations that a pass uses.

use super::super::measurement::Measurement;
use super::super::processor::Processor;
use super::super::sink::Sink;
use super::calls::{Call, Calls, Made};
use crate::Marker;
use cobnut_model::{Code, Linear, Mapping, Physical, Tables};
use std::collections::{HashMap, HashSet};

/// A page, and the tables that are in force: none before the pass has changed them.
type Page = (Option<Physical>, u32);

pub(super) struct Captured<P: Processor> {
    walks: HashMap<Page, P::Mapping>,
    written: HashSet<Page>,
    in_force: Option<Physical>,
    /// A page had no translation, so what makes one is not known.
    unmapped: bool,
}

impl<P: Processor> Default for Captured<P> {
    fn default() -> Self {
        Captured { walks: HashMap::new(), written: HashSet::new(), in_force: None, unmapped: false }
    }
}

impl<P: Processor> Captured<P> {
    /// A call of the pass is about to be made.
    pub fn see(&mut self, call: Call, calls: &Calls<P>, tables: &mut impl Tables<P::Mapping>) {
        match calls.made(call) {
            Made::Run(run, linear) => self.reach(linear, run.block.bytes(), false, tables),
            Made::Data { linear, size, write } => self.reach(linear, size as u32, write, tables),
            Made::Event(event) => self.event(&event),
            Made::Retract(..) | Made::Iteration => {}
        }
    }

    fn event(&mut self, event: &P::Event) {
        self.in_force = P::tables_after(event).or(self.in_force);
    }

    fn reach(&mut self, linear: Linear, bytes: u32, write: bool, tables: &mut impl Tables<P::Mapping>) {
        let last = linear.plus(bytes.max(1) - 1);
        for number in linear.0 >> P::PAGE_SHIFT..=last.0 >> P::PAGE_SHIFT {
            let page = (self.in_force, number);
            if write {
                self.written.insert(page);
            }
            match tables.walk(Linear(number << P::PAGE_SHIFT)) {
                Some(found) => drop(self.walks.insert(page, found)),
                None => self.unmapped = true,
            }
        }
    }

    /// Whether no call of the pass can have changed a translation: none wrote to a page that the walks read.
    pub fn is_constant(&self) -> bool {
        let tables: HashSet<_> = self.walks.values().flat_map(Mapping::entries).map(Physical::frame).collect();
        let frame = |page: &Page| Some(self.walks.get(page)?.frame_of(Linear(page.1 << P::PAGE_SHIFT)).frame());
        !self.unmapped && !self.written.iter().filter_map(frame).any(|frame| tables.contains(&frame))
    }

    /// Makes calls of the pass from its start on.
    pub fn play(&mut self, pass: &[Call], calls: &Calls<P>, sink: &mut Measurement<P>) {
        self.in_force = None;
        for &call in pass {
            match calls.made(call) {
                Made::Run(run, linear) => sink.run(run, linear, self),
                Made::Retract(run, instructions) => sink.retract(run, instructions),
                Made::Data { linear, size, write } => sink.data(linear, size, write, self),
                Made::Event(event) => {
                    self.event(&event);
                    sink.event(&event, self);
                }
                Made::Iteration => sink.marker(Marker::Iteration),
            }
        }
    }
}

impl<P: Processor> Tables<P::Mapping> for Captured<P> {
    fn walk(&mut self, at: Linear) -> Option<P::Mapping> {
        self.walks.get(&(self.in_force, at.0 >> P::PAGE_SHIFT)).copied()
    }
}
