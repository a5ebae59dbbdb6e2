// SPDX-License-Identifier: GPL-2.0-or-later
//! Straight runs of instructions, as they are booked.

use crate::code_ranges::Share;
use crate::counters::{self, Mode};
use cobnut_model::{Block, Costs, Instruction};
use std::cell::Cell;

/// Instructions that are executed one after the other and counted for one mode, with what does not depend on when.
pub struct Run {
    pub block: Block,
    /// Linear address when it was first seen.
    pub(crate) home: u32,
    /// Its number in the record that is being written.
    pub(crate) number: Cell<u32>,
    /// To be set before it is first executed.
    pub mode: Mode,
    /// Counter and increment, besides the instructions themselves.
    pub(crate) counts: Vec<(usize, u64)>,
    /// What of it lies in parts of the code that are counted by themselves.
    pub(crate) shares: Vec<Share>,
    /// There are neither counts nor shares.
    pub(crate) plain: bool,
}

impl Run {
    pub(crate) const UNNUMBERED: u32 = u32::MAX;

    pub(crate) fn new(home: u32, instructions: Vec<Instruction>, costs: &Costs, shares: Vec<Share>) -> Self {
        let mut counts: Vec<(usize, u64)> = Vec::new();
        for &counter in instructions.iter().flat_map(|i| counters::raised_by(i.class)) {
            match counts.iter_mut().find(|(c, _)| *c == counter) {
                Some((_, n)) => *n += 1,
                None => counts.push((counter, 1)),
            }
        }
        let (block, number) = (Block::new(instructions, costs), Cell::new(Self::UNNUMBERED));
        let plain = counts.is_empty() && shares.is_empty();
        Run { block, home, number, mode: Mode::Kernel, counts, shares, plain }
    }
}
