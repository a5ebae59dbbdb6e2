// SPDX-License-Identifier: GPL-2.0-or-later
//! The QEMU plugin: counts what a guest does between markers and feeds a machine model. Guests with an ARM processor
//! are followed by [`arm`], the others, IA-32, by everything else here.
//!
//! This file is the seam to QEMU: it installs the callbacks and hands them to the [`tracker`]. The guest has one
//! processor and, under `-icount`, one thread runs it, so one tracker serves all callbacks. Requires plugin API 4
//! (QEMU 9.1 or later). See docs/lab.md.

mod arguments;
mod arm;
mod code_ranges;
mod decode;
mod descriptors;
mod guest_memory;
mod issue;
mod kernel_image;
#[cfg(test)]
mod listings;
mod output;
mod registers;
mod sanitize;
mod stretch;
mod tracker;
mod translated_block;

use arguments::Arguments;
use cobnut_model::{Architecture, MachineFile};
use cobnut_trace::{CodeRange, Header, Measurement, Recorder, Sink};
use decode::{Addressing, Special};
use guest_memory::GuestMemory;
use kernel_image::KernelImage;
use output::Output;
use qemu_plugin_sys as qemu;
use registers::Registers;
use sanitize::Symbols;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::ptr::null_mut;
use tracker::Tracker;
use translated_block::TranslatedBlock;

/// The interface version that QEMU checks before it loads a plugin.
#[no_mangle]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = qemu::QEMU_PLUGIN_VERSION as c_int;

/// What is known before the processor exists.
struct Setup {
    arguments: Arguments,
    kernel: KernelImage,
    file: Option<MachineFile>,
    ranges: Vec<CodeRange>,
    /// What `note=` names.
    provenance: serde_json::Value,
    warnings: Vec<String>,
}

static mut SETUP: *mut Setup = null_mut();
static mut TRACKER: *mut Tracker<Output> = null_mut();

const MAX_INSTRUCTION: usize = 15;

/// Memory callback user data: what the access belongs to.
const ORDINARY: usize = 0;
const READS_GDT: usize = 1;
const READS_IDT: usize = 2;

/// A segment of a block that starts with a marker.
struct MarkerSite {
    block: *const TranslatedBlock,
    segment: usize,
}

fn fail(message: &str) -> ! {
    eprintln!("cobnut-plugin: {message}");
    std::process::exit(1)
}

/// Only called from callbacks, after the processor came to life.
#[inline]
fn tracker() -> &'static mut Tracker<Output> {
    unsafe { &mut *TRACKER }
}

/// Entry point: QEMU calls this once when it loads the plugin.
///
/// # Safety
/// QEMU passes valid pointers.
#[no_mangle]
pub unsafe extern "C" fn qemu_plugin_install(
    id: qemu::qemu_plugin_id_t,
    info: *const qemu::qemu_info_t,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let target = CStr::from_ptr((*info).target_name).to_string_lossy();
    let architecture = match (&*target, (*info).system_emulation) {
        ("i386", true) => Architecture::Ia32,
        ("arm", true) => Architecture::Arm,
        _ => fail(&format!("needs qemu-system-i386 or qemu-system-arm, this is {target}")),
    };
    if (*info).__bindgen_anon_1.system.max_vcpus > 1 {
        fail("only guests with one processor can be followed");
    }
    let words = (0..argc as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_str().unwrap_or(""));
    match prepare(words, architecture) {
        Ok(setup) => SETUP = Box::into_raw(Box::new(setup)),
        Err(message) => fail(&message),
    }
    if (*SETUP).arguments.stretch {
        stretch::install(id, architecture);
        return 0;
    }
    if architecture == Architecture::Arm {
        arm::install(id);
        return 0;
    }
    if (*SETUP).arguments.sanitize {
        sanitize::install(id);
        return 0;
    }
    qemu::qemu_plugin_register_vcpu_init_cb(id, Some(processor_created));
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished), null_mut());
    0
}

fn prepare<'a>(words: impl Iterator<Item = &'a str>, architecture: Architecture) -> Result<Setup, String> {
    let arguments = Arguments::parse(words)?;
    if architecture == Architecture::Arm {
        arguments.check_arm()?;
    }
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
    let symbols = match &arguments.kernel {
        Some(path) if !arguments.ranges.is_empty() => KernelImage::symbols(path)?,
        _ => Symbols::default(),
    };
    let ranges = arguments.ranges.iter().map(|argument| code_ranges::parse(argument, &symbols));
    let ranges = ranges.collect::<Result<_, _>>()?;
    let provenance = arguments.note.as_deref().map(read_json).transpose()?.unwrap_or_default();
    Ok(Setup { arguments, kernel, file, ranges, provenance, warnings })
}

