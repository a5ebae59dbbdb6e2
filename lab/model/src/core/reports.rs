// SPDX-License-Identifier: GPL-2.0-or-later
//! What a sanitizer reports: each kind of mistake, instruction and guilty store once, however often it happens; and
//! what it counts by instruction.

use super::address::{Linear, Physical};
use std::collections::HashMap;
use std::hash::Hash;

/// The kinds of mistakes that a sanitizer knows.
pub trait Mistake: Copy + Eq + Hash {
    fn name(self) -> &'static str;

    /// What the instruction does that is reported.
    fn sentence(self) -> &'static str;
}

#[derive(Clone, Debug)]
pub struct Report<K> {
    pub kind: K,
    /// Address of the instruction that made the access, as its program has it (IA-32: linear), and whether it ran at
    /// user privilege.
    pub instruction: u32,
    pub user: bool,
    /// The tables in force: CR3, or the table base.
    pub tables: Physical,
    /// What was accessed.
    pub address: Linear,
    pub write: bool,
    /// The access came to a fault, which the stale translation would have spared it.
    pub faulted: bool,
    /// The instruction whose store (or operation) made it wrong; 0 if unknown.
    pub store: u32,
    /// Physical address of the page-table entry that it changed; 0 if unknown.
    pub entry: Physical,
    pub detail: String,
    pub count: u64,
}

pub struct Reports<K> {
    list: Vec<Report<K>>,
    known: HashMap<(K, u32, u32), usize>,
}

impl<K> Default for Reports<K> {
    fn default() -> Self {
        Reports { list: Vec::new(), known: HashMap::new() }
    }
}

impl<K: Mistake> Reports<K> {
    pub(crate) fn add(&mut self, report: Report<K>) {
        let key = (report.kind, report.instruction, report.store);
        match self.known.get(&key) {
            Some(&index) => self.list[index].count += 1,
            None => {
                self.known.insert(key, self.list.len());
                self.list.push(report);
            }
        }
    }

    /// In the order in which they happened first.
    pub fn list(&self) -> &[Report<K>] {
        &self.list
    }
}

/// What is counted of an instruction, among what is counted of a few: `new` if there `is` nothing yet.
pub(crate) fn of_instruction<T>(list: &mut Vec<T>, is: impl Fn(&T) -> bool, new: T) -> &mut T {
    let index = list.iter().position(is).unwrap_or_else(|| {
        list.push(new);
        list.len() - 1
    });
    &mut list[index]
}
