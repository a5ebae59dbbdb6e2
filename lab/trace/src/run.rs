// SPDX-License-Identifier: GPL-2.0-or-later
//! Straight runs of instructions, as they are booked.

use crate::code_ranges::Share;
use crate::counters::{self, Mode};
use cobnut_model::{Block, Costs, Instruction};

/// Instructions that are executed one after the other and counted for one mode, with what does not depend on when.
pub struct Run {
    pub block: Block,
    /// To be set before it is first executed.
    pub mode: Mode,
    /// Counter and increment, besides the instructions themselves.
    pub(crate) counts: Vec<(usize, u64)>,
    /// What of it lies in parts of the code that are counted by themselves.
    pub(crate) shares: Vec<Share>,
}

impl Run {
    pub(crate) fn new(instructions: Vec<Instruction>, costs: &Costs, shares: Vec<Share>) -> Self {
        let mut counts: Vec<(usize, u64)> = Vec::new();
        for &counter in instructions.iter().flat_map(|i| counters::raised_by(i.class)) {
            match counts.iter_mut().find(|(c, _)| *c == counter) {
                Some((_, n)) => *n += 1,
                None => counts.push((counter, 1)),
            }
        }
        Run { block: Block::new(instructions, costs), mode: Mode::Kernel, counts, shares }
    }
}
