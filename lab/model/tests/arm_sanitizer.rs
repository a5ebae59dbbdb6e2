// SPDX-License-Identifier: GPL-2.0-or-later
//! What the sanitizer for ARM makes of tables, virtual caches and their maintenance. The tables are at 0x4000, second
//! levels at 0x8000 and 0x9000; the kernel's own memory is seen at its physical address plus 0xc0000000, by sections.

use cobnut_model::arm::sanitizer::{Access, Sanitizer, View};
use cobnut_model::arm::{Operation, Side};
use cobnut_model::{Linear, Mistake, Physical, PhysicalMemory};
use std::cell::RefCell;
use std::collections::HashMap;

const TABLES: u32 = 0x4000;
const SECOND: u32 = 0x8000;
const OTHER: u32 = 0x9000;
const WINDOW: u32 = 0xc000_0000;
const PAGE: u32 = 0x0010_0000;
const FRAME: u32 = 0x0003_0000;
/// Small pages, cached and buffered: users may read, and write.
const READ: u32 = 0xaae;
const WRITE: u32 = 0xffe;
const DOMAIN: u32 = 1 << 5;
/// The kernel is a client of domain 0, and users' domain 1 is open.
const OPEN: u32 = 5;

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
    table_base: u32,
    domain_access: u32,
}

impl Guest {
    /// `PAGE` leads to `FRAME`, and may be written by all.
    fn new() -> Self {
        let guest = Guest {
            memory: Words::default(),
            sanitizer: Sanitizer::default(),
            table_base: TABLES,
            domain_access: OPEN,
        };
        for base in [TABLES, 2 * TABLES + 0x8000] {
            guest.put(base + (WINDOW >> 18), 0x41e);
            guest.put(base + (PAGE >> 18), SECOND | DOMAIN | 1);
        }
        guest.put(SECOND, FRAME | WRITE);
        guest.start()
    }

    fn start(mut self) -> Self {
        let Guest { memory, table_base, domain_access, sanitizer } = &mut self;
        sanitizer.start(View { memory, table_base: Physical(*table_base), domain_access: *domain_access });
        self
    }

    fn put(&self, at: u32, value: u32) {
        self.memory.0.borrow_mut().insert(at, value);
    }

    fn access(&mut self, instruction: u32, mva: u32, write: bool) {
        let Guest { memory, table_base, domain_access, sanitizer } = self;
        let view = View { memory, table_base: Physical(*table_base), domain_access: *domain_access };
        sanitizer.access(&Access { instruction, mva: Linear(mva), write, user: mva < WINDOW }, view);
    }

    fn read(&mut self, mva: u32) {
        self.access(0x100, mva, false);
    }

    fn write(&mut self, mva: u32) {
        self.access(0x200, mva, true);
    }

    fn fetch(&mut self, mva: u32) {
        let Guest { memory, table_base, domain_access, sanitizer } = self;
        let view = View { memory, table_base: Physical(*table_base), domain_access: *domain_access };
        sanitizer.fetch(&Access { instruction: mva, mva: Linear(mva), write: false, user: true }, 4, view);
    }

    /// The kernel stores to physical memory by its window.
    fn store(&mut self, physical: u32, value: u32) {
        self.put(physical, value);
        self.access(0x300, WINDOW + physical, true);
    }

    /// Likewise, and makes it seen by the table walk.
    fn set(&mut self, physical: u32, value: u32) {
        self.store(physical, value);
        self.operate(Operation::CleanLine, WINDOW + physical);
        self.operate(Operation::DrainWriteBuffer, 0);
    }

    /// The sixteen entries of a large page at `PAGE`.
    fn set_large(&mut self, frames: [u32; 16]) {
        for (at, frame) in (SECOND..).step_by(4).zip(frames) {
            self.set(at, frame | WRITE & !3 | 1);
        }
    }

    fn operate(&mut self, operation: Operation, operand: u32) {
        self.operate_at(0x400, operation, operand);
    }

    fn operate_at(&mut self, instruction: u32, operation: Operation, operand: u32) {
        let Guest { memory, table_base, domain_access, sanitizer } = self;
        let view = View { memory, table_base: Physical(*table_base), domain_access: *domain_access };
        sanitizer.operation(operation, operand, instruction, view);
    }

