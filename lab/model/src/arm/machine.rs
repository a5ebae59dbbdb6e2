// SPDX-License-Identifier: GPL-2.0-or-later
//! A machine: virtual caches, TLBs and a write buffer, put together from a machine file.

use super::write_buffer::WriteBuffer;
use super::{Block, Costs, Operation, Side, Tlb, Translation};
use crate::core::shapes::{cache_shape, replacement};
use crate::{
    Cache, CacheShape, Category, Causes, How, Ledger, Linear, Loss, MachineFile, Moment, Physical, Running, Space,
    Tables, Tag,
};
use crate::{Code, Counted};

/// What a machine counted besides cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub itlb_misses: u64,
    pub dtlb_misses: u64,
    pub icache_misses: u64,
    /// Reads that missed, but for lines of zeros; writes that miss go past the cache.
    pub dcache_misses: u64,
    /// Dirty lines written to memory.
    pub write_backs: u64,
}

impl Counted for Counts {
    const NAMES: &'static [&'static str] =
        &["itlb_misses", "dtlb_misses", "icache_misses", "dcache_misses", "write_backs"];

    fn numbers(&mut self) -> Vec<&mut u64> {
        let Counts { itlb_misses, dtlb_misses, icache_misses, dcache_misses, write_backs } = self;
        vec![itlb_misses, dtlb_misses, icache_misses, dcache_misses, write_backs]
    }
}

pub struct Machine {
    /// That of code; of data as well where there is one for both.
    code_tlb: Tlb,
    data_tlb: Option<Tlb>,
    code_cache: Cache<Linear>,
    data_cache: Cache<Linear>,
    buffer: WriteBuffer,
    /// Entries of the write buffer that a line takes.
    line_entries: u64,
    costs: Costs,
    ledger: Ledger,
    causes: Causes,
    counts: Counts,
    /// TLBs and caches find an entry only for what it translates to.
    told_apart: bool,
    /// The last block ended with a direct jump; where execution goes on here, it was not taken.
    after_branch: Option<Linear>,
    /// The kilobyte of code that was looked up last, and whether it is cached: valid until a TLB changes.
    code_page: Option<(u32, bool)>,
}

impl Machine {
    /// `file` is one of an ARM machine.
    pub fn new(file: &MachineFile) -> Self {
        let tlb = |section: &str| {
            let entries = file.integer(&format!("{section}.entries")).unwrap_or(1);
            let ways = file.ways(&format!("{section}.associativity"), entries);
            Tlb::new(entries as usize, ways as usize, replacement(file, section))
        };
        let unified = file.has_section("tlb");
        let data_cache = Cache::new(virtual_cache_shape(file, "l1d"));
        let bytes = file.integer("write_buffer.entry_bytes").unwrap_or(4);
        let entries = file.integer("write_buffer.entries").unwrap_or(1);
        Machine {
            code_tlb: tlb(if unified { "tlb" } else { "itlb" }),
            data_tlb: (!unified).then(|| tlb("dtlb")),
            code_cache: Cache::new(virtual_cache_shape(file, "l1i")),
            line_entries: (data_cache.shape().line as u64).div_ceil(bytes),
            data_cache,
            buffer: WriteBuffer::new(entries, bytes as u32, file.milli("write_buffer.write_cycles").unwrap_or(0)),
            costs: Costs::from_file(file),
            ledger: Ledger::default(),
            causes: Causes::default(),
            counts: Counts::default(),
            told_apart: false,
            after_branch: None,
            code_page: None,
        }
    }

