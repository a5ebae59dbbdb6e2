// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run is followed for. Each processor has one follower, which finds out what its guest does and tells any
//! observer of it.

use super::setup::Setup;
use cobnut_trace::{Marker, Mode};
use std::ops::Range;

/// Guests with one kind of processor.
pub trait Guest: Sized + 'static {
    /// An instruction, decoded.
    type Instruction;
    /// The addresses of its code, as its programs have them.
    type At;
    /// Where a run of instructions stands.
    type Place;
    /// A data access.
    type Access;
    /// What happens besides instructions and data accesses.
    type Event;
    /// What an observer may ask of the guest.
    type State;
}

/// Sees what happens in a guest, from the moment that it translates addresses.
pub trait Observer<G: Guest>: Sized + 'static {
    /// Instructions that follow each other, as it wants to have them prepared.
    type Prepared;
    /// What it keeps of each instruction.
    type Site: 'static;

    /// For what is asked for, of a guest with so many bytes of `memory`.
    fn create(setup: &Setup, memory: u32) -> Result<Self, String>;

    /// They are translated at `at`.
    fn prepare(&self, at: G::At, instructions: &[G::Instruction]) -> Self::Prepared;

    /// Of an instruction so many bytes after the start of its block.
    fn site(&self, offset: u32, instruction: &G::Instruction) -> Self::Site;

    /// The mode that they are counted for becomes known, before they are executed.
    fn belongs(_prepared: &mut Self::Prepared, _mode: Mode) {}

    /// They turn out to be code of the user program with this number, at this address of it.
    fn of_program(&self, _prepared: &mut Self::Prepared, _address: u32, _program: usize) {}

    /// Instructions begin to be executed.
    fn run(&mut self, prepared: &Self::Prepared, place: &G::Place, state: &mut G::State);

    /// Some of those that were told were not executed.
    fn retract(&mut self, _prepared: &Self::Prepared, _instructions: Range<usize>) {}

    /// Data was accessed, by the instruction at `site`.
    fn data(&mut self, site: &Self::Site, access: &G::Access, state: &mut G::State);

    fn event(&mut self, event: G::Event, state: &mut G::State);

    fn marker(&mut self, _marker: Marker) {}

    /// A process of this name runs in the space in force.
    fn process(&mut self, _name: &str) {}

    /// Something about the guest is not understood.
    fn doubt(&mut self, _text: String) {}

    /// Whether the run has to end before its time.
    #[inline]
    fn over(&self) -> bool {
        false
    }

    /// Writes what there is to be written at the end.
    fn finish(&mut self, setup: &Setup) -> std::io::Result<()>;
}
