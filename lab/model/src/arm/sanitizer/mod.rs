// SPDX-License-Identifier: GPL-2.0-or-later
//! The sanitizer for ARM: finds forgotten operations on TLBs and virtual caches, on an emulator that has neither.
//!
//! Whatever could be cached counts as cached until an operation takes it away, and whatever is dirty may reach memory
//! at any time or never. An access is compared with all of it. docs/sanitizer.md says how it judges.

mod code_cache;
mod data_cache;
mod report;
mod translations;

pub use report::{Kind, Report, Reports};

use super::tables::NO_ENTRY;
use super::{translate, Operation, Side, Translation};
use crate::core::reports::of_instruction;
use crate::{Linear, Physical, PhysicalMemory};
use code_cache::CodeCache;
use data_cache::{DataCache, LINE_SHIFT, SETS};
use serde::Serialize;
use std::collections::HashMap;
use translations::{Stale, Translations};

/// What the processor is set to.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub memory: &'a dyn PhysicalMemory,
    pub table_base: Physical,
    pub domain_access: u32,
}

/// One access to memory, or one that faulted.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Address of the instruction, before relocation.
    pub instruction: u32,
    pub mva: Linear,
    pub write: bool,
    pub user: bool,
}

/// What a run had of each; as the sanitizer's JSON has it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    pub accesses: u64,
    pub operations: u64,
    pub faults: u64,
}

/// An instruction that operates on TLBs or caches: how often it was executed, and how often it took something away:
/// stale translations, lines, dirty words.
#[derive(Clone, Copy, Debug)]
pub struct Invalidator {
    pub instruction: u32,
    pub operation: Operation,
    pub executed: u64,
    pub needed: u64,
}

/// An instruction that has stored to memory which was to be watched: how often, and how often that only cleared bits
/// there.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub instruction: u32,
    pub executed: u64,
    pub cleared: u64,
}

/// Kilobytes whose translation is remembered.
const KNOWN: usize = 4096;
/// A data cache that can only be cleaned by reading is cleaned by so many lines one after the other (SA-1110: 8 KB).
const CLEANING_LINES: u32 = 256;
const WAYS: u32 = CLEANING_LINES / SETS as u32;

/// Lines that are read one after the other, perhaps to clean the data cache.
#[derive(Default)]
struct Sweep {
    /// The next line; 0 if there is no sweep.
    next: Linear,
    lines: u32,
    /// Those of each set that were not in the cache before.
    misses: [u32; SETS],
}

pub struct Sanitizer {
    data: DataCache,
    code: CodeCache,
    translations: Translations,
    pub reports: Reports,
    pub counts: Counts,
    invalidators: Vec<Invalidator>,
    /// Stores to these addresses are noted by their instructions: first address, and how many bytes.
    pub watched: Vec<(Linear, u32)>,
    marks: Vec<Mark>,
    /// What was stored there last, by physical address.
    noted: HashMap<Physical, u32>,
    /// Faults on which the kernel has not answered yet.
    pending: Vec<(Access, Side, Stale)>,
    /// By kilobyte: its number, the generation in which it was walked, and what was found.
    known: Vec<(u32, u32, Translation)>,
    /// Moves on with everything after which code that was looked at has to be looked at again.
    generation: u32,
    /// The instruction that drained the write buffer last.
    last_drain: u32,
    sweep: Sweep,
    /// The processor has no operation for its whole data cache, as far as was seen: it is the SA-1110 (manual, 6.3).
    cleaned_by_reading: bool,
}

impl Default for Sanitizer {
    fn default() -> Self {
        let nothing = Translation {
            frame: Physical(0),
            shift: 12,
            domain: 0,
            access: 0,
            cached: false,
            buffered: false,
            entries: [NO_ENTRY; 2],
        };
        Sanitizer {
            data: DataCache::default(),
            code: CodeCache::new(),
            translations: Translations::new(),
            reports: Reports::default(),
            counts: Counts::default(),
            invalidators: Vec::new(),
            watched: Vec::new(),
            marks: Vec::new(),
            noted: HashMap::new(),
            pending: Vec::new(),
            known: vec![(u32::MAX, 0, nothing); KNOWN],
            generation: 1,
            last_drain: 0,
            sweep: Sweep::default(),
            cleaned_by_reading: true,
        }
    }
}

