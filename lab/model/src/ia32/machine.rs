// SPDX-License-Identifier: GPL-2.0-or-later
//! A machine: the components of one machine file, put together.

use super::block::Block;
use super::front_end::{CacheFrontEnd, FrontEnd, TraceFrontEnd};
use super::prediction::{Jump, Left, Predictor};
use super::shapes::{prediction_shape, tlb_shape, trace_cache_shape};
use super::stores::Stores;
use super::tlbs::Tlbs;
use super::{Costs, Counts, EntryKind, Event, Tlb, TraceCache, Walk};
use crate::core::shapes::cache_shape;
use crate::{AsTagged, Cache, Category, Causes, Code, How, Ledger, Linear, Loss};
use crate::{MachineFile, Moment, Physical, Running, Tables, Tag};

#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkReads {
    L2,
    L1,
    Constant,
}

/// Everything behind the front end.
pub(crate) struct Memory {
    pub(crate) tlbs: Tlbs,
    /// First-level cache of data; of code as well if it is unified.
    pub(crate) l1: Cache,
    pub(crate) l2: Option<Cache<Physical>>,
    walk_reads: WalkReads,
    costs: Costs,
    pub(crate) ledger: Ledger,
    pub(crate) causes: Causes,
    pub(crate) counts: Counts,
    pub(crate) last_code_line: Physical,
    /// The line of the last data access, by its linear address, and whether that wrote: another access to it changes
    /// nothing.
    pub(crate) again: (u32, bool),
    /// Something was looked up that was not there, since that was last reset.
    pub(crate) missed: bool,
    pub(crate) stores: Stores,
}

/// An access that changes nothing is not known.
pub(crate) const NEVER: (u32, bool) = (u32::MAX, false);

