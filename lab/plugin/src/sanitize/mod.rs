// SPDX-License-Identifier: GPL-2.0-or-later
//! `mode=sanitize`: the seam between QEMU and the sanitizer. It tells the sanitizer of every access, store to a page
//! table, invalidation and fault; what that means is judged in `cobnut_model::sanitizer`.

mod follower;
mod operands;
mod output;
mod symbols;

use crate::decode::{self, Special};
use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::registers::Registers;
use crate::{fail, MAX_INSTRUCTION, SETUP};
use follower::{Block, Follower, Site};
use qemu_plugin_sys as qemu;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

pub use symbols::Symbols;

extern "C" {
    fn _exit(status: i32) -> !;
}

static mut FOLLOWER: *mut Follower = null_mut();

/// Only called from callbacks, after the processor came to life.
#[inline]
fn follower() -> &'static mut Follower {
    unsafe { &mut *FOLLOWER }
}

/// Installs the callbacks of this mode.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    qemu::qemu_plugin_register_vcpu_init_cb(id, Some(processor_created));
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished), null_mut());
}

unsafe extern "C" fn processor_created(_id: qemu::qemu_plugin_id_t, _cpu: c_uint) {
    let setup = &*SETUP;
    let registers = Registers::find().unwrap_or_else(|e| fail(&e));
    let memory = GuestMemory::map(&setup.arguments.ram).unwrap_or_else(|e| fail(&e));
    let mut follower = Follower::new(registers, memory, setup.kernel, setup.arguments.stop_at_first);
    follower.stop_after = setup.arguments.stop_after.unwrap_or(u64::MAX);
    follower.ignored.clone_from(&setup.arguments.ignored);
    FOLLOWER = Box::into_raw(Box::new(follower));
}

/// Blocks and sites are never freed: QEMU may still hold pointers to them.
unsafe extern "C" fn block_translated(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let count = qemu::qemu_plugin_tb_n_insns(tb);
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
    let (mut offset, mut last, mut last_offset, mut loading) = (0, None, 0, false);
    for index in 0..count {
        let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
        let mut bytes = [0u8; MAX_INSTRUCTION];
        let length = qemu::qemu_plugin_insn_size(instruction).min(MAX_INSTRUCTION);
        qemu::qemu_plugin_insn_data(instruction, bytes.as_mut_ptr().cast(), length);
        let decoded = decode::decode(&bytes[..length]);
        let operands = operands::operands(&bytes[..length]);
        let invlpg = match decoded.special {
            Special::Invlpg(addressing) => Some(addressing),
            _ => None,
        };
        let table = match decoded.special {
            Special::Lgdt => follower::Table::Gdt,
            Special::Lidt => follower::Table::Idt,
            _ => follower::Table::None,
        };
        let site: *mut Site = Box::into_raw(Box::new(Site { offset, operands, invlpg, table }));
        qemu::qemu_plugin_register_vcpu_mem_cb(instruction, Some(memory_accessed), none, both, site.cast());
        if operands.loaded != 0 || invlpg.is_some() || loading {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(
                instruction,
                Some(instruction_reached),
                registers,
                site.cast(),
            );
        }
        loading = operands.loaded != 0;
        (last, last_offset) = (Some(decoded), offset);
        offset += length as u32;
    }
    let Some(last) = last else { return };
    let reported = qemu::qemu_plugin_tb_vaddr(tb) as u32;
    let block = Box::into_raw(Box::new(Block::new(reported, offset, last, last_offset)));
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started), registers, block.cast());
}

unsafe extern "C" fn block_started(_cpu: c_uint, block: *mut c_void) {
    let follower = follower();
    follower.block_started(&mut *block.cast::<Block>());
    let found = follower.stop_at_first && !follower.sanitizer.reports.list().is_empty();
    if found || follower.is_over() {
        write_reports();
        _exit(0); // the ordinary way out would wait for this very thread
    }
}

unsafe extern "C" fn instruction_reached(_cpu: c_uint, site: *mut c_void) {
    follower().instruction_reached(&*site.cast::<Site>());
}

unsafe extern "C" fn memory_accessed(_cpu: c_uint, info: qemu::qemu_plugin_meminfo_t, linear: u64, site: *mut c_void) {
    let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
    let site = &*site.cast::<Site>();
    if !qemu::qemu_plugin_mem_is_store(info) {
        return follower().read(site, linear as u32, size);
    }
    let address = qemu::qemu_plugin_get_hwaddr(info, linear);
    let physical = (!address.is_null() && !qemu::qemu_plugin_hwaddr_is_io(address))
        .then(|| qemu::qemu_plugin_hwaddr_phys_addr(address) as u32);
    follower().written(site, linear as u32, physical, size);
}

unsafe extern "C" fn finished(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    if !FOLLOWER.is_null() {
        write_reports();
    }
}

unsafe fn symbols() -> Symbols {
    let arguments = &(*SETUP).arguments;
    match (&arguments.symbols, &arguments.kernel) {
        (Some(path), _) => Symbols::read(path).unwrap_or_else(|e| fail(&e)),
        (None, Some(path)) => KernelImage::symbols(path).unwrap_or_else(|e| fail(&e)),
        (None, None) => Symbols::default(),
    }
}

unsafe fn write_reports() {
    let (arguments, symbols) = (&(*SETUP).arguments, symbols());
    let follower = follower();
    for line in output::lines(&follower.sanitizer, &symbols) {
        eprintln!("sanitizer: {line}");
    }
    let report = output::json(&follower.sanitizer, &symbols, &follower.warnings);
    if let Err(error) = std::fs::write(&arguments.out, format!("{report}\n")) {
        fail(&format!("cannot write {}: {error}", arguments.out.display()));
    }
}
