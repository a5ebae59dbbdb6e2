// SPDX-License-Identifier: GPL-2.0-or-later
//! 42x: what neighbouring instructions cost: pairs, stalls, prefixes.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::Code;
use cobnut_model::*;
use common::*;

const EAX: u8 = 1 << 0;
const EBX: u8 = 1 << 3;
const ESP: u8 = 1 << 4;

/// A register operation that pairs either way.
fn simple(reads: u8, writes: u8) -> Instruction {
    Instruction { issue: Issue { pipe: Pipe::Either, reads, writes, ..Issue::default() }, ..instruction(Class::Alu, 2) }
}

fn with(class: Class, pipe: Pipe, instruction: Instruction) -> Instruction {
    Instruction { class, issue: Issue { pipe, ..instruction.issue }, ..instruction }
}

/// Whole cycles that each instruction adds.
fn cycles_on(machine: &str, instructions: &[Instruction]) -> Vec<u64> {
    let costs = Costs::from_file(&shipped(machine, &[]));
    Block::new(instructions.to_vec(), &costs).each_milli().iter().map(|milli| milli / MILLI).collect()
}

fn pentium(instructions: &[Instruction]) -> Vec<u64> {
    cycles_on("pentium-90", instructions)
}

#[test]
fn t420_two_independent_simple_instructions_take_one_cycle() {
    assert_eq!(pentium(&[simple(EAX, EAX), simple(EBX, EBX)]), [1, 0]);
    assert_eq!(pentium(&[simple(EAX, EAX), simple(EBX, EBX), simple(EAX, EAX)]), [1, 0, 1]);
    assert_eq!(cycles_on("i486", &[simple(EAX, EAX), simple(EBX, EBX)]), [1, 1], "no second pipe");
}

#[test]
fn t421_a_result_is_not_read_or_overwritten_in_the_same_pair() {
    assert_eq!(pentium(&[simple(0, EAX), simple(EAX, EBX)]), [1, 1], "read after write");
    assert_eq!(pentium(&[simple(0, EAX), simple(0, EAX)]), [1, 1], "write after write");
    assert_eq!(pentium(&[simple(EAX, EBX), simple(0, EAX)]), [1, 0], "write after read is allowed");
}

#[test]
fn t422_each_pipe_takes_its_own() {
    let first = |i| with(Class::Alu, Pipe::First, i);
    let jump = with(Class::Branch, Pipe::Second, simple(0, 0));
    assert_eq!(pentium(&[first(simple(EAX, EAX)), simple(EBX, EBX)]), [1, 0]);
    assert_eq!(pentium(&[simple(EBX, EBX), first(simple(EAX, EAX))]), [1, 1]);
    assert_eq!(pentium(&[simple(EBX, EBX), jump]), [1, 0]);
    assert_eq!(pentium(&[jump, simple(EBX, EBX)]), [1, 1]);
    assert_eq!(pentium(&[with(Class::Alu, Pipe::Alone, simple(0, 0)), simple(EBX, EBX)]), [1, 1]);
}

#[test]
fn t423_a_pair_takes_as_long_as_its_longer_half_and_memory_updates_wait() {
    let load = with(Class::LoadAlu, Pipe::Either, simple(EAX, EAX));
    let update = with(Class::AluStore, Pipe::Either, simple(EBX, 0));
    assert_eq!(pentium(&[simple(EBX, EBX), load]), [1, 1]);
    assert_eq!(pentium(&[load, with(Class::LoadAlu, Pipe::Either, simple(EBX, EBX))]), [2, 0]);
    assert_eq!(pentium(&[load, update]), [2, 2], "4 in all");
    assert_eq!(pentium(&[update, update]), [3, 2], "5 in all");
    assert_eq!(pentium(&[update, load]), [3, 0]);
}

