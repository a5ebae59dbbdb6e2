// SPDX-License-Identifier: GPL-2.0-or-later
//! Where a jump is expected to go: branch target buffers, a static rule for jumps that are in none, a return stack.
//!
//! A buffer finds a jump by its linear address and is not flushed by a switch. Each entry has a counter of two bits and
//! the last target. History of other jumps is not kept, which processors after the Pentium have: what only that
//! predicts is mispredicted here. A machine with a trace cache can have a second, smaller buffer, which is asked where
//! the jump comes from a trace that is there; both learn.

use super::event::Condition;
use crate::{Associative, Linear, Replacement};

/// What kind of jump a run of code ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    Direct(Condition),
    Call,
    /// A jump through a register or memory.
    Indirect,
    /// A call through a register or memory.
    IndirectCall,
    Return,
}

/// A jump whose outcome is not known yet: it shows where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub at: Linear,
    /// Behind it.
    pub next: Linear,
    pub jump: Jump,
    /// It came from the trace cache, or from a cache that has no part in prediction.
    pub delivered: bool,
    /// It was conditional, and the second of a pair.
    pub paired: bool,
}

impl Left {
    pub fn number(&self) -> u64 {
        let jump = match self.jump {
            Jump::Direct(condition) => condition as u64,
            Jump::Call => 3,
            Jump::Indirect => 4,
            Jump::IndirectCall => 5,
            Jump::Return => 6,
        };
        let flags = self.delivered as u64 | (self.paired as u64) << 1 | jump << 2;
        self.at.0 as u64 | (self.next.0.wrapping_sub(self.at.0) as u64 & 15) << 32 | flags << 36
    }
}

/// What a machine does about a jump that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// It is not taken.
    NotTaken,
    /// Backwards it is, and where there is no condition: the decoder sees both.
    BackwardTaken,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferShape {
    pub entries: usize,
    pub ways: usize,
    pub replacement: Replacement,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PredictionShape {
    pub buffer: BufferShape,
    /// Beside the trace cache.
    pub of_traces: Option<BufferShape>,
    pub unknown: Unknown,
    pub return_stack: usize,
}

/// What became of a jump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Of a direct one.
    Direction { taken: bool, condition: Condition },
    /// Of one whose target differs.
    Target(Linear),
}

impl Outcome {
    /// As a number that is no target but for addresses in the first eight bytes.
    fn number(self) -> u32 {
        match self {
            Outcome::Direction { taken, condition } => taken as u32 | (condition as u32) << 1,
            Outcome::Target(target) => target.0,
        }
    }

    fn from_number(number: u32) -> Self {
        match Condition::from_bits((number >> 1) as u8).filter(|_| number < TARGETS) {
            Some(condition) => Outcome::Direction { taken: number & 1 != 0, condition },
            None => Outcome::Target(Linear(number)),
        }
    }
}

/// The least number of a target.
const TARGETS: u32 = 8;
/// A counter predicts taken from here on, and ends at the latter.
const LIKELY: u8 = 2;
const SURE: u8 = 3;

struct Buffer {
    store: Associative,
    counters: Vec<u8>,
    targets: Vec<u32>,
}

impl Buffer {
    fn new(shape: BufferShape) -> Self {
        Buffer {
            store: Associative::new(shape.entries, shape.ways, shape.replacement),
            counters: vec![0; shape.entries],
            targets: vec![0; shape.entries],
        }
    }

    fn find(&mut self, at: u32) -> Option<usize> {
        self.store.find(at as usize, at as u64)
    }

    /// Whether the entry in `slot`, or else the static rule, expects `outcome`.
    fn expects(&self, slot: Option<usize>, outcome: Outcome, unknown: Unknown) -> bool {
        match (outcome, slot) {
            (Outcome::Direction { taken, .. }, Some(slot)) => (self.counters[slot] >= LIKELY) == taken,
            (Outcome::Target(target), Some(slot)) => self.targets[slot] == target.0,
            (Outcome::Direction { taken, condition }, None) => match unknown {
                Unknown::NotTaken => !taken,
                Unknown::BackwardTaken => taken == (condition != Condition::Forward),
            },
            (Outcome::Target(_), None) => false,
        }
    }

