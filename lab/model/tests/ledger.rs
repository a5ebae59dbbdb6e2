// SPDX-License-Identifier: GPL-2.0-or-later
//! 4xx: costs and the ledger.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::Code;
use cobnut_model::*;
use common::*;

fn fetch(machine: &mut Machine, class: Class) {
    let event = Event::Fetch { linear: Linear(0x20_0000), instruction: instruction(class, 2) };
    machine.event(&event, &mut Identity::default());
}

#[test]
fn t401_rows_add_up_to_the_total() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    for (class, _) in CLASSES {
        fetch(&mut machine, class);
    }
    sweep(&mut machine, &mut tables, 0x40_0000, 200);
    machine.event(&Event::Entry(EntryKind::Fault), &mut tables);
    machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut tables);
    let rows: u64 = CATEGORIES.iter().map(|&(c, _)| machine.ledger().row(c)).sum();
    assert_eq!(rows, machine.ledger().total());
    assert!(rows > 0);
}

#[test]
fn t402_whole_cycles_of_consecutive_spans_add_up() {
    let mut ledger = Ledger::default();
    let origin = ledger;
    let mut last = [0; CATEGORIES.len()];
    let mut sum = [0; CATEGORIES.len()];
    for _ in 0..10 {
        ledger.add(Category::Instructions, 333);
        ledger.add(Category::Flush, 480_000);
        let now = ledger.whole_cycles_since(&origin);
        (0..CATEGORIES.len()).for_each(|i| sum[i] += now[i] - last[i]);
        last = now;
    }
    assert_eq!(sum, ledger.whole_cycles_since(&origin));
    assert_eq!(sum[Category::Instructions as usize], 3);
}

#[test]
fn t403_direct_costs_are_those_of_the_paper() {
    let cost = |classes: &[Class], category| {
        let mut machine = Machine::new(&pentium4(&[]));
        classes.iter().for_each(|&c| fetch(&mut machine, c));
        machine.ledger().row(category)
    };
    assert_eq!(cost(&[Class::Cr3Write], Category::Flush), 480_000);
    assert_eq!(cost(&[Class::Sysenter, Class::Sysexit], Category::KernelEntryExit), 166_000);
    let set = [[Class::SegmentLoad; 5].as_slice(), &[Class::FarReturn]].concat();
    assert_eq!(cost(&set, Category::SegmentReload).div_ceil(1000), 253, "the whole set, one far return among it");
}

#[test]
fn t404_refilling_a_whole_tlb_costs_what_the_paper_says() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    sweep(&mut machine, &mut tables, 0x40_0000, 64);
    machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut tables);
    let before = cycles(&machine, Category::TlbRefillData);
    sweep(&mut machine, &mut tables, 0x40_0000, 64);
    assert_eq!(
        cycles(&machine, Category::TlbRefillData) - before,
        3000,
        "page tables are in the second-level cache by now"
    );
    assert_eq!(machine.counts().dtlb_flushed_refills, 64);
}

#[test]
fn t405_a_walk_that_misses_the_cache_pays_memory() {
    let mut machine = Machine::new(&pentium4(&[]));
    sweep(&mut machine, &mut Identity::default(), 0x40_0000, 1);
    assert_eq!(machine.ledger().row(Category::TlbRefillData), 46_875 + 2 * 235_000);
    let mut constant = Machine::new(&pentium4(&["walker.reads_through:constant"]));
    sweep(&mut constant, &mut Identity::default(), 0x40_0000, 1);
    assert_eq!(constant.ledger().row(Category::TlbRefillData), 46_875);
}

#[test]
fn t406_retracting_takes_back_exactly_what_was_booked() {
    let mut machine = Machine::new(&pentium4(&[]));
    let code = [Class::Load, Class::Alu, Class::SegmentLoad].map(|c| instruction(c, 2)).to_vec();
    let block = Block::new(code, machine.costs());
    machine.block(&block, Linear(0x20_0000), &mut Identity::default());
    machine.retract(&block, 1..3);
    assert_eq!(machine.ledger().row(Category::Instructions), 2_000);
    assert_eq!(machine.ledger().row(Category::SegmentReload), 0);
}

#[test]
fn t407_an_access_over_two_lines_counts_twice() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    machine.event(&read_at(0x40_003e), &mut tables);
    assert_eq!(machine.ledger().row(Category::CacheRefill), 235_000 + 17_000, "the neighbour came with the same fill");
    machine.event(&read_at(0x40_0ffe), &mut tables);
    assert_eq!(machine.counts().dtlb_misses, 2, "the second part is on another page");
}

