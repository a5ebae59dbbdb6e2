// SPDX-License-Identifier: GPL-2.0-or-later
//! Bits of the control registers that have to do with paging (Intel SDM volume 3, 2.5).

pub const CR0_PAGING: u32 = 1 << 31;
pub const CR0_WRITE_PROTECT: u32 = 1 << 16;
pub const CR4_LARGE_PAGES: u32 = 1 << 4;
pub const CR4_PAE: u32 = 1 << 5;
pub const CR4_GLOBAL_PAGES: u32 = 1 << 7;

/// The bits whose change drops every translation, global ones too (4.10.4.1). A write that changes none of them, such
/// as one of CR0.TS, drops nothing.
pub fn emptying(cr0: u32, cr4: u32) -> u32 {
    cr0 & CR0_PAGING | cr4 & (CR4_LARGE_PAGES | CR4_PAE | CR4_GLOBAL_PAGES)
}
