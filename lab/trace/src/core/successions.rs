// SPDX-License-Identifier: GPL-2.0-or-later
//! Which process ran after which, as the names say that come with spaces: whatever ran between them of a kernel that is
//! itself a program.

use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Successions {
    last: String,
    /// By case and the names of both processes.
    times: BTreeMap<(u32, String, String), u64>,
}

/// How often `to` was the next process after `from`.
#[derive(Serialize)]
pub struct Succession<'a> {
    case: u32,
    from: &'a str,
    to: &'a str,
    times: u64,
}

impl Successions {
    /// What has this name runs, in an iteration of `case` if one is measured. A process has its number behind its name,
    /// a kernel that is a program has none.
    pub fn runs(&mut self, name: &str, case: Option<u32>) {
        if !name.ends_with(')') || name == self.last {
            return;
        }
        let last = std::mem::replace(&mut self.last, name.to_string());
        let same = number(&last) == number(name); // it has executed another file
        if let Some(case) = case.filter(|_| !last.is_empty() && !same) {
            *self.times.entry((case, last, name.to_string())).or_default() += 1;
        }
    }

    pub fn report(&self) -> Vec<Succession<'_>> {
        self.times.iter().map(|((case, from, to), &times)| Succession { case: *case, from, to, times }).collect()
    }
}

/// The end of a name, with the process's number.
fn number(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_follow_each_other_whatever_the_kernel_does_between() {
        let mut successions = Successions::default();
        for name in ["sh (7)", "server", "sh (7)", "server", "cat (8)", "server", "sh (7)", "ls (7)", "cat (8)"] {
            successions.runs(name, Some(3));
        }
        successions.runs("sh (9)", None);
        let found = successions.report();
        let found: Vec<_> = found.iter().map(|one| (one.case, one.from, one.to, one.times)).collect();
        let expected = [(3, "cat (8)", "sh (7)", 1), (3, "ls (7)", "cat (8)", 1), (3, "sh (7)", "cat (8)", 1)];
        assert_eq!(found, expected);
    }
}
