// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports: one for each kind of mistake, instruction and guilty store, however often it happens.

use crate::reports::{self, Repeated};

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

impl Kind {
    pub fn name(self) -> &'static str {
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

    pub fn sentence(self) -> &'static str {
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

#[derive(Clone, Debug)]
pub struct Report {
    pub kind: Kind,
    /// Linear address of the instruction that made the access, and whether it ran at user privilege.
    pub instruction: u32,
    pub user: bool,
    pub cr3: u32,
    pub linear: u32,
    pub write: bool,
    /// The access came to a page fault, which the stale translation would have spared it.
    pub faulted: bool,
    /// The instruction whose store should have been followed by an invalidation; 0 if there was none.
    pub store: u32,
    /// Physical address of the entry that it changed.
    pub entry: u32,
    pub detail: String,
    pub count: u64,
}

impl Repeated for Report {
    type Key = (Kind, u32, u32);

    fn key(&self) -> Self::Key {
        (self.kind, self.instruction, self.store)
    }

    fn repeat(&mut self) {
        self.count += 1;
    }
}

pub type Reports = reports::Reports<Report>;
