// SPDX-License-Identifier: GPL-2.0-or-later
//! What sanitizers and walks of page tables read.

use super::address::Physical;

/// Guest memory as the processor's page walker reads it.
pub trait PhysicalMemory {
    fn word(&self, physical: Physical) -> Option<u32>;
}
