// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows the guest for the sanitizer: where it runs, at which privilege, with which segments.

use super::operands::Operands;
use crate::decode::{Addressing, Decoded, Special};
use crate::descriptors::{self, Descriptors};
use crate::guest_memory::GuestMemory;
use crate::kernel_image::KernelImage;
use crate::registers::{self, Registers};
use cobnut_model::sanitizer::{Access, Kind, Sanitizer, Segment, CS, FLAT, SS};
use cobnut_model::Class;

const KERNEL: u8 = 0;
const USER: u8 = 3;
const FAULT_WRITE: u32 = 2;
const FAULT_USER: u32 = 4;
const CR4_PAE: u32 = 1 << 5;
const ACCESSES_A_HALT: u64 = 10_000;
const NAMES: [&str; 6] = ["es", "cs", "ss", "ds", "fs", "gs"];
const NOWHERE: u32 = u32::MAX;
/// Selectors up to this one are remembered between stores to the GDT.
const SELECTORS: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Table {
    None,
    Gdt,
    Idt,
}

/// An instruction of a block.
pub struct Site {
    pub offset: u32,
    pub operands: Operands,
    pub invlpg: Option<Addressing>,
    pub table: Table,
}

/// A block of QEMU's. Privilege and code segment base are constants of it (see `translated_block`).
pub struct Block {
    reported: u32,
    bytes: u32,
    last: Decoded,
    last_offset: u32,
    learned: Option<(u32, u8)>,
    /// Where it was last executed.
    linear: u32,
}

impl Block {
    pub fn new(reported: u32, bytes: u32, last: Decoded, last_offset: u32) -> Self {
        Block { reported, bytes, last, last_offset, learned: None, linear: NOWHERE }
    }
}

pub struct Follower {
    pub sanitizer: Sanitizer,
    pub warnings: Vec<String>,
    pub stop_at_first: bool,
    pub stop_after: u64,
    halts: u64,
    /// Instructions that are taken not to invalidate anything.
    pub ignored: Vec<u32>,
    registers: Registers,
    memory: GuestMemory,
    descriptors: Descriptors,
    kernel: KernelImage,
    segments: [Segment; 6],
    /// Segment registers that the last instruction loads.
    loading: u8,
    gdt: (u32, u32),
    /// Frame and page of the table: a kernel may write it by another mapping than that which the processor was told.
    gdt_pages: Vec<(u32, u32)>,
    gdt_cache: [Option<Segment>; SELECTORS],
    gdt_store: u32,
    /// The segments agree with the GDT, and which registers were flat or foreign when that was looked at.
    verified: bool,
    privilege: u8,
    code_base: u32,
    linear: u32,
    next_fall: u32,
    next_taken: u32,
    before: Option<(Decoded, u32)>,
}

impl Follower {
    pub fn new(registers: Registers, memory: GuestMemory, kernel: KernelImage, stop_at_first: bool) -> Self {
        Follower {
            sanitizer: Sanitizer::new(),
            warnings: Vec::new(),
            stop_at_first,
            stop_after: u64::MAX,
            halts: 0,
            ignored: Vec::new(),
            registers,
            memory,
            descriptors: Descriptors::default(),
            kernel,
            segments: [FLAT; 6],
            loading: 0,
            gdt: (0, 0),
            gdt_pages: Vec::new(),
            gdt_cache: [None; SELECTORS],
            gdt_store: 0,
            verified: false,
            privilege: KERNEL,
            code_base: 0,
            linear: 0,
            next_fall: NOWHERE,
            next_taken: NOWHERE,
            before: None,
        }
    }

