// SPDX-License-Identifier: GPL-2.0-or-later
//! `mode=stretch`: how many instructions of the kernel run with interrupts off at a time, for guests of either
//! architecture.
//!
//! A stretch begins when the kernel is entered or a preemption point is left, and ends with the next preemption point,
//! with idling, or on the way to user mode, where an interrupt comes before a fault of the first fetch (ARM
//! architecture manual, A2.6; Intel's volume 3A, table 6-2). The longest one of each case that the guest marks is
//! written, with the functions that most of its instructions are in. A repeated string instruction counts as often as
//! QEMU starts it.

use crate::core::kernel_image::KernelImage;
use crate::core::reader::{Handle, Reader};
use crate::core::setup::{fail, setup};
use crate::core::symbols::Symbols;
use cobnut_model::Architecture;
use qemu_plugin_sys as qemu;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

/// Functions in which interrupts are let in.
const POINTS: [&str; 4] = ["arch::preemption_point", "idle", "wait_for_interrupt", "caches::wait_for_interrupt"];
/// ARM's vectors: what came there was in user mode, or at a point. Of a user whose first fetch fails, nothing else is
/// seen; on IA-32 the block that ends with the instruction that led there.
const VECTORS: std::ops::Range<u32> = 0xffff_0000..0xffff_0020;
const CASE_BEGINS: u32 = 0xC0B0_0001;
const CASE_ENDS: u32 = 0xC0B0_0003;
const IA32_EXITS: [&[u8]; 2] = [&[0xcf], &[0x0f, 0x35]]; // iret, sysexit
const IA32_MARK: [u8; 3] = [0x66, 0x87, 0xc9];
const ARM_MARK: [u8; 4] = [0x0c, 0xc0, 0xa0, 0xe1];
const FUNCTIONS_SHOWN: usize = 4;

/// What a block means for the stretch that it is in.
#[derive(Clone, Copy)]
enum Block {
    Kernel { function: usize, instructions: u64, entry: bool, exit: bool },
    Point,
    User,
}

/// The instructions of a stretch, by function.
#[derive(Clone, Default)]
struct Stretch {
    instructions: u64,
    functions: BTreeMap<usize, u64>,
    last: usize,
}

/// What is written.
#[derive(Serialize)]
struct Report<'a> {
    cases: Vec<Longest<'a>>,
}

/// The longest stretch of a case.
#[derive(Serialize)]
struct Longest<'a> {
    /// The number that the guest has given it.
    case: u32,
    instructions: u64,
    ended_in: &'a str,
    /// The functions that most of them are in, and how many: the most first.
    most_in: Vec<(&'a str, u64)>,
}

struct Watcher {
    architecture: Architecture,
    symbols: Symbols,
    names: Vec<String>,
    now: Stretch,
    case: Option<u32>,
    longest: BTreeMap<u32, Stretch>,
    mark: Option<(Reader, [Handle; 2])>,
}

impl Watcher {
    fn new(architecture: Architecture, symbols: Symbols) -> Self {
        Watcher {
            architecture,
            symbols,
            names: Vec::new(),
            now: Stretch::default(),
            case: None,
            longest: BTreeMap::new(),
            mark: None,
        }
    }

