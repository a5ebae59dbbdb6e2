// SPDX-License-Identifier: GPL-2.0-or-later
//! 7xx: machines with virtual caches (ARM).

use cobnut_model::arm::{translate, Block, Class, Instruction, Machine, Operation, Side, Translation, CLASSES};
use cobnut_model::{Category, Code, Linear, MachineFile, Physical, PhysicalMemory, Space, Tables, MILLI};
use std::collections::HashMap;
use std::path::Path;

fn file(name: &str) -> MachineFile {
    MachineFile::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../machines/{name}.toml"))).unwrap()
}

fn strongarm() -> Machine {
    Machine::new(&file("sa1100-200"))
}

/// Pages of 4 KB that lead to themselves; from 2 GB on uncached sections.
struct Identity;

impl Tables<Translation> for Identity {
    fn walk(&mut self, Linear(mva): Linear) -> Option<Translation> {
        let shift = if mva >> 31 == 1 { 20 } else { 12 };
        let frame = Physical(mva & !((1 << shift) - 1));
        let cached = mva >> 31 == 0;
        Some(Translation { frame, shift, access: 3, cached, buffered: cached, ..Translation::default() })
    }
}

const NOWHERE: Space = Space { directory: Physical(0), code_base: Linear(0) };

fn operate(machine: &mut Machine, operation: Operation, operand: u32) {
    machine.operation(operation, operand, 0x100, NOWHERE);
}

fn row(machine: &Machine, category: Category) -> u64 {
    machine.ledger().row(category) / MILLI
}

#[derive(Default)]
struct Words(HashMap<u32, u32>);

impl PhysicalMemory for Words {
    fn word(&self, Physical(physical): Physical) -> Option<u32> {
        Some(self.0.get(&physical).copied().unwrap_or(0))
    }
}

#[test]
fn t701_walks_find_sections_and_pages_of_each_size() {
    let words = [
        (0x4004, 0x0130_0c0a | 3 << 5), // section, domain 3, cached
        (0x4008, 0x8000 | 1 | 2 << 5),  // coarse
        (0x400c, 0x9000 | 3),           // fine
        (0x8004, 0x0055_0001 | 0xc4),   // large page: the second quarter may be written
        (0x8014, 0x0055_0001 | 0xc4),   // and so at each place that it takes
        (0x8040, 0x0066_6002 | 0xffc),  // small page
        (0x9004, 0x0077_7403 | 0x14),   // tiny page: 1 KB
    ];
    let memory = Words(words.into_iter().collect());
    let walk = |mva| translate(&memory, Physical(0x4000), Linear(mva));
    let section = walk(0x0010_0abc).unwrap();
    assert_eq!(
        (section.physical(Linear(0x0010_0abc)), section.domain, section.access, section.cached),
        (Physical(0x0130_0abc), 3, 3, true)
    );
    assert!(!section.buffered && section.is_section());
    let large = walk(0x0020_5123).unwrap();
    assert_eq!((large.physical(Linear(0x0020_5123)), large.shift, large.access), (Physical(0x0055_5123), 16, 3));
    assert_eq!(walk(0x0020_1123).unwrap().access, 0, "another quarter");
    let small = walk(0x0021_0123).unwrap();
    assert_eq!((small.physical(Linear(0x0021_0123)), small.shift, small.domain), (Physical(0x0066_6123), 12, 2));
    assert_eq!(small.entries, [(Physical(0x4008), 0x8041), (Physical(0x8040), 0x0066_6ffe)]);
    let tiny = walk(0x0030_0401).unwrap();
    assert_eq!((tiny.physical(Linear(0x0030_0401)), tiny.shift, tiny.access), (Physical(0x0077_7401), 10, 1));
    assert_eq!((walk(0x0040_0000), walk(0x0021_1000)), (None, None));
}