    pub fn block_started(&mut self, block: &mut Block) {
        if let Some((last, at)) = self.before {
            // at user privilege it has faulted
            if self.privilege == KERNEL && matches!(last.special, Special::Cr3Write | Special::ControlWrite) {
                self.control_written(last.special, at);
            }
        }
        if !self.sanitizer.paging_on() {
            self.loading = 0;
            self.before = Some((block.last, block.reported.wrapping_add(block.last_offset)));
            return;
        }
        let (code_base, privilege) = match block.learned {
            Some(learned) => learned,
            None => {
                let base = block.reported.wrapping_sub(self.registers.eip());
                let learned = (base, (self.registers.selector(registers::CS) & 3) as u8);
                block.linear = block.reported;
                *block.learned.insert(learned)
            }
        };
        let expected = block.linear == self.next_fall || block.linear == self.next_taken;
        let linear = if expected && privilege == self.privilege {
            block.linear
        } else {
            self.arrive(block, code_base, privilege)
        };
        block.linear = linear;
        self.linear = linear;
        self.code_base = code_base;
        self.privilege = privilege;
        self.before = Some((block.last, linear.wrapping_add(block.last_offset)));
        self.halts += (block.last.class == Class::Halt) as u64;
        let end = linear.wrapping_add(block.bytes);
        self.next_fall = if block.last.falls_through { end } else { NOWHERE };
        self.next_taken = block.last.jump.map_or(self.next_fall, |distance| end.wrapping_add(distance as u32));
        if self.loading != 0 {
            self.segments_loaded();
        }
        let access = self.access(linear, linear, block.bytes, false);
        if privilege == USER {
            self.sanitizer.user_resumed(&self.memory);
            if !self.verified {
                self.verify(&access);
            }
            if !self.segments[CS].holds(linear, 1) {
                self.past_limit(&access, 1 << CS);
            }
        }
        self.sanitizer.access(&access, &self.memory);
    }

    /// Whether it has had its time. A processor that halts until the next interrupt could have made accesses meanwhile.
    pub fn is_over(&self) -> bool {
        self.sanitizer.counts.accesses + ACCESSES_A_HALT * self.halts > self.stop_after
    }

    fn access(&self, instruction: u32, linear: u32, size: u32, write: bool) -> Access {
        let (user, moved) = (self.privilege == USER, self.code_base != 0);
        Access { instruction, linear, size, write, user, moved }
    }

    /// Execution got here by other than direct flow.
    fn arrive(&mut self, block: &Block, code_base: u32, privilege: u8) -> u32 {
        let linear = self.registers.eip().wrapping_add(code_base);
        let class = self.before.map_or(Class::Nop, |(last, _)| last.class);
        let mut entered = privilege != self.privilege;
        if privilege == KERNEL {
            let vectors = self.descriptors.vectors(linear, &mut self.memory);
            if let Some(&vector) = vectors.first() {
                entered = true;
                let asked = matches!(self.before, Some((last, _)) if last.special == Special::Int(vector));
                if descriptors::is_fault(vector) && !asked {
                    self.loading = 0; // the load itself may be what has faulted
                    if vector == descriptors::PAGE_FAULT {
                        self.page_fault();
                    }
                }
            }
        }
        let far = matches!(class, Class::FarReturn | Class::FarJump | Class::Iret | Class::Sysenter | Class::Sysexit);
        if entered || far {
            self.transferred(class, privilege);
        }
        let _ = block;
        linear
    }

    /// CS has been loaded, and SS with it where the privilege has changed.
    fn transferred(&mut self, class: Class, privilege: u8) {
        let flat = match class {
            Class::Sysenter => privilege == KERNEL,
            Class::Sysexit => privilege == USER,
            _ => false,
        };
        for register in [CS, SS] {
            let selector = self.registers.selector(register);
            if flat {
                self.segments[register] = Segment { selector, ..FLAT };
            } else if register == CS || privilege != self.privilege {
                self.segments[register] = self.descriptor(selector);
            }
        }
        self.verified = false;
    }

    fn page_fault(&mut self) {
        let stack = self.registers.general(registers::ESP); // kernel stacks have base 0
        let mut pushed = |n: u32| self.memory.read_linear(stack.wrapping_add(4 * n));
        let (Some(error), Some(eip), Some(selector)) = (pushed(0), pushed(1), pushed(2)) else { return };
        let user = error & FAULT_USER != 0;
        // the fault may be the first that is seen of user code: at the fetch of its first instruction
        let fetched = user && self.privilege == KERNEL;
        let base = if fetched { self.descriptor(selector & 0xffff).base } else { self.code_base };
        let access = Access {
            instruction: eip.wrapping_add(base),
            linear: self.registers.cr2(),
            size: 1,
            write: error & FAULT_WRITE != 0,
            user,
            moved: base != 0,
        };
        self.sanitizer.faulted(&access, &self.memory);
    }

