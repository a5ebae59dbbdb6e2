// SPDX-License-Identifier: GPL-2.0-or-later
//! Costs in thousandths of a cycle, derived from a machine file.

use super::event::ORDINARY_CLASSES;
use super::{Class, EntryKind, Walk, CLASSES};
use crate::{Category, MachineFile, MILLI};

/// Every cost of a machine. Where a file states the cost of a whole (refilling a TLB, rebuilding the trace cache,
/// reloading the set of segment registers, entry and exit together), the share of one part is derived here.
#[derive(Clone, Debug)]
pub struct Costs {
    by_class: [(Category, u64); CLASSES.len()],
    uops: [u8; CLASSES.len()],
    pub uops_per_line: u8,
    pub pipeline: Pipeline,
    /// One entry of the TLB that holds code.
    pub code_refill: u64,
    /// One entry of the TLB that holds data in 4 KB pages, and of the one that holds it in 4 MB pages.
    data_refills: [u64; 2],
    /// What an instruction costs more when its trace line is built: it is decoded, instead of coming from the line.
    builds: [u64; CLASSES.len()],
    pub l2_hit: u64,
    pub memory_read: u64,
    pub memory_write_back: u64,
    /// A store that takes no line in the first level, as far as no buffer hides it.
    pub store: u64,
    /// What a direct jump costs more when it is taken.
    pub branch_taken: u64,
    /// A jump that goes elsewhere than expected, in the first pipe and in the second.
    mispredicted: [u64; 2],
    /// A load that waits for a store.
    pub blocked: u64,
    /// A trace line that is there, however little is in it.
    pub line: u64,
    fault: u64,
    interrupt: u64,
    /// A fault past a segment's limit, from the access to the access that follows it.
    pub limit_fault: u64,
}

/// How instructions that follow each other help or hinder each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipeline {
    /// Two at a time, by the Pentium's rules.
    pub pairs: bool,
    /// An address is formed from a register that the instruction or pair before has written.
    pub address_stall: u64,
    /// One prefix.
    pub prefix: u64,
}

/// A machine on which everything is free: for counting without a model.
impl Default for Costs {
    fn default() -> Self {
        Costs {
            by_class: [(Category::Instructions, 0); CLASSES.len()],
            uops: [1; CLASSES.len()],
            uops_per_line: 1,
            pipeline: Pipeline::default(),
            code_refill: 0,
            data_refills: [0; 2],
            builds: [0; CLASSES.len()],
            l2_hit: 0,
            memory_read: 0,
            memory_write_back: 0,
            store: 0,
            branch_taken: 0,
            mispredicted: [0; 2],
            blocked: 0,
            line: 0,
            fault: 0,
            interrupt: 0,
            limit_fault: 0,
        }
    }
}

