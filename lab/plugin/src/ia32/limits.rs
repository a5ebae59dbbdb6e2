// SPDX-License-Identifier: GPL-2.0-or-later
//! Which accesses of user code are past the limit of their segment. QEMU carries them out; a processor raises a
//! protection fault first.
//!
//! A segment register is looked at when user code first uses it after a kernel exit: the kernel loads what the running
//! thread's descriptors say (the sanitizer's `foreign-segment` proves that), so selector and descriptor tell what the
//! register holds. What a fault leads to is then followed as the kernel would do it:
//!
//! - The segment of a thread's own behind FS or GS reaches one side of its base and is turned by the fault
//!   (docs/x2-ia32.md, 14.1). From then on accesses on the other side fault. Nothing turns it in QEMU, so the side that
//!   it would face is remembered here, by the place of its base.
//! - Past any other limit the space becomes larger. Nothing enlarges it in QEMU, so one fault is told of a segment, and
//!   what comes behind is left alone.

use super::operands::Operands;
use super::{Access, State};
use cobnut_model::ia32::sanitizer::{Segment, CS, FLAT, FS, GS};
use cobnut_model::ia32::Walk;
use cobnut_model::{Linear, Physical, Tables};
use std::collections::HashSet;

/// Selector of a thread's own segment in this project's kernel (`USER_TLS` in kernel/ia32/layout.hpp).
const OWN: u32 = 0x3b;
/// Sizes from which on a limit counts pages, and a page.
const LARGE: u32 = 1 << 20;
const PAGE: u32 = 0x1000;
const WITHIN_PAGE: u32 = PAGE - 1;
const OWN_REGISTERS: [usize; 2] = [FS, GS];

/// Where a thread's own segment starts, in which page directory unless that is the same in all.
type Own = (Option<Physical>, Linear);

/// What an access past a limit leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Passed {
    /// A segment of a thread's own is turned.
    Turned,
    /// The space would become larger.
    Grown(Segment),
}

pub struct Limits {
    /// The kernel turns such segments.
    turns: bool,
    user: bool,
    /// Registers whose segment is known.
    known: u8,
    segments: [Segment; 6],
    /// Threads' own segments that face the other side than their descriptors say.
    turned: HashSet<Own>,
    /// Segments past whose limit an access was told.
    grown: HashSet<(Linear, u32)>,
}

impl Limits {
    /// For a kernel that turns segments, or not.
    pub fn new(turns: bool) -> Self {
        let (turned, grown) = (HashSet::new(), HashSet::new());
        Limits { turns, user: false, known: 0, segments: [FLAT; 6], turned, grown }
    }

    /// Code begins to run that reaches memory through these registers. `user` code has segments of its own.
    #[inline]
    pub fn run(&mut self, user: bool, through: u8, state: &mut State) {
        if !user {
            self.user = false;
            return;
        }
        if !self.user {
            (self.user, self.known) = (true, 0);
        }
        if through & !self.known != 0 {
            self.look_at(through & !self.known, state);
        }
    }

    /// Segment registers were loaded since: looks again at those that were known, and at `through`.
    pub fn loaded(&mut self, through: u8, state: &mut State) {
        if self.user {
            let again = std::mem::take(&mut self.known) | through;
            self.look_at(again, state);
        }
    }

    /// The same, when code is next run.
    pub fn forget(&mut self) {
        self.known = 0;
    }

    #[inline(never)]
    fn look_at(&mut self, registers: u8, state: &mut State) {
        for register in (0..6).filter(|register| registers >> register & 1 == 1) {
            let selector = state.registers.selector(register);
            // a null one faults for what it is, not for its limit
            let found = state.descriptors.segment(selector, &mut state.memory).unwrap_or(FLAT);
            self.segments[register] = found;
            if self.turns && selector == OWN && OWN_REGISTERS.contains(&register) {
                let code = self.code(state);
                if self.turned.contains(&own(&found, state)) {
                    self.segments[register] = other_side(&found, &code);
                }
            }
        }
        self.known |= registers;
    }

    /// What the code segment reaches, which is all of the space.
    fn code(&mut self, state: &mut State) -> Segment {
        let selector = state.registers.selector(CS);
        state.descriptors.segment(selector, &mut state.memory).unwrap_or(FLAT)
    }

    /// Code at `linear` is fetched.
    #[inline]
    pub fn fetched(&mut self, linear: Linear) -> Option<Passed> {
        if !self.user || self.segments[CS].holds(linear, 1) {
            return None;
        }
        self.grow(CS)
    }

