// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows the guest block by block: where it runs, at which privilege, what it did to its address space, and how it
//! got into the kernel.
//!
//! A block is accounted for as a whole when it starts. That it was left early, by a fault or because QEMU restarted it
//! in the middle, shows at the start of the next block; what was not executed is then taken back. Nothing is followed
//! before the guest turns paging on.

use crate::decode::{Addressing, Special};
use crate::descriptors::{self, Descriptors};
use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::registers::{self, Registers};
use crate::translated_block::{Learned, TranslatedBlock, NOWHERE};
use cobnut_model::{Class, EntryKind, Event};
use cobnut_trace::{Marker, Mode, Sink};

const MARK_BEGIN: u32 = 0xC0B0_0001;
const MARK_ITERATION: u32 = 0xC0B0_0002;
const MARK_END: u32 = 0xC0B0_0003;
const CR0_PAGING: u32 = 1 << 31;
const CR4_GLOBAL_PAGES: u32 = 1 << 7;
const CR4_PAE: u32 = 1 << 5;
const KERNEL: u8 = 0;
/// Where the guests of the laboratory have QEMU's isa-debug-exit.
const EXIT_PORT: u16 = 0xf4;
/// Power management control of QEMU's `pc`, and the bit that makes it sleep (ACPI 6.4, 4.8.3.2.1): only powering off is
/// left without a firmware's help.
const POWER_PORT: u16 = 0x604;
const SLEEP_ENABLE: u32 = 1 << 13;

/// The block that was started last.
#[derive(Clone, Copy)]
struct Previous {
    block: *const TranslatedBlock,
    linear: u32,
    /// Segments of it that are accounted for.
    accounted: usize,
}

/// Follows one guest for one sink.
pub struct Tracker<S> {
    pub sink: S,
    registers: Registers,
    memory: GuestMemory,
    descriptors: Descriptors,
    kernel: KernelImage,
    active: bool,
    /// The guest has asked for its end. For how long it goes on is not repeatable, so nothing is followed any more.
    ended: bool,
    privilege: u8,
    /// Where the code segment of the user code that ran last starts; none since CR3 was written.
    user_code_base: Option<u32>,
    next_fall: u32,
    next_taken: u32,
    previous: Previous,
}

impl<S: Sink> Tracker<S> {
    pub fn new(registers: Registers, memory: GuestMemory, kernel: KernelImage, sink: S) -> Self {
        Tracker {
            sink,
            registers,
            memory,
            descriptors: Descriptors::default(),
            kernel,
            active: false,
            ended: false,
            privilege: KERNEL,
            user_code_base: None,
            next_fall: NOWHERE,
            next_taken: NOWHERE,
            previous: Previous { block: std::ptr::null(), linear: 0, accounted: 0 },
        }
    }

    /// A block is about to be executed.
    #[inline]
    pub fn block_started(&mut self, block: &mut TranslatedBlock) {
        if self.ended {
            return;
        }
        let before = self.previous.block;
        if !before.is_null() {
            let special = unsafe { (*before).last.special };
            match special {
                Special::Cr3Write | Special::ControlWrite => {
                    let at = self.previous.linear.wrapping_add(unsafe { (*before).last_offset });
                    self.control_written(special, at);
                }
                Special::PortWrite(port) if self.asks_for_end(port) && self.was_completed(block) => {
                    (self.ended, self.active) = (true, false);
                    return;
                }
                _ => {}
            }
        }
        let fresh = block.learned.is_none();
        let learned = match block.learned {
            Some(learned) => learned,
            None => self.learn(block),
        };
        if !self.active {
            self.previous.block = block;
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
        let general = |register| self.registers.general(register);
        match port.map_or_else(|| general(registers::EDX) as u16, u16::from) {
            EXIT_PORT => true,
            POWER_PORT => general(registers::EAX) & SLEEP_ENABLE != 0,
            _ => false,
        }
    }

    /// Whether the instruction before `block` was executed: a fault may have brought `block` about instead.
    fn was_completed(&mut self, block: &TranslatedBlock) -> bool {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return false };
        let eip = self.registers.eip();
        let entry = block.learned.map_or(block.reported, |learned| eip.wrapping_add(learned.code_base));
        let fault =
            self.descriptors.vectors(entry, &mut self.memory).iter().copied().find(|&v| descriptors::is_fault(v));
        fault.is_none_or(|vector| self.fault_offset(before, vector) != Some(before.last_offset))
    }

