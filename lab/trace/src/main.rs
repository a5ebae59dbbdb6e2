// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-replay RECORD --machine FILE [--set PARAMETER:VALUE]... [--without flush]`: measures a record on a machine
//! and prints what the plugin writes when it measures the run itself, to the byte. `--header` prints what the record says of itself instead.
//! Exit status 0 done, 2 wrong usage, bad record or bad machine file, as one line on stderr.

use cobnut_model::MachineFile;
use cobnut_trace::{Measurement, Replay};
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str =
    "usage: cobnut-replay RECORD (--header | --machine FILE [--set PARAMETER:VALUE]... [--without flush])";

#[derive(Default)]
struct Wish {
    record: String,
    machine: Option<String>,
    assignments: Vec<String>,
    header: bool,
    without_flush: bool,
}

/// What the command line asks for, or nothing if it is wrong.
fn parse(mut words: impl Iterator<Item = String>) -> Option<Wish> {
    let mut wish = Wish::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--header" => wish.header = true,
            "--machine" if wish.machine.is_none() => wish.machine = Some(words.next()?),
            "--set" => wish.assignments.push(words.next()?),
            "--without" => {
                wish.without_flush = words.next().filter(|what| what == "flush").is_some().then_some(true)?
            }
            _ if wish.record.is_empty() => wish.record = word,
            _ => return None,
        }
    }
    (!wish.record.is_empty() && wish.header == wish.machine.is_none()).then_some(wish)
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
    Ok(machine)
}

fn main() -> ExitCode {
    let Some(wish) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match answer(&wish) {
        // A reader that has seen enough is no error.
        Ok(text) => drop(writeln!(std::io::stdout(), "{text}")),
        Err(error) => {
            eprintln!("cobnut-replay: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
