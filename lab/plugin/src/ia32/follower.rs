// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows an IA-32 guest block by block for an [`Observer`]: where it runs, at which privilege, what it did to its
//! address space, and how it got into the kernel.
//!
//! A block is accounted for as a whole when it starts. That it was left early, by a fault or because QEMU restarted it
//! in the middle, shows at the start of the next block; what was not executed is then taken back. Nothing is followed
//! before the guest turns paging on.

use super::block::{Block, Learned, Mark, NOWHERE};
use super::decode::{Addressing, Special};
use super::descriptors;
use super::registers;
use super::{Access, Arrival, Event, Observer, Place, State};
use crate::core::processes::Processes;
use crate::core::programs::Programs;
use crate::core::user_regions::{Thread, UserRegions};
use cobnut_model::ia32::control::CR0_PAGING;
use cobnut_model::ia32::{Class, EntryKind};
use cobnut_model::{Linear, Physical};
use cobnut_trace::{Marker, Mode};

const MARK_BEGIN: u32 = 0xC0B0_0001;
const MARK_ITERATION: u32 = 0xC0B0_0002;
const MARK_END: u32 = 0xC0B0_0003;
pub const KERNEL: u8 = 0;
/// Where the guests of the laboratory have QEMU's isa-debug-exit.
const EXIT_PORT: u16 = 0xf4;
/// Power management control of QEMU's `pc`, and the bit that makes it sleep (ACPI 6.4, 4.8.3.2.1): only powering off is
/// left without a firmware's help.
const POWER_PORT: u16 = 0x604;
const SLEEP_ENABLE: u32 = 1 << 13;
/// Where the first serial port takes characters.
const SERIAL_PORT: u16 = 0x3f8;

/// The block that was started last.
pub(super) struct Previous<P> {
    pub(super) block: *const Block<P>,
    linear: Linear,
    /// Segments of it that were told.
    told: usize,
}

/// Follows one guest.
pub struct Follower<O: Observer> {
    pub observer: O,
    pub state: State,
    active: bool,
    /// The guest has asked for its end. For how long it goes on is not repeatable, so nothing is followed any more.
    ended: bool,
    privilege: u8,
    /// Where the code segment of the user code that ran last starts; none since CR3 was written.
    user_code_base: Option<Linear>,
    programs: &'static Programs,
    pub(super) processes: Processes,
    /// The space that was named last, and how often processes had changed by then; its kernel's has no process.
    pub(super) named: Option<(Physical, Linear, Option<u32>)>,
    pub(super) regions: UserRegions,
    next_fall: Linear,
    next_taken: Linear,
    pub(super) previous: Previous<O::Prepared>,
}

impl<O: Observer> Follower<O> {
    pub fn new(
        state: State,
        observer: O,
        programs: &'static Programs,
        processes: Processes,
        regions: UserRegions,
    ) -> Self {
        Follower {
            observer,
            state,
            active: false,
            ended: false,
            privilege: KERNEL,
            user_code_base: None,
            programs,
            processes,
            named: None,
            regions,
            next_fall: NOWHERE,
            next_taken: NOWHERE,
            previous: Previous { block: std::ptr::null(), linear: Linear(0), told: 0 },
        }
    }

    /// A block is about to be executed.
    #[inline]
    pub fn block_started(&mut self, block: &mut Block<O::Prepared>) {
        if self.ended {
            return;
        }
        let before = self.previous.block;
        if !before.is_null() {
            let special = unsafe { (*before).last.special };
            match special {
                // A user's has faulted.
                Special::Cr3Write | Special::ControlWrite if self.privilege == KERNEL => {
                    let at = self.previous.linear.plus(unsafe { (*before).last_offset }).0;
                    self.control_written(special, at);
                }
                Special::PortWrite(port) if O::ENDS && self.asks_for_end(port) && self.was_completed(block) => {
                    (self.ended, self.active) = (true, false);
                    return;
                }
                Special::PortWrite(port) if self.regions.of_console() => self.port_written(port, block),
                _ => {}
            }
        }
        let fresh = block.learned.is_none();
        let learned = match block.learned {
            Some(learned) => learned,
            None => self.learn(block),
        };
        if !self.active {
            self.previous = Previous { block, linear: block.reported, told: 0 };
            return;
        }
        let direct = block.linear == self.next_fall || block.linear == self.next_taken;
        let linear = if direct && learned.privilege == self.privilege && !fresh {
            block.linear
        } else {
            self.arrive(block, &learned)
        };
        self.enter(block, linear, &learned);
    }

