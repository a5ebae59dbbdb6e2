// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-machine check FILE`: validates a machine file, so that no tool needs a second validator. Exit status 0 good,
//! 1 bad file, 2 wrong usage.

use clap::Parser;
use cobnut_model::MachineFile;
use std::path::PathBuf;
use std::process::ExitCode;

/// Works on machine files of the laboratory.
#[derive(Parser)]
#[command(name = "cobnut-machine")]
enum Wish {
    /// Validates a machine file.
    Check {
        file: PathBuf,
        /// Prints it for other tools.
        #[arg(long)]
        json: bool,
        /// Gives a parameter another value first.
        #[arg(long = "set", value_name = "PARAMETER:VALUE")]
        assignments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let Wish::Check { file, json, assignments } = Wish::parse();
    let machine = MachineFile::read(&file).and_then(|mut machine| {
        assignments.iter().try_for_each(|assignment| machine.set(assignment))?;
        Ok(machine)
    });
    match machine {
        Ok(machine) if json => println!("{}", machine.to_json()),
        Ok(machine) => println!("{}: {} parameters, all good", machine.name, machine.parameters().count()),
        Err(error) => {
            eprintln!("cobnut-machine: {error}");
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}
