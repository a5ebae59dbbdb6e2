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
mod sanitizing;

use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::sanitize::Symbols;
use crate::{fail, Setup, SETUP};
use decode::Special;
use follower::{Block, Follower, Observer};
use functions::Functions;
use measurement::Measurement;
use memory::Memory;
use qemu_plugin_sys as qemu;
use registers::Registers;
use sanitizing::Sanitizing;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

extern "C" {
    fn _exit(status: i32) -> !;
}

/// One word: the number of the instruction that began last in its block.
static mut BEGAN: *mut qemu::qemu_plugin_scoreboard = null_mut();
static mut MEASURED: *mut Follower<Measurement> = null_mut();
static mut SANITIZED: *mut Follower<Sanitizing> = null_mut();

/// An observer of the plugin's. Only one of them sees a run.
trait Watch: Observer + Sized + 'static {
    /// Where its follower is, from the moment that the processor came to life.
    fn place() -> *mut *mut Follower<Self>;

    fn create(setup: &Setup) -> Result<Self, String>;

    fn accessed(follower: &mut Follower<Self>, address: u32, size: u32, write: bool);

    /// Whether the run has to end before its time.
    fn over(&self) -> bool;

    /// What there is to be written at the end.
    fn report(&self, setup: &Setup) -> Result<serde_json::Value, String>;
}

impl Watch for Measurement {
    fn place() -> *mut *mut Follower<Self> {
        &raw mut MEASURED
    }

    fn create(setup: &Setup) -> Result<Self, String> {
        let arguments = &setup.arguments;
        let functions = Functions::new(symbols(setup)?);
        let mut measurement =
            Measurement::new(setup.file.as_ref(), &arguments.overrides, functions, arguments.from_begin);
        if setup.kernel.interface_frame.is_none() {
            measurement.warnings.push("no symbol kip: stub instructions count as user".to_string());
        }
        Ok(measurement)
    }

    #[inline]
    fn accessed(follower: &mut Follower<Self>, address: u32, _size: u32, write: bool) {
        let mva = follower.memory.mva(address);
        follower.observer.data(mva, write, &mut follower.memory);
    }

    #[inline]
    fn over(&self) -> bool {
        false
    }

    fn report(&self, _setup: &Setup) -> Result<serde_json::Value, String> {
        Ok(Measurement::report(self))
    }
}

impl Watch for Sanitizing {
    fn place() -> *mut *mut Follower<Self> {
        &raw mut SANITIZED
    }

    fn create(setup: &Setup) -> Result<Self, String> {
        let arguments = &setup.arguments;
        let stop_after = arguments.stop_after.unwrap_or(u64::MAX);
        Ok(Sanitizing::new(arguments.stop_at_first, stop_after, arguments.watched.clone()))
    }

    #[inline]
    fn accessed(follower: &mut Follower<Self>, address: u32, size: u32, write: bool) {
        let (present, mva) = (follower.present(), follower.memory.mva(address));
        follower.observer.data(present, mva, size, write, &follower.memory);
    }

    #[inline]
    fn over(&self) -> bool {
        Sanitizing::over(self)
    }

    fn report(&self, setup: &Setup) -> Result<serde_json::Value, String> {
        let symbols = symbols(setup)?;
        self.lines(&symbols).iter().for_each(|line| eprintln!("sanitizer: {line}"));
        Ok(Sanitizing::report(self, &symbols))
    }
}

/// A special instruction of a block.
struct Site<P> {
    block: *const Block<P>,
    index: usize,
}

#[inline]
fn follower<W: Watch>() -> &'static mut Follower<W> {
    unsafe { &mut **W::place() }
}

fn symbols(setup: &Setup) -> Result<Symbols, String> {
    setup.arguments.kernel.as_deref().map_or(Ok(Symbols::default()), KernelImage::symbols)
}

/// Installs the callbacks.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    BEGAN = qemu::qemu_plugin_scoreboard_new(size_of::<u64>());
    match (*SETUP).arguments.sanitize {
        true => install_for::<Sanitizing>(id),
        false => install_for::<Measurement>(id),
    }
}

unsafe fn install_for<W: Watch>(id: qemu::qemu_plugin_id_t) {
    qemu::qemu_plugin_register_vcpu_init_cb(id, Some(processor_created::<W>));
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated::<W>));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished::<W>), null_mut());
}

unsafe extern "C" fn processor_created<W: Watch>(_id: qemu::qemu_plugin_id_t, cpu: c_uint) {
    let setup = &*SETUP;
    let registers = Registers::find().unwrap_or_else(|e| fail(&e));
    let ram = GuestMemory::map(&setup.arguments.ram).unwrap_or_else(|e| fail(&e));
    let memory = Memory::new(ram, setup.arguments.base);
    let observer = W::create(setup).unwrap_or_else(|e| fail(&e));
    let began = qemu::qemu_plugin_scoreboard_find(BEGAN, cpu).cast::<u64>();
    let follower = Follower::new(registers, memory, setup.kernel.interface_frame, began, observer);
    *W::place() = Box::into_raw(Box::new(follower));
}

/// Prepares a block and attaches what it needs. Blocks are never freed: QEMU may still hold pointers to them.
unsafe extern "C" fn block_translated<W: Watch>(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
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
    let block = Block::new(decoded, |part| follower::<W>().observer.prepare(part));
    let block: *mut Block<W::Prepared> = Box::into_raw(Box::new(block));
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
    let store = qemu::qemu_plugin_op::QEMU_PLUGIN_INLINE_STORE_U64;
    let began = qemu::qemu_plugin_u64 { score: BEGAN, offset: 0 };
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started::<W>), registers, block.cast());
    for (index, special) in specials.into_iter().enumerate() {
        let handle = qemu::qemu_plugin_tb_get_insn(tb, index);
        qemu::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(handle, store, began, index as u64);
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(memory_accessed::<W>), none, both, null_mut());
        if special {
            let site = Box::into_raw(Box::new(Site { block, index })).cast();
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(special_reached::<W>), registers, site);
        }
    }
}

unsafe extern "C" fn block_started<W: Watch>(_cpu: c_uint, block: *mut c_void) {
    let follower = follower::<W>();
    follower.block_started(&mut *block.cast::<Block<W::Prepared>>());
    if follower.observer.over() {
        write_report::<W>();
        _exit(0); // the ordinary way out would wait for this very thread
    }
}

unsafe extern "C" fn memory_accessed<W: Watch>(
    _cpu: c_uint,
    info: qemu::qemu_plugin_meminfo_t,
    address: u64,
    _data: *mut c_void,
) {
    let follower = follower::<W>();
    if follower.following() {
        let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
        W::accessed(follower, address as u32, size, qemu::qemu_plugin_mem_is_store(info));
    }
}

unsafe extern "C" fn special_reached<W: Watch>(_cpu: c_uint, site: *mut c_void) {
    let site = &*site.cast::<Site<W::Prepared>>();
    follower::<W>().special(&*site.block, site.index);
}

unsafe extern "C" fn finished<W: Watch>(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    if !(*W::place()).is_null() {
        write_report::<W>();
    }
}

unsafe fn write_report<W: Watch>() {
    let setup = &*SETUP;
    let report = follower::<W>().observer.report(setup).unwrap_or_else(|e| fail(&e));
    let out = &setup.arguments.out;
    if let Err(error) = std::fs::write(out, format!("{report}\n")) {
        fail(&format!("cannot write {}: {error}", out.display()));
    }
}
