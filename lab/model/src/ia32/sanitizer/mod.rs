// SPDX-License-Identifier: GPL-2.0-or-later
//! The sanitizer: finds the invalidations that a kernel forgot, on an emulator that would never miss them.
//!
//! Its TLB never evicts, and holds every translation that could be walked since the last invalidation, asked for or
//! not: a processor may do so. An access is compared with the very entries that such a translation came from.
//! docs/sanitizer.md says how it judges.

mod entry;
mod report;
mod segments;
mod stale;
mod tables;

pub use entry::{Paging, Translation};
pub use report::{Kind, Report, Reports};
pub use segments::{Segment, CS, DS, ES, FLAT, FS, GS, SS};
pub use stale::{Delay, Loss, Stale};

use super::control::{emptying, CR0_PAGING, CR0_WRITE_PROTECT, CR4_GLOBAL_PAGES, CR4_LARGE_PAGES};
use crate::core::reports::of_instruction;
use crate::{Linear, Page, Physical, PhysicalMemory};
use entry::{adds_rights, changes_type, frame, maps_large, takes_away, without_status, GLOBAL, PRESENT};
use serde::Serialize;
use stale::StaleSet;
use tables::{Entry, Tables, ENTRIES};

/// One access to memory, or one that faulted.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Linear address of the instruction.
    pub instruction: u32,
    pub linear: Linear,
    pub size: u32,
    pub write: bool,
    pub user: bool,
    /// The code segment has a base: the space is a relocated one.
    pub moved: bool,
}

/// What a run had of each; as the sanitizer's JSON has it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    pub accesses: u64,
    pub cr3_writes: u64,
    pub full_flushes: u64,
    pub invlpg: u64,
    pub table_stores: u64,
    pub losses: u64,
    pub page_faults: u64,
    /// Accesses that a processor may refuse with a page fault, for what it has cached has since gained the right.
    pub late_rights: u64,
}

/// An instruction that invalidates: how often it was executed, and how often it took something stale away.
#[derive(Clone, Copy, Debug)]
pub struct Invalidator {
    pub instruction: u32,
    /// What it does: `invlpg`, `cr3` or `control` (a write of CR0 or CR4).
    pub by: &'static str,
    pub executed: u64,
    /// How often it dropped anything at all: a CR4 write that changes no bit of paging does not.
    pub effective: u64,
    pub needed: u64,
}

/// An instruction that takes page-table entries away: how often it made a directory entry not present, and how often it
/// cleared the global bit of a page that stayed.
#[derive(Clone, Copy, Debug)]
pub struct Eraser {
    pub instruction: u32,
    pub directory_entries: u64,
    pub global_bits: u64,
}

pub struct Sanitizer {
    tables: Tables,
    stale: StaleSet,
    pub reports: Reports,
    pub counts: Counts,
    invalidators: Vec<Invalidator>,
    erasers: Vec<Eraser>,
    paging: Paging,
    cr3: Physical,
    /// Which of CR0 and CR4's bits were set that empty the TLB when they change.
    emptying: u32,
    now: u64,
    /// When CR3 was last written.
    switched: u64,
    /// Faults on which the kernel has not answered yet.
    pending: Vec<(Access, Stale)>,
    /// Per 4 MB and kind of code segment: looked at since the last switch.
    seen: Vec<u32>,
    generation: u32,
}

impl Default for Sanitizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Sanitizer {
    pub fn new() -> Self {
        Sanitizer {
            tables: Tables::new(),
            stale: StaleSet::new(),
            reports: Reports::default(),
            counts: Counts::default(),
            invalidators: Vec::new(),
            erasers: Vec::new(),
            paging: Paging::default(),
            cr3: Physical(0),
            emptying: 0,
            now: 1,
            switched: 0,
            pending: Vec::new(),
            seen: vec![0; 2 * ENTRIES],
            generation: 1,
        }
    }

    pub fn paging_on(&self) -> bool {
        self.paging.on
    }

    pub fn cr3(&self) -> Physical {
        self.cr3
    }

    pub fn invalidators(&self) -> &[Invalidator] {
        &self.invalidators
    }

    pub fn erasers(&self) -> &[Eraser] {
        &self.erasers
    }

    /// The instructions that took translations away, and for how long those could have been used.
    pub fn delays(&self) -> Vec<Delay> {
        self.stale.delays(self.counts.accesses)
    }

