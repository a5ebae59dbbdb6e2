// SPDX-License-Identifier: GPL-2.0-or-later
//! The modes that instructions are counted for.

/// What runs. The numbers are those of a record (docs/trace.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    Kernel,
    /// The kernel interface page.
    Stub,
    /// The way from `sysexit` back to a user's own segments, on IA-32.
    Trampoline,
    User,
}

impl Mode {
    /// The mode that `mode as u8` was.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Mode::Kernel, Mode::Stub, Mode::Trampoline, Mode::User].into_iter().find(|&mode| mode as u8 == code)
    }
}
