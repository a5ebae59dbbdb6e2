// SPDX-License-Identifier: GPL-2.0-or-later
//! A machine: the components of one machine file, put together.

use crate::block::{sum_costs, Block};
use crate::front_end::{CacheFrontEnd, FrontEnd, TraceFrontEnd};
use crate::shapes::{cache_shape, tlb_shape, trace_cache_shape};
use crate::tlbs::Tlbs;
use crate::{Cache, Category, Costs, EntryKind, Event, Ledger, Loss, MachineFile, PageTables, Tlb, TraceCache, Walk};

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
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkReads {
    L2,
    L1,
    Constant,
}

/// Everything behind the front end.
pub(crate) struct Memory {
    tlbs: Tlbs,
    /// First-level cache of data; of code as well if it is unified.
    l1: Cache,
    l2: Option<Cache>,
    walk_reads: WalkReads,
    costs: Costs,
    ledger: Ledger,
    counts: Counts,
    last_code_line: u32,
}

pub struct Machine {
    front: FrontEnd,
    memory: Memory,
    /// The last block ended with a direct jump; where execution goes on here, it was not taken.
    after_branch: Option<u32>,
}

impl Machine {
    pub fn new(file: &MachineFile) -> Self {
        let cache = |section: &str| file.has_section(section).then(|| Cache::new(cache_shape(file, section)));
        let tlb = |section: &str| file.has_section(section).then(|| Tlb::new(tlb_shape(file, section)));
        let front = if file.has_section("trace_cache") {
            let itlb_on_fetch = file.choice("itlb.lookup") == "fetch";
            let cache = TraceCache::new(trace_cache_shape(file));
            FrontEnd::Trace(TraceFrontEnd::new(cache, file.flag("trace_cache.flushed_by_cr3"), itlb_on_fetch))
        } else {
            FrontEnd::Cache(CacheFrontEnd::new(cache("l1i")))
        };
        let tlbs = match tlb("tlb") {
            Some(unified) => Tlbs::unified(unified),
            None => {
                let own = |section: &str| Tlb::new(tlb_shape(file, section));
                Tlbs::split(own("itlb"), own("dtlb"), tlb("dtlb_large"))
            }
        };
        Machine {
            front,
            after_branch: None,
            memory: Memory {
                tlbs,
                l1: cache("l1").unwrap_or_else(|| Cache::new(cache_shape(file, "l1d"))),
                l2: cache("l2"),
                walk_reads: match file.choice("walker.reads_through") {
                    "l2" => WalkReads::L2,
                    "l1" => WalkReads::L1,
                    _ => WalkReads::Constant,
                },
                costs: Costs::from_file(file),
                ledger: Ledger::default(),
                counts: Counts::default(),
                last_code_line: u32::MAX,
            },
        }
    }

    pub fn costs(&self) -> &Costs {
        &self.memory.costs
    }

    pub fn ledger(&self) -> &Ledger {
        &self.memory.ledger
    }

    pub fn counts(&self) -> &Counts {
        &self.memory.counts
    }

    /// Executes all instructions of `block`, the first of which stands at `linear`.
    #[inline]
    pub fn block(&mut self, block: &Block, linear: u32, tables: &mut dyn PageTables) {
        for &(category, milli) in block.costs() {
            self.memory.ledger.add(category, milli);
        }
        if self.after_branch.is_some_and(|next| next != linear) {
            self.memory.ledger.add(Category::Instructions, self.memory.costs.branch_taken);
        }
        self.after_branch = block.ends_with_branch().then(|| linear.wrapping_add(block.bytes()));
        self.front.fetch(block, linear, &mut self.memory, tables);
    }

    /// Takes back the cost of some instructions of `block`: a fault kept them from being executed. That their code was
    /// already fetched stands.
    pub fn retract(&mut self, block: &Block, instructions: std::ops::Range<usize>) {
        for (category, milli) in sum_costs(&block.instructions()[instructions], &self.memory.costs) {
            self.memory.ledger.take_back(category, milli);
        }
    }

