// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts what is executed in named parts of the kernel's code.
//!
//! A part may consist of several ranges of one name. Cycles are the fixed costs of its instructions, without what the
//! TLBs and caches add. Where instructions pair, an instruction costs what the run up to it costs more than the run
//! before it, so the parts of a run add up to the run.

use cobnut_model::{Block, Costs, Instruction, MILLI};
use serde_json::{json, Map, Value};
use std::ops::Range;

#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    pub instructions: u64,
    /// Thousandths of a cycle.
    pub milli: u64,
}

impl Sum {
    /// With what was added between `from` and `to` so many `times` more.
    fn advanced(&self, from: &Sum, to: &Sum, times: u64) -> Sum {
        Sum {
            instructions: self.instructions + (to.instructions - from.instructions) * times,
            milli: self.milli + (to.milli - from.milli) * times,
        }
    }
}

/// What of a straight run of instructions lies in one range.
pub(crate) struct Share {
    part: usize,
    instructions: Range<usize>,
    milli: u64,
}

/// A range of linear addresses that belongs to the part `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRange {
    pub name: String,
    pub addresses: Range<u32>,
}

/// The parts, and what was counted in each.
pub(crate) struct CodeRanges {
    names: Vec<String>,
    /// With the index of the part that they belong to.
    ranges: Vec<(Range<u32>, usize)>,
    sums: Vec<Sum>,
    /// Sums at each marker of the case that is open, the first one where its first iteration starts.
    samples: Vec<Vec<Sum>>,
    done: Vec<Value>,
}

impl CodeRanges {
    pub fn new(ranges: &[CodeRange]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut part = |name: &String| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let ranges = ranges.iter().map(|range| (range.addresses.clone(), part(&range.name))).collect();
        let sums = vec![Sum::default(); names.len()];
        CodeRanges { names, ranges, sums, samples: Vec::new(), done: Vec::new() }
    }

    /// What of `instructions`, the first of which stands at `linear`, lies in the ranges.
    pub fn shares(&self, linear: u32, instructions: &[Instruction], costs: &Costs) -> Vec<Share> {
        let starts: Vec<u32> = instructions
            .iter()
            .scan(linear, |at, i| {
                let here = *at;
                *at = at.wrapping_add(i.length as u32);
                Some(here)
            })
            .collect();
        self.ranges
            .iter()
            .filter_map(|(range, part)| {
                let first = starts.iter().position(|at| range.contains(at))?;
                let end = first + starts[first..].iter().take_while(|at| range.contains(at)).count();
                let milli = cost(&instructions[..end], costs) - cost(&instructions[..first], costs);
                Some(Share { part: *part, instructions: first..end, milli })
            })
            .collect()
    }

    /// A run with these shares was executed.
    #[inline]
    pub fn executed(&mut self, shares: &[Share]) {
        for share in shares {
            let sum = &mut self.sums[share.part];
            sum.instructions += share.instructions.len() as u64;
            sum.milli += share.milli;
        }
    }

    /// Of a run with these shares, the instructions `missing` turned out not to have been executed.
    pub fn take_back(&mut self, shares: &[Share], run: &[Instruction], missing: Range<usize>, costs: &Costs) {
        for share in shares {
            let first = share.instructions.start.max(missing.start);
            let end = share.instructions.end.min(missing.end);
            if first < end {
                let sum = &mut self.sums[share.part];
                sum.instructions -= (end - first) as u64;
                sum.milli -= cost(&run[..end], costs) - cost(&run[..first], costs);
            }
        }
    }

    pub fn begin(&mut self) {
        self.samples.clear();
    }

    /// End of one iteration and start of the next.
    pub fn iteration(&mut self) {
        self.samples.push(self.sums.clone());
    }

    /// What was counted so far.
    pub fn sums(&self) -> &[Sum] {
        &self.sums
    }

    /// Adds to what was counted in one part.
    pub fn add(&mut self, part: usize, instructions: u64, milli: u64) {
        self.sums[part].instructions += instructions;
        self.sums[part].milli += milli;
    }

    /// How many markers the open case has had.
    pub fn markers(&self) -> usize {
        self.samples.len()
    }

    /// The markers from index `first` on, and what was counted since the sums were `from`, happen so many `times` more.
    pub fn repeat(&mut self, first: usize, from: &[Sum], times: u64) {
        let again = first..self.samples.len();
        for time in 1..=times {
            for index in again.clone() {
                let sample = self.samples[index].iter().zip(from.iter().zip(&self.sums));
                let sample = sample.map(|(sum, (from, to))| sum.advanced(from, to, time)).collect();
                self.samples.push(sample);
            }
        }
        self.sums.iter_mut().zip(from).for_each(|(sum, from)| *sum = sum.advanced(from, sum, times));
    }

    pub fn end(&mut self, case: u32) {
        let samples = std::mem::take(&mut self.samples);
        let whole = |part: usize, sample: &[Sum]| (sample[part].milli - samples[0][part].milli) / MILLI;
        let mut parts = Map::new();
        for (part, name) in self.names.iter().enumerate() {
            let instructions: Vec<u64> =
                samples.windows(2).map(|w| w[1][part].instructions - w[0][part].instructions).collect();
            let cycles: Vec<u64> = samples.windows(2).map(|w| whole(part, &w[1]) - whole(part, &w[0])).collect();
            parts.insert(name.clone(), json!({ "instructions": instructions, "cycles": cycles }));
        }
        if !parts.is_empty() {
            self.done.push(json!({ "case": case, "per_iteration": parts }));
        }
    }

    /// For each case, instructions and whole cycles of each part and iteration.
    pub fn reports(&self) -> &[Value] {
        &self.done
    }
}

/// Fixed cost of a straight run.
fn cost(instructions: &[Instruction], costs: &Costs) -> u64 {
    Block::new(instructions.to_vec(), costs).fixed_milli()
}
