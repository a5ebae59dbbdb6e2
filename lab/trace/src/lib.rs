// SPDX-License-Identifier: GPL-2.0-or-later
//! What happens in a guest, as one stream of calls.
//!
//! The QEMU plugin sees a guest run and makes the calls of [`Sink`]. A [`Measurement`] is a sink that counts, feeds a
//! machine model and reports what the guest's markers delimit.

mod code_ranges;
mod counters;
mod footprint;
mod measurement;
mod regions;
mod run;
mod sink;

pub use code_ranges::CodeRange;
pub use counters::Mode;
pub use measurement::Measurement;
pub use run::Run;
pub use sink::{Marker, Sink};
