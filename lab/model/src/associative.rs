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
    order: Recency,
    trees: Vec<u128>,
    random: u64,
    /// Slot where a key was last seen; only a hint, always verified. Saves scanning a wide set.
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
        Associative {
            ways,
            sets,
            keys: vec![FREE; entries],
            replacement,
            order: Recency::new(entries, ways),
            trees: vec![0; sets],
            random,
            hints: vec![0; HINTS],
            sharing: vec![0; HINTS],
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
        let bucket = key as usize % HINTS;
        if self.sharing[bucket] == 0 {
            return None;
        }
        let hint = &mut self.hints[bucket];
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
        self.hints[key as usize % HINTS] = slot as u32;
        self.sharing[key as usize % HINTS] += 1;
        self.touch(slot);
        (slot, old)
    }

    /// Frees an occupied slot.
    pub fn remove(&mut self, slot: usize) {
        let key = std::mem::replace(&mut self.keys[slot], FREE);
        self.sharing[key as usize % HINTS] -= 1;
        self.free += 1;
    }

    #[inline]
    fn touch(&mut self, slot: usize) {
        match self.replacement {
            Replacement::Lru => self.order.touch(slot / self.ways, slot),
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
            Replacement::Random { .. } => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                (self.random % self.ways as u64) as usize
            }
        }
    }
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
