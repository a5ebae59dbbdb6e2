// SPDX-License-Identifier: GPL-2.0-or-later
//! Cycles by function of the kernel: all of what they cost, with what they miss in TLBs and caches.

use super::header::CodeRange;
use super::mode::Mode;
use std::collections::HashMap;

/// What is not the kernel's, and the kernel's code that has no name.
const USER: u32 = 0;
const KERNEL: u32 = 1;
const FIRST: u32 = 2;

/// Sums by function, in thousandths of a cycle.
pub(crate) struct Functions {
    /// By address, none overlapping another.
    code: Vec<CodeRange>,
    sums: Vec<u64>,
    /// Runs since the ledger's total was `since`.
    current: u32,
    since: u64,
}

impl Functions {
    pub fn new(code: &[CodeRange]) -> Self {
        let sums = vec![0; code.len() + FIRST as usize];
        Functions { code: code.to_vec(), sums, current: KERNEL, since: 0 }
    }

    /// The number of the function that kernel code at `at` belongs to.
    pub fn number(&self, at: u32) -> u32 {
        let before = self.code.partition_point(|function| function.addresses.start <= at);
        match before.checked_sub(1).filter(|&index| self.code[index].addresses.contains(&at)) {
            Some(index) => index as u32 + FIRST,
            None => KERNEL,
        }
    }

    /// Code of the function with this number is executed next, where it is the kernel's.
    #[inline]
    pub fn enter(&mut self, number: u32, mode: Mode, total: impl FnOnce() -> u64) {
        let next = if mode == Mode::Kernel { number } else { USER };
        if next != self.current {
            self.settle(total());
            self.current = next;
        }
    }

    /// What was booked until now is the present function's.
    pub fn settle(&mut self, total: u64) {
        self.sums[self.current as usize] += total.saturating_sub(self.since);
        self.since = total;
    }

    pub fn current(&self) -> u32 {
        self.current
    }

    /// The sums up to now.
    pub fn sums(&self, total: u64) -> Vec<u64> {
        let mut sums = self.sums.clone();
        sums[self.current as usize] += total.saturating_sub(self.since);
        sums
    }

    /// What was added since the sums were `from` and the total was `then` is added so many `times` more.
    pub fn repeat(&mut self, from: &[u64], then: u64, now: u64, times: u64) {
        self.settle(now);
        self.sums.iter_mut().zip(from).for_each(|(sum, from)| *sum += (*sum - from) * times);
        self.since = now + (now - then) * times;
    }

    /// Names and sums since `origin`, the greatest first; those that are nothing are left out.
    pub fn since(&self, origin: &[u64], now: &[u64]) -> Vec<(&str, u64)> {
        let mut spent: Vec<(&str, u64)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (number, (now, origin)) in now.iter().zip(origin).enumerate().filter(|(_, (now, origin))| now > origin) {
            let name = match number as u32 {
                USER => "user",
                KERNEL => "kernel",
                number => &self.code[(number - FIRST) as usize].name,
            };
            let index = *known.entry(name).or_insert(spent.len());
            if index == spent.len() {
                spent.push((name, 0));
            }
            spent[index].1 += now - origin;
        }
        spent.sort_by_key(|&(name, sum)| (std::cmp::Reverse(sum), name));
        spent
    }
}
