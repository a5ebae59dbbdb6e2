// SPDX-License-Identifier: GPL-2.0-or-later
//! The QEMU plugin: counts what a guest does between markers and feeds a machine model.
//!
//! [`ia32`] and [`arm`] follow guests with these processors: each decodes instructions, finds out where they are
//! executed, and tells the run's observer what happens. `core` is what both need: arguments, the kernel's symbols, the
//! guest's memory, and `mode=stretch`, for which all processors are the same.
//!
//! This file is where QEMU loads the plugin; the folders install their own callbacks. The guest has one processor and,
//! under `-icount`, one thread runs it, so one follower serves all callbacks. Requires plugin API 4 (QEMU 9.1 or
//! later). See docs/lab.md.

mod arm;
mod core;
mod ia32;

use crate::core::idle;
use crate::core::setup::{self, fail};
use crate::core::stretch;
use cobnut_model::Architecture;
use qemu_plugin_sys as qemu;
use std::ffi::{c_char, c_int, CStr};

/// The interface version that QEMU checks before it loads a plugin.
#[no_mangle]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = qemu::QEMU_PLUGIN_VERSION as c_int;

/// Entry point: QEMU calls this once when it loads the plugin.
///
/// # Safety
/// QEMU passes valid pointers.
#[no_mangle]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu::qemu_plugin_id_t,
    info: *const qemu::qemu_info_t,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let target = CStr::from_ptr((*info).target_name).to_string_lossy();
    let architecture = match (&*target, (*info).system_emulation) {
        ("i386", true) => Architecture::Ia32,
        ("arm", true) => Architecture::Arm,
        _ => fail(&format!("needs qemu-system-i386 or qemu-system-arm, this is {target}")),
    };
    if (*info).__bindgen_anon_1.system.max_vcpus > 1 {
        fail("only guests with one processor can be followed");
    }
    let words = (0..argc as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_str().unwrap_or(""));
    match setup::prepare(words, architecture) {
        Ok(setup) => setup::keep(setup),
        Err(message) => fail(&message),
    }
    if setup::setup().arguments.idle {
        idle::install(id);
        return 0;
    }
    if setup::setup().arguments.stretch {
        stretch::install(id, architecture);
        return 0;
    }
    match architecture {
        Architecture::Ia32 => ia32::install(id),
        Architecture::Arm => arm::install(id),
    }
    0
}