    fn fault(&mut self, mva: u32, write: bool) {
        let Guest { memory, table_base, domain_access, sanitizer } = self;
        let view = View { memory, table_base: Physical(*table_base), domain_access: *domain_access };
        sanitizer.faulted(&Access { instruction: 0x500, mva: Linear(mva), write, user: true }, Side::Data, view);
    }

    fn resume(&mut self) {
        let Guest { memory, table_base, domain_access, sanitizer } = self;
        sanitizer.user_resumed(View { memory, table_base: Physical(*table_base), domain_access: *domain_access });
    }

    fn kinds(&self) -> Vec<&str> {
        self.sanitizer.reports.list().iter().map(|report| report.kind.name()).collect()
    }
}

#[test]
fn ordinary_work_is_quiet() {
    let mut guest = Guest::new();
    guest.write(PAGE);
    guest.read(PAGE);
    guest.fetch(PAGE + 0x40);
    guest.set(SECOND + 4, 0x0005_0000 | WRITE);
    guest.write(PAGE + 0x1000);
    assert!(guest.kinds().is_empty(), "{:?}", guest.kinds());
}

#[test]
fn a_changed_entry_needs_its_invalidation() {
    for (invalidated, expected) in [(false, vec!["stale-translation"]), (true, vec![])] {
        let mut guest = Guest::new();
        guest.read(PAGE);
        guest.operate(Operation::CleanInvalidateLine, PAGE);
        guest.set(SECOND, 0x0005_0000 | WRITE);
        if invalidated {
            guest.operate(Operation::InvalidateTlbEntry(Side::Data), PAGE);
        }
        guest.read(PAGE);
        assert_eq!(guest.kinds(), expected);
    }
}

/// A large page's entry stands sixteen times: what was walked through one of them serves all of it, and goes as a
/// whole.
#[test]
fn a_large_page_is_lost_and_invalidated_as_a_whole() {
    for (invalidated, expected) in [
        (None, vec!["stale-translation"]),
        (Some(PAGE + 0x7000), vec![]),
        (Some(PAGE + 0x10000), vec!["stale-translation"]),
    ] {
        let mut guest = Guest::new();
        guest.set_large([FRAME; 16]);
        guest.operate(Operation::InvalidateTlb(Side::Both), 0);
        guest.read(PAGE + 0x3000);
        guest.operate(Operation::CleanInvalidateLine, PAGE + 0x3000);
        guest.set_large([0x0005_0000; 16]);
        if let Some(mva) = invalidated {
            guest.operate(Operation::InvalidateTlbEntry(Side::Both), mva);
        }
        guest.read(PAGE + 0x3000);
        assert_eq!(guest.kinds(), expected);
    }
}

/// One of the sixteen alone: the page's other addresses may have been walked through it.
#[test]
fn one_entry_of_a_large_page_serves_all_of_it() {
    let mut guest = Guest::new();
    let mut frames = [FRAME; 16];
    frames[15] = 0x0005_0000;
    guest.set_large(frames);
    guest.operate(Operation::InvalidateTlb(Side::Both), 0);
    guest.set_large([FRAME; 16]);
    guest.read(PAGE);
    assert_eq!(guest.kinds(), ["stale-translation"]);
}

