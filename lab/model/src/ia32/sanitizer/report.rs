// SPDX-License-Identifier: GPL-2.0-or-later
//! The kinds of mistakes that are reported.

use crate::core::reports::{self, Mistake};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A cached translation whose table entry has since lost what was used.
    StaleTranslation,
    /// The same where the directory entry lost it.
    StaleDirectoryEntry,
    /// A global translation that outlived its entry, its slot or a promotion across a change of page tables.
    StaleGlobal,
    /// A copied directory entry used after the space that its table belongs to has gone elsewhere.
    StaleCopy,
    /// An access past the limit of the segment that it was made through.
    SegmentLimit,
    /// User code with a segment of 4 GB.
    FlatSegment,
    /// User code with a segment that is no longer what its descriptor says.
    ForeignSegment,
}

impl Mistake for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::StaleTranslation => "stale-translation",
            Kind::StaleDirectoryEntry => "stale-directory-entry",
            Kind::StaleGlobal => "stale-global",
            Kind::StaleCopy => "stale-copy",
            Kind::SegmentLimit => "segment-limit",
            Kind::FlatSegment => "flat-segment",
            Kind::ForeignSegment => "foreign-segment",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Kind::StaleTranslation => "uses a translation whose table entry has changed",
            Kind::StaleDirectoryEntry => "uses a translation whose directory entry has changed",
            Kind::StaleGlobal => "uses a global translation that has outlived its page-table entries",
            Kind::StaleCopy => "goes through a copied directory entry of a space that has since run elsewhere",
            Kind::SegmentLimit => "reaches past the limit of its segment",
            Kind::FlatSegment => "runs at user privilege with a flat segment",
            Kind::ForeignSegment => "has a segment that differs from its descriptor",
        }
    }
}

pub type Report = reports::Report<Kind>;
pub type Reports = reports::Reports<Kind>;
