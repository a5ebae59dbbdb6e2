// SPDX-License-Identifier: GPL-2.0-or-later
//! The two kinds of addresses, which are never taken for each other.
//!
//! Where an instruction stands that did something (`at`, `store`, `instruction`) is a plain number as its program has
//! it: it is looked up among symbols, and nothing else is found by it.

use std::fmt;

/// An address that page tables translate, and the caches and TLBs of linear addresses find things by: on IA-32 with the
/// base of the segment added, on ARM a modified virtual address (MVA), with the process identifier in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear(pub u32);

/// What an address is translated to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Physical(pub u32);

/// The number of a page of 4 KB of linear addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Page(pub u32);

/// Bits of an address within its page of 4 KB.
const WITHIN: u32 = 0xfff;

/// What a structure of the processor finds things by.
pub trait Address: Copy {
    fn bits(self) -> u32;
}

impl Address for Linear {
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0
    }
}

impl Address for Physical {
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0
    }
}

impl Linear {
    /// So many bytes further on; behind the last address comes the first one.
    #[inline(always)]
    pub const fn plus(self, bytes: u32) -> Self {
        Linear(self.0.wrapping_add(bytes))
    }

    /// How many bytes it lies behind `other`.
    #[inline(always)]
    pub const fn minus(self, other: Linear) -> u32 {
        self.0.wrapping_sub(other.0)
    }

    #[inline(always)]
    pub const fn page(self) -> Page {
        Page(self.0 >> 12)
    }

    /// Bytes from the start of its page.
    #[inline(always)]
    pub const fn within(self) -> u32 {
        self.0 & WITHIN
    }
}

impl Page {
    /// Its first address.
    #[inline(always)]
    pub const fn start(self) -> Linear {
        Linear(self.0 << 12)
    }
}

impl Physical {
    #[inline(always)]
    pub const fn plus(self, bytes: u32) -> Self {
        Physical(self.0.wrapping_add(bytes))
    }

    /// The first address of the 4 KB that it lies in.
    #[inline(always)]
    pub const fn frame(self) -> Self {
        Physical(self.0 & !WITHIN)
    }

    /// Where `linear` is, whose page is in this frame.
    #[inline(always)]
    pub const fn at(self, linear: Linear) -> Self {
        Physical(self.0 | linear.within())
    }
}

impl fmt::LowerHex for Linear {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl fmt::LowerHex for Physical {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}
