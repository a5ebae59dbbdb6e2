// SPDX-License-Identifier: GPL-2.0-or-later
//! The sink that writes events as text, for a comparison with another observer of the same guest.
//!
//! One event a line, numbers hexadecimal and without a prefix, from the first iteration's marker on:
//!
//! | line | what |
//! |---|---|
//! | `i LINEAR CLASS` | an instruction; the first one is the marker |
//! | `r LINEAR PHYSICAL SIZE` | a read by one of the instructions since the last `end` |
//! | `w LINEAR PHYSICAL SIZE` | a write |
//! | `cr3 DIRECTORY` | the page directory was written before the next instruction |
//! | `fault`, `interrupt` | the kernel is entered by one, before the next instruction |
//! | `base BASE` | user code has this base from the next instruction on |
//! | `limit LINEAR` | the next read or write of the instructions since the last `end` is past its segment's limit |
//! | `end` | all accesses of the instructions before have been listed |
//!
//! Instructions that a fault or an interrupt kept from executing are not listed.

use super::Ia32;
use crate::{Marker, Run, Sink};
use cobnut_model::ia32::{Class, Costs, EntryKind, Event, Instruction, Walk, CLASSES};
use cobnut_model::{Code, Linear, Tables};
use std::io::{self, Write};
use std::ops::Range;

pub struct Events<W: Write> {
    out: W,
    failure: Option<io::Error>,
    started: bool,
    /// Instructions to write until the end.
    left: usize,
    /// Of the last run: what was executed, then what it accessed.
    instructions: Vec<(Linear, Class)>,
    accesses: Vec<String>,
}

impl<W: Write> Events<W> {
    /// Writes at least `instructions` instructions, up to the end of a run, if there are so many.
    pub fn new(out: W, instructions: usize) -> Self {
        Events {
            out,
            failure: None,
            started: false,
            left: instructions,
            instructions: Vec::new(),
            accesses: Vec::new(),
        }
    }

    /// Writes what is left; the first error in writing, if there was one.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush();
        let flushed = self.out.flush();
        self.failure.map_or(flushed, Err)
    }

    fn listening(&self) -> bool {
        self.started && self.left > 0
    }

    fn put(&mut self, line: &str) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{line}").err();
        }
    }

    /// It belongs to the access that comes next, so to the last run.
    fn past_limit(&mut self, linear: Linear) {
        if self.listening() {
            self.accesses.push(format!("limit {linear:x}"));
        }
    }

    /// Writes the last run: nothing of it can be retracted any more.
    fn flush(&mut self) {
        if self.instructions.is_empty() && self.accesses.is_empty() {
            return;
        }
        let instructions = std::mem::take(&mut self.instructions);
        self.left = self.left.saturating_sub(instructions.len());
        for (linear, class) in instructions {
            self.put(&format!("i {linear:x} {}", class_name(class)));
        }
        for line in std::mem::take(&mut self.accesses) {
            self.put(&line);
        }
        self.put("end");
    }
}

fn class_name(class: Class) -> &'static str {
    CLASSES[class as usize].1
}

impl<W: Write> Sink<Ia32> for Events<W> {
    fn prepare(&self, linear: Linear, instructions: Vec<Instruction>) -> Run<Ia32> {
        Run::new(linear, instructions, &Costs::default(), Vec::new())
    }

    fn run(&mut self, run: &Run<Ia32>, linear: Linear, _tables: &mut impl Tables<Walk>) {
        self.flush();
        if self.listening() {
            let mut at = linear;
            for instruction in run.block.instructions() {
                self.instructions.push((at, instruction.class));
                at = at.plus(instruction.length as u32);
            }
        }
    }

    fn retract(&mut self, _run: &Run<Ia32>, instructions: Range<usize>) {
        if instructions.end <= self.instructions.len() {
            self.instructions.drain(instructions);
        }
    }

    fn data(&mut self, linear: Linear, size: u8, write: bool, tables: &mut impl Tables<Walk>) {
        if !self.listening() {
            return;
        }
        if let Some(walk) = tables.walk(linear) {
            let (what, physical) = (if write { 'w' } else { 'r' }, walk.frame.at(linear));
            self.accesses.push(format!("{what} {linear:x} {physical:x} {size:x}"));
        }
    }

    fn event(&mut self, event: &Event, _tables: &mut impl Tables<Walk>) {
        let line = match event {
            Event::Cr3Write { directory, .. } => format!("cr3 {directory:x}"),
            Event::Entry(EntryKind::Fault) => "fault".into(),
            Event::Entry(EntryKind::Interrupt) => "interrupt".into(),
            Event::UserCode { base } => format!("base {base:x}"),
            Event::LimitFault { linear } => return self.past_limit(*linear),
            _ => return,
        };
        self.flush();
        if self.listening() {
            self.put(&line);
        }
    }

    fn marker(&mut self, marker: Marker) {
        self.flush();
        self.started |= marker == Marker::Iteration;
    }

    fn warn(&mut self, _text: String) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use cobnut_model::ia32::{Issue, Walk};
    use cobnut_model::Physical;

    struct OneToOne;

    impl Tables<Walk> for OneToOne {
        fn walk(&mut self, linear: Linear) -> Option<Walk> {
            let frame = Physical(0x10_0000 | linear.page().start().0);
            Some(Walk { frame, large: false, global: false, entries: [Physical(0); 2] })
        }
    }

    /// Before the first iteration nothing is written, and nothing of a run after the last instruction that was asked
    /// for.
    #[test]
    fn events_are_written_from_the_first_iteration_on() {
        let mut text = Vec::new();
        let mut events = Events::new(&mut text, 3);
        let instruction = |length, class| Instruction { length, class, issue: Issue::default() };
        let run = events.prepare(Linear(0x1000), vec![instruction(3, Class::Nop), instruction(2, Class::Load)]);
        events.run(&run, Linear(0x1000), &mut OneToOne);
        events.data(Linear(0x2004), 4, false, &mut OneToOne);
        events.marker(Marker::Iteration);
        events.run(&run, Linear(0x1000), &mut OneToOne);
        events.data(Linear(0x2004), 4, false, &mut OneToOne);
        events.event(&Event::Cr3Write { directory: Physical(0x5000), at: 0x1003 }, &mut OneToOne);
        events.run(&run, Linear(0x3000), &mut OneToOne);
        events.retract(&run, 1..2);
        events.event(&Event::Entry(EntryKind::Interrupt), &mut OneToOne);
        events.run(&run, Linear(0x4000), &mut OneToOne);
        events.finish().unwrap();
        let wanted = "i 1000 nop\ni 1003 load\nr 2004 102004 4\nend\ncr3 5000\ni 3000 nop\nend\n";
        assert_eq!(String::from_utf8(text).unwrap(), wanted);
    }
}
