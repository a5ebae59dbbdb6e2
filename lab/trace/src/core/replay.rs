// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads a record and makes the calls again that were recorded.
//!
//! Whatever a file holds, reading it ends with a result or with one line that says what is wrong; memory stays bounded
//! by what the record defines, not by its length.

use super::chunks::Chunks;
use super::format::{self, tag, unzigzag};
use super::measurement::Checkpoint;
use super::processor::Processor;
use super::repetition::{self, Finder, Repetition};
use super::run::Run;
use super::sink::Sink;
use super::stretch::{Step, Stretches};
use super::translations::{Told, Translations};
use crate::Header;
use crate::Marker;
use crate::Mode;
use cobnut_model::{Code, Linear};
use std::io::Read;

/// A record that is being read.
pub struct Replay<R> {
    pub header: Header,
    chunks: Chunks<R>,
}

impl<R: Read> Replay<R> {
    /// Reads the header. Errors are one line that says what is wrong with the record, without its name.
    pub fn new(source: R) -> Result<Self, String> {
        let mut chunks = Chunks::new(source)?;
        let mut text = Vec::new();
        chunks.next(&mut text)?;
        let header = Header::parse(&text).ok_or("damaged: its header is none")?;
        Ok(Replay { header, chunks })
    }

    /// Makes the recorded calls to `sink`.
    pub fn run<P: Processor>(mut self, sink: &mut impl Sink<P>) -> Result<(), String> {
        let (mut state, mut finder) = (State::<P>::default(), Finder::default());
        let mut contents = Vec::new();
        loop {
            self.chunks.next(&mut contents)?;
            if contents.is_empty() {
                return Ok(());
            }
            state.chunk(&contents, &mut finder, sink).ok_or("damaged: it holds what is no event")?;
        }
    }
}