    /// CR0, CR3 or CR4 was written by `instruction`; the values are those after it.
    pub fn control_written(
        &mut self,
        instruction: u32,
        wrote_cr3: bool,
        [cr0, cr3, cr4]: [u32; 3],
        memory: &dyn PhysicalMemory,
    ) {
        self.now += 1;
        self.generation += 1;
        self.paging = Paging {
            on: cr0 & CR0_PAGING != 0,
            write_protect: cr0 & CR0_WRITE_PROTECT != 0,
            large_pages: cr4 & CR4_LARGE_PAGES != 0,
            global_pages: cr4 & CR4_GLOBAL_PAGES != 0,
        };
        let emptying = emptying(cr0, cr4);
        let effective = wrote_cr3 || emptying != self.emptying;
        let mut dropped = 0;
        if emptying != self.emptying {
            self.emptying = emptying;
            dropped += self.stale.drop_all(self.now, self.counts.accesses);
            self.counts.full_flushes += 1;
        }
        if wrote_cr3 {
            dropped += self.stale.drop_local(self.counts.accesses);
            self.switched = self.now;
            self.counts.cr3_writes += 1;
        }
        if self.paging.on {
            self.invalidated(instruction, if wrote_cr3 { "cr3" } else { "control" }, effective, dropped);
        }
        if let Some(old) = self.tables.page_mut(self.cr3.frame()) {
            old.in_force_until = self.now;
        }
        self.now += 1;
        self.cr3 = Physical(cr3);
        if self.paging.on {
            self.enter_directory(memory);
        }
    }

    /// Everything that the directory in force leads to is watched.
    fn enter_directory(&mut self, memory: &dyn PhysicalMemory) {
        let directory = self.cr3.frame();
        if !self.tables.watch(directory, self.now, memory) {
            return;
        }
        let page = self.tables.page_mut(directory).expect("is watched");
        page.in_force_until = self.now;
        let indices = if page.is_directory {
            std::mem::take(&mut page.unlinked)
        } else {
            page.is_directory = true;
            (0..ENTRIES as u16).collect()
        };
        for index in indices {
            let value = self.tables.page(directory).expect("is watched").entries[index as usize].value;
            self.link(directory, index, value, memory);
        }
    }

    fn link(&mut self, directory: Physical, index: u16, value: u32, memory: &dyn PhysicalMemory) {
        if value & PRESENT != 0 && !maps_large(value, self.paging) {
            self.tables.link(frame(value), (directory, index), self.now, memory);
        }
    }

    fn invalidated(&mut self, instruction: u32, by: &'static str, effective: bool, dropped: usize) {
        let new = Invalidator { instruction, by, executed: 0, effective: 0, needed: 0 };
        let known = of_instruction(&mut self.invalidators, |known| known.instruction == instruction, new);
        known.executed += 1;
        known.effective += effective as u64;
        known.needed += (dropped > 0) as u64;
    }

    fn erased(&mut self, instruction: u32, directory: bool, global: bool) {
        let new = Eraser { instruction, directory_entries: 0, global_bits: 0 };
        let known = of_instruction(&mut self.erasers, |known| known.instruction == instruction, new);
        known.directory_entries += directory as u64;
        known.global_bits += global as u64;
    }

    /// `invlpg` of `linear`, executed by `instruction`.
    pub fn invlpg(&mut self, instruction: u32, linear: Linear) {
        self.now += 1;
        self.counts.invlpg += 1;
        let dropped = self.stale.drop_page(linear, self.now, self.counts.accesses);
        self.invalidated(instruction, "invlpg", true, dropped);
    }

    /// Whether a store to `physical` has to be told.
    #[inline]
    pub fn watches(&self, physical: Physical) -> bool {
        self.tables.watches(physical)
    }

    /// `instruction` has stored to watched memory.
    pub fn stored(&mut self, instruction: u32, physical: Physical, size: u32, memory: &dyn PhysicalMemory) {
        for word in physical.0 >> 2..=(physical.0 + size - 1) >> 2 {
            self.entry_stored(instruction, Physical(word << 2), memory);
        }
    }

    fn entry_stored(&mut self, instruction: u32, physical: Physical, memory: &dyn PhysicalMemory) {
        let (holder, index) = (physical.frame(), (physical.0 & 0xfff) >> 2);
        let Some(new) = memory.word(physical) else { return };
        let Some(page) = self.tables.page_mut(holder) else { return };
        let wiped = page.wipes(index, new, self.counts.invlpg + self.counts.cr3_writes);
        self.entry_replaced(instruction, holder, index, new, memory);
        if wiped {
            self.wiped(instruction, holder);
        }
    }

