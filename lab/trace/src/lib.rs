// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens in a guest, as one stream of calls.
//!
//! The QEMU plugin sees a guest run and makes the calls of [`Sink`]. A [`Measurement`] is a sink that counts, feeds a
//! machine model and reports what the guest's markers delimit. A [`Recorder`] is one that writes a record, from which
//! [`Replay`] makes the same calls again: so a measurement of a replay is that of the run, on whatever machine.
//!
//! All of these are in `core`; [`ia32`] and [`arm`] say what is counted, what a record holds of it and which machine it
//! is told to on each [`Processor`].

pub mod arm;
mod core;
pub mod ia32;

pub use self::core::{
    causes, processor, Checkpoint, CodeRange, Header, Live, Marker, Measurement, Mode, Plan, Processor, ProgramCode,
    Recorder, Replay, Run, Sink, Stretch, Windows,
};
