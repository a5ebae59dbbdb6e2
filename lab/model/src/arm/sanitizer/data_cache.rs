// SPDX-License-Identifier: GPL-2.0-or-later
//! What a virtual data cache may hold: every line that was accessed since it was invalidated, found by its MVA. Lines
//! are never evicted, stores allocate them as well, and dirty words stay dirty until they are cleaned; but any line may
//! also be evicted at any time, so what is dirty may reach memory whenever that does harm.

use crate::{Linear, Physical};
use std::cell::Cell;
use std::collections::HashMap;

pub const LINE_SHIFT: u32 = 5;
const LINES: usize = 1 << (32 - LINE_SHIFT);
/// Of both data caches of the SA-1110.
pub const SETS: usize = 8;
const HELD: u32 = 1;
/// Memory has been written to since by another way: the copy is old.
const OLD: u32 = 2;
/// There is more than one MVA.
const SEVERAL: u32 = u32::MAX;

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The same memory may be dirty in the line of this MVA, written by this instruction.
    DirtyAlias { mva: Linear, by: u32 },
    /// The line may be there from before memory was written, by this instruction.
    OldLine { by: u32 },
    /// The line may hold another frame, written (if ever) by this instruction.
    ForeignLine { physical: Physical, by: u32 },
    /// What was written there was dropped from the cache by this instruction before it reached memory.
    Lost { by: u32 },
    /// A read that does not wait for the write buffer, where what this instruction wrote may still be.
    Undrained { by: u32 },
}

pub struct DataCache {
    /// By MVA line: physical line, `OLD` and `HELD`; 0 where nothing is held.
    lines: Vec<u32>,
    /// By MVA line: the words that may be dirty.
    dirty: Vec<u8>,
    /// By MVA line: the instruction that made it dirty, or old.
    writers: Vec<u32>,
    /// By physical line: one more than the MVA line that holds it, or `SEVERAL`.
    holders: Vec<u32>,
    several: HashMap<u32, Vec<u32>>,
    /// The lines of each set of the mini data cache, the older first; they are among `lines` as well.
    mini: [[u32; 2]; SETS],
    /// Every MVA line that is held, and some that no longer are.
    held: Vec<u32>,
    /// Words by physical line that were written and dropped, and by which instruction.
    lost: HashMap<u32, (u8, u32)>,
    /// Words by physical line that are on their way to memory, and the instruction that wrote them.
    buffered: HashMap<u32, (u8, u32)>,
    /// Words by physical line that the last drain of the write buffer has taken out of it.
    drained: HashMap<u32, u8>,
    /// One of these was read since past the buffer: without that drain, too early.
    drain_needed: Cell<bool>,
}

impl Default for DataCache {
    fn default() -> Self {
        DataCache {
            // Fresh zeros take no memory before they are used.
            lines: vec![0; LINES],
            dirty: vec![0; LINES],
            writers: vec![0; LINES],
            holders: vec![0; LINES],
            several: HashMap::new(),
            mini: [[0; 2]; SETS],
            held: Vec::new(),
            lost: HashMap::new(),
            buffered: HashMap::new(),
            drained: HashMap::new(),
            drain_needed: Cell::new(false),
        }
    }
}

fn word(physical: Physical) -> u8 {
    1 << (physical.0 >> 2 & 7)
}

impl DataCache {
    /// A cached access to the word at `physical`; `trouble` is told what is wrong with it.
    #[inline]
    pub fn access(&mut self, mva: Linear, physical: Physical, write: bool, by: u32, trouble: &mut impl FnMut(Trouble)) {
        let (line, frame) = (mva.0 >> LINE_SHIFT, physical.0 >> LINE_SHIFT);
        let alone = self.lines[line as usize] == frame << 2 | HELD && self.holders[frame as usize] == line + 1;
        if !alone || !self.lost.is_empty() {
            self.look(line, frame, physical, write, by, trouble);
        }
        if write && self.dirty[line as usize] & word(physical) == 0 {
            self.dirty[line as usize] |= word(physical);
            self.writers[line as usize] = by;
        }
    }

