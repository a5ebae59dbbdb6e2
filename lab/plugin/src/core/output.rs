// SPDX-License-Identifier: GPL-2.0-or-later
//! What a run is followed for, unless it is sanitized: a measurement, or a record.

use super::setup::Setup;
use cobnut_model::{Linear, MachineFile, Tables};
use cobnut_trace::{Header, Live, Marker, Measurement, Plan, Processor, Recorder, Run, Sink, Windows};
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

// One of it exists, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Output<P: Processor> {
    Measurement(Live<P>),
    Windows(Windows<P>),
    Record(Recorder<P, BufWriter<File>>),
}

impl<P: Processor> Output<P> {
    /// What is asked for, of a guest with `memory` bytes.
    pub fn new(setup: &Setup, memory: u32) -> Result<Self, String> {
        let arguments = &setup.arguments;
        let header = Header {
            architecture: P::ARCHITECTURE.name().to_string(),
            memory,
            ranges: setup.ranges.clone(),
            functions: setup.symbols.functions(),
            provenance: setup.provenance.clone(),
        };
        let mut output = if arguments.record {
            let recorder = File::create(&arguments.out).and_then(|file| Recorder::new(BufWriter::new(file), &header));
            let failed = |error| format!("cannot write {}: {error}", arguments.out.display());
            Output::Record(recorder.map_err(failed)?)
        } else if let Some((plan, machine)) = arguments.windows.zip(setup.file.as_ref()) {
            Output::Windows(windows(setup, machine, plan, &header)?)
        } else {
            let mut measurement = Measurement::new(setup.file.as_ref(), &arguments.overrides, &header);
            if arguments.without_flush {
                measurement = measurement.without_flush();
            }
            if arguments.from_begin {
                measurement = measurement.from_begin();
            }
            Output::Measurement(Live::new(measurement.with_programs(&setup.program_code)))
        };
        setup.warnings.iter().for_each(|warning| output.warn(warning.clone()));
        Ok(output)
    }

    /// `run` is code of the user program with this number, and stands at this address of it.
    pub fn of_program(&self, run: &mut Run<P>, address: u32, program: usize) {
        match self {
            Output::Measurement(measurement) => measurement.of_program(run, address, program),
            Output::Windows(windows) => windows.of_program(run, address, program),
            Output::Record(_) => {}
        }
    }

    /// Writes to `out` what there is to be written at the end of a run.
    pub fn finish(&mut self, out: &Path) -> std::io::Result<()> {
        match self {
            Output::Measurement(measurement) => std::fs::write(out, format!("{}\n", measurement.report().to_json())),
            Output::Windows(windows) => std::fs::write(out, format!("{}\n", windows.report().to_json())),
            Output::Record(recorder) => recorder.finish(),
        }
    }
}

/// What `windows=` asks for.
fn windows<P: Processor>(
    setup: &Setup,
    machine: &MachineFile,
    plan: Plan,
    header: &Header,
) -> Result<Windows<P>, String> {
    let arguments = &setup.arguments;
    let mut windows = Windows::new(machine, &arguments.overrides, header, plan).with_programs(&setup.program_code);
    if arguments.without_flush {
        windows = windows.without_flush();
    }
    if arguments.from_begin {
        windows = windows.from_begin();
    }
    if let Some(path) = &arguments.pieces {
        windows = windows.with_pieces(path, &header.provenance)?;
    }
    Ok(windows.start())
}

/// Runs are parts of blocks, which live as long as the plugin (`seam::lasting`).
#[inline(always)]
fn lasting<P: Processor>(run: &Run<P>) -> &'static Run<P> {
    unsafe { &*std::ptr::from_ref(run) }
}

impl<P: Processor> Sink<P> for Output<P> {
    fn prepare(&self, at: Linear, instructions: Vec<P::Instruction>) -> Run<P> {
        match self {
            Output::Measurement(sink) => sink.prepare(at, instructions),
            Output::Windows(sink) => sink.prepare(at, instructions),
            Output::Record(sink) => sink.prepare(at, instructions),
        }
    }

    #[inline]
    fn run(&mut self, run: &Run<P>, at: Linear, tables: &mut impl Tables<P::Mapping>) {
        match self {
            Output::Measurement(sink) => sink.run(lasting(run), at, tables),
            Output::Windows(sink) => sink.run(run, at, tables),
            Output::Record(sink) => sink.run(run, at, tables),
        }
    }

    fn retract(&mut self, run: &Run<P>, instructions: Range<usize>) {
        match self {
            Output::Measurement(sink) => sink.retract(lasting(run), instructions),
            Output::Windows(sink) => sink.retract(run, instructions),
            Output::Record(sink) => sink.retract(run, instructions),
        }
    }

    #[inline]
    fn data(&mut self, at: Linear, size: u8, write: bool, tables: &mut impl Tables<P::Mapping>) {
        match self {
            Output::Measurement(sink) => sink.data(at, size, write, tables),
            Output::Windows(sink) => sink.data(at, size, write, tables),
            Output::Record(sink) => sink.data(at, size, write, tables),
        }
    }

    fn event(&mut self, event: &P::Event, tables: &mut impl Tables<P::Mapping>) {
        match self {
            Output::Measurement(sink) => sink.event(event, tables),
            Output::Windows(sink) => sink.event(event, tables),
            Output::Record(sink) => sink.event(event, tables),
        }
    }

    fn marker(&mut self, marker: Marker) {
        match self {
            Output::Measurement(sink) => sink.marker(marker),
            Output::Windows(sink) => sink.marker(marker),
            Output::Record(sink) => sink.marker(marker),
        }
    }

    fn process(&mut self, name: &str) {
        match self {
            Output::Measurement(sink) => sink.process(name),
            Output::Windows(sink) => sink.process(name),
            Output::Record(sink) => sink.process(name),
        }
    }

    fn warn(&mut self, text: String) {
        match self {
            Output::Measurement(sink) => sink.warn(text),
            Output::Windows(sink) => sink.warn(text),
            Output::Record(sink) => sink.warn(text),
        }
    }
}
