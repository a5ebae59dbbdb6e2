// SPDX-License-Identifier: GPL-2.0-or-later
//! Cycles by function of the kernel: all of what they cost, with what they miss in TLBs and caches.

use super::follower::Place;
use crate::sanitize::Symbols;
use cobnut_trace::Mode;
use std::collections::HashMap;

const USER: usize = 0;
const KERNEL: usize = 1;

/// Sums by function, in thousandths of a cycle.
pub struct Functions {
    symbols: Symbols,
    /// What is not the kernel's, what has no name, and then each function that has run.
    names: Vec<String>,
    sums: Vec<u64>,
    numbers: HashMap<u32, usize>,
    /// Runs since the ledger's total was `since`.
    current: usize,
    since: u64,
    /// Whose code was entered last, and its number.
    last: (u32, usize),
}

impl Functions {
    pub fn new(symbols: Symbols) -> Self {
        Functions {
            symbols,
            names: vec!["user".into(), "kernel".into()],
            sums: vec![0; 2],
            numbers: HashMap::new(),
            current: KERNEL,
            since: 0,
            last: (u32::MAX, KERNEL),
        }
    }

    /// Execution goes on at `place`.
    #[inline]
    pub fn enter(&mut self, place: &Place, total: u64) {
        let function = match place.mode {
            Mode::Kernel if self.last.0 == place.address => self.last.1,
            Mode::Kernel => self.number(place.address),
            _ => USER,
        };
        if function != self.current {
            self.settle(total);
            self.current = function;
        }
    }

    /// What was booked until now is the present function's.
    pub fn settle(&mut self, total: u64) {
        self.sums[self.current] += total.saturating_sub(self.since);
        self.since = total;
    }

    fn number(&mut self, address: u32) -> usize {
        let known = self.numbers.get(&address).copied();
        let number = known.unwrap_or_else(|| {
            let number = match self.symbols.name(address) {
                Some(name) => self.named(name.split('+').next().unwrap_or(&name)),
                None => KERNEL,
            };
            self.numbers.insert(address, number);
            number
        });
        self.last = (address, number);
        number
    }

    fn named(&mut self, name: &str) -> usize {
        if let Some(number) = self.names.iter().position(|known| known == name) {
            return number;
        }
        self.names.push(name.to_string());
        self.sums.push(0);
        self.names.len() - 1
    }

    /// The sums as they are.
    pub fn sums(&self) -> Vec<u64> {
        self.sums.clone()
    }

    /// Names and sums since `origin`, the greatest first; those that are nothing are left out.
    pub fn since(&self, origin: &[u64], now: &[u64]) -> Vec<(&str, u64)> {
        let spent = now.iter().enumerate().map(|(n, sum)| (self.names[n].as_str(), sum - origin.get(n).unwrap_or(&0)));
        let mut spent: Vec<(&str, u64)> = spent.filter(|(_, sum)| *sum > 0).collect();
        spent.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
        spent
    }
}
