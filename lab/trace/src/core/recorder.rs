// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that writes a record.

use super::chunks::{self, CHUNK};
use super::format::{self, bytes_of, tag, zigzag};
use super::processor::Processor;
use super::repetition::Words;
use super::run::Run;
use super::sink::Sink;
use super::stretch::{self, Room};
use super::translations::{Told, Translations};
use super::warnings::Warnings;
use crate::Header;
use crate::Marker;
use cobnut_model::{Code, Linear, Tables};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io::{self, Write};
use std::ops::Range;

/// Room that is always left in a chunk: no event is longer, but definitions and warnings, which make their own.
const LONGEST_EVENT: usize = 64;

pub struct Recorder<P: Processor, W: Write> {
    out: W,
    /// The first error in writing; nothing is written after it.
    failure: Option<io::Error>,
    chunk: Vec<u8>,
    told: Translations<P>,
    /// Numbers of the runs by their definitions: an emulator may prepare the same code more than once.
    numbers: HashMap<Vec<u8>, u32>,
    /// The stretch that has begun.
    open: Open,
    /// Numbers of the stretches that are remembered, by their definitions.
    stretches: HashMap<Box<[u8]>, u32, BuildHasherDefault<Words>>,
    remembered: Room,
    warnings: Warnings,
}

/// A stretch that has not ended yet, as it is written.
#[derive(Default)]
struct Open {
    definition: Vec<u8>,
    steps: usize,
    last_data: Linear,
    /// The run that is the last step.
    last_run: Option<u32>,
}