impl Costs {
    pub fn from_file(file: &MachineFile) -> Self {
        let milli = |path: &str| file.milli(path).unwrap_or(0);
        let share = |whole: &str, parts: &str| milli(whole) / file.integer(parts).unwrap_or(1).max(1);
        let segment_load =
            file.milli("segments.load_cycles").unwrap_or_else(|| share("segments.reload_cycles", "segments.loads"));
        let far = |key: &str| file.milli(&format!("segments.{key}")).unwrap_or(segment_load);
        let int_iret = milli("entry.int_iret_cycles");
        let iret = file.milli("entry.iret_cycles").unwrap_or(int_iret / 2);
        // The first of the sections that the machine has.
        let refill = |sections: &[&str]| {
            let section = sections.iter().find(|s| file.has_section(s)).unwrap_or(&"");
            file.milli(&format!("{section}.miss_cycles"))
                .unwrap_or_else(|| share(&format!("{section}.refill_cycles"), &format!("{section}.entries")))
        };
        let mut by_class = [(Category::Instructions, 0); CLASSES.len()];
        let (mut uops, mut builds) = ([1; CLASSES.len()], [0; CLASSES.len()]);
        for &(class, name) in &CLASSES {
            by_class[class as usize] = match class {
                Class::SegmentLoad => (Category::SegmentReload, segment_load),
                Class::FarReturn => (Category::SegmentReload, far("far_return_cycles")),
                Class::FarJump => (Category::SegmentReload, far("far_jump_cycles")),
                Class::Cr3Write => (Category::Flush, milli("address_space.cr3_cycles")),
                Class::Invlpg => (Category::Flush, milli("address_space.invlpg_cycles")),
                Class::Sysenter | Class::Sysexit => {
                    (Category::KernelEntryExit, milli("entry.sysenter_sysexit_cycles") / 2)
                }
                Class::Int => (Category::KernelEntryExit, int_iret.saturating_sub(iret)),
                Class::Iret => (Category::KernelEntryExit, iret),
                _ => (Category::Instructions, milli(&format!("instructions.{name}"))),
            };
            if file.has_section("trace_cache") {
                let count = file.integer(&format!("micro_ops.{name}")).unwrap_or(1);
                let delivered = count * MILLI / file.integer("trace_cache.uops_per_cycle").unwrap_or(1);
                uops[class as usize] = count as u8;
                builds[class as usize] = milli("trace_cache.decode_cycles").saturating_sub(delivered);
            }
        }
        let mispredicted = milli("branch_prediction.mispredicted_cycles");
        debug_assert!(CLASSES[..ORDINARY_CLASSES]
            .iter()
            .all(|&(c, _)| by_class[c as usize].0 == Category::Instructions));
        Costs {
            by_class,
            uops,
            uops_per_line: file.integer("trace_cache.uops_per_line").unwrap_or(1) as u8,
            pipeline: Pipeline {
                pairs: file.choice("pipeline.pairing") == "pentium",
                address_stall: milli("pipeline.address_stall_cycles"),
                prefix: milli("pipeline.prefix_cycles"),
            },
            code_refill: refill(&["tlb", "itlb"]),
            data_refills: [refill(&["tlb", "dtlb"]), refill(&["tlb", "dtlb_large", "dtlb"])],
            builds,
            l2_hit: milli("l2.hit_cycles"),
            memory_read: milli("memory.read_cycles"),
            memory_write_back: milli("memory.write_back_cycles"),
            store: milli("memory.store_cycles"),
            branch_taken: file
                .milli("instructions.branch_taken")
                .unwrap_or(0)
                .saturating_sub(milli("instructions.branch")),
            mispredicted: [
                mispredicted,
                file.milli("branch_prediction.mispredicted_paired_cycles").unwrap_or(mispredicted),
            ],
            blocked: milli("store_forwarding.blocked_cycles"),
            line: match file.has_section("trace_cache") {
                true => {
                    let count = |key: &str| file.integer(&format!("trace_cache.{key}")).unwrap_or(1);
                    count("uops_per_line") * MILLI / count("uops_per_cycle")
                }
                false => 0,
            },
            fault: milli("entry.fault_cycles"),
            interrupt: milli("entry.interrupt_cycles"),
            limit_fault: milli("entry.fault_cycles") + milli("entry.limit_fault_path_cycles"),
        }
    }

    /// Fixed cost of an instruction and the category that it is booked in.
    #[inline]
    pub fn of(&self, class: Class) -> (Category, u64) {
        self.by_class[class as usize]
    }

    pub fn uops(&self, class: Class) -> u8 {
        self.uops[class as usize]
    }

    /// What an instruction costs more where its trace line is built.
    pub fn build(&self, class: Class) -> u64 {
        self.builds[class as usize]
    }

    /// A jump that went elsewhere than expected.
    pub fn mispredicted(&self, paired: bool) -> u64 {
        self.mispredicted[paired as usize]
    }

    /// Refilling the data TLB after this walk.
    pub fn data_refill(&self, walk: &Walk) -> u64 {
        self.data_refills[walk.large as usize]
    }

    pub fn entry(&self, kind: EntryKind) -> u64 {
        match kind {
            EntryKind::Fault => self.fault,
            EntryKind::Interrupt => self.interrupt,
        }
    }
}
