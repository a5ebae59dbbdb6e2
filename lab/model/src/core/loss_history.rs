// SPDX-License-Identifier: GPL-2.0-or-later
//! What TLBs and caches remember of the entries that they have lost; hardware remembers nothing.
//!
//! An entry belongs to the space that filled it, told apart by a [`Tag`]: that the page of the same number was flushed
//! in another space is no reason for a miss in this one.

use super::address::Physical;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A number for each switch and each invalidation, in the order of their happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub(crate) u32);

impl Moment {
    /// Before the first switch.
    pub const START: Moment = Moment(0);
}

/// Whether an entry was ever held, and how it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// It was never there.
    Cold,
    /// A switch or an invalidation took it.
    Flushed(Moment),
    /// Another entry displaced it; this was the last switch before.
    Evicted(Moment),
}

/// Tells the entries of one space from those of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u32);

impl Tag {
    /// Of what all spaces share: global translations, physical lines.
    pub const SHARED: Tag = Tag(0);

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// Of the spaces behind one page directory. Small spaces in it differ by their linear addresses.
    pub fn of_directory(directory: Physical) -> Self {
        Tag((directory.0 >> 12) + 1)
    }

    /// Of what is translated to the kilobyte at `frame`, whichever space it is of.
    pub(crate) fn of_frame(frame: Physical) -> Self {
        Tag((frame.0 >> 10) + 1)
    }
}

/// What a structure is told at each switch.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// The switch.
    pub since: Moment,
    /// Of the space that runs from now on.
    pub tag: Tag,
    /// Whether entries are found by their tag as well, as in hardware with address-space numbers. Without, a switch has
    /// to flush.
    pub tagged: bool,
}

impl Running {
    pub const START: Running = Running { since: Moment::START, tag: Tag(1), tagged: false };

    /// For a structure that all spaces share.
    pub fn shared(self) -> Self {
        Running { tag: Tag::SHARED, tagged: false, ..self }
    }

    /// `key` as it is stored for entries with `tag`: keys have up to 33 bits.
    #[inline]
    pub(crate) fn stored(&self, key: u64, tag: Tag) -> u64 {
        match self.tagged {
            true => key | (tag.0 as u64) << TAG_SHIFT,
            false => key,
        }
    }

    /// What [`stored`](Self::stored) was given.
    #[inline]
    pub(crate) fn taken_apart(&self, stored: u64) -> (u64, Tag) {
        match self.tagged {
            true => (stored & ((1 << TAG_SHIFT) - 1), Tag((stored >> TAG_SHIFT) as u32)),
            false => (stored, self.tag),
        }
    }
}

const TAG_SHIFT: u32 = 33;
const CHUNK_BITS: u32 = 6;
const CHUNK: usize = 1 << CHUNK_BITS;

/// The last loss of each key, in chunks of neighbouring keys. It takes four bytes for each neighbour of a key that was
/// ever lost.
pub(crate) struct LossHistory {
    chunks: Vec<[u32; CHUNK]>,
    places: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
    /// The chunk that was asked for last and its place.
    last: (u64, u32),
}

impl LossHistory {
    pub fn new() -> Self {
        LossHistory { chunks: Vec::new(), places: HashMap::default(), last: (u64::MAX, 0) }
    }

    #[inline]
    pub fn flushed(&mut self, key: u64, tag: Tag, by: Moment) {
        *self.at(key, tag) = 1 + 2 * by.0;
    }

    #[inline]
    pub fn evicted(&mut self, key: u64, tag: Tag, after: Moment) {
        *self.at(key, tag) = 2 + 2 * after.0;
    }

    /// How an entry was lost that is not held.
    pub fn of(&mut self, key: u64, tag: Tag) -> Loss {
        let chunk = chunk(key, tag);
        if self.last.0 != chunk {
            let Some(&place) = self.places.get(&chunk) else { return Loss::Cold };
            self.last = (chunk, place);
        }
        match self.chunks[self.last.1 as usize][key as usize % CHUNK] {
            0 => Loss::Cold,
            packed if packed % 2 == 1 => Loss::Flushed(Moment(packed / 2)),
            packed => Loss::Evicted(Moment(packed / 2 - 1)),
        }
    }

    #[inline]
    fn at(&mut self, key: u64, tag: Tag) -> &mut u32 {
        let chunk = chunk(key, tag);
        if self.last.0 != chunk {
            let place = *self.places.entry(chunk).or_insert_with(|| {
                self.chunks.push([0; CHUNK]);
                (self.chunks.len() - 1) as u32
            });
            self.last = (chunk, place);
        }
        &mut self.chunks[self.last.1 as usize][key as usize % CHUNK]
    }
}

#[inline]
fn chunk(key: u64, tag: Tag) -> u64 {
    (tag.0 as u64) << (TAG_SHIFT - CHUNK_BITS) | key >> CHUNK_BITS
}

/// A hash for chunk numbers; they are not chosen to collide.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ byte as u64));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}