impl<P: Processor, W: Write> Recorder<P, W> {
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
            open: Open::default(),
            stretches: HashMap::default(),
            remembered: Room::default(),
            warnings: Warnings::default(),
        })
    }

    /// Ends the record.
    pub fn finish(&mut self) -> io::Result<()> {
        self.end_stretch();
        self.flush();
        if self.failure.is_none() {
            self.failure = chunks::write_chunk(&mut self.out, &[]).and_then(|()| self.out.flush()).err();
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Ends the stretch that has begun, before anything else is written.
    fn end_stretch(&mut self) {
        if self.open.steps == 0 {
            return;
        }
        let Open { definition, .. } = std::mem::take(&mut self.open);
        self.room(LONGEST_EVENT + definition.len());
        match self.stretches.get(&definition[..]) {
            Some(&number) => {
                let count = bytes_of(number);
                self.chunk.push(format::STRETCH | count as u8);
                put_bytes(&mut self.chunk, number, count);
            }
            None => {
                if self.remembered.take(definition.len()) {
                    self.stretches.clear();
                }
                self.chunk.push(tag::DEFINE_STRETCH);
                self.chunk.extend((definition.len() as u16).to_le_bytes());
                self.chunk.extend(&definition);
                self.stretches.insert(definition[..].into(), self.stretches.len() as u32);
            }
        }
        self.open.definition = definition;
        self.open.definition.clear();
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
        self.end_stretch();
        self.room(LONGEST_EVENT);
        self.chunk.push(tag);
        for word in words {
            self.chunk.extend(word.to_le_bytes());
        }
    }

    /// An event that consists of a tag and a text.
    fn put_text(&mut self, tag: u8, text: &str) {
        self.end_stretch();
        let text = &text.as_bytes()[..text.len().min(u16::MAX as usize)];
        self.room(3 + text.len());
        self.chunk.push(tag);
        self.chunk.extend((text.len() as u16).to_le_bytes());
        self.chunk.extend(text);
    }

    /// Tells what a walk finds for every page between two addresses, where that was not told before.
    #[inline]
    fn tell(&mut self, first: Linear, last: Linear, tables: &mut impl Tables<P::Mapping>) {
        while self.tell_pages(first, last, tables) {
            // Telling may have made the record forget what it had told of the others.
        }
    }

    /// Returns whether anything was new.
    #[inline]
    fn tell_pages(&mut self, first: Linear, last: Linear, tables: &mut impl Tables<P::Mapping>) -> bool {
        let (shift, mut news) = (P::PAGE_SHIFT, false);
        for page in 0..=(last.0 >> shift).wrapping_sub(first.0 >> shift) & (u32::MAX >> shift) {
            let linear = first.plus(page << shift);
            let found = Told::from(tables.walk(linear).map(P::as_told));
            if self.told.get(linear) != found {
                self.tell_page(Linear(linear.0 >> shift << shift), found);
                news = true;
            }
        }
        news
    }

    #[cold]
    fn tell_page(&mut self, page: Linear, found: Told<P::Mapping>) {
        self.told.tell(page, found);
        match found {
            Told::Mapped(mapping) => self.put(tag::MAPPED, &P::write_mapping(page, &mapping)),
            _ => self.put(tag::UNMAPPED, &[page.0]),
        }
    }

    /// Gives `run` its number, and defines it if it is new.
    #[cold]
    fn define(&mut self, run: &Run<P>) -> u32 {
        let mut definition = vec![tag::DEFINE, run.mode as u8];
        definition.extend(run.home.0.to_le_bytes());
        definition.extend((run.block.instructions().len() as u16).to_le_bytes());
        for instruction in run.block.instructions() {
            P::write_instruction(instruction, &mut definition);
        }
        let number = self.numbers.get(&definition).copied().unwrap_or_else(|| {
            self.end_stretch();
            self.room(definition.len());
            self.chunk.extend(&definition);
            let number = self.numbers.len() as u32;
            self.numbers.insert(definition, number);
            number
        });
        run.number.set(number);
        number
    }
}

/// Appends the `count` low bytes of `value`.
#[inline]
fn put_bytes(to: &mut Vec<u8>, value: u32, count: usize) {
    let end = to.len() + count;
    to.extend(value.to_le_bytes());
    to.truncate(end);
}

impl<P: Processor, W: Write> Sink<P> for Recorder<P, W> {
    fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
        Run::new(linear, instructions, &P::Costs::default(), Vec::new())
    }

    #[inline]
    fn run(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
        let number = match run.number.get() {
            Run::<P>::UNNUMBERED => self.define(run),
            number => number,
        };
        self.tell(linear, linear.plus(run.block.bytes() - 1), tables);
        if stretch::ends_before(linear, self.open.steps) {
            self.end_stretch();
        }
        let (moved, count) = (linear != run.home, bytes_of(number));
        let Open { definition, steps, last_run, .. } = &mut self.open;
        (*steps, *last_run) = (*steps + 1, Some(number));
        definition.push(format::RUN | if moved { format::RUN_LINEAR } else { 0 } | count as u8);
        if moved {
            definition.extend(linear.0.to_le_bytes());
        }
        put_bytes(definition, number, count);
    }

    fn retract(&mut self, run: &Run<P>, instructions: Range<usize>) {
        match self.open.last_run == Some(run.number.get()) && instructions == (0..1) {
            true => {
                self.open.definition.push(format::RETRACT_FIRST);
                self.open.last_run = None;
            }
            false => self.put(tag::RETRACT, &[run.number.get(), instructions.start as u32, instructions.len() as u32]),
        }
    }

    #[inline]
    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>) {
        if P::PHYSICAL && tables.walk(linear).is_none() {
            return;
        }
        self.tell(linear, linear.plus(size as u32 - 1), tables);
        if self.open.steps == stretch::LONGEST {
            self.end_stretch();
        }
        let Open { definition, steps, last_data, last_run } = &mut self.open;
        let distance = zigzag(linear.minus(*last_data));
        (*steps, *last_data, *last_run) = (*steps + 1, linear, None);
        let count = bytes_of(distance);
        let size = (size.trailing_zeros() as u8) << format::DATA_SIZE_SHIFT;
        definition.push(format::DATA | if write { format::DATA_WRITE } else { 0 } | size | count as u8);
        put_bytes(definition, distance, count);
    }

    fn event(&mut self, event: &P::Event, _tables: &mut impl Tables<P::Mapping>) {
        if let Some(address) = P::tables_after(event) {
            self.end_stretch();
            self.told.switch(address);
        }
        let (tag, words) = P::write_event(event);
        self.put(tag, &words);
    }

    fn marker(&mut self, marker: Marker) {
        match marker {
            Marker::Begin(case) => self.put(tag::BEGIN, &[case]),
            Marker::Iteration => self.put(tag::ITERATION, &[]),
            Marker::Pause => self.put(tag::PAUSE, &[]),
            Marker::Drop => self.put(tag::DROP, &[]),
            Marker::End => self.put(tag::END, &[]),
            Marker::Other => self.put(tag::MARKER, &[]),
        }
    }

    fn process(&mut self, name: &str) {
        self.put_text(tag::PROCESS, name);
    }

    fn warn(&mut self, text: String) {
        if self.warnings.add(text.clone()) {
            self.put_text(tag::WARNING, &text);
        }
    }
}