    /// Learns `outcome` in `slot`. A jump that has none gets one if it was taken, or was expected to be. Returns
    /// whether it got one.
    fn learn(&mut self, at: u32, slot: Option<usize>, outcome: Outcome, expected: bool) -> bool {
        let taken = !matches!(outcome, Outcome::Direction { taken: false, .. });
        let fresh = slot.is_none() && (taken || !expected);
        let slot = match slot {
            Some(slot) => {
                self.store.touch(slot);
                slot
            }
            None if fresh => {
                let slot = self.store.insert(at as usize, at as u64).0;
                self.counters[slot] = if taken { SURE } else { LIKELY };
                slot
            }
            None => return false,
        };
        let counter = &mut self.counters[slot];
        *counter = if taken { (*counter + 1).min(SURE) } else { counter.saturating_sub(1) };
        if let Outcome::Target(target) = outcome {
            self.targets[slot] = target.0;
        }
        fresh
    }

    fn state(&self, out: &mut Vec<u64>) {
        self.store.state(out, |slot| (self.targets[slot] as u64) << 8 | self.counters[slot] as u64);
    }
}

/// Addresses behind calls. When it is full, a call drops the oldest; when it is empty, a return is not predicted.
#[derive(Clone, Default)]
struct ReturnStack {
    most: usize,
    addresses: Vec<u32>,
}

impl ReturnStack {
    fn push(&mut self, address: u32) {
        if self.addresses.len() == self.most {
            self.addresses.remove(0);
        }
        self.addresses.push(address);
    }
}

/// What was resolved as expected, while notes are on.
#[derive(Default)]
struct Seen {
    on: bool,
    /// Jumps and their outcomes.
    jumps: Vec<(u32, u32)>,
    /// Addresses that came to the return stack, or left it.
    stack: Vec<(u32, bool)>,
}

pub(crate) struct Predictor {
    shape: PredictionShape,
    buffer: Buffer,
    of_traces: Option<Buffer>,
    unknown: Unknown,
    stack: ReturnStack,
    /// One that is tried out.
    trial: ReturnStack,
    seen: Seen,
}

/// What a jump did.
pub(crate) struct Resolved {
    pub mispredicted: bool,
    /// It was as expected, and nothing but orders of use and counters has changed.
    pub known: bool,
}

impl Predictor {
    pub fn new(shape: PredictionShape) -> Self {
        let stack = ReturnStack { most: shape.return_stack, addresses: Vec::with_capacity(shape.return_stack) };
        Predictor {
            shape,
            buffer: Buffer::new(shape.buffer),
            of_traces: shape.of_traces.map(Buffer::new),
            unknown: shape.unknown,
            trial: stack.clone(),
            stack,
            seen: Seen::default(),
        }
    }

    /// Nothing is known of any jump.
    pub fn forget(&mut self) {
        *self = Predictor::new(self.shape);
    }

    /// The jump `left` was executed, and execution went on at `to`.
    pub fn resolve(&mut self, left: &Left, to: Linear) -> Resolved {
        if self.stack.most > 0 {
            match left.jump {
                Jump::Call | Jump::IndirectCall => self.called(left.next),
                Jump::Return => return self.returned(to),
                _ => {}
            }
        }
        let outcome = match left.jump {
            Jump::Direct(Condition::Always) | Jump::Call => {
                Outcome::Direction { taken: true, condition: Condition::Always }
            }
            Jump::Direct(condition) => Outcome::Direction { taken: to != left.next, condition },
            Jump::Indirect | Jump::IndirectCall | Jump::Return => Outcome::Target(to),
        };
        let at = left.at.0;
        let slot = self.buffer.find(at);
        let mut expected = self.buffer.expects(slot, outcome, self.unknown);
        let mut fresh = false;
        if let Some(of_traces) = &mut self.of_traces {
            let small = of_traces.find(at);
            if left.delivered {
                expected = of_traces.expects(small, outcome, self.unknown);
            }
            fresh = of_traces.learn(at, small, outcome, expected);
        }
        fresh |= self.buffer.learn(at, slot, outcome, expected);
        let number = outcome.number();
        let known = expected && !fresh && (number >= TARGETS) == matches!(outcome, Outcome::Target(_));
        if self.seen.on && known {
            self.seen.jumps.push((at, number));
        }
        Resolved { mispredicted: !expected, known }
    }

