// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds where a chunk repeats itself.
//!
//! Stretches that come again are where it is looked for: if the bytes before one were the same before an earlier one,
//! what follows that one may follow here as well. Whether and for how long it does is then read off the bytes.

use std::hash::Hasher;

/// So many bytes from some place on are those that stand `length` bytes earlier, for `extent` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    pub length: usize,
    pub extent: usize,
}

/// Whether it pays to look for a state that repeats itself when passes of `length` bytes go on for `extent` bytes: a
/// few are always read, and comparing states costs about as much as reading the rest.
pub fn pays(extent: usize, length: usize) -> bool {
    extent >= PASSES_READ * length + OVERHEAD
}

/// Passes that are read in any case.
const PASSES_READ: usize = 8;
/// What comparing states costs, in bytes of events.
const OVERHEAD: usize = 512;
const PLACES: usize = 1024;

/// Looks for repetitions in one chunk after the other.
pub struct Finder {
    /// The last place of a stretch by a hash of what stands before it, with other bits of the hash.
    seen: Box<[(u32, u32); PLACES]>,
    /// Hashes of the bytes between the last four stretches, 16 bits each.
    between: u64,
    /// Where the last of these bytes end.
    before: usize,
    /// Nothing is looked for before.
    quiet: usize,
    /// The last repetition that was too short: its length and end.
    too_short: (usize, usize),
}

impl Default for Finder {
    fn default() -> Self {
        Finder { seen: Box::new([NOWHERE; PLACES]), between: 0, before: 0, quiet: 0, too_short: (0, 0) }
    }
}

const NOWHERE: (u32, u32) = (0, u32::MAX);

impl Finder {
    /// A chunk begins.
    pub fn start(&mut self) {
        self.seen.fill(NOWHERE);
        (self.before, self.quiet, self.too_short) = (0, 0, (0, 0));
    }

    /// A stretch comes again at `at` in the chunk: does what follows repeat what stood before it, often enough to
    /// matter? Nothing else is found before the end of what was.
    #[inline(always)]
    pub fn find(&mut self, contents: &[u8], at: usize) -> Option<Repetition> {
        if at < self.quiet {
            return None;
        }
        self.between = self.between << 16 | hash(&contents[self.before..at]) >> 48;
        self.before = at;
        let key = mix(0, self.between);
        let seen = &mut self.seen[(key >> 40) as usize % PLACES];
        let (bits, earlier) = std::mem::replace(seen, (key as u32, at as u32));
        match bits == key as u32 && earlier != NOWHERE.1 {
            true => self.repetition(contents, earlier as usize, at),
            false => None,
        }
    }

    #[inline(never)]
    fn repetition(&mut self, contents: &[u8], earlier: usize, at: usize) -> Option<Repetition> {
        let length = at - earlier;
        let known = length == self.too_short.0 && at < self.too_short.1;
        if known || !pays(contents.len() - at, length) {
            return None;
        }
        let extent = common(&contents[earlier..], &contents[at..]);
        if extent < length || pays(extent, length) {
            (self.quiet, self.before) = (at + extent, at + extent);
        }
        if !pays(extent, length) {
            self.too_short = (length, at + extent);
            return None;
        }
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

/// A hash for bytes that are not chosen to collide.
#[derive(Default)]
pub(crate) struct Words(u64);

impl Hasher for Words {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = mix(self.0, hash(bytes));
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let rest = rest.iter().fold(bytes.len() as u64, |word, &byte| word << 8 | byte as u64);
    words.iter().fold(mix(0, rest), |hash, &word| mix(hash, u64::from_le_bytes(word)))
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks at every event, each of which is a stretch in one byte.
    fn found(contents: &[u8]) -> Vec<(usize, Repetition)> {
        let mut finder = Finder::default();
        finder.start();
        (0..contents.len()).filter_map(|at| Some((at, finder.find(contents, at)?))).collect()
    }

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut random = seed;
        let numbers = std::iter::repeat_with(|| {
            random = mix(random, 1);
            (random >> 32) as u8
        });
        numbers.take(length).collect()
    }

    #[test]
    fn a_repetition_is_found_in_its_second_or_third_round_and_to_its_end() {
        let body = noise(1, 100);
        let contents = [noise(2, 5000), body.repeat(80), noise(3, 300), body.repeat(90), noise(4, 9)].concat();
        let found = found(&contents);
        assert_eq!(found.len(), 2, "{found:?}");
        for ((at, repetition), (start, end)) in found.iter().zip([(5000, 13_000), (13_300, 22_300)]) {
            assert_eq!((repetition.length, at + repetition.extent), (100, end));
            assert!((start + 100..start + 300).contains(at), "{found:?}");
        }
    }

    #[test]
    fn what_is_too_short_or_none_is_not_found() {
        assert_eq!(found(&noise(1, 200_000)), []);
        assert_eq!(found(&[noise(1, 300), noise(2, 100).repeat(10), noise(3, 300)].concat()), []);
    }
}
