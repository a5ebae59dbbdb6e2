// SPDX-License-Identifier: GPL-2.0-or-later
//! What a sanitizer reports: each thing once, however often it happens.

use std::collections::HashMap;
use std::hash::Hash;

pub trait Repeated {
    type Key: Copy + Eq + Hash;

    /// What makes two reports the same.
    fn key(&self) -> Self::Key;

    /// It has happened once more.
    fn repeat(&mut self);
}

pub struct Reports<R: Repeated> {
    list: Vec<R>,
    known: HashMap<R::Key, usize>,
}

impl<R: Repeated> Default for Reports<R> {
    fn default() -> Self {
        Reports { list: Vec::new(), known: HashMap::new() }
    }
}

impl<R: Repeated> Reports<R> {
    pub fn add(&mut self, report: R) {
        match self.known.get(&report.key()) {
            Some(&index) => self.list[index].repeat(),
            None => {
                self.known.insert(report.key(), self.list.len());
                self.list.push(report);
            }
        }
    }

    /// In the order in which they happened first.
    pub fn list(&self) -> &[R] {
        &self.list
    }
}
