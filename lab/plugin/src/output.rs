// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run is followed for: a measurement, or a record.

use cobnut_model::{Event, Instruction, PageTables};
use cobnut_trace::{Marker, Measurement, Recorder, Run, Sink};
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

// One of it exists, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Output {
    Measurement(Measurement),
    Record(Recorder<BufWriter<File>>),
}

impl Output {
    /// Writes to `out` what there is to be written at the end of a run.
    pub fn finish(&mut self, out: &Path) -> std::io::Result<()> {
        match self {
            Output::Measurement(measurement) => std::fs::write(out, format!("{}\n", measurement.report())),
            Output::Record(recorder) => recorder.finish(),
        }
    }
}

impl Sink for Output {
    fn prepare(&self, linear: u32, instructions: Vec<Instruction>) -> Run {
        match self {
            Output::Measurement(sink) => sink.prepare(linear, instructions),
            Output::Record(sink) => sink.prepare(linear, instructions),
        }
    }

    #[inline]
    fn run(&mut self, run: &Run, linear: u32, tables: &mut impl PageTables) {
        match self {
            Output::Measurement(sink) => sink.run(run, linear, tables),
            Output::Record(sink) => sink.run(run, linear, tables),
        }
    }

    fn retract(&mut self, run: &Run, instructions: Range<usize>) {
        match self {
            Output::Measurement(sink) => sink.retract(run, instructions),
            Output::Record(sink) => sink.retract(run, instructions),
        }
    }

    #[inline]
    fn data(&mut self, linear: u32, size: u8, write: bool, tables: &mut impl PageTables) {
        match self {
            Output::Measurement(sink) => sink.data(linear, size, write, tables),
            Output::Record(sink) => sink.data(linear, size, write, tables),
        }
    }

    fn event(&mut self, event: &Event, tables: &mut impl PageTables) {
        match self {
            Output::Measurement(sink) => sink.event(event, tables),
            Output::Record(sink) => sink.event(event, tables),
        }
    }

    fn marker(&mut self, marker: Marker) {
        match self {
            Output::Measurement(sink) => sink.marker(marker),
            Output::Record(sink) => sink.marker(marker),
        }
    }

    fn warn(&mut self, text: String) {
        match self {
            Output::Measurement(sink) => sink.warn(text),
            Output::Record(sink) => sink.warn(text),
        }
    }
}
