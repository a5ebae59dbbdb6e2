// SPDX-License-Identifier: GPL-2.0-or-later
//! What the sanitizer makes of page tables in a memory of words: a directory at 0x1000 in force, one table behind it.

use cobnut_model::ia32::sanitizer::{Access, Sanitizer};
use cobnut_model::{Linear, Mistake, Physical, PhysicalMemory};
use std::cell::RefCell;
use std::collections::HashMap;

const PAGING: u32 = 1 << 31 | 1 << 16;
const DIRECTORY: u32 = 0x1000;
const TABLE: u32 = 0x2000;
const OTHER: u32 = 0x3000;
const PAGE: u32 = 0x0040_0000;
const USER_WRITABLE: u32 = 7;
const USER_ONLY: u32 = 5;
const GLOBAL: u32 = 1 << 8;

#[derive(Default)]
struct Words(RefCell<HashMap<u32, u32>>);

impl PhysicalMemory for Words {
    fn word(&self, Physical(physical): Physical) -> Option<u32> {
        Some(self.0.borrow().get(&physical).copied().unwrap_or(0))
    }
}

struct Guest {
    memory: Words,
    sanitizer: Sanitizer,
}

impl Guest {
    fn new() -> Self {
        let mut guest = Guest { memory: Words::default(), sanitizer: Sanitizer::new() };
        guest.memory.0.borrow_mut().insert(DIRECTORY + 4, TABLE | USER_WRITABLE);
        guest.memory.0.borrow_mut().insert(TABLE, 0x9000 | USER_ONLY);
        guest.load(DIRECTORY);
        guest
    }

    fn load(&mut self, directory: u32) {
        self.sanitizer.control_written(1, true, [PAGING, directory, 0], &self.memory);
    }

    fn store(&mut self, at: u32, value: u32) {
        self.memory.0.borrow_mut().insert(at, value);
        self.sanitizer.stored(2, Physical(at), 4, &self.memory);
    }

    fn wipe(&mut self, page: u32) {
        for word in 0..1024 {
            self.store(page + 4 * word, 0);
        }
    }

    fn touch(&mut self, write: bool, moved: bool) {
        let access = Access { instruction: PAGE, linear: Linear(PAGE), size: 4, write, user: true, moved };
        self.sanitizer.access(&access, &self.memory);
    }

    fn global_bits_erased(&self) -> u64 {
        self.sanitizer.erasers().iter().map(|eraser| eraser.global_bits).sum()
    }

    fn kinds(&self) -> Vec<&str> {
        self.sanitizer.reports.list().iter().map(|report| report.kind.name()).collect()
    }
}

#[test]
fn a_copy_that_leads_to_a_wiped_table_is_stale() {
    let mut guest = Guest::new();
    guest.touch(false, true);
    guest.wipe(TABLE);
    guest.store(TABLE, 0xa000 | USER_ONLY);
    guest.load(DIRECTORY);
    guest.touch(false, true);
    assert_eq!(guest.kinds(), ["stale-copy"]);
}

#[test]
fn a_copy_made_after_the_wiping_is_right() {
    let mut guest = Guest::new();
    guest.touch(false, true);
    guest.store(DIRECTORY + 4, 0);
    guest.wipe(TABLE);
    guest.store(TABLE, 0xa000 | USER_ONLY);
    guest.store(DIRECTORY + 4, TABLE | USER_WRITABLE);
    guest.load(DIRECTORY);
    guest.touch(false, true);
    assert_eq!(guest.kinds(), [""; 0]);
}

#[test]
fn a_table_that_is_emptied_entry_by_entry_is_not_wiped() {
    let mut guest = Guest::new();
    guest.touch(false, true);
    for word in 0..1024 {
        guest.store(TABLE + 4 * word, 0);
        guest.sanitizer.invlpg(3, Linear(PAGE + 0x1000 * word));
    }
    guest.store(TABLE, 0xa000 | USER_ONLY);
    guest.touch(false, true);
    assert_eq!(guest.kinds(), [""; 0]);
}

#[test]
fn a_wiped_page_is_no_directory_any_more() {
    let mut guest = Guest::new();
    guest.memory.0.borrow_mut().insert(OTHER + 4, TABLE | USER_WRITABLE);
    guest.load(OTHER);
    guest.load(DIRECTORY);
    assert!(guest.sanitizer.watches(Physical(OTHER)));
    guest.wipe(OTHER);
    assert!(!guest.sanitizer.watches(Physical(OTHER)) && guest.sanitizer.watches(Physical(DIRECTORY)));
    guest.wipe(DIRECTORY);
    assert!(guest.sanitizer.watches(Physical(DIRECTORY)), "in force");
}

#[test]
fn how_a_page_is_cached_is_part_of_its_translation() {
    let mut guest = Guest::new();
    guest.store(TABLE, 0x9000 | USER_ONLY | 1 << 4);
    guest.touch(false, false);
    assert_eq!(guest.kinds(), ["stale-translation"]);
    guest = Guest::new();
    guest.store(TABLE, 0x9000 | USER_ONLY | 1 << 4);
    guest.sanitizer.invlpg(3, Linear(PAGE));
    guest.touch(false, false);
    assert_eq!(guest.kinds(), [""; 0]);
}

#[test]
fn a_right_that_may_come_late_is_counted_until_the_page_is_invalidated() {
    let mut guest = Guest::new();
    guest.store(TABLE, 0x9000 | USER_WRITABLE);
    guest.touch(false, false);
    assert_eq!(guest.sanitizer.counts.late_rights, 0);
    guest.touch(true, false);
    assert_eq!(guest.sanitizer.counts.late_rights, 1);
    guest.sanitizer.invlpg(3, Linear(PAGE));
    guest.touch(true, false);
    assert_eq!((guest.sanitizer.counts.late_rights, guest.kinds()), (1, vec![]));
    assert_eq!((guest.sanitizer.counts.losses, guest.sanitizer.invalidators()[1].needed), (0, 1));
}

#[test]
fn a_global_bit_is_erased_where_nothing_else_changes() {
    let mut guest = Guest::new();
    guest.store(TABLE, 0x9000 | USER_ONLY | GLOBAL);
    guest.store(TABLE, 0x9000 | USER_ONLY);
    assert_eq!(guest.global_bits_erased(), 1);
    guest.store(TABLE, 0x1F1); // a number
    guest.store(TABLE, 0x203);
    assert_eq!(guest.global_bits_erased(), 1);
}
