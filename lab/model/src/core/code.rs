// SPDX-License-Identifier: GPL-2.0-or-later
//! Straight runs of instructions, as machines take them.

/// Instructions that follow each other, prepared once and executed many times.
pub trait Code {
    type Instruction;
    type Costs;

    /// On a machine with these costs.
    fn new(instructions: Vec<Self::Instruction>, costs: &Self::Costs) -> Self;

    fn instructions(&self) -> &[Self::Instruction];

    /// Length in bytes.
    fn bytes(&self) -> u32;

    /// Fixed cost of executing all of it, in thousandths of a cycle: with everything in TLBs and caches.
    fn fixed_milli(&self) -> u64;

    /// Fixed cost of each instruction, in thousandths of a cycle: what it adds to those before it.
    fn each_milli(&self) -> &[u64];
}
