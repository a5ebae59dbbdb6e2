// SPDX-License-Identifier: GPL-2.0-or-later
//! Oddities of a run: each kind is said once, and not a million of them.

const MOST: usize = 20;

#[derive(Clone, Debug, Default)]
pub struct Warnings(Vec<String>);

impl Warnings {
    /// Returns whether the warning was taken.
    pub fn add(&mut self, text: String) -> bool {
        let new = self.0.len() < MOST && !self.0.contains(&text);
        if new {
            self.0.push(text);
        }
        new
    }

    pub fn list(&self) -> &[String] {
        &self.0
    }
}
