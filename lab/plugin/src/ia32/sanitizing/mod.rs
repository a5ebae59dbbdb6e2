// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells the sanitizer (`cobnut_model::ia32::sanitizer`) of every access, store to a page table,
//! invalidation and fault, and checks accesses against the segments that they are made through.

mod output;

use super::descriptors;
use super::follower::KERNEL;
use super::operands::{self, Operands};
use super::{Arrival, Event, Ia32Guest, Instruction, Observer, Place, State};
use crate::core::observer;
use crate::core::setup::Setup;
use crate::ia32::registers;
use cobnut_model::ia32::control::CR4_PAE;
use cobnut_model::ia32::sanitizer::{Access, Kind, Sanitizer, Segment, CS, FLAT, SS};
use cobnut_model::ia32::Class;
use cobnut_model::{Linear, Page, Physical};

const USER: u8 = 3;
const FAULT_WRITE: u32 = 2;
const FAULT_USER: u32 = 4;
const ACCESSES_A_HALT: u64 = 10_000;
const NAMES: [&str; 6] = ["es", "cs", "ss", "ds", "fs", "gs"];
/// Selectors up to this one are remembered between stores to the GDT.
const SELECTORS: usize = 64;

/// An instruction of a block.
pub struct Site {
    offset: u32,
    operands: Operands,
}

/// A block.
pub struct Fetched {
    bytes: u32,
    halts: bool,
}

pub struct Sanitizing {
    sanitizer: Sanitizer,
    warnings: Vec<String>,
    stop_at_first: bool,
    stop_after: u64,
    halts: u64,
    /// Instructions that are taken not to invalidate anything.
    ignored: Vec<u32>,
    segments: [Segment; 6],
    /// Segment registers that the last instruction loads.
    loading: u8,
    gdt: (Linear, u32),
    /// Frame and page of the table: a kernel may write it by another mapping than that which the processor was told.
    gdt_pages: Vec<(Physical, Page)>,
    gdt_cache: [Option<Segment>; SELECTORS],
    gdt_store: u32,
    /// The segments agree with the GDT, and which registers were flat or foreign when that was looked at.
    verified: bool,
    /// The block that runs.
    here: Place,
}

impl observer::Observer<Ia32Guest> for Sanitizing {
    type Prepared = Fetched;
    type Site = Site;

    fn create(setup: &Setup, _memory: u32) -> Result<Self, String> {
        let arguments = &setup.arguments;
        Ok(Sanitizing {
            sanitizer: Sanitizer::new(),
            warnings: Vec::new(),
            stop_at_first: arguments.stop_at_first,
            stop_after: arguments.stop_after.unwrap_or(u64::MAX),
            halts: 0,
            ignored: arguments.ignored.clone(),
            segments: [FLAT; 6],
            loading: 0,
            gdt: (Linear(0), 0),
            gdt_pages: Vec::new(),
            gdt_cache: [None; SELECTORS],
            gdt_store: 0,
            verified: false,
            here: Place::default(),
        })
    }

    fn prepare(&self, _at: Linear, instructions: &[Instruction]) -> Fetched {
        let bytes = instructions.iter().map(|one| one.length as u32).sum();
        Fetched { bytes, halts: instructions.last().is_some_and(|last| last.decoded.class == Class::Halt) }
    }

    fn site(&self, offset: u32, instruction: &Instruction) -> Site {
        Site { offset, operands: operands::operands(&instruction.bytes[..instruction.length as usize]) }
    }

    #[inline]
    fn run(&mut self, fetched: &Fetched, place: &Place, state: &mut State) {
        if !self.sanitizer.paging_on() {
            return;
        }
        self.here = *place;
        self.halts += fetched.halts as u64;
        if self.loading != 0 {
            self.segments_loaded(state);
        }
        let access = self.access(place.linear.0, place.linear, fetched.bytes, false);
        if place.privilege == USER {
            self.sanitizer.user_resumed(&state.memory);
            if !self.verified {
                self.verify(&access, state);
            }
            if !self.segments[CS].holds(place.linear, 1) {
                self.past_limit(&access, 1 << CS);
            }
        }
        self.sanitizer.access(&access, &state.memory);
    }

