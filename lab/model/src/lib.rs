// SPDX-License-Identifier: GPL-2.0-or-later
//! Machine models as data.
//!
//! A machine is a TOML file (`lab/machines/`): geometry and costs, each with its source. This library reads such a
//! file, builds the components it describes, consumes [`Event`]s, and books every cycle in one [`Category`] of a
//! [`Ledger`]. It knows nothing of the emulator that produces the events: the QEMU plugin feeds it live, and a
//! recorded trace can feed it later. Page tables are reached through [`PageTables`], so a model never guesses a
//! translation.
//!
//! All sums are integers in thousandths of a cycle ([`MILLI`]); nothing is rounded before it is reported.

pub mod arm;
mod associative;
mod block;
mod cache;
mod causes;
mod checkpoint;
mod costs;
mod event;
mod front_end;
mod hits;
mod ledger;
mod machine;
mod machine_file;
mod pairing;
mod past;
mod reports;
pub mod sanitizer;
mod schema;
mod shapes;
mod tlb;
mod tlbs;
mod trace_cache;

pub use associative::{Associative, Replacement};
pub use block::Block;
pub use cache::{Cache, CacheShape, Outcome};
pub use causes::{Causes, Charge, Charges, How, Kind, Space, Sum, Switch, KINDS, UNKNOWN};
pub use checkpoint::Checkpoint;
pub use costs::Costs;
pub use event::{Class, EntryKind, Event, Instruction, Issue, PageTables, Pipe, Walk, CLASSES};
pub use hits::{Hits, Lookup, Situation};
pub use ledger::{Category, Ledger, CATEGORIES};
pub use machine::{Counts, Machine};
pub use machine_file::{MachineFile, Parameter, Value};
pub use past::{Loss, Moment, Running, Tag};
pub use schema::Architecture;
pub use tlb::{Tlb, TlbShape};
pub use trace_cache::{TraceCache, TraceCacheShape};

/// Ledger units in one cycle.
pub const MILLI: u64 = 1000;
