// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens in a guest, as one stream of calls.
//!
//! The QEMU plugin sees a guest run and makes the calls of [`Sink`]. A [`Measurement`] is a sink that counts, feeds a
//! machine model and reports what the guest's markers delimit. A [`Recorder`] is one that writes a record, from which
//! [`Replay`] makes the same calls again: so a measurement of a replay is that of the run, on whatever machine.

pub mod causes;
mod chunks;
mod code_ranges;
mod counters;
mod effects;
mod events;
mod footprint;
mod format;
mod header;
mod measurement;
mod recorder;
mod regions;
mod repetition;
mod replay;
mod run;
mod sink;
mod stretch;
mod translations;
mod warnings;

pub use code_ranges::CodeRange;
pub use counters::Mode;
pub use events::Events;
pub use header::Header;
pub use measurement::{Checkpoint, Measurement};
pub use recorder::Recorder;
pub use replay::Replay;
pub use run::Run;
pub use sink::{Marker, Sink};
pub use stretch::Stretch;
