// SPDX-License-Identifier: GPL-2.0-or-later
//! What machines count besides cycles.

/// Numbers that only grow.
pub trait Counted: Copy + Default {
    /// As reports name them, in the order of `numbers`.
    const NAMES: &'static [&'static str];
    /// The first so many are also counted by a machine that only follows what it misses.
    const MISSES: usize = Self::NAMES.len();

    fn numbers(&mut self) -> Vec<&mut u64>;

    /// Each with its name.
    fn named(mut self) -> Vec<(&'static str, u64)> {
        Self::NAMES.iter().copied().zip(self.numbers().into_iter().map(|number| *number)).collect()
    }

    /// What was counted since `origin`.
    fn since(mut self, mut origin: Self) -> Self {
        self.numbers().into_iter().zip(origin.numbers()).for_each(|(number, before)| *number -= *before);
        self
    }

    /// Adds what was counted between `from` and `to` so many `times`.
    fn advance(&mut self, from: &Self, to: &Self, times: u64) {
        let mut between = to.since(*from);
        self.numbers().into_iter().zip(between.numbers()).for_each(|(number, more)| *number += *more * times);
    }
}
