// SPDX-License-Identifier: GPL-2.0-or-later
//! Machine models as data.
//!
//! A machine is a TOML file (`lab/machines/`): geometry and costs, each with its source. This library reads such a
//! file, builds the components it describes, consumes what happens in a guest, and books every cycle in one
//! [`Category`] of a [`Ledger`]. It knows nothing of the emulator that sees these things happen: the QEMU plugin feeds
//! it live, and a record can feed it later. Page tables are reached through a trait, so a model never guesses a
//! translation.
//!
//! [`ia32`] and [`arm`] are the processors: what a machine of theirs is made of, what happens to it, and a sanitizer
//! that finds the invalidations that a kernel of theirs forgot. What both are made of is in `core` and belongs to this
//! module's names.
//!
//! All sums are integers in thousandths of a cycle ([`MILLI`]); nothing is rounded before it is reported.

pub mod arm;
mod core;
pub mod ia32;

pub use self::core::{
    Address, Architecture, AsTagged, Associative, Cache, CacheShape, Category, Causes, Charge, Charges, Code, Counted,
    How, Kind, Ledger, Linear, Lookup, Loss, MachineFile, Mapping, Mistake, Moment, Outcome, Page, Parameter, Physical,
    PhysicalMemory, Replacement, Report, Reports, Running, Space, Sum, Switch, Tables, Tag, Value, CATEGORIES, KINDS,
    UNKNOWN,
};

/// What machine files are read with; for other descriptions, too.
pub use toml;

/// Ledger units in one cycle.
pub const MILLI: u64 = 1000;
