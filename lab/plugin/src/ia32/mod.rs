// SPDX-License-Identifier: GPL-2.0-or-later
//! Guests with an IA-32 processor: the seam to QEMU. It installs the callbacks and hands them to the [`follower`].

mod block;
mod decode;
mod descriptors;
mod follower;
mod issue;
mod limits;
#[cfg(test)]
mod listings;
mod memory;
mod operands;
mod processes;
mod registers;
mod sanitizing;
mod telling;

use crate::core::kernel_image::KernelImage;
use crate::core::observer;
use crate::core::ram::Ram;
use crate::core::seam::{self, bytes_of, lasting, Follow};
use crate::core::setup::{setup, Setup};
use block::{Block, Mark};
use cobnut_model::ia32::{Class, EntryKind};
use cobnut_model::{Linear, Physical};
use decode::{Addressing, Decoded, Special};
use descriptors::Descriptors;
use follower::Follower;
use memory::Memory;
use qemu_plugin_sys as qemu;
use registers::Registers;
use sanitizing::Sanitizing;
use std::ffi::{c_uint, c_void};
use telling::Telling;

const MAX_INSTRUCTION: usize = 15;
/// The vector of Linux's system calls.
const SYSTEM_CALL: u8 = 0x80;

/// An instruction of a block.
pub struct Instruction {
    pub decoded: Decoded,
    pub length: u8,
    pub bytes: [u8; MAX_INSTRUCTION],
}

/// Where a run of instructions stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub linear: Linear,
    pub code_base: Linear,
    pub privilege: u8,
}

/// A data access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub linear: Linear,
    /// Of a store to memory, for observers that ask for it.
    pub physical: Option<Physical>,
    pub size: u32,
    pub write: bool,
}

/// Execution went on otherwise than by direct control flow.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The class of the instruction before.
    pub from: Class,
    /// What the processor runs at from now on.
    pub privilege: u8,
    /// The kernel was entered through a gate.
    pub entered: bool,
    /// By this exception.
    pub fault: Option<u8>,
}

/// What else happens in a guest.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// CR3, or else CR0 or CR4, was written by the instruction at `at`; paging may just have been turned on. The values
    /// of CR0, CR3 and CR4 are those after it. This is told whether or not paging is on.
    ControlWritten {
        at: u32,
        cr3_written: bool,
        just_enabled: bool,
        control: [u32; 3],
    },
    /// User code runs in a segment with another base than the user code before.
    UserCode {
        base: Linear,
    },
    PageFault {
        linear: Linear,
    },
    /// The kernel was entered uncalled; a page fault is told before.
    Entry(EntryKind),
    Invlpg {
        at: u32,
        linear: Linear,
    },
    Arrived(Arrival),
}

/// What an observer may ask of the guest.
pub struct State {
    pub registers: Registers,
    pub memory: Memory,
    pub descriptors: Descriptors,
    pub kernel: KernelImage,
}

impl State {
    /// Vectors whose gate leads to `linear`.
    #[inline]
    pub fn vectors(&mut self, linear: Linear) -> &[u8] {
        self.descriptors.vectors(linear, &mut self.memory)
    }

    /// Base of the segment that `selector` names.
    pub fn base(&mut self, selector: u32) -> Linear {
        self.descriptors.base(selector, &mut self.memory)
    }
}

/// Guests with an IA-32 processor.
pub struct Ia32Guest;

impl observer::Guest for Ia32Guest {
    type Instruction = Instruction;
    type At = Linear;
    type Place = Place;
    type Access = Access;
    type Event = Event;
    type State = State;
}

/// What the follower asks of an observer of such guests besides.
pub trait Observer: observer::Observer<Ia32Guest> {
    /// A run of instructions ends before a marker.
    const CUT: bool;
    /// What the guest does after it has asked for its end is not told.
    const ENDS: bool;
    /// The physical addresses of stores are told.
    const PHYSICAL: bool;
    /// What `lgdt` and `lidt` read is told as data.
    const TABLES_ARE_DATA: bool;

    /// Whether the instruction at `site` is to be announced, which stands behind the other one.
    fn announces(site: &Self::Site, before: Option<&Self::Site>) -> bool;

    /// It is about to be executed.
    fn announced(&mut self, _site: &Self::Site, _state: &mut State) {}

    /// Base of the segment in a register, by its number in an instruction.
    fn segment_base(&mut self, register: usize, state: &mut State) -> Linear {
        let selector = state.registers.selector(register);
        state.base(selector)
    }

    /// `lgdt` has read the limit (2 bytes) or the base (4) of the table.
    fn global_table_read(&mut self, _size: u32, _value: u32, _state: &mut State) {}
}

impl<O: Observer> Follow for Follower<O> {
    type Block = Block<O::Prepared>;

