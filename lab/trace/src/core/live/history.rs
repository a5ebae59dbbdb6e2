// SPDX-License-Identifier: GPL-2.0-or-later
//! The calls that were made last, and whether they repeat themselves.

use super::calls::Call;

/// Calls that are remembered; no loop is found whose rounds have more than half of them.
const MOST: usize = 1 << 14;

/// Where a run was executed last, and how many calls after the time before that.
#[derive(Clone, Copy, Default)]
struct Place {
    last: u32,
    distance: u32,
}

#[derive(Default)]
pub(super) struct History {
    calls: Vec<Call>,
    /// How many calls there were before them.
    before: u32,
    /// By the run's number.
    places: Vec<Place>,
    /// The calls repeat those that stand so much earlier, or 0, and how many do.
    length: usize,
    repeated: usize,
}

impl History {
    #[inline(always)]
    pub fn put(&mut self, call: Call) {
        if self.length > 0 {
            match self.calls[self.calls.len() - self.length] == call {
                true => self.repeated += 1,
                false => self.length = 0,
            }
        }
        if self.calls.len() == MOST {
            self.drop_half();
        }
        self.calls.push(call);
    }

    #[inline(never)]
    fn drop_half(&mut self) {
        self.calls.drain(..MOST / 2);
        self.before = self.before.wrapping_add(MOST as u32 / 2);
    }

    /// Whether the calls up to now, when the run with this number is executed, repeat those that stand some `length`
    /// earlier; returns that and how many do.
    #[inline(always)]
    pub fn repeats(&mut self, run: u32) -> Option<(usize, usize)> {
        if self.length > 0 {
            return Some((self.length, self.repeated));
        }
        let now = self.before.wrapping_add(self.calls.len() as u32);
        let Some(place) = self.places.get_mut(run as usize) else {
            self.places.resize(run as usize + 1, Place::default());
            return None;
        };
        let distance = now.wrapping_sub(place.last);
        let as_before = distance == place.distance;
        *place = Place { last: now, distance };
        if as_before {
            self.compare(distance as usize);
        }
        None
    }

    #[inline(never)]
    fn compare(&mut self, length: usize) {
        let Some(start) = self.calls.len().checked_sub(2 * length).filter(|_| length > 0) else { return };
        let (one, other) = self.calls[start..].split_at(length);
        if one == other {
            (self.length, self.repeated) = (length, length);
        }
    }

    /// The last `length` calls.
    pub fn last(&self, length: usize) -> &[Call] {
        &self.calls[self.calls.len() - length..]
    }

    pub fn clear(&mut self) {
        self.before = self.before.wrapping_add(self.calls.len() as u32);
        self.calls.clear();
        (self.length, self.repeated) = (0, 0);
    }
}
