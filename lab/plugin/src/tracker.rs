// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows the guest block by block: where it runs, at which privilege, what it did to its address space, and how it got
//! into the kernel.
//!
//! A block is accounted for as a whole when it starts. That it was left early, by a fault or because QEMU restarted it
//! in the middle, shows at the start of the next block; what was not executed is then taken back. Nothing is followed
//! before the guest turns paging on.

use crate::code_ranges::CodeRanges;
use crate::counters::{self, Counters};
use crate::decode::{Addressing, Special};
use crate::descriptors::{self, Descriptors};
use crate::footprint::Footprint;
use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::regions::{Regions, Totals};
use crate::registers::{self, Registers};
use crate::translated_block::{Learned, Mode, TranslatedBlock, NOWHERE};
use cobnut_model::{Class, Costs, EntryKind, Event, Machine};
use serde_json::Value;

const MARK_BEGIN: u32 = 0xC0B0_0001;
const MARK_ITERATION: u32 = 0xC0B0_0002;
const MARK_END: u32 = 0xC0B0_0003;
const CR0_PAGING: u32 = 1 << 31;
const CR4_GLOBAL_PAGES: u32 = 1 << 7;
const CR4_PAE: u32 = 1 << 5;
const KERNEL: u8 = 0;
/// A run prints each kind of oddity a few times, not a million.
const MAX_WARNINGS: usize = 20;

/// The block that was started last.
#[derive(Clone, Copy)]
struct Previous {
    block: *const TranslatedBlock,
    linear: u32,
    /// Segments of it that are accounted for.
    accounted: usize,
}

pub struct Tracker {
    pub costs: Costs,
    registers: Registers,
    memory: GuestMemory,
    descriptors: Descriptors,
    kernel: KernelImage,
    machine: Option<Machine>,
    counters: Counters,
    footprint: Footprint,
    pub regions: Regions,
    pub ranges: CodeRanges,
    pub warnings: Vec<String>,
    totals: Option<Totals>,
    active: bool,
    measuring: bool,
    privilege: u8,
    mode: Mode,
    /// Where the code segment of the user code that ran last starts; none since CR3 was written.
    user_code_base: Option<u32>,
    next_fall: u32,
    next_taken: u32,
    previous: Previous,
}

impl Tracker {
    pub fn new(
        registers: Registers,
        memory: GuestMemory,
        kernel: KernelImage,
        costs: Costs,
        machine: Option<Machine>,
        ranges: CodeRanges,
        warnings: Vec<String>,
    ) -> Self {
        let footprint = Footprint::new(memory.size());
        Tracker {
            costs,
            registers,
            memory,
            descriptors: Descriptors::default(),
            kernel,
            regions: Regions::new(machine.is_some()),
            ranges,
            machine,
            counters: Counters::default(),
            footprint,
            warnings,
            totals: None,
            active: false,
            measuring: false,
            privilege: KERNEL,
            mode: Mode::Kernel,
            user_code_base: None,
            next_fall: NOWHERE,
            next_taken: NOWHERE,
            previous: Previous { block: std::ptr::null(), linear: 0, accounted: 0 },
        }
    }

