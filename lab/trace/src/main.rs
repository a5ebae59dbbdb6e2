// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-replay RECORD`: measures a record on a machine, to the byte as the plugin measures the run itself, or prints
//! what is in it (`ia32/events.rs` has the format of events). Exit status 0 done, 2 wrong usage, bad record or bad
//! machine file, the latter two as one line on stderr.

use clap::{ArgGroup, Parser, ValueEnum};
use cobnut_model::{Architecture, MachineFile};
use cobnut_trace::arm::Arm;
use cobnut_trace::ia32::{Events, Ia32};
use cobnut_trace::{Measurement, Plan, Processor, Replay, Windows};
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Works on a record of a run.
#[derive(Parser)]
#[command(name = "cobnut-replay", group = ArgGroup::new("what").required(true))]
struct Wish {
    record: PathBuf,
    /// Prints what the record says of itself.
    #[arg(long, group = "what")]
    header: bool,
    /// Prints so many instructions from the first iteration on, with their accesses, as text.
    #[arg(long, group = "what", value_name = "COUNT")]
    events: Option<usize>,
    /// Measures the record on the machine of a file and prints what the plugin writes when it measures the run itself.
    #[arg(long, group = "what", value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Gives a parameter of the machine another value.
    #[arg(long = "set", value_name = "PARAMETER:VALUE", requires = "machine")]
    assignments: Vec<String>,
    /// What the machine is to do without.
    #[arg(long, requires = "machine")]
    without: Option<Without>,
    /// From where it measures: nothing before counts or warms the machine.
    #[arg(long, requires = "machine")]
    from: Option<From>,
    /// Measures in random windows only: LENGTH/ONE_IN[:warm=UNITS][:seed=N][:misses=on] (docs/plugin.md).
    #[arg(long, requires = "machine", value_parser = Plan::parse)]
    windows: Option<Plan>,
    /// Keeps the windows here, and goes on with those that are there.
    #[arg(long, requires = "windows")]
    pieces: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum From {
    /// The first case begins.
    Begin,
}

#[derive(Clone, Copy, ValueEnum)]
enum Without {
    /// Switches flush nothing.
    Flush,
}

/// Prints events of the record. A reader that has seen enough is no error.
fn print_events(record: &Path, count: usize) -> Result<(), String> {
    let named = |error: String| format!("record {}: {error}", record.display());
    let replay = open(record)?;
    if replay.header.architecture != Architecture::Ia32.name() {
        return Err(named("events are printed of IA-32 guests only".into()));
    }
    let mut events = Events::new(BufWriter::new(std::io::stdout().lock()), count);
    replay.run(&mut events).map_err(named)?;
    match events.finish() {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn open(record: &Path) -> Result<Replay<BufReader<File>>, String> {
    let named = |error: String| format!("record {}: {error}", record.display());
    let file = File::open(record).map_err(|error| named(error.to_string()))?;
    Replay::new(BufReader::new(file)).map_err(named)
}

/// The text to print.
fn answer(wish: &Wish) -> Result<String, String> {
    let machine = wish.machine.as_deref().map(|file| machine(file, &wish.assignments)).transpose()?;
    let replay = open(&wish.record)?;
    let Some(machine) = machine else { return Ok(replay.header.to_json()) };
    if replay.header.architecture != machine.architecture.name() {
        return Err(format!(
            "machine {} is for {} processors, and this record is of an {} guest",
            machine.name,
            machine.architecture.name(),
            replay.header.architecture
        ));
    }
    match machine.architecture {
        Architecture::Ia32 => measure::<Ia32>(replay, &machine, wish),
        Architecture::Arm => measure::<Arm>(replay, &machine, wish),
    }
}

fn measure<P: Processor>(
    replay: Replay<BufReader<File>>,
    machine: &MachineFile,
    wish: &Wish,
) -> Result<String, String> {
    if let Some(plan) = wish.windows {
        return sample::<P>(replay, machine, wish, plan);
    }
    let mut measurement = Measurement::<P>::new(Some(machine), &wish.assignments, &replay.header);
    if wish.without.is_some() {
        measurement = measurement.without_flush();
    }
    if wish.from.is_some() {
        measurement = measurement.from_begin();
    }
    replay.run(&mut measurement).map_err(|error| format!("record {}: {error}", wish.record.display()))?;
    Ok(measurement.report().to_json())
}

fn sample<P: Processor>(
    replay: Replay<BufReader<File>>,
    machine: &MachineFile,
    wish: &Wish,
    plan: Plan,
) -> Result<String, String> {
    let mut windows = Windows::<P>::new(machine, &wish.assignments, &replay.header, plan);
    if wish.without.is_some() {
        windows = windows.without_flush();
    }
    if wish.from.is_some() {
        windows = windows.from_begin();
    }
    if let Some(path) = &wish.pieces {
        windows = windows.with_pieces(path, &replay.header.provenance)?;
    }
    let mut windows = windows.start();
    replay.run(&mut windows).map_err(|error| format!("record {}: {error}", wish.record.display()))?;
    Ok(windows.report().to_json())
}

fn machine(file: &Path, assignments: &[String]) -> Result<MachineFile, String> {
    let mut machine = MachineFile::read(file)?;
    assignments.iter().try_for_each(|assignment| machine.set(assignment))?;
    Ok(machine)
}

fn main() -> ExitCode {
    let wish = Wish::parse();
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
