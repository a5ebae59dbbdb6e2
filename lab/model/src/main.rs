// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-machine check FILE [--json]`: validates a machine file; with `--json` prints it for other tools, so that
//! nobody needs a second validator. Exit status 0 good, 1 bad file, 2 wrong usage.

use cobnut_model::MachineFile;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, as_json) = match words.as_slice() {
        ["check", file] => (file, false),
        ["check", file, "--json"] | ["check", "--json", file] => (file, true),
        _ => {
            eprintln!("usage: cobnut-machine check FILE [--json]");
            return ExitCode::from(2);
        }
    };
    match MachineFile::read(Path::new(file)) {
        Ok(machine) if as_json => println!("{:#}", machine.to_json()),
        Ok(machine) => println!("{}: {} parameters, all good", machine.name, machine.parameters().count()),
        Err(error) => {
            eprintln!("cobnut-machine: {error}");
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}
