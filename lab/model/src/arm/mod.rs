// SPDX-License-Identifier: GPL-2.0-or-later
//! ARM processors with virtual caches (ARMv4 and ARMv5): the machine and what it consumes.
//!
//! Addresses are *modified virtual addresses* (MVA): what the process identifier makes of a program's address below 32
//! MB. Caches and TLBs find everything by it, and by nothing else: there are no address-space tags. A TLB entry keeps
//! the domain of the first-level entry that it came from; the domain access register says at each access whether it
//! may be used, so a write of that register takes nothing away.

mod costs;
mod event;
mod instruction;
mod machine;
mod operation;
pub mod sanitizer;
pub(crate) mod schema;
mod tables;
mod tlb;
mod write_buffer;

pub use costs::Costs;
pub use event::{Event, Exception, EXCEPTIONS};
pub use instruction::{Block, Class, Instruction, CLASSES};
pub use machine::{Counts, Machine};
pub use operation::{Operation, Side};
pub use tables::{translate, Translation};
pub use tlb::Tlb;
