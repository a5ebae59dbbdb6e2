// SPDX-License-Identifier: GPL-2.0-or-later
//! What a record has told about the guest's page tables so far: the same on both sides.
//!
//! A replayed machine misses its TLBs at other moments than any other, so a record has to know at each use what a walk
//! would find. The recorder walks at every use and writes down what differs from what it told last; a replay walks
//! through what it was told. Translations are told by page directory, so that a return to a directory tells nothing
//! again.

use cobnut_model::{PageTables, Walk};
use std::collections::HashMap;

const ENTRIES: usize = 1024;
/// Tables kept; when there are more, everything told is forgotten. 64 MB.
const MOST_TABLES: usize = 4096;
const NO_TABLE: u32 = u32::MAX;

/// What was told of one page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Nothing,
    Unmapped,
    Mapped(Walk),
}

impl From<Option<Walk>> for Told {
    #[inline]
    fn from(walk: Option<Walk>) -> Self {
        walk.map_or(Told::Unmapped, Told::Mapped)
    }
}

pub struct Translations {
    /// Of each directory, where its 1024 tables are among `tables`.
    directories: Vec<[u32; ENTRIES]>,
    tables: Vec<Box<[Told; ENTRIES]>>,
    by_address: HashMap<u32, usize>,
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
    frame: u32,
}

impl Frame {
    const NONE: Frame = Frame { page: u32::MAX, directory: 0, frame: 0 };
}

#[inline]
fn place(page: u32) -> usize {
    (page ^ page >> 8 ^ page >> 16) as usize % FRAMES
}

impl Default for Translations {
    fn default() -> Self {
        let by_address = HashMap::from([(0, 0)]);
        Translations {
            directories: vec![[NO_TABLE; ENTRIES]],
            tables: Vec::new(),
            by_address,
            current: 0,
            frames: [Frame::NONE; FRAMES],
        }
    }
}

impl Translations {
    /// CR3 names the directory at `address` from now on.
    pub fn switch(&mut self, address: u32) {
        if self.by_address.len() > MOST_TABLES {
            *self = Translations::default();
        }
        let next = self.directories.len();
        self.current = *self.by_address.entry(address).or_insert(next);
        if self.current == next {
            self.directories.push([NO_TABLE; ENTRIES]);
        }
    }

    #[inline]
    pub fn get(&self, linear: u32) -> Told {
        match self.directories[self.current][(linear >> 22) as usize] {
            NO_TABLE => Told::Nothing,
            table => self.tables[table as usize][(linear >> 12) as usize % ENTRIES],
        }
    }

    pub fn tell(&mut self, linear: u32, told: Told) {
        if self.tables.len() >= MOST_TABLES {
            *self = Translations::default();
        }
        self.frames[place(linear >> 12)] = Frame::NONE;
        let table = &mut self.directories[self.current][(linear >> 22) as usize];
        if *table == NO_TABLE {
            *table = self.tables.len() as u32;
            self.tables.push(Box::new([Told::Nothing; ENTRIES]));
        }
        self.tables[*table as usize][(linear >> 12) as usize % ENTRIES] = told;
    }
}

impl PageTables for Translations {
    #[inline]
    fn frame(&mut self, linear: u32) -> Option<u32> {
        let (page, directory) = (linear >> 12, self.current as u32);
        let found = &self.frames[place(page)];
        if found.page == page && found.directory == directory {
            return Some(found.frame);
        }
        let frame = self.walk(linear)?.frame;
        self.frames[place(page)] = Frame { page, directory, frame };
        Some(frame)
    }

    #[inline]
    fn walk(&mut self, linear: u32) -> Option<Walk> {
        match self.get(linear) {
            Told::Mapped(walk) => Some(walk),
            _ => None,
        }
    }
}
