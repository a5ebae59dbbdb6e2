// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests with an ARM processor: the seam to QEMU. It installs the callbacks and hands them to the [`follower`].

mod console;
mod decode;
mod follower;
mod memory;
mod processes;
mod registers;
mod sanitizing;
mod telling;

use crate::core::observer::Observer;
use crate::core::output::Output;
use crate::core::ram::Ram;
use crate::core::seam::{self, bytes_of, lasting, Follow};
use crate::core::setup::{setup, Setup};
use cobnut_trace::arm::Arm;
use decode::Special;
use follower::{ArmGuest, Block, Follower};
use memory::Memory;
use qemu_plugin_sys as qemu;
use registers::Registers;
use sanitizing::Sanitizing;
use std::ffi::{c_uint, c_void, CStr};
use std::ptr::null_mut;

/// One word: the number of the instruction that began last in its block.
static mut BEGAN: *mut qemu::qemu_plugin_scoreboard = null_mut();

/// A special instruction of a block.
struct Site<P> {
    block: *const Block<P>,
    index: usize,
}

impl<O: Observer<ArmGuest>> Follow for Follower<O> {
    type Block = Block<O::Prepared>;

    fn create(setup: &'static Setup, cpu: c_uint) -> Result<Self, String> {
        let registers = Registers::find()?;
        let ram = Ram::map(&setup.arguments.ram, setup.arguments.base)?;
        let observer = O::create(setup, ram.size())?;
        let began = unsafe { qemu::qemu_plugin_scoreboard_find(BEGAN, cpu).cast::<u64>() };
        let regions = (&setup.programs, setup.processes.clone(), setup.regions.clone());
        Ok(Follower::new(registers, Memory::new(ram), setup.kernel.interface_frame, began, observer, regions))
    }

    #[inline]
    fn block_started(&mut self, block: &mut Block<O::Prepared>) {
        Follower::block_started(self, block);
    }

    #[inline]
    fn over(&self) -> bool {
        self.observer.over()
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        self.end_regions();
        self.observer.finish(setup)
    }
}

#[inline]
fn follower<O: Observer<ArmGuest>>() -> &'static mut Follower<O> {
    seam::follower()
}

/// Installs the callbacks.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    BEGAN = qemu::qemu_plugin_scoreboard_new(size_of::<u64>());
    match setup().arguments.sanitize {
        true => seam::install::<Follower<Sanitizing>>(id, block_translated::<Sanitizing>),
        false => seam::install::<Follower<Output<Arm>>>(id, block_translated::<Output<Arm>>),
    }
}

/// Notes which instructions may be at a place of a region, or make a call that is measured.
fn mark(at: u32, decoded: &mut [decode::Decoded], bytes: &[Vec<u8>]) {
    let Setup { programs, regions, .. } = setup();
    if regions.is_empty() {
        return;
    }
    let mut within = at & 0xfff;
    for (index, one) in decoded.iter_mut().enumerate() {
        let call = decode::call(&bytes[index]).filter(|_| regions.of_calls());
        let place = || regions.may_be_within(within) && regions.may_be_at(within, &bytes[index..].concat(), programs);
        one.special = match (one.special, call) {
            (Special::None, Some(number)) => Special::Call(number),
            (Special::None, None) if place() => Special::Place,
            (special, _) => special,
        };
        within = (within + bytes[index].len() as u32) & 0xfff;
    }
}

/// Prepares a block and attaches what it needs.
unsafe extern "C" fn block_translated<O: Observer<ArmGuest>>(
    _id: qemu::qemu_plugin_id_t,
    tb: *mut qemu::qemu_plugin_tb,
) {
    let bytes: Vec<Vec<u8>> = (0..qemu::qemu_plugin_tb_n_insns(tb))
        .map(|index| {
            let (bytes, length) = bytes_of::<4>(tb, index);
            bytes[..length].to_vec()
        })
        .collect();
    let mut decoded: Vec<_> = bytes.iter().map(|bytes| decode::decode(bytes)).collect();
    if decoded.is_empty() {
        return;
    }
    let at = qemu::qemu_plugin_tb_vaddr(tb) as u32;
    mark(at, &mut decoded, &bytes);
    let specials: Vec<bool> = decoded.iter().map(|one| one.special != Special::None).collect();
    let observer = &follower::<O>().observer;
    let mut offset = 0;
    let mut site = |one: &decode::Decoded| {
        let site = observer.site(offset, one);
        offset += one.instruction.length as u32;
        lasting(site)
    };
    let sites: Vec<*mut O::Site> = decoded.iter().map(&mut site).collect();
    let mut block = Block::new(at, decoded, |at, part| observer.prepare(at, part));
    if !setup().programs.is_empty() {
        block.text = bytes.concat();
    }
    let block = lasting(block);
    seam::follow_block::<Follower<O>>(tb, block);
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
    let store_only = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_W;
    let store = qemu::qemu_plugin_op::QEMU_PLUGIN_INLINE_STORE_U64;
    let began = qemu::qemu_plugin_u64 { score: BEGAN, offset: 0 };
    let prints = setup().regions.of_console();
    let stored: Vec<_> = decoded_stores(&bytes, prints);
    for (index, (special, site)) in specials.into_iter().zip(sites).enumerate() {
        let handle = qemu::qemu_plugin_tb_get_insn(tb, index);
        qemu::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(handle, store, began, index as u64);
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(memory_accessed::<O>), none, both, site.cast());
        if let Some(register) = stored[index] {
            let register = register as *mut c_void;
            qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(device_written::<O>), registers, store_only, register);
        }
        if special {
            let site = lasting(Site { block, index }).cast();
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(special_reached::<O>), registers, site);
        }
    }
}

unsafe extern "C" fn memory_accessed<O: Observer<ArmGuest>>(
    _cpu: c_uint,
    info: qemu::qemu_plugin_meminfo_t,
    address: u64,
    site: *mut c_void,
) {
    let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
    let site = &*site.cast::<O::Site>();
    follower::<O>().accessed(site, address as u32, size, qemu::qemu_plugin_mem_is_store(info));
}

/// Of each instruction the register that it stores, if what the guest `prints` is looked at.
fn decoded_stores(bytes: &[Vec<u8>], prints: bool) -> Vec<Option<usize>> {
    let stored = |bytes: &Vec<u8>| console::stored(bytes, decode::decode(bytes).instruction.class).filter(|_| prints);
    bytes.iter().map(stored).collect()
}

/// Device registers among others: the guest may print.
unsafe extern "C" fn device_written<O: Observer<ArmGuest>>(
    _cpu: c_uint,
    info: qemu::qemu_plugin_meminfo_t,
    address: u64,
    register: *mut c_void,
) {
    let found = qemu::qemu_plugin_get_hwaddr(info, address);
    if found.is_null() || !qemu::qemu_plugin_hwaddr_is_io(found) {
        return;
    }
    let device = CStr::from_ptr(qemu::qemu_plugin_hwaddr_device_name(found));
    if console::is_port(device, qemu::qemu_plugin_hwaddr_phys_addr(found)) {
        follower::<O>().printed(register as usize);
    }
}

unsafe extern "C" fn special_reached<O: Observer<ArmGuest>>(_cpu: c_uint, site: *mut c_void) {
    let site = &*site.cast::<Site<O::Prepared>>();
    follower::<O>().special(&*site.block, site.index);
}