impl Sanitizer {
    /// The MMU was turned on.
    pub fn start(&mut self, view: View) {
        self.translations.put_in_force(view.table_base, view.memory);
        self.generation += 1;
    }

    pub fn invalidators(&self) -> &[Invalidator] {
        &self.invalidators
    }

    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    #[cold]
    fn mark(&mut self, instruction: u32, physical: Physical, view: View) {
        let word = Physical(physical.0 & !3);
        let new = view.memory.word(word).unwrap_or(0);
        let old = self.noted.insert(word, new).unwrap_or(0);
        let first = Mark { instruction, executed: 0, cleared: 0 };
        let mark = of_instruction(&mut self.marks, |mark| mark.instruction == instruction, first);
        mark.executed += 1;
        mark.cleared += (new & !old == 0) as u64;
    }

    /// As long as it is the same, fetching again what was fetched tells nothing new.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The guest has accessed data.
    #[inline]
    pub fn access(&mut self, access: &Access, view: View) {
        self.counts.accesses += 1;
        let Some(found) = self.translate(access, Side::Data, view) else { return };
        let physical = found.physical(access.mva);
        if found.cached && self.cleaned_by_reading {
            match found.buffered {
                true => self.clean_by_reading(access),
                false => self.data.in_mini_cache(access.mva),
            }
        }
        let Self { data, reports, .. } = self;
        let mut trouble = |trouble| report_data(reports, access, view, physical, trouble);
        if found.cached {
            data.access(access.mva, physical, access.write, access.instruction, &mut trouble);
        } else {
            data.uncached(physical, found.buffered, access.write, access.instruction, &mut trouble);
        }
        if access.write {
            self.written(access, physical, view);
        }
    }

    #[inline]
    fn written(&mut self, access: &Access, physical: Physical, view: View) {
        if !access.user && self.watched.iter().any(|&(first, bytes)| access.mva.minus(first) < bytes) {
            self.mark(access.instruction, physical, view);
        }
        if self.code.holds(physical) {
            self.code.stored(physical, access.instruction);
            self.generation += 1;
        }
        if self.translations.watches(physical) {
            self.translations.stored(physical, access.instruction, view.memory);
            self.generation += 1;
        }
    }

    /// Reading as much as the cache holds, none of which is in it, displaces everything else: within a set the SA-1110
    /// replaces its lines in turn. So does reading twice as much, of which at most half can have been in it.
    #[inline]
    fn clean_by_reading(&mut self, access: &Access) {
        if access.write || access.user || access.mva.0 & ((1 << LINE_SHIFT) - 1) != 0 {
            return;
        }
        if access.mva != self.sweep.next || access.mva.0 == 0 {
            if access.mva.0 & ((CLEANING_LINES << LINE_SHIFT) - 1) != 0 {
                return;
            }
            self.sweep = Sweep::default();
        }
        let line = access.mva.0 >> LINE_SHIFT;
        self.sweep.next = access.mva.plus(1 << LINE_SHIFT);
        self.sweep.misses[line as usize % SETS] += !self.data.holds(access.mva) as u32;
        self.sweep.lines += 1;
        if self.sweep.lines >= 2 * CLEANING_LINES || self.sweep.misses.iter().all(|&many| many >= WAYS) {
            self.data.displace(|other| line.wrapping_sub(other) < CLEANING_LINES);
            self.sweep = Sweep::default();
        }
    }

    /// The guest executes the instructions from `access.mva` on.
    pub fn fetch(&mut self, access: &Access, bytes: u32, view: View) {
        let end = access.mva.plus(bytes - 1).0 >> LINE_SHIFT;
        for line in access.mva.0 >> LINE_SHIFT..=end {
            let access = Access { mva: Linear(line << LINE_SHIFT).max(access.mva), ..*access };
            self.counts.accesses += 1;
            let Some(found) = self.translate(&access, Side::Code, view) else { return };
            let physical = found.physical(access.mva);
            if let Some(by) = self.data.line_not_in_memory(physical) {
                let detail = format!("frame {physical:x}");
                report(&mut self.reports, Kind::UncleanedCode, &access, view, (by, false), detail);
            }
            let (kind, by, detail) = match found.cached.then(|| self.code.fetch(access.mva, physical)).flatten() {
                Some(code_cache::Trouble::OldLine { by }) => (Kind::OldCode, by, format!("frame {physical:x}")),
                Some(code_cache::Trouble::ForeignLine { physical: held }) => {
                    (Kind::ForeignCode, 0, format!("frame {physical:x}, the line may be of {held:x}"))
                }
                None => continue,
            };
            report(&mut self.reports, kind, &access, view, (by, false), detail);
        }
    }

