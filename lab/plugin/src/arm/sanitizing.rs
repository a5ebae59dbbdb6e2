// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells the sanitizer (`cobnut_model::arm::sanitizer`) of every fetch, access, operation and fault.

use super::decode::Decoded;
use super::follower::{self, ArmGuest, Event, Place};
use super::memory::Memory;
use crate::core::findings::{by_instruction, findings, lines, Findings, Hex, Mark, Words};
use crate::core::observer::Observer;
use crate::core::setup::Setup;
use crate::core::symbols::Symbols;
use cobnut_model::arm::sanitizer::{Access, Counts, Sanitizer, View};
use cobnut_model::arm::{Exception, Side};
use cobnut_model::Linear;
use cobnut_trace::Mode;
use serde::Serialize;
use std::cell::Cell;

const WORDS: Words = Words { tables: "tables", guilt: "" };

/// Where a report is from.
#[derive(Serialize)]
struct At {
    table_base: Hex,
    /// What was accessed.
    mva: Hex,
}

#[derive(Serialize)]
struct Invalidation {
    /// The operation, by its name in `arm/operation.rs` of the model.
    by: String,
    executed: u64,
    /// How often it took anything away.
    needed: u64,
}

pub struct Sanitizing {
    sanitizer: Sanitizer,
    stop_at_first: bool,
    stop_after: u64,
    /// Addresses of instructions whose operations on TLBs and caches do nothing.
    ignored: Vec<u32>,
    started: bool,
}

/// Instructions, and where and in which generation they were looked at last.
pub struct Looked {
    bytes: u32,
    last: Cell<(Linear, u32)>,
}

fn view(memory: &Memory) -> View<'_> {
    View { memory, table_base: memory.table_base, domain_access: memory.domain_access }
}

impl Sanitizing {
    /// The reports as lines for people.
    fn lines(&self, symbols: &Symbols) -> Vec<String> {
        lines(&self.sanitizer.reports, &WORDS, symbols)
    }

    /// In the form of IA-32's (`ia32/sanitizing/output.rs`), with `mva` for the address and `table_base` for CR3.
    fn report(&self, symbols: &Symbols) -> String {
        let all: Findings<At, Invalidation, Counts> = Findings {
            plugin_version: env!("CARGO_PKG_VERSION"),
            reports: findings(&self.sanitizer.reports, &WORDS, symbols, |report| {
                (At { table_base: report.tables.0.into(), mva: report.address.0.into() }, None)
            }),
            invalidations: by_instruction(self.sanitizer.invalidators(), symbols, |i| {
                let by = format!("{:?}", i.operation);
                (i.instruction, Invalidation { by, executed: i.executed, needed: i.needed })
            }),
            marks: Some(by_instruction(self.sanitizer.marks(), symbols, |mark| {
                (mark.instruction, Mark { executed: mark.executed, cleared: mark.cleared })
            })),
            erasures: Vec::new(),
            losses: Vec::new(),
            counts: self.sanitizer.counts,
            warnings: &[],
        };
        all.to_json()
    }
}

impl Observer<ArmGuest> for Sanitizing {
    type Prepared = Looked;
    type Site = ();

    fn create(setup: &Setup, _memory: u32) -> Result<Self, String> {
        let arguments = &setup.arguments;
        let mut sanitizer = Sanitizer::default();
        sanitizer.watched.clone_from(&arguments.watched);
        let stop_after = arguments.stop_after.unwrap_or(u64::MAX);
        let (stop_at_first, ignored) = (arguments.stop_at_first, arguments.ignored.clone());
        Ok(Sanitizing { sanitizer, stop_at_first, stop_after, ignored, started: false })
    }

    fn prepare(&self, _at: u32, instructions: &[Decoded]) -> Looked {
        let bytes = instructions.iter().map(|decoded| decoded.instruction.length as u32).sum();
        Looked { bytes, last: Cell::new((Linear(0), 0)) }
    }

    fn site(&self, _offset: u32, _instruction: &Decoded) {}

    #[inline]
    fn run(&mut self, looked: &Looked, place: &Place, memory: &mut Memory) {
        if !self.started {
            self.started = true;
            self.sanitizer.start(view(memory));
        }
        let user = place.mode != Mode::Kernel;
        if user {
            self.sanitizer.user_resumed(view(memory));
        }
        if looked.last.get() != (place.mva, self.sanitizer.generation()) {
            let access = Access { instruction: place.address, mva: place.mva, write: false, user };
            self.sanitizer.fetch(&access, looked.bytes, view(memory));
            looked.last.set((place.mva, self.sanitizer.generation()));
        } else {
            self.sanitizer.counts.accesses += 1;
        }
    }

    #[inline]
    fn data(&mut self, _site: &(), accessed: &follower::Access, memory: &mut Memory) {
        let &follower::Access { instruction, mode, mva, size, write } = accessed;
        let user = mode != Mode::Kernel;
        self.sanitizer.access(&Access { instruction, mva, write, user }, view(memory));
        if size > 4 {
            self.sanitizer.access(&Access { instruction, mva: mva.plus(4), write, user }, view(memory));
        }
    }

    fn event(&mut self, event: Event, memory: &mut Memory) {
        let (exception, at, fault) = match event {
            Event::Operation { operation, at, .. } if !operation.writes_register() && self.ignored.contains(&at) => {
                return
            }
            Event::Operation { operation, operand, at } => {
                return self.sanitizer.operation(operation, operand, at, view(memory))
            }
            Event::Exception { exception, at, fault } => (exception, at, fault),
        };
        let user = fault.mode != Mode::Kernel;
        match exception {
            Exception::Data => {
                let access = Access { instruction: at, mva: memory.mva(fault.address), write: fault.write, user };
                self.sanitizer.faulted(&access, Side::Data, view(memory));
            }
            Exception::Prefetch => {
                let access = Access { instruction: at, mva: memory.mva(at), write: false, user };
                self.sanitizer.faulted(&access, Side::Code, view(memory));
            }
            _ => {}
        }
    }

    #[inline]
    fn over(&self) -> bool {
        let found = self.stop_at_first && !self.sanitizer.reports.list().is_empty();
        found || self.sanitizer.counts.accesses >= self.stop_after
    }

    fn finish(&mut self, setup: &Setup) -> std::io::Result<()> {
        self.lines(&setup.symbols).iter().for_each(|line| eprintln!("sanitizer: {line}"));
        std::fs::write(&setup.arguments.out, format!("{}\n", self.report(&setup.symbols)))
    }
}
