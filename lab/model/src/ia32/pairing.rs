// SPDX-License-Identifier: GPL-2.0-or-later
//! What each instruction of a straight run costs, given those before it: pairs in the Pentium's two pipes, addresses
//! that wait for a register, prefixes.
//!
//! The rules are those of Intel, "Optimizations for Intel's 32-bit Processors" (AP-500, 241799), sections on integer
//! pairing and on the address generation interlock. Not modelled: a pair's second half must have been decoded before
//! (the first execution of code does not pair), and two accesses to one cache bank.

use super::{Class, Costs, Instruction, Pipe};
use crate::MILLI;

const ESP: u8 = 1 << 4;

/// Thousandths of a cycle that each instruction adds to the run, and whether the last is the second of a pair. Such a
/// one adds what the pair takes longer than the first alone.
pub(crate) fn issue_costs(instructions: &[Instruction], costs: &Costs) -> (Vec<u64>, bool) {
    let mut each = Vec::with_capacity(instructions.len());
    // Registers that the instruction or pair before has written.
    let mut fresh = 0;
    let (mut rest, mut paired) = (instructions, false);
    while let [first, tail @ ..] = rest {
        let second = tail.first().filter(|second| costs.pipeline.pairs && pairs(first, second));
        let stalls = fresh & (first.issue.address | second.map_or(0, |i| i.issue.address)) != 0;
        let alone = costs.of(first.class).1 + first.issue.prefixes as u64 * costs.pipeline.prefix;
        each.push(alone + stalls as u64 * costs.pipeline.address_stall);
        fresh = first.issue.writes;
        (rest, paired) = (tail, second.is_some());
        if let Some(second) = second {
            let longest = alone.max(costs.of(second.class).1);
            each.push(longest - alone + serialised(first.class, second.class));
            fresh |= second.issue.writes;
            rest = &tail[1..];
        }
    }
    (each, paired)
}

/// Whether `first` goes through the U pipe while `second` goes through the V pipe.
fn pairs(first: &Instruction, second: &Instruction) -> bool {
    let (u, v) = (&first.issue, &second.issue);
    let pipes = matches!(u.pipe, Pipe::Either | Pipe::First) && matches!(v.pipe, Pipe::Either | Pipe::Second);
    let long = u.displacement_and_immediate || v.displacement_and_immediate;
    // Two pushes, two pops, and a push before a call share the stack pointer without waiting for each other.
    let share_stack = u.stack && v.stack && (first.class == second.class || second.class == Class::Call);
    let stack_clash = u.stack && !share_stack && (v.address | v.reads | v.writes) & ESP != 0;
    let clash = u.writes & (v.reads | v.writes | v.address) != 0;
    pipes && !long && v.prefixes == 0 && !clash && !stack_clash
}

/// What a pair takes longer than its longer half: a read-modify-write waits for the memory accesses of its partner.
fn serialised(first: Class, second: Class) -> u64 {
    match (first, second) {
        (Class::LoadAlu, Class::AluStore) => MILLI,
        (Class::AluStore, Class::AluStore) => 2 * MILLI,
        _ => 0,
    }
}