    /// The translation of an access that is going through, compared with what the TLBs may have.
    #[inline]
    fn translate(&mut self, access: &Access, side: Side, view: View) -> Option<Translation> {
        let kilobyte = access.mva.0 >> 10;
        let known = &self.known[kilobyte as usize % KNOWN];
        let found = match known.0 == kilobyte && known.1 == self.generation {
            true => known.2,
            false => self.walk(access, view)?,
        };
        if self.translations.suspects(access.mva) {
            self.judge(access, side, &found, view);
        }
        Some(found)
    }

    fn walk(&mut self, access: &Access, view: View) -> Option<Translation> {
        let found = translate(view.memory, view.table_base, access.mva)?;
        self.look_at_entries(access, &found.entries, view);
        let kilobyte = access.mva.0 >> 10;
        self.known[kilobyte as usize % KNOWN] = (kilobyte, self.generation, found);
        Some(found)
    }

    fn look_at_entries(&mut self, access: &Access, entries: &[(Physical, u32)], view: View) {
        for &(at, value) in entries.iter().filter(|(at, _)| *at != Physical(0)) {
            if let Some(by) = self.data.not_in_memory(at) {
                let detail = format!("entry {at:x} = {value:x}");
                report(&mut self.reports, Kind::UncleanedEntry, access, view, (by, false), detail);
            }
        }
    }

    #[cold]
    fn judge(&mut self, access: &Access, side: Side, found: &Translation, view: View) {
        for stale in self.translations.stale(access.mva, side, view.memory) {
            let served = permits(&stale.cached, access, view.domain_access);
            if served && agrees(&stale.cached, found, access.mva) {
                continue;
            }
            self.report_stale(access, &stale, served, false, view);
        }
    }

    fn report_stale(&mut self, access: &Access, stale: &Stale, served: bool, faulted: bool, view: View) {
        let kind = match (stale.entry, served) {
            (Physical(0), _) => Kind::StaleTables,
            (_, true) => Kind::StaleTranslation,
            (_, false) => Kind::StaleRefusal,
        };
        let Translation { domain, access: permission, entries: [first, second], .. } = stale.cached;
        let detail = format!(
            "cached frame {:x}, domain {domain}, access {permission}, from first-level entry {:x} = {:x} and \
             second-level entry {:x} = {:x}",
            stale.cached.physical(access.mva).0 & !0x3ff,
            first.0,
            first.1,
            second.0,
            second.1
        );
        report(&mut self.reports, kind, access, view, (stale.store, faulted), detail);
    }

    /// The access was refused. What a stale translation would have made of it shows when the kernel has answered.
    pub fn faulted(&mut self, access: &Access, side: Side, view: View) {
        self.counts.faults += 1;
        let Linear(mva) = access.mva;
        let first = Physical(view.table_base.0 | mva >> 20 << 2);
        let entry = view.memory.word(first).unwrap_or(0);
        let second = Physical(if entry & 3 == 1 { entry & 0xffff_fc00 | (mva >> 12 & 0xff) << 2 } else { 0 });
        self.look_at_entries(access, &[(first, entry), (second, view.memory.word(second).unwrap_or(0))], view);
        for stale in self.translations.stale(access.mva, side, view.memory) {
            if permits(&stale.cached, access, view.domain_access) {
                self.pending.push((*access, side, stale));
            }
        }
    }

    /// User code runs again: has the kernel answered the faults by what was cached?
    #[inline]
    pub fn user_resumed(&mut self, view: View) {
        if self.pending.is_empty() {
            return;
        }
        for (access, _, stale) in std::mem::take(&mut self.pending) {
            let now = translate(view.memory, view.table_base, access.mva);
            if !now.is_some_and(|now| agrees(&stale.cached, &now, access.mva)) {
                self.report_stale(&access, &stale, true, true, view);
            }
        }
    }