    fn control_written(&mut self, special: Special, instruction: u32) {
        let control @ [cr0, cr3, cr4] = [self.registers.cr0(), self.registers.cr3(), self.registers.cr4()];
        self.memory.set_control(cr0, cr3, cr4);
        let was_on = self.sanitizer.paging_on();
        if cr4 & CR4_PAE != 0 && self.warnings.is_empty() {
            self.warnings
                .push("the guest uses PAE page tables, which are not understood: nothing is judged".to_string());
        }
        let control = if cr4 & CR4_PAE != 0 { [0, cr3, cr4] } else { control };
        let wrote_cr3 = special == Special::Cr3Write && !self.ignored.contains(&instruction);
        self.sanitizer.control_written(instruction, wrote_cr3, control, &self.memory);
        if !was_on && self.sanitizer.paging_on() {
            self.descriptors.refresh_later();
            self.gdt_cache = [None; SELECTORS];
            for register in 0..6 {
                self.segments[register] = self.descriptor(self.registers.selector(register));
            }
        } else if special == Special::ControlWrite {
            self.descriptors.refresh_later();
        }
    }

    /// The segment that `selector` names now. Local descriptor tables are not followed.
    fn descriptor(&mut self, selector: u32) -> Segment {
        if selector & !3 == 0 {
            return Segment::null(selector);
        }
        let offset = selector & !7;
        if selector & 4 != 0 || offset + 7 > self.gdt.1 {
            return Segment { selector, ..FLAT };
        }
        let index = offset as usize >> 3;
        if let Some(Some(known)) = self.gdt_cache.get(index) {
            return Segment { selector, ..*known };
        }
        let at = self.gdt.0.wrapping_add(offset);
        let (Some(low), Some(high)) = (self.memory.read_linear(at), self.memory.read_linear(at.wrapping_add(4))) else {
            return Segment { selector, ..FLAT };
        };
        let found = Segment::of(selector, low, high);
        if let Some(cached) = self.gdt_cache.get_mut(index) {
            *cached = Some(found);
        }
        found
    }

    fn segments_loaded(&mut self) {
        for register in 0..6 {
            if self.loading >> register & 1 == 1 {
                let selector = self.registers.selector(register);
                self.segments[register] = self.descriptor(selector);
            }
        }
        self.loading = 0;
        self.verified = false;
    }

    /// An instruction that loads a segment register or invalidates, or one after a load, is about to be executed.
    pub fn instruction_reached(&mut self, site: &Site) {
        if !self.sanitizer.paging_on() {
            return;
        }
        if self.loading != 0 {
            self.segments_loaded();
        }
        self.loading = site.operands.loaded;
        if let Some(operand) = &site.invlpg {
            let register = |n: u8| self.registers.general(n as usize);
            let mut linear = self.segments[operand.segment as usize].base.wrapping_add(operand.displacement);
            linear = linear.wrapping_add(operand.base.map_or(0, register));
            linear = linear.wrapping_add(operand.index.map_or(0, |(n, shift)| register(n) << shift));
            let instruction = self.linear.wrapping_add(site.offset);
            if !self.ignored.contains(&instruction) {
                self.sanitizer.invlpg(instruction, linear);
            }
        }
    }

    /// A load was carried out.
    #[inline]
    pub fn read(&mut self, site: &Site, linear: u32, size: u32) {
        if site.table != Table::None {
            self.table_loaded(site.table, linear, size);
        }
        if self.sanitizer.paging_on() {
            self.judge(site, site.operands.reads, linear, size, false);
        }
    }

