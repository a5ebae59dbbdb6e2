// SPDX-License-Identifier: GPL-2.0-or-later
//! The plugin's arguments: `machine=`, `kernel=`, `ram=`, `out=`, `mode=`, `note=`, `stop=`, `set=`, `range=`,
//! `program=`, `processes=`, `region=`, `symbols=`, `ignore=`, `from=`, `without=`, `windows=`, `pieces=`, `base=`,
//! `watch=`.

use cobnut_model::{Linear, Physical};
use cobnut_trace::Plan;
use std::path::PathBuf;

#[derive(Debug, Default)]
pub struct Arguments {
    /// Machine file; needed unless `mode=` says that there is none.
    pub machine: Option<PathBuf>,
    /// The kernel's ELF file, for telling stub and trampoline from other user code.
    pub kernel: Option<PathBuf>,
    /// The file that backs the guest's memory.
    pub ram: PathBuf,
    /// `base=ADDRESS`: physical address of that memory's first byte.
    pub base: Physical,
    /// Where the JSON goes, or the record.
    pub out: PathBuf,
    /// `mode=count`: counters and footprints only.
    pub count_only: bool,
    /// `mode=record`: none of this, but a record for later.
    pub record: bool,
    /// `note=FILE`, with `mode=record`: JSON that goes to the record's header as its provenance.
    pub note: Option<PathBuf>,
    /// `mode=sanitize`: no counters either, but the search for forgotten invalidations.
    pub sanitize: bool,
    /// `mode=stretch`: no counters either, but the longest stretches of the kernel with interrupts off.
    pub stretch: bool,
    /// `mode=idle`: callbacks that do nothing, to see what QEMU takes for them.
    pub idle: bool,
    /// `stop=first`, with `mode=sanitize`: the run ends at the first report.
    pub stop_at_first: bool,
    /// `stop=N`, likewise: it ends after so many accesses, with something for the time that it is halted.
    pub stop_after: Option<u64>,
    /// `set=PARAMETER:VALUE`, in order.
    pub overrides: Vec<String>,
    /// `range=NAME:SYMBOL..SYMBOL`: part of the kernel's code to count by itself.
    pub ranges: Vec<String>,
    /// `program=NAME:FILE`: a user's program, known by its ELF file.
    pub programs: Vec<String>,
    /// `processes=FILE`: where the guest's kernel says which process runs (`processes.rs`).
    pub processes: Option<PathBuf>,
    /// `region=CASE:WHAT`: a case without marks (`user_regions.rs`).
    pub regions: Vec<String>,
    /// `from=begin`: nothing is counted or modelled before the first case begins.
    pub from_begin: bool,
    /// `symbols=FILE`: names of the kernel's code, of an ELF file or as Linux writes them (System.map, /proc/kallsyms).
    pub symbols: Option<PathBuf>,
    /// `ignore=ADDRESS`, with `mode=sanitize`: instructions that are taken not to invalidate (or clean), by address.
    pub ignored: Vec<u32>,
    /// `watch=ADDRESS:BYTES` (hexadecimal), for `mode=sanitize` on ARM: instructions that store there are listed.
    pub watched: Vec<(Linear, u32)>,
    /// `without=flush`: the machine that it would be if switches flushed nothing.
    pub without_flush: bool,
    /// `windows=LENGTH/ONE_IN...`: the machine is there in random windows of the run only.
    pub windows: Option<Plan>,
    /// `pieces=FILE`, with `windows=`: where they are kept, and those found that need not be measured again.
    pub pieces: Option<PathBuf>,
}

impl Arguments {
    pub fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut arguments = Arguments::default();
        for word in words {
            let (key, value) = word.split_once('=').ok_or(format!("argument {word}: must be NAME=VALUE"))?;
            match key {
                "machine" => arguments.machine = Some(value.into()),
                "kernel" => arguments.kernel = Some(value.into()),
                "ram" => arguments.ram = value.into(),
                "out" => arguments.out = value.into(),
                "mode" if ["count", "idle", "model", "record", "sanitize", "stretch"].contains(&value) => {
                    arguments.record = value == "record";
                    arguments.count_only = value == "count";
                    arguments.sanitize = value == "sanitize";
                    arguments.stretch = value == "stretch";
                    arguments.idle = value == "idle";
                }
                "mode" => {
                    return Err(format!(
                        "argument mode: {value} is not one of count, idle, model, record, sanitize, stretch"
                    ))
                }
                "stop" if value == "first" => arguments.stop_at_first = true,
                "stop" => {
                    let many = value.parse();
                    arguments.stop_after =
                        Some(many.map_err(|_| format!("argument stop: {value} is neither first nor a number"))?);
                }
                "without" if value == "flush" => arguments.without_flush = true,
                "without" => return Err(format!("argument without: {value} is not flush")),
                "windows" => arguments.windows = Some(Plan::parse(value)?),
                "pieces" => arguments.pieces = Some(value.into()),
                "note" => arguments.note = Some(value.into()),
                "set" => arguments.overrides.push(value.to_string()),
                "range" => arguments.ranges.push(value.to_string()),
                "program" => arguments.programs.push(value.to_string()),
                "processes" => arguments.processes = Some(value.into()),
                "region" => arguments.regions.push(value.to_string()),
                "from" if value == "begin" => arguments.from_begin = true,
                "from" => return Err(format!("argument from: {value} is not begin")),
                "symbols" => arguments.symbols = Some(value.into()),
                "watch" => {
                    let (first, bytes) =
                        value.split_once(':').ok_or(format!("argument watch: {value} is not ADDRESS:BYTES"))?;
                    arguments.watched.push((Linear(address(key, first)?), address(key, bytes)?));
                }
                "base" => arguments.base = Physical(address(key, value)?),
                "ignore" => arguments.ignored.push(address(key, value)?),
                _ => return Err(format!("unknown argument {key}")),
            }
        }
        for (name, path) in [("ram", &arguments.ram), ("out", &arguments.out)] {
            if path.as_os_str().is_empty() {
                return Err(format!("missing argument {name}=FILE"));
            }
        }
        if arguments.count_only || arguments.record || arguments.sanitize || arguments.stretch || arguments.idle {
            arguments.machine = None;
        } else if arguments.machine.is_none() {
            return Err("missing argument machine=FILE (or mode=count, idle, record, sanitize or stretch)".into());
        }
        if arguments.without_flush && arguments.machine.is_none() {
            return Err("argument without: there is no machine to change".into());
        }
        if arguments.windows.is_some() && arguments.machine.is_none() {
            return Err("argument windows: there is no machine to measure on".into());
        }
        if arguments.pieces.is_some() && arguments.windows.is_none() {
            return Err("argument pieces: is for windows=".into());
        }
        if arguments.sanitize || arguments.stretch {
            let given = [
                ("program", !arguments.programs.is_empty()),
                ("processes", arguments.processes.is_some()),
                ("region", !arguments.regions.is_empty()),
            ];
            if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
                return Err(format!("argument {name}: only what is measured or recorded has one"));
            }
        }
        if arguments.from_begin && (arguments.record || arguments.sanitize) {
            return Err("argument from: only a measurement can wait for its beginning".into());
        }
        Ok(arguments)
    }
}

fn address(key: &str, value: &str) -> Result<u32, String> {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    u32::from_str_radix(digits, 16).map_err(|_| format!("argument {key}: {value} is not an address"))
}
