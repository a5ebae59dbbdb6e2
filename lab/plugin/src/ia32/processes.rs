// SPDX-License-Identifier: GPL-2.0-or-later
//! Which process runs, of a guest whose kernel is described (`core/processes.rs`).

use super::block::Learned;
use super::follower::{Follower, KERNEL};
use super::{Observer, State};
use crate::core::processes::Reads;
use cobnut_model::Linear;

/// What the kernel in question reads at its addresses: in the segments whose base this is.
struct Kernel<'a> {
    state: &'a mut State,
    base: Linear,
}

impl Reads for Kernel<'_> {
    fn word(&mut self, at: u32) -> Option<u32> {
        self.state.memory.read_linear(self.base.plus(at))
    }

    fn segment(&mut self, selector: u32) -> u32 {
        self.state.base(selector).0
    }
}

impl<O: Observer> Follower<O> {
    /// Where the segments of the kernel in question start, if code like this is that kernel's.
    fn base_of_kernel(&self, code: &Learned) -> Option<Linear> {
        let theirs = match self.processes.program() {
            None => code.privilege == KERNEL,
            Some(program) => code.program == Some(program),
        };
        theirs.then_some(code.code_base)
    }

    /// Code of the kernel in question, `before`, has been left for other code, by when another process may run, or the
    /// same one have another name.
    pub(super) fn left_kernel(&mut self, before: Option<Learned>, now: &Learned) {
        let left = before.and_then(|before| self.base_of_kernel(&before));
        if let Some(base) = left.filter(|_| self.base_of_kernel(now).is_none()) {
            self.look_at_processes(base);
        }
    }

    /// The running code has written this word: to the pointer to the running task?
    pub(super) fn written(&mut self, linear: Linear) {
        let Some(code) = (unsafe { self.previous.block.as_ref() }).and_then(|block| block.learned) else { return };
        if let Some(base) = self.base_of_kernel(&code) {
            if self.processes.is_pointer(linear.minus(base)) {
                self.look_at_processes(base);
            }
        }
    }

    fn look_at_processes(&mut self, base: Linear) {
        if self.processes.look(&mut Kernel { state: &mut self.state, base }) {
            let markers = self.processes.present().map(|process| self.regions.switched(process));
            self.mark(markers.unwrap_or_default());
        }
    }

    /// User code runs: whose its space is.
    pub(super) fn name_space(&mut self, code: &Learned) {
        let kernel = self.base_of_kernel(code).is_some();
        let directory = self.state.memory.directory();
        let now = (directory, code.code_base, if kernel { None } else { Some(self.processes.changes()) });
        if self.named == Some(now) {
            return;
        }
        self.named = Some(now);
        let name = match kernel {
            true => self.processes.program_name().map(str::to_string),
            false => self.processes.present().map(|process| process.to_string()),
        };
        if let Some(name) = name {
            self.observer.process(&name);
        }
    }
}