    /// The instruction at `at` operates on TLBs or caches, or has written a register, whose new value `view` has.
    pub fn operation(&mut self, operation: Operation, operand: u32, at: u32, view: View) {
        use Operation::*;
        self.counts.operations += 1;
        let shows = match operation {
            Control | TableBase => true,
            InvalidateCache(side) | InvalidateLine(side) => side.code(),
            DomainAccess => self.translations.any_stale(),
            _ => false,
        };
        self.generation += shows as u32;
        let Self { data, code, translations, .. } = self;
        // Of an entry or a line.
        let mva = Linear(operand);
        let needed = match operation {
            Control | TableBase => {
                translations.put_in_force(view.table_base, view.memory);
                false
            }
            InvalidateTlb(side) => translations.flush(side, |entry| data.not_in_memory(entry).is_some()),
            InvalidateTlbEntry(side) => translations.invalidate(mva, side, |entry| data.not_in_memory(entry).is_some()),
            InvalidateCache(side) => {
                let old = side.code() && code.invalidate_all();
                side.data() && data.invalidate_all(at) || old
            }
            InvalidateLine(Side::Code) => code.invalidate(mva),
            InvalidateLine(_) => data.invalidate(mva, at),
            CleanLine => data.clean(mva),
            CleanInvalidateLine => data.clean(mva) | data.invalidate(mva, at),
            TestClean => {
                self.cleaned_by_reading = false;
                data.clean_all()
            }
            TestCleanInvalidate => {
                self.cleaned_by_reading = false;
                data.clean_all() | data.invalidate_all(at)
            }
            DrainWriteBuffer => {
                let before = std::mem::replace(&mut self.last_drain, at);
                if data.drain() {
                    self.invalidators
                        .iter_mut()
                        .filter(|known| known.instruction == before)
                        .for_each(|known| known.needed += 1);
                }
                false
            }
            DomainAccess | ProcessId | InvalidateSlot | CleanSlot | CleanInvalidateSlot | Wait | Other => false,
        };
        self.count(operation, at, needed);
    }

    fn count(&mut self, operation: Operation, instruction: u32, needed: bool) {
        let new = Invalidator { instruction, operation, executed: 0, needed: 0 };
        let known = of_instruction(&mut self.invalidators, |known| known.instruction == instruction, new);
        known.executed += 1;
        known.needed += needed as u64;
    }
}

/// Whether a TLB with this entry lets the access through (ARM Architecture Reference Manual, B4.3; the S and R bits are
/// 0).
fn permits(cached: &Translation, access: &Access, domain_access: u32) -> bool {
    match domain_access >> (2 * cached.domain) & 3 {
        3 => true,
        1 => match cached.access {
            0 => false,
            1 => !access.user,
            2 => !(access.user && access.write),
            _ => true,
        },
        _ => false,
    }
}

/// Whether both lead to the same memory in the same way.
fn agrees(cached: &Translation, now: &Translation, mva: Linear) -> bool {
    cached.physical(mva) == now.physical(mva) && cached.cached == now.cached && cached.buffered == now.buffered
}

fn report(
    reports: &mut Reports,
    kind: Kind,
    access: &Access,
    view: View,
    (store, faulted): (u32, bool),
    detail: String,
) {
    let Access { instruction, mva: address, write, user } = *access;
    let tables = view.table_base;
    let (entry, count) = (Physical(0), 1);
    reports.add(Report { kind, instruction, user, tables, address, write, faulted, store, entry, detail, count });
}

#[cold]
fn report_data(reports: &mut Reports, access: &Access, view: View, physical: Physical, trouble: data_cache::Trouble) {
    use data_cache::Trouble::*;
    let (kind, by, detail) = match trouble {
        DirtyAlias { mva, by } => (Kind::DirtyAlias, by, format!("frame {physical:x}, dirty at {mva:08x}")),
        OldLine { by } => (Kind::OldLine, by, format!("frame {physical:x}")),
        ForeignLine { physical: held, by } => {
            (Kind::ForeignLine, by, format!("frame {physical:x}, the line may be of {held:x}"))
        }
        Lost { by } => (Kind::LostLine, by, format!("frame {physical:x}")),
        Undrained { by } => (Kind::Undrained, by, format!("frame {physical:x}")),
    };
    report(reports, kind, access, view, (by, false), detail);
}
