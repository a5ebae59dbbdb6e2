// SPDX-License-Identifier: GPL-2.0-or-later
//! What records and measurements need to know of a processor: one implementation for each is in the folder of its name.

use cobnut_model::{
    Architecture, Category, Causes, Code, Counted, Ledger, Linear, MachineFile, Mapping, Physical, Tables,
};
use std::ops::Range;

/// A family of processors.
pub trait Processor: Sized + 'static {
    const ARCHITECTURE: Architecture;

    /// What is counted besides the machine's own counts, with the names that reports use.
    const COUNTERS: &'static [&'static str];
    type Counters: Copy + Default + AsRef<[u64]> + AsMut<[u64]>;
    /// The counters of instructions, by mode.
    const INSTRUCTIONS: [usize; 4];
    /// An iteration in which one of these has counted says little of footprints.
    const DISTURBANCES: &'static [usize];
    /// Whether data accesses are told to machines and footprints by their physical addresses, too: then one that is not
    /// mapped has not happened.
    const PHYSICAL: bool;
    /// The ledger's rows that a case has.
    const ROWS: &'static [Category];

    type Instruction: Copy;
    fn length(instruction: &Self::Instruction) -> u32;
    /// The counters that an instruction raises besides its mode's.
    fn raised_by(instruction: &Self::Instruction) -> &'static [usize];
    /// Size of an instruction in a record.
    const INSTRUCTION_BYTES: usize;
    fn write_instruction(instruction: &Self::Instruction, to: &mut Vec<u8>);
    /// From so many bytes; None if there is no such instruction.
    fn read_instruction(bytes: &[u8]) -> Option<Self::Instruction>;

    type Event;
    fn counters_of(event: &Self::Event) -> &'static [usize];
    /// An event's tag in a record, and its words.
    fn write_event(event: &Self::Event) -> (u8, Vec<u32>);
    /// The event with this tag; None if there is no such event or `word` has no more.
    fn read_event(tag: u8, word: &mut dyn FnMut() -> Option<u32>) -> Option<Self::Event>;
    /// Keeps in `kept` what a machine has to be told of that comes to life now, of all events up to this one.
    fn stands(kept: &mut Vec<Self::Event>, event: &Self::Event);
    /// The tables that are in force from this event on, by address.
    fn tables_after(event: &Self::Event) -> Option<Physical>;

    type Mapping: Mapping;
    /// log2 of the size of the smallest page.
    const PAGE_SHIFT: u32;
    /// A mapping as a record tells it.
    fn as_told(mapping: Self::Mapping) -> Self::Mapping;
    /// The words of a mapping of the page that starts at `page`.
    fn write_mapping(page: Linear, mapping: &Self::Mapping) -> [u32; 4];
    fn read_mapping(words: [u32; 4]) -> Option<(Linear, Self::Mapping)>;

    /// What it costs to execute instructions; nothing by default.
    type Costs: Default;
    fn costs(file: &MachineFile) -> Self::Costs;
    /// A counter that must not have counted on the machine of `file`, and what to say if it has.
    fn doubt(_file: &MachineFile) -> Option<(usize, &'static str)> {
        None
    }
    /// Whether events reach a machine also before it has to model: they may say which space runs.
    const PREPARES: bool;
    /// A straight run of instructions, prepared for a machine.
    type Block: Code<Instruction = Self::Instruction, Costs = Self::Costs>;
    type Machine: Machine<Self>;
}

/// A machine of the model.
pub trait Machine<P: Processor>: Sized {
    fn new(file: &MachineFile) -> Self;
    fn ledger(&self) -> &Ledger;
    fn causes(&mut self) -> &Causes;
    type Counts: Counted;
    fn counts(&self) -> &Self::Counts;
    fn block(&mut self, block: &P::Block, at: Linear, tables: &mut impl Tables<P::Mapping>);
    /// The same as `block` and taking all of it back.
    fn fetch(&mut self, block: &P::Block, at: Linear, tables: &mut impl Tables<P::Mapping>);
    fn retract(&mut self, block: &P::Block, instructions: Range<usize>);
    fn data(&mut self, at: Linear, physical: Physical, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>);
    fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>);

    /// The machine that it would be if switches flushed nothing.
    fn without_flush(self) -> Self;

    /// Hears of an event that was there before it came to life.
    fn stand(&mut self, event: &P::Event);

    /// From here on it looks everything up and counts what it misses, and does nothing else; or no longer so. A machine
    /// that cannot do less does all of it.
    fn only_misses(&mut self, _on: bool) {}

    /// Whether a data access only repeats the last one, so that it need not be told.
    #[inline(always)]
    fn has_just_seen(&self, _at: Linear, _size: u8, _write: bool) -> bool {
        false
    }

    /// Books a cost that is known otherwise than by its events.
    fn book(&mut self, category: Category, milli: u64);

    // What repeats itself at once (docs/trace.md).

    type Checkpoint: Checkpoint<Self::Counts>;
    /// Where it stands, if it can tell.
    fn checkpoint(&self) -> Option<Self::Checkpoint>;
    fn repeatable(&self, from: &Self::Checkpoint) -> u64;
    fn repeat(&mut self, from: &Self::Checkpoint, times: u64);

    // What repeats itself later.

    /// What stands before a stretch, as far as it matters.
    type Situation: Copy + PartialEq;
    /// What a stretch looks up.
    type Hits;
    type Lookup;
    /// Where it stands before code at `at`; None where it never knows what a stretch looks up.
    fn situation(&mut self, at: Linear) -> Option<Self::Situation>;
    fn watch(&mut self);
    fn watched(&mut self, lookups: &mut Vec<Self::Lookup>, tables: &mut impl Tables<P::Mapping>) -> Option<Self::Hits>;
    fn use_again(
        &mut self,
        hits: &Self::Hits,
        lookups: &mut [Self::Lookup],
        tables: &mut impl Tables<P::Mapping>,
    ) -> bool;
    /// Whether something was looked up that was not there, since this was last asked.
    fn has_missed(&mut self) -> bool;
}

/// A machine between two events.
pub trait Checkpoint<C> {
    fn ledger(&self) -> &Ledger;
    fn counts(&self) -> &C;
    fn same_state(&self, other: &Self) -> bool;
}

/// For machines that have no checkpoints.
pub enum Never {}

impl<C> Checkpoint<C> for Never {
    fn ledger(&self) -> &Ledger {
        match *self {}
    }

    fn counts(&self) -> &C {
        match *self {}
    }

    fn same_state(&self, _other: &Self) -> bool {
        match *self {}
    }
}
