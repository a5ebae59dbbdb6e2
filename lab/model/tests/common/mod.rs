// SPDX-License-Identifier: GPL-2.0-or-later
//! Ground for the numbered model tests: the real Pentium 4 file, and page tables that map everything.
#![allow(dead_code)]

use cobnut_model::ia32::*;
use cobnut_model::*;

pub const PENTIUM4: &str = include_str!("../../../machines/pentium4-1400.toml");

/// The Pentium 4 with some values set.
pub fn pentium4(changes: &[&str]) -> MachineFile {
    let mut file = MachineFile::parse(PENTIUM4, "pentium4-1400.toml").unwrap();
    for change in changes {
        file.set(change).unwrap();
    }
    file
}

/// A machine that comes with the project, with some values set.
pub fn shipped(name: &str, changes: &[&str]) -> MachineFile {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    let mut file = MachineFile::read(&folder.join(format!("{name}.toml"))).unwrap();
    for change in changes {
        file.set(change).unwrap();
    }
    file
}

/// Maps every page to the frame of the same number; pages from `global_from` on are global, from `large_from` on 4 MB.
#[derive(Clone, Copy)]
pub struct Identity {
    pub global_from: u32,
    pub large_from: u32,
    pub walks: u32,
}

impl Default for Identity {
    fn default() -> Self {
        Identity { global_from: u32::MAX, large_from: u32::MAX, walks: 0 }
    }
}

impl Tables<Walk> for Identity {
    fn walk(&mut self, linear: Linear) -> Option<Walk> {
        self.walks += 1;
        Some(Walk {
            frame: Physical(linear.0).frame(),
            large: linear.0 >= self.large_from,
            global: linear.0 >= self.global_from,
            entries: [Physical(0x10_0000 + (linear.0 >> 22) * 4), Physical(0x20_0000 + linear.page().0 * 4)],
        })
    }
}

/// Of a word where linear and physical addresses are the same.
pub fn read_at(address: u32) -> Event {
    Event::Read { linear: Linear(address), physical: Physical(address), size: 4 }
}

pub fn write_at(address: u32) -> Event {
    Event::Write { linear: Linear(address), physical: Physical(address), size: 4 }
}

pub fn instruction(class: Class, length: u8) -> Instruction {
    Instruction { length, class, issue: Issue::default() }
}

/// Reads one word of each of `pages` pages, a page and a line apart.
pub fn sweep(machine: &mut Machine, tables: &mut Identity, base: u32, pages: u32) {
    for page in 0..pages {
        machine.event(&read_at(base + page * 4160), tables);
    }
}

/// Fetches one instruction from each of `pages` pages.
pub fn jumps(machine: &mut Machine, tables: &mut Identity, base: u32, pages: u32) {
    for page in 0..pages {
        let instruction = instruction(Class::Alu, 2);
        machine.event(&Event::Fetch { linear: Linear(base + page * 4096), instruction }, tables);
    }
}

/// Whole cycles in a category.
pub fn cycles(machine: &Machine, category: Category) -> u64 {
    machine.ledger().row(category) / MILLI
}

/// A stream of numbers from a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32 % limit
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}