pub struct Machine {
    pub(crate) front: FrontEnd,
    pub(crate) memory: Memory,
    /// The last block ended with a jump, and where execution goes on shows what it did. Only where that matters.
    pub(crate) left: Option<Left>,
    pub(crate) predictor: Option<Predictor>,
    /// Whether TLBs and virtual caches tell spaces apart, so that a switch need not flush them.
    tagged: bool,
    /// Only what it holds is followed.
    only_misses: bool,
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
            left: None,
            predictor: prediction_shape(file).map(Predictor::new),
            tagged: false,
            only_misses: false,
            memory: Memory {
                tlbs,
                l1: cache("l1").unwrap_or_else(|| Cache::new(cache_shape(file, "l1d"))),
                l2: file.has_section("l2").then(|| Cache::new(cache_shape(file, "l2"))),
                walk_reads: match file.choice("walker.reads_through") {
                    "l2" => WalkReads::L2,
                    "l1" => WalkReads::L1,
                    _ => WalkReads::Constant,
                },
                costs: Costs::from_file(file),
                ledger: Ledger::default(),
                causes: Causes::default(),
                counts: Counts::default(),
                last_code_line: Physical(u32::MAX),
                again: NEVER,
                missed: false,
                stores: {
                    let section = if file.has_section("l1") { "l1" } else { "l1d" };
                    let line = file.integer(&format!("{section}.line_bytes")).unwrap_or(1);
                    Stores::new(file.integer("store_forwarding.stores").unwrap_or(0) as usize, line.trailing_zeros())
                },
            },
        }
    }

    /// The same machine, before its first event, if its TLBs, virtual caches and trace cache told address spaces apart,
    /// so that a switch flushed nothing. What is invalidated on purpose still is: a write of CR3 that names the
    /// directory in force is no switch.
    pub fn without_flush(mut self) -> Self {
        self.tagged = true;
        self.enter(true);
        self
    }

    /// From here on TLBs, caches and the front end are asked and misses counted, but no instruction is booked, no jump
    /// predicted and no store followed; or no longer so. What it does afterwards is the same whatever it did before of
    /// that which is left out: nothing is known of jumps then, and the open trace line has come.
    pub fn only_misses(&mut self, on: bool) {
        if self.only_misses != on {
            self.only_misses = on;
            self.left = None;
            self.memory.stores.drain();
            self.predictor.iter_mut().for_each(Predictor::forget);
            self.front.line_has_come();
        }
    }

    pub fn costs(&self) -> &Costs {
        &self.memory.costs
    }

    pub fn ledger(&self) -> &Ledger {
        &self.memory.ledger
    }

    /// Books a cost that is known otherwise than by its events.
    #[inline]
    pub fn book(&mut self, category: Category, milli: u64) {
        self.memory.ledger.add(category, milli);
    }

    /// What refills were charged to; first resolves a switch that no user code has followed yet.
    pub fn causes(&mut self) -> &Causes {
        self.memory.causes.resolve_switch();
        &self.memory.causes
    }

    pub fn counts(&self) -> &Counts {
        &self.memory.counts
    }

    /// Executes all instructions of `block`, the first of which stands at `linear`.
    #[inline]
    pub fn block(&mut self, block: &Block, linear: Linear, tables: &mut dyn Tables<Walk>) {
        if self.only_misses {
            return self.front.fetch(block, linear, &mut self.memory, tables);
        }
        // Hardly any block has more than one category.
        if let [(category, milli), others @ ..] = block.costs() {
            self.memory.ledger.add(*category, *milli);
            others.iter().for_each(|&(category, milli)| self.memory.ledger.add(category, milli));
        }
        self.fetch(block, linear, tables);
        if self.predictor.is_some() || self.memory.costs.branch_taken > 0 {
            let delivered = self.front.delivers();
            self.left = block.jump().map(|last| {
                let next = linear.plus(block.bytes());
                let at = Linear(next.0.wrapping_sub(last.length as u32));
                Left { at, next, jump: last.jump, delivered, paired: last.paired }
            });
        }
    }

    /// Fetches `block` as if it were executed, and executes nothing of it: the same as taking all of it back.
    #[inline(always)]
    pub fn fetch(&mut self, block: &Block, linear: Linear, tables: &mut dyn Tables<Walk>) {
        if self.left.is_some() {
            self.resolve_jump(linear);
        }
        self.memory.stores.drain();
        self.front.fetch(block, linear, &mut self.memory, tables);
    }

    /// Execution goes on at `linear`: that is what the last jump did.
    #[inline(never)]
    pub(crate) fn resolve_jump(&mut self, linear: Linear) {
        let Some(left) = self.left.take() else { return };
        if left.next != linear && matches!(left.jump, Jump::Direct(_)) {
            let taken = self.memory.costs.branch_taken;
            self.memory.ledger.add(Category::Instructions, taken);
            self.front.spend(taken);
        }
        if let Some(predictor) = &mut self.predictor {
            let resolved = predictor.resolve(&left, linear);
            self.memory.missed |= !resolved.known;
            if resolved.mispredicted {
                self.memory.counts.mispredictions += 1;
                let cost = self.memory.costs.mispredicted(left.paired);
                self.memory.stall(cost);
            }
        }
    }

    /// Takes back the cost of some instructions of `block`: a fault kept them from being executed. That their code was
    /// already fetched stands.
    pub fn retract(&mut self, block: &Block, instructions: std::ops::Range<usize>) {
        if self.only_misses {
            return;
        }
        if instructions.end == block.instructions().len() {
            self.left = None;
        }
        let Memory { costs, ledger, .. } = &mut self.memory;
        for (category, milli) in block.costs_of(instructions, costs) {
            ledger.take_back(category, milli);
        }
    }

    /// Whether a data access only repeats the last one, as far as this machine is concerned: it need not be told of it.
    #[inline(always)]
    pub fn has_just_seen(&self, linear: Linear, size: u8, write: bool) -> bool {
        let (shift, (line, wrote)) = (self.memory.l1.line_shift(), self.memory.again);
        let last = linear.plus(size as u32 - 1);
        let same = linear.0 >> shift == line && last.0 >> shift == line && (wrote || !write);
        same && self.memory.stores.indifferent(write)
    }

    /// A data access that was carried out. `physical` belongs to `linear`; an access may straddle two lines.
    #[inline(always)]
    pub fn data(&mut self, linear: Linear, physical: Physical, size: u8, write: bool, tables: &mut dyn Tables<Walk>) {
        self.memory.data(linear, physical, write, tables);
        if !self.only_misses && self.memory.stores.blocks(linear, size, write) {
            self.memory.blocked();
        }
        let last = linear.plus(size as u32 - 1);
        if (last.0 ^ linear.0) >> self.memory.l1.line_shift() != 0 {
            self.second_line(linear, last, physical, write, tables);
        }
    }

    #[inline(never)]
    fn second_line(
        &mut self,
        linear: Linear,
        last: Linear,
        physical: Physical,
        write: bool,
        tables: &mut dyn Tables<Walk>,
    ) {
        let physical = match last.page() == linear.page() {
            true => physical.plus(last.minus(linear)),
            false => match tables.walk(last) {
                Some(walk) => walk.frame.at(last),
                None => return self.memory.missed = true,
            },
        };
        self.memory.data(last, physical, write, tables);
    }

    /// The general way in, one event at a time.
    pub fn event(&mut self, event: &Event, tables: &mut dyn Tables<Walk>) {
        self.memory.again = NEVER;
        match *event {
            Event::Fetch { linear, instruction } => {
                let block = Block::new(vec![instruction], &self.memory.costs);
                self.block(&block, linear, tables);
            }
            Event::Read { linear, physical, size } => self.data(linear, physical, size, false, tables),
            Event::Write { linear, physical, size } => self.data(linear, physical, size, true, tables),
            Event::Cr3Write { directory, at } => {
                let (moment, switched) = self.memory.causes.cr3_written(directory, at);
                if !(switched && self.tagged) {
                    self.memory.tlbs.flush(moment);
                    self.flush_virtual(moment, false);
                }
                self.front.interrupted();
                self.enter(switched);
            }
            Event::UserCode { base } => {
                let switched = self.memory.causes.user_code(base);
                self.enter(switched);
            }
            Event::ControlWrite { global_pages } => {
                let moment = self.memory.causes.invalidated(How::Control);
                self.memory.tlbs.flush_all(global_pages, moment);
                self.flush_virtual(moment, true);
                self.front.interrupted();
            }
            Event::Invlpg { linear } => {
                let moment = self.memory.causes.invalidated(How::Invlpg);
                self.memory.tlbs.invalidate(linear, moment);
                self.front.invalidate_page(linear, moment);
            }
            Event::PageFault { linear } => {
                let moment = self.memory.causes.invalidated(How::PageFault);
                self.memory.tlbs.invalidate(linear, moment);
            }
            Event::Entry(kind) => self.entry(kind),
            Event::LimitFault { .. } => self.limit_fault(),
        }
    }

    fn entry(&mut self, kind: EntryKind) {
        self.front.interrupted();
        if let Some((predictor, left)) = self.predictor.as_mut().zip(self.left.take()) {
            predictor.interrupted(&left);
        }
        self.left = None;
        self.memory.ledger.add(Category::KernelEntryExit, self.memory.costs.entry(kind));
    }

    /// Only the whole cost is known: what the kernel would have displaced from TLBs and caches is not. The rest of the
    /// block, with its jump, is still to come.
    fn limit_fault(&mut self) {
        self.front.interrupted();
        self.memory.ledger.add(Category::LimitFault, self.memory.costs.limit_fault);
    }

    /// Tells all structures of a switch, if it was one.
    fn enter(&mut self, switched: bool) {
        if switched {
            let (since, space) = (self.memory.causes.current(), self.memory.causes.space());
            let running = Running { since, tag: Tag::of_directory(space.directory), tagged: self.tagged };
            self.front.enter(running);
            self.memory.enter(running);
        }
    }

    /// Drops what is virtually tagged: of the space that runs, or `everything`. Modified lines that have to be written
    /// are charged to the flush.
    fn flush_virtual(&mut self, by: Moment, everything: bool) {
        self.front.flush(by, everything);
        for _ in 0..self.memory.l1.flush_virtual(by, everything) {
            self.memory.refill(Category::WriteBack, Loss::Flushed(by), self.memory.costs.memory_write_back);
        }
    }
}

