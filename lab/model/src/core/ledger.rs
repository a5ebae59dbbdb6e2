// SPDX-License-Identifier: GPL-2.0-or-later
//! The ledger: every cycle in exactly one category, so that the rows add up to the total by construction.

/// Where a cycle went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Category {
    Instructions,
    KernelEntryExit,
    SegmentReload,
    TlbRefillCode,
    TlbRefillData,
    CacheRefill,
    WriteBack,
    TraceRebuild,
    Flush,
    /// The pipeline waits: for a short trace line, after a mispredicted jump, for a store that blocks a load.
    Stall,
    LimitFault,
}

/// All categories with their report names, in ledger order.
pub const CATEGORIES: [(Category, &str); 11] = [
    (Category::Instructions, "instructions"),
    (Category::KernelEntryExit, "kernel_entry_exit"),
    (Category::SegmentReload, "segment_reload"),
    (Category::TlbRefillCode, "tlb_refill_code"),
    (Category::TlbRefillData, "tlb_refill_data"),
    (Category::CacheRefill, "cache_refill"),
    (Category::WriteBack, "write_back"),
    (Category::TraceRebuild, "trace_rebuild"),
    (Category::Flush, "flush"),
    (Category::Stall, "stall"),
    (Category::LimitFault, "limit_fault"),
];

/// Sums per category, in thousandths of a cycle. The total is not stored: it is the sum of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    rows: [u64; CATEGORIES.len()],
}

impl Ledger {
    #[inline]
    pub fn add(&mut self, category: Category, milli: u64) {
        self.rows[category as usize] += milli;
    }

    /// Takes back what was booked for something that turned out not to have happened.
    pub fn take_back(&mut self, category: Category, milli: u64) {
        self.rows[category as usize] -= milli;
    }

    /// Adds what was booked between `from` and `to` so many `times`.
    pub fn advance(&mut self, from: &Ledger, to: &Ledger, times: u64) {
        let spans = from.rows.iter().zip(to.rows);
        self.rows.iter_mut().zip(spans).for_each(|(row, (from, to))| *row += (to - from) * times);
    }

    pub fn row(&self, category: Category) -> u64 {
        self.rows[category as usize]
    }

    pub fn total(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Whole cycles per category between `origin` and `self`. Rounded down per row, so a report that sums rows of
    /// consecutive spans with the same origin gets exactly the rows of the whole span.
    pub fn whole_cycles_since(&self, origin: &Ledger) -> [u64; CATEGORIES.len()] {
        std::array::from_fn(|i| (self.rows[i] - origin.rows[i]) / crate::MILLI)
    }
}
