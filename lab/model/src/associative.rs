// SPDX-License-Identifier: GPL-2.0-or-later
//! Set-associative storage of keys with a replacement policy: the common core of TLBs, caches and the trace cache.

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
pub struct Associative {
    ways: usize,
    sets: usize,
    /// `sets - 1` when that selects the set without a division.
    set_mask: Option<usize>,
    keys: Vec<u64>,
    /// One bit for each occupied slot.
    occupied: Vec<u64>,
    replacement: Replacement,
    /// The slot of each set that was used last: using it once more changes nothing.
    newest: Vec<u32>,
    order: Recency,
    trees: Vec<u128>,
    /// What a use of each way keeps of its set's tree, and what it sets.
    tree_masks: Vec<(u128, u128)>,
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
            newest: (0..entries as u32).step_by(ways).collect(),
            order: Recency::new(entries, ways),
            trees: vec![0; sets],
            tree_masks: if replacement == Replacement::PseudoLru { tree_masks(ways) } else { Vec::new() },
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
        let set = self.wrap(set);
        let newest = self.newest[set] as usize;
        if self.keys[newest] == key {
            return Some(newest);
        }
        self.lookup_older(set, key)
    }

    fn lookup_older(&mut self, set: usize, key: u64) -> Option<usize> {
        let slot = self.find_in(set, key)?;
        self.touch(set, slot);
        Some(slot)
    }

    /// Marks `slot` of `set` used if it still holds `key`; returns whether it does.
    #[inline(always)]
    pub fn lookup_at(&mut self, set: usize, slot: usize, key: u64) -> bool {
        let held = self.keys[slot] == key;
        if held {
            self.touch(self.wrap(set), slot);
        }
        held
    }

    /// Finds `key` without marking it used.
    pub fn find(&mut self, set: usize, key: u64) -> Option<usize> {
        self.find_in(self.wrap(set), key)
    }

    #[inline]
    fn wrap(&self, set: usize) -> usize {
        match self.set_mask {
            Some(mask) => set & mask,
            None => set % self.sets,
        }
    }

    #[inline]
    fn find_in(&mut self, set: usize, key: u64) -> Option<usize> {
        let base = set * self.ways;
        if self.hints.is_empty() {
            return self.keys[base..base + self.ways].iter().position(|&k| k == key).map(|way| base + way);
        }
        let bucket = key as usize % HINTS;
        let hint = self.hints[bucket] as usize;
        if self.keys[hint] == key {
            return Some(hint);
        }
        if self.sharing[bucket] == 0 {
            return None;
        }
        let way = self.keys[base..base + self.ways].iter().position(|&k| k == key)?;
        self.hints[bucket] = (base + way) as u32;
        Some(base + way)
    }

    /// Appends everything that decides what is held and what leaves next, each key with what `of` says of its slot. Where the
    /// least recently used leaves, that is the order of the keys, whatever their slots.
    pub fn state(&self, out: &mut Vec<u64>, of: impl Fn(usize) -> u64) {
        if self.replacement == Replacement::Lru {
            for set in 0..self.sets {
                let held = self.order.slots_from_newest(set, self.ways).filter(|&slot| self.keys[slot] != FREE);
                held.for_each(|slot| out.extend([self.keys[slot], of(slot)]));
                out.push(FREE);
            }
            return;
        }
        out.extend(&self.keys);
        out.extend((0..self.slots()).map(of));
        out.extend(self.trees.iter().flat_map(|&tree| [tree as u64, (tree >> 64) as u64]));
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
        self.touch(set, slot);
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

    #[inline]
    fn touch(&mut self, set: usize, slot: usize) {
        self.newest[set] = slot as u32;
        match self.replacement {
            Replacement::Lru => self.order.touch(set, slot),
            Replacement::PseudoLru => {
                let (kept, raised) = self.tree_masks[slot - set * self.ways];
                self.trees[set] = self.trees[set] & kept | raised;
            }
            Replacement::RoundRobin | Replacement::Random { .. } => {}
        }
    }

    fn victim(&mut self, set: usize) -> usize {
        let base = set * self.ways;
        match self.replacement {
            Replacement::Lru => self.order.oldest(set) - base,
            Replacement::PseudoLru => {
                let (mut node, mut way, mut half) = (1usize, 0, self.ways / 2);
                while half > 0 {
                    let right = self.trees[set] >> node & 1 == 1;
                    way |= if right { half } else { 0 };
                    node = node * 2 + right as usize;
                    half /= 2;
                }
                way
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

/// For each way, the bits of a tree that a use keeps and those that it raises: every node on the way down is made to
/// point to the other half. Node 1 is the root; node n has the children 2n and 2n + 1.
fn tree_masks(ways: usize) -> Vec<(u128, u128)> {
    let path = |way: usize| {
        let (mut kept, mut raised) = (u128::MAX, 0);
        let (mut node, mut half) = (1usize, ways / 2);
        while half > 0 {
            let right = way & half != 0;
            kept &= !(1 << node);
            raised |= (!right as u128) << node;
            node = node * 2 + right as usize;
            half /= 2;
        }
        (kept, raised)
    };
    (0..ways).map(path).collect()
}

/// The slots of each set as a doubly linked list, most recently used first. Sets too wide to scan make this worthwhile.
struct Recency {
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: Vec<u32>,
    oldest: Vec<u32>,
}

impl Recency {
    fn new(entries: usize, ways: usize) -> Self {
        Recency {
            newer: (0..entries as u32).map(|slot| slot.saturating_sub(1)).collect(),
            older: (1..=entries as u32).collect(),
            newest: (0..entries as u32).step_by(ways).collect(),
            oldest: (0..entries as u32).step_by(ways).map(|first| first + ways as u32 - 1).collect(),
        }
    }

    /// The slots of `set`, which has so many `ways`.
    fn slots_from_newest(&self, set: usize, ways: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.newest[set] as usize), |&slot| Some(self.older[slot] as usize)).take(ways)
    }

    fn oldest(&self, set: usize) -> usize {
        self.oldest[set] as usize
    }

    #[inline]
    fn touch(&mut self, set: usize, slot: usize) {
        let newest = self.newest[set] as usize;
        if slot == newest {
            return;
        }
        let (newer, older) = (self.newer[slot], self.older[slot]);
        self.older[newer as usize] = older;
        if slot == self.oldest[set] as usize {
            self.oldest[set] = newer;
        } else {
            self.newer[older as usize] = newer;
        }
        self.older[slot] = newest as u32;
        self.newer[newest] = slot as u32;
        self.newest[set] = slot as u32;
    }
}
