// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts what is executed in named parts of the kernel's code, and of programs that are known.
//!
//! A part may consist of several ranges of one name. Cycles are the fixed costs of its instructions, without what the
//! TLBs and caches add. Where instructions pair, an instruction costs what the run up to it costs more than the run
//! before it, so the parts of a run add up to the run.

use super::header::CodeRange;
use super::named::Named;
use super::processor::Processor;
use cobnut_model::{Code, Linear, MILLI};
use serde::Serialize;
use std::ops::Range;

#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    pub instructions: u64,
    /// Thousandths of a cycle.
    pub milli: u64,
}

impl Sum {
    /// With what was added between `from` and `to` so many `times` more.
    pub fn advanced(&self, from: &Sum, to: &Sum, times: u64) -> Sum {
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

/// What a part was in each iteration of a case.
#[derive(Serialize)]
struct Part {
    instructions: Vec<u64>,
    /// Whole cycles that the instructions always cost.
    cycles: Vec<u64>,
}

/// The parts of the code in a case, by name.
#[derive(Serialize)]
pub struct InRanges {
    case: u32,
    per_iteration: Named<Part>,
}

/// The parts, and what was counted in each.
pub(crate) struct CodeRanges {
    names: Vec<String>,
    /// The kernel's, with the index of the part that they belong to.
    ranges: Vec<(Range<u32>, usize)>,
    /// Likewise of each program.
    programs: Vec<Vec<(Range<u32>, usize)>>,
    sums: Vec<Sum>,
    /// Sums at each marker of the case that is open, the first one where its first iteration starts.
    samples: Vec<Vec<Sum>>,
    /// Which of them no iteration follows.
    gaps: Vec<usize>,
    done: Vec<InRanges>,
}

impl CodeRanges {
    pub fn new(ranges: &[CodeRange]) -> Self {
        let mut made = CodeRanges {
            names: Vec::new(),
            ranges: Vec::new(),
            programs: Vec::new(),
            sums: Vec::new(),
            samples: Vec::new(),
            gaps: Vec::new(),
            done: Vec::new(),
        };
        made.ranges = made.numbered(ranges);
        made
    }

    /// The ranges of one more program.
    pub fn add_program(&mut self, ranges: &[CodeRange]) {
        let ranges = self.numbered(ranges);
        self.programs.push(ranges);
    }

    /// The ranges with the indices of their parts, which are there afterwards.
    fn numbered(&mut self, ranges: &[CodeRange]) -> Vec<(Range<u32>, usize)> {
        let names = &mut self.names;
        let mut part = |name: &String| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let numbered = ranges.iter().map(|range| (range.addresses.clone(), part(&range.name))).collect();
        self.sums.resize(self.names.len(), Sum::default());
        numbered
    }

    /// What of `instructions`, the first of which stands at `linear`, lies in the kernel's ranges.
    pub fn shares<P: Processor>(
        &self,
        linear: Linear,
        instructions: &[P::Instruction],
        costs: &P::Costs,
    ) -> Vec<Share> {
        shares::<P>(&self.ranges, linear.0, instructions, costs)
    }

    /// Likewise of a program's `instructions`, the first of which stands at this `address` of it.
    pub fn shares_in<P: Processor>(
        &self,
        program: usize,
        address: u32,
        instructions: &[P::Instruction],
        costs: &P::Costs,
    ) -> Vec<Share> {
        shares::<P>(&self.programs[program], address, instructions, costs)
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
    pub fn take_back<P: Processor>(
        &mut self,
        shares: &[Share],
        run: &[P::Instruction],
        missing: Range<usize>,
        costs: &P::Costs,
    ) {
        for share in shares {
            let first = share.instructions.start.max(missing.start);
            let end = share.instructions.end.min(missing.end);
            if first < end {
                let sum = &mut self.sums[share.part];
                sum.instructions -= (end - first) as u64;
                sum.milli -= cost::<P>(&run[..end], costs) - cost::<P>(&run[..first], costs);
            }
        }
    }

    pub fn begin(&mut self) {
        self.samples.clear();
        self.gaps.clear();
    }

    /// What is counted up to the next marker is no iteration's.
    pub fn pause(&mut self) {
        self.gaps.push(self.samples.len().saturating_sub(1));
    }

    /// End of one iteration and start of the next.
    pub fn iteration(&mut self) {
        self.samples.push(self.sums.clone());
    }

    /// The names of the parts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was counted so far of each part.
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
        let mut per_iteration = Named::default();
        for (part, name) in self.names.iter().enumerate() {
            let iterations = || {
                let all = samples.windows(2).enumerate();
                all.filter(|(index, _)| self.gaps.binary_search(index).is_err()).map(|(_, window)| window)
            };
            let instructions: Vec<u64> =
                iterations().map(|w| w[1][part].instructions - w[0][part].instructions).collect();
            let cycles: Vec<u64> = iterations().map(|w| whole(part, &w[1]) - whole(part, &w[0])).collect();
            per_iteration.put(name.clone(), Part { instructions, cycles });
        }
        if !self.names.is_empty() {
            self.done.push(InRanges { case, per_iteration });
        }
    }

    /// Of each case that has ended.
    pub fn reports(&self) -> &[InRanges] {
        &self.done
    }
}

/// Fixed cost of a straight run.
fn cost<P: Processor>(instructions: &[P::Instruction], costs: &P::Costs) -> u64 {
    P::Block::new(instructions.to_vec(), costs).fixed_milli()
}

/// What of `instructions`, the first of which stands at `address`, lies in `ranges`.
fn shares<P: Processor>(
    ranges: &[(Range<u32>, usize)],
    address: u32,
    instructions: &[P::Instruction],
    costs: &P::Costs,
) -> Vec<Share> {
    let starts: Vec<u32> = instructions
        .iter()
        .scan(address, |at, i| {
            let here = *at;
            *at = at.wrapping_add(P::length(i));
            Some(here)
        })
        .collect();
    ranges
        .iter()
        .filter_map(|(range, part)| {
            let first = starts.iter().position(|at| range.contains(at))?;
            let end = first + starts[first..].iter().take_while(|at| range.contains(at)).count();
            let milli = cost::<P>(&instructions[..end], costs) - cost::<P>(&instructions[..first], costs);
            Some(Share { part: *part, instructions: first..end, milli })
        })
        .collect()
}
