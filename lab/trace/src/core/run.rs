// SPDX-License-Identifier: GPL-2.0-or-later
//! Straight runs of instructions, as they are booked.

use super::code_ranges::Share;
use super::processor::Processor;
use crate::Mode;
use cobnut_model::{Code, Linear};
use std::cell::Cell;

/// Instructions that are executed one after the other and counted for one mode, with what does not depend on when.
pub struct Run<P: Processor> {
    pub block: P::Block,
    /// Where it stood when it was first seen.
    pub(crate) home: Linear,
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
    /// Number of the function that it belongs to, if it is the kernel's.
    pub(crate) function: u32,
}

impl<P: Processor> Run<P> {
    /// How many instructions it has.
    pub fn count(&self) -> usize {
        self.block.instructions().len()
    }

    pub(crate) const UNNUMBERED: u32 = u32::MAX;

    pub(crate) fn new(home: Linear, instructions: Vec<P::Instruction>, costs: &P::Costs, shares: Vec<Share>) -> Self {
        let mut counts: Vec<(usize, u64)> = Vec::new();
        for &counter in instructions.iter().flat_map(P::raised_by) {
            match counts.iter_mut().find(|(c, _)| *c == counter) {
                Some((_, n)) => *n += 1,
                None => counts.push((counter, 1)),
            }
        }
        let (block, number) = (P::Block::new(instructions, costs), Cell::new(Self::UNNUMBERED));
        let plain = counts.is_empty() && shares.is_empty();
        Run { block, home, number, mode: Mode::Kernel, counts, shares, plain, function: 0 }
    }
}