    /// The same machine, before its first event, if nothing had to be emptied for what the tables say: its TLBs and
    /// caches hold entries of an address for each frame that it is translated to, and find the one of the tables in
    /// force. Operations on a whole TLB or cache do nothing then and cost nothing, whatever the kernel executes them
    /// for; those on an entry or a line do what they do otherwise.
    pub fn without_flush(mut self) -> Self {
        self.told_apart = true;
        self.enter(Moment::START);
        self
    }

    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn causes(&self) -> &Causes {
        &self.causes
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Executes all of `block`, the first instruction of which stands at the MVA.
    #[inline]
    pub fn block(&mut self, block: &Block, mva: Linear, tables: &mut impl Tables<Translation>) {
        self.ledger.add(Category::Instructions, block.fixed_milli());
        if self.after_branch.is_some_and(|next| next != mva) {
            self.ledger.add(Category::Instructions, self.costs.branch_taken);
        }
        self.after_branch = block.ends_with_branch().then(|| mva.plus(block.bytes()));
        let line = 1 << self.code_cache.line_shift();
        let mut at = Linear(mva.0 & !(line - 1));
        while (at.minus(mva) as i32) < block.bytes() as i32 {
            self.fetch_line(at.max(mva), tables);
            at = at.plus(line);
        }
    }

    /// Takes back the cost of some instructions of `block`: a fault kept them from being executed. That they were
    /// fetched stands.
    pub fn retract(&mut self, block: &Block, instructions: std::ops::Range<usize>) {
        let milli = block.each_milli()[instructions].iter().sum();
        self.ledger.take_back(Category::Instructions, milli);
        self.after_branch = None;
    }

    #[inline]
    fn fetch_line(&mut self, mva: Linear, tables: &mut impl Tables<Translation>) {
        let cached = match self.code_page {
            Some((page, cached)) if page == mva.0 >> 10 && !self.told_apart => cached,
            _ => {
                let Some(found) = self.translate(mva, Side::Code, tables) else { return };
                self.code_page = Some((mva.0 >> 10, found.cached));
                self.code_cache.ask_for(self.tag(found.physical(mva)));
                found.cached
            }
        };
        if !cached {
            return self.ledger.add(Category::CacheRefill, self.costs.word_read);
        }
        if let Some(loss) = self.code_cache.access(mva, false).missed {
            self.counts.icache_misses += 1;
            self.refill(Category::CacheRefill, loss, self.costs.line_fill);
        }
    }

    /// A data access that was carried out.
    #[inline]
    pub fn data(&mut self, mva: Linear, write: bool, tables: &mut impl Tables<Translation>) {
        if self.told_apart && !write && self.cleans(mva, tables) {
            return;
        }
        let Some(found) = self.translate(mva, Side::Data, tables) else { return };
        if found.cached {
            self.data_cache.ask_for(self.tag(found.physical(mva)));
            let outcome = self.data_cache.access(mva, write);
            let Some(loss) = outcome.missed else { return };
            self.write_back(outcome.write_backs, None);
            if !write {
                // Zeros are read to clean the cache, and for nothing else.
                if let Some(milli) = self.costs.zeros_read(found.physical(mva)) {
                    return self.ledger.add(Category::Flush, milli);
                }
                self.counts.dcache_misses += 1;
                return self.refill(Category::CacheRefill, loss, self.costs.line_fill);
            }
        } else if !write {
            return self.ledger.add(Category::CacheRefill, self.costs.word_read);
        }
        let waits = match found.cached || found.buffered {
            true => self.buffer.store(found.physical(mva), self.ledger.total()),
            false => self.costs.word_read,
        };
        self.ledger.add(Category::WriteBack, waits);
    }

    /// Whether reading `mva` does nothing but clean the cache.
    fn cleans(&self, mva: Linear, tables: &mut impl Tables<Translation>) -> bool {
        tables.walk(mva).is_some_and(|found| self.costs.zeros_read(found.physical(mva)).is_some())
    }

    /// Of what is translated to `frame`.
    fn tag(&self, frame: Physical) -> Tag {
        match self.told_apart {
            true => Tag::of_frame(frame),
            false => Tag::SHARED,
        }
    }

    #[inline]
    fn translate(&mut self, mva: Linear, side: Side, tables: &mut impl Tables<Translation>) -> Option<Translation> {
        if self.told_apart {
            let tag = self.tag(tables.walk(mva)?.frame);
            self.tlb(side).ask_for(tag);
        }
        if let Some(found) = self.tlb(side).lookup(mva) {
            return Some(*found);
        }
        let walked = tables.walk(mva)?;
        let loss = self.tlb(side).fill(mva, &walked);
        // In a TLB for both, an entry of code may have made room for it.
        self.code_page = None;
        let category = match side {
            Side::Code => {
                self.counts.itlb_misses += 1;
                Category::TlbRefillCode
            }
            _ => {
                self.counts.dtlb_misses += 1;
                Category::TlbRefillData
            }
        };
        self.refill(category, loss, self.costs.tlb_miss(&walked));
        Some(walked)
    }

    fn tlb(&mut self, side: Side) -> &mut Tlb {
        match (&mut self.data_tlb, side) {
            (Some(data), Side::Data) => data,
            _ => &mut self.code_tlb,
        }
    }

    /// Books what it costs to get something back that was lost, and charges it to what took it.
    fn refill(&mut self, category: Category, loss: Loss, milli: u64) {
        self.ledger.add(category, milli);
        self.causes.charge(category, loss, milli);
    }

    /// Dirty lines go to memory by the write buffer; those that an operation cleaned are charged to it.
    fn write_back(&mut self, lines: u32, by: Option<Moment>) {
        for _ in 0..lines {
            self.counts.write_backs += 1;
            let waits = self.buffer.line(self.line_entries, self.costs.line_write, self.ledger.total());
            match by {
                Some(moment) => self.refill(Category::WriteBack, Loss::Flushed(moment), waits),
                None => self.ledger.add(Category::WriteBack, waits),
            }
        }
    }

    /// An exception was entered.
    pub fn exception(&mut self) {
        self.after_branch = None;
        self.ledger.add(Category::KernelEntryExit, self.costs.exception);
    }

    /// The coprocessor operation of the instruction at `at`; `operand` is its register's value. A switch leads to
    /// `space`.
    pub fn operation(&mut self, operation: Operation, operand: u32, at: u32, space: Space) {
        use Operation::*;
        if self.told_apart && operation.is_of_all() {
            return;
        }
        // Of an entry or a line.
        let mva = Linear(operand);
        self.code_page = None;
        self.ledger.add(Category::Flush, self.costs.operation(operation));
        match operation {
            TableBase => self.switched(How::TableBase, at, space),
            DomainAccess => self.switched(How::DomainAccess, at, space),
            ProcessId => self.switched(How::ProcessId, at, space),
            InvalidateTlb(side) => {
                let by = self.causes.invalidated_by(How::TlbFlush, at);
                self.tlbs(side, |tlb| tlb.flush(by));
            }
            InvalidateTlbEntry(side) => {
                let by = self.causes.invalidated_by(How::TlbEntry, at);
                self.tlbs(side, |tlb| tlb.invalidate(mva, by));
            }
            InvalidateCache(side) => {
                let by = self.causes.invalidated_by(How::CacheFlush, at);
                if side.code() {
                    self.code_cache.flush(by);
                }
                if side.data() {
                    self.data_cache.flush(by);
                }
            }
            TestClean | TestCleanInvalidate => self.test_and_clean(operation == TestCleanInvalidate, at),
            InvalidateLine(Side::Code) => {
                let by = self.causes.invalidated_by(How::CacheLine, at);
                self.code_cache.invalidate(mva, by);
            }
            InvalidateLine(_) => {
                let by = self.causes.invalidated_by(How::CacheLine, at);
                self.data_cache.invalidate(mva, by);
            }
            CleanLine => {
                let by = self.causes.invalidated_by(How::CacheLine, at);
                let dirty = self.data_cache.clean(mva);
                self.write_back(dirty as u32, Some(by));
            }
            CleanInvalidateLine => {
                let by = self.causes.invalidated_by(How::CacheLine, at);
                let dirty = self.data_cache.invalidate(mva, by);
                self.write_back(dirty as u32, Some(by));
            }
            DrainWriteBuffer => {
                let waits = self.buffer.drain(self.ledger.total());
                self.ledger.add(Category::WriteBack, waits);
            }
            Control | InvalidateSlot | CleanSlot | CleanInvalidateSlot | Wait | Other => {}
        }
    }

    /// The emulator has no dirty line, so the guest executes the operation once; a processor would for each that is
    /// dirty.
    fn test_and_clean(&mut self, invalidates: bool, at: u32) {
        let by = self.causes.invalidated_by(How::CacheFlush, at);
        for _ in 0..self.data_cache.clean_all() {
            self.ledger.add(Category::Flush, self.costs.test);
            self.write_back(1, Some(by));
        }
        if invalidates {
            self.data_cache.flush(by);
        }
    }

    fn switched(&mut self, how: How, at: u32, space: Space) {
        let since = self.causes.switched(space, how, at);
        self.enter(since);
    }

    fn enter(&mut self, since: Moment) {
        let running = Running { since, tag: Tag::SHARED, tagged: self.told_apart };
        self.code_cache.enter(running);
        self.data_cache.enter(running);
        self.tlbs(Side::Both, |tlb| tlb.enter(running));
    }

    fn tlbs(&mut self, side: Side, change: impl Fn(&mut Tlb)) {
        match &mut self.data_tlb {
            None => change(&mut self.code_tlb),
            Some(data) => {
                if side.data() {
                    change(data);
                }
                if side.code() {
                    change(&mut self.code_tlb);
                }
            }
        }
    }
}

/// The caches of ARM machines are all found by virtual addresses, and write back.
fn virtual_cache_shape(file: &MachineFile, section: &str) -> CacheShape {
    CacheShape { virtually_tagged: true, write_back: true, lines_per_fill: 1, ..cache_shape(file, section) }
}