#[test]
fn t702_a_tlb_outlives_switches_and_not_flushes() {
    let mut machine = strongarm();
    machine.data(Linear(0x1000), false, &mut Identity);
    for switch in [Operation::TableBase, Operation::DomainAccess, Operation::ProcessId] {
        operate(&mut machine, switch, 0);
        machine.data(Linear(0x1000), false, &mut Identity);
    }
    assert_eq!(machine.counts().dtlb_misses, 1);
    operate(&mut machine, Operation::InvalidateTlbEntry(Side::Data), 0x2000);
    operate(&mut machine, Operation::InvalidateTlb(Side::Code), 0);
    machine.data(Linear(0x1004), false, &mut Identity);
    assert_eq!(machine.counts().dtlb_misses, 1, "another page, and the other TLB");
    operate(&mut machine, Operation::InvalidateTlbEntry(Side::Data), 0x1ffc);
    machine.data(Linear(0x1004), false, &mut Identity);
    operate(&mut machine, Operation::InvalidateTlb(Side::Both), 0);
    machine.data(Linear(0x1004), false, &mut Identity);
    assert_eq!(machine.counts().dtlb_misses, 3);
    assert_eq!(row(&machine, Category::TlbRefillData), 3 * 45);
}

#[test]
fn t703_one_section_is_one_entry() {
    let mut machine = strongarm();
    for page in 0..64 {
        machine.data(Linear(0x8000_0000 + (page << 12)), false, &mut Identity);
    }
    assert_eq!(machine.counts().dtlb_misses, 1);
    assert_eq!(row(&machine, Category::TlbRefillData), 23);
    assert_eq!(row(&machine, Category::CacheRefill), 64 * 22, "words that are not cached");
}

#[test]
fn t704_the_tlb_holds_its_entries() {
    let mut machine = strongarm();
    let sweep = |machine: &mut Machine, pages: u32| {
        let before = machine.counts().dtlb_misses;
        (0..pages).for_each(|page| machine.data(Linear(page << 12), false, &mut Identity));
        machine.counts().dtlb_misses - before
    };
    assert_eq!((sweep(&mut machine, 32), sweep(&mut machine, 32)), (32, 0));
    assert_eq!(sweep(&mut machine, 33), 1);
    assert_eq!(sweep(&mut machine, 33), 33, "taking turns, a cycle of one more evicts each just before its use");
}

#[test]
fn t705_reads_allocate_and_writes_do_not() {
    let mut machine = strongarm();
    machine.data(Linear(0x1000), true, &mut Identity);
    assert_eq!(row(&machine, Category::CacheRefill), 0);
    machine.data(Linear(0x1000), false, &mut Identity);
    machine.data(Linear(0x101c), false, &mut Identity);
    assert_eq!((machine.counts().dcache_misses, row(&machine, Category::CacheRefill)), (1, 70));
}

/// A megabyte of the bank of zeros.
struct Zeros;

impl Tables<Translation> for Zeros {
    fn walk(&mut self, _: Linear) -> Option<Translation> {
        let frame = Physical(0xe000_0000);
        Some(Translation { frame, shift: 20, access: 1, cached: true, buffered: true, ..Translation::default() })
    }
}

#[test]
fn t717_reading_the_bank_of_zeros_is_a_flush() {
    let mut machine = strongarm();
    (0..256).for_each(|line| machine.data(Linear(32 * line), false, &mut Zeros));
    assert_eq!((row(&machine, Category::Flush), row(&machine, Category::CacheRefill)), (0, 0));
    assert_eq!(machine.counts().dcache_misses, 0);
}

/// W03 section 2: 18,000 cycles to write all of the data cache back, 70 for each of 768 lines that are read again, and
/// 45 for each of 64 TLB entries.
#[test]
fn t718_the_worst_switch_is_what_the_paper_adds_up() {
    let mut machine = strongarm();
    let code = |machine: &mut Machine, linear: u32| {
        let nothing = Block::new(vec![Instruction::new(Class::Alu)], machine.costs());
        machine.block(&nothing, Linear(linear), &mut Identity);
    };
    let fetch = |machine: &mut Machine| {
        for page in 0..32 {
            (0..16).for_each(|line| code(machine, page << 12 | line << 5));
        }
    };
    let read = |machine: &mut Machine, base: u32, write: bool| {
        for page in 0..32 {
            (0..8).for_each(|line| machine.data(Linear(base + (page << 12 | line << 5)), write, &mut Identity));
        }
    };
    fetch(&mut machine);
    read(&mut machine, 0, false);
    read(&mut machine, 0, true);
    (0..256).for_each(|line| machine.data(Linear(0x0100_0000 + 32 * line), false, &mut Zeros));
    operate(&mut machine, Operation::DrainWriteBuffer, 0);
    let written = row(&machine, Category::WriteBack);
    operate(&mut machine, Operation::InvalidateCache(Side::Both), 0);
    operate(&mut machine, Operation::InvalidateTlb(Side::Both), 0);
    let (before, misses) = (machine.ledger().total(), machine.counts().icache_misses);
    fetch(&mut machine);
    read(&mut machine, 0, false);
    let instructions = 512 * MILLI;
    let refilled = (machine.ledger().total() - before - instructions) / MILLI;
    assert_eq!(machine.counts().write_backs, 256);
    assert_eq!(machine.counts().icache_misses - misses, 512);
    assert_eq!((written, refilled), (256 * 70, 768 * 70 + 64 * 45));
}

