// SPDX-License-Identifier: GPL-2.0-or-later
//! Set-associative storage of keys with a replacement policy: the common core of TLBs, caches and the trace cache.

/// Which entry of a full set makes room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// True least recently used.
    Lru,
    /// A binary tree of bits per set, as most hardware has; ways must be a power of two, at most 128.
    PseudoLru,
    /// A xorshift generator started from the seed: repeatable.
    Random { seed: u64 },
}

const FREE: u64 = u64::MAX;
const HINTS: usize = 1024;

/// `sets * ways` slots; a slot's index is stable while its key stays.
pub struct Associative {
    ways: usize,
    sets: usize,
    keys: Vec<u64>,
    replacement: Replacement,
    clock: u64,
    stamps: Vec<u64>,
    trees: Vec<u128>,
    random: u64,
    /// Slot where a key was last seen; only a hint, always verified. Saves scanning a wide set.
    hints: Vec<u32>,
}

impl Associative {
    pub fn new(entries: usize, ways: usize, replacement: Replacement) -> Self {
        assert!(ways > 0 && entries % ways == 0, "associativity must divide the entries");
        let sets = entries / ways;
        let random = match replacement {
            Replacement::Random { seed } => seed | 1,
            _ => 1,
        };
        Associative {
            ways,
            sets,
            keys: vec![FREE; entries],
            replacement,
            clock: 0,
            stamps: vec![0; entries],
            trees: vec![0; sets],
            random,
            hints: vec![0; HINTS],
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

    /// Finds `key` in `set` (taken modulo the number of sets) and marks it used.
    #[inline]
    pub fn lookup(&mut self, set: usize, key: u64) -> Option<usize> {
        let slot = self.find(set, key)?;
        self.touch(slot);
        Some(slot)
    }

    /// Finds `key` without marking it used.
    #[inline]
    pub fn find(&mut self, set: usize, key: u64) -> Option<usize> {
        let hint = &mut self.hints[key as usize % HINTS];
        if self.keys[*hint as usize] == key {
            return Some(*hint as usize);
        }
        let base = (set % self.sets) * self.ways;
        let way = self.keys[base..base + self.ways].iter().position(|&k| k == key)?;
        *hint = (base + way) as u32;
        Some(base + way)
    }

    /// Puts `key` into `set`. Returns its slot and the key that had to leave, if any.
    pub fn insert(&mut self, set: usize, key: u64) -> (usize, Option<u64>) {
        let set = set % self.sets;
        let base = set * self.ways;
        let free = self.keys[base..base + self.ways].iter().position(|&k| k == FREE);
        let slot = base + free.unwrap_or_else(|| self.victim(set));
        let old = self.key(slot);
        self.keys[slot] = key;
        self.hints[key as usize % HINTS] = slot as u32;
        self.touch(slot);
        (slot, old)
    }

    pub fn remove(&mut self, slot: usize) {
        self.keys[slot] = FREE;
    }

    #[inline]
    fn touch(&mut self, slot: usize) {
        match self.replacement {
            Replacement::Lru => {
                self.clock += 1;
                self.stamps[slot] = self.clock;
            }
            Replacement::PseudoLru => {
                // Make every node on the way down point away from this slot.
                let (set, way) = (slot / self.ways, slot % self.ways);
                let tree = &mut self.trees[set];
                let (mut node, mut half) = (1usize, self.ways / 2);
                while half > 0 {
                    let right = way & half != 0;
                    if right {
                        *tree &= !(1 << node);
                    } else {
                        *tree |= 1 << node;
                    }
                    node = node * 2 + right as usize;
                    half /= 2;
                }
            }
            Replacement::Random { .. } => {}
        }
    }

    fn victim(&mut self, set: usize) -> usize {
        let base = set * self.ways;
        match self.replacement {
            Replacement::Lru => {
                let stamps = &self.stamps[base..base + self.ways];
                (0..self.ways).min_by_key(|&w| stamps[w]).unwrap_or(0)
            }
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
            Replacement::Random { .. } => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                (self.random % self.ways as u64) as usize
            }
        }
    }
}