    fn block(&mut self, at: u32, instructions: u64, exit: bool) -> Block {
        let Some(place) = self.symbols.name(at) else { return Block::User };
        let name = place.split('+').next().unwrap_or_default();
        if POINTS.contains(&name) {
            return Block::Point;
        }
        let known = self.names.iter().position(|one| one == name);
        let function = known.unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        });
        Block::Kernel { function, instructions, entry: VECTORS.contains(&at), exit }
    }

    fn runs(&mut self, block: Block) {
        let Block::Kernel { function, instructions, entry, exit } = block else { return self.ends() };
        if entry {
            self.ends();
        }
        if self.case.is_some() {
            self.now.instructions += instructions;
            *self.now.functions.entry(function).or_default() += instructions;
            self.now.last = function;
        }
        if exit {
            self.ends();
        }
    }

    fn ends(&mut self) {
        if self.now.instructions == 0 {
            return;
        }
        let stretch = std::mem::take(&mut self.now);
        if let Some(case) = self.case {
            let longest = self.longest.entry(case).or_default();
            if stretch.instructions > longest.instructions {
                *longest = stretch;
            }
        }
    }

    fn marked(&mut self, kind: u32, value: u32) {
        match kind {
            CASE_BEGINS => self.case = Some(value),
            CASE_ENDS => self.case = None,
            _ => {}
        }
    }

    fn report(&self) -> Report<'_> {
        let cases = self.longest.iter().map(|(case, stretch)| {
            let mut functions: Vec<_> =
                stretch.functions.iter().map(|(&function, &n)| (n, &self.names[function])).collect();
            functions.sort_by(|a, b| b.cmp(a));
            functions.truncate(FUNCTIONS_SHOWN);
            Longest {
                case: *case,
                instructions: stretch.instructions,
                ended_in: &self.names[stretch.last],
                most_in: functions.into_iter().map(|(n, name)| (&name[..], n)).collect(),
            }
        });
        Report { cases: cases.collect() }
    }
}

static mut WATCHER: *mut Watcher = null_mut();

/// Only called from callbacks.
#[inline]
fn watcher() -> &'static mut Watcher {
    unsafe { &mut *WATCHER }
}

/// Installs the callbacks of this mode.
pub unsafe fn install(id: qemu::qemu_plugin_id_t, architecture: Architecture) {
    let kernel = setup().arguments.kernel.as_deref().unwrap_or_else(|| fail("mode=stretch needs kernel=ELF"));
    let symbols = KernelImage::symbols(kernel).unwrap_or_else(|e| fail(&e));
    WATCHER = Box::into_raw(Box::new(Watcher::new(architecture, symbols)));
    qemu::qemu_plugin_register_vcpu_init_cb(
        id,
        Some(if architecture == Architecture::Arm { arm_created } else { ia32_created }),
    );
    qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(block_translated));
    qemu::qemu_plugin_register_atexit_cb(id, Some(finished), null_mut());
}

unsafe extern "C" fn ia32_created(_id: qemu::qemu_plugin_id_t, _cpu: c_uint) {
    watcher().mark = Some(Reader::find(["eax", "edx"]).unwrap_or_else(|e| fail(&e)));
}

unsafe extern "C" fn arm_created(_id: qemu::qemu_plugin_id_t, _cpu: c_uint) {
    watcher().mark = Some(Reader::find(["r0", "r1"]).unwrap_or_else(|e| fail(&e)));
}

/// Blocks are never freed: QEMU may still hold pointers to them.
unsafe extern "C" fn block_translated(_id: qemu::qemu_plugin_id_t, tb: *mut qemu::qemu_plugin_tb) {
    let count = qemu::qemu_plugin_tb_n_insns(tb);
    let mut last = Vec::new();
    let (none, registers) =
        (qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS, qemu::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_R_REGS);
    for index in 0..count {
        let instruction = qemu::qemu_plugin_tb_get_insn(tb, index);
        let mut bytes = [0u8; 4];
        let length = qemu::qemu_plugin_insn_size(instruction).min(bytes.len());
        qemu::qemu_plugin_insn_data(instruction, bytes.as_mut_ptr().cast(), length);
        if bytes[..length] == IA32_MARK || bytes[..length] == ARM_MARK {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(instruction, Some(mark_reached), registers, null_mut());
        }
        last = bytes[..length].to_vec();
    }
    let exit = watcher().architecture == Architecture::Ia32 && IA32_EXITS.contains(&&last[..]);
    let block = watcher().block(qemu::qemu_plugin_tb_vaddr(tb) as u32, count as u64, exit);
    qemu::qemu_plugin_register_vcpu_tb_exec_cb(tb, Some(block_started), none, Box::into_raw(Box::new(block)).cast());
}

