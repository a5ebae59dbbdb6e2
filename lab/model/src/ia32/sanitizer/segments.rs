// SPDX-License-Identifier: GPL-2.0-or-later
//! The hidden parts of the segment registers: base and limit as they were when each register was loaded.

use crate::Linear;

pub const ES: usize = 0;
pub const CS: usize = 1;
pub const SS: usize = 2;
pub const DS: usize = 3;
pub const FS: usize = 4;
pub const GS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub selector: u32,
    pub base: Linear,
    /// Offset of the last byte (expand-down: of the last byte below the segment).
    pub limit: u32,
    pub expand_down: bool,
    /// False after a null selector: no access is allowed.
    pub usable: bool,
}

pub const FLAT: Segment = Segment { selector: 0, base: Linear(0), limit: u32::MAX, expand_down: false, usable: true };

impl Segment {
    /// What a load of `selector` takes from its descriptor.
    pub fn of(selector: u32, low: u32, high: u32) -> Segment {
        let raw = low & 0xffff | high & 0xf_0000;
        let granular = high >> 23 & 1 == 1;
        Segment {
            selector,
            base: Linear(low >> 16 | (high & 0xff) << 16 | high & 0xff00_0000),
            limit: if granular { raw << 12 | 0xfff } else { raw },
            expand_down: high >> 10 & 3 == 1, // data, expanding down
            usable: true,
        }
    }

    pub fn null(selector: u32) -> Segment {
        Segment { selector, base: Linear(0), limit: 0, expand_down: false, usable: false }
    }

    pub fn is_flat(&self) -> bool {
        self.usable && self.base == Linear(0) && self.limit == u32::MAX && !self.expand_down
    }

    /// Whether all bytes of an access lie inside.
    #[inline]
    pub fn holds(&self, linear: Linear, size: u32) -> bool {
        let first = linear.minus(self.base);
        let Some(last) = first.checked_add(size - 1) else { return self.is_flat() };
        self.usable && if self.expand_down { first > self.limit } else { last <= self.limit }
    }

    /// Same place and size, whatever the selector's privilege bits.
    pub fn covers_same(&self, other: &Segment) -> bool {
        self.usable == other.usable
            && self.base == other.base
            && self.limit == other.limit
            && self.expand_down == other.expand_down
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_bytes_or_pages() {
        let bytes = Segment::of(0x2b, 0x0000_0003, 0xff40_f1c0);
        assert_eq!((bytes.base, bytes.limit), (Linear(0xffc0_0000), 3));
        assert!(
            bytes.holds(Linear(0xffc0_0000), 4)
                && !bytes.holds(Linear(0xffc0_0000), 8)
                && !bytes.holds(Linear(0xffc0_0001), 4)
        );
        let pages = Segment::of(0x1b, 0x0000_00ff, 0x40c0_fb00);
        assert_eq!((pages.base, pages.limit), (Linear(0x4000_0000), 0xf_ffff));
        assert!(
            pages.holds(Linear(0x400f_fffc), 4)
                && !pages.holds(Linear(0x4010_0000), 1)
                && !pages.holds(Linear(0x3fff_ffff), 1)
        );
        assert!(FLAT.is_flat() && FLAT.holds(Linear(u32::MAX - 3), 4) && !pages.is_flat());
    }

    #[test]
    fn a_segment_that_expands_down_begins_past_its_limit() {
        let down = Segment::of(0x23, 0x0000_0fff, 0x0040_f700);
        assert!(down.expand_down && down.holds(Linear(0x1000), 4) && !down.holds(Linear(0xfff), 1));
    }

    #[test]
    fn a_null_selector_holds_nothing() {
        assert!(!Segment::null(0).holds(Linear(0), 1));
    }
}