    /// A data access that was carried out. `physical` belongs to `linear`; an access may straddle two lines.
    #[inline]
    pub fn data(&mut self, linear: u32, physical: u32, size: u8, write: bool, tables: &mut dyn PageTables) {
        self.memory.data(linear, physical, write, tables);
        let line = self.memory.l1.shape().line as u32;
        let last = linear.wrapping_add(size as u32 - 1);
        if last & !(line - 1) != linear & !(line - 1) {
            let physical = match last >> 12 == linear >> 12 {
                true => physical.wrapping_add(last.wrapping_sub(linear)),
                false => match tables.walk(last) {
                    Some(walk) => walk.frame | last & 0xfff,
                    None => return,
                },
            };
            self.memory.data(last, physical, write, tables);
        }
    }

    /// The general way in, one event at a time.
    pub fn event(&mut self, event: &Event, tables: &mut dyn PageTables) {
        match *event {
            Event::Fetch { linear, instruction } => {
                let block = Block::new(vec![instruction], &self.memory.costs);
                self.block(&block, linear, tables);
            }
            Event::Read { linear, physical, size } => self.data(linear, physical, size, false, tables),
            Event::Write { linear, physical, size } => self.data(linear, physical, size, true, tables),
            Event::Cr3Write { .. } => {
                self.memory.tlbs.flush();
                self.address_space_switch();
            }
            Event::ControlWrite { global_pages } => {
                self.memory.tlbs.flush_all(global_pages);
                self.address_space_switch();
            }
            Event::Invlpg { linear } => {
                self.memory.tlbs.invalidate(linear);
                self.front.invalidate_page(linear);
            }
            Event::PageFault { linear } => self.memory.tlbs.invalidate(linear),
            Event::UserCode { .. } => {}
            Event::Entry(kind) => self.entry(kind),
        }
    }

    fn entry(&mut self, kind: EntryKind) {
        self.front.interrupted();
        self.after_branch = None;
        self.memory.ledger.add(Category::KernelEntryExit, self.memory.costs.entry(kind));
    }

    fn address_space_switch(&mut self) {
        self.front.address_space_switch();
        if self.memory.l1.shape().virtually_tagged {
            let lines = self.memory.l1.flush() as u64;
            self.memory.ledger.add(Category::WriteBack, lines * self.memory.costs.memory_write_back);
        }
    }
}

impl Memory {
    pub fn book_trace_build(&mut self) {
        self.counts.trace_misses += 1;
        self.ledger.add(Category::TraceRebuild, self.costs.trace_rebuild);
    }

    /// Looks the pages of a code range up in the ITLB.
    #[inline]
    pub fn translate_code_range(&mut self, linear: u32, bytes: u32, tables: &mut dyn PageTables) {
        self.translate_code(linear, tables);
        let last = linear.wrapping_add(bytes.max(1) - 1);
        if last >> 12 != linear >> 12 {
            self.translate_code(last, tables);
        }
    }

    /// Frame of a code address; a miss is walked and booked.
    #[inline]
    pub fn translate_code(&mut self, linear: u32, tables: &mut dyn PageTables) -> Option<u32> {
        if let Some(frame) = self.tlbs.lookup_code(linear) {
            return Some(frame);
        }
        let walk = tables.walk(linear)?;
        self.counts.itlb_misses += 1;
        let loss = self.tlbs.fill_code(linear, &walk);
        self.counts.itlb_flushed_refills += (loss == Some(Loss::Flushed)) as u64;
        self.ledger.add(Category::TlbRefillCode, self.costs.code_refill);
        self.read_walked_entries(&walk, Category::TlbRefillCode);
        Some(walk.frame)
    }

    #[inline]
    fn translate_data(&mut self, linear: u32, tables: &mut dyn PageTables) {
        if self.tlbs.holds_data(linear) {
            return;
        }
        let Some(walk) = tables.walk(linear) else { return };
        self.counts.dtlb_misses += 1;
        let loss = self.tlbs.fill_data(linear, &walk);
        self.counts.dtlb_flushed_refills += (loss == Some(Loss::Flushed)) as u64;
        self.ledger.add(Category::TlbRefillData, self.costs.data_refill(&walk));
        self.read_walked_entries(&walk, Category::TlbRefillData);
    }