#[test]
fn t706_a_virtual_cache_knows_addresses_and_not_frames() {
    let mut machine = strongarm();
    machine.data(Linear(0x1000), false, &mut Identity);
    machine.data(Linear(0x0200_1000), false, &mut Identity);
    assert_eq!(machine.counts().dcache_misses, 2, "one frame at two addresses would be two lines");
}

#[test]
fn t707_what_cleaning_and_invalidating_do() {
    let written = |operations: &[Operation]| {
        let mut machine = strongarm();
        for line in 0..4 {
            machine.data(Linear(0x1000 + 32 * line), false, &mut Identity);
            machine.data(Linear(0x1000 + 32 * line), true, &mut Identity);
        }
        operations.iter().for_each(|&operation| operate(&mut machine, operation, 0x1020));
        let misses = machine.counts().dcache_misses;
        (0..4).for_each(|line| machine.data(Linear(0x1000 + 32 * line), false, &mut Identity));
        (machine.counts().write_backs, machine.counts().dcache_misses - misses)
    };
    use Operation::*;
    assert_eq!(written(&[CleanLine]), (1, 0));
    assert_eq!(written(&[CleanLine, CleanLine]), (1, 0), "it is clean then");
    assert_eq!(written(&[InvalidateLine(Side::Data)]), (0, 1));
    assert_eq!(written(&[CleanInvalidateLine]), (1, 1));
    assert_eq!(written(&[InvalidateCache(Side::Data)]), (0, 4));
    assert_eq!(written(&[InvalidateCache(Side::Code)]), (0, 0));
    assert_eq!(written(&[TestClean]), (4, 0));
    assert_eq!(written(&[TestCleanInvalidate]), (4, 4));
}

#[test]
fn t708_cleaning_costs_what_is_dirty() {
    let cost = |dirty: u32| {
        let mut machine = Machine::new(&file("arm926-400"));
        for line in 0..128 {
            machine.data(Linear(32 * line), false, &mut Identity);
        }
        (0..dirty).for_each(|line| machine.data(Linear(32 * line), true, &mut Identity));
        let before = machine.ledger().total();
        operate(&mut machine, Operation::TestCleanInvalidate, 0);
        operate(&mut machine, Operation::DrainWriteBuffer, 0);
        (machine.ledger().total() - before) / MILLI
    };
    assert_eq!(cost(0), 2);
    let (few, many) = (cost(10), cost(110));
    assert_eq!(many - few, 100 * 48, "each line more has to be written");
}

#[test]
fn t709_the_write_buffer_hides_what_fits() {
    let mut machine = strongarm();
    machine.data(Linear(0x1000), true, &mut Identity);
    let waited = |machine: &Machine| row(machine, Category::WriteBack);
    // Words of one entry are gathered, and eight entries fit.
    (0..32).for_each(|word| machine.data(Linear(0x1000 + 4 * word), true, &mut Identity));
    assert!(waited(&machine) < 40, "{}", waited(&machine));
    let before = waited(&machine);
    (0..64).for_each(|word| machine.data(Linear(0x2000 + 4 * word), true, &mut Identity));
    assert!(waited(&machine) > before + 100);
    operate(&mut machine, Operation::DrainWriteBuffer, 0);
    let drained = waited(&machine);
    operate(&mut machine, Operation::DrainWriteBuffer, 0);
    assert_eq!(waited(&machine), drained, "it is empty");
}

