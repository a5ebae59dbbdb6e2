// SPDX-License-Identifier: GPL-2.0-or-later
//! Which process of a guest runs, if its kernel is Linux, or anything else that keeps its tasks in the same way.
//! `processes=FILE` describes nothing but where the kernel keeps the pointer to the running task (lab/guests/*.toml).
//! Where in a task its number and name are is found in the guest's memory, for no symbol says it: a task's `pid` and
//! `tgid` (and a canary, if stacks have one) stand directly before the pointers to its real and its present parent
//! (include/linux/sched.h), and those of the first task of all, which is called `swapper`, lead to itself.

use super::programs::Programs;
use super::symbols::{self, Symbols};
use cobnut_model::toml;
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// A process, as its kernel calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub number: u32,
    pub name: String,
}

impl fmt::Display for Process {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} ({})", self.name, self.number)
    }
}

/// Reads what the kernel in question has in its memory, at the addresses that its code uses.
pub trait Reads {
    fn word(&mut self, at: u32) -> Option<u32>;
    /// Where the segment that a selector names starts.
    fn segment(&mut self, selector: u32) -> u32;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    current: Current,
}

/// Where the pointer to the running task is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Current {
    /// A symbol, and bytes behind it.
    variable: Option<String>,
    #[serde(default)]
    offset: u32,
    /// Or a function, of which the first load through FS is of it, and what FS holds there.
    loaded_by: Option<String>,
    segment: Option<u32>,
    /// The kernel is a user's program, by this name of `program=`.
    program: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Pointer {
    #[default]
    Nowhere,
    At(u32),
    LoadedBy {
        function: u32,
        segment: u32,
    },
}

/// Offsets in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    group: u32,
    name: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Processes {
    pointer: Pointer,
    /// The program that is the kernel, by number and name.
    program: Option<(usize, String)>,
    at: Option<u32>,
    layout: Option<Layout>,
    /// Tasks that did not show how a task is laid out.
    strange: Vec<u32>,
    present: Option<Process>,
    /// How often that has changed.
    changes: u32,
}

const TASK_WORDS: u32 = 2048;
const MOST_STRANGE: usize = 64;
/// PID_MAX_LIMIT of kernels with 32 bits (include/linux/threads.h).
const MOST_NUMBER: u32 = 0x8000;
const FIRST_NAME: &[u8] = b"swapper";
/// TASK_COMM_LEN.
const NAME_BYTES: u32 = 16;
const FUNCTION_WORDS: u32 = 16;
/// The prefix for FS, and `mov` of a word at an address without registers: to EAX, or to any register.
const THROUGH_FS: u8 = 0x64;
const LOAD_EAX: u8 = 0xa1;
const LOAD: u8 = 0x8b;
/// Bits of the byte behind the latter that say how the address is made.
const ADDRESSING: u8 = 0xc7;
const ABSOLUTE: u8 = 0x05;

impl Processes {
    /// From what the file says; `names` is the file with the kernel's symbols.
    pub fn read(
        path: Option<&Path>,
        names: Option<&Path>,
        symbols: &Symbols,
        programs: &Programs,
    ) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Processes::default()) };
        let named = |why: String| format!("process file {}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        let described: Description = toml::from_str(&text).map_err(|error| named(error.message().to_string()))?;
        Self::of(described.current, names, symbols, programs).map_err(named)
    }

    fn of(current: Current, names: Option<&Path>, symbols: &Symbols, programs: &Programs) -> Result<Self, String> {
        let program = match current.program {
            Some(name) => Some((programs.named(&name)?, name)),
            None => None,
        };
        let names = match &program {
            Some((number, _)) => Some(programs.number(*number).path()),
            None => names,
        };
        let pointer = match (current.variable, current.loaded_by, current.segment) {
            (Some(name), None, None) => Pointer::At(symbols::variable(names, &name)? + current.offset),
            (None, Some(name), Some(segment)) => Pointer::LoadedBy { function: symbols.address(&name)?, segment },
            _ => return Err("current needs either variable, or loaded_by and segment".into()),
        };
        Ok(Processes { pointer, program, ..Processes::default() })
    }

    /// Whether anything is asked for.
    #[inline]
    pub fn known(&self) -> bool {
        !matches!(self.pointer, Pointer::Nowhere)
    }

    /// The program that is the kernel in question; none if that is the guest's own kernel.
    #[inline]
    pub fn program(&self) -> Option<usize> {
        self.program.as_ref().map(|(number, _)| *number)
    }

    /// What a space is called in which that program runs.
    pub fn program_name(&self) -> Option<&str> {
        self.program.as_ref().map(|(_, name)| &name[..])
    }

    /// Whether the pointer stands at this address of the kernel's.
    #[inline]
    pub fn is_pointer(&self, at: u32) -> bool {
        self.at == Some(at)
    }

    /// Who ran when the kernel was last looked at.
    pub fn present(&self) -> Option<&Process> {
        self.present.as_ref()
    }

    /// How often that has changed.
    #[inline]
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// Looks who runs. Returns whether it is another process than before, or has another name.
    pub fn look(&mut self, kernel: &mut impl Reads) -> bool {
        let found = self.find(kernel);
        if found.is_none() || found == self.present {
            return false;
        }
        (self.present, self.changes) = (found, self.changes + 1);
        true
    }

    fn find(&mut self, kernel: &mut impl Reads) -> Option<Process> {
        // Until a task is found there, a segment may yet get another base.
        let at = match (self.at, self.layout) {
            (Some(at), Some(_)) => at,
            _ => *self.at.insert(self.pointer.find(kernel)?),
        };
        let task = kernel.word(at)?;
        let Layout { group, name } = match self.layout {
            Some(layout) => layout,
            None => self.lay_out(task, kernel)?,
        };
        Some(Process { number: kernel.word(task.wrapping_add(group))?, name: text(task.wrapping_add(name), kernel)? })
    }

    /// Lays tasks out as this one shows it.
    fn lay_out(&mut self, task: u32, kernel: &mut impl Reads) -> Option<Layout> {
        if self.strange.contains(&task) || self.strange.len() == MOST_STRANGE {
            return None;
        }
        self.layout = Layout::of(task, kernel);
        if self.layout.is_none() {
            self.strange.push(task);
        }
        self.layout
    }

    /// What is doubtful about the names.
    pub fn doubt(&self) -> Option<String> {
        let found = self.present.is_some() || !self.known();
        (!found).then(|| match self.at {
            None => "processes: the pointer to the running task was not found".into(),
            Some(at) => format!("processes: what {at:08x} points to was at no time a task of Linux"),
        })
    }
}