    #[inline(never)]
    fn look(
        &mut self,
        line: u32,
        frame: u32,
        physical: Physical,
        write: bool,
        by: u32,
        trouble: &mut impl FnMut(Trouble),
    ) {
        let held = self.lines[line as usize];
        if held != 0 && held >> 2 != frame {
            let dirty_by = if self.dirty[line as usize] != 0 { self.writers[line as usize] } else { 0 };
            trouble(Trouble::ForeignLine { physical: Physical(held >> 2 << LINE_SHIFT), by: dirty_by });
            self.remove(line);
        } else if held & OLD != 0 {
            trouble(Trouble::OldLine { by: self.writers[line as usize] });
            self.lines[line as usize] &= !OLD;
        }
        self.other_ways(Some(line), frame, write, by, trouble);
        self.look_for_lost(frame, physical, write, trouble);
        if self.lines[line as usize] == 0 {
            self.insert(line, frame);
        }
    }

    /// An access that goes past the cache, and past the write buffer unless it is `buffered`.
    pub fn uncached(
        &mut self,
        physical: Physical,
        buffered: bool,
        write: bool,
        by: u32,
        trouble: &mut impl FnMut(Trouble),
    ) {
        let frame = physical.0 >> LINE_SHIFT;
        if buffered && write {
            let entry = self.buffered.entry(frame).or_default();
            *entry = (entry.0 | word(physical), by);
        } else if !buffered && !write {
            self.in_buffer(physical).into_iter().for_each(|by| trouble(Trouble::Undrained { by }));
        }
        if self.holders[frame as usize] != 0 {
            self.other_ways(None, frame, write, by, trouble);
        }
        self.look_for_lost(frame, physical, write, trouble);
    }

    /// What the other lines of the same memory mean for an access, and it for them.
    fn other_ways(&mut self, own: Option<u32>, frame: u32, write: bool, by: u32, trouble: &mut impl FnMut(Trouble)) {
        for line in self.holders_of(frame).into_iter().filter(|&line| Some(line) != own) {
            if self.dirty[line as usize] != 0 {
                trouble(Trouble::DirtyAlias { mva: Linear(line << LINE_SHIFT), by: self.writers[line as usize] });
            } else if write && self.lines[line as usize] & OLD == 0 {
                self.lines[line as usize] |= OLD;
                self.writers[line as usize] = by;
            }
        }
    }

    fn look_for_lost(&mut self, frame: u32, physical: Physical, write: bool, trouble: &mut impl FnMut(Trouble)) {
        let Some((words, by)) = self.lost.get_mut(&frame) else { return };
        if *words & word(physical) != 0 && !write {
            trouble(Trouble::Lost { by: *by });
        }
        *words &= !word(physical);
        if *words == 0 {
            self.lost.remove(&frame);
        }
    }

    fn holders_of(&self, frame: u32) -> Vec<u32> {
        match self.holders[frame as usize] {
            0 => Vec::new(),
            SEVERAL => self.several[&frame].clone(),
            line => vec![line - 1],
        }
    }

    fn insert(&mut self, line: u32, frame: u32) {
        self.lines[line as usize] = frame << 2 | HELD;
        self.held.push(line);
        match self.holders[frame as usize] {
            0 => self.holders[frame as usize] = line + 1,
            SEVERAL => self.several.entry(frame).or_default().push(line),
            other => {
                self.several.insert(frame, vec![other - 1, line]);
                self.holders[frame as usize] = SEVERAL;
            }
        }
    }

    fn remove(&mut self, line: u32) {
        let frame = std::mem::take(&mut self.lines[line as usize]) >> 2;
        self.dirty[line as usize] = 0;
        if self.holders[frame as usize] != SEVERAL {
            self.holders[frame as usize] = 0;
            return;
        }
        let others = self.several.entry(frame).or_default();
        others.retain(|&other| other != line);
        if let [last] = others[..] {
            self.several.remove(&frame);
            self.holders[frame as usize] = last + 1;
        }
    }

