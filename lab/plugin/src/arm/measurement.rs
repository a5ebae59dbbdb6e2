// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that measures: counters and, if wanted, a machine model, sampled at the guest's markers. Its report has
//! the form of `cobnut_trace::Measurement`'s.

use super::counters::{self, Counters};
use super::decode::Decoded;
use super::follower::{Exception, Fault, Observer, Place};
use super::functions::Functions;
use super::memory::Memory;
use super::regions::{Regions, Sample};
use cobnut_model::arm::{Block, Costs, Instruction, Machine, Operation};
use cobnut_model::{MachineFile, Space};
use cobnut_trace::{causes, Marker, Mode};
use serde_json::{json, Value};

pub struct Measurement {
    costs: Costs,
    machine: Option<Machine>,
    /// Name of the machine and what was changed of it.
    title: Option<(String, Vec<String>)>,
    counters: Counters,
    functions: Functions,
    regions: Regions,
    /// At the last marker.
    totals: Option<Sample>,
    /// Nothing is counted before the first case begins.
    waiting: bool,
    pub warnings: Vec<String>,
}

impl Measurement {
    /// On the machine of `file`, changed by `overrides` already, which are only reported; without a file, counters
    /// only.
    pub fn new(file: Option<&MachineFile>, overrides: &[String], functions: Functions, waiting: bool) -> Self {
        Measurement {
            costs: file.map(Costs::from_file).unwrap_or_default(),
            machine: file.map(Machine::new),
            title: file.map(|f| (f.name.clone(), overrides.to_vec())),
            counters: Counters::default(),
            functions,
            regions: Regions::default(),
            totals: None,
            waiting,
            warnings: Vec::new(),
        }
    }

    fn sample(&self) -> Sample {
        Sample { counters: self.counters, modelled: self.machine.as_ref().map(|m| (*m.counts(), *m.ledger())) }
    }

    /// Everything measured. Totals run to the last marker; without markers, up to now.
    pub fn report(&self) -> Value {
        let mut warnings = self.warnings.clone();
        if let Some(case) = self.regions.unfinished() {
            warnings.push(format!("case {case} has no END: it is left out"));
        }
        let (name, overrides) = self.title.as_ref().map(|(name, set)| (name, set)).unzip();
        json!({
            "plugin_version": env!("CARGO_PKG_VERSION"),
            "machine": name,
            "machine_set": overrides.unwrap_or(&Vec::new()),
            "regions": self.regions.reports(),
            "switches": self.machine.as_ref().map(|machine| causes::switches(machine.causes())),
            "totals": self.totals.unwrap_or_else(|| self.sample()).totals(),
            "warnings": warnings,
        })
    }

    /// A data access that was carried out.
    #[inline]
    pub fn data(&mut self, mva: u32, write: bool, memory: &mut Memory) {
        if let (Some(machine), false) = (&mut self.machine, self.waiting) {
            machine.data(mva, write, memory);
        }
    }
}

/// The space that runs, as the hardware shows it.
fn space(memory: &Memory) -> Space {
    Space { directory: memory.table_base, code_base: memory.process_id }
}

impl Observer for Measurement {
    type Prepared = Block;

    fn prepare(&self, instructions: &[Decoded]) -> Block {
        let instructions: Vec<Instruction> = instructions.iter().map(|decoded| decoded.instruction).collect();
        Block::new(&instructions, &self.costs)
    }

    #[inline]
    fn run(&mut self, block: &Block, place: &Place, memory: &mut Memory) {
        if self.waiting {
            return;
        }
        self.counters[counters::of_mode(place.mode)] += block.len() as u64;
        if let Some(machine) = &mut self.machine {
            self.functions.enter(place, machine.ledger().total());
            machine.block(block, place.mva, memory);
        }
    }

    fn retract(&mut self, block: &Block, first: usize, mode: Mode) {
        if self.waiting {
            return;
        }
        self.counters[counters::of_mode(mode)] -= (block.len() - first) as u64;
        if let Some(machine) = &mut self.machine {
            machine.retract(block, first..block.len());
        }
    }

    fn operation(&mut self, operation: Operation, operand: u32, at: u32, memory: &mut Memory) {
        if self.waiting {
            return;
        }
        for &counter in counters::of_operation(operation) {
            self.counters[counter] += 1;
        }
        if let Some(machine) = &mut self.machine {
            machine.operation(operation, operand, at, space(memory));
        }
    }

    fn exception(&mut self, exception: Exception, _at: u32, _fault: Fault, _memory: &mut Memory) {
        if self.waiting {
            return;
        }
        self.counters[counters::of_exception(exception)] += 1;
        if let Some(machine) = &mut self.machine {
            machine.exception();
        }
    }

    fn marker(&mut self, marker: Marker) {
        self.waiting &= !matches!(marker, Marker::Begin(_));
        let sample = self.sample();
        if let Some(machine) = &self.machine {
            self.functions.settle(machine.ledger().total());
        }
        let causes = self.machine.as_ref().map(Machine::causes);
        match marker {
            Marker::Begin(case) => {
                if let Some(open) = self.regions.unfinished() {
                    self.warnings.push(format!("case {open} has no END"));
                }
                self.regions.begin(case);
            }
            Marker::Iteration => self.regions.iteration(sample, causes, &self.functions),
            Marker::End => self.regions.end(&self.functions),
            Marker::Other => {}
        }
        self.totals = Some(sample);
    }
}
