// SPDX-License-Identifier: GPL-2.0-or-later
//! What a machine model consumes: the events of an executed program, with no trace of the tool that saw them.

use crate::{Linear, Mapping, Physical};

/// Instruction classes, as coarse as the published costs allow. Their names are the keys of `[instructions]` and
/// `[micro_ops]` in a machine file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Class {
    Nop,
    Alu,
    Load,
    Store,
    /// Arithmetic with a memory source.
    LoadAlu,
    /// Arithmetic with a memory destination.
    AluStore,
    /// Direct jump, conditional or not.
    Branch,
    Call,
    Return,
    /// Near jump or call through a register or memory.
    Indirect,
    Multiply,
    Divide,
    /// One string instruction; repetitions are seen as data accesses.
    String,
    Float,
    /// `lock` prefix or `xchg` with memory.
    Atomic,
    /// `cli`, `sti`, `pushf`, `popf`.
    Flags,
    /// `cpuid`, `rdmsr`, `wrmsr`, `rdtsc` and other serialising instructions.
    Serialize,
    /// `lgdt`, `lidt`, `lldt`, `ltr`, and reads of them.
    DescriptorTable,
    /// Moves to and from control and debug registers, except a write of CR3.
    Control,
    PortIo,
    /// A segment register is read by `mov`.
    SegmentRead,
    Halt,
    // From here on the cost is not in [instructions] but in the section that names the mechanism.
    /// A load of a data segment register by `mov`, `pop` or `lds` and its kin.
    SegmentLoad,
    /// Far return at the same or an outer privilege: reloads CS (and SS).
    FarReturn,
    /// Far jump or call.
    FarJump,
    Cr3Write,
    Invlpg,
    Sysenter,
    Sysexit,
    /// `int n`, `int3`, `into`.
    Int,
    Iret,
}

/// Every class with the name that machine files and reports use.
pub const CLASSES: [(Class, &str); 31] = [
    (Class::Nop, "nop"),
    (Class::Alu, "alu"),
    (Class::Load, "load"),
    (Class::Store, "store"),
    (Class::LoadAlu, "load_alu"),
    (Class::AluStore, "alu_store"),
    (Class::Branch, "branch"),
    (Class::Call, "call"),
    (Class::Return, "return"),
    (Class::Indirect, "indirect"),
    (Class::Multiply, "multiply"),
    (Class::Divide, "divide"),
    (Class::String, "string"),
    (Class::Float, "float"),
    (Class::Atomic, "atomic"),
    (Class::Flags, "flags"),
    (Class::Serialize, "serialize"),
    (Class::DescriptorTable, "descriptor_table"),
    (Class::Control, "control"),
    (Class::PortIo, "port_io"),
    (Class::SegmentRead, "segment_read"),
    (Class::Halt, "halt"),
    (Class::SegmentLoad, "segment_load"),
    (Class::FarReturn, "far_return"),
    (Class::FarJump, "far_jump"),
    (Class::Cr3Write, "cr3_write"),
    (Class::Invlpg, "invlpg"),
    (Class::Sysenter, "sysenter"),
    (Class::Sysexit, "sysexit"),
    (Class::Int, "int"),
    (Class::Iret, "iret"),
];

/// How many of [`CLASSES`] take their cost from `[instructions]`.
pub(crate) const ORDINARY_CLASSES: usize = Class::SegmentLoad as usize;

impl Class {
    /// After such an instruction execution never continues in the same trace line: it changes privilege, code segment
    /// or address space.
    pub fn ends_trace(self) -> bool {
        use Class::*;
        matches!(self, FarReturn | FarJump | Sysenter | Sysexit | Int | Iret | Cr3Write | Control | Invlpg | Halt)
    }
}

/// In which pipes of a Pentium an instruction can be issued together with another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Pipe {
    /// Always issued alone.
    #[default]
    Alone,
    /// First or second of a pair.
    Either,
    /// Only first, in the U pipe.
    First,
    /// Only second, in the V pipe.
    Second,
}

/// When a direct jump is taken, and where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    /// Always; what is no direct jump has this, too.
    #[default]
    Always,
    /// On a condition, to a place behind it.
    Forward,
    /// On a condition, to a place before it.
    Backward,
}

impl Condition {
    pub(crate) fn from_bits(bits: u8) -> Option<Self> {
        [Condition::Always, Condition::Forward, Condition::Backward].get(bits as usize).copied()
    }
}

const PIPES: [Pipe; 4] = [Pipe::Alone, Pipe::Either, Pipe::First, Pipe::Second];