impl Memory {
    fn enter(&mut self, running: Running) {
        self.tlbs.enter(running);
        self.l1.enter(running);
        if let Some(l2) = &mut self.l2 {
            l2.enter(running);
        }
    }

    /// Books what it costs to get something back that was lost, and charges it to what took it.
    #[inline]
    fn refill(&mut self, category: Category, loss: Loss, milli: u64) {
        self.ledger.add(category, milli);
        self.causes.charge(category, loss, milli);
    }

    /// The pipeline waits.
    #[inline]
    pub fn stall(&mut self, milli: u64) {
        self.ledger.add(Category::Stall, milli);
    }

    /// A load waits for a store.
    #[inline(never)]
    fn blocked(&mut self) {
        self.missed = true;
        self.counts.blocked_loads += 1;
        self.stall(self.costs.blocked);
    }

    /// How long a trace line takes to come that is there.
    #[inline]
    pub fn line_time(&self) -> u64 {
        self.costs.line
    }

    /// Starts to build a trace line that was lost so.
    pub fn book_trace_build(&mut self, loss: Loss, milli: u64) {
        self.counts.trace_misses += 1;
        self.refill(Category::TraceRebuild, loss, milli);
    }

    /// Goes on with it.
    pub fn book_more_of_trace(&mut self, loss: Loss, milli: u64) {
        self.ledger.add(Category::TraceRebuild, milli);
        self.causes.charge_more(Category::TraceRebuild, loss, milli);
    }