    /// The refill cost assumes that the entries are in the cache that walks read through; where they are not, what is
    /// beyond it is added.
    fn read_walked_entries(&mut self, walk: &Walk, category: Category) {
        for &entry in &walk.entries[..walk.levels()] {
            match self.walk_reads {
                WalkReads::L2 => self.read_second_level(entry, 0, category),
                WalkReads::L1 => {
                    let outcome = self.l1.access(entry, false);
                    self.book_first_level_write_backs(outcome.write_backs);
                    if !outcome.hit {
                        self.read_second_level(entry, self.costs.l2_hit, category);
                    }
                }
                WalkReads::Constant => {}
            }
        }
    }

    /// Reads code bytes for the decoder: ITLB and second-level cache, in lines of the latter (of the data cache if there
    /// is none). The cost of a second-level hit is part of the cost of building a trace line.
    pub fn read_code(&mut self, linear: u32, bytes: u32, tables: &mut dyn PageTables) {
        let last = linear.wrapping_add(bytes.max(1) - 1);
        let shift = self.l2.as_ref().unwrap_or(&self.l1).line_shift();
        for line in linear >> shift..=last >> shift {
            let Some(frame) = self.translate_code((line << shift).max(linear), tables) else { return };
            let physical = frame | (line << shift) & 0xfff;
            if physical != self.last_code_line {
                self.last_code_line = physical;
                self.read_beyond_first_level(physical, false);
            }
        }
    }

    /// An instruction cache missed.
    pub fn refill_code(&mut self, physical: u32) {
        self.read_beyond_first_level(physical, true);
    }

    pub fn shares_tlb(&self) -> bool {
        self.tlbs.shared()
    }

    pub fn first_level_line_shift(&self) -> u32 {
        self.l1.line_shift()
    }

    /// Looks code up in a unified first-level cache. Returns whether it was there.
    pub fn fetch_unified(&mut self, linear: u32, physical: u32) -> bool {
        let tag = if self.l1.shape().virtually_tagged { linear } else { physical };
        let outcome = self.l1.access(tag, false);
        self.book_first_level_write_backs(outcome.write_backs);
        outcome.hit
    }

    fn read_beyond_first_level(&mut self, physical: u32, book_hit: bool) {
        self.read_second_level(physical, self.costs.l2_hit * book_hit as u64, Category::CacheRefill);
    }

    /// Reads from the second level, where a hit costs `hit`, or from memory.
    fn read_second_level(&mut self, physical: u32, hit: u64, category: Category) {
        let Some(l2) = &mut self.l2 else {
            self.ledger.add(category, self.costs.memory_read);
            return;
        };
        let outcome = l2.access(physical, false);
        self.ledger.add(category, if outcome.hit { hit } else { self.costs.memory_read });
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
    }

    fn book_first_level_write_backs(&mut self, lines: u32) {
        if lines > 0 {
            let cost = if self.l2.is_some() { self.costs.l2_hit } else { self.costs.memory_write_back };
            self.ledger.add(Category::WriteBack, lines as u64 * cost);
        }
    }

    #[inline]
    fn data(&mut self, linear: u32, physical: u32, write: bool, tables: &mut dyn PageTables) {
        self.translate_data(linear, tables);
        let shape = self.l1.shape();
        let (tag, through) = (if shape.virtually_tagged { linear } else { physical }, !shape.write_back);
        let first = self.l1.access(tag, write);
        self.book_first_level_write_backs(first.write_backs);
        if !write {
            if !first.hit {
                self.read_beyond_first_level(physical, true);
            }
        } else if through || !first.hit {
            let allocated = !first.hit && self.l1.shape().write_allocate;
            self.write_beyond_first_level(physical, allocated);
        }
    }

    /// A store that goes on to the second level. Buffers hide it, unless a line has to be fetched. Without a second level
    /// they hide the store itself; the line that it `allocated` in the first level has to be fetched.
    fn write_beyond_first_level(&mut self, physical: u32, allocated: bool) {
        let Some(l2) = &mut self.l2 else {
            self.ledger.add(Category::CacheRefill, self.costs.memory_read * allocated as u64);
            return;
        };
        let outcome = l2.access(physical, true);
        if !outcome.hit && l2.shape().write_allocate {
            self.ledger.add(Category::CacheRefill, self.costs.memory_read);
        }
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
    }
}