    /// A page was filled with zeros for a new use: entries that still lead to it as a page table are out of date, and
    /// unless it is in force, it is no directory.
    fn wiped(&mut self, instruction: u32, holder: Physical) {
        self.now += 1;
        self.generation += 1;
        if let Some(page) = self.tables.page_mut(holder) {
            page.wiped = (self.now, instruction);
        }
        if holder != self.cr3.frame() {
            self.tables.retire_directory(holder);
        }
    }

    fn entry_replaced(
        &mut self,
        instruction: u32,
        holder: Physical,
        index: u32,
        new: u32,
        memory: &dyn PhysicalMemory,
    ) {
        let Some(page) = self.tables.page_mut(holder) else { return };
        let old = page.entries[index as usize];
        if without_status(old.value) == without_status(new) {
            page.entries[index as usize].value = new;
            return;
        }
        self.now += 1;
        self.counts.table_stores += 1;
        let (is_directory, places) = (page.is_directory, page.places.clone());
        let directory = is_directory && new & PRESENT == 0;
        // Nothing else may differ: a page that was a table once may hold numbers by now that lose the same bit.
        let global = !places.is_empty() && without_status(old.value) == without_status(new | GLOBAL);
        if old.value & PRESENT != 0 && (directory || global) {
            self.erased(instruction, directory, global);
        }
        if is_directory {
            self.directory_entry_changes(instruction, holder, index as u16, old, new, memory);
        }
        let loss = if takes_away(old.value, new) || changes_type(old.value, new) {
            Some(Loss::TableEntry)
        } else {
            adds_rights(old.value, new).then_some(Loss::OlderRights)
        };
        for place in places.into_iter().filter(|_| loss.is_some()) {
            let lost = Lost { instruction, directory: place.0, table: holder, loss: loss.expect("is some") };
            self.lose(&lost, Page((place.1 as u32) << 10 | index), old, None);
        }
        if let Some(page) = self.tables.page_mut(holder) {
            page.entries[index as usize] = Entry { value: new, since: self.now, by: instruction };
        }
    }

    fn directory_entry_changes(
        &mut self,
        instruction: u32,
        directory: Physical,
        index: u16,
        old: Entry,
        new: u32,
        memory: &dyn PhysicalMemory,
    ) {
        self.generation += 1;
        let large = maps_large(old.value, self.paging);
        // in an entry that leads to a table the global bit means nothing
        let weight = if large { u32::MAX } else { !GLOBAL };
        let kind = |entry| Translation::of(entry, 0, self.paging).map(|t| (t.large, t.memory_type));
        if takes_away(old.value & weight, new) || large && kind(old.value) != kind(new) {
            self.lose_region(instruction, directory, index, old);
        }
        let in_force = directory == self.cr3.frame();
        let same_table = !large && new & PRESENT != 0 && frame(old.value) == frame(new);
        if old.value & PRESENT != 0 && !large && !same_table {
            self.tables.unlink(frame(old.value), (directory, index));
        }
        if new & PRESENT == 0 || same_table {
            return;
        }
        if in_force {
            self.link(directory, index, new, memory);
        } else if let Some(page) = self.tables.page_mut(directory) {
            if !page.unlinked.contains(&index) {
                page.unlinked.push(index);
            }
        }
    }

    /// A directory entry has gone: with it everything that could be walked through it.
    fn lose_region(&mut self, instruction: u32, directory: Physical, index: u16, old: Entry) {
        let in_force = self.cr3.frame();
        if directory != in_force {
            let other = self.tables.page(in_force).map(|p| p.entries[index as usize].value);
            if other.map(without_status) == Some(without_status(old.value)) {
                return; // the same translations stay right by the directory in force
            }
        }
        let first = (index as u32) << 10;
        if maps_large(old.value, self.paging) {
            let loss = Lost { instruction, directory, table: Physical(0), loss: Loss::DirectoryEntry };
            return self.lose(&loss, Page(first), Entry::default(), Some(old));
        }
        let table = frame(old.value);
        let Some(page) = self.tables.page(table) else { return };
        let leaves: Vec<(u32, Entry)> = page
            .entries
            .iter()
            .enumerate()
            .filter(|(_, e)| e.value & PRESENT != 0)
            .map(|(i, e)| (i as u32, *e))
            .collect();
        for (leaf, entry) in leaves {
            let loss = Lost { instruction, directory, table, loss: Loss::DirectoryEntry };
            self.lose(&loss, Page(first | leaf), entry, Some(old));
        }
    }

