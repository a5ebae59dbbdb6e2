// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests with an IA-32 processor.

mod counters;
mod events;

pub use events::Events;

use crate::core::format::{self, tag};
use crate::core::processor::{self, Processor};
use cobnut_model::ia32::{
    self as model, Block, Costs, Counts, EntryKind, Event, Hits, Instruction, Machine, Situation, Walk,
};
use cobnut_model::{Architecture, Category, Causes, Ledger, Linear, Lookup, MachineFile, Physical, Tables, CATEGORIES};
use std::ops::Range;

pub struct Ia32;

impl Processor for Ia32 {
    const ARCHITECTURE: Architecture = Architecture::Ia32;
    const COUNTERS: &'static [&'static str] = &counters::NAMES;
    type Counters = [u64; counters::NAMES.len()];
    const INSTRUCTIONS: [usize; 4] = [0, 1, 2, 3];
    const DISTURBANCES: &'static [usize] = &[counters::ENTRIES_IRQ, counters::ENTRIES_FAULT];
    const PHYSICAL: bool = true;
    const ROWS: &'static [Category] = &{
        let mut rows = [Category::Instructions; CATEGORIES.len()];
        let mut row = 0;
        while row < rows.len() {
            rows[row] = CATEGORIES[row].0;
            row += 1;
        }
        rows
    };

    type Instruction = Instruction;

    fn length(instruction: &Instruction) -> u32 {
        instruction.length as u32
    }

    fn raised_by(instruction: &Instruction) -> &'static [usize] {
        counters::raised_by(instruction.class)
    }

    const INSTRUCTION_BYTES: usize = Instruction::BYTES;

    fn write_instruction(instruction: &Instruction, to: &mut Vec<u8>) {
        to.extend(instruction.to_bytes());
    }

    fn read_instruction(bytes: &[u8]) -> Option<Instruction> {
        let found = Instruction::from_bytes(bytes.try_into().ok()?)?;
        (1..=format::LONGEST_INSTRUCTION).contains(&found.length).then_some(found)
    }

    type Event = Event;

    fn counters_of(event: &Event) -> &'static [usize] {
        match event {
            Event::Entry(EntryKind::Fault) => &[counters::ENTRIES_FAULT],
            Event::Entry(EntryKind::Interrupt) => &[counters::ENTRIES_IRQ],
            Event::LimitFault { .. } => &[counters::LIMIT_FAULTS],
            _ => &[],
        }
    }

    fn write_event(event: &Event) -> (u8, Vec<u32>) {
        match *event {
            Event::Cr3Write { directory, at } => (tag::CR3_WRITE, vec![directory.0, at]),
            Event::ControlWrite { global_pages } => (tag::CONTROL_WRITE, vec![global_pages as u32]),
            Event::Invlpg { linear } => (tag::INVLPG, vec![linear.0]),
            Event::PageFault { linear } => (tag::PAGE_FAULT, vec![linear.0]),
            Event::Entry(EntryKind::Fault) => (tag::FAULT, Vec::new()),
            Event::Entry(EntryKind::Interrupt) => (tag::INTERRUPT, Vec::new()),
            Event::UserCode { base } => (tag::USER_CODE, vec![base.0]),
            Event::LimitFault { linear } => (tag::LIMIT_FAULT, vec![linear.0]),
            Event::Fetch { .. } | Event::Read { .. } | Event::Write { .. } => {
                unreachable!("runs and data accesses have calls of their own")
            }
        }
    }

    fn read_event(tag: u8, word: &mut dyn FnMut() -> Option<u32>) -> Option<Event> {
        Some(match tag {
            tag::CR3_WRITE => Event::Cr3Write { directory: Physical(word()?), at: word()? },
            tag::CONTROL_WRITE => Event::ControlWrite { global_pages: word()? != 0 },
            tag::INVLPG => Event::Invlpg { linear: Linear(word()?) },
            tag::PAGE_FAULT => Event::PageFault { linear: Linear(word()?) },
            tag::FAULT => Event::Entry(EntryKind::Fault),
            tag::INTERRUPT => Event::Entry(EntryKind::Interrupt),
            tag::USER_CODE => Event::UserCode { base: Linear(word()?) },
            tag::LIMIT_FAULT => Event::LimitFault { linear: Linear(word()?) },
            _ => return None,
        })
    }

    fn stands(kept: &mut Vec<Event>, event: &Event) {
        match event {
            Event::Cr3Write { .. } => kept.retain(|one| matches!(one, Event::ControlWrite { .. })),
            Event::ControlWrite { .. } => kept.retain(|one| !matches!(one, Event::ControlWrite { .. })),
            Event::UserCode { .. } => kept.retain(|one| !matches!(one, Event::UserCode { .. })),
            _ => return,
        }
        kept.push(*event);
    }

    fn tables_after(event: &Event) -> Option<Physical> {
        match *event {
            Event::Cr3Write { directory, .. } => Some(directory),
            _ => None,
        }
    }

    type Mapping = Walk;
    const PAGE_SHIFT: u32 = 12;

    fn as_told(walk: Walk) -> Walk {
        walk
    }

    fn write_mapping(page: Linear, walk: &Walk) -> [u32; 4] {
        let flags = (walk.large as u8 * format::MAPPED_LARGE) | (walk.global as u8 * format::MAPPED_GLOBAL);
        [page.0 | flags as u32, walk.frame.0, walk.entries[0].0, walk.entries[1].0]
    }

    fn read_mapping([page, frame, directory_entry, table_entry]: [u32; 4]) -> Option<(Linear, Walk)> {
        let (large, global) = (page as u8 & format::MAPPED_LARGE != 0, page as u8 & format::MAPPED_GLOBAL != 0);
        let entries = [directory_entry, table_entry].map(Physical);
        Some((Linear(page).page().start(), Walk { frame: Physical(frame).frame(), large, global, entries }))
    }

    type Costs = Costs;

    fn costs(file: &MachineFile) -> Costs {
        Costs::from_file(file)
    }

    fn doubt(file: &MachineFile) -> Option<(usize, &'static str)> {
        let lacks_sysenter = file.milli("entry.sysenter_sysexit_cycles").is_none();
        let told = "the machine has no sysenter: the guest used it, and it cost nothing";
        lacks_sysenter.then_some((counters::ENTRIES_SYSENTER, told))
    }

    const PREPARES: bool = true;
    type Block = Block;
    type Machine = Machine;
}

