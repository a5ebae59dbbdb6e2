// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows an ARM guest block by block for an [`Observer`]: where it runs, at which privilege, what it did with
//! coprocessor 15, and which exceptions it took.
//!
//! A block is told when it starts. Each instruction leaves its number behind when it begins, so what a fault kept from
//! being executed is known at the start of the next block, and taken back. Nothing is followed before the MMU is on.

use super::decode::{Decoded, Special};
use super::memory::Memory;
use super::registers::{Registers, LR, NUMBER, SP};
use crate::core::observer::{Guest, Observer};
use crate::core::processes::Processes;
use crate::core::programs::Programs;
use crate::core::user_regions::{Thread, UserRegions};
use cobnut_model::arm::{Class, Exception, Operation};
use cobnut_model::{Linear, Physical, Tables};
use cobnut_trace::{Marker, Mode};

const MARK_BEGIN: u32 = 0xC0B0_0001;
const MARK_ITERATION: u32 = 0xC0B0_0002;
const MARK_END: u32 = 0xC0B0_0003;
const NOWHERE: u32 = u32::MAX;
/// What the numbers in Linux's old system calls begin at.
const OLD_CALLS: u32 = 0x0090_0000;
/// Jumps to here and above are system calls (docs/x2-arm.md).
const SYSTEM_CALLS: u32 = 0xffff_ff00;

/// Of the vector at `offset` from the first; nothing for reset and FIQ.
fn exception_of(offset: u32, fetched: u32) -> Option<Exception> {
    match offset {
        0x4 => Some(Exception::Undefined),
        0x8 => Some(Exception::SoftwareInterrupt),
        0xc if fetched >= SYSTEM_CALLS => Some(Exception::Call),
        0xc => Some(Exception::Prefetch),
        0x10 => Some(Exception::Data),
        0x18 => Some(Exception::Interrupt),
        _ => None,
    }
}

/// Whether the instruction that began last was left undone.
fn undoes(exception: Exception) -> bool {
    matches!(exception, Exception::Undefined | Exception::Data)
}

/// What was refused.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Of a data abort, before relocation; otherwise without meaning.
    pub address: u32,
    pub write: bool,
    /// Whose access it was.
    pub mode: Mode,
}

/// A straight run of instructions within a block, all of which are executed one after the other unless a fault comes.
pub struct Segment<P> {
    first: usize,
    count: usize,
    /// It begins with a marker, which is told before.
    marked: bool,
    pub prepared: P,
}

/// A block of QEMU's.
pub struct Block<P> {
    decoded: Vec<Decoded>,
    segments: Vec<Segment<P>>,
    /// Bytes of each of its instructions.
    step: u32,
    /// The mode that it is counted for: constant, as QEMU keys blocks by privilege and physical address.
    mode: Option<Mode>,
    /// Its bytes, until it is known whose they are, if it may be a program's; and the number of that.
    pub text: Vec<u8>,
    program: Option<usize>,
    /// Where it was last executed.
    at: u32,
}

impl<P> Block<P> {
    /// Of instructions that are translated at `at`.
    pub fn new(at: u32, decoded: Vec<Decoded>, prepare: impl Fn(u32, &[Decoded]) -> P) -> Self {
        let step = decoded[0].instruction.length as u32;
        let mut cuts = vec![0];
        for (index, one) in decoded.iter().enumerate() {
            match one.special {
                Special::Marker | Special::Place | Special::Call(_) => cuts.push(index),
                Special::Coprocessor { .. } => cuts.push(index + 1),
                Special::None => {}
            }
        }
        cuts.push(decoded.len());
        cuts.dedup();
        let segment = |cut: &[usize]| Segment {
            first: cut[0],
            count: cut[1] - cut[0],
            marked: matches!(decoded[cut[0]].special, Special::Marker | Special::Place | Special::Call(_)),
            prepared: prepare(at.wrapping_add(cut[0] as u32 * step), &decoded[cut[0]..cut[1]]),
        };
        let segments = cuts.windows(2).map(segment).collect();
        Block { decoded, segments, step, mode: None, text: Vec::new(), program: None, at: NOWHERE }
    }

    fn address(&self, index: usize) -> u32 {
        self.at.wrapping_add(index as u32 * self.step)
    }
}

/// Where a run of instructions stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The program's address, before relocation.
    pub address: u32,
    pub mva: Linear,
    pub mode: Mode,
}

