// SPDX-License-Identifier: GPL-2.0-or-later
//! The guest's descriptor tables: which vector an entry point belongs to, and segment bases.
//!
//! QEMU offers neither the table registers nor the bases, so lgdt and lidt are watched and the tables read from guest
//! memory.

use super::memory::Memory;
use cobnut_model::ia32::sanitizer::Segment;
use cobnut_model::Linear;
use std::collections::HashMap;

const VECTORS: u32 = 256;
/// Vectors below this are exceptions, except the non-maskable interrupt.
pub const FIRST_INTERRUPT: u8 = 32;
const NMI: u8 = 2;
/// Type of a descriptor of the interrupt table, in its second word from bit 8 (SDM volume 3, 6.11).
const TYPE: u32 = 0x1f;
const TASK_GATE: u32 = 5;
/// Exceptions that push an error code (SDM volume 3, 6.13): 8, 10 to 14, 17.
const WITH_ERROR_CODE: u32 = 1 << 8 | 0x1f << 10 | 1 << 17;
pub const PAGE_FAULT: u8 = 14;
const SEGMENT_PRESENT: u32 = 1 << 15;
/// Of a selector: the local descriptor table.
const LOCAL: u32 = 4;

#[derive(Default)]
pub struct Descriptors {
    gdt: Linear,
    idt: Linear,
    /// Vectors by entry point.
    handlers: HashMap<Linear, Vec<u8>>,
    /// One bit for each low 12 bits of an entry point: most addresses are ruled out here.
    filter: Vec<u64>,
    stale: bool,
}

/// Whether a vector is an exception rather than an external interrupt.
pub fn is_fault(vector: u8) -> bool {
    vector < FIRST_INTERRUPT && vector != NMI
}

pub fn pushes_error_code(vector: u8) -> bool {
    vector < FIRST_INTERRUPT && WITH_ERROR_CODE >> vector & 1 == 1
}

impl Descriptors {
    pub fn set_gdt(&mut self, base: Linear) {
        self.gdt = base;
    }

    pub fn set_idt(&mut self, base: Linear) {
        self.idt = base;
        self.stale = true;
    }

    /// A write to memory: to the interrupt table?
    #[inline]
    pub fn written(&mut self, linear: Linear) {
        if linear.minus(self.idt) < 8 * VECTORS {
            self.stale = true;
        }
    }

    /// The table may have changed: it is read again before it is next asked.
    pub fn refresh_later(&mut self) {
        self.stale = true;
    }

    /// Vectors whose gate leads to `linear` (kernel code segments have base 0).
    #[inline]
    pub fn vectors(&mut self, linear: Linear, memory: &mut Memory) -> &[u8] {
        if self.stale {
            self.read_idt(memory);
        }
        let bit = linear.within() as usize;
        match self.filter.get(bit / 64) {
            Some(word) if word >> (bit % 64) & 1 == 1 => self.handlers.get(&linear).map_or(&[], |v| v),
            _ => &[],
        }
    }

    fn read_idt(&mut self, memory: &mut Memory) {
        self.stale = false;
        self.handlers.clear();
        self.filter = vec![0; 64];
        if self.idt == Linear(0) {
            return;
        }
        for vector in 0..VECTORS {
            let gate = self.idt.plus(8 * vector);
            let (Some(low), Some(high)) = (memory.read_linear(gate), memory.read_linear(gate.plus(4))) else {
                continue;
            };
            // a task gate names no entry point
            if high >> 15 & 1 == 0 || high >> 8 & TYPE == TASK_GATE {
                continue;
            }
            let entry = Linear(low & 0xffff | high & 0xffff_0000);
            self.handlers.entry(entry).or_default().push(vector as u8);
            let bit = entry.within() as usize;
            self.filter[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Base of the segment that `selector` names in the GDT; 0 for others.
    pub fn base(&self, selector: u32, memory: &mut Memory) -> Linear {
        self.segment(selector, memory).map_or(Linear(0), |segment| segment.base)
    }

    /// The segment that `selector` names in the GDT, if it is present.
    pub fn segment(&self, selector: u32, memory: &mut Memory) -> Option<Segment> {
        if selector & LOCAL != 0 || selector & !7 == 0 {
            return None;
        }
        let at = self.gdt.plus(selector & !7);
        let (low, high) = (memory.read_linear(at)?, memory.read_linear(at.plus(4))?);
        (high & SEGMENT_PRESENT != 0).then(|| Segment::of(selector, low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ram::Ram;
    use cobnut_model::Physical;

    #[test]
    fn gates_name_their_entry_points_and_a_task_gate_names_none() {
        let (table, entry) = (0x1000_u32, 0x0010_2030_u32);
        let mut ram = vec![0u8; 0x2000];
        for (vector, kind) in [(3, 0xee_u32), (8, 0x85), (13, 0x8f), (14, 0x8e), (15, 0x0e)] {
            let at = (table + 8 * vector) as usize;
            let own = if vector == 14 { entry + 0x40 } else { entry };
            ram[at..at + 4].copy_from_slice(&(0x8 << 16 | own & 0xffff).to_le_bytes());
            ram[at + 4..at + 8].copy_from_slice(&(own & 0xffff_0000 | kind << 8).to_le_bytes());
        }
        let file = std::env::temp_dir().join(format!("cobnut-gates-{}", std::process::id()));
        std::fs::write(&file, ram).unwrap();
        let mut memory = Memory::new(Ram::map(&file, Physical(0)).unwrap());
        std::fs::remove_file(&file).unwrap();
        let mut descriptors = Descriptors::default();
        descriptors.set_idt(Linear(table));
        assert_eq!(
            descriptors.vectors(Linear(entry), &mut memory),
            [3, 13],
            "neither the task gate nor what is not present"
        );
        assert_eq!(descriptors.vectors(Linear(entry + 0x40), &mut memory), [PAGE_FAULT]);
    }
}
