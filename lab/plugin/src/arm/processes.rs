// SPDX-License-Identifier: GPL-2.0-or-later
//! Which process runs, of a guest whose kernel is described (`core/processes.rs`).

use super::follower::{ArmGuest, Follower};
use super::memory::Memory;
use crate::core::observer::Observer;
use crate::core::processes::Reads;
use cobnut_model::{PhysicalMemory, Tables};
use cobnut_trace::Mode;

impl Reads for Memory {
    fn word(&mut self, at: u32) -> Option<u32> {
        let mva = self.mva(at);
        let physical = self.walk(mva)?.physical(mva);
        PhysicalMemory::word(self, physical)
    }

    /// There are none.
    fn segment(&mut self, _selector: u32) -> u32 {
        0
    }
}

impl<O: Observer<ArmGuest>> Follower<O> {
    /// The kernel was left, or has written the pointer to the running task: looks who runs.
    pub(super) fn look_at_processes(&mut self) {
        if self.processes.look(&mut self.memory) {
            let markers = self.processes.present().map(|process| self.regions.switched(process));
            self.mark(markers.unwrap_or_default());
        }
    }

    /// User code runs: whose its space is.
    pub(super) fn name_space(&mut self) {
        let now = (self.memory.table_base, self.memory.process_id, self.processes.changes());
        if self.named != Some(now) {
            self.named = Some(now);
            if let Some(name) = self.processes.present().map(|process| process.to_string()) {
                self.observer.process(&name);
            }
        }
    }

    /// The running code has written this word.
    pub(super) fn written(&mut self, address: u32, mode: Mode) {
        if mode == Mode::Kernel && self.processes.is_pointer(address) {
            self.look_at_processes();
        }
    }
}
