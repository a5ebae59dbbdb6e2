// SPDX-License-Identifier: GPL-2.0-or-later
//! The observer that tells the sanitizer (`cobnut_model::arm::sanitizer`) of every fetch, access, operation and fault.

use super::decode::Decoded;
use super::follower::{Exception, Fault, Observer, Place};
use super::memory::Memory;
use crate::sanitize::Symbols;
use cobnut_model::arm::sanitizer::{Access, Report, Sanitizer, View};
use cobnut_model::arm::{Operation, Side};
use cobnut_trace::{Marker, Mode};
use serde_json::{json, Value};
use std::cell::Cell;

pub struct Sanitizing {
    pub sanitizer: Sanitizer,
    pub stop_at_first: bool,
    pub stop_after: u64,
    started: bool,
}

/// Instructions, and where and in which generation they were looked at last.
pub struct Looked {
    bytes: u32,
    last: Cell<(u32, u32)>,
}

fn view(memory: &Memory) -> View<'_> {
    View { memory, table_base: memory.table_base, domain_access: memory.domain_access }
}

impl Sanitizing {
    pub fn new(stop_at_first: bool, stop_after: u64, watched: Vec<(u32, u32)>) -> Self {
        let mut sanitizer = Sanitizer::default();
        sanitizer.watched = watched;
        Sanitizing { sanitizer, stop_at_first, stop_after, started: false }
    }

    /// Whether the run has to end now.
    pub fn over(&self) -> bool {
        let found = self.stop_at_first && !self.sanitizer.reports.list().is_empty();
        found || self.sanitizer.counts.accesses >= self.stop_after
    }

    /// `size` bytes were accessed by the instruction at `instruction`.
    #[inline]
    pub fn data(&mut self, (instruction, mode): (u32, Mode), mva: u32, size: u32, write: bool, memory: &Memory) {
        let user = mode != Mode::Kernel;
        self.sanitizer.access(&Access { instruction, mva, write, user }, view(memory));
        if size > 4 {
            self.sanitizer.access(&Access { instruction, mva: mva + 4, write, user }, view(memory));
        }
    }

    fn line(report: &Report, symbols: &Symbols) -> String {
        let who = if report.user { "user" } else { "kernel" };
        let what = match (report.faulted, report.write) {
            (true, _) => "faulted at",
            (false, true) => "writing",
            (false, false) => "reading",
        };
        let store = match report.store {
            0 => String::new(),
            at => format!("; by {}", symbols.place(at)),
        };
        format!(
            "{}: {who} {}, tables {:08x}, {what} {:08x}: {}{store}; {} ({} times)",
            report.kind.name(),
            symbols.place(report.instruction),
            report.table_base,
            report.mva,
            report.kind.sentence(),
            report.detail,
            report.count
        )
    }

    /// The reports as lines for people.
    pub fn lines(&self, symbols: &Symbols) -> Vec<String> {
        self.sanitizer.reports.list().iter().map(|report| Self::line(report, symbols)).collect()
    }

    /// In the form of IA-32's (`sanitize/output.rs`), with `mva` for the address and `table_base` for CR3.
    pub fn report(&self, symbols: &Symbols) -> Value {
        let hex = |value: u32| format!("{value:#010x}");
        let one = |r: &Report| {
            json!({
                "kind": r.kind.name(),
                "instruction": hex(r.instruction),
                "symbol": symbols.name(r.instruction),
                "privilege": if r.user { 3 } else { 0 },
                "table_base": hex(r.table_base),
                "mva": hex(r.mva),
                "write": r.write,
                "faulted": r.faulted,
                "store": (r.store != 0).then(|| hex(r.store)),
                "store_symbol": symbols.name(r.store),
                "detail": r.detail,
                "count": r.count,
                "line": Self::line(r, symbols),
            })
        };
        let operations = self.sanitizer.invalidators().iter().map(|i| {
            json!({
                "instruction": hex(i.instruction),
                "symbol": symbols.name(i.instruction),
                "by": format!("{:?}", i.operation),
                "executed": i.executed,
                "needed": i.needed,
            })
        });
        let marks = self.sanitizer.marks().iter().map(|mark| {
            let (instruction, symbol) = (hex(mark.instruction), symbols.name(mark.instruction));
            json!({ "instruction": instruction, "symbol": symbol, "executed": mark.executed, "cleared": mark.cleared })
        });
        let counts = &self.sanitizer.counts;
        json!({
            "plugin_version": env!("CARGO_PKG_VERSION"),
            "reports": self.sanitizer.reports.list().iter().map(one).collect::<Vec<_>>(),
            "invalidations": operations.collect::<Vec<_>>(),
            "marks": marks.collect::<Vec<_>>(),
            "erasures": [],
            "losses": [],
            "counts": { "accesses": counts.accesses, "operations": counts.operations, "faults": counts.faults },
            "warnings": [],
        })
    }
}

impl Observer for Sanitizing {
    type Prepared = Looked;

    fn prepare(&self, instructions: &[Decoded]) -> Looked {
        let bytes = instructions.iter().map(|decoded| decoded.instruction.length as u32).sum();
        Looked { bytes, last: Cell::new((0, 0)) }
    }

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

    fn retract(&mut self, _looked: &Looked, _first: usize, _mode: Mode) {}

    fn operation(&mut self, operation: Operation, operand: u32, at: u32, memory: &mut Memory) {
        self.sanitizer.operation(operation, operand, at, view(memory));
    }

    fn exception(&mut self, exception: Exception, at: u32, fault: Fault, memory: &mut Memory) {
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

    fn marker(&mut self, _marker: Marker) {}
}
