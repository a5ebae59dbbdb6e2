// SPDX-License-Identifier: GPL-2.0-or-later
//! Where instructions come from: a trace cache of decoded lines, or an ordinary instruction cache.

use super::block::Block;
use super::machine::Memory;
use super::{TraceCache, TraceCacheShape, Walk};
use crate::core::notes::{Lookup, Notes};
use crate::{Cache, Code, Linear, Loss, Moment, Running, Tables};

// A machine has one of them, and reaches into it at every fetch: behind a pointer it would be slower, not smaller.
#[allow(clippy::large_enum_variant)]
pub(crate) enum FrontEnd {
    Trace(TraceFrontEnd),
    Cache(CacheFrontEnd),
}

/// What is open in a front end between two runs of code.
#[derive(Clone, Copy)]
pub(crate) enum Open {
    Trace { used: u8, branches: u8, building: Option<Loss>, spent: u64, next: Linear },
    Cache { last_line: u32 },
}

impl FrontEnd {
    pub fn open(&self) -> Open {
        match *self {
            FrontEnd::Trace(TraceFrontEnd { used, branches, building, spent, next, .. }) => {
                Open::Trace { used, branches, building, spent, next }
            }
            FrontEnd::Cache(CacheFrontEnd { last_line, .. }) => Open::Cache { last_line },
        }
    }

    #[inline]
    pub fn set_open(&mut self, open: Open) {
        match (self, open) {
            (FrontEnd::Trace(front), Open::Trace { used, branches, building, spent, next }) => {
                (front.used, front.branches, front.building) = (used, branches, building);
                (front.spent, front.next) = (spent, next);
            }
            (FrontEnd::Cache(front), Open::Cache { last_line }) => front.last_line = last_line,
            _ => unreachable!("a machine keeps its front end"),
        }
    }

    /// A number for everything open that matters to code at `linear`.
    #[inline]
    pub fn situation(&self, linear: Linear, memory: &Memory) -> u32 {
        match self {
            FrontEnd::Trace(front) => {
                let (used, branches) = front.line_at(linear);
                // A full line ends whatever was open, but for what it has yet to wait.
                let open = (branches as u32) << 8 | (front.building.is_some() as u32) << 16;
                let waits = (front.wait(memory).min(LONGEST_WAIT) as u32) << 17;
                waits | used as u32 | if used < front.cache.shape().uops_per_line { open } else { 0 }
            }
            FrontEnd::Cache(front) => (linear.0 >> front.line_shift(memory) == front.last_line) as u32,
        }
    }

    /// Calls `of` with the notes of its own cache, if it has one.
    pub fn notes(&mut self, of: impl FnOnce(&mut Notes)) {
        match self {
            FrontEnd::Trace(front) => of(front.cache.notes()),
            FrontEnd::Cache(front) => {
                if let Some(cache) = &mut front.own {
                    of(cache.notes());
                }
            }
        }
    }

    /// Whether lookups of its own cache would find these; marks nothing used.
    #[inline]
    pub fn holds(&mut self, lines: &mut [Lookup]) -> bool {
        match self {
            FrontEnd::Trace(front) => lines.iter_mut().all(|line| front.cache.holds(line)),
            FrontEnd::Cache(front) => {
                front.own.as_mut().is_none_or(|cache| lines.iter_mut().all(|line| cache.holds(line)))
            }
        }
    }

    /// Uses lines that it [`holds`](Self::holds).
    #[inline]
    pub fn use_again(&mut self, lines: &[Lookup]) {
        match self {
            FrontEnd::Trace(front) => lines.iter().for_each(|line| front.cache.use_again(line)),
            FrontEnd::Cache(front) => {
                if let Some(cache) = &mut front.own {
                    lines.iter().for_each(|line| cache.use_again(line));
                }
            }
        }
    }

    #[inline]
    pub fn fetch(&mut self, block: &Block, linear: Linear, memory: &mut Memory, tables: &mut dyn Tables<Walk>) {
        match self {
            FrontEnd::Trace(front) => front.fetch(block, linear, memory, tables),
            FrontEnd::Cache(front) => front.fetch(block, linear, memory, tables),
        }
    }

    /// Appends everything that decides what fetching will do.
    pub fn state(&self, out: &mut Vec<u64>) {
        match self {
            FrontEnd::Trace(front) => {
                front.cache.state(out);
                out.extend([front.used, front.branches, front.building.is_some() as u8].map(u64::from));
                out.extend([front.next.0 as u64, front.spent]);
            }
            FrontEnd::Cache(front) => {
                if let Some(cache) = &front.own {
                    cache.state(out);
                }
                out.push(front.last_line as u64);
            }
        }
    }

    /// A switch happened.
    pub fn enter(&mut self, running: Running) {
        match self {
            FrontEnd::Trace(front) => front.cache.enter(if front.flushed_by_cr3 { running } else { running.shared() }),
            FrontEnd::Cache(front) => {
                if let Some(cache) = &mut front.own {
                    cache.enter(running);
                }
            }
        }
    }

    /// Drops what is virtually tagged: of the space that runs, or `everything`.
    pub fn flush(&mut self, by: Moment, everything: bool) {
        match self {
            FrontEnd::Trace(front) if front.flushed_by_cr3 => front.cache.flush(by, everything),
            FrontEnd::Trace(_) => {}
            FrontEnd::Cache(front) => {
                if let Some(cache) = &mut front.own {
                    cache.flush_virtual(by, everything);
                }
            }
        }
    }

    pub fn invalidate_page(&mut self, linear: Linear, by: Moment) {
        match self {
            FrontEnd::Trace(front) => front.cache.invalidate_page(linear, by),
            FrontEnd::Cache(front) => front.last_line = u32::MAX,
        }
    }