    /// Looks the pages of a code range up in the ITLB.
    #[inline(always)]
    pub fn translate_code_range(&mut self, linear: Linear, bytes: u32, tables: &mut dyn Tables<Walk>) {
        self.translate_code(linear, tables);
        let last = linear.plus(bytes.max(1) - 1);
        if last.page() != linear.page() {
            self.translate_code(last, tables);
        }
    }

    /// Frame of a code address; a miss is walked and booked.
    #[inline(always)]
    pub fn translate_code(&mut self, linear: Linear, tables: &mut dyn Tables<Walk>) -> Option<Physical> {
        if self.tlbs.shared() {
            self.again = NEVER;
        }
        if let Some(frame) = self.tlbs.lookup_code(linear) {
            return Some(frame);
        }
        self.refill_code_translation(linear, tables)
    }

    #[inline(never)]
    fn refill_code_translation(&mut self, linear: Linear, tables: &mut dyn Tables<Walk>) -> Option<Physical> {
        (self.again, self.missed) = (NEVER, true);
        let walk = tables.walk(linear)?;
        self.counts.itlb_misses += 1;
        let loss = self.tlbs.fill_code(linear, &walk);
        self.counts.itlb_flushed_refills += matches!(loss, Loss::Flushed(_)) as u64;
        let beyond = self.read_walked_entries(&walk);
        self.refill(Category::TlbRefillCode, loss, self.costs.code_refill + beyond);
        Some(walk.frame)
    }

    #[inline(always)]
    fn translate_data(&mut self, linear: Linear, tables: &mut dyn Tables<Walk>) {
        if !self.tlbs.holds_data(linear) {
            self.refill_data(linear, tables);
        }
    }

    #[inline(never)]
    fn refill_data(&mut self, linear: Linear, tables: &mut dyn Tables<Walk>) {
        self.missed = true;
        let Some(walk) = tables.walk(linear) else { return };
        self.counts.dtlb_misses += 1;
        let loss = self.tlbs.fill_data(linear, &walk);
        self.counts.dtlb_flushed_refills += matches!(loss, Loss::Flushed(_)) as u64;
        let beyond = self.read_walked_entries(&walk);
        self.refill(Category::TlbRefillData, loss, self.costs.data_refill(&walk) + beyond);
    }

    /// The refill cost assumes that the entries are in the cache that walks read through; returns what is added by
    /// those that are not.
    fn read_walked_entries(&mut self, walk: &Walk) -> u64 {
        let mut cost = 0;
        for &entry in &walk.entries[..walk.levels()] {
            match self.walk_reads {
                WalkReads::L2 => cost += self.read_second_level(entry, 0).0,
                WalkReads::L1 => {
                    // The tables have no linear address, so a virtual cache finds them by the physical one.
                    let outcome = self.l1.access(self.l1.tag(Linear(entry.0), entry), false);
                    self.book_first_level_write_backs(outcome.write_backs);
                    if outcome.missed.is_some() {
                        cost += self.read_second_level(entry, self.costs.l2_hit).0;
                    }
                }
                WalkReads::Constant => {}
            }
        }
        cost
    }

    /// Reads code bytes for the decoder: ITLB and second-level cache, in lines of the latter (of the data cache if
    /// there is none). The cost of a second-level hit is part of the cost of building a trace line.
    pub fn read_code(&mut self, linear: Linear, bytes: u32, tables: &mut dyn Tables<Walk>) {
        self.missed = true;
        let last = linear.plus(bytes.max(1) - 1);
        let shift = self.l2.as_ref().map_or_else(|| self.l1.line_shift(), Cache::line_shift);
        for line in linear.0 >> shift..=last.0 >> shift {
            let start = Linear(line << shift);
            let Some(frame) = self.translate_code(start.max(linear), tables) else { return };
            let physical = frame.at(start);
            if physical != self.last_code_line {
                self.last_code_line = physical;
                self.read_beyond_first_level(physical, None);
            }
        }
    }

    /// An instruction cache missed.
    pub fn refill_code(&mut self, physical: Physical, loss: Loss) {
        self.read_beyond_first_level(physical, Some(loss));
    }