#[test]
fn t424_an_address_waits_for_its_register() {
    let mut load = with(Class::Load, Pipe::Either, simple(0, EBX));
    load.issue.address = EAX;
    assert_eq!(pentium(&[simple(0, EAX), load]), [1, 2]);
    assert_eq!(pentium(&[simple(0, EAX), simple(EBX, EBX), load]), [1, 0, 2], "the pair before counts as one");
    assert_eq!(pentium(&[simple(0, EAX), with(Class::Alu, Pipe::Alone, simple(0, 0)), load]), [1, 1, 1]);
    assert_eq!(cycles_on("i486", &[simple(0, EAX), load]), [1, 2]);
    assert_eq!(cycles_on("pentium4-1400", &[simple(0, EAX), load]), [1, 2], "a load's own 2");
}

#[test]
fn t425_what_uses_the_stack_in_the_same_way_pairs() {
    let stack = |class, pipe| {
        let mut i = with(class, pipe, simple(0, 0));
        (i.issue.address, i.issue.stack) = (ESP, true);
        i
    };
    let (push, pop, call) =
        (stack(Class::Store, Pipe::Either), stack(Class::Load, Pipe::Either), stack(Class::Call, Pipe::Second));
    assert_eq!(pentium(&[push, push]), [1, 0]);
    assert_eq!(pentium(&[pop, pop]), [1, 0]);
    assert_eq!(pentium(&[push, call]), [1, 0]);
    assert_eq!(pentium(&[push, pop]), [1, 1]);
    let mut read = with(Class::Load, Pipe::Either, simple(0, EAX));
    read.issue.address = ESP;
    assert_eq!(pentium(&[push, read]), [1, 1], "its address is what push makes; no stall");
    assert_eq!(pentium(&[simple(0, ESP), push]), [1, 2], "an explicit write of esp stalls");
}

#[test]
fn t426_prefixes_and_long_encodings() {
    let mut prefixed = with(Class::Alu, Pipe::First, simple(EAX, EAX));
    prefixed.issue.prefixes = 2;
    assert_eq!(pentium(&[prefixed, simple(EBX, EBX)]), [3, 0]);
    assert_eq!(pentium(&[simple(EBX, EBX), prefixed]), [1, 3]);
    let mut long = simple(EAX, 0);
    long.issue.displacement_and_immediate = true;
    assert_eq!(pentium(&[long, simple(EBX, EBX)]), [1, 1]);
    assert_eq!(pentium(&[simple(EBX, EBX), long]), [1, 1]);
}

#[test]
fn t427_pairing_is_the_machine_files_choice_and_adds_up() {
    let code = [simple(EAX, EAX), simple(EBX, EBX), with(Class::SegmentLoad, Pipe::Alone, simple(0, 0))];
    let costs = Costs::from_file(&shipped("pentium-90", &["pipeline.pairing:none"]));
    assert_eq!(Block::new(code.to_vec(), &costs).fixed_milli(), 5 * MILLI);
    let mut machine = Machine::new(&shipped("pentium-90", &[]));
    let block = Block::new(code.to_vec(), machine.costs());
    assert_eq!(block.fixed_milli(), 4 * MILLI);
    machine.block(&block, Linear(0x20_0000), &mut Identity::default());
    let category = |machine: &Machine, c| machine.ledger().row(c) / MILLI;
    assert_eq!(category(&machine, Category::Instructions), 1);
    machine.retract(&block, 1..3);
    assert_eq!(category(&machine, Category::Instructions), 1, "the second was free");
    assert_eq!(category(&machine, Category::SegmentReload), 0);
}

#[test]
fn t428_an_instruction_survives_its_bytes() {
    let issue = Issue {
        pipe: Pipe::Second,
        reads: 0x81,
        writes: 0x42,
        address: 0x24,
        prefixes: 3,
        displacement_and_immediate: true,
        stack: true,
        condition: Condition::Backward,
    };
    let original = Instruction { length: 15, class: Class::Iret, issue };
    assert_eq!(Instruction::from_bytes(original.to_bytes()), Some(original));
    assert_eq!(Instruction::from_bytes([1, 200, 0, 0, 0, 0]), None);
}
