// SPDX-License-Identifier: GPL-2.0-or-later
//! IA-32 processors, from the 486 to the Pentium 4: the machine and what it consumes.
//!
//! Addresses are linear; caches are found by physical addresses, unless a machine file says otherwise, and TLBs lose
//! what is not global when CR3 is written.

mod block;
mod checkpoint;
pub mod control;
mod costs;
mod counts;
mod event;
mod front_end;
mod hits;
mod machine;
mod pairing;
mod prediction;
pub mod sanitizer;
pub(crate) mod schema;
mod shapes;
mod stores;
mod tlb;
mod tlbs;
mod trace_cache;

pub use block::Block;
pub use checkpoint::Checkpoint;
pub use costs::Costs;
pub use counts::Counts;
pub use event::{Class, Condition, EntryKind, Event, Instruction, Issue, Pipe, Walk, CLASSES};
pub use hits::{Hits, Situation};
pub use machine::Machine;
pub use tlb::{Tlb, TlbShape};
pub use trace_cache::{TraceCache, TraceCacheShape};