/// What of an instruction matters for when it can be issued. Sets of general registers have a bit for each, by its
/// number in instructions (eax 0, esp 4); parts of a register count as all of it. What push, pop, call and return do to
/// esp is not in `reads` and `writes` but in `stack`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issue {
    pub pipe: Pipe,
    pub reads: u8,
    pub writes: u8,
    /// Registers that a memory address is formed from, esp included where the stack is used.
    pub address: u8,
    /// Operand size, address size and segment prefixes.
    pub prefixes: u8,
    /// Has a displacement and an immediate operand.
    pub displacement_and_immediate: bool,
    /// Moves esp on the way.
    pub stack: bool,
    pub condition: Condition,
}

/// One instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub length: u8,
    pub class: Class,
    pub issue: Issue,
}

/// Where the condition stands beside the class.
const CONDITION_SHIFT: u32 = 6;

impl Instruction {
    /// Size of an instruction as bytes.
    pub const BYTES: usize = 6;

    /// Everything about it, for a record.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let Issue { pipe, reads, writes, address, prefixes, displacement_and_immediate, stack, condition } = self.issue;
        let how = pipe as u8 | (displacement_and_immediate as u8) << 2 | (stack as u8) << 3 | prefixes.min(15) << 4;
        [self.length, self.class as u8 | (condition as u8) << CONDITION_SHIFT, how, reads, writes, address]
    }

    /// The instruction of which [`Self::to_bytes`] made `bytes`; None if there is no such class.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let [length, what, how, reads, writes, address] = bytes;
        let class = what & ((1 << CONDITION_SHIFT) - 1);
        let issue = Issue {
            pipe: PIPES[(how & 3) as usize],
            reads,
            writes,
            address,
            prefixes: how >> 4,
            displacement_and_immediate: how & 4 != 0,
            stack: how & 8 != 0,
            condition: Condition::from_bits(what >> CONDITION_SHIFT)?,
        };
        Some(Instruction { length, class: CLASSES.get(class as usize)?.0, issue })
    }
}

/// What made the processor enter the kernel without an instruction that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Fault,
    Interrupt,
}

/// One thing that happened in the guest. Linear addresses have the segment base added.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// An instruction was executed. Its class carries everything else that it costs.
    Fetch {
        linear: Linear,
        instruction: Instruction,
    },
    Read {
        linear: Linear,
        physical: Physical,
        size: u8,
    },
    Write {
        linear: Linear,
        physical: Physical,
        size: u8,
    },
    /// CR3 was written by the instruction at `at`, or paging was turned on by it, and the page directory is at
    /// `directory`: non-global translations and virtually tagged contents are gone. The cost of the instruction itself
    /// came with its `Fetch`.
    Cr3Write {
        directory: Physical,
        at: u32,
    },
    /// User code runs in a segment that starts at `base`: reported at the first such instruction after a CR3 write, and
    /// when the base is another than before.
    UserCode {
        base: Linear,
    },
    /// CR0 or CR4 was changed so that every translation is gone, global ones too ([`super::control::emptying`]);
    /// `global_pages` says whether the global bit counts from now on (CR4.PGE).
    ControlWrite {
        global_pages: bool,
    },
    /// The page of `linear` was invalidated, global or not.
    Invlpg {
        linear: Linear,
    },
    /// A page fault was taken at `linear`: the processor drops its translation (Intel SDM volume 3, 4.10.4.1).
    PageFault {
        linear: Linear,
    },
    /// The kernel was entered by a fault or an external interrupt.
    Entry(EntryKind),
    /// The access at `linear` that follows was past the limit of its segment. The emulator made it; a processor would
    /// have raised a protection fault, let the kernel turn or enlarge the segment, and only then have made it.
    LimitFault {
        linear: Linear,
    },
}

/// What a page walk found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Physical address of the 4 KB frame that holds the linear address.
    pub frame: Physical,
    /// Mapped by a 4 MB page.
    pub large: bool,
    /// The global bit of the leaf entry.
    pub global: bool,
    /// Physical addresses of the entries that the walk read, outermost first.
    pub entries: [Physical; 2],
}

impl Walk {
    /// Number of valid `entries`.
    pub fn levels(&self) -> usize {
        if self.large {
            1
        } else {
            2
        }
    }
}

impl Mapping for Walk {
    #[inline]
    fn frame_of(&self, _at: Linear) -> Physical {
        self.frame
    }

    fn entries(&self) -> [Physical; 2] {
        self.entries
    }
}