    /// Writes the line of `mva` to memory, by the write buffer; returns whether anything was dirty.
    pub fn clean(&mut self, mva: Linear) -> bool {
        let line = (mva.0 >> LINE_SHIFT) as usize;
        let words = std::mem::take(&mut self.dirty[line]);
        if words != 0 {
            let entry = self.buffered.entry(self.lines[line] >> 2).or_default();
            *entry = (entry.0 | words, self.writers[line]);
        }
        words != 0
    }

    pub fn clean_all(&mut self) -> bool {
        let held = self.held.clone();
        held.into_iter().fold(false, |any, line| self.clean(Linear(line << LINE_SHIFT)) | any)
    }

    /// As many lines were read as there is room for: everything but those for which `stays` holds is written to memory
    /// and gone. Returns whether anything was dirty.
    pub fn displace(&mut self, stays: impl Fn(u32) -> bool) -> bool {
        let dirty = self.clean_all();
        let (stayed, gone): (Vec<u32>, Vec<u32>) = std::mem::take(&mut self.held).into_iter().partition(|&l| stays(l));
        self.held = stayed;
        for line in gone {
            if self.lines[line as usize] != 0 {
                self.remove(line);
            }
        }
        dirty
    }

    /// An access to `mva` that the mini data cache serves: the oldest line of its set makes room.
    pub fn in_mini_cache(&mut self, mva: Linear) {
        let line = mva.0 >> LINE_SHIFT;
        let set = &mut self.mini[line as usize % SETS];
        if set.contains(&line) {
            return;
        }
        let [oldest, newer] = *set;
        *set = [newer, line];
        let gone = Linear(oldest << LINE_SHIFT);
        self.clean(gone);
        self.invalidate(gone, 0);
    }

    /// Drops the line of `mva`, by the instruction `by`; what is dirty is lost. Returns whether it was there.
    pub fn invalidate(&mut self, mva: Linear, by: u32) -> bool {
        let line = mva.0 >> LINE_SHIFT;
        let held = self.lines[line as usize];
        if held == 0 {
            return false;
        }
        if self.dirty[line as usize] != 0 {
            self.lost.insert(held >> 2, (self.dirty[line as usize], by));
        }
        self.remove(line);
        true
    }

    pub fn invalidate_all(&mut self, by: u32) -> bool {
        std::mem::take(&mut self.held)
            .into_iter()
            .fold(false, |any, line| self.invalidate(Linear(line << LINE_SHIFT), by) | any)
    }

    /// The write buffer is emptied. Returns whether the last time was needed: something was read since, past the
    /// buffer, that would still have been in it.
    pub fn drain(&mut self) -> bool {
        self.drained.clear();
        self.drained.extend(self.buffered.drain().map(|(frame, (words, _))| (frame, words)));
        self.drain_needed.take()
    }

    /// The instruction that wrote the word at `physical`, if it may still be in the write buffer.
    fn in_buffer(&self, physical: Physical) -> Option<u32> {
        let (frame, word) = (physical.0 >> LINE_SHIFT, word(physical));
        if self.drained.get(&frame).is_some_and(|words| words & word != 0) {
            self.drain_needed.set(true);
        }
        self.buffered.get(&frame).filter(|(words, _)| words & word != 0).map(|(_, by)| *by)
    }

    /// Whether the line of `mva` may be held.
    pub fn holds(&self, mva: Linear) -> bool {
        self.lines[(mva.0 >> LINE_SHIFT) as usize] != 0
    }

    /// The instruction that wrote the word at `physical`, if it has perhaps not reached memory.
    #[inline]
    pub fn not_in_memory(&self, physical: Physical) -> Option<u32> {
        let frame = physical.0 >> LINE_SHIFT;
        let dirty = |line: &u32| self.dirty[*line as usize] & word(physical) != 0;
        if let Some(line) = self.holders_of(frame).into_iter().find(dirty) {
            return Some(self.writers[line as usize]);
        }
        self.in_buffer(physical)
    }

    /// The same of any word of the line.
    pub fn line_not_in_memory(&self, physical: Physical) -> Option<u32> {
        let first = Physical(physical.0 >> LINE_SHIFT << LINE_SHIFT);
        (0..1 << LINE_SHIFT).step_by(4).find_map(|offset| self.not_in_memory(first.plus(offset)))
    }
}