    /// The translation of `page` by `leaf` (and by `directory_entry`, or what stands in the directory) is no longer
    /// backed. If it may be cached, it is stale from now on.
    fn lose(&mut self, lost: &Lost, page: Page, leaf: Entry, directory_entry: Option<Entry>) {
        let Some(directory) = self.tables.page(lost.directory) else { return };
        let above = directory_entry.unwrap_or(directory.entries[page.0 as usize >> 10]);
        let Some(cached) = Translation::of(above.value, leaf.value, self.paging) else { return };
        let in_force = lost.directory == self.cr3.frame();
        let since = above.since.max(leaf.since);
        let kept = in_force || cached.global && directory.in_force_until > self.stale.kept_since(page);
        let walked = in_force || directory.in_force_until >= since;
        if !kept || !walked || !self.paging.on {
            return;
        }
        self.counts.losses += (lost.loss != Loss::OlderRights) as u64;
        let table_entry = if cached.large { Physical(0) } else { lost.table.plus(4 * (page.0 & 0x3ff)) };
        let entries = [(lost.directory.plus(4 * (page.0 >> 10)), above.value), (table_entry, leaf.value)];
        let accesses = self.counts.accesses;
        let stale = Stale { cached, entries, loss: lost.loss, store: lost.instruction, when: self.now, accesses };
        self.stale.add(page, stale);
    }

    /// The guest has accessed memory, or fetched an instruction (`access.instruction` itself).
    #[inline]
    pub fn access(&mut self, access: &Access, memory: &dyn PhysicalMemory) {
        self.counts.accesses += 1;
        if self.stale.touches(access.linear) {
            self.judge(access, memory);
        }
        let last = access.linear.plus(access.size - 1);
        if last.page() != access.linear.page() && self.stale.touches(last) {
            self.judge(&Access { linear: last.page().start(), ..*access }, memory);
        }
        if access.user && self.seen[(access.linear.0 >> 22) as usize * 2 + access.moved as usize] != self.generation {
            self.first_user_access(access);
        }
    }

    #[cold]
    fn judge(&mut self, access: &Access, memory: &dyn PhysicalMemory) {
        let used = self.stale.at(access.linear).find(|stale| self.is_used(access, stale, memory)).copied();
        if let Some(stale) = used {
            return self.report_stale(access, &stale, false);
        }
        let refused = self.stale.at(access.linear).any(|stale| self.is_refused(access, stale, memory));
        self.counts.late_rights += refused as u64;
    }

    /// Whether `stale` could have made a page fault of an access that the page tables permit: legal, for a fault takes
    /// the translation away, but not every kernel expects it.
    fn is_refused(&self, access: &Access, stale: &Stale, memory: &dyn PhysicalMemory) -> bool {
        !stale.cached.permits(access.write, access.user, self.paging.write_protect)
            && self.agrees(access, stale, memory)
    }

    /// Whether the access could have been served by `stale`, to another effect than by the page tables as they are.
    fn is_used(&self, access: &Access, stale: &Stale, memory: &dyn PhysicalMemory) -> bool {
        self.would_serve(access, stale, memory) && !self.agrees(access, stale, memory)
    }

    fn would_serve(&self, access: &Access, stale: &Stale, memory: &dyn PhysicalMemory) -> bool {
        if !stale.cached.permits(access.write, access.user, self.paging.write_protect) {
            return false;
        }
        let [directory, table] = stale.entries.map(|(at, _)| memory.word(at).unwrap_or(0));
        let source = Translation::of(directory, table, self.paging);
        let restored = source.is_some_and(|s| {
            s.frame_at(access.linear) == stale.cached.frame_at(access.linear)
                && s.permits(access.write, access.user, self.paging.write_protect)
                && s.global == stale.cached.global
                && s.memory_type == stale.cached.memory_type
        });
        !restored
    }

    /// Whether the page tables in force give what is cached.
    fn agrees(&self, access: &Access, stale: &Stale, memory: &dyn PhysicalMemory) -> bool {
        let directory = memory.word(self.cr3.frame().plus(4 * (access.linear.0 >> 22))).unwrap_or(0);
        let table = memory.word(frame(directory).plus(4 * (access.linear.page().0 & 0x3ff))).unwrap_or(0);
        Translation::of(directory, table, self.paging).is_some_and(|now| {
            now.frame_at(access.linear) == stale.cached.frame_at(access.linear)
                && now.memory_type == stale.cached.memory_type
                && now.permits(access.write, access.user, self.paging.write_protect)
        })
    }

