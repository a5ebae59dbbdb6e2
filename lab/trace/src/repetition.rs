// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds where a chunk repeats itself.
//!
//! Runs are where it is looked for: if the bytes before a run were the same before an earlier one, what follows that one may
//! follow here as well. Whether and for how long it does is then read off the bytes.

/// So many bytes from some place on are those that stand `length` bytes earlier, for `extent` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    pub length: usize,
    pub extent: usize,
}

/// Whether it pays to look for a state that repeats itself when passes of `length` bytes go on for `extent` bytes: a few are
/// always read, and comparing states costs about as much as reading the rest.
pub fn pays(extent: usize, length: usize) -> bool {
    extent >= PASSES_READ * length + OVERHEAD
}

/// Passes that are read in any case.
const PASSES_READ: usize = 8;
/// What comparing states costs, in bytes of events.
const OVERHEAD: usize = 4096;
const PLACES: usize = 4096;
/// Stretches between runs that have to be the same.
const STRETCHES: usize = 4;

/// Looks for repetitions in one chunk after the other.
pub struct Finder {
    /// The last place of a run by a hash of what stands before it, with other bits of the hash.
    seen: Vec<(u32, u32)>,
    stretches: [u64; STRETCHES],
    /// Where the last stretch ends.
    before: usize,
    /// Nothing is looked for before.
    quiet: usize,
}

impl Default for Finder {
    fn default() -> Self {
        Finder { seen: vec![NOWHERE; PLACES], stretches: [0; STRETCHES], before: 0, quiet: 0 }
    }
}

const NOWHERE: (u32, u32) = (0, u32::MAX);

impl Finder {
    /// A chunk begins.
    pub fn start(&mut self) {
        self.seen.fill(NOWHERE);
        (self.before, self.quiet) = (0, 0);
    }

    /// A run is at `at` in the chunk: does what follows repeat what stood before it, often enough to matter? Nothing else is found
    /// before the end of what was.
    #[inline]
    pub fn find(&mut self, contents: &[u8], at: usize) -> Option<Repetition> {
        if at < self.quiet {
            return None;
        }
        self.stretches.rotate_right(1);
        self.stretches[0] = hash(&contents[self.before..at]);
        self.before = at;
        let key = self.stretches.iter().fold(0, |key: u64, &stretch| mix(key, stretch));
        let seen = &mut self.seen[(key >> 40) as usize % PLACES];
        let (bits, earlier) = std::mem::replace(seen, (key as u32, at as u32));
        match bits == key as u32 && earlier != NOWHERE.1 {
            true => self.repetition(contents, earlier as usize, at),
            false => None,
        }
    }

    fn repetition(&mut self, contents: &[u8], earlier: usize, at: usize) -> Option<Repetition> {
        let (length, extent) = (at - earlier, common(&contents[earlier..], &contents[at..]));
        if !pays(extent, length) {
            return None;
        }
        self.quiet = at + extent;
        self.before = self.quiet;
        Some(Repetition { length, extent })
    }
}

/// How many bytes the two have in common from their starts on.
fn common(one: &[u8], other: &[u8]) -> usize {
    const AT_ONCE: usize = 32;
    let blocks = one.chunks_exact(AT_ONCE).zip(other.chunks_exact(AT_ONCE)).take_while(|(one, other)| one == other);
    let same = blocks.count() * AT_ONCE;
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

fn hash(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64));
    words.fold(bytes.len() as u64, mix)
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