#[test]
fn t710_instructions_wait_for_what_is_loaded() {
    let machine = strongarm();
    let load = Instruction { late: 1, ..Instruction::new(Class::Load) };
    let uses = Instruction { reads: 1, ..Instruction::new(Class::Alu) };
    let other = Instruction { reads: 2, ..Instruction::new(Class::Alu) };
    let cost = |list: &[Instruction]| Block::new(list.to_vec(), machine.costs()).fixed_milli() / MILLI;
    assert_eq!((cost(&[load, other]), cost(&[load, uses]), cost(&[load, other, uses])), (2, 3, 3));
    let several = Instruction { words: 4, ..Instruction::new(Class::LoadMultiple) };
    assert_eq!(cost(&[several]), 5);
}

#[test]
fn t711_a_taken_jump_costs_more() {
    let mut machine = strongarm();
    let block = Block::new(vec![Instruction::new(Class::Branch)], machine.costs());
    machine.block(&block, Linear(0x1000), &mut Identity);
    machine.block(&block, Linear(0x1004), &mut Identity);
    assert_eq!(row(&machine, Category::Instructions), 2);
    machine.block(&block, Linear(0x1000), &mut Identity);
    assert_eq!(row(&machine, Category::Instructions), 4);
}

#[test]
fn t712_every_line_and_page_of_a_block_is_fetched() {
    let mut machine = strongarm();
    let block = Block::new(vec![Instruction::new(Class::Alu); 16], machine.costs());
    machine.block(&block, Linear(0x1ff0), &mut Identity);
    assert_eq!((machine.counts().icache_misses, machine.counts().itlb_misses), (3, 2));
    machine.retract(&block, 4..16);
    assert_eq!(row(&machine, Category::Instructions), 4);
    machine.block(&block, Linear(0x1ff0), &mut Identity);
    assert_eq!((machine.counts().icache_misses, machine.counts().itlb_misses), (3, 2));
    operate(&mut machine, Operation::InvalidateCache(Side::Code), 0);
    machine.block(&block, Linear(0x1ff0), &mut Identity);
    assert_eq!(machine.counts().icache_misses, 6);
}

#[test]
fn t713_code_and_data_share_the_tlb_of_an_arm926() {
    let mut machine = Machine::new(&file("arm926-400"));
    let block = Block::new(vec![Instruction::new(Class::Alu)], machine.costs());
    machine.block(&block, Linear(0x1000), &mut Identity);
    machine.data(Linear(0x1800), false, &mut Identity);
    assert_eq!((machine.counts().itlb_misses, machine.counts().dtlb_misses), (1, 0));
    // Two pages more of the same set displace it.
    machine.data(Linear(0x1000 + (32 << 12)), false, &mut Identity);
    machine.data(Linear(0x1000 + (64 << 12)), false, &mut Identity);
    machine.block(&block, Linear(0x1000), &mut Identity);
    assert_eq!(machine.counts().itlb_misses, 2);
}

#[test]
fn t714_every_class_has_its_cost() {
    for name in ["sa1100-200", "arm926-400"] {
        let text = std::fs::read_to_string(format!("{}/../machines/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for (class, key) in CLASSES {
            let mut file = MachineFile::parse(&text, "file").unwrap();
            file.set("instructions.branch_taken:20").unwrap();
            file.set(&format!("instructions.{key}:17")).unwrap();
            let machine = Machine::new(&file);
            assert_eq!(Block::new(vec![Instruction::new(class)], machine.costs()).fixed_milli(), 17 * MILLI, "{key}");
        }
    }
}

#[test]
fn t715_an_arm_file_has_its_own_parameters() {
    let text = std::fs::read_to_string(format!("{}/../machines/sa1100-200.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let error = |text: &str| MachineFile::parse(text, "bad.toml").unwrap_err();
    assert_eq!(
        error(&text.replace("\"arm\"", "\"vax\"")),
        "machine file bad.toml: architecture: vax is not one of ia32, arm"
    );
    assert!(error(&text.replace("architecture = \"arm\"\n", "")).contains("unknown"));
    assert_eq!(
        error(&text.replace("[dtlb]", "[tlb]")),
        "machine file bad.toml: sections: must have exactly itlb and dtlb, or tlb"
    );
    let odd = text.replace("entry_bytes = { value = 16", "entry_bytes = { value = 12");
    assert_eq!(error(&odd), "machine file bad.toml: write_buffer.entry_bytes: is not a power of two");
}
