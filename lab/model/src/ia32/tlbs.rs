// SPDX-License-Identifier: GPL-2.0-or-later
//! The TLBs of a machine: one that code and data share, or one for each and perhaps another for data in 4 MB pages.

use super::{Tlb, Walk};
use crate::core::notes::Notes;
use crate::{Linear, Loss, Moment, Page, Physical, Running};

pub(crate) struct Tlbs {
    /// The code TLB is the first; the data TLBs are found by the numbers below.
    all: Vec<Tlb>,
    data: usize,
    large_data: Option<usize>,
}

impl Tlbs {
    /// One component, in which code and data displace each other.
    pub fn unified(tlb: Tlb) -> Self {
        Tlbs { all: vec![tlb], data: 0, large_data: None }
    }

    /// `large_data` holds the 4 MB pages of data, `data` only the others; without it `data` has to take both.
    pub fn split(code: Tlb, data: Tlb, large_data: Option<Tlb>) -> Self {
        let number = large_data.is_some().then_some(2);
        Tlbs { all: [code, data].into_iter().chain(large_data).collect(), data: 1, large_data: number }
    }

    /// Data can displace code.
    pub fn shared(&self) -> bool {
        self.data == 0
    }

    /// The 4 KB frame of a code address, when it is held.
    #[inline(always)]
    pub fn lookup_code(&mut self, linear: Linear) -> Option<Physical> {
        self.all[0].lookup(linear)
    }

    /// Stores a walk after a miss of code; tells how the translation was lost the last time.
    pub fn fill_code(&mut self, linear: Linear, walk: &Walk) -> Loss {
        self.all[0].fill(linear, walk)
    }

    #[inline(always)]
    pub fn holds_data(&mut self, linear: Linear) -> bool {
        self.all[self.data].lookup(linear).is_some()
            || self.large_data.is_some_and(|large| self.all[large].lookup(linear).is_some())
    }

    /// Stores a walk after a miss of data.
    pub fn fill_data(&mut self, linear: Linear, walk: &Walk) -> Loss {
        let number = self.large_data.filter(|_| walk.large).unwrap_or(self.data);
        self.all[number].fill(linear, walk)
    }

    /// What a lookup of `page` would return: of code, or of data. Marks nothing used.
    #[inline(always)]
    pub fn holds(&mut self, of_code: bool, page: Page) -> Option<Physical> {
        if of_code {
            return self.all[0].holds(page);
        }
        let large = self.large_data;
        self.all[self.data].holds(page).or_else(|| large.and_then(|large| self.all[large].holds(page)))
    }

    /// Uses a page that they [`hold`](Self::holds).
    #[inline(always)]
    pub fn use_again(&mut self, of_code: bool, page: Page) {
        match of_code {
            true => drop(self.lookup_code(page.start())),
            false => drop(self.holds_data(page.start())),
        }
    }

    /// Calls `of` with the notes of the TLBs of code, or of those of data only.
    pub fn notes(&mut self, of_code: bool, mut of: impl FnMut(&mut Notes)) {
        let tlbs = if of_code { &mut self.all[..1] } else { &mut self.all[1..] };
        tlbs.iter_mut().for_each(|tlb| of(tlb.notes()));
    }

    /// Appends everything that decides what they will find and lose.
    pub fn state(&self, out: &mut Vec<u64>) {
        self.all.iter().for_each(|tlb| tlb.state(out));
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        self.all.iter_mut().for_each(|tlb| tlb.enter(running));
    }

    /// A CR3 write.
    pub fn flush(&mut self, by: Moment) {
        self.all.iter_mut().for_each(|tlb| tlb.flush(by));
    }

    /// A change of CR0 or CR4.
    pub fn flush_all(&mut self, global_pages: bool, by: Moment) {
        self.all.iter_mut().for_each(|tlb| tlb.flush_all(global_pages, by));
    }

    /// Drops the translation of one page.
    pub fn invalidate(&mut self, linear: Linear, by: Moment) {
        self.all.iter_mut().for_each(|tlb| tlb.invalidate(linear, by));
    }
}
