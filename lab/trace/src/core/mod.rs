// SPDX-License-Identifier: GPL-2.0-or-later
//! The calls of a [`Sink`], what makes and takes them, and what records consist of: the same for guests with any
//! [`Processor`].

pub mod causes;
mod chunks;
mod code_ranges;
mod effects;
mod footprint;
pub(crate) mod format;
mod functions;
mod header;
mod live;
mod marker;
mod measurement;
mod mode;
mod named;
pub mod processor;
mod recorder;
mod regions;
mod repetition;
mod replay;
mod run;
mod sink;
mod stretch;
mod successions;
mod translations;
mod warnings;
mod windows;

pub use header::{CodeRange, Header, ProgramCode};
pub use live::Live;
pub use marker::Marker;
pub use measurement::{Checkpoint, Measurement};
pub use mode::Mode;
pub use processor::Processor;
pub use recorder::Recorder;
pub use replay::Replay;
pub use run::Run;
pub use sink::Sink;
pub use stretch::Stretch;
pub use windows::{Plan, Windows};
