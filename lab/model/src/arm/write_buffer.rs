// SPDX-License-Identifier: GPL-2.0-or-later
//! The write buffer: stores and written-back lines leave the processor one after the other while it goes on, until
//! there is no room.

use crate::Physical;

/// No store went there.
const NOWHERE: Physical = Physical(u32::MAX);

/// Times are in thousandths of a cycle since the start of the run.
pub(crate) struct WriteBuffer {
    entries: u64,
    /// Bytes that one entry can gather.
    bytes: u32,
    write: u64,
    /// When everything that is in it will have left.
    empty_at: u64,
    /// Where the store before went: those that follow it into the same entry take no other one.
    last: Physical,
}

impl WriteBuffer {
    /// Writing one of the `entries` takes `write`.
    pub fn new(entries: u64, bytes: u32, write: u64) -> Self {
        WriteBuffer { entries, bytes, write, empty_at: 0, last: NOWHERE }
    }

    /// A store to `physical` at `now`; returns how long it has to wait.
    pub fn store(&mut self, physical: Physical, now: u64) -> u64 {
        let gathered = physical == self.last.plus(4) && physical.0 & (self.bytes - 1) != 0 && self.empty_at > now;
        self.last = Physical(physical.0 & !3);
        if gathered {
            0
        } else {
            self.take(1, self.write, now)
        }
    }

    /// A line that takes so many entries and `time` to be written.
    pub fn line(&mut self, entries: u64, time: u64, now: u64) -> u64 {
        self.last = NOWHERE;
        self.take(entries, time / entries.max(1), now)
    }

    fn take(&mut self, entries: u64, each: u64, now: u64) -> u64 {
        self.empty_at = self.empty_at.max(now) + entries * each;
        let room = self.entries * each;
        (self.empty_at - now).saturating_sub(room)
    }

    /// How long until it is empty.
    pub fn drain(&mut self, now: u64) -> u64 {
        self.last = NOWHERE;
        self.empty_at.saturating_sub(now)
    }
}
