// SPDX-License-Identifier: GPL-2.0-or-later
//! A machine: the components of one machine file, put together.

use crate::block::{sum_costs, Block};
use crate::front_end::{CacheFrontEnd, FrontEnd, TraceFrontEnd};
use crate::{
    Cache, CacheShape, Category, Costs, EntryKind, Event, Ledger, Loss, MachineFile, PageTables, Replacement, Tlb,
    TlbShape, TraceCache, TraceCacheShape, Walk,
};

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
    L1d,
    Constant,
}

/// Everything behind the front end.
pub(crate) struct Memory {
    itlb: Tlb,
    dtlb: Tlb,
    l1d: Cache,
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
}

impl Machine {
    pub fn new(file: &MachineFile) -> Self {
        let front = if file.has_section("trace_cache") {
            let itlb_on_fetch = file.choice("itlb.lookup") == "fetch";
            let cache = TraceCache::new(trace_cache_shape(file));
            FrontEnd::Trace(TraceFrontEnd::new(cache, file.flag("trace_cache.flushed_by_cr3"), itlb_on_fetch))
        } else {
            FrontEnd::Cache(CacheFrontEnd::new(Cache::new(cache_shape(file, "l1i"))))
        };
        Machine {
            front,
            memory: Memory {
                itlb: Tlb::new(tlb_shape(file, "itlb")),
                dtlb: Tlb::new(tlb_shape(file, "dtlb")),
                l1d: Cache::new(cache_shape(file, "l1d")),
                l2: file.has_section("l2").then(|| Cache::new(cache_shape(file, "l2"))),
                walk_reads: match file.choice("walker.reads_through") {
                    "l2" => WalkReads::L2,
                    "l1d" => WalkReads::L1d,
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
        let line = self.memory.l1d.shape().line as u32;
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
                self.memory.itlb.flush();
                self.memory.dtlb.flush();
                self.address_space_switch();
            }
            Event::ControlWrite { global_pages } => {
                self.memory.itlb.flush_all(global_pages);
                self.memory.dtlb.flush_all(global_pages);
                self.address_space_switch();
            }
            Event::Invlpg { linear } => {
                self.memory.itlb.invalidate(linear);
                self.memory.dtlb.invalidate(linear);
                self.front.invalidate_page(linear);
            }
            Event::PageFault { linear } => {
                self.memory.itlb.invalidate(linear);
                self.memory.dtlb.invalidate(linear);
            }
            Event::UserCode { .. } => {}
            Event::Entry(kind) => self.entry(kind),
        }
    }

    fn entry(&mut self, kind: EntryKind) {
        self.front.interrupted();
        self.memory.ledger.add(Category::KernelEntryExit, self.memory.costs.entry(kind));
    }

    fn address_space_switch(&mut self) {
        self.front.address_space_switch();
        if self.memory.l1d.shape().virtually_tagged {
            let lines = self.memory.l1d.flush() as u64;
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
        if let Some(frame) = self.itlb.lookup(linear) {
            return Some(frame);
        }
        let walk = tables.walk(linear)?;
        self.counts.itlb_misses += 1;
        let loss = self.itlb.fill(linear, &walk);
        self.counts.itlb_flushed_refills += (loss == Some(Loss::Flushed)) as u64;
        self.ledger.add(Category::TlbRefillCode, self.costs.itlb_refill);
        self.read_walked_entries(&walk, Category::TlbRefillCode);
        Some(walk.frame)
    }

    #[inline]
    fn translate_data(&mut self, linear: u32, tables: &mut dyn PageTables) {
        if self.dtlb.lookup(linear).is_some() {
            return;
        }
        let Some(walk) = tables.walk(linear) else { return };
        self.counts.dtlb_misses += 1;
        let loss = self.dtlb.fill(linear, &walk);
        self.counts.dtlb_flushed_refills += (loss == Some(Loss::Flushed)) as u64;
        self.ledger.add(Category::TlbRefillData, self.costs.dtlb_refill);
        self.read_walked_entries(&walk, Category::TlbRefillData);
    }

    /// The refill cost assumes that the entries are in the cache; where they are not, memory is added.
    fn read_walked_entries(&mut self, walk: &Walk, category: Category) {
        for &entry in &walk.entries[..walk.levels()] {
            let outcome = match (self.walk_reads, &mut self.l2) {
                (WalkReads::L2, Some(l2)) => l2.access(entry, false),
                (WalkReads::L1d, _) => self.l1d.access(entry, false),
                _ => continue,
            };
            if !outcome.hit {
                self.ledger.add(category, self.costs.memory_read);
            }
            self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
        }
    }

    /// Reads code bytes for the decoder: ITLB and second-level cache, in lines of the latter (of the data cache if there
    /// is none). The cost of a second-level hit is part of the cost of building a trace line.
    pub fn read_code(&mut self, linear: u32, bytes: u32, tables: &mut dyn PageTables) {
        let last = linear.wrapping_add(bytes.max(1) - 1);
        let shift = self.l2.as_ref().unwrap_or(&self.l1d).line_shift();
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

    fn read_beyond_first_level(&mut self, physical: u32, book_hit: bool) {
        let Some(l2) = &mut self.l2 else {
            self.ledger.add(Category::CacheRefill, self.costs.memory_read);
            return;
        };
        let outcome = l2.access(physical, false);
        let cost = match outcome.hit {
            true => self.costs.l2_hit * book_hit as u64,
            false => self.costs.memory_read,
        };
        self.ledger.add(Category::CacheRefill, cost);
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
    }

    #[inline]
    fn data(&mut self, linear: u32, physical: u32, write: bool, tables: &mut dyn PageTables) {
        self.translate_data(linear, tables);
        let shape = self.l1d.shape();
        let (tag, through) = (if shape.virtually_tagged { linear } else { physical }, !shape.write_back);
        let first = self.l1d.access(tag, write);
        if first.write_backs > 0 {
            let cost = if self.l2.is_some() { self.costs.l2_hit } else { self.costs.memory_write_back };
            self.ledger.add(Category::WriteBack, first.write_backs as u64 * cost);
        }
        if !write {
            if !first.hit {
                self.read_beyond_first_level(physical, true);
            }
        } else if through || !first.hit {
            let allocated = !first.hit && self.l1d.shape().write_allocate;
            self.write_beyond_first_level(physical, allocated);
        }
    }

    /// A store that goes on to the second level. Buffers hide a hit; a miss has to fetch the line. Without a second level
    /// they hide the store itself; the line that it `allocated` in the first level has to be fetched.
    fn write_beyond_first_level(&mut self, physical: u32, allocated: bool) {
        let Some(l2) = &mut self.l2 else {
            self.ledger.add(Category::CacheRefill, self.costs.memory_read * allocated as u64);
            return;
        };
        let outcome = l2.access(physical, true);
        if !outcome.hit {
            self.ledger.add(Category::CacheRefill, self.costs.memory_read);
        }
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
    }
}

fn replacement(file: &MachineFile, section: &str) -> Replacement {
    match file.choice(&format!("{section}.replacement")) {
        "pseudo-lru" => Replacement::PseudoLru,
        "random" => Replacement::Random { seed: file.integer(&format!("{section}.random_seed")).unwrap_or(1) },
        _ => Replacement::Lru,
    }
}

fn tlb_shape(file: &MachineFile, section: &str) -> TlbShape {
    let path = |key: &str| format!("{section}.{key}");
    let entries = file.integer(&path("entries")).unwrap_or(1);
    TlbShape {
        entries: entries as usize,
        ways: file.ways(&path("associativity"), entries) as usize,
        replacement: replacement(file, section),
        large_pages: file.choice(&path("pages")) == "4k+4m",
        global: file.flag(&path("global_bit")),
    }
}

fn cache_shape(file: &MachineFile, section: &str) -> CacheShape {
    let path = |key: &str| format!("{section}.{key}");
    let (size, line) =
        (file.integer(&path("size_bytes")).unwrap_or(64), file.integer(&path("line_bytes")).unwrap_or(64));
    CacheShape {
        size: size as usize,
        line: line as usize,
        ways: file.ways(&path("associativity"), size / line) as usize,
        replacement: replacement(file, section),
        virtually_tagged: file.choice(&path("tagged")) == "virtual",
        write_back: file.choice(&path("write_policy")) == "write-back",
        write_allocate: file.flag(&path("write_allocate")),
        lines_per_fill: file.integer(&path("lines_per_fill")).unwrap_or(1) as usize,
    }
}

fn trace_cache_shape(file: &MachineFile) -> TraceCacheShape {
    let number = |key: &str| file.integer(&format!("trace_cache.{key}")).unwrap_or(1);
    TraceCacheShape {
        lines: number("lines") as usize,
        ways: file.ways("trace_cache.associativity", number("lines")) as usize,
        replacement: replacement(file, "trace_cache"),
        uops_per_line: number("uops_per_line") as u8,
        taken_branches: number("taken_branches") as u8,
        index_shift: number("index_shift") as u32,
    }
}