    /// A page fault was raised that a processor with a stale translation would not have seen. What it is worth shows
    /// when the kernel has answered: if it only put the same translation back, nothing is lost.
    pub fn faulted(&mut self, access: &Access, memory: &dyn PhysicalMemory) {
        self.counts.page_faults += 1;
        if access.user {
            self.first_user_access(access);
        }
        if !self.stale.touches(access.linear) {
            return;
        }
        let stale: Vec<Stale> =
            self.stale.at(access.linear).filter(|s| self.would_serve(access, s, memory)).copied().collect();
        if stale.is_empty() {
            self.now += 1;
            self.stale.drop_page(access.linear, self.now, self.counts.accesses);
            // a processor that faults forgets the page
        }
        self.pending.extend(stale.into_iter().map(|s| (*access, s)));
    }

    /// User code runs again: has the kernel answered the faults by what was cached?
    #[inline]
    pub fn user_resumed(&mut self, memory: &dyn PhysicalMemory) {
        if !self.pending.is_empty() {
            for (access, stale) in std::mem::take(&mut self.pending) {
                if !self.agrees(&access, &stale, memory) {
                    self.report_stale(&access, &stale, true);
                }
            }
        }
    }

    fn report_stale(&mut self, access: &Access, stale: &Stale, faulted: bool) {
        let kind = match stale.loss {
            _ if stale.cached.global && stale.when < self.switched => Kind::StaleGlobal,
            Loss::TableEntry | Loss::OlderRights => Kind::StaleTranslation,
            Loss::DirectoryEntry => Kind::StaleDirectoryEntry,
        };
        let changed = stale.entries[(stale.loss != Loss::DirectoryEntry) as usize];
        let detail = format!(
            "cached frame {:x}{}{}, from directory entry {:x} = {:x} and table entry {:x} = {:x}",
            stale.cached.frame_at(access.linear),
            if stale.cached.writable { " writable" } else { "" },
            if stale.cached.global { " global" } else { "" },
            stale.entries[0].0,
            stale.entries[0].1,
            stale.entries[1].0,
            stale.entries[1].1,
        );
        self.report(kind, access, faulted, stale.store, changed.0, detail);
    }

    /// A report of what is judged elsewhere, as segments are; `store` is the instruction that made it wrong.
    pub fn report(&mut self, kind: Kind, access: &Access, faulted: bool, store: u32, entry: Physical, detail: String) {
        self.reports.add(Report {
            kind,
            instruction: access.instruction,
            user: access.user,
            tables: self.cr3,
            address: access.linear,
            write: access.write,
            faulted,
            store,
            entry,
            detail,
            count: 1,
        });
    }

    /// A space whose segments have a base goes through copied directory entries. If the table behind one was wiped
    /// since, or has served user code at another linear address, its space has left the slot and the copy was
    /// forgotten.
    #[cold]
    fn first_user_access(&mut self, access: &Access) {
        let index = access.linear.0 >> 22;
        self.seen[index as usize * 2 + access.moved as usize] = self.generation;
        let directory = self.cr3.frame();
        let place = (directory, index as u16);
        let Some(entry) = self.tables.page(directory).map(|p| p.entries[index as usize]) else { return };
        if entry.value & PRESENT == 0 || maps_large(entry.value, self.paging) {
            return;
        }
        self.now += 1;
        let now = self.now;
        let Some(table) = self.tables.page_mut(frame(entry.value)) else { return };
        let gone = table.uses.iter().any(|&(p, when)| p.1 != place.1 && when > entry.since);
        let wiped = table.wiped;
        match table.uses.iter_mut().find(|(p, _)| *p == place) {
            Some((_, when)) => *when = now,
            None => table.uses.push((place, now)),
        }
        if access.moved && (gone || wiped.0 > entry.since) {
            let at = directory.plus(4 * index);
            let what = if gone { "in use at another address" } else { "wiped" };
            let detail = format!("directory entry {at:x} leads to table {:x}, since {what}", frame(entry.value));
            let store = if gone { entry.by } else { wiped.1 };
            self.report(Kind::StaleCopy, access, false, store, at, detail);
        }
    }
}

/// What is common to the translations that one store makes stale.
struct Lost {
    instruction: u32,
    directory: Physical,
    table: Physical,
    loss: Loss,
}