#[test]
fn t408_page_faults_and_invlpg_drop_one_page() {
    let mut machine = Machine::new(&pentium4(&[]));
    let mut tables = Identity::default();
    sweep(&mut machine, &mut tables, 0x40_0000, 3);
    machine.event(&Event::Invlpg { linear: Linear(0x40_0123) }, &mut tables);
    machine.event(&Event::PageFault { linear: Linear(0x40_1040) }, &mut tables);
    sweep(&mut machine, &mut tables, 0x40_0000, 3);
    assert_eq!(machine.counts().dtlb_misses, 5);
}

#[test]
fn t409_global_pages_survive_cr3_writes_once_cr4_says_so() {
    let refills = |enabled| {
        let mut machine = Machine::new(&pentium4(&[]));
        let mut tables = Identity { global_from: 0x40_0000, ..Default::default() };
        machine.event(&Event::ControlWrite { global_pages: enabled }, &mut tables);
        sweep(&mut machine, &mut tables, 0x40_0000, 8);
        machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut tables);
        sweep(&mut machine, &mut tables, 0x40_0000, 8);
        machine.counts().dtlb_misses
    };
    assert_eq!(refills(true), 8);
    assert_eq!(refills(false), 16);
}

#[test]
fn t410_an_instruction_cache_machine_works_without_trace_cache() {
    let text = PENTIUM4.replace("[trace_cache]", "[l1i]").replace("\"trace-build\"", "\"fetch\"");
    let start = text.find("[l1i]").unwrap();
    let end = start + text[start..].find("[l1d]").unwrap();
    let l1d_end = end + text[end..].find("[l2]").unwrap();
    let l1i =
        text[end..l1d_end].replace("[l1d]", "[l1i]").replace("write_policy", "# p").replace("write_allocate", "# a");
    let micro_ops = text.find("[micro_ops]").unwrap();
    let text = format!("{}{l1i}{}", &text[..start], &text[end..micro_ops]);
    let file = MachineFile::parse(&text, "test").unwrap();
    let mut machine = Machine::new(&file);
    let block = Block::new(vec![instruction(Class::Nop, 1); 130], machine.costs());
    (0..2).for_each(|_| machine.block(&block, Linear(0x20_0000), &mut Identity::default()));
    assert_eq!(machine.ledger().row(Category::CacheRefill), 2 * 235_000 + 17_000, "three lines in two fills, once");
    assert_eq!(machine.counts().itlb_misses, 1);
    assert_eq!(machine.counts().trace_misses, 0);
}

#[test]
fn t411_code_is_read_in_lines_of_the_second_level_cache() {
    let refills = |line: u32| {
        let set = [format!("l2.line_bytes:{line}"), "l2.lines_per_fill:1".into()];
        let mut machine = Machine::new(&pentium4(&set.each_ref().map(String::as_str)));
        let block = Block::new(vec![instruction(Class::Nop, 1); 128], machine.costs());
        machine.block(&block, Linear(0x20_0000), &mut Identity::default());
        machine.ledger().row(Category::CacheRefill) / 235_000
    };
    assert_eq!([32, 64, 128].map(refills), [4, 2, 1]);
}

#[test]
fn t412_without_a_second_level_a_store_pays_for_the_line_it_fetches() {
    let stores = |allocate: &str| {
        let start = PENTIUM4.find("[l2]").unwrap();
        let end = start + PENTIUM4[start..].find("[memory]").unwrap();
        let text = format!("{}{}", &PENTIUM4[..start], &PENTIUM4[end..]);
        let mut file = MachineFile::parse(&text.replace("value = \"l2\"", "value = \"constant\""), "test").unwrap();
        file.set(&format!("l1d.write_allocate:{allocate}")).unwrap();
        let mut machine = Machine::new(&file);
        for linear in [0x40_0000, 0x40_0004, 0x40_0040] {
            machine.event(&write_at(linear), &mut Identity::default());
        }
        machine.ledger().row(Category::CacheRefill)
    };
    assert_eq!(stores("true"), 2 * 235_000);
    assert_eq!(stores("false"), 0);
}