/// A data access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Address of the instruction, before relocation, and the mode that it is counted for.
    pub instruction: u32,
    pub mode: Mode,
    pub mva: Linear,
    pub size: u32,
    pub write: bool,
}

/// What else happens in a guest.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A coprocessor operation, by the instruction at `at`. The memory knows its registers as they will be after it;
    /// the `operand` of an operation that writes one of these is what was there before.
    Operation { operation: Operation, operand: u32, at: u32 },
    /// An exception was entered; `at` is the instruction that raised it or, for an interrupt, did not come to its turn.
    Exception { exception: Exception, at: u32, fault: Fault },
}

/// Guests with an ARM processor.
pub struct ArmGuest;

impl Guest for ArmGuest {
    type Instruction = Decoded;
    type At = u32;
    type Place = Place;
    type Access = Access;
    type Event = Event;
    type State = Memory;
}

/// Follows one guest.
pub struct Follower<O: Observer<ArmGuest>> {
    pub observer: O,
    pub memory: Memory,
    registers: Registers,
    /// Of the kernel interface page.
    interface_frame: Option<Physical>,
    /// Number of the instruction of the present block that began last; written by the guest's code.
    began: *const u64,
    previous: *const Block<O::Prepared>,
    /// Segments of it that were told.
    told: usize,
    next_fall: u32,
    next_taken: u32,
    programs: &'static Programs,
    pub(super) processes: Processes,
    /// The space that was named last, and how often processes had changed by then.
    pub(super) named: Option<(Physical, u32, u32)>,
    pub(super) regions: UserRegions,
}