/// For events that ask for no translation.
struct NoTables;

impl Tables<Walk> for NoTables {
    fn walk(&mut self, _at: Linear) -> Option<Walk> {
        None
    }
}

impl processor::Checkpoint<Counts> for model::Checkpoint {
    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn counts(&self) -> &Counts {
        self.counts()
    }

    fn same_state(&self, other: &Self) -> bool {
        self.same_state(other)
    }
}

impl processor::Machine<Ia32> for Machine {
    fn new(file: &MachineFile) -> Self {
        Machine::new(file)
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn causes(&mut self) -> &Causes {
        self.causes()
    }

    type Counts = Counts;

    fn counts(&self) -> &Counts {
        self.counts()
    }

    #[inline(always)]
    fn block(&mut self, block: &Block, at: Linear, tables: &mut impl Tables<Walk>) {
        self.block(block, at, tables);
    }

    #[inline(always)]
    fn fetch(&mut self, block: &Block, at: Linear, tables: &mut impl Tables<Walk>) {
        self.fetch(block, at, tables);
    }

    fn retract(&mut self, block: &Block, instructions: Range<usize>) {
        self.retract(block, instructions);
    }

    #[inline(always)]
    fn data(&mut self, at: Linear, physical: Physical, size: u8, write: bool, tables: &mut impl Tables<Walk>) {
        self.data(at, physical, size, write, tables);
    }

    fn event(&mut self, event: &Event, tables: &mut impl Tables<Walk>) {
        self.event(event, tables);
    }

    fn without_flush(self) -> Self {
        self.without_flush()
    }

    fn stand(&mut self, event: &Event) {
        self.event(event, &mut NoTables);
    }

    fn only_misses(&mut self, on: bool) {
        self.only_misses(on);
    }

    #[inline(always)]
    fn has_just_seen(&self, at: Linear, size: u8, write: bool) -> bool {
        self.has_just_seen(at, size, write)
    }

    #[inline(always)]
    fn book(&mut self, category: Category, milli: u64) {
        self.book(category, milli);
    }

    type Checkpoint = model::Checkpoint;

    fn checkpoint(&self) -> Option<model::Checkpoint> {
        Some(self.checkpoint())
    }

    fn repeatable(&self, from: &model::Checkpoint) -> u64 {
        self.repeatable(from)
    }

    fn repeat(&mut self, from: &model::Checkpoint, times: u64) {
        self.repeat(from, times);
    }

    type Situation = Situation;
    type Hits = Hits;
    type Lookup = Lookup;

    #[inline(always)]
    fn situation(&mut self, at: Linear) -> Option<Situation> {
        Some(self.situation(at))
    }

    fn watch(&mut self) {
        self.watch();
    }

    fn watched(&mut self, lookups: &mut Vec<Lookup>, tables: &mut impl Tables<Walk>) -> Option<Hits> {
        self.watched(lookups, tables)
    }

    #[inline(always)]
    fn use_again(&mut self, hits: &Hits, lookups: &mut [Lookup], tables: &mut impl Tables<Walk>) -> bool {
        self.use_again(hits, lookups, tables)
    }

    #[inline(always)]
    fn has_missed(&mut self) -> bool {
        self.has_missed()
    }
}