#[test]
fn t413_a_refill_costs_9_and_more_where_the_page_table_entries_are_not_cached() {
    // L95 table 1: 9 to 13, by whether the cache holds the entry. The directory's entry and the table's miss one line
    // each.
    for (name, dearest) in [("i486", 17), ("pentium-90", 17)] {
        let mut machine = Machine::new(&shipped(name, &[]));
        let mut tables = Identity::default();
        let mut refill = |machine: &mut Machine, linear: u32| {
            let before = machine.ledger().row(Category::TlbRefillData);
            machine.event(&Event::Read { linear: Linear(linear), physical: Physical(0x70_8840), size: 4 }, &mut tables);
            (machine.ledger().row(Category::TlbRefillData) - before) / MILLI
        };
        // Fills the second level with the entries of page 0x400 and pushes them out of the first, whose sets repeat
        // every 4 KB at most.
        let entry = 0x20_0000 + 0x400 * 4;
        refill(&mut machine, 0x40_0000);
        assert_eq!(refill(&mut machine, 0x40_1000), 9, "{name}: the neighbour's entries share the lines");
        machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut Identity::default());
        assert_eq!(refill(&mut machine, 0x40_0000), 9, "{name}: still in the first level");
        for way in 1..=8 {
            for physical in [entry + way * 4096, 0x10_0004 + (16 + way) * 4096] {
                machine.event(
                    &Event::Read { linear: Linear(0x50_0000), physical: Physical(physical), size: 4 },
                    &mut Identity::default(),
                );
            }
        }
        machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut Identity::default());
        assert_eq!(refill(&mut machine, 0x40_0000), dearest, "{name}: both in the second level only");
    }
}

#[test]
fn t414_direct_costs_are_those_that_l95_and_the_manuals_state() {
    let cost = |name: &str, classes: &[Class], category| {
        let mut machine = Machine::new(&shipped(name, &[]));
        classes.iter().for_each(|&c| fetch(&mut machine, c));
        machine.ledger().row(category) / MILLI
    };
    for (name, cr3, segment, entry, exit) in [("i486", 4, 9, 71, 36), ("pentium-90", 21, 3, 48, 27)] {
        assert_eq!(cost(name, &[Class::Cr3Write], Category::Flush), cr3);
        assert_eq!(cost(name, &[Class::SegmentLoad], Category::SegmentReload), segment);
        assert_eq!(cost(name, &[Class::Int], Category::KernelEntryExit), entry);
        assert_eq!(cost(name, &[Class::Iret], Category::KernelEntryExit), exit);
    }
}

#[test]
fn t415_a_taken_jump_may_cost_more() {
    let cost = |name: &str, target: u32| {
        let mut machine = Machine::new(&shipped(name, &[]));
        let jump = Event::Fetch { linear: Linear(0x20_0000), instruction: instruction(Class::Branch, 2) };
        machine.event(&jump, &mut Identity::default());
        let next = Event::Fetch { linear: Linear(target), instruction: instruction(Class::Halt, 1) };
        machine.event(&next, &mut Identity::default());
        machine.ledger().row(Category::Instructions) / MILLI
    };
    assert_eq!((cost("i486", 0x20_0002), cost("i486", 0x20_0008)), (1, 3));
    assert_eq!((cost("pentium-90", 0x20_0002), cost("pentium-90", 0x20_0008)), (1, 1));
}

#[test]
fn t416_a_store_that_no_level_allocates_fetches_nothing() {
    let mut machine = Machine::new(&shipped("pentium-90", &[]));
    for line in 0..8 {
        let linear = 0x40_0000 + line * 32;
        machine.event(&write_at(linear), &mut Identity::default());
    }
    assert_eq!(machine.ledger().row(Category::CacheRefill), 0);
}

#[test]
fn t417_a_fault_past_a_limit_costs_the_fault_and_the_kernels_path() {
    let mut machine = Machine::new(&pentium4(&["entry.fault_cycles:500", "entry.limit_fault_path_cycles:900"]));
    let mut tables = Identity::default();
    let fault = Event::LimitFault { linear: Linear(0x40_0000) };
    machine.event(&fault, &mut tables);
    machine.event(&fault, &mut tables);
    assert_eq!(cycles(&machine, Category::LimitFault), 2_800);
    assert_eq!(machine.ledger().total(), 2_800 * MILLI, "nothing else is known of it");
}

#[test]
fn t413_a_store_that_takes_no_line_costs_what_no_buffer_hides() {
    let stalls = |set: &[&str]| {
        let mut machine = Machine::new(&shipped("pentium-133", set));
        let mut tables = Identity::default();
        for event in [write_at(0x40_0000), write_at(0x40_0004), read_at(0x40_0000), write_at(0x40_0008)] {
            machine.event(&event, &mut tables);
        }
        cycles(&machine, Category::Stall)
    };
    assert_eq!(stalls(&[]), 0);
    assert_eq!(stalls(&["memory.store_cycles:4"]), 2 * 4, "the third finds the line that was read");
}