    fn create(setup: &'static Setup, _cpu: c_uint) -> Result<Self, String> {
        let registers = Registers::find()?;
        let memory = Memory::new(Ram::map(&setup.arguments.ram, Physical(0))?);
        let observer = O::create(setup, memory.size())?;
        let state = State { registers, memory, descriptors: Descriptors::default(), kernel: setup.kernel };
        let processes = setup.processes.clone();
        Ok(Follower::new(state, observer, &setup.programs, processes, setup.regions.clone()))
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
fn follower<O: Observer>() -> &'static mut Follower<O> {
    seam::follower()
}

/// Installs the callbacks.
pub unsafe fn install(id: qemu::qemu_plugin_id_t) {
    match setup().arguments.sanitize {
        true => seam::install::<Follower<Sanitizing>>(id, block_translated::<Sanitizing>),
        false => seam::install::<Follower<Telling>>(id, block_translated::<Telling>),
    }
}

/// The bytes of some instructions.
fn text(instructions: &[Instruction]) -> Vec<u8> {
    instructions.iter().flat_map(|one| &one.bytes[..one.length as usize]).copied().collect()
}

/// Whether an instruction makes a system call of Linux or its like.
fn makes_a_call(decoded: &Decoded) -> bool {
    decoded.special == Special::Int(SYSTEM_CALL) || decoded.class == Class::Sysenter
}

/// What is told before each instruction of a block.
fn marks(reported: Linear, instructions: &[Instruction]) -> Vec<Option<Mark>> {
    let Setup { programs, regions, .. } = setup();
    let mut at = reported;
    let mark = |(index, one): (usize, &Instruction)| {
        let within = at.within();
        at = at.plus(one.length as u32);
        if one.decoded.special == Special::Marker {
            return Some(Mark::Said);
        }
        if regions.of_calls() && makes_a_call(&one.decoded) {
            return Some(Mark::Call);
        }
        let may_be =
            regions.may_be_within(within) && regions.may_be_at(within, &text(&instructions[index..]), programs);
        may_be.then_some(Mark::Place)
    };
    instructions.iter().enumerate().map(mark).collect()
}

/// A segment of a block that starts with a marker.
struct MarkerSite<P> {
    block: *const Block<P>,
    segment: usize,
}

/// Prepares a block and attaches what it needs: one callback for the block, one for each memory access, and one for
/// each marker, `invlpg` and what the observer wants to have announced.
unsafe extern "C" fn block_translated<O: Observer>(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let instruction = |index| {
        let (bytes, length) = bytes_of(tb, index);
        Instruction { decoded: decode::decode(&bytes[..length]), length: length as u8, bytes }
    };
    let instructions: Vec<Instruction> = (0..qemu::qemu_plugin_tb_n_insns(tb)).map(instruction).collect();
    if instructions.is_empty() {
        return;
    }
    let reported = Linear(qemu::qemu_plugin_tb_vaddr(tb) as u32);
    let observer = &follower::<O>().observer;
    let marks = if O::CUT { marks(reported, &instructions) } else { vec![None; instructions.len()] };
    let mut block = Block::new(reported, &instructions, &marks, |at, part| observer.prepare(at, part));
    if !setup().programs.is_empty() {
        block.text = text(&instructions);
    }
    let block = lasting(block);
    seam::follow_block::<Follower<O>>(tb, block);
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
    let reads = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_R;
    let writes = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_W;
    let mut marked = (*block).segments.iter().enumerate().filter(|(_, segment)| segment.marked.is_some());
    let (mut offset, mut before) = (0, None);
    for (index, instruction) in instructions.iter().enumerate() {
        let handle = qemu::qemu_plugin_tb_get_insn(tb, index);
        let site: &'static O::Site = &*lasting(observer.site(offset, instruction));
        let read = match instruction.decoded.special {
            Special::Lgdt => table_read::<O, false>,
            Special::Lidt => table_read::<O, true>,
            _ => memory_accessed::<O, false>,
        };
        let data = (site as *const O::Site).cast_mut().cast();
        // Each says by itself what it is: asking QEMU at each access takes longer.
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(read), none, reads, data);
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(memory_accessed::<O, true>), none, writes, data);
        if O::announces(site, before) {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(announced::<O>), registers, data);
        }
        if marks[index].is_some() {
            if let Some((segment, _)) = marked.next() {
                let site = lasting(MarkerSite { block, segment }).cast();
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(marker_reached::<O>), registers, site);
            }
        }
        if let Special::Invlpg(operand) = instruction.decoded.special {
            let site = lasting((offset, operand)).cast();
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(invlpg_reached::<O>), registers, site);
        }
        before = Some(site);
        offset += instruction.length as u32;
    }
}

unsafe extern "C" fn memory_accessed<O: Observer, const WRITE: bool>(
    _cpu: c_uint,
    info: qemu::qemu_plugin_meminfo_t,
    linear: u64,
    site: *mut c_void,
) {
    let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
    let physical = if O::PHYSICAL && WRITE { physical(info, linear) } else { None };
    let access = Access { linear: Linear(linear as u32), physical, size, write: WRITE };
    follower::<O>().data(&*site.cast::<O::Site>(), &access);
}

/// Where an access goes; none for one to a device.
unsafe fn physical(info: qemu::qemu_plugin_meminfo_t, linear: u64) -> Option<Physical> {
    let address = qemu::qemu_plugin_get_hwaddr(info, linear);
    (!address.is_null() && !qemu::qemu_plugin_hwaddr_is_io(address))
        .then(|| Physical(qemu::qemu_plugin_hwaddr_phys_addr(address) as u32))
}

unsafe extern "C" fn table_read<O: Observer, const INTERRUPT_TABLE: bool>(
    _cpu: c_uint,
    info: qemu::qemu_plugin_meminfo_t,
    linear: u64,
    site: *mut c_void,
) {
    let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
    follower::<O>().table_read(&*site.cast::<O::Site>(), Linear(linear as u32), size, INTERRUPT_TABLE);
}

unsafe extern "C" fn announced<O: Observer>(_cpu: c_uint, site: *mut c_void) {
    follower::<O>().announced(&*site.cast::<O::Site>());
}

unsafe extern "C" fn marker_reached<O: Observer>(_cpu: c_uint, site: *mut c_void) {
    let site = &*site.cast::<MarkerSite<O::Prepared>>();
    follower::<O>().marker(&*site.block, site.segment);
}

unsafe extern "C" fn invlpg_reached<O: Observer>(_cpu: c_uint, site: *mut c_void) {
    let (offset, operand) = &*site.cast::<(u32, Addressing)>();
    follower::<O>().invlpg(*offset, operand);
}