    fn enter(&mut self, block: &mut TranslatedBlock, linear: u32, learned: &Learned) {
        let repeats = block.first_repeated && self.repeats(linear);
        block.linear = linear;
        (self.next_fall, self.next_taken) = block.successors(linear);
        self.privilege = learned.privilege;
        self.previous = Previous { block, linear, accounted: 0 };
        if learned.privilege != KERNEL && self.user_code_base != Some(learned.code_base) {
            self.user_code(block, learned.code_base);
        }
        if !block.segments[0].starts_with_marker {
            self.account(block, 0);
        }
        if repeats {
            self.take_back(block, 0, 0, 1);
        }
    }

    /// The code base is not that of the user code that ran last. The trampoline's flat segment is no space's own.
    fn user_code(&mut self, block: &TranslatedBlock, base: u32) {
        if block.segments[0].run.mode != Mode::Trampoline {
            self.user_code_base = Some(base);
            self.sink.event(&Event::UserCode { base }, &mut self.memory);
        }
    }

    /// The previous block ended with the repeated string instruction at `linear`, which QEMU now resumes.
    fn repeats(&self, linear: u32) -> bool {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return false };
        before.last.repeated && self.previous.linear.wrapping_add(before.last_offset) == linear
    }

    /// Books segment `index` of the present block.
    #[inline]
    fn account(&mut self, block: &TranslatedBlock, index: usize) {
        let segment = &block.segments[index];
        self.previous.accounted = index + 1;
        let linear = self.previous.linear.wrapping_add(segment.offset);
        self.sink.run(&segment.run, linear, &mut self.memory);
    }

    /// Takes back `count` instructions of a segment from index `first` on.
    fn take_back(&mut self, block: &TranslatedBlock, index: usize, first: usize, count: usize) {
        self.sink.retract(&block.segments[index].run, first..first + count);
    }

    /// The previous block was left before the instruction at `offset` was complete.
    fn left_early(&mut self, offset: u32) {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return };
        for index in 0..self.previous.accounted {
            let segment = &before.segments[index];
            let instructions = segment.run.block.instructions();
            let mut at = segment.offset;
            let first = instructions.iter().position(|i| {
                let reached = at >= offset;
                at += i.length as u32;
                reached
            });
            if let Some(first) = first {
                self.take_back(before, index, first, instructions.len() - first);
            }
        }
    }

    /// First execution of a block: what QEMU keyed it by.
    fn learn(&mut self, block: &mut TranslatedBlock) -> Learned {
        let linear = block.reported;
        let privilege = if self.active { (self.registers.selector(registers::CS) & 3) as u8 } else { KERNEL };
        let physical = self.memory.translate(linear);
        let learned = Learned { code_base: linear.wrapping_sub(self.registers.eip()), privilege };
        let mode = self.mode_of(privilege, linear, physical);
        block.segments.iter_mut().for_each(|segment| segment.run.mode = mode);
        block.learned = Some(learned);
        learned
    }

    fn mode_of(&self, privilege: u8, linear: u32, physical: Option<u32>) -> Mode {
        if privilege == KERNEL {
            Mode::Kernel
        } else if self.kernel.trampoline_page == Some(linear >> 12) {
            Mode::Trampoline
        } else if physical.is_some() && physical.map(|p| p >> 12) == self.kernel.interface_frame {
            Mode::Stub
        } else {
            Mode::User
        }
    }

    /// Execution got here by other than direct flow: asks the processor where it is, and finds out how it came.
    fn arrive(&mut self, block: &TranslatedBlock, learned: &Learned) -> u32 {
        let linear = self.registers.eip().wrapping_add(learned.code_base);
        if (linear ^ block.reported) & 0xfff != 0 {
            self.sink.warn(format!("block at {:x} was executed at {linear:x}: code base unclear", block.reported));
        }
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return linear };
        let direct = learned.privilege == self.privilege && (linear == self.next_fall || linear == self.next_taken);
        let vectors = if direct { &[] } else { self.descriptors.vectors(linear, &mut self.memory) };
        if learned.privilege == KERNEL && !vectors.is_empty() {
            let asked = matches!(before.last.special, Special::Int(vector) if vectors.contains(&vector));
            let vector = vectors[0];
            if !asked {
                self.entered_uncalled(before, vector);
            }
        } else if learned.privilege < self.privilege && !matches!(before.last.class, Class::Sysenter | Class::FarJump) {
            self.sink.warn(format!("kernel entered at {linear:x}, which no gate names"));
        } else {
            self.check_restart(before, linear);
        }
        linear
    }

    /// QEMU leaves a block in the middle and goes on in a new one after an access to a device. A block that starts
    /// inside the previous one without its last instruction leading there is such a case.
    fn check_restart(&mut self, before: &TranslatedBlock, linear: u32) {
        let offset = linear.wrapping_sub(self.previous.linear);
        let direct = linear == self.next_fall || linear == self.next_taken;
        let indirect = before.last.jump.is_none() && !before.last.falls_through;
        let repeated = before.last.repeated && offset == before.last_offset;
        if offset > 0 && offset < before.bytes && !direct && !indirect && !repeated {
            self.left_early(offset);
        }
    }

    /// A fault or an interrupt.
    fn entered_uncalled(&mut self, before: &TranslatedBlock, vector: u8) {
        let kind = if descriptors::is_fault(vector) { EntryKind::Fault } else { EntryKind::Interrupt };
        if kind == EntryKind::Fault {
            if let Some(offset) = self.fault_offset(before, vector) {
                self.left_early(offset);
            }
        }
        if vector == descriptors::PAGE_FAULT {
            let linear = self.registers.cr2();
            self.sink.event(&Event::PageFault { linear }, &mut self.memory);
        }
        self.sink.event(&Event::Entry(kind), &mut self.memory);
    }

    /// Where in the previous block the instruction stands that the exception frame names.
    fn fault_offset(&mut self, before: &TranslatedBlock, vector: u8) -> Option<u32> {
        let stack = self.descriptors.base(self.registers.selector(registers::SS), &mut self.memory);
        let frame = stack.wrapping_add(self.registers.general(registers::ESP));
        let at = frame.wrapping_add(if descriptors::pushes_error_code(vector) { 4 } else { 0 });
        let eip = self.memory.read_linear(at)?;
        let offset = eip.wrapping_add(before.learned?.code_base).wrapping_sub(self.previous.linear);
        (offset < before.bytes).then_some(offset)
    }

    /// The instruction at `at` wrote a control register.
    fn control_written(&mut self, special: Special, at: u32) {
        let (cr0, cr3, cr4) = (self.registers.cr0(), self.registers.cr3(), self.registers.cr4());
        self.memory.set_control(cr0, cr3, cr4);
        let just_enabled = !std::mem::replace(&mut self.active, cr0 & CR0_PAGING != 0);
        if special == Special::ControlWrite {
            self.descriptors.refresh_later();
        }
        if self.active && cr4 & CR4_PAE != 0 {
            self.sink.warn(
                "the guest uses PAE page tables, which are not understood: physical addresses are wrong".to_string(),
            );
        }
        if !self.active {
            return;
        }
        if special == Special::Cr3Write || just_enabled {
            self.user_code_base = None;
            self.sink.event(&Event::Cr3Write { directory: cr3 & !0xfff, at }, &mut self.memory);
        }
        if special == Special::ControlWrite {
            let event = Event::ControlWrite { global_pages: cr4 & CR4_GLOBAL_PAGES != 0 };
            self.sink.event(&event, &mut self.memory);
        }
    }

    /// The marker that segment `index` of `block` starts with is about to be executed.
    pub fn marker(&mut self, block: &TranslatedBlock, index: usize) {
        if !self.active {
            return;
        }
        let value = self.registers.general(registers::EDX);
        let marker = match self.registers.general(registers::EAX) {
            MARK_BEGIN => Marker::Begin(value),
            MARK_ITERATION => Marker::Iteration,
            MARK_END => Marker::End,
            other => {
                self.sink.warn(format!("marker of unknown kind {other:x}"));
                Marker::Other
            }
        };
        self.sink.marker(marker);
        self.account(block, index);
    }

    /// `invlpg` is about to be executed.
    pub fn invlpg(&mut self, operand: &Addressing) {
        if !self.active {
            return;
        }
        let register = |n: u8| self.registers.general(n as usize);
        let mut offset = operand.displacement;
        offset = offset.wrapping_add(operand.base.map_or(0, register));
        offset = offset.wrapping_add(operand.index.map_or(0, |(n, shift)| register(n) << shift));
        let selector = self.registers.selector(operand.segment as usize);
        let linear = self.descriptors.base(selector, &mut self.memory).wrapping_add(offset);
        self.sink.event(&Event::Invlpg { linear }, &mut self.memory);
    }

    /// A data access was carried out.
    #[inline]
    pub fn data(&mut self, linear: u32, size: u32, write: bool) {
        if !self.active {
            return;
        }
        if write {
            self.descriptors.written(linear);
        }
        self.sink.data(linear, size as u8, write, &mut self.memory);
    }

    /// `lgdt` or `lidt` reads its operand: the table's base is the word after the limit.
    pub fn descriptor_table_read(&mut self, linear: u32, size: u32, interrupt_table: bool) {
        if size != 4 {
            return;
        }
        let Some(base) = self.memory.read_linear(linear) else { return };
        if interrupt_table {
            self.descriptors.set_idt(base);
        } else {
            self.descriptors.set_gdt(base);
        }
    }
}
