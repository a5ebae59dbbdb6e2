// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-machine check FILE [--json] [--set PARAMETER:VALUE]...`: validates a machine file, with some values set if
//! wanted; with `--json` prints it for other tools, so that nobody needs a second validator. Exit status 0 good, 1 bad
//! file, 2 wrong usage.

use cobnut_model::MachineFile;
use std::path::Path;
use std::process::ExitCode;

#[derive(Default)]
struct Wish {
    file: String,
    as_json: bool,
    assignments: Vec<String>,
}

/// What the command line asks for, or nothing if it is wrong.
fn parse(mut words: impl Iterator<Item = String>) -> Option<Wish> {
    let mut wish = Wish::default();
    words.next().filter(|word| word == "check")?;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => wish.as_json = true,
            "--set" => wish.assignments.push(words.next()?),
            _ if wish.file.is_empty() => wish.file = word,
            _ => return None,
        }
    }
    (!wish.file.is_empty()).then_some(wish)
}

fn read(wish: &Wish) -> Result<MachineFile, String> {
    let mut machine = MachineFile::read(Path::new(&wish.file))?;
    wish.assignments.iter().try_for_each(|assignment| machine.set(assignment))?;
    Ok(machine)
}

fn main() -> ExitCode {
    let Some(wish) = parse(std::env::args().skip(1)) else {
        eprintln!("usage: cobnut-machine check FILE [--json] [--set PARAMETER:VALUE]...");
        return ExitCode::from(2);
    };
    match read(&wish) {
        Ok(machine) if wish.as_json => println!("{:#}", machine.to_json()),
        Ok(machine) => println!("{}: {} parameters, all good", machine.name, machine.parameters().count()),
        Err(error) => {
            eprintln!("cobnut-machine: {error}");
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}
