// SPDX-License-Identifier: GPL-2.0-or-later
//! Set-associative storage of keys with a replacement policy: the common core of TLBs, caches and the trace cache.

use std::ops::Range;

/// Which entry of a full set makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// True least recently used.
    Lru,
    /// A binary tree of bits per set, as most hardware has; ways must be a power of two, at most 128.
    PseudoLru,
    /// The ways one after the other, whatever was used.
    RoundRobin,
    /// A xorshift generator started from the seed: repeatable.
    Random { seed: u64 },
}

const FREE: u64 = u64::MAX;
const HINTS: usize = 1024;
/// Sets of up to so many ways are scanned: their keys are one line of the host's cache.
const SCANNED_WAYS: usize = 8;

/// `sets * ways` slots; a slot's index is stable while its key stays.
///
/// Each slot has the time of its last use, which is all that a use writes. Both orders of leaving follow from these
/// times when something has to leave: the least recently used has the earliest, and a node of a tree points away from
/// the half that holds the latest.
pub struct Associative {
    ways: usize,
    sets: usize,
    /// `sets - 1` when that selects the set without a division.
    set_mask: Option<usize>,
    keys: Vec<u64>,
    /// One bit for each occupied slot.
    occupied: Vec<u64>,
    replacement: Replacement,
    /// When each slot was used last, whether or not it still holds what was used; 0 is never.
    used: Vec<u64>,
    now: u64,
    random: u64,
    /// The way of each set that leaves next, where they take turns.
    turns: Vec<u32>,
    /// Slot where a key was last seen; only a hint, always verified. Empty where sets are scanned.
    hints: Vec<u32>,
    /// How many keys share a hint: where it is none, a key is known to be absent.
    sharing: Vec<u16>,
    free: usize,
}

impl Associative {
    pub fn new(entries: usize, ways: usize, replacement: Replacement) -> Self {
        assert!(ways > 0 && entries.is_multiple_of(ways), "associativity must divide the entries");
        let sets = entries / ways;
        let random = match replacement {
            Replacement::Random { seed } => seed | 1,
            _ => 1,
        };
        let hints = if ways > SCANNED_WAYS { HINTS } else { 0 };
        Associative {
            ways,
            sets,
            set_mask: sets.is_power_of_two().then_some(sets - 1),
            keys: vec![FREE; entries],
            occupied: vec![0; entries.div_ceil(64)],
            replacement,
            used: vec![0; entries],
            now: 0,
            random,
            turns: if replacement == Replacement::RoundRobin { vec![0; sets] } else { Vec::new() },
            hints: vec![0; hints],
            sharing: vec![0; hints],
            free: entries,
        }
    }

    pub fn sets(&self) -> usize {
        self.sets
    }

    pub fn slots(&self) -> usize {
        self.keys.len()
    }

    pub fn key(&self, slot: usize) -> Option<u64> {
        Some(self.keys[slot]).filter(|&k| k != FREE)
    }

    /// The first occupied slot from `slot` on.
    pub fn next_occupied(&self, slot: usize) -> Option<usize> {
        let first = slot / 64;
        let mut bits = self.occupied.get(first)? & u64::MAX << (slot % 64);
        for word in first.. {
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            bits = *self.occupied.get(word + 1)?;
        }
        None
    }

    /// Finds `key` in `set` (taken modulo the number of sets) and marks it used.
    #[inline(always)]
    pub fn lookup(&mut self, set: usize, key: u64) -> Option<usize> {
        let slot = self.find(set, key)?;
        self.touch(slot);
        Some(slot)
    }

    /// Marks `slot` used if there is such a slot and it still holds `key`; returns whether it does.
    #[inline(always)]
    pub fn lookup_at(&mut self, slot: usize, key: u64) -> bool {
        let held = self.keys.get(slot) == Some(&key);
        if held {
            self.touch(slot);
        }
        held
    }

    /// Where `key` is in `set`: at `slot`, if that was a good guess. Marks nothing used.
    #[inline(always)]
    pub fn find_at(&mut self, slot: usize, set: usize, key: u64) -> Option<usize> {
        match self.keys.get(slot) == Some(&key) {
            true => Some(slot),
            false => self.find(set, key),
        }
    }

    /// Finds `key` without marking it used.
    #[inline(always)]
    pub fn find(&mut self, set: usize, key: u64) -> Option<usize> {
        let base = self.wrap(set) * self.ways;
        if self.hints.is_empty() {
            // To the end, whichever holds it: that cannot be guessed, and each wrong guess would cost more than the
            // whole scan.
            let slots = self.keys[base..base + self.ways].iter().zip(base..);
            let slot = slots.fold(usize::MAX, |found, (&k, slot)| if k == key { slot } else { found });
            return (slot != usize::MAX).then_some(slot);
        }
        let hint = self.hints[key as usize % HINTS] as usize;
        if self.keys[hint] == key {
            return Some(hint);
        }
        self.find_elsewhere(base, key)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, base: usize, key: u64) -> Option<usize> {
        let bucket = key as usize % HINTS;
        if self.sharing[bucket] == 0 {
            return None;
        }
        let way = self.keys[base..base + self.ways].iter().position(|&k| k == key)?;
        self.hints[bucket] = (base + way) as u32;
        Some(base + way)
    }

    #[inline]
    fn wrap(&self, set: usize) -> usize {
        match self.set_mask {
            Some(mask) => set & mask,
            None => set % self.sets,
        }
    }

