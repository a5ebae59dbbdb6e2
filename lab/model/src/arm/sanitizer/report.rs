// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports: one for each kind of mistake, instruction and guilty store, however often it happens.

use crate::reports::{self, Repeated};

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

impl Kind {
    pub fn name(self) -> &'static str {
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

    pub fn sentence(self) -> &'static str {
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

#[derive(Clone, Debug)]
pub struct Report {
    pub kind: Kind,
    /// Address of the instruction that made the access, before relocation, and whether it ran at user privilege.
    pub instruction: u32,
    pub user: bool,
    pub table_base: u32,
    pub mva: u32,
    pub write: bool,
    /// The access came to a fault, which the stale translation would have spared it.
    pub faulted: bool,
    /// The instruction whose store (or operation) made it wrong; 0 if unknown.
    pub store: u32,
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