    /// Whether code comes from the front end's own cache: a line is not being built.
    #[inline]
    pub fn delivers(&self) -> bool {
        match self {
            FrontEnd::Trace(front) => front.building.is_none(),
            FrontEnd::Cache(_) => true,
        }
    }

    /// Something else took as long, while the open line came.
    #[inline]
    pub fn spend(&mut self, milli: u64) {
        if let FrontEnd::Trace(front) = self {
            front.spent += milli;
        }
    }

    /// The open line has come, however short the time was.
    pub fn line_has_come(&mut self) {
        if let FrontEnd::Trace(front) = self {
            front.spent = LONG_AGO;
        }
    }

    /// Execution continued elsewhere without a branch (a fault or an interrupt), or a control register was written.
    pub fn interrupted(&mut self) {
        match self {
            FrontEnd::Trace(front) => front.used = front.cache.shape().uops_per_line,
            FrontEnd::Cache(front) => front.last_line = u32::MAX,
        }
    }
}

/// Micro-operations stream from the trace cache; only building a line that is not there reads code, and with it the
/// ITLB (unless the machine file says that every fetch does).
pub(crate) struct TraceFrontEnd {
    cache: TraceCache,
    flushed_by_cr3: bool,
    itlb_on_fetch: bool,
    /// Micro-operations in the open line; a full line means that the next instruction starts a new one.
    used: u8,
    branches: u8,
    /// The open line is being built; how it was lost before.
    building: Option<Loss>,
    /// What the instructions of the open line took so far.
    spent: u64,
    next: Linear,
}

/// A line takes so long to come that this is never reached.
const LONGEST_WAIT: u64 = (1 << 14) - 1;
/// When a line was asked for that has come.
const LONG_AGO: u64 = u64::MAX / 2;

impl TraceFrontEnd {
    pub fn new(cache: TraceCache, flushed_by_cr3: bool, itlb_on_fetch: bool) -> Self {
        let used = cache.shape().uops_per_line;
        let (branches, building, spent, next) = (0, None, LONG_AGO, Linear(0));
        TraceFrontEnd { cache, flushed_by_cr3, itlb_on_fetch, used, branches, building, spent, next }
    }

    /// How much longer the open line takes to come than its instructions take. One that is built does not come.
    #[inline]
    fn wait(&self, memory: &Memory) -> u64 {
        match self.building {
            Some(_) => 0,
            None => memory.line_time().saturating_sub(self.spent),
        }
    }

    /// How full the open line is for code at `linear`, and how many branches it has taken then.
    #[inline]
    fn line_at(&self, linear: Linear) -> (u8, u8) {
        let TraceCacheShape { uops_per_line, taken_branches, .. } = *self.cache.shape();
        match linear != self.next {
            true if self.branches >= taken_branches => (uops_per_line, self.branches),
            jumped => (self.used, self.branches + jumped as u8),
        }
    }

    #[inline]
    fn fetch(&mut self, block: &Block, linear: Linear, memory: &mut Memory, tables: &mut dyn Tables<Walk>) {
        (self.used, self.branches) = self.line_at(linear);
        if self.itlb_on_fetch {
            memory.translate_code_range(linear, block.bytes(), tables);
        }
        let packing = block.packing(self.used);
        if let Some(loss) = self.building.filter(|_| packing.carried > 0) {
            memory.book_more_of_trace(loss, packing.carried_build);
            memory.read_code(linear, packing.carried as u32, tables);
        }
        self.spent += packing.carried_cost;
        for span in &packing.lines {
            let start = linear.plus(span.start as u32);
            memory.stall(self.wait(memory));
            self.building = self.cache.access(start, &span.slot);
            (self.branches, self.spent) = (0, span.cost);
            if let Some(loss) = self.building {
                memory.book_trace_build(loss, span.build);
                memory.read_code(start, (span.end - span.start) as u32, tables);
            }
        }
        self.used = if block.ends_trace() { self.cache.shape().uops_per_line } else { packing.used };
        self.next = linear.plus(block.bytes());
    }
}

/// Every fetch looks up TLB and cache, line by line.
pub(crate) struct CacheFrontEnd {
    /// The instruction cache; a machine with a unified first level has none.
    own: Option<Cache>,
    /// The line that was fetched last. Nothing but code can displace it from a cache or TLB of its own, so it need not
    /// be looked up again at once. In unified ones data can.
    last_line: u32,
}

impl CacheFrontEnd {
    pub fn new(own: Option<Cache>) -> Self {
        CacheFrontEnd { own, last_line: u32::MAX }
    }

    fn line_shift(&self, memory: &Memory) -> u32 {
        self.own.as_ref().map_or_else(|| memory.first_level_line_shift(), Cache::line_shift)
    }

    fn fetch(&mut self, block: &Block, linear: Linear, memory: &mut Memory, tables: &mut dyn Tables<Walk>) {
        let shift = self.line_shift(memory);
        let last = linear.plus(block.bytes().max(1) - 1).0 >> shift;
        for line in linear.0 >> shift..=last {
            if line == self.last_line && self.own.is_some() && !memory.shares_tlb() {
                continue;
            }
            self.last_line = line;
            let address = Linear(line << shift).max(linear);
            let Some(frame) = memory.translate_code(address, tables) else { continue };
            let physical = frame.at(address);
            let missed = match &mut self.own {
                Some(cache) => cache.access(cache.tag(address, physical), false).missed,
                None => memory.fetch_unified(address, physical),
            };
            if let Some(loss) = missed {
                memory.refill_code(physical, loss);
            }
        }
    }
}
