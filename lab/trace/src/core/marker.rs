// SPDX-License-Identifier: GPL-2.0-or-later
//! What the guest tells the laboratory.

/// What the guest says with a marker instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Case `.0` begins.
    Begin(u32),
    /// One iteration ends, the next starts.
    Iteration,
    /// One iteration ends, and none starts until the next [`Marker::Iteration`].
    Pause,
    /// The iteration that has started is none after all, and none starts until then.
    Drop,
    /// The case ends.
    End,
    /// A marker of unknown kind: nothing but a moment up to which totals are known.
    Other,
}