    #[inline]
    fn data(&mut self, site: &Site, access: &super::Access, state: &mut State) {
        if !self.sanitizer.paging_on() {
            return;
        }
        let &super::Access { linear, size, write, .. } = access;
        let instruction = self.here.linear.plus(site.offset).0;
        if write {
            self.stored(instruction, access, state);
        }
        let through = if write { site.operands.writes } else { site.operands.reads };
        let access = self.access(instruction, linear, size, write);
        if access.user {
            let held = (0..6).any(|r| through >> r & 1 == 1 && self.segments[r].holds(linear, size));
            if !held && site.operands.reads_tables && (through == 0 || !state.memory.user_page(linear)) {
                return; // the processor reads a table
            }
            if !held {
                self.past_limit(&access, through);
            }
        }
        self.sanitizer.access(&access, &state.memory);
    }

    #[inline]
    fn event(&mut self, event: Event, state: &mut State) {
        match event {
            Event::ControlWritten { at, cr3_written, control, .. } => {
                self.control_written(at, cr3_written, control, state);
            }
            Event::Invlpg { at, linear } if !self.ignored.contains(&at) && self.sanitizer.paging_on() => {
                self.sanitizer.invlpg(at, linear);
            }
            Event::Arrived(arrival) if self.sanitizer.paging_on() => self.arrived(&arrival, state),
            _ => {}
        }
    }

    /// A processor that halts until the next interrupt could have made accesses meanwhile.
    #[inline]
    fn over(&self) -> bool {
        let found = self.stop_at_first && !self.sanitizer.reports.list().is_empty();
        found || self.sanitizer.counts.accesses + ACCESSES_A_HALT * self.halts > self.stop_after
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        for line in output::told(&self.sanitizer, &setup.symbols) {
            eprintln!("sanitizer: {line}");
        }
        let report = output::json(&self.sanitizer, &setup.symbols, &self.warnings);
        std::fs::write(&setup.arguments.out, format!("{report}\n"))
    }
}

impl Observer for Sanitizing {
    const CUT: bool = false;
    const ENDS: bool = false;
    const PHYSICAL: bool = true;
    const TABLES_ARE_DATA: bool = true;

    /// One that loads a segment register, and the one after it.
    fn announces(site: &Site, before: Option<&Site>) -> bool {
        site.operands.loaded != 0 || before.is_some_and(|before| before.operands.loaded != 0)
    }

    fn announced(&mut self, site: &Site, state: &mut State) {
        if !self.sanitizer.paging_on() {
            return;
        }
        if self.loading != 0 {
            self.segments_loaded(state);
        }
        self.loading = site.operands.loaded;
    }

    fn segment_base(&mut self, register: usize, _state: &mut State) -> Linear {
        self.segments[register].base
    }

    fn global_table_read(&mut self, size: u32, value: u32, state: &mut State) {
        match size {
            2 => self.gdt.1 = value & 0xffff,
            4 => {
                self.gdt.0 = Linear(value);
                self.gdt_cache = [None; SELECTORS];
                self.verified = false;
                let pages = value >> 12..=value.saturating_add(self.gdt.1) >> 12;
                self.gdt_pages =
                    pages.filter_map(|page| Some((state.memory.translate(Page(page).start())?, Page(page)))).collect();
            }
            _ => {}
        }
    }
}

impl Sanitizing {
    fn access(&self, instruction: u32, linear: Linear, size: u32, write: bool) -> Access {
        let (user, moved) = (self.here.privilege == USER, self.here.code_base != Linear(0));
        Access { instruction, linear, size, write, user, moved }
    }

    /// Execution got here by other than direct flow.
    fn arrived(&mut self, arrival: &Arrival, state: &mut State) {
        use Class::*;
        if let Some(vector) = arrival.fault {
            self.loading = 0; // the load itself may be what has faulted
            if vector == descriptors::PAGE_FAULT {
                self.page_fault(state);
            }
        }
        let far = matches!(arrival.from, FarReturn | FarJump | Iret | Sysenter | Sysexit);
        if arrival.entered || far || arrival.privilege != self.here.privilege {
            self.transferred(arrival, state);
        }
    }

    /// CS has been loaded, and SS with it where the privilege has changed.
    fn transferred(&mut self, arrival: &Arrival, state: &mut State) {
        let privilege = arrival.privilege;
        let flat = match arrival.from {
            Class::Sysenter => privilege == KERNEL,
            Class::Sysexit => privilege == USER,
            _ => false,
        };
        for register in [CS, SS] {
            let selector = state.registers.selector(register);
            if flat {
                self.segments[register] = Segment { selector, ..FLAT };
            } else if register == CS || privilege != self.here.privilege {
                self.segments[register] = self.descriptor(selector, state);
            }
        }
        self.verified = false;
    }