    /// A store was carried out.
    #[inline]
    pub fn written(&mut self, site: &Site, linear: u32, physical: Option<u32>, size: u32) {
        if !self.sanitizer.paging_on() {
            return;
        }
        let instruction = self.linear.wrapping_add(site.offset);
        if let Some(table) = physical.filter(|&p| self.sanitizer.watches(p)) {
            self.sanitizer.stored(instruction, table, size, &self.memory);
        }
        self.descriptors.written(linear);
        let page = physical.and_then(|p| self.gdt_pages.iter().find(|&&(frame, _)| frame == p >> 12));
        if let Some(&(_, page)) = page {
            self.gdt_written(instruction, page << 12 | linear & 0xfff);
        }
        self.judge(site, site.operands.writes, linear, size, true);
    }

    /// A store to a page of the GDT; `linear` is by the mapping that the processor uses.
    fn gdt_written(&mut self, instruction: u32, linear: u32) {
        let offset = linear.wrapping_sub(self.gdt.0);
        if offset > self.gdt.1 {
            return;
        }
        if let Some(cached) = self.gdt_cache.get_mut(offset as usize >> 3) {
            *cached = None;
        }
        self.gdt_store = instruction;
        self.verified = false;
    }

    #[inline]
    fn judge(&mut self, site: &Site, through: u8, linear: u32, size: u32, write: bool) {
        let access = self.access(self.linear.wrapping_add(site.offset), linear, size, write);
        if access.user {
            let held = (0..6).any(|r| through >> r & 1 == 1 && self.segments[r].holds(linear, size));
            if !held && site.operands.reads_tables && !self.memory.user_page(linear) {
                return; // the processor reads a table
            }
            if !held {
                self.past_limit(&access, through);
            }
        }
        self.sanitizer.access(&access, &self.memory);
    }

    #[cold]
    fn past_limit(&mut self, access: &Access, through: u8) {
        let register = through.trailing_zeros() as usize % 6;
        let segment = self.segments[register];
        let detail = format!(
            "{} = {:x} with base {:x}, limit {:x}{}",
            NAMES[register],
            segment.selector,
            segment.base,
            segment.limit,
            if segment.usable { "" } else { " (null)" }
        );
        self.sanitizer.report(Kind::SegmentLimit, access, false, 0, 0, detail);
    }

    /// User code runs with segments that were not looked at yet.
    #[cold]
    fn verify(&mut self, access: &Access) {
        if self.kernel.trampoline_page == Some(access.linear >> 12) {
            return; // on its way to its own segments
        }
        self.verified = true;
        for (name, hidden) in NAMES.iter().zip(self.segments) {
            if !hidden.usable {
                continue;
            }
            let detail = |now: &Segment| {
                format!(
                    "{name} = {:x} holds base {:x}, limit {:x}; its descriptor says base {:x}, limit {:x}",
                    hidden.selector, hidden.base, hidden.limit, now.base, now.limit
                )
            };
            let now = self.descriptor(hidden.selector);
            if !hidden.covers_same(&now) && hidden.selector & 4 == 0 {
                let store = self.gdt_store;
                self.sanitizer.report(Kind::ForeignSegment, access, false, store, 0, detail(&now));
            } else if hidden.is_flat() && self.kernel.has_small_spaces() {
                self.sanitizer.report(Kind::FlatSegment, access, false, 0, 0, detail(&now));
            }
        }
    }

    /// `lgdt` or `lidt` reads its operand: limit, then base.
    fn table_loaded(&mut self, table: Table, linear: u32, size: u32) {
        let Some(value) = self.memory.read_linear(linear) else { return };
        match (table, size) {
            (Table::Gdt, 2) => self.gdt.1 = value & 0xffff,
            (Table::Gdt, 4) => {
                self.gdt.0 = value;
                self.gdt_cache = [None; SELECTORS];
                self.verified = false;
                self.descriptors.set_gdt(value);
                let pages = value >> 12..=value.saturating_add(self.gdt.1) >> 12;
                self.gdt_pages =
                    pages.filter_map(|page| Some((self.memory.translate(page << 12)? >> 12, page))).collect();
            }
            (Table::Idt, 4) => self.descriptors.set_idt(value),
            _ => {}
        }
    }
}
