// SPDX-License-Identifier: GPL-2.0-or-later
//! The callbacks that QEMU calls alike for guests with any processor.

use super::setup::{fail, setup, Setup};
use qemu_plugin_sys as qemu;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

extern "C" {
    fn _exit(status: i32) -> !;
}

/// Follows a guest for an observer.
pub trait Follow: Sized + 'static {
    /// A block of QEMU's.
    type Block;

    /// The processor with this number comes to life.
    fn create(setup: &'static Setup, cpu: c_uint) -> Result<Self, String>;

    /// A block is about to be executed. Blocks live as long as the run.
    fn block_started(&mut self, block: &mut Self::Block);

    /// Whether the run has to end before its time.
    fn over(&self) -> bool;

    /// Writes what there is to be written at the end.
    fn finish(&mut self, setup: &Setup) -> std::io::Result<()>;
}

/// The one follower of the run.
static mut FOLLOWER: *mut c_void = null_mut();

/// Only called from callbacks, after the processor came to life, and always for the same follower.
#[inline]
pub fn follower<F: Follow>() -> &'static mut F {
    unsafe { &mut *FOLLOWER.cast::<F>() }
}

/// Installs the callbacks that begin and end a run, and the one that sees blocks when they are translated.
pub unsafe fn install<F: Follow>(
    id: qemu::qemu_plugin_id_t,
    translated: unsafe extern "C" fn(qemu::qemu_plugin_id_t, *mut qemu::qemu_plugin_tb),
) {
    qemu::qemu_plugin_register_vcpu_init_cb(id, Some(processor_created::<F>));
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(translated));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished::<F>), null_mut());
}

unsafe extern "C" fn processor_created<F: Follow>(_id: qemu::qemu_plugin_id_t, cpu: c_uint) {
    let follower = F::create(setup(), cpu).unwrap_or_else(|e| fail(&e));
    FOLLOWER = Box::into_raw(Box::new(follower)).cast();
}

/// Something that outlives the run: QEMU may hold pointers to it.
pub fn lasting<T>(what: T) -> *mut T {
    Box::into_raw(Box::new(what))
}

/// Has the follower told whenever the block starts.
pub unsafe fn follow_block<F: Follow>(tb: *mut qemu::qemu_plugin_tb, block: *mut F::Block) {
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started::<F>), registers, block.cast());
}

unsafe extern "C" fn block_started<F: Follow>(_cpu: c_uint, block: *mut c_void) {
    let follower = follower::<F>();
    follower.block_started(&mut *block.cast::<F::Block>());
    if follower.over() {
        write_report::<F>();
        _exit(0); // the ordinary way out would wait for this very thread
    }
}

unsafe extern "C" fn finished<F: Follow>(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    if !FOLLOWER.is_null() {
        write_report::<F>();
    }
}

unsafe fn write_report<F: Follow>() {
    let setup = setup();
    if let Err(error) = follower::<F>().finish(setup) {
        fail(&format!("cannot write {}: {error}", setup.arguments.out.display()));
    }
}

/// The bytes of the instruction with this number in a block, at most `N`; and how many it has.
pub unsafe fn bytes_of<const N: usize>(tb: *mut qemu::qemu_plugin_tb, index: usize) -> ([u8; N], usize) {
    let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
    let mut bytes = [0u8; N];
    let length = qemu::qemu_plugin_insn_size(instruction).min(N);
    qemu::qemu_plugin_insn_data(instruction, bytes.as_mut_ptr().cast(), length);
    (bytes, length)
}
