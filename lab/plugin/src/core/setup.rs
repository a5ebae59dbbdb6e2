// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin was asked for.

use super::arguments::Arguments;
use super::code_ranges::{self, Of};
use super::kernel_image::KernelImage;
use super::processes::Processes;
use super::programs::Programs;
use super::symbols::Symbols;
use super::user_regions::UserRegions;
use cobnut_model::{Architecture, MachineFile};
use cobnut_trace::{CodeRange, ProgramCode};
use std::path::Path;
use std::ptr::null_mut;

/// What is known before the processor exists.
pub struct Setup {
    pub arguments: Arguments,
    pub kernel: KernelImage,
    /// Names of the kernel's code.
    pub symbols: Symbols,
    pub file: Option<MachineFile>,
    pub ranges: Vec<CodeRange>,
    pub programs: Programs,
    pub processes: Processes,
    pub regions: UserRegions,
    /// What is counted of each of them.
    pub program_code: Vec<ProgramCode>,
    /// What `note=` names.
    pub provenance: serde_json::Value,
    pub warnings: Vec<String>,
}

static mut SETUP: *mut Setup = null_mut();

/// Only called from callbacks.
pub fn setup() -> &'static Setup {
    unsafe { &*SETUP }
}

/// Keeps what [`prepare`] has made for the callbacks.
pub fn keep(setup: Setup) {
    unsafe { SETUP = Box::into_raw(Box::new(setup)) }
}

/// Ends the emulator with one line on stderr.
pub fn fail(message: &str) -> ! {
    eprintln!("cobnut-plugin: {message}");
    std::process::exit(1)
}

/// From the words of the command line.
pub fn prepare<'a>(words: impl Iterator<Item = &'a str>, architecture: Architecture) -> Result<Setup, String> {
    let arguments = Arguments::parse(words)?;
    let mut warnings = Vec::new();
    let kernel = match &arguments.kernel {
        Some(path) => KernelImage::read(path)?,
        None => KernelImage::default(),
    };
    if kernel.interface_frame.is_none() {
        warnings.push("no symbol kip: stub instructions count as user".to_string());
    }
    if kernel.trampoline_page.is_none() && architecture == Architecture::Ia32 {
        warnings.push("no symbol trampoline: its instructions count as user".to_string());
    }
    let mut file = arguments.machine.as_deref().map(MachineFile::read).transpose()?;
    for assignment in &arguments.overrides {
        file.as_mut().ok_or("argument set: there is no machine to change")?.set(assignment)?;
    }
    if let Some(file) = file.as_ref().filter(|file| file.architecture != architecture) {
        return Err(format!("machine {} is no {} machine", file.name, architecture.name()));
    }
    let symbols = match (&arguments.symbols, &arguments.kernel) {
        (Some(path), _) => Symbols::read(path)?,
        (None, Some(path)) => KernelImage::symbols(path)?,
        (None, None) => Symbols::default(),
    };
    let programs = Programs::read(&arguments.programs)?;
    let names = arguments.symbols.as_deref().or(arguments.kernel.as_deref());
    let processes = Processes::read(arguments.processes.as_deref(), names, &symbols, &programs)?;
    let regions = UserRegions::parse(&arguments.regions, &programs, &symbols)?;
    if regions.of_process() && !processes.known() {
        return Err("argument region: process= needs processes=FILE".into());
    }
    let (mut ranges, mut in_programs) = (Vec::new(), Vec::new());
    for argument in &arguments.ranges {
        match code_ranges::parse(argument, &symbols, &programs)? {
            Of::Kernel(range) => ranges.push(range),
            Of::Program(number, range) => in_programs.push((number, range)),
        }
    }
    let program_code = programs.code(&in_programs);
    let provenance = arguments.note.as_deref().map(read_json).transpose()?.unwrap_or_default();
    Ok(Setup {
        arguments,
        kernel,
        symbols,
        file,
        ranges,
        programs,
        processes,
        regions,
        program_code,
        provenance,
        warnings,
    })
}

fn read_json(path: &Path) -> Result<serde_json::Value, String> {
    let named = |error: String| format!("note file {}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| named(error.to_string()))
}