    pub fn shares_tlb(&self) -> bool {
        self.tlbs.shared()
    }

    pub fn first_level_line_shift(&self) -> u32 {
        self.l1.line_shift()
    }

    /// Looks code up in a unified first-level cache. Returns how the line was lost if it was not there.
    pub fn fetch_unified(&mut self, linear: Linear, physical: Physical) -> Option<Loss> {
        self.again = NEVER;
        let outcome = self.l1.access(self.l1.tag(linear, physical), false);
        self.book_first_level_write_backs(outcome.write_backs);
        outcome.missed
    }

    /// Refills a line of the first level that was lost so; nothing if the reader keeps no lines there. What comes from
    /// memory is charged to what took it from the second level.
    fn read_beyond_first_level(&mut self, physical: Physical, first: Option<Loss>) {
        let hit = if first.is_some() { self.costs.l2_hit } else { 0 };
        let (cost, second) = self.read_second_level(physical, hit);
        match second.or(first) {
            Some(loss) => self.refill(Category::CacheRefill, loss, cost),
            None => self.ledger.add(Category::CacheRefill, cost),
        }
    }

    /// Reads from the second level, where a hit costs `hit`, or from memory. Returns the cost, and how the second level
    /// lost the line if it had to come from memory.
    fn read_second_level(&mut self, physical: Physical, hit: u64) -> (u64, Option<Loss>) {
        (self.again, self.missed) = (NEVER, true);
        let Some(l2) = &mut self.l2 else { return (self.costs.memory_read, None) };
        let outcome = l2.access(physical, false);
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
        (if outcome.hit() { hit } else { self.costs.memory_read }, outcome.missed)
    }

    fn book_first_level_write_backs(&mut self, lines: u32) {
        if lines > 0 {
            let cost = if self.l2.is_some() { self.costs.l2_hit } else { self.costs.memory_write_back };
            self.ledger.add(Category::WriteBack, lines as u64 * cost);
        }
    }

    #[inline(always)]
    fn data(&mut self, linear: Linear, physical: Physical, write: bool, tables: &mut dyn Tables<Walk>) {
        self.translate_data(linear, tables);
        let (tag, through) = (self.l1.tag(linear, physical), !self.l1.shape().write_back);
        if !self.l1.hit(tag, write) {
            self.miss_first_level(tag, physical, write);
        } else if write && through {
            self.write_beyond_first_level(physical, None);
        }
        let stays = !(write && through) || self.l2.as_ref().is_none_or(|l2| l2.is_last(physical));
        self.again = if stays && self.l1.is_last(tag) { (linear.0 >> self.l1.line_shift(), write) } else { NEVER };
    }

    #[inline(never)]
    fn miss_first_level(&mut self, tag: AsTagged, physical: Physical, write: bool) {
        self.missed = true;
        let first = self.l1.miss(tag, write);
        self.book_first_level_write_backs(first.write_backs);
        if write {
            let allocated = first.missed.filter(|_| self.l1.shape().write_allocate);
            if allocated.is_none() {
                self.ledger.add(Category::Stall, self.costs.store);
            }
            self.write_beyond_first_level(physical, allocated);
        } else {
            self.read_beyond_first_level(physical, first.missed);
        }
    }

    /// A store that goes on to the second level. Buffers hide it, unless a line has to be fetched. Without a second
    /// level they hide the store itself; the line that it `allocated` in the first level, lost so before, has to be
    /// fetched.
    #[inline(always)]
    fn write_beyond_first_level(&mut self, physical: Physical, allocated: Option<Loss>) {
        let Some(l2) = &mut self.l2 else {
            if let Some(loss) = allocated {
                self.refill(Category::CacheRefill, loss, self.costs.memory_read);
            }
            return;
        };
        if !l2.hit(physical, true) {
            self.miss_second_level(physical);
        }
    }

    /// A store has not found its line in the second level.
    #[inline(never)]
    fn miss_second_level(&mut self, physical: Physical) {
        self.missed = true;
        let Some(l2) = &mut self.l2 else { return };
        let outcome = l2.miss(physical, true);
        if let Some(loss) = outcome.missed.filter(|_| l2.shape().write_allocate) {
            self.refill(Category::CacheRefill, loss, self.costs.memory_read);
        }
        self.ledger.add(Category::WriteBack, outcome.write_backs as u64 * self.costs.memory_write_back);
    }
}
