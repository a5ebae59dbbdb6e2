// SPDX-License-Identifier: GPL-2.0-or-later
//! The kinds of mistakes that are reported.

use crate::core::reports::{self, Mistake};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A TLB may translate by an entry that has since changed.
    StaleTranslation,
    /// It may refuse, by an older entry, what the tables permit: the fault that follows comes again and again.
    StaleRefusal,
    /// A TLB may translate by tables that are no longer in force.
    StaleTables,
    /// The table walk reads an entry whose new value may still be in the data cache or the write buffer.
    UncleanedEntry,
    /// Memory is used of which the cache may hold something newer under another address.
    DirtyAlias,
    /// The cache may hold what memory was before it was written to under another address.
    OldLine,
    /// The cache may hold a line of another frame at this address.
    ForeignLine,
    /// What was written was dropped from the cache before it reached memory.
    LostLine,
    /// Memory is read past the write buffer, where what was written there may still be.
    Undrained,
    /// Code is fetched that may still be in the data cache or the write buffer.
    UncleanedCode,
    /// The instruction cache may hold what was there before memory was written.
    OldCode,
    /// The instruction cache may hold a line of another frame at this address.
    ForeignCode,
}

impl Mistake for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::StaleTranslation => "stale-translation",
            Kind::StaleRefusal => "stale-refusal",
            Kind::StaleTables => "stale-tables",
            Kind::UncleanedEntry => "uncleaned-entry",
            Kind::DirtyAlias => "dirty-alias",
            Kind::OldLine => "old-line",
            Kind::ForeignLine => "foreign-line",
            Kind::LostLine => "lost-line",
            Kind::Undrained => "undrained",
            Kind::UncleanedCode => "uncleaned-code",
            Kind::OldCode => "old-code",
            Kind::ForeignCode => "foreign-code",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Kind::StaleTranslation => "uses a translation whose entry has changed",
            Kind::StaleRefusal => "may be refused by a translation whose entry has changed",
            Kind::StaleTables => "uses a translation of tables that are no longer in force",
            Kind::UncleanedEntry => "is translated by an entry that may not be in memory yet",
            Kind::DirtyAlias => "uses memory that may be dirty in the cache under another address",
            Kind::OldLine => "may find a line from before memory was written under another address",
            Kind::ForeignLine => "may find a line of another frame",
            Kind::LostLine => "reads what was dropped from the cache before it was in memory",
            Kind::Undrained => "reads past the write buffer what may still be in it",
            Kind::UncleanedCode => "fetches code that may not be in memory yet",
            Kind::OldCode => "may find code from before memory was written",
            Kind::ForeignCode => "may find code of another frame",
        }
    }
}

pub type Report = reports::Report<Kind>;
pub type Reports = reports::Reports<Kind>;
