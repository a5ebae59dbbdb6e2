// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that writes a record.

use crate::chunks::{self, CHUNK};
use crate::format::{self, bytes_of, tag, zigzag};
use crate::header::Header;
use crate::run::Run;
use crate::sink::{Marker, Sink};
use crate::translations::{Told, Translations};
use crate::warnings::Warnings;
use cobnut_model::{Costs, EntryKind, Event, Instruction, PageTables};
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

/// Where a run was executed last, and which run followed it then.
#[derive(Clone, Copy)]
pub(crate) struct Habit {
    pub linear: u32,
    pub next: u32,
}

/// Room that is always left in a chunk: no event is longer, but definitions and warnings, which make their own.
const LONGEST_EVENT: usize = 64;

pub struct Recorder<W: Write> {
    out: W,
    /// The first error in writing; nothing is written after it.
    failure: Option<io::Error>,
    chunk: Vec<u8>,
    told: Translations,
    /// Numbers of the runs by their definitions: an emulator may prepare the same code more than once.
    numbers: HashMap<Vec<u8>, u32>,
    habits: Vec<Habit>,
    last_run: u32,
    last_data: u32,
    warnings: Warnings,
}

impl<W: Write> Recorder<W> {
    /// Starts a record on `out`. It is complete only after [`Recorder::finish`].
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        chunks::write_start(&mut out)?;
        chunks::write_chunk(&mut out, header.to_json().as_bytes())?;
        Ok(Recorder {
            out,
            failure: None,
            chunk: Vec::with_capacity(CHUNK),
            told: Translations::default(),
            numbers: HashMap::new(),
            habits: Vec::new(),
            last_run: 0,
            last_data: 0,
            warnings: Warnings::default(),
        })
    }

    /// Ends the record.
    pub fn finish(&mut self) -> io::Result<()> {
        self.flush();
        if self.failure.is_none() {
            self.failure = chunks::write_chunk(&mut self.out, &[]).and_then(|()| self.out.flush()).err();
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    fn flush(&mut self) {
        if self.failure.is_none() && !self.chunk.is_empty() {
            self.failure = chunks::write_chunk(&mut self.out, &self.chunk).err();
        }
        self.chunk.clear();
    }

    /// Makes room for an event of `bytes` bytes: none reaches over the end of a chunk.
    #[inline]
    fn room(&mut self, bytes: usize) {
        if self.chunk.len() + bytes > CHUNK {
            self.flush();
        }
    }

    /// An event that consists of a tag and words.
    fn put(&mut self, tag: u8, words: &[u32]) {
        self.room(LONGEST_EVENT);
        self.chunk.push(tag);
        for word in words {
            self.chunk.extend(word.to_le_bytes());
        }
    }

    /// The `count` low bytes of `value`.
    #[inline]
    fn put_bytes(&mut self, value: u32, count: usize) {
        let end = self.chunk.len() + count;
        self.chunk.extend(value.to_le_bytes());
        self.chunk.truncate(end);
    }

    /// Tells what a walk finds for every page between two addresses, where that was not told before.
    #[inline]
    fn tell(&mut self, first: u32, last: u32, tables: &mut impl PageTables) {
        while self.tell_pages(first, last, tables) {
            // Telling may have made the record forget what it had told of the others.
        }
    }

    /// Returns whether anything was new.
    #[inline]
    fn tell_pages(&mut self, first: u32, last: u32, tables: &mut impl PageTables) -> bool {
        let mut news = false;
        for page in 0..=(last >> 12).wrapping_sub(first >> 12) & 0xf_ffff {
            let linear = first.wrapping_add(page << 12);
            let found = Told::from(tables.walk(linear));
            if self.told.get(linear) != found {
                self.tell_page(linear & !0xfff, found);
                news = true;
            }
        }
        news
    }

    #[cold]
    fn tell_page(&mut self, page: u32, found: Told) {
        self.told.tell(page, found);
        match found {
            Told::Mapped(walk) => {
                let flags = (walk.large as u8 * format::MAPPED_LARGE) | (walk.global as u8 * format::MAPPED_GLOBAL);
                self.put(tag::MAPPED, &[page | flags as u32, walk.frame, walk.entries[0], walk.entries[1]]);
            }
            _ => self.put(tag::UNMAPPED, &[page]),
        }
    }

    /// Gives `run` its number, and defines it if it is new.
    #[cold]
    fn define(&mut self, run: &Run) -> u32 {
        let mut definition = vec![tag::DEFINE, run.mode as u8];
        definition.extend(run.home.to_le_bytes());
        definition.extend((run.block.instructions().len() as u16).to_le_bytes());
        for instruction in run.block.instructions() {
            definition.extend(instruction.to_bytes());
        }
        let number = self.numbers.get(&definition).copied().unwrap_or_else(|| {
            self.room(definition.len());
            self.chunk.extend(&definition);
            self.habits.push(Habit { linear: run.home, next: 0 });
            let number = self.numbers.len() as u32;
            self.numbers.insert(definition, number);
            number
        });
        run.number.set(number);
        number
    }
}

impl<W: Write> Sink for Recorder<W> {
    fn prepare(&self, linear: u32, instructions: Vec<Instruction>) -> Run {
        Run::new(linear, instructions, &Costs::default(), Vec::new())
    }

    #[inline]
    fn run(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        let number = match run.number.get() {
            Run::UNNUMBERED => self.define(run),
            number => number,
        };
        self.tell(linear, linear.wrapping_add(run.block.bytes() - 1), tables);
        self.room(LONGEST_EVENT);
        let habit = &mut self.habits[number as usize];
        let moved = habit.linear != linear;
        habit.linear = linear;
        let before = &mut self.habits[self.last_run as usize];
        let expected = before.next == number;
        before.next = number;
        self.last_run = number;
        let count = if expected { 0 } else { bytes_of(number).max(1) };
        self.chunk.push(format::RUN | if moved { format::RUN_LINEAR } else { 0 } | count as u8);
        if moved {
            self.chunk.extend(linear.to_le_bytes());
        }
        self.put_bytes(number, count);
    }

    fn retract(&mut self, run: &Run, instructions: Range<usize>) {
        match run.number.get() == self.last_run && instructions == (0..1) {
            true => self.put(tag::RETRACT_FIRST, &[]),
            false => self.put(tag::RETRACT, &[run.number.get(), instructions.start as u32, instructions.len() as u32]),
        }
    }

    #[inline]
    fn data(&mut self, linear: u32, size: u8, write: bool, tables: &mut impl PageTables) {
        if tables.walk(linear).is_none() {
            return;
        }
        self.tell(linear, linear.wrapping_add(size as u32 - 1), tables);
        self.room(LONGEST_EVENT);
        let distance = zigzag(linear.wrapping_sub(self.last_data));
        self.last_data = linear;
        let count = bytes_of(distance);
        let size = (size.trailing_zeros() as u8) << format::DATA_SIZE_SHIFT;
        self.chunk.push(format::DATA | if write { format::DATA_WRITE } else { 0 } | size | count as u8);
        self.put_bytes(distance, count);
    }

    fn event(&mut self, event: &Event, _tables: &mut impl PageTables) {
        match *event {
            Event::Cr3Write { directory, at } => {
                self.told.switch(directory);
                self.put(tag::CR3_WRITE, &[directory, at]);
            }
            Event::ControlWrite { global_pages } => self.put(tag::CONTROL_WRITE, &[global_pages as u32]),
            Event::Invlpg { linear } => self.put(tag::INVLPG, &[linear]),
            Event::PageFault { linear } => self.put(tag::PAGE_FAULT, &[linear]),
            Event::Entry(EntryKind::Fault) => self.put(tag::FAULT, &[]),
            Event::Entry(EntryKind::Interrupt) => self.put(tag::INTERRUPT, &[]),
            Event::UserCode { base } => self.put(tag::USER_CODE, &[base]),
            Event::Fetch { .. } | Event::Read { .. } | Event::Write { .. } => {
                unreachable!("runs and data accesses have calls of their own")
            }
        }
    }

    fn marker(&mut self, marker: Marker) {
        match marker {
            Marker::Begin(case) => self.put(tag::BEGIN, &[case]),
            Marker::Iteration => self.put(tag::ITERATION, &[]),
            Marker::End => self.put(tag::END, &[]),
            Marker::Other => self.put(tag::MARKER, &[]),
        }
    }

    fn warn(&mut self, text: String) {
        if self.warnings.add(text.clone()) {
            let text = &text.as_bytes()[..text.len().min(u16::MAX as usize)];
            self.room(3 + text.len());
            self.chunk.push(tag::WARNING);
            self.chunk.extend((text.len() as u16).to_le_bytes());
            self.chunk.extend(text);
        }
    }
}