/// A section that becomes a table with other pages.
#[test]
fn a_section_becomes_a_table() {
    for (invalidated, expected) in [(false, vec!["stale-translation"]), (true, vec![])] {
        let guest = Guest::new();
        guest.put(TABLES + (PAGE >> 18), 0x0070_0c1e | DOMAIN);
        let mut guest = guest.start();
        guest.read(PAGE + 0x5000);
        guest.operate(Operation::CleanInvalidateLine, PAGE + 0x5000);
        for number in 0..256 {
            guest.set(SECOND + 4 * number, (0x0070_0000 + (number << 12)) | WRITE);
        }
        guest.set(SECOND + 4 * 5, 0);
        guest.set(TABLES + (PAGE >> 18), SECOND | DOMAIN | 1);
        if invalidated {
            guest.operate(Operation::InvalidateTlbEntry(Side::Both), PAGE);
        }
        guest.read(PAGE + 0x4000);
        guest.fault(PAGE + 0x5000, false);
        guest.set(SECOND + 4 * 5, 0x0001_0000 | WRITE);
        guest.resume();
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn the_other_side_of_the_tlb_keeps_its_entry() {
    let mut guest = Guest::new();
    guest.set(SECOND, 0x0005_0000 | WRITE);
    guest.operate(Operation::InvalidateTlbEntry(Side::Data), PAGE);
    guest.read(PAGE);
    assert!(guest.kinds().is_empty());
    guest.fetch(PAGE + 0x100);
    assert_eq!(guest.kinds(), ["stale-translation"]);
}

#[test]
fn an_invalidation_before_the_entry_is_in_memory_is_void() {
    let mut guest = Guest::new();
    guest.store(SECOND, 0x0005_0000 | WRITE);
    guest.operate(Operation::InvalidateTlb(Side::Both), 0);
    guest.operate(Operation::CleanLine, WINDOW + SECOND);
    guest.operate(Operation::DrainWriteBuffer, 0);
    guest.read(PAGE);
    assert_eq!(guest.kinds(), ["stale-translation"]);
}

#[test]
fn walks_do_not_look_into_the_cache_or_the_write_buffer() {
    for (operations, expected) in [
        (&[][..], vec!["uncleaned-entry"]),
        (&[Operation::CleanLine][..], vec!["uncleaned-entry"]),
        (&[Operation::CleanLine, Operation::DrainWriteBuffer][..], vec![]),
    ] {
        let mut guest = Guest::new();
        guest.store(SECOND + 4, 0x0005_0000 | WRITE);
        operations.iter().for_each(|&operation| guest.operate(operation, WINDOW + SECOND + 4));
        guest.read(PAGE + 0x1000);
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn a_right_that_was_added_may_be_refused() {
    let mut guest = Guest::new();
    guest.set(SECOND, FRAME | READ);
    guest.operate(Operation::InvalidateTlb(Side::Both), 0);
    guest.set(SECOND, FRAME | WRITE);
    guest.write(PAGE);
    assert_eq!(guest.kinds(), ["stale-refusal"]);
}

#[test]
fn an_entry_keeps_the_domain_that_it_was_walked_with() {
    let mut guest = Guest::new();
    guest.set(TABLES + (PAGE >> 18), SECOND | 2 << 5 | 1);
    guest.domain_access = 0x11;
    guest.operate(Operation::DomainAccess, OPEN);
    guest.read(PAGE);
    assert_eq!(guest.kinds(), ["stale-refusal"], "the old domain is closed");
    guest.domain_access = 0x5;
    guest.operate(Operation::DomainAccess, 0x11);
    guest.fault(PAGE, false);
    guest.resume();
    assert_eq!(guest.kinds()[1..], [] as [&str; 0], "what was cached and what the tables say is the same frame");
    guest.set(TABLES + (PAGE >> 18), OTHER | 2 << 5 | 1);
    guest.fault(PAGE, false);
    guest.resume();
    assert_eq!(guest.kinds()[1..], ["stale-translation"], "another space's page, by the domain that is open");
}

#[test]
fn other_tables_leave_what_is_cached() {
    let other = 2 * TABLES + 0x8000;
    for (flushed, expected) in [(false, vec!["stale-tables"]), (true, vec![])] {
        let mut guest = Guest::new();
        guest.put(other + (PAGE >> 18), OTHER | DOMAIN | 1);
        guest.put(OTHER, 0x0006_0000 | WRITE);
        let old = std::mem::replace(&mut guest.table_base, other);
        guest.operate(Operation::TableBase, old);
        guest.read(WINDOW + 0x7000);
        if flushed {
            guest.operate(Operation::InvalidateTlb(Side::Both), 0);
        }
        guest.read(PAGE);
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn a_fault_that_a_stale_entry_would_have_spared() {
    for (answer, expected) in [(FRAME | WRITE, vec![]), (0, vec!["stale-translation"])] {
        let mut guest = Guest::new();
        guest.set(SECOND, 0);
        guest.fault(PAGE, true);
        guest.set(SECOND, answer);
        guest.resume();
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn one_frame_at_two_addresses() {
    let mut guest = Guest::new();
    guest.read(PAGE);
    guest.read(WINDOW + FRAME);
    assert!(guest.kinds().is_empty(), "both are clean");
    guest.write(PAGE);
    guest.read(WINDOW + FRAME + 4);
    assert_eq!(guest.kinds(), ["old-line", "dirty-alias"]);
}

#[test]
fn a_line_cleaned_by_its_own_address_only() {
    for (cleaned, expected) in [(PAGE, vec![]), (WINDOW + FRAME, vec!["dirty-alias"])] {
        let mut guest = Guest::new();
        guest.write(PAGE);
        guest.operate(Operation::CleanInvalidateLine, cleaned);
        guest.read(WINDOW + FRAME);
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn a_copy_grows_old() {
    let mut guest = Guest::new();
    guest.read(PAGE);
    guest.write(WINDOW + FRAME);
    guest.operate(Operation::CleanInvalidateLine, WINDOW + FRAME);
    guest.read(PAGE);
    assert_eq!(guest.kinds(), ["old-line"]);
}

#[test]
fn a_page_that_leads_elsewhere_finds_the_old_lines() {
    let mut guest = Guest::new();
    guest.read(PAGE + 0x20);
    guest.set(SECOND, 0x0005_0000 | WRITE);
    guest.operate(Operation::InvalidateTlb(Side::Both), 0);
    guest.read(PAGE);
    assert!(guest.kinds().is_empty(), "another line");
    guest.read(PAGE + 0x20);
    assert_eq!(guest.kinds(), ["foreign-line"]);
}

#[test]
fn what_is_dropped_dirty_is_lost_until_it_is_written_again() {
    let mut guest = Guest::new();
    guest.write(PAGE);
    guest.write(PAGE + 4);
    guest.operate(Operation::InvalidateCache(Side::Data), 0);
    guest.read(PAGE + 8);
    guest.write(PAGE + 4);
    guest.read(PAGE + 4);
    assert!(guest.kinds().is_empty());
    guest.read(PAGE);
    assert_eq!(guest.kinds(), ["lost-line"]);
}

#[test]
fn a_cache_is_cleaned_by_reading_as_much_as_it_holds() {
    const AREA: u32 = WINDOW + 0x0002_0000;
    for (lines, again, expected) in [
        (256, false, vec![]),
        (255, false, vec!["lost-line"]),
        (256, true, vec!["lost-line"]),
        (511, true, vec!["lost-line"]),
        (512, true, vec![]),
    ] {
        let mut guest = Guest::new();
        guest.write(PAGE);
        if again {
            (0..512).step_by(8).for_each(|line| guest.read(AREA + 32 * line)); // all of one set
        }
        (0..lines).for_each(|line| guest.read(AREA + 32 * line));
        guest.operate(Operation::InvalidateCache(Side::Data), 0);
        guest.read(PAGE);
        assert_eq!(guest.kinds(), expected, "{lines} lines, {again}");
    }
}

#[test]
fn what_was_read_to_clean_the_cache_has_taken_its_place() {
    const AREA: u32 = WINDOW + 0x0002_0000;
    let sweep = |guest: &mut Guest| (0..256).for_each(|line| guest.read(AREA + 32 * line));
    let elsewhere = |guest: &mut Guest| {
        guest.set(SECOND, 0x0005_0000 | WRITE);
        guest.operate(Operation::InvalidateTlb(Side::Both), 0);
        guest.read(PAGE);
    };
    let mut guest = Guest::new();
    guest.read(PAGE);
    sweep(&mut guest);
    elsewhere(&mut guest);
    assert!(guest.kinds().is_empty());
    let mut guest = Guest::new();
    guest.operate(Operation::TestClean, 0);
    guest.read(PAGE);
    sweep(&mut guest);
    elsewhere(&mut guest);
    assert_eq!(guest.kinds(), ["foreign-line"], "a processor that has an operation for it replaces lines as it likes");
}

#[test]
fn lines_that_a_mini_cache_serves_make_room_for_each_other() {
    let copied = |lines: u32| {
        let mut guest = Guest::new();
        guest.set(SECOND, FRAME | WRITE & !4); // cached, not buffered
        guest.operate(Operation::InvalidateTlb(Side::Both), 0);
        (0..lines).for_each(|line| guest.read(PAGE + 32 * line));
        guest.set(SECOND, 0x0005_0000 | WRITE & !4);
        guest.operate(Operation::InvalidateTlb(Side::Both), 0);
        guest.read(PAGE);
        guest.kinds().len()
    };
    assert_eq!((copied(16), copied(17)), (1, 0), "two of each of its eight sets");
}

#[test]
fn code_is_fetched_from_memory_and_kept() {
    let mut guest = Guest::new();
    guest.write(PAGE);
    guest.fetch(PAGE);
    assert_eq!(guest.kinds(), ["uncleaned-code"]);
    let mut guest = Guest::new();
    guest.fetch(PAGE);
    guest.write(PAGE);
    guest.operate(Operation::CleanLine, PAGE);
    guest.operate(Operation::DrainWriteBuffer, 0);
    guest.fetch(PAGE);
    assert_eq!(guest.kinds(), ["old-code"]);
    guest.operate(Operation::InvalidateCache(Side::Code), 0);
    guest.fetch(PAGE);
    assert_eq!(guest.kinds().len(), 1);
}

#[test]
fn code_of_another_frame() {
    let mut guest = Guest::new();
    guest.fetch(PAGE);
    guest.set(SECOND, 0x0005_0000 | WRITE);
    guest.operate(Operation::InvalidateTlb(Side::Both), 0);
    guest.fetch(PAGE);
    assert_eq!(guest.kinds(), ["foreign-code"]);
}

/// `PAGE` of users is buffered, or not even that, and not cached.
fn uncached(buffered: bool) -> Guest {
    let guest = Guest::new();
    guest.put(SECOND, FRAME | WRITE & !0xc | (buffered as u32) << 2);
    guest
}

#[test]
fn what_is_buffered_is_drained_before_it_is_fetched() {
    for (drain, expected) in [(false, vec!["uncleaned-code"]), (true, vec![])] {
        let mut guest = uncached(true).start();
        guest.write(PAGE);
        guest.read(PAGE);
        if drain {
            guest.operate(Operation::DrainWriteBuffer, 0);
        }
        guest.fetch(PAGE);
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn a_read_past_the_write_buffer() {
    for (drain, expected) in [(false, vec!["undrained"]), (true, vec![])] {
        let mut guest = uncached(false).start();
        guest.store(FRAME, 1);
        guest.operate(Operation::CleanInvalidateLine, WINDOW + FRAME);
        if drain {
            guest.operate(Operation::DrainWriteBuffer, 0);
        }
        guest.read(PAGE);
        assert_eq!(guest.kinds(), expected);
    }
}

#[test]
fn a_drain_is_needed_by_what_is_read_before_the_next() {
    let mut guest = Guest::new();
    for fetched in [false, true] {
        guest.write(PAGE);
        guest.operate(Operation::CleanLine, PAGE);
        guest.operate_at(0x404, Operation::DrainWriteBuffer, 0);
        if fetched {
            guest.fetch(PAGE);
        }
    }
    guest.operate_at(0x404, Operation::DrainWriteBuffer, 0);
    let drain =
        guest.sanitizer.invalidators().iter().find(|known| known.operation == Operation::DrainWriteBuffer).unwrap();
    assert_eq!((drain.executed, drain.needed), (3, 1));
}

#[test]
fn stores_that_only_clear_are_known() {
    let mut guest = Guest::new();
    guest.sanitizer.watched = vec![(Linear(WINDOW + FRAME), 4)];
    for value in [6, 2, 0] {
        guest.put(FRAME, value);
        guest.access(0x300 + value, WINDOW + FRAME, true);
    }
    let cleared: Vec<_> = guest.sanitizer.marks().iter().map(|mark| (mark.instruction, mark.cleared)).collect();
    assert_eq!(cleared, [(0x306, 0), (0x302, 1), (0x300, 1)]);
}