impl<O: Observer<ArmGuest>> Follower<O> {
    pub fn new(
        registers: Registers,
        memory: Memory,
        interface_frame: Option<Physical>,
        began: *const u64,
        observer: O,
        (programs, processes, regions): (&'static Programs, Processes, UserRegions),
    ) -> Self {
        let previous = std::ptr::null();
        Follower {
            observer,
            memory,
            registers,
            interface_frame,
            began,
            previous,
            told: 0,
            next_fall: NOWHERE,
            next_taken: NOWHERE,
            programs,
            processes,
            named: None,
            regions,
        }
    }

    /// Whether anything is told yet.
    #[inline]
    pub fn following(&self) -> bool {
        self.memory.mmu_on()
    }

    /// Address of the instruction that began last, and the mode that it is counted for.
    #[inline]
    fn present(&self) -> (u32, Mode) {
        match unsafe { self.previous.as_ref() } {
            Some(block) => (block.address(unsafe { *self.began } as usize), block.mode.unwrap_or(Mode::Kernel)),
            None => (0, Mode::Kernel),
        }
    }

    /// The instruction that began last has accessed `size` bytes at `address`.
    #[inline]
    pub fn accessed(&mut self, site: &O::Site, address: u32, size: u32, write: bool) {
        if self.following() {
            let ((instruction, mode), mva) = (self.present(), self.memory.mva(address));
            self.observer.data(site, &Access { instruction, mode, mva, size, write }, &mut self.memory);
            if write && self.processes.known() {
                self.written(address, mode);
            }
        }
    }

    /// A block is about to be executed. Blocks live as long as the run.
    #[inline]
    pub fn block_started(&mut self, block: &mut Block<O::Prepared>) {
        if !self.following() {
            block.at = self.registers.pc();
            (self.previous, self.told) = (block, 0);
            return;
        }
        let expected = block.at == self.next_fall || block.at == self.next_taken;
        let mode = match block.mode {
            Some(mode) if expected && self.completed() && block.at != NOWHERE => mode,
            known => {
                let at = self.registers.pc();
                let mode = known.unwrap_or_else(|| self.mode_of(at));
                if known.is_none() {
                    block.segments.iter_mut().for_each(|segment| O::belongs(&mut segment.prepared, mode));
                    block.mode = Some(mode);
                    self.find_program(block, at, mode);
                }
                self.arrive(at, mode);
                block.at = at;
                mode
            }
        };
        let count = block.decoded.len();
        self.next_fall = block.address(count);
        self.next_taken = match block.decoded[count - 1].jump {
            Some(jump) => block.address(count - 1).wrapping_add(jump as u32),
            None => NOWHERE,
        };
        self.previous = block;
        self.told = 0;
        if self.processes.known() && mode == Mode::User {
            self.name_space();
        }
        if let Some(program) = block.program.filter(|_| self.regions.of_calls()) {
            self.regions.runs(program, self.thread().space);
        }
        if !block.segments[0].marked {
            self.tell(block, 0, mode);
        }
    }

    /// Whose code a block at `at` is.
    fn find_program(&mut self, block: &mut Block<O::Prepared>, at: u32, mode: Mode) {
        let text = std::mem::take(&mut block.text);
        block.program = self.programs.of(at, &text).filter(|_| mode == Mode::User);
        let Some(program) = block.program else { return };
        for segment in &mut block.segments {
            let address = at.wrapping_add(segment.first as u32 * block.step);
            self.observer.of_program(&mut segment.prepared, address, program);
        }
    }

    /// The thread that runs.
    fn thread(&self) -> Thread {
        let space = (self.memory.table_base.0, self.memory.process_id);
        Thread { space, stack: self.registers.general(SP) }
    }

    pub(super) fn mark(&mut self, markers: impl IntoIterator<Item = Marker>) {
        markers.into_iter().for_each(|marker| self.observer.marker(marker));
    }

    /// The run ends.
    pub fn end_regions(&mut self) {
        let markers = self.regions.finish();
        self.mark(markers);
        let doubts: Vec<String> = self.regions.doubts().chain(self.processes.doubt()).collect();
        doubts.into_iter().for_each(|doubt| self.observer.doubt(doubt));
    }

    /// What comes before an instruction at a place of a region, or one that calls the kernel.
    fn reached(&mut self, block: &Block<O::Prepared>, index: usize) {
        let by_kernel = block.mode == Some(Mode::Kernel);
        let markers = match block.decoded[index].special {
            Special::Call(_) if by_kernel => Vec::new(),
            Special::Call(number) => {
                let number = if number == 0 { self.registers.general(NUMBER) } else { number.wrapping_sub(OLD_CALLS) };
                self.regions.calls(number, self.thread())
            }
            _ => self.regions.reached(block.address(index), by_kernel),
        };
        self.mark(markers);
    }

    /// What stands in a register was stored to the console's port.
    pub fn printed(&mut self, register: usize) {
        if self.following() {
            let character = self.registers.general(register) as u8;
            let markers = self.regions.printed(character);
            self.mark(markers);
        }
    }

    /// Whether all of the previous block has begun.
    #[inline]
    fn completed(&self) -> bool {
        let before = unsafe { self.previous.as_ref() };
        before.is_some_and(|before| unsafe { *self.began } as usize + 1 == before.decoded.len())
    }

    fn mode_of(&mut self, at: u32) -> Mode {
        if self.registers.privileged() {
            return Mode::Kernel;
        }
        let mva = self.memory.mva(at);
        let frame = self.memory.walk(mva).map(|found| found.physical(mva).frame());
        match frame {
            Some(frame) if Some(frame) == self.interface_frame => Mode::Stub,
            _ => Mode::User,
        }
    }

    /// Execution goes on at `at`, otherwise than by a direct jump, or after something was left undone.
    fn arrive(&mut self, at: u32, mode: Mode) {
        let offset = at.wrapping_sub(self.memory.vectors());
        let returns = self.registers.general(LR);
        let exception = match mode {
            Mode::Kernel if offset < 0x20 => exception_of(offset, returns.wrapping_sub(4)),
            _ => None,
        };
        let Some(before) = (unsafe { self.previous.as_ref() }) else { return };
        let last = unsafe { *self.began } as usize;
        // A device access makes QEMU begin its instruction again, in a block of its own.
        let again = exception.is_none()
            && before.address(last) == at
            && accesses_memory(before.decoded[last].instruction.class);
        let undone = again || exception.is_some_and(undoes);
        self.retract(before, if undone { last } else { last + 1 });
        if undone {
            self.regions.undone(before.address(last));
        }
        if let Some(exception) = exception {
            let at = match exception {
                Exception::Data | Exception::Undefined | Exception::SoftwareInterrupt => before.address(last),
                _ => returns.wrapping_sub(4),
            };
            let fault = Fault {
                address: self.registers.fault_address(),
                write: writes(before.decoded[last].instruction.class),
                mode: before.mode.unwrap_or(Mode::Kernel),
            };
            self.observer.event(Event::Exception { exception, at, fault }, &mut self.memory);
        }
        if self.processes.known() && mode != Mode::Kernel && before.mode == Some(Mode::Kernel) {
            self.look_at_processes();
        }
        if self.regions.waits() && mode != Mode::Kernel {
            let returned = self.regions.returned(self.thread());
            self.mark(returned);
        }
    }

    /// Of the block before, the instructions from number `first` on were not executed.
    fn retract(&mut self, before: &Block<O::Prepared>, first: usize) {
        for segment in &before.segments[..self.told] {
            if first < segment.first + segment.count {
                self.observer.retract(&segment.prepared, first.saturating_sub(segment.first)..segment.count);
            }
        }
    }

    #[inline]
    fn tell(&mut self, block: &Block<O::Prepared>, index: usize, mode: Mode) {
        let segment = &block.segments[index];
        self.told = index + 1;
        let address = block.address(segment.first);
        let place = Place { address, mva: self.memory.mva(address), mode };
        self.observer.run(&segment.prepared, &place, &mut self.memory);
    }

    /// The special instruction with this `index` in the block is about to be executed.
    pub fn special(&mut self, block: &Block<O::Prepared>, index: usize) {
        if let Special::Coprocessor { operation, register, condition } = block.decoded[index].special {
            self.coprocessor(block, index, operation, register, condition);
        } else if self.following() && block.decoded[index].special != Special::Marker {
            self.reached(block, index);
            self.tell_from(block, index, true);
        } else if self.following() {
            let (kind, case) = (self.registers.general(0), self.registers.general(1));
            self.observer.marker(match kind {
                MARK_BEGIN => Marker::Begin(case),
                MARK_ITERATION => Marker::Iteration,
                MARK_END => Marker::End,
                _ => Marker::Other,
            });
            self.tell_from(block, index, true);
        }
    }

    fn coprocessor(
        &mut self,
        block: &Block<O::Prepared>,
        index: usize,
        operation: Operation,
        register: usize,
        condition: u32,
    ) {
        let privileged = match block.mode {
            Some(mode) => mode == Mode::Kernel,
            None => self.registers.privileged(),
        };
        let followed = self.following();
        if privileged && holds(condition, self.registers.status()) {
            let operand = if register < 15 { self.registers.general(register) } else { 0 };
            let operand = match operation {
                Operation::Control => std::mem::replace(&mut self.memory.control, operand),
                Operation::TableBase => std::mem::replace(&mut self.memory.table_base, Physical(operand & !0x3fff)).0,
                Operation::DomainAccess => std::mem::replace(&mut self.memory.domain_access, operand),
                Operation::ProcessId => std::mem::replace(&mut self.memory.process_id, operand & 0xfe00_0000),
                _ => operand,
            };
            if followed {
                let event = Event::Operation { operation, operand, at: block.address(index) };
                self.observer.event(event, &mut self.memory);
            }
        }
        if followed && index + 1 < block.decoded.len() {
            self.tell_from(block, index + 1, false);
        }
    }

    /// Tells the segment whose first instruction has the number `first`; one that begins with a marker only when that
    /// is reached.
    fn tell_from(&mut self, block: &Block<O::Prepared>, first: usize, marked: bool) {
        let wanted = |segment: &Segment<_>| segment.first == first && segment.marked == marked;
        if let Some(index) = block.segments.iter().position(wanted) {
            self.tell(block, index, block.mode.unwrap_or(Mode::Kernel));
        }
    }
}

fn accesses_memory(class: Class) -> bool {
    use Class::*;
    matches!(class, Load | Store | LoadMultiple | StoreMultiple | Swap | LoadPc)
}

fn writes(class: Class) -> bool {
    matches!(class, Class::Store | Class::StoreMultiple | Class::Swap)
}

/// Whether the condition of an instruction is met with these flags (ARM Architecture Reference Manual, A3.2).
fn holds(condition: u32, status: u32) -> bool {
    let [n, z, c, v] = [31, 30, 29, 28].map(|bit| status >> bit & 1 == 1);
    let met = match condition >> 1 {
        0 => z,
        1 => c,
        2 => n,
        3 => v,
        4 => c && !z,
        5 => n == v,
        6 => n == v && !z,
        _ => return true,
    };
    met == (condition & 1 == 0)
}
