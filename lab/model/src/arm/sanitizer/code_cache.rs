// SPDX-License-Identifier: GPL-2.0-or-later
//! What a virtual instruction cache may hold: every line that was fetched since it was invalidated.

use super::data_cache::LINE_SHIFT;
use crate::{Linear, Physical};
use std::collections::HashMap;

/// What is wrong with a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The line may be there from before memory was written, by this instruction.
    OldLine { by: u32 },
    /// The line may hold another frame.
    ForeignLine { physical: Physical },
}

#[derive(Default)]
pub struct CodeCache {
    /// By MVA line: physical line, and the instruction that has written there since (0: none).
    lines: HashMap<u32, (u32, u32)>,
    holders: HashMap<u32, Vec<u32>>,
    /// A bit for each physical line that may be held.
    held: Vec<u64>,
}

impl CodeCache {
    pub fn new() -> Self {
        // Fresh zeros take no memory before they are used.
        CodeCache { held: vec![0; 1 << (32 - LINE_SHIFT - 6)], ..CodeCache::default() }
    }

    /// A line is fetched.
    pub fn fetch(&mut self, mva: Linear, physical: Physical) -> Option<Trouble> {
        let (line, frame) = (mva.0 >> LINE_SHIFT, physical.0 >> LINE_SHIFT);
        let known = self.lines.insert(line, (frame, 0));
        if known.is_none_or(|(held, _)| held != frame) {
            self.holders.entry(frame).or_default().push(line);
            self.held[frame as usize / 64] |= 1 << (frame % 64);
        }
        match known? {
            (held, _) if held != frame => Some(Trouble::ForeignLine { physical: Physical(held << LINE_SHIFT) }),
            (_, 0) => None,
            (_, by) => Some(Trouble::OldLine { by }),
        }
    }

    /// Whether code of this line may be held.
    #[inline]
    pub fn holds(&self, physical: Physical) -> bool {
        let frame = physical.0 >> LINE_SHIFT;
        self.held[frame as usize / 64] >> (frame % 64) & 1 == 1
    }

    /// Memory that may be held was written by the instruction `by`.
    pub fn stored(&mut self, physical: Physical, by: u32) {
        let frame = physical.0 >> LINE_SHIFT;
        for line in self.holders.get(&frame).into_iter().flatten() {
            if let Some((_, written)) = self.lines.get_mut(line).filter(|(held, _)| *held == frame) {
                *written = by;
            }
        }
    }

    /// Returns whether anything was held.
    pub fn invalidate_all(&mut self) -> bool {
        for frame in self.holders.drain().map(|(frame, _)| frame) {
            self.held[frame as usize / 64] = 0;
        }
        let any = !self.lines.is_empty();
        self.lines.clear();
        any
    }

    pub fn invalidate(&mut self, mva: Linear) -> bool {
        self.lines.remove(&(mva.0 >> LINE_SHIFT)).is_some()
    }
}
