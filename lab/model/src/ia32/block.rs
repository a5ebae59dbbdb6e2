// SPDX-License-Identifier: GPL-2.0-or-later
//! A straight run of instructions, prepared once and executed many times.
//!
//! Everything that does not depend on the machine's state is summed when the block is built: costs per category and
//! micro-operations. On a machine that issues instructions in pairs, pairs are formed within the block. How its
//! instructions fall into trace lines depends only on how full the current line is when the block is entered; the few
//! possible packings are computed on first use and kept. But for pairs and stalls between instructions, executing a
//! block gives exactly what executing its instructions one at a time gives (a test compares the two).

use super::pairing::issue_costs;
use super::prediction::Jump;
use super::{Class, Condition, Costs, Instruction};
use crate::{Category, Code, CATEGORIES};
use std::cell::{Cell, OnceCell};
use std::ops::Range;

/// Bytes of a block that start a new trace line: `start..end`, relative to the block.
#[derive(Clone, Debug)]
pub(crate) struct LineSpan {
    pub start: u16,
    pub end: u16,
    /// What its instructions cost more when it is built.
    pub build: u64,
    /// What they cost.
    pub cost: u64,
    /// Where the trace cache held the line the last time; only a hint.
    pub slot: Cell<u32>,
}

/// How a block falls into trace lines for one fill level of the line that is open at its entry.
#[derive(Debug)]
pub(crate) struct Packing {
    /// Bytes that still go into the open line.
    pub carried: u16,
    /// What their instructions cost more when that line is built, and what they cost.
    pub carried_build: u64,
    pub carried_cost: u64,
    pub lines: Vec<LineSpan>,
    /// Micro-operations in the line that is open at the end.
    pub used: u8,
}

pub struct Block {
    instructions: Vec<Instruction>,
    bytes: u32,
    costs: Vec<(Category, u64)>,
    /// What each instruction adds to them.
    each: Vec<u64>,
    /// Micro-operations of each, and what it costs more where its trace line is built.
    uops: Vec<(u8, u64)>,
    uops_per_line: u8,
    packings: Vec<OnceCell<Packing>>,
    jump: Option<LastJump>,
    ends_trace: bool,
}

/// The jump that a block ends with.
#[derive(Clone, Copy)]
pub(crate) struct LastJump {
    pub jump: Jump,
    pub length: u8,
    /// Conditional, and the second of a pair.
    pub paired: bool,
}

impl Code for Block {
    type Instruction = Instruction;
    type Costs = Costs;

    fn new(instructions: Vec<Instruction>, costs: &Costs) -> Self {
        let uops_per_line = costs.uops_per_line;
        let (each, paired) = issue_costs(&instructions, costs);
        Block {
            bytes: instructions.iter().map(|i| i.length as u32).sum(),
            costs: sum(&instructions, &each, costs),
            each,
            uops: instructions.iter().map(|i| (costs.uops(i.class), costs.build(i.class))).collect(),
            uops_per_line,
            packings: (0..=uops_per_line).map(|_| OnceCell::new()).collect(),
            jump: instructions.last().and_then(|last| {
                let jump = jump_of(last)?;
                let conditional = jump != Jump::Direct(Condition::Always) && matches!(jump, Jump::Direct(_));
                Some(LastJump { jump, length: last.length, paired: paired && conditional })
            }),
            ends_trace: instructions.last().is_some_and(|i| i.class.ends_trace()),
            instructions,
        }
    }

    #[inline(always)]
    fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    #[inline(always)]
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn fixed_milli(&self) -> u64 {
        self.costs.iter().map(|(_, milli)| milli).sum()
    }

    fn each_milli(&self) -> &[u64] {
        &self.each
    }
}

impl Block {
    #[inline(always)]
    pub(crate) fn costs(&self) -> &[(Category, u64)] {
        &self.costs
    }

    /// What each of some of its instructions contributes to its costs.
    pub(crate) fn costs_of<'a>(
        &'a self,
        part: Range<usize>,
        costs: &'a Costs,
    ) -> impl Iterator<Item = (Category, u64)> + 'a {
        let each = self.each[part.clone()].iter();
        self.instructions[part].iter().zip(each).map(|(instruction, &milli)| (costs.of(instruction.class).0, milli))
    }

    #[inline(always)]
    pub(crate) fn jump(&self) -> Option<LastJump> {
        self.jump
    }

    #[inline(always)]
    pub(crate) fn ends_trace(&self) -> bool {
        self.ends_trace
    }

    /// The packing when `used` micro-operations are already in the open line; `uops_per_line` means that a new line
    /// begins with the first instruction.
    #[inline(always)]
    pub(crate) fn packing(&self, used: u8) -> &Packing {
        self.packings[used as usize].get_or_init(|| self.pack(used))
    }

    fn pack(&self, mut used: u8) -> Packing {
        let (mut carried, mut carried_build, mut carried_cost) = (0, 0, 0);
        let mut lines: Vec<LineSpan> = Vec::new();
        let mut at = 0u16;
        for ((instruction, &(uops, build)), &cost) in self.instructions.iter().zip(&self.uops).zip(&self.each) {
            let end = at + instruction.length as u16;
            if used + uops > self.uops_per_line {
                lines.push(LineSpan { start: at, end, build, cost, slot: Cell::default() });
                used = uops;
            } else {
                used += uops;
                match lines.last_mut() {
                    Some(line) => (line.end, line.build, line.cost) = (end, line.build + build, line.cost + cost),
                    None => (carried, carried_build, carried_cost) = (end, carried_build + build, carried_cost + cost),
                }
            }
            at = end;
        }
        Packing { carried, carried_build, carried_cost, lines, used }
    }
}

/// What kind of jump an instruction is.
fn jump_of(instruction: &Instruction) -> Option<Jump> {
    match instruction.class {
        Class::Branch => Some(Jump::Direct(instruction.issue.condition)),
        Class::Call => Some(Jump::Call),
        Class::Return => Some(Jump::Return),
        Class::Indirect if instruction.issue.stack => Some(Jump::IndirectCall),
        Class::Indirect => Some(Jump::Indirect),
        _ => None,
    }
}

/// Sum of the costs of `each` of the `instructions` per category, categories without cost left out.
fn sum(instructions: &[Instruction], each: &[u64], costs: &Costs) -> Vec<(Category, u64)> {
    let mut sums = [0; CATEGORIES.len()];
    for (instruction, milli) in instructions.iter().zip(each) {
        sums[costs.of(instruction.class).0 as usize] += milli;
    }
    CATEGORIES
        .iter()
        .map(|&(category, _)| (category, sums[category as usize]))
        .filter(|&(_, milli)| milli > 0)
        .collect()
}