    /// A data access by the instruction with these `operands`.
    #[inline]
    pub fn data(&mut self, operands: &Operands, access: &Access, state: &mut State) -> Option<Passed> {
        if !self.user {
            return None;
        }
        let through = (if access.write { operands.writes } else { operands.reads }) & self.known;
        if through == 0 || self.within(through, access) {
            return None;
        }
        self.past(operands, through, access.linear, state)
    }

    /// Whether an access is within a segment of these registers.
    #[inline]
    fn within(&self, mut through: u8, access: &Access) -> bool {
        while through != 0 {
            if self.segments[through.trailing_zeros() as usize].holds(access.linear, access.size) {
                return true;
            }
            through &= through - 1;
        }
        false
    }

    #[cold]
    fn past(&mut self, operands: &Operands, through: u8, linear: Linear, state: &mut State) -> Option<Passed> {
        if operands.reads_tables && !state.memory.user_page(linear) {
            return None; // the processor reads a table
        }
        let register = through.trailing_zeros() as usize;
        let segment = self.segments[register];
        if !self.turns || segment.selector != OWN || !OWN_REGISTERS.contains(&register) {
            return self.grow(register);
        }
        let key = own(&segment, state);
        if !self.turned.remove(&key) {
            self.turned.insert(key);
        }
        self.known &= !OWN_REGISTERS.iter().fold(0, |all, register| all | 1 << register);
        self.turn(segment);
        Some(Passed::Turned)
    }

    /// Both registers may hold it.
    fn turn(&mut self, segment: Segment) {
        for register in OWN_REGISTERS {
            if self.segments[register] == segment {
                self.segments[register] = other_side(&segment, &self.segments[CS]);
                self.known |= 1 << register;
            }
        }
    }

    fn grow(&mut self, register: usize) -> Option<Passed> {
        let segment = self.segments[register];
        self.grown.insert((segment.base, segment.limit)).then_some(Passed::Grown(segment))
    }
}

/// Slots that are a space's alone have global pages: what is there does not depend on the directory.
fn own(segment: &Segment, state: &mut State) -> Own {
    let walk: Option<Walk> = state.memory.walk(segment.base);
    let global = walk.is_some_and(|walk| walk.global);
    ((!global).then(|| state.memory.directory()), segment.base)
}

/// The segment at the same place that faces the other way, in a space that `code` reaches all of (`segments::data` in
/// kernel/ia32/segments.hpp).
fn other_side(segment: &Segment, code: &Segment) -> Segment {
    let offset = segment.base.minus(code.base);
    if !segment.expand_down {
        return Segment { limit: !offset | WITHIN_PAGE, expand_down: true, ..*segment };
    }
    let bytes = code.limit.wrapping_sub(offset).wrapping_add(1);
    let limit = bytes.wrapping_sub(if bytes < LARGE { 1 } else { PAGE });
    let limit = if bytes < LARGE { limit } else { limit | WITHIN_PAGE };
    Segment { limit, expand_down: false, ..*segment }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: Segment = Segment { selector: 0x1b, base: Linear(0xd000_0000), limit: 0xff_ffff, ..FLAT };

    /// A thread's own segment at an offset in the space, as the kernel makes it.
    fn up(offset: u32) -> Segment {
        let base = CODE.base.plus(offset);
        other_side(&Segment { selector: OWN, base, limit: 0, expand_down: true, usable: true }, &CODE)
    }

    #[test]
    fn a_segment_reaches_its_space_on_one_side_and_is_turned_to_the_other() {
        let facing_up = up(0x8000);
        assert!(facing_up.holds(Linear(0xd000_8000), 4) && facing_up.holds(Linear(0xd0ff_0000), 4));
        assert!(!facing_up.holds(Linear(0xd000_7ffc), 4) && !facing_up.holds(Linear(0xd100_0000), 1));
        let facing_down = other_side(&facing_up, &CODE);
        assert!(facing_down.holds(Linear(0xd000_7ffc), 4) && facing_down.holds(Linear(0xd000_1000), 4));
        assert!(!facing_down.holds(Linear(0xd000_8000), 1) && !facing_down.holds(Linear(0xcfff_fffc), 4));
        assert_eq!(other_side(&facing_down, &CODE), facing_up);
    }

    #[test]
    fn the_last_megabyte_is_reached_to_the_byte() {
        let near = up(0xff_0010);
        assert!(near.holds(Linear(0xd0ff_fffc), 4) && !near.holds(Linear(0xd0ff_fffd), 4));
    }
}