    /// Appends everything that decides what is held and what leaves next, each key with what `of` says of its slot.
    /// Where the least recently used leaves, that is the order of the keys, whatever their slots.
    pub fn state(&self, out: &mut Vec<u64>, of: impl Fn(usize) -> u64) {
        if self.replacement == Replacement::Lru {
            let mut held = Vec::with_capacity(self.ways);
            for set in 0..self.sets {
                held.clear();
                held.extend(self.slots_of(set).filter(|&slot| self.keys[slot] != FREE));
                held.sort_unstable_by_key(|&slot| self.used[slot]);
                held.iter().for_each(|&slot| out.extend([self.keys[slot], of(slot)]));
                out.push(FREE);
            }
            return;
        }
        out.extend(&self.keys);
        out.extend((0..self.slots()).map(of));
        if self.replacement == Replacement::PseudoLru {
            for set in 0..self.sets {
                tree(&self.used[self.slots_of(set)], out);
            }
        }
        out.push(self.random);
        out.extend(self.turns.iter().map(|&way| way as u64));
    }

    /// Puts `key` into `set`. Returns its slot and the key that had to leave, if any.
    pub fn insert(&mut self, set: usize, key: u64) -> (usize, Option<u64>) {
        let set = self.wrap(set);
        let base = set * self.ways;
        let free = match self.free {
            0 => None,
            _ => self.keys[base..base + self.ways].iter().position(|&k| k == FREE),
        };
        let slot = base + free.unwrap_or_else(|| self.victim(set));
        let old = self.key(slot);
        if old.is_some() {
            self.remove(slot);
        }
        self.free -= 1;
        self.keys[slot] = key;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        if !self.hints.is_empty() {
            self.hints[key as usize % HINTS] = slot as u32;
            self.sharing[key as usize % HINTS] += 1;
        }
        self.touch(slot);
        (slot, old)
    }

    /// Frees an occupied slot.
    pub fn remove(&mut self, slot: usize) {
        let key = std::mem::replace(&mut self.keys[slot], FREE);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        if !self.sharing.is_empty() {
            self.sharing[key as usize % HINTS] -= 1;
        }
        self.free += 1;
    }

    /// Marks `slot` used.
    #[inline(always)]
    pub fn touch(&mut self, slot: usize) {
        self.now += 1;
        self.used[slot] = self.now;
    }

    fn slots_of(&self, set: usize) -> Range<usize> {
        set * self.ways..(set + 1) * self.ways
    }

    /// The way of a full set that leaves.
    fn victim(&mut self, set: usize) -> usize {
        let used = &self.used[self.slots_of(set)];
        match self.replacement {
            Replacement::Lru => {
                (1..used.len()).fold(0, |oldest, way| if used[way] < used[oldest] { way } else { oldest })
            }
            Replacement::PseudoLru => {
                let (mut first, mut rest) = (0, used);
                while rest.len() > 1 {
                    let (left, right) = rest.split_at(rest.len() / 2);
                    let to_the_right = left.iter().max() > right.iter().max();
                    first += if to_the_right { left.len() } else { 0 };
                    rest = if to_the_right { right } else { left };
                }
                first
            }
            Replacement::RoundRobin => {
                let way = self.turns[set];
                self.turns[set] = (way + 1) % self.ways as u32;
                way as usize
            }
            Replacement::Random { .. } => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                (self.random % self.ways as u64) as usize
            }
        }
    }
}

/// Appends where each node of the tree above slots with these times of use points, 1 for the right half: it does if the
/// last use was in the left one. Returns the time of the last use.
fn tree(used: &[u64], out: &mut Vec<u64>) -> u64 {
    let (left, right) = match used {
        [one] => return *one,
        _ => used.split_at(used.len() / 2),
    };
    let (left, right) = (tree(left, out), tree(right, out));
    out.push((left > right) as u64);
    left.max(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trees as hardware keeps them: a bit for each node, node n above 2n and 2n + 1, which each use on its way down
    /// turns to the other half.
    struct Trees {
        ways: usize,
        bits: Vec<u128>,
    }

    impl Trees {
        fn touch(&mut self, slot: usize) {
            let (set, way) = (slot / self.ways, slot % self.ways);
            let (mut node, mut half) = (1, self.ways / 2);
            while half > 0 {
                let right = way & half != 0;
                self.bits[set] = self.bits[set] & !(1 << node) | (!right as u128) << node;
                (node, half) = (node * 2 + right as usize, half / 2);
            }
        }

        fn victim(&self, set: usize) -> usize {
            let mut node = 1;
            while node < self.ways {
                node = node * 2 + (self.bits[set] >> node & 1) as usize;
            }
            node - self.ways
        }
    }

    #[test]
    fn times_of_use_say_what_the_bits_of_a_tree_say() {
        for ways in [1, 2, 4, 8, 64] {
            const SETS: usize = 4;
            let mut store = Associative::new(SETS * ways, ways, Replacement::PseudoLru);
            let mut trees = Trees { ways, bits: vec![0; SETS] };
            let mut random = 1u64;
            for _ in 0..20_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = (random >> 40) % (SETS * ways * 2) as u64;
                let (set, free) = (key as usize % SETS, store.free);
                match store.lookup(set, key) {
                    Some(slot) if random >> 33 & 31 == 0 => {
                        trees.touch(slot);
                        store.remove(slot);
                    }
                    Some(slot) => trees.touch(slot),
                    None => {
                        let expected = set * ways + trees.victim(set);
                        let (slot, old) = store.insert(set, key);
                        assert!(old.is_none() || slot == expected, "{ways} ways, {free} free");
                        trees.touch(slot);
                    }
                }
            }
        }
    }
}