impl Pointer {
    fn find(self, kernel: &mut impl Reads) -> Option<u32> {
        match self {
            Pointer::Nowhere => None,
            Pointer::At(at) => Some(at),
            Pointer::LoadedBy { function, segment } => {
                let code: Vec<u8> = (0..FUNCTION_WORDS)
                    .map_while(|index| kernel.word(function.wrapping_add(4 * index)))
                    .flat_map(u32::to_le_bytes)
                    .collect();
                Some(loaded_through_fs(&code)?.wrapping_add(kernel.segment(segment)))
            }
        }
    }
}

/// The address, within the segment, of the first word that code loads through FS.
fn loaded_through_fs(code: &[u8]) -> Option<u32> {
    (0..code.len()).find_map(|at| match code[at..] {
        [THROUGH_FS, LOAD_EAX, a, b, c, d, ..] => Some(u32::from_le_bytes([a, b, c, d])),
        [THROUGH_FS, LOAD, how, a, b, c, d, ..] if how & ADDRESSING == ABSOLUTE => {
            Some(u32::from_le_bytes([a, b, c, d]))
        }
        _ => None,
    })
}

impl Layout {
    /// As any task but the first one shows it whose parent the first one is.
    fn of(task: u32, kernel: &mut impl Reads) -> Option<Self> {
        let words: Vec<u32> = (0..TASK_WORDS).map_while(|index| kernel.word(task.wrapping_add(4 * index))).collect();
        for (index, pair) in words.windows(2).enumerate() {
            if pair[0] != pair[1] || !(1..MOST_NUMBER).contains(&pair[0]) {
                continue;
            }
            for parents in [index + 2, index + 3] {
                let Some(&[parent, same]) = words.get(parents..parents + 2) else { continue };
                if parent == same && parent != task && is_first(parent, index, parents, kernel) {
                    let name = find_name(parent, kernel)?;
                    return Some(Layout { group: 4 * (index as u32 + 1), name });
                }
            }
        }
        None
    }
}

/// Whether a task has no number where others have it, and is its own parent.
fn is_first(task: u32, numbers: usize, parents: usize, kernel: &mut impl Reads) -> bool {
    let mut word = |index: usize| kernel.word(task.wrapping_add(4 * index as u32));
    [word(numbers), word(numbers + 1)] == [Some(0); 2] && [word(parents), word(parents + 1)] == [Some(task); 2]
}

/// Where in the first task its name begins.
fn find_name(task: u32, kernel: &mut impl Reads) -> Option<u32> {
    let words = (0..TASK_WORDS).map_while(|index| kernel.word(task.wrapping_add(4 * index)));
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bytes.windows(FIRST_NAME.len()).position(|found| found == FIRST_NAME).map(|at| at as u32)
}

fn text(at: u32, kernel: &mut impl Reads) -> Option<String> {
    let mut bytes = Vec::new();
    for word in 0..NAME_BYTES / 4 {
        bytes.extend(kernel.word(at.wrapping_add(4 * word))?.to_le_bytes());
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

#[cfg(test)]
#[path = "processes_tests.rs"]
mod tests;