/// What is left of a chunk.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    #[inline]
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn half(&mut self) -> Option<u16> {
        let (bytes, rest) = self.rest.split_first_chunk::<2>()?;
        self.rest = rest;
        Some(u16::from_le_bytes(*bytes))
    }

    #[inline]
    fn word(&mut self) -> Option<u32> {
        let (bytes, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    /// The byte that comes next, and the eight after it as a number; what is not there is 0.
    #[inline(always)]
    fn ahead(&self) -> (u8, u64) {
        match self.rest.split_first_chunk::<9>() {
            Some(([first, next @ ..], _)) => (*first, u64::from_le_bytes(*next)),
            None => self.ahead_of_end(),
        }
    }

    #[cold]
    fn ahead_of_end(&self) -> (u8, u64) {
        let mut bytes = [0; 9];
        bytes[..self.rest.len()].copy_from_slice(self.rest);
        let [first, next @ ..] = bytes;
        (first, u64::from_le_bytes(next))
    }

    #[inline(always)]
    fn skip(&mut self, count: usize) -> Option<()> {
        self.rest = self.rest.get(count..)?;
        Some(())
    }
}

/// Passes of a repetition that have to be made after those that are only told ([`Sink::repeat`]).
const PASSES_AFTER: usize = 2;
/// Passes within which a state may come back before longer ones are tried.
const TRIALS: usize = 8;

struct State<P: Processor> {
    told: Translations<P>,
    runs: Vec<Run<P>>,
    stretches: Stretches,
}

impl<P: Processor> Default for State<P> {
    fn default() -> Self {
        State { told: Translations::default(), runs: Vec::new(), stretches: Stretches::default() }
    }
}

impl<P: Processor> State<P> {
    /// Reads the events of a chunk. None: there is something else in it.
    fn chunk(&mut self, contents: &[u8], finder: &mut Finder, sink: &mut impl Sink<P>) -> Option<()> {
        finder.start();
        let mut cursor = Cursor { rest: contents };
        while let Some(&first) = cursor.rest.first() {
            if format::is_stretch(first) {
                let at = contents.len() - cursor.rest.len();
                if let Some(repetition) = finder.find(contents, at) {
                    self.repeated(&mut cursor, repetition, sink)?;
                    continue;
                }
            }
            self.event(&mut cursor, sink)?;
        }
        Some(())
    }

    /// Reads events that repeat themselves, perhaps not to their end. Where two passes have led the sink from one state
    /// to the same one, the calls of those that follow are not made: the sink is told how many there are.
    #[inline(never)]
    fn repeated(&mut self, cursor: &mut Cursor, repetition: Repetition, sink: &mut impl Sink<P>) -> Option<()> {
        let end = cursor.rest.len() - repetition.extent;
        let (mut length, mut seen) = (repetition.length, Vec::new());
        // After this one, each pass begins under the page directory under which the next one does.
        if !self.pass(cursor, length, sink)? {
            return Some(());
        }
        while repetition::pays(cursor.rest.len() - end, length) {
            let Some(here) = sink.checkpoint() else { break };
            if let Some(place) = seen.iter().rposition(|before: &Checkpoint<P>| before.same_state(&here)) {
                length *= seen.len() - place;
                if repetition::pays(cursor.rest.len() - end, length) {
                    self.repeat(cursor, end, length, here, sink)?;
                }
                break;
            }
            seen.push(here);
            if seen.len() > TRIALS {
                seen.clear();
                length *= 2;
            }
            self.pass(cursor, length, sink)?;
        }
        Some(())
    }

    /// A pass of `length` bytes has led to the state `before`, from the same state. Makes another, and tells the sink
    /// of most others up to `end`.
    fn repeat(
        &mut self,
        cursor: &mut Cursor,
        end: usize,
        length: usize,
        before: Checkpoint<P>,
        sink: &mut impl Sink<P>,
    ) -> Option<()> {
        self.pass(cursor, length, sink)?;
        if let Some(now) = sink.checkpoint().filter(|now| now.same_state(&before)) {
            let left = (cursor.rest.len() - end) / length;
            let times = sink.repeat(&before, &now, left.saturating_sub(PASSES_AFTER) as u64);
            cursor.bytes(times as usize * length)?;
        }
        Some(())
    }

    /// Reads the events of so many bytes. Returns whether the same bytes are the same calls: they hold nothing that is
    /// not said twice.
    fn pass(&mut self, cursor: &mut Cursor, length: usize, sink: &mut impl Sink<P>) -> Option<bool> {
        let end = cursor.rest.len() - length;
        let mut can_repeat = true;
        while cursor.rest.len() > end {
            can_repeat &= !format::is_lasting(cursor.rest[0]);
            self.event(cursor, sink)?;
        }
        Some(can_repeat)
    }

    /// Reads one event and calls `sink` for it. None: there is no such event.
    #[inline]
    fn event(&mut self, cursor: &mut Cursor, sink: &mut impl Sink<P>) -> Option<()> {
        let (first, next) = cursor.ahead();
        if !format::is_stretch(first) {
            return self.rarer_event(cursor.byte()?, cursor, sink);
        }
        let count = (first & format::BYTES) as usize;
        cursor.skip(1 + count)?;
        let number = number(next, count)?;
        sink.again(number, self.stretches.get(number, &self.runs)?, &mut self.told);
        Some(())
    }

    /// Reads the definition of a stretch, which is its first execution.
    #[inline(never)]
    fn define_stretch(&mut self, cursor: &mut Cursor, sink: &mut impl Sink<P>) -> Option<()> {
        let length = cursor.half()? as usize;
        let end = cursor.rest.len().checked_sub(length)?;
        if self.stretches.begin(length) {
            sink.forget_stretches();
        }
        let mut last_data = Linear(0);
        while cursor.rest.len() > end {
            let step = self.step(cursor, &mut last_data)?;
            self.stretches.put(step);
        }
        if cursor.rest.len() < end {
            return None;
        }
        self.stretches.end(&self.runs).play(sink, &mut self.told);
        Some(())
    }

    /// Reads a step of a stretch.
    #[inline(always)]
    fn step(&self, cursor: &mut Cursor, last_data: &mut Linear) -> Option<Step> {
        let (first, next) = cursor.ahead();
        let count = (first & format::BYTES) as usize;
        if first & format::DATA != 0 {
            let size = first >> format::DATA_SIZE_SHIFT & 7;
            if size > format::LARGEST_ACCESS {
                return None;
            }
            cursor.skip(1 + count)?;
            *last_data = last_data.plus(unzigzag(number(next, count)?));
            Some(Step::Data { linear: *last_data, size: 1 << size, write: first & format::DATA_WRITE != 0 })
        } else if first & format::RUN != 0 {
            let moved = first & format::RUN_LINEAR != 0;
            cursor.skip(if moved { 5 } else { 1 } + count)?;
            let number = number(if moved { next >> 32 } else { next }, count)?;
            let run = self.runs.get(number as usize)?;
            let linear = if moved { Linear(next as u32) } else { run.home };
            // A string instruction goes on.
            let none = cursor.rest.first() == Some(&format::RETRACT_FIRST) && run.block.instructions().len() == 1;
            if none {
                cursor.skip(1)?;
            }
            Some(if none { Step::Fetch { run: number, linear } } else { Step::Run { run: number, linear } })
        } else if first == format::RETRACT_FIRST {
            cursor.skip(1)?;
            self.stretches.run_before().map(|run| Step::RetractFirst { run })
        } else {
            None
        }
    }

    #[inline(never)]
    fn rarer_event(&mut self, tag: u8, cursor: &mut Cursor, sink: &mut impl Sink<P>) -> Option<()> {
        let event = match tag {
            tag::DEFINE => return self.define(cursor, sink),
            tag::DEFINE_STRETCH => return self.define_stretch(cursor, sink),
            tag::RETRACT => return self.retract(cursor, sink),
            tag::UNMAPPED => {
                self.told.tell(Linear(cursor.word()?), Told::Unmapped);
                return Some(());
            }
            tag::MAPPED => return self.mapped(cursor),
            tag::WARNING | tag::PROCESS => {
                let length = cursor.half()? as usize;
                let text = String::from_utf8_lossy(cursor.bytes(length)?);
                match tag {
                    tag::PROCESS => sink.process(&text),
                    _ => sink.warn(text.into_owned()),
                }
                return Some(());
            }
            tag::BEGIN | tag::ITERATION | tag::PAUSE | tag::DROP | tag::END | tag::MARKER => {
                sink.marker(match tag {
                    tag::BEGIN => Marker::Begin(cursor.word()?),
                    tag::ITERATION => Marker::Iteration,
                    tag::PAUSE => Marker::Pause,
                    tag::DROP => Marker::Drop,
                    tag::END => Marker::End,
                    _ => Marker::Other,
                });
                return Some(());
            }
            _ => P::read_event(tag, &mut || cursor.word())?,
        };
        if let Some(address) = P::tables_after(&event) {
            self.told.switch(address);
        }
        sink.event(&event, &mut self.told);
        Some(())
    }

    fn mapped(&mut self, cursor: &mut Cursor) -> Option<()> {
        let words = [cursor.word()?, cursor.word()?, cursor.word()?, cursor.word()?];
        let (page, mapping) = P::read_mapping(words)?;
        self.told.tell(page, Told::Mapped(mapping));
        Some(())
    }

    fn define(&mut self, cursor: &mut Cursor, sink: &mut impl Sink<P>) -> Option<()> {
        let mode = Mode::from_code(cursor.byte()?)?;
        let home = Linear(cursor.word()?);
        let count = cursor.half()? as usize;
        if !(1..=format::LONGEST_RUN).contains(&count) {
            return None;
        }
        let instructions = (0..count).map(|_| P::read_instruction(cursor.bytes(P::INSTRUCTION_BYTES)?));
        let instructions: Vec<P::Instruction> = instructions.collect::<Option<_>>()?;
        let mut run = sink.prepare(home, instructions);
        run.mode = mode;
        self.runs.push(run);
        Some(())
    }

    fn retract(&mut self, cursor: &mut Cursor, sink: &mut impl Sink<P>) -> Option<()> {
        let (number, first, count) = (cursor.word()?, cursor.word()? as usize, cursor.word()? as usize);
        let run = self.runs.get(number as usize)?;
        let end = first.checked_add(count).filter(|&end| end <= run.block.instructions().len())?;
        sink.retract(run, first..end);
        Some(())
    }
}

/// The number in the `count` low bytes of `bytes`. None: numbers are no longer than 4 bytes.
#[inline(always)]
fn number(bytes: u64, count: usize) -> Option<u32> {
    (count <= 4).then_some((bytes & ((1 << (8 * count)) - 1)) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Arm;
    use crate::ia32::Ia32;
    use cobnut_model::Tables;
    use std::ops::Range;

    /// Takes everything and looks at what it may look at.
    struct Anything;

    impl<P: Processor> Sink<P> for Anything {
        fn prepare(&self, linear: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
            Run::new(linear, instructions, &P::Costs::default(), Vec::new())
        }
        fn run(&mut self, run: &Run<P>, linear: Linear, tables: &mut impl Tables<P::Mapping>) {
            assert!(run.block.bytes() > 0);
            tables.walk(linear);
        }
        fn retract(&mut self, run: &Run<P>, instructions: Range<usize>) {
            assert!(run.block.instructions().get(instructions).is_some());
        }
        fn data(&mut self, linear: Linear, _size: u8, _write: bool, tables: &mut impl Tables<P::Mapping>) {
            tables.walk(linear);
        }
        fn event(&mut self, _event: &P::Event, _tables: &mut impl Tables<P::Mapping>) {}
        fn marker(&mut self, _marker: Marker) {}
        fn warn(&mut self, _text: String) {}
    }

    /// Whatever stands in a chunk behind the definition of a run of two `instructions`, reading it ends.
    fn feed<P: Processor>(instructions: [P::Instruction; 2]) {
        let mut random = 1u64;
        let mut byte = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random as u8
        };
        let mut start = vec![tag::DEFINE, Mode::User as u8, 0, 0x10, 0, 0, 2, 0];
        instructions.iter().for_each(|instruction| P::write_instruction(instruction, &mut start));
        let mut taken = 0;
        for _ in 0..20_000 {
            let mut contents = start.clone();
            let length = byte() % 40;
            contents.extend((0..length).map(|_| byte()));
            let repeated = [&contents[..start.len()], &contents[start.len()..].repeat(300)].concat();
            State::<P>::default().chunk(&repeated, &mut Finder::default(), &mut Anything);
            let (mut state, mut cursor) = (State::<P>::default(), Cursor { rest: &contents });
            while !cursor.rest.is_empty() && state.event(&mut cursor, &mut Anything).is_some() {
                taken += 1;
            }
        }
        assert!(taken > 20_000, "more than the definitions: {taken}");
    }

    #[test]
    fn any_bytes_are_events_or_refused() {
        use cobnut_model::ia32::{Class, Instruction, Issue};
        let instruction = |length, class| Instruction { length, class, issue: Issue::default() };
        feed::<Ia32>([instruction(1, Class::Alu), instruction(2, Class::Int)]);
    }

    #[test]
    fn so_are_those_of_an_arm_guest() {
        use cobnut_model::arm::{Class, Instruction};
        feed::<Arm>([Instruction::new(Class::Load), Instruction::new(Class::Branch)]);
    }
}
