// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-replay RECORD --machine FILE [--set PARAMETER:VALUE]... [--without flush]`: measures a record on a machine
//! and prints what the plugin writes when it measures the run itself, to the byte. `--header` prints what the record
//! says of itself instead, `--events COUNT` so many instructions from the first iteration on with their accesses, as
//! text (`events.rs` has the format). Exit status 0 done, 2 wrong usage, bad record or bad machine file, as one line on
//! stderr.

use cobnut_model::{Architecture, MachineFile};
use cobnut_trace::{Events, Measurement, Replay};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cobnut-replay RECORD \
    (--header | --events COUNT | --machine FILE [--set PARAMETER:VALUE]... [--without flush])";

#[derive(Default)]
struct Wish {
    record: String,
    machine: Option<String>,
    assignments: Vec<String>,
    header: bool,
    events: Option<usize>,
    without_flush: bool,
}

/// What the command line asks for, or nothing if it is wrong.
fn parse(mut words: impl Iterator<Item = String>) -> Option<Wish> {
    let mut wish = Wish::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--header" => wish.header = true,
            "--events" => wish.events = Some(words.next()?.parse().ok()?),
            "--machine" if wish.machine.is_none() => wish.machine = Some(words.next()?),
            "--set" => wish.assignments.push(words.next()?),
            "--without" => {
                wish.without_flush = words.next().filter(|what| what == "flush").is_some().then_some(true)?
            }
            _ if wish.record.is_empty() => wish.record = word,
            _ => return None,
        }
    }
    let asked = wish.header as u8 + wish.events.is_some() as u8 + wish.machine.is_some() as u8;
    (!wish.record.is_empty() && asked == 1).then_some(wish)
}

/// Prints events of the record. A reader that has seen enough is no error.
fn print_events(record: &str, count: usize) -> Result<(), String> {
    let named = |error: String| format!("record {record}: {error}");
    let file = File::open(record).map_err(|error| named(error.to_string()))?;
    let mut events = Events::new(BufWriter::new(std::io::stdout().lock()), count);
    Replay::new(BufReader::new(file)).and_then(|replay| replay.run(&mut events)).map_err(named)?;
    match events.finish() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// The text to print.
fn answer(wish: &Wish) -> Result<String, String> {
    let named = |error: String| format!("record {}: {error}", wish.record);
    let machine = wish.machine.as_deref().map(|file| machine(file, &wish.assignments)).transpose()?;
    let file = File::open(&wish.record).map_err(|error| named(error.to_string()))?;
    let replay = Replay::new(BufReader::new(file)).map_err(named)?;
    let Some(machine) = machine else { return Ok(replay.header.to_json()) };
    let header = &replay.header;
    let mut measurement = Measurement::new(Some(&machine), &wish.assignments, &header.ranges, header.memory);
    if wish.without_flush {
        measurement = measurement.without_flush();
    }
    replay.run(&mut measurement).map_err(named)?;
    Ok(measurement.report().to_string())
}

fn machine(file: &str, assignments: &[String]) -> Result<MachineFile, String> {
    let mut machine = MachineFile::read(Path::new(file))?;
    assignments.iter().try_for_each(|assignment| machine.set(assignment))?;
    if machine.architecture != Architecture::Ia32 {
        return Err(format!(
            "machine {} is for {} processors, and records are of IA-32 guests",
            machine.name,
            machine.architecture.name()
        ));
    }
    Ok(machine)
}

fn main() -> ExitCode {
    let Some(wish) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let done = match wish.events {
        Some(count) => print_events(&wish.record, count),
        // A reader that has seen enough is no error.
        None => answer(&wish).map(|text| drop(writeln!(std::io::stdout(), "{text}"))),
    };
    match done {
        Ok(()) => {}
        Err(error) => {
            eprintln!("cobnut-replay: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
