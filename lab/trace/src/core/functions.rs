// SPDX-License-Identifier: GPL-2.0-or-later
//! Cycles by function of the kernel, and of programs that are known: all of what they cost, with what they miss in TLBs
//! and caches.

use super::header::CodeRange;
use super::mode::Mode;
use std::collections::HashMap;
use std::ops::Range;

/// What is neither the kernel's nor a known program's, and the kernel's code that has no name.
const USER: u32 = 0;
const KERNEL: u32 = 1;
const FIRST: u32 = 2;

/// Sums by function, in thousandths of a cycle.
pub(crate) struct Functions {
    /// The kernel's by address, none overlapping another, and behind them those of each program likewise.
    code: Vec<CodeRange>,
    /// Where the functions of each program begin, and those of one more would.
    programs: Vec<usize>,
    sums: Vec<u64>,
    /// Runs since the ledger's total was `since`.
    current: u32,
    since: u64,
}

impl Functions {
    pub fn new(code: &[CodeRange]) -> Self {
        let sums = vec![0; code.len() + FIRST as usize];
        Functions { code: code.to_vec(), programs: vec![code.len()], sums, current: KERNEL, since: 0 }
    }

    /// The functions of one more program.
    pub fn add_program(&mut self, functions: &[CodeRange]) {
        self.code.extend_from_slice(functions);
        self.programs.push(self.code.len());
        self.sums.resize(self.code.len() + FIRST as usize, 0);
    }

    /// The number of the function that kernel code at `at` belongs to.
    pub fn number(&self, at: u32) -> u32 {
        self.find(0..self.programs[0], at).unwrap_or(KERNEL)
    }

    /// Likewise of code at `at` of a program.
    pub fn number_in(&self, program: usize, at: u32) -> u32 {
        self.find(self.programs[program]..self.programs[program + 1], at).unwrap_or(USER)
    }

    fn find(&self, among: Range<usize>, at: u32) -> Option<u32> {
        let code = &self.code[among.clone()];
        let before = code.partition_point(|function| function.addresses.start <= at).checked_sub(1)?;
        code[before].addresses.contains(&at).then_some((among.start + before) as u32 + FIRST)
    }

    /// Code of the function with this number is executed next, where it is the kernel's or a program's.
    #[inline]
    pub fn enter(&mut self, number: u32, mode: Mode, total: impl FnOnce() -> u64) {
        let of_program = number as usize >= self.programs[0] + FIRST as usize;
        let next = if mode == Mode::Kernel || of_program { number } else { USER };
        if next != self.current {
            self.attribute(total());
            self.current = next;
        }
    }

    /// What was booked until now is the present function's.
    pub fn attribute(&mut self, total: u64) {
        self.sums[self.current as usize] += total.saturating_sub(self.since);
        self.since = total;
    }

    /// The total is this from now on, and what was booked until now is nobody's.
    pub fn restart(&mut self, total: u64) {
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
        self.attribute(now);
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