unsafe extern "C" fn block_started(_cpu: c_uint, block: *mut c_void) {
    watcher().runs(*block.cast::<Block>());
}

unsafe extern "C" fn mark_reached(_cpu: c_uint, _data: *mut c_void) {
    if let Some((reader, [kind, value])) = &watcher().mark {
        let (kind, value) = (reader.read(*kind), reader.read(*value));
        watcher().marked(kind, value);
    }
}

unsafe extern "C" fn finished(_id: qemu::qemu_plugin_id_t, _data: *mut c_void) {
    let out = &setup().arguments.out;
    let report = serde_json::to_string(&watcher().report()).unwrap_or_default();
    if let Err(error) = std::fs::write(out, format!("{report}\n")) {
        fail(&format!("cannot write {}: {error}", out.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: u32 = 0xf010_0000;

    fn watcher() -> Watcher {
        let symbols = [(0, "entry"), (0x100, "work"), (0x200, "_ZN4arch16preemption_pointEv"), (0x300, "idle")];
        let list = symbols.map(|(at, name)| (KERNEL + at, name.to_string())).to_vec();
        let symbols = Symbols::new(list, vec![(KERNEL, KERNEL + 0x1000)]);
        Watcher::new(Architecture::Ia32, symbols)
    }

    fn run(watcher: &mut Watcher, blocks: &[(u32, u64)]) {
        for &(at, instructions) in blocks {
            let block = watcher.block(at, instructions, false);
            watcher.runs(block);
        }
    }

    #[test]
    fn a_stretch_ends_at_a_point_in_idling_and_in_user_mode() {
        for end in [KERNEL + 0x204, KERNEL + 0x300, 0x0800_0000] {
            let mut watcher = watcher();
            watcher.marked(CASE_BEGINS, 7);
            run(&mut watcher, &[(KERNEL, 10), (KERNEL + 0x110, 30), (end, 5), (KERNEL, 20), (end, 5)]);
            assert_eq!(watcher.longest[&7].instructions, 40);
            assert_eq!(watcher.report().cases[0].most_in, [("work", 30), ("entry", 10)]);
        }
    }

    #[test]
    fn a_fault_of_a_users_first_fetch_begins_another_stretch() {
        let mut watcher = watcher();
        let symbols = vec![(KERNEL, "entry".to_string()), (VECTORS.start, "vectors".to_string())];
        watcher.symbols = Symbols::new(symbols, vec![(KERNEL, KERNEL + 0x1000), (VECTORS.start, VECTORS.end)]);
        watcher.marked(CASE_BEGINS, 7);
        run(&mut watcher, &[(VECTORS.start + 16, 1), (KERNEL, 30), (VECTORS.start + 12, 1), (KERNEL, 10), (0x1000, 1)]);
        assert_eq!(watcher.longest[&7].instructions, 31);
    }

    #[test]
    fn so_it_does_behind_an_instruction_that_leaves_the_kernel() {
        let mut watcher = watcher();
        watcher.marked(CASE_BEGINS, 7);
        run(&mut watcher, &[(KERNEL + 0x110, 30)]);
        let leaving = watcher.block(KERNEL, 5, true);
        watcher.runs(leaving);
        run(&mut watcher, &[(KERNEL, 20), (0x1000, 1)]);
        assert_eq!(watcher.longest[&7].instructions, 35);
    }

    #[test]
    fn what_is_outside_of_cases_does_not_count() {
        let mut watcher = watcher();
        run(&mut watcher, &[(KERNEL, 100), (0x1000, 1)]);
        watcher.marked(CASE_BEGINS, 1);
        run(&mut watcher, &[(KERNEL, 3), (0x1000, 1)]);
        watcher.marked(CASE_ENDS, 1);
        run(&mut watcher, &[(KERNEL, 100), (0x1000, 1)]);
        assert_eq!((watcher.longest.len(), watcher.longest[&1].instructions), (1, 3));
    }
}