    fn page_fault(&mut self, state: &mut State) {
        let stack = Linear(state.registers.general(registers::ESP)); // kernel stacks have base 0
        let mut pushed = |n: u32| state.memory.read_linear(stack.plus(4 * n));
        let (Some(error), Some(eip), Some(selector)) = (pushed(0), pushed(1), pushed(2)) else { return };
        let user = error & FAULT_USER != 0;
        // the fault may be the first that is seen of user code: at the fetch of its first instruction
        let fetched = user && self.here.privilege == KERNEL;
        let base = if fetched { self.descriptor(selector & 0xffff, state).base } else { self.here.code_base };
        let access = Access {
            instruction: base.plus(eip).0,
            linear: Linear(state.registers.cr2()),
            size: 1,
            write: error & FAULT_WRITE != 0,
            user,
            moved: base != Linear(0),
        };
        self.sanitizer.faulted(&access, &state.memory);
    }

    fn control_written(&mut self, instruction: u32, cr3_written: bool, control: [u32; 3], state: &mut State) {
        let [_, cr3, cr4] = control;
        let was_on = self.sanitizer.paging_on();
        if cr4 & CR4_PAE != 0 && self.warnings.is_empty() {
            self.warnings
                .push("the guest uses PAE page tables, which are not understood: nothing is judged".to_string());
        }
        let control = if cr4 & CR4_PAE != 0 { [0, cr3, cr4] } else { control };
        let wrote_cr3 = cr3_written && !self.ignored.contains(&instruction);
        self.sanitizer.control_written(instruction, wrote_cr3, control, &state.memory);
        if !self.sanitizer.paging_on() {
            self.loading = 0;
        } else if !was_on {
            self.gdt_cache = [None; SELECTORS];
            for register in 0..6 {
                self.segments[register] = self.descriptor(state.registers.selector(register), state);
            }
        }
    }

    /// The segment that `selector` names now. Local descriptor tables are not followed.
    fn descriptor(&mut self, selector: u32, state: &mut State) -> Segment {
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
        let at = self.gdt.0.plus(offset);
        let (Some(low), Some(high)) = (state.memory.read_linear(at), state.memory.read_linear(at.plus(4))) else {
            return Segment { selector, ..FLAT };
        };
        let found = Segment::of(selector, low, high);
        if let Some(cached) = self.gdt_cache.get_mut(index) {
            *cached = Some(found);
        }
        found
    }

    fn segments_loaded(&mut self, state: &mut State) {
        for register in 0..6 {
            if self.loading >> register & 1 == 1 {
                let selector = state.registers.selector(register);
                self.segments[register] = self.descriptor(selector, state);
            }
        }
        self.loading = 0;
        self.verified = false;
    }

    /// `instruction` has stored.
    #[inline]
    fn stored(&mut self, instruction: u32, access: &super::Access, state: &mut State) {
        let &super::Access { linear, physical, size, .. } = access;
        if let Some(table) = physical.filter(|&p| self.sanitizer.watches(p)) {
            self.sanitizer.stored(instruction, table, size, &state.memory);
        }
        let page = physical.and_then(|p| self.gdt_pages.iter().find(|&&(frame, _)| frame == p.frame()));
        if let Some(&(_, page)) = page {
            self.gdt_written(instruction, page.start().plus(linear.within()));
        }
    }

    /// A store to a page of the GDT; `linear` is by the mapping that the processor uses.
    fn gdt_written(&mut self, instruction: u32, linear: Linear) {
        let offset = linear.minus(self.gdt.0);
        if offset > self.gdt.1 {
            return;
        }
        if let Some(cached) = self.gdt_cache.get_mut(offset as usize >> 3) {
            *cached = None;
        }
        self.gdt_store = instruction;
        self.verified = false;
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
        self.sanitizer.report(Kind::SegmentLimit, access, false, 0, Physical(0), detail);
    }

    /// User code runs with segments that were not looked at yet.
    #[cold]
    fn verify(&mut self, access: &Access, state: &mut State) {
        if state.kernel.trampoline_page == Some(access.linear.page()) {
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
            let now = self.descriptor(hidden.selector, state);
            if !hidden.covers_same(&now) && hidden.selector & 4 == 0 {
                let store = self.gdt_store;
                self.sanitizer.report(Kind::ForeignSegment, access, false, store, Physical(0), detail(&now));
            } else if hidden.is_flat() && state.kernel.has_small_spaces() {
                self.sanitizer.report(Kind::FlatSegment, access, false, 0, Physical(0), detail(&now));
            }
        }
    }
}
