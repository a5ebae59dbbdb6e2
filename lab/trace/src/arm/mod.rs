// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests with an ARM processor. Addresses are modified virtual addresses.

mod counters;

use crate::core::format::tag;
use crate::core::processor::{self, Never, Processor};
use cobnut_model::arm::{Block, Costs, Counts, Event, Instruction, Machine, Operation, Translation, EXCEPTIONS};
use cobnut_model::{Architecture, Category, Causes, Code, Ledger, Linear, MachineFile, Physical, Space, Tables};
use std::ops::Range;

pub struct Arm;

/// The sizes of pages and sections, as shifts, by the number that a record has for them.
const SHIFTS: [u32; 4] = [10, 12, 16, 20];
const CACHED: u32 = 1;
const BUFFERED: u32 = 2;
const SHIFT: u32 = 2;

impl Processor for Arm {
    const ARCHITECTURE: Architecture = Architecture::Arm;
    const COUNTERS: &'static [&'static str] = &counters::NAMES;
    type Counters = [u64; counters::NAMES.len()];
    const INSTRUCTIONS: [usize; 4] = counters::INSTRUCTIONS;
    const DISTURBANCES: &'static [usize] = &[];
    const PHYSICAL: bool = false;
    const ROWS: &'static [Category] = &[
        Category::Instructions,
        Category::KernelEntryExit,
        Category::TlbRefillCode,
        Category::TlbRefillData,
        Category::CacheRefill,
        Category::WriteBack,
        Category::Flush,
    ];

    type Instruction = Instruction;

    fn length(instruction: &Instruction) -> u32 {
        instruction.length as u32
    }

    fn raised_by(_instruction: &Instruction) -> &'static [usize] {
        &[]
    }

    const INSTRUCTION_BYTES: usize = Instruction::BYTES;

    fn write_instruction(instruction: &Instruction, to: &mut Vec<u8>) {
        to.extend(instruction.to_bytes());
    }

    fn read_instruction(bytes: &[u8]) -> Option<Instruction> {
        Instruction::from_bytes(bytes.try_into().ok()?)
    }

    type Event = Event;

    fn counters_of(event: &Event) -> &'static [usize] {
        match *event {
            Event::Operation { operation, .. } => counters::of_operation(operation),
            Event::Exception(exception) => counters::of_exception(exception),
        }
    }

    fn write_event(event: &Event) -> (u8, Vec<u32>) {
        match *event {
            Event::Operation { operation, operand, at, space: Space { directory, code_base } } => {
                (tag::OPERATION, vec![operation.number(), operand, at, directory.0, code_base.0])
            }
            Event::Exception(exception) => (tag::EXCEPTION, vec![exception as u32]),
        }
    }

    fn read_event(tag: u8, word: &mut dyn FnMut() -> Option<u32>) -> Option<Event> {
        Some(match tag {
            tag::OPERATION => {
                let (operation, operand, at) = (Operation::of_number(word()?)?, word()?, word()?);
                let space = Space { directory: Physical(word()?), code_base: Linear(word()?) };
                Event::Operation { operation, operand, at, space }
            }
            tag::EXCEPTION => Event::Exception(*EXCEPTIONS.get(word()? as usize)?),
            _ => return None,
        })
    }

    fn stands(kept: &mut Vec<Event>, event: &Event) {
        if let Event::Operation { .. } = event {
            *kept = vec![*event];
        }
    }

    fn tables_after(event: &Event) -> Option<Physical> {
        match *event {
            Event::Operation { operation: Operation::TableBase, space, .. } => Some(space.directory),
            _ => None,
        }
    }

    type Mapping = Translation;
    const PAGE_SHIFT: u32 = 10;

    fn as_told(found: Translation) -> Translation {
        found.for_machines()
    }

    fn write_mapping(page: Linear, found: &Translation) -> [u32; 4] {
        let shift = SHIFTS.iter().position(|&shift| shift == found.shift).unwrap_or(0) as u32;
        let flags = (found.cached as u32 * CACHED) | (found.buffered as u32 * BUFFERED) | shift << SHIFT;
        [page.0 | flags, found.frame.0, 0, 0]
    }

    fn read_mapping([page, frame, ..]: [u32; 4]) -> Option<(Linear, Translation)> {
        let shift = SHIFTS[(page >> SHIFT & 3) as usize];
        let (cached, buffered) = (page & CACHED != 0, page & BUFFERED != 0);
        let frame = Physical(frame >> shift << shift);
        let found = Translation { frame, shift, cached, buffered, ..Translation::default() };
        Some((Linear(page & !0x3ff), found))
    }

    type Costs = Costs;

    fn costs(file: &MachineFile) -> Costs {
        Costs::from_file(file)
    }

    const PREPARES: bool = false;
    type Block = Block;
    type Machine = Machine;
}

impl processor::Machine<Arm> for Machine {
    fn new(file: &MachineFile) -> Self {
        Machine::new(file)
    }

    fn without_flush(self) -> Self {
        self.without_flush()
    }

    fn stand(&mut self, event: &Event) {
        if let Event::Operation { operation, operand, at, space } = *event {
            self.operation(operation, operand, at, space);
        }
    }

    fn ledger(&self) -> &Ledger {
        self.ledger()
    }

    fn causes(&mut self) -> &Causes {
        Machine::causes(self)
    }

    type Counts = Counts;

    fn counts(&self) -> &Counts {
        self.counts()
    }

    #[inline(always)]
    fn block(&mut self, block: &Block, at: Linear, tables: &mut impl Tables<Translation>) {
        self.block(block, at, tables);
    }

    fn fetch(&mut self, block: &Block, at: Linear, tables: &mut impl Tables<Translation>) {
        self.block(block, at, tables);
        self.retract(block, 0..block.instructions().len());
    }

    fn retract(&mut self, block: &Block, instructions: Range<usize>) {
        self.retract(block, instructions);
    }

    #[inline(always)]
    fn data(&mut self, at: Linear, _physical: Physical, _size: u8, write: bool, tables: &mut impl Tables<Translation>) {
        self.data(at, write, tables);
    }

    fn event(&mut self, event: &Event, _tables: &mut impl Tables<Translation>) {
        match *event {
            Event::Operation { operation, operand, at, space } => self.operation(operation, operand, at, space),
            Event::Exception(_) => self.exception(),
        }
    }

    fn book(&mut self, _category: Category, _milli: u64) {}

    // It knows neither a state that comes back nor what a stretch looks up: every call is made.

    type Checkpoint = Never;

    fn checkpoint(&self) -> Option<Never> {
        None
    }

    fn repeatable(&self, _from: &Never) -> u64 {
        0
    }

    fn repeat(&mut self, _from: &Never, _times: u64) {}

    type Situation = ();
    type Hits = Never;
    type Lookup = Never;

    fn situation(&mut self, _at: Linear) -> Option<()> {
        None
    }

    fn watch(&mut self) {}

    fn watched(&mut self, _lookups: &mut Vec<Never>, _tables: &mut impl Tables<Translation>) -> Option<Never> {
        None
    }

    fn use_again(&mut self, _hits: &Never, _lookups: &mut [Never], _tables: &mut impl Tables<Translation>) -> bool {
        false
    }

    fn has_missed(&mut self) -> bool {
        true
    }
}
