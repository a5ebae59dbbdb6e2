// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests with an ARM processor: the seam to QEMU. It installs the callbacks and hands them to the [`follower`].

mod counters;
mod decode;
mod follower;
mod functions;
mod measurement;
mod memory;
mod regions;
mod registers;

use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::{fail, Setup, SETUP};
use decode::Special;
use follower::{Block, Follower};
use functions::Functions;
use measurement::Measurement;
use memory::Memory;
use qemu_plugin_sys as qemu;
use registers::Registers;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

type Measured = Follower<Measurement>;
type MeasuredBlock = Block<cobnut_model::arm::Block>;

static mut FOLLOWER: *mut Measured = null_mut();
/// One word: the number of the instruction that began last in its block.
static mut BEGAN: *mut qemu::qemu_plugin_scoreboard = null_mut();

/// A special instruction of a block.
struct Site {
    block: *const MeasuredBlock,
    index: usize,
}

/// Only called from callbacks, after the processor came to life.
#[inline]
fn follower() -> &'static mut Measured {
    unsafe { &mut *FOLLOWER }
}

/// Installs the callbacks.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    BEGAN = qemu::qemu_plugin_scoreboard_new(size_of::<u64>());
    qemu::qemu_plugin_register_vcpu_init_cb(id, Some(processor_created));
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished), null_mut());
}

fn memory(setup: &Setup) -> Result<Memory, String> {
    Ok(Memory::new(GuestMemory::map(&setup.arguments.ram)?, setup.arguments.base))
}

fn measurement(setup: &Setup) -> Result<Measurement, String> {
    let arguments = &setup.arguments;
    let symbols = match &arguments.kernel {
        Some(path) => KernelImage::symbols(path)?,
        None => Default::default(),
    };
    let functions = Functions::new(symbols);
    let mut measurement =
        Measurement::new(setup.file.as_ref(), &arguments.overrides, functions, arguments.from_begin);
    if setup.kernel.interface_frame.is_none() {
        measurement.warnings.push("no symbol kip: stub instructions count as user".to_string());
    }
    Ok(measurement)
}

unsafe extern "C" fn processor_created(_id: qemu::qemu_plugin_id_t, cpu: c_uint) {
    let setup = &*SETUP;
    let registers = Registers::find().unwrap_or_else(|e| fail(&e));
    let memory = memory(setup).unwrap_or_else(|e| fail(&e));
    let measurement = measurement(setup).unwrap_or_else(|e| fail(&e));
    let began = qemu::qemu_plugin_scoreboard_find(BEGAN, cpu).cast::<u64>();
    let follower = Follower::new(registers, memory, setup.kernel.interface_frame, began, measurement);
    FOLLOWER = Box::into_raw(Box::new(follower));
}

/// Prepares a block and attaches what it needs. Blocks are never freed: QEMU may still hold pointers to them.
unsafe extern "C" fn block_translated(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let count = qemu::qemu_plugin_tb_n_insns(tb);
    let mut decoded = Vec::with_capacity(count);
    for index in 0..count {
        let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
        let mut bytes = [0u8; 4];
        let length = qemu::qemu_plugin_insn_size(instruction).min(bytes.len());
        qemu::qemu_plugin_insn_data(instruction, bytes.as_mut_ptr().cast(), length);
        decoded.push(decode::decode(&bytes[..length]));
    }
    if decoded.is_empty() {
        return;
    }
    let specials: Vec<bool> = decoded.iter().map(|one| one.special != Special::None).collect();
    let block = Block::new(decoded, |part| follower::Observer::prepare(&follower().observer, part));
    let block: *mut MeasuredBlock = Box::into_raw(Box::new(block));
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
    let store = qemu::qemu_plugin_op::QEMU_PLUGIN_INLINE_STORE_U64;
    let began = qemu::qemu_plugin_u64 { score: BEGAN, offset: 0 };
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started), registers, block.cast());
    for (index, special) in specials.into_iter().enumerate() {
        let handle = qemu::qemu_plugin_tb_get_insn(tb, index);
        qemu::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(handle, store, began, index as u64);
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(memory_accessed), none, both, null_mut());
        if special {
            let site = Box::into_raw(Box::new(Site { block, index })).cast();
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(special_reached), registers, site);
        }
    }
}

unsafe extern "C" fn block_started(_cpu: c_uint, block: *mut c_void) {
    follower().block_started(&mut *block.cast::<MeasuredBlock>());
}

unsafe extern "C" fn memory_accessed(_cpu: c_uint, info: qemu::qemu_plugin_meminfo_t, address: u64, _data: *mut c_void) {
    let follower = follower();
    if follower.following() {
        let mva = follower.memory.mva(address as u32);
        follower.observer.data(mva, qemu::qemu_plugin_mem_is_store(info), &mut follower.memory);
    }
}

unsafe extern "C" fn special_reached(_cpu: c_uint, site: *mut c_void) {
    let site = &*site.cast::<Site>();
    follower().special(&*site.block, site.index);
}

unsafe extern "C" fn finished(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    if FOLLOWER.is_null() {
        return;
    }
    let out = &(*SETUP).arguments.out;
    if let Err(error) = std::fs::write(out, format!("{}\n", follower().observer.report())) {
        fail(&format!("cannot write {}: {error}", out.display()));
    }
}
