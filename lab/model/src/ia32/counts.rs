// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens in a machine, counted.

use crate::Counted;

/// What a machine counted besides cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub itlb_misses: u64,
    pub dtlb_misses: u64,
    /// Misses on a translation that a flush or invalidation had taken away.
    pub itlb_flushed_refills: u64,
    pub dtlb_flushed_refills: u64,
    /// Trace lines that had to be built.
    pub trace_misses: u64,
    /// Jumps that went elsewhere than expected.
    pub mispredictions: u64,
    /// Loads that waited for a store whose data they could not get.
    pub blocked_loads: u64,
}

impl Counted for Counts {
    const NAMES: &'static [&'static str] = &[
        "itlb_misses",
        "dtlb_misses",
        "itlb_flushed_refills",
        "dtlb_flushed_refills",
        "trace_misses",
        "mispredictions",
        "blocked_loads",
    ];
    /// Up to `trace_misses`.
    const MISSES: usize = 5;

    fn numbers(&mut self) -> Vec<&mut u64> {
        vec![
            &mut self.itlb_misses,
            &mut self.dtlb_misses,
            &mut self.itlb_flushed_refills,
            &mut self.dtlb_flushed_refills,
            &mut self.trace_misses,
            &mut self.mispredictions,
            &mut self.blocked_loads,
        ]
    }
}