    fn warn(&mut self, text: String) {
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// A block is about to be executed.
    #[inline]
    pub fn block_started(&mut self, block: &mut TranslatedBlock) {
        let before = self.previous.block;
        if !before.is_null() {
            let special = unsafe { (*before).last.special };
            if matches!(special, Special::Cr3Write | Special::ControlWrite) {
                let at = self.previous.linear.wrapping_add(unsafe { (*before).last_offset });
                self.control_written(special, at);
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

    fn enter(&mut self, block: &mut TranslatedBlock, linear: u32, learned: &Learned) {
        let repeats = block.first_repeated && self.repeats(linear);
        block.linear = linear;
        (self.next_fall, self.next_taken) = block.successors(linear);
        self.privilege = learned.privilege;
        self.mode = learned.mode;
        self.previous = Previous { block, linear, accounted: 0 };
        if learned.privilege != KERNEL && self.user_code_base != Some(learned.code_base) {
            self.user_code(learned);
        }
        if !block.segments[0].starts_with_marker {
            self.account(block, 0);
        }
        if repeats {
            self.take_back(block, 0, 0, 1);
        }
    }

    /// The code base is not that of the user code that ran last. The trampoline's flat segment is no space's own.
    fn user_code(&mut self, learned: &Learned) {
        if learned.mode == Mode::Trampoline {
            return;
        }
        self.user_code_base = Some(learned.code_base);
        if let Some(machine) = &mut self.machine {
            machine.event(&Event::UserCode { base: learned.code_base }, &mut self.memory);
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
        self.counters[self.mode as usize] += segment.block.instructions().len() as u64;
        for &(counter, n) in &segment.counts {
            self.counters[counter] += n;
        }
        self.ranges.executed(&segment.shares);
        let linear = self.previous.linear.wrapping_add(segment.offset);
        if let Some(machine) = &mut self.machine {
            machine.block(&segment.block, linear, &mut self.memory);
        }
        if self.measuring {
            self.touch_code(linear, segment.block.bytes());
        }
    }

    fn touch_code(&mut self, linear: u32, bytes: u32) {
        let here = bytes.min(0x1000 - (linear & 0xfff));
        let kernel = self.mode == Mode::Kernel;
        for (at, bytes) in [(linear, here), (linear.wrapping_add(here), bytes - here)] {
            if bytes > 0 {
                if let Some(physical) = self.memory.translate(at) {
                    self.footprint.code(physical, bytes, kernel);
                }
            }
        }
    }

    /// Takes back `count` instructions of a segment from index `first` on.
    fn take_back(&mut self, block: &TranslatedBlock, index: usize, first: usize, count: usize) {
        let segment = &block.segments[index];
        let instructions = &segment.block.instructions()[first..first + count];
        let mode = block.learned.map_or(self.mode, |l| l.mode);
        self.counters[mode as usize] -= instructions.len() as u64;
        for &counter in instructions.iter().flat_map(|i| counters::raised_by(i.class)) {
            self.counters[counter] -= 1;
        }
        if let Some(machine) = &mut self.machine {
            machine.retract(&segment.block, first..first + count);
        }
        self.ranges.take_back(&segment.shares, segment.block.instructions(), first..first + count, &self.costs);
    }

    /// The previous block was left before the instruction at `offset` was complete.
    fn left_early(&mut self, offset: u32) {
        let Some(before) = (unsafe { self.previous.block.as_ref() }) else { return };
        for index in 0..self.previous.accounted {
            let segment = &before.segments[index];
            let instructions = segment.block.instructions();
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
        let learned = Learned {
            code_base: linear.wrapping_sub(self.registers.eip()),
            privilege,
            mode: self.mode_of(privilege, linear, physical),
        };
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
            self.warn(format!("block at {:x} was executed at {linear:x}: code base unclear", block.reported));
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
            self.warn(format!("kernel entered at {linear:x}, which no gate names"));
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
            self.counters[counters::ENTRIES_FAULT] += 1;
            if let Some(offset) = self.fault_offset(before, vector) {
                self.left_early(offset);
            }
        } else {
            self.counters[counters::ENTRIES_IRQ] += 1;
        }
        if vector == descriptors::PAGE_FAULT {
            self.memory.forget();
        }
        let Some(machine) = &mut self.machine else { return };
        if vector == descriptors::PAGE_FAULT {
            machine.event(&Event::PageFault { linear: self.registers.cr2() }, &mut self.memory);
        }
        machine.event(&Event::Entry(kind), &mut self.memory);
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
        self.active = cr0 & CR0_PAGING != 0;
        if special == Special::ControlWrite {
            self.descriptors.refresh_later();
        }
        if self.active && cr4 & CR4_PAE != 0 {
            self.warn(
                "the guest uses PAE page tables, which are not understood: physical addresses are wrong".to_string(),
            );
        }
        let Some(machine) = self.machine.as_mut().filter(|_| self.active) else { return };
        let event = match special {
            Special::Cr3Write => {
                self.user_code_base = None;
                Event::Cr3Write { directory: cr3 & !0xfff, at }
            }
            _ => Event::ControlWrite { global_pages: cr4 & CR4_GLOBAL_PAGES != 0 },
        };
        machine.event(&event, &mut self.memory);
    }

    /// The marker that segment `index` of `block` starts with is about to be executed.
    pub fn marker(&mut self, block: &TranslatedBlock, index: usize) {
        if !self.active {
            return;
        }
        let value = self.registers.general(registers::EDX);
        match self.registers.general(registers::EAX) {
            MARK_BEGIN => {
                if let Some(case) = self.regions.unfinished() {
                    self.warn(format!("case {case} has no END"));
                }
                self.regions.begin(value);
                self.ranges.begin();
            }
            MARK_ITERATION => {
                self.regions.iteration(&self.counters, self.machine.as_ref(), &mut self.footprint);
                self.ranges.iteration();
            }
            MARK_END => {
                if let Some(case) = self.regions.unfinished() {
                    self.ranges.end(case);
                }
                self.regions.end();
            }
            other => self.warn(format!("marker of unknown kind {other:x}")),
        }
        self.measuring = self.regions.measuring();
        self.totals = Some(self.totals_now());
        self.account(block, index);
    }

    /// Totals from paging on to the last marker: a guest that has asked for its end goes on for a moment, and for how
    /// long is not repeatable. Without markers, up to now.
    pub fn totals(&self) -> Value {
        self.totals.unwrap_or_else(|| self.totals_now()).report()
    }

    fn totals_now(&self) -> Totals {
        Totals::new(&self.counters, self.machine.as_ref())
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
        self.memory.forget();
        if let Some(machine) = &mut self.machine {
            machine.event(&Event::Invlpg { linear }, &mut self.memory);
        }
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
        let Some(physical) = self.memory.translate(linear) else { return };
        if let Some(machine) = &mut self.machine {
            machine.data(linear, physical, size as u8, write, &mut self.memory);
        }
        if self.measuring {
            self.touch_data(linear, physical, size);
        }
    }

    fn touch_data(&mut self, linear: u32, physical: u32, size: u32) {
        let kernel = self.mode == Mode::Kernel;
        let here = size.min(0x1000 - (linear & 0xfff));
        self.footprint.data(physical, here, kernel);
        if here < size {
            if let Some(next) = self.memory.translate(linear.wrapping_add(here)) {
                self.footprint.data(next, size - here, kernel);
            }
        }
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
