// SPDX-License-Identifier: GPL-2.0-or-later
//! `mode=idle`: the callbacks of a measurement, which do nothing. How much longer a run takes with them is what QEMU
//! itself takes for calling a plugin.

use qemu_plugin_sys as qemu;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

/// Installs the callbacks.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated));
}

unsafe extern "C" fn block_translated(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started), registers, null_mut());
    for index in 0..qemu::qemu_plugin_tb_n_insns(tb) {
        let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
        qemu::qemu_plugin_register_vcpu_mem_cb(instruction, Some(memory_accessed), none, both, null_mut());
    }
}

unsafe extern "C" fn block_started(_cpu: c_uint, _data: *mut c_void) {}

unsafe extern "C" fn memory_accessed(
    _cpu: c_uint,
    _info: qemu::qemu_plugin_meminfo_t,
    _linear: u64,
    _data: *mut c_void,
) {
}