    /// The jump `left` was executed, and the kernel was entered instead of what it led to: nothing is learned, but the
    /// return stack has moved.
    pub fn interrupted(&mut self, left: &Left) {
        match left.jump {
            Jump::Call | Jump::IndirectCall if self.stack.most > 0 => self.stack.push(left.next.0),
            Jump::Return => drop(self.stack.addresses.pop()),
            _ => {}
        }
    }

    fn called(&mut self, next: Linear) {
        self.stack.push(next.0);
        if self.seen.on {
            self.seen.stack.push((next.0, true));
        }
    }

    fn returned(&mut self, to: Linear) -> Resolved {
        let expected = self.stack.addresses.pop() == Some(to.0);
        if self.seen.on {
            self.seen.stack.push((to.0, false));
        }
        Resolved { mispredicted: !expected, known: expected }
    }

    /// Appends everything that decides what it will expect.
    pub fn state(&self, out: &mut Vec<u64>) {
        self.buffer.state(out);
        if let Some(of_traces) = &self.of_traces {
            of_traces.state(out);
        }
        out.push(self.stack.addresses.len() as u64);
        out.extend(self.stack.addresses.iter().map(|&address| address as u64));
    }

    /// Starts to note what is resolved as expected.
    pub fn watch(&mut self) {
        self.seen.on = true;
        self.seen.jumps.clear();
        self.seen.stack.clear();
    }

    /// Ends that. Calls `jump` for each jump, in the order of the last time, and `stack` for each address that came to
    /// the return stack or left it.
    pub fn watched(&mut self, mut jump: impl FnMut(u32, u32), mut stack: impl FnMut(u32, bool)) {
        self.seen.on = false;
        let jumps = &self.seen.jumps;
        for (index, &(at, outcome)) in jumps.iter().enumerate() {
            if !jumps[index + 1..].iter().any(|later| later.0 == at) {
                jump(at, outcome);
            }
        }
        self.seen.stack.iter().for_each(|&(address, came)| stack(address, came));
    }

    /// Whether it would expect this of the jump, whichever buffer is asked, and get no entry for it.
    pub fn holds(&mut self, at: u32, outcome: u32) -> bool {
        let outcome = Outcome::from_number(outcome);
        let taken = !matches!(outcome, Outcome::Direction { taken: false, .. });
        let unknown = self.unknown;
        let holds = |buffer: &mut Buffer| {
            let slot = buffer.find(at);
            (slot.is_some() || !taken) && buffer.expects(slot, outcome, unknown)
        };
        holds(&mut self.buffer) && self.of_traces.as_mut().is_none_or(holds)
    }

    /// Learns what it [`holds`](Self::holds).
    pub fn use_again(&mut self, at: u32, outcome: u32) {
        let outcome = Outcome::from_number(outcome);
        for buffer in [Some(&mut self.buffer), self.of_traces.as_mut()].into_iter().flatten() {
            let slot = buffer.find(at);
            buffer.learn(at, slot, outcome, true);
        }
    }

    /// Whether addresses would come to the return stack and leave it so; [`commit`](Self::commit) makes them.
    pub fn tries(&mut self, stack: impl Iterator<Item = (u32, bool)>) -> bool {
        self.trial.addresses.clone_from(&self.stack.addresses);
        for (address, came) in stack {
            if came {
                self.trial.push(address);
            } else if self.trial.addresses.pop() != Some(address) {
                return false;
            }
        }
        true
    }

    pub fn commit(&mut self) {
        std::mem::swap(&mut self.stack, &mut self.trial);
    }
}