    /// Whether the `out` to `port`, or to the port in dx, asks for the end of the run. No instruction has followed it.
    fn asks_for_end(&self, port: Option<u8>) -> bool {
        let general = |register| self.state.registers.general(register);
        match port.map_or_else(|| general(registers::EDX) as u16, u16::from) {
            EXIT_PORT => true,
            POWER_PORT => general(registers::EAX) & SLEEP_ENABLE != 0,
            _ => false,
        }
    }

    /// Whether the instruction before `block` was executed: a fault may have brought `block` about instead.
    fn was_completed(&mut self, block: &Block<O::Prepared>) -> bool {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return false };
        let eip = self.state.registers.eip();
        let entry = block.learned.map_or(block.reported, |learned| learned.code_base.plus(eip));
        let fault = self.state.vectors(entry).iter().copied().find(|&v| descriptors::is_fault(v));
        fault.is_none_or(|vector| self.fault_offset(before, vector) != Some(before.last_offset))
    }

    /// A character may have been printed.
    fn port_written(&mut self, port: Option<u8>, block: &Block<O::Prepared>) {
        let general = |register| self.state.registers.general(register);
        let port = port.map_or_else(|| general(registers::EDX) as u16, u16::from);
        let character = general(registers::EAX) as u8;
        if self.active && port == SERIAL_PORT && self.was_completed(block) {
            let markers = self.regions.printed(character);
            self.mark(markers);
        }
    }

    pub(super) fn mark(&mut self, markers: impl IntoIterator<Item = Marker>) {
        markers.into_iter().for_each(|marker| self.observer.marker(marker));
    }

    /// The thread that runs user code whose segment starts at `code_base`. What the latter says of a small space is
    /// the same in all page directories.
    fn thread(&self, code_base: Linear) -> Thread {
        let directory = if code_base == Linear(0) { self.state.memory.directory().0 } else { 0 };
        Thread { space: (directory, code_base.0), stack: self.state.registers.general(registers::ESP) }
    }

    /// The run ends.
    pub fn end_regions(&mut self) {
        let markers = self.regions.finish();
        self.mark(markers);
        let doubts: Vec<String> = self.regions.doubts().chain(self.processes.doubt()).collect();
        doubts.into_iter().for_each(|doubt| self.observer.doubt(doubt));
    }

    fn enter(&mut self, block: &mut Block<O::Prepared>, linear: Linear, learned: &Learned) {
        let repeats = block.first_repeated && self.repeats(linear);
        block.linear = linear;
        (self.next_fall, self.next_taken) = block.successors(linear);
        self.privilege = learned.privilege;
        self.previous = Previous { block, linear, told: 0 };
        if learned.privilege != KERNEL && self.user_code_base != Some(learned.code_base) {
            self.user_code(learned);
        }
        if self.processes.known() && learned.privilege != KERNEL && !learned.trampoline {
            self.name_space(learned);
        }
        if let Some(program) = learned.program.filter(|_| self.regions.of_calls()) {
            self.regions.runs(program, self.thread(learned.code_base).space);
        }
        if block.segments[0].marked.is_none() {
            self.tell(block, 0, learned);
        }
        if repeats {
            self.take_back(block, 0, 0, 1);
        }
    }

    /// The code base is not that of the user code that ran last. The trampoline's flat segment is no space's own.
    fn user_code(&mut self, learned: &Learned) {
        if !learned.trampoline {
            self.user_code_base = Some(learned.code_base);
            self.observer.event(Event::UserCode { base: learned.code_base }, &mut self.state);
        }
    }

    /// The previous block ended with the repeated string instruction at `linear`, which QEMU now resumes.
    fn repeats(&self, linear: Linear) -> bool {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return false };
        before.last.repeated && self.previous.linear.plus(before.last_offset) == linear
    }

    /// Tells segment `index` of the present block.
    #[inline]
    fn tell(&mut self, block: &Block<O::Prepared>, index: usize, learned: &Learned) {
        let segment = &block.segments[index];
        self.previous.told = index + 1;
        let linear = self.previous.linear.plus(segment.offset);
        let place = Place { linear, code_base: learned.code_base, privilege: learned.privilege };
        self.observer.run(&segment.prepared, &place, &mut self.state);
    }

    /// Takes back `count` instructions of a segment from index `first` on.
    fn take_back(&mut self, block: &Block<O::Prepared>, index: usize, first: usize, count: usize) {
        self.observer.retract(&block.segments[index].prepared, first..first + count);
    }

    /// The previous block was left before the instruction at `offset` was complete.
    fn left_early(&mut self, offset: u32) {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return };
        for index in 0..self.previous.told {
            let segment = &before.segments[index];
            let mut at = segment.offset;
            let first = segment.lengths.iter().position(|&length| {
                let reached = at >= offset;
                at += length as u32;
                reached
            });
            if let Some(first) = first {
                self.take_back(before, index, first, segment.lengths.len() - first);
            }
        }
    }

    /// First execution of a block: what QEMU keyed it by.
    fn learn(&mut self, block: &mut Block<O::Prepared>) -> Learned {
        let linear = block.reported;
        let privilege = if self.active { (self.state.registers.selector(registers::CS) & 3) as u8 } else { KERNEL };
        let physical = self.state.memory.translate(linear);
        let mode = self.mode_of(privilege, linear, physical);
        let code_base = Linear(linear.0.wrapping_sub(self.state.registers.eip()));
        let text = std::mem::take(&mut block.text);
        let address = linear.minus(code_base);
        let program = self.programs.of(address, &text).filter(|_| mode == Mode::User);
        let learned = Learned { code_base, privilege, trampoline: mode == Mode::Trampoline, program };
        block.segments.iter_mut().for_each(|segment| O::belongs(&mut segment.prepared, mode));
        if let Some(program) = program {
            for segment in &mut block.segments {
                self.observer.of_program(&mut segment.prepared, address + segment.offset, program);
            }
        }
        block.learned = Some(learned);
        learned
    }

    fn mode_of(&self, privilege: u8, linear: Linear, physical: Option<Physical>) -> Mode {
        if privilege == KERNEL {
            Mode::Kernel
        } else if self.state.kernel.trampoline_page == Some(linear.page()) {
            Mode::Trampoline
        } else if physical.is_some() && physical.map(Physical::frame) == self.state.kernel.interface_frame {
            Mode::Stub
        } else {
            Mode::User
        }
    }

    /// Execution got here by other than direct flow: asks the processor where it is, and finds out how it came.
    fn arrive(&mut self, block: &Block<O::Prepared>, learned: &Learned) -> Linear {
        let linear = learned.code_base.plus(self.state.registers.eip());
        if linear.within() != block.reported.within() {
            self.observer.doubt(format!("block at {:x} was executed at {linear:x}: code base unclear", block.reported));
        }
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return linear };
        let direct = learned.privilege == self.privilege && (linear == self.next_fall || linear == self.next_taken);
        let inner = learned.privilege == KERNEL && !direct;
        let vectors = if inner { self.state.vectors(linear) } else { &[] };
        let entered = !vectors.is_empty();
        let mut arrival = Arrival { from: before.last.class, privilege: learned.privilege, entered, fault: None };
        if entered {
            let asked = matches!(before.last.special, Special::Int(vector) if vectors.contains(&vector));
            let vector = vectors[0];
            if !asked {
                arrival.fault = descriptors::is_fault(vector).then_some(vector);
                self.entered_uncalled(before, vector);
            }
        } else if learned.privilege < self.privilege && !matches!(before.last.class, Class::Sysenter | Class::FarJump) {
            self.observer.doubt(format!("kernel entered at {linear:x}, which no gate names"));
        } else {
            self.check_restart(before, linear);
        }
        self.observer.event(Event::Arrived(arrival), &mut self.state);
        if self.processes.known() {
            self.left_kernel(before.learned, learned);
        }
        if self.regions.waits() && learned.privilege != KERNEL && !learned.trampoline {
            let returned = self.regions.returned(self.thread(learned.code_base));
            self.mark(returned);
        }
        linear
    }

    /// QEMU leaves a block in the middle and goes on in a new one after an access to a device. A block that starts
    /// inside the previous one without its last instruction leading there is such a case.
    fn check_restart(&mut self, before: &Block<O::Prepared>, linear: Linear) {
        let offset = linear.minus(self.previous.linear);
        let direct = linear == self.next_fall || linear == self.next_taken;
        let indirect = before.last.jump.is_none() && !before.last.falls_through;
        let repeated = before.last.repeated && offset == before.last_offset;
        if offset > 0 && offset < before.bytes && !direct && !indirect && !repeated {
            self.left_early(offset);
        }
    }

    /// A fault or an interrupt.
    fn entered_uncalled(&mut self, before: &Block<O::Prepared>, vector: u8) {
        let kind = if descriptors::is_fault(vector) { EntryKind::Fault } else { EntryKind::Interrupt };
        if kind == EntryKind::Fault {
            if let Some(offset) = self.fault_offset(before, vector) {
                self.left_early(offset);
                if let Some(learned) = before.learned {
                    self.regions.undone(self.previous.linear.plus(offset).minus(learned.code_base));
                }
            }
        }
        if vector == descriptors::PAGE_FAULT {
            let linear = Linear(self.state.registers.cr2());
            self.observer.event(Event::PageFault { linear }, &mut self.state);
        }
        self.observer.event(Event::Entry(kind), &mut self.state);
    }

    /// Where in the previous block the instruction stands that the exception frame names.
    fn fault_offset(&mut self, before: &Block<O::Prepared>, vector: u8) -> Option<u32> {
        let stack = self.state.base(self.state.registers.selector(registers::SS));
        let frame = stack.plus(self.state.registers.general(registers::ESP));
        let at = frame.plus(if descriptors::pushes_error_code(vector) { 4 } else { 0 });
        let eip = self.state.memory.read_linear(at)?;
        let offset = before.learned?.code_base.plus(eip).minus(self.previous.linear);
        (offset < before.bytes).then_some(offset)
    }

    /// The instruction at `at` wrote a control register.
    fn control_written(&mut self, special: Special, at: u32) {
        let control @ [cr0, cr3, cr4] = self.state.registers.control();
        self.state.memory.set_control(cr0, cr3, cr4);
        let just_enabled = !std::mem::replace(&mut self.active, cr0 & CR0_PAGING != 0) && self.active;
        if special == Special::ControlWrite {
            self.state.descriptors.refresh_later();
        }
        let cr3_written = special == Special::Cr3Write;
        if self.active && (cr3_written || just_enabled) {
            self.user_code_base = None;
        }
        self.observer.event(Event::ControlWritten { at, cr3_written, just_enabled, control }, &mut self.state);
    }

    /// The marker that segment `index` of `block` starts with is about to be executed.
    pub fn marker(&mut self, block: &Block<O::Prepared>, index: usize) {
        if !self.active {
            return;
        }
        match block.segments[index].marked {
            Some(Mark::Said) => self.said(),
            Some(Mark::Call) => self.calls(block),
            _ => self.reached(block, index),
        }
        if let Some(learned) = block.learned {
            self.tell(block, index, &learned);
        }
    }

    /// The guest says something with a marker.
    fn said(&mut self) {
        let value = self.state.registers.general(registers::EDX);
        let marker = match self.state.registers.general(registers::EAX) {
            MARK_BEGIN => Marker::Begin(value),
            MARK_ITERATION => Marker::Iteration,
            MARK_END => Marker::End,
            other => {
                self.observer.doubt(format!("marker of unknown kind {other:x}"));
                Marker::Other
            }
        };
        self.observer.marker(marker);
    }

    /// The instruction may be at a place of a region.
    fn reached(&mut self, block: &Block<O::Prepared>, index: usize) {
        if let Some(learned) = block.learned {
            let address = self.previous.linear.plus(block.segments[index].offset).minus(learned.code_base);
            let markers = self.regions.reached(address, learned.privilege == KERNEL);
            self.mark(markers);
        }
    }

    /// User code is about to make a system call.
    fn calls(&mut self, block: &Block<O::Prepared>) {
        if let Some(learned) = block.learned.filter(|learned| learned.privilege != KERNEL) {
            let number = self.state.registers.general(registers::EAX);
            let markers = self.regions.calls(number, self.thread(learned.code_base));
            self.mark(markers);
        }
    }

    /// `invlpg` is about to be executed, so many bytes after the start of its block.
    pub fn invlpg(&mut self, offset: u32, operand: &Addressing) {
        if !self.active {
            return;
        }
        let register = |n: u8| self.state.registers.general(n as usize);
        let base = operand.base.map_or(0, register);
        let index = operand.index.map_or(0, |(n, shift)| register(n) << shift);
        let segment = self.observer.segment_base(operand.segment as usize, &mut self.state);
        let linear = segment.plus(operand.displacement).plus(base).plus(index);
        let at = self.previous.linear.plus(offset).0;
        self.observer.event(Event::Invlpg { at, linear }, &mut self.state);
    }

    /// The instruction at `site` is about to be executed.
    pub fn announced(&mut self, site: &O::Site) {
        if self.active {
            self.observer.announced(site, &mut self.state);
        }
    }

    /// A data access was carried out.
    #[inline]
    pub fn data(&mut self, site: &O::Site, access: &Access) {
        if !self.active {
            return;
        }
        if access.write {
            self.state.descriptors.written(access.linear);
        }
        self.observer.data(site, access, &mut self.state);
        if access.write && self.processes.known() {
            self.written(access.linear);
        }
    }

    /// `lgdt` or `lidt` reads a part of its operand: the limit, then the table's base.
    pub fn table_read(&mut self, site: &O::Site, linear: Linear, size: u32, interrupt_table: bool) {
        if let Some(value) = self.state.memory.read_linear(linear) {
            match (interrupt_table, size) {
                (true, 4) => self.state.descriptors.set_idt(Linear(value)),
                (false, 4) => self.state.descriptors.set_gdt(Linear(value)),
                _ => {}
            }
            if !interrupt_table {
                self.observer.global_table_read(size, value, &mut self.state);
            }
        }
        if O::TABLES_ARE_DATA {
            self.data(site, &Access { linear, physical: None, size, write: false });
        }
    }
}
