// SPDX-License-Identifier: GPL-2.0-or-later
//! What a record has told about the guest's page tables so far: the same on both sides.
//!
//! A replayed machine misses its TLBs at other moments than any other, so a record has to know at each use what a walk
//! would find. The recorder walks at every use and writes down what differs from what it told last; a replay walks
//! through what it was told. Translations are told by page directory, so that a return to a directory tells nothing
//! again.

use super::processor::Processor;
use cobnut_model::{Linear, Mapping, Physical, Tables};
use std::collections::HashMap;

const ENTRIES: usize = 1024;
/// Tables kept; when there are more, everything told is forgotten. 64 MB.
const MOST_TABLES: usize = 4096;
const NO_TABLE: u32 = u32::MAX;

/// What was told of one page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told<M> {
    Nothing,
    Unmapped,
    Mapped(M),
}

impl<M> From<Option<M>> for Told<M> {
    #[inline]
    fn from(walk: Option<M>) -> Self {
        walk.map_or(Told::Unmapped, Told::Mapped)
    }
}

pub struct Translations<P: Processor> {
    /// Of each directory, where its tables of 1024 pages are among `tables`.
    directories: Vec<Vec<u32>>,
    tables: Vec<Box<[Told<P::Mapping>; ENTRIES]>>,
    by_address: HashMap<Physical, usize>,
    current: usize,
    /// Frames of pages that were asked for lately, by the page's number modulo the size.
    frames: [Frame; FRAMES],
}

const FRAMES: usize = 256;

/// The frame of `page` under the directory `directory`.
#[derive(Clone, Copy)]
struct Frame {
    page: u32,
    directory: u32,
    frame: Physical,
}

impl Frame {
    const NONE: Frame = Frame { page: u32::MAX, directory: 0, frame: Physical(0) };
}

#[inline]
fn place(page: u32) -> usize {
    (page ^ page >> 8 ^ page >> 16) as usize % FRAMES
}

impl<P: Processor> Default for Translations<P> {
    fn default() -> Self {
        let by_address = HashMap::from([(Physical(0), 0)]);
        Translations {
            directories: vec![Self::directory()],
            tables: Vec::new(),
            by_address,
            current: 0,
            frames: [Frame::NONE; FRAMES],
        }
    }
}

impl<P: Processor> Translations<P> {
    fn directory() -> Vec<u32> {
        vec![NO_TABLE; 1 << (32 - P::PAGE_SHIFT) >> ENTRIES.ilog2()]
    }

    /// CR3 names the directory at `address` from now on.
    pub fn switch(&mut self, address: Physical) {
        if self.by_address.len() > MOST_TABLES {
            *self = Translations::default();
        }
        let next = self.directories.len();
        self.current = *self.by_address.entry(address).or_insert(next);
        if self.current == next {
            self.directories.push(Self::directory());
        }
    }

    #[inline]
    pub fn get(&self, linear: Linear) -> Told<P::Mapping> {
        match self.directories[self.current][(linear.0 >> P::PAGE_SHIFT >> ENTRIES.ilog2()) as usize] {
            NO_TABLE => Told::Nothing,
            table => self.tables[table as usize][(linear.0 >> P::PAGE_SHIFT) as usize % ENTRIES],
        }
    }

    pub fn tell(&mut self, linear: Linear, told: Told<P::Mapping>) {
        if self.tables.len() >= MOST_TABLES {
            *self = Translations::default();
        }
        self.frames[place(linear.0 >> P::PAGE_SHIFT)] = Frame::NONE;
        let table = &mut self.directories[self.current][(linear.0 >> P::PAGE_SHIFT >> ENTRIES.ilog2()) as usize];
        if *table == NO_TABLE {
            *table = self.tables.len() as u32;
            self.tables.push(Box::new([Told::Nothing; ENTRIES]));
        }
        self.tables[*table as usize][(linear.0 >> P::PAGE_SHIFT) as usize % ENTRIES] = told;
    }
}

impl<P: Processor> Tables<P::Mapping> for Translations<P> {
    #[inline]
    fn frame(&mut self, linear: Linear) -> Option<Physical> {
        let (page, directory) = (linear.0 >> P::PAGE_SHIFT, self.current as u32);
        let found = &self.frames[place(page)];
        if found.page == page && found.directory == directory {
            return Some(found.frame);
        }
        let frame = self.walk(linear)?.frame_of(linear);
        self.frames[place(page)] = Frame { page, directory, frame };
        Some(frame)
    }

    #[inline]
    fn walk(&mut self, linear: Linear) -> Option<P::Mapping> {
        match self.get(linear) {
            Told::Mapped(walk) => Some(walk),
            _ => None,
        }
    }
}