fn read_json(path: &Path) -> Result<serde_json::Value, String> {
    let named = |error: String| format!("note file {}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| named(error.to_string()))
}

/// What follows the run, in a guest with `memory` bytes.
fn output(setup: &Setup, memory: usize) -> Result<Output, String> {
    let arguments = &setup.arguments;
    if !arguments.record {
        let overrides = &arguments.overrides;
        let mut measurement = Measurement::new(setup.file.as_ref(), overrides, &setup.ranges, memory);
        if arguments.without_flush {
            measurement = measurement.without_flush();
        }
        if arguments.from_begin {
            measurement = measurement.from_begin();
        }
        return Ok(Output::Measurement(measurement));
    }
    let header = Header { memory, ranges: setup.ranges.clone(), provenance: setup.provenance.clone() };
    let recorder = File::create(&arguments.out).and_then(|file| Recorder::new(BufWriter::new(file), &header));
    recorder.map(Output::Record).map_err(|error| format!("cannot write {}: {error}", arguments.out.display()))
}

unsafe extern "C" fn processor_created(_id: qemu::qemu_plugin_id_t, _cpu: c_uint) {
    let setup = &*SETUP;
    let registers = Registers::find().unwrap_or_else(|e| fail(&e));
    let memory = GuestMemory::map(&setup.arguments.ram).unwrap_or_else(|e| fail(&e));
    let mut sink = output(setup, memory.size()).unwrap_or_else(|e| fail(&e));
    setup.warnings.iter().for_each(|warning| sink.warn(warning.clone()));
    let tracker = Tracker::new(registers, memory, setup.kernel, sink);
    TRACKER = Box::into_raw(Box::new(tracker));
}

/// Prepares a block and attaches what it needs: one callback for the block, one per memory access, and one for each
/// marker and invlpg. Blocks are never freed: QEMU may still hold pointers to them.
unsafe extern "C" fn block_translated(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let count = qemu::qemu_plugin_tb_n_insns(tb);
    let mut decoded = Vec::with_capacity(count);
    for index in 0..count {
        let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
        let mut bytes = [0u8; MAX_INSTRUCTION];
        let length = qemu::qemu_plugin_insn_size(instruction).min(MAX_INSTRUCTION);
        qemu::qemu_plugin_insn_data(instruction, bytes.as_mut_ptr().cast(), length);
        decoded.push((decode::decode(&bytes[..length]), length as u8));
    }
    if decoded.is_empty() {
        return;
    }
    let reported = qemu::qemu_plugin_tb_vaddr(tb) as u32;
    let prepare = |linear, instructions| tracker().sink.prepare(linear, instructions);
    let block = Box::into_raw(Box::new(TranslatedBlock::new(reported, &decoded, prepare)));
    let registers = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS;
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started), registers, block.cast());
    let mut markers = 0;
    for (index, (instruction, _)) in decoded.iter().enumerate() {
        let handle = qemu::qemu_plugin_tb_get_insn(tb, index);
        let reads = match instruction.special {
            Special::Lgdt => READS_GDT,
            Special::Lidt => READS_IDT,
            _ => ORDINARY,
        };
        let both = qemu::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW;
        let none = qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS;
        qemu::qemu_plugin_register_vcpu_mem_cb(handle, Some(memory_accessed), none, both, reads as *mut c_void);
        match instruction.special {
            Special::Marker => {
                let segment = (*block).segments.iter().enumerate().filter(|(_, s)| s.starts_with_marker).nth(markers);
                markers += 1;
                let site = Box::new(MarkerSite { block, segment: segment.map_or(0, |(n, _)| n) });
                let data = Box::into_raw(site).cast();
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(marker_reached), registers, data);
            }
            Special::Invlpg(operand) => {
                let data = Box::into_raw(Box::new(operand)).cast();
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(handle, Some(invlpg_reached), registers, data);
            }
            _ => {}
        }
    }
}

unsafe extern "C" fn block_started(_cpu: c_uint, block: *mut c_void) {
    tracker().block_started(&mut *block.cast::<TranslatedBlock>());
}

unsafe extern "C" fn memory_accessed(_cpu: c_uint, info: qemu::qemu_plugin_meminfo_t, linear: u64, data: *mut c_void) {
    let size = 1 << qemu::qemu_plugin_mem_size_shift(info);
    match data as usize {
        ORDINARY => tracker().data(linear as u32, size, qemu::qemu_plugin_mem_is_store(info)),
        table => tracker().descriptor_table_read(linear as u32, size, table == READS_IDT),
    }
}

unsafe extern "C" fn marker_reached(_cpu: c_uint, site: *mut c_void) {
    let site = &*site.cast::<MarkerSite>();
    tracker().marker(&*site.block, site.segment);
}

unsafe extern "C" fn invlpg_reached(_cpu: c_uint, operand: *mut c_void) {
    tracker().invlpg(&*operand.cast::<Addressing>());
}

unsafe extern "C" fn finished(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    if TRACKER.is_null() {
        return;
    }
    let (setup, tracker) = (&*SETUP, tracker());
    let out = &setup.arguments.out;
    if let Err(error) = tracker.sink.finish(out) {
        fail(&format!("cannot write {}: {error}", out.display()));
    }
}
