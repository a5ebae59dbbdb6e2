// SPDX-License-Identifier: GPL-2.0-or-later
//! 3xx: the trace cache and the front end around it.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::Code;
use cobnut_model::*;
use common::*;

/// Executes `instructions` one after the other from `linear` on.
fn run(machine: &mut Machine, linear: u32, instructions: &[Instruction]) {
    let block = Block::new(instructions.to_vec(), machine.costs());
    machine.block(&block, Linear(linear), &mut Identity::default());
}

fn nops(count: usize) -> Vec<Instruction> {
    vec![instruction(Class::Nop, 1); count]
}

fn trace_misses(machine: &mut Machine, work: impl FnOnce(&mut Machine)) -> u64 {
    let before = machine.counts().trace_misses;
    work(machine);
    machine.counts().trace_misses - before
}

/// A far jump in front keeps one pass from sharing a line with the next.
fn pass(machine: &mut Machine, bytes: usize) {
    run(machine, 0x10_0000, &[instruction(Class::FarJump, 7)]);
    run(machine, 0x20_0000, &nops(bytes));
}

#[test]
fn t301_a_line_holds_six_micro_operations() {
    let mut machine = Machine::new(&pentium4(&[]));
    assert_eq!(trace_misses(&mut machine, |m| run(m, 0x20_0000, &nops(6))), 1);
    assert_eq!(trace_misses(&mut machine, |m| run(m, 0x30_0000, &nops(600))), 100);
}

#[test]
fn t302_capacity_in_nops_is_lines_times_six() {
    let mut machine = Machine::new(&pentium4(&["trace_cache.replacement:lru"]));
    pass(&mut machine, 11_000);
    assert_eq!(trace_misses(&mut machine, |m| pass(m, 11_000)), 0);
    let mut small = Machine::new(&pentium4(&["trace_cache.lines:1360", "trace_cache.replacement:lru"]));
    pass(&mut small, 11_000);
    assert!(trace_misses(&mut small, |m| pass(m, 11_000)) > 1_000);
}

#[test]
fn t303_a_cr3_write_empties_it() {
    let mut machine = Machine::new(&pentium4(&[]));
    pass(&mut machine, 600);
    machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut Identity::default());
    assert_eq!(trace_misses(&mut machine, |m| pass(m, 600)), 101);
    let mut kept = Machine::new(&pentium4(&["trace_cache.flushed_by_cr3:false"]));
    pass(&mut kept, 600);
    kept.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut Identity::default());
    assert_eq!(trace_misses(&mut kept, |m| pass(m, 600)), 0);
}

#[test]
fn t304_lines_are_found_by_linear_address() {
    let mut machine = Machine::new(&pentium4(&[]));
    run(&mut machine, 0x20_0000, &nops(60));
    run(&mut machine, 0x10_0000, &[instruction(Class::FarJump, 7)]);
    assert_eq!(trace_misses(&mut machine, |m| run(m, 0x60_0000, &nops(60))), 10, "same code at another address");
}

#[test]
fn t305_the_itlb_is_asked_at_trace_builds_or_at_every_fetch() {
    let mut machine = Machine::new(&pentium4(&["itlb.lookup:trace-build"]));
    let jump = [instruction(Class::Branch, 5)];
    let jumps = |m: &mut Machine| (0..100).for_each(|i| run(m, 0x20_0000 + i * 4155, &jump));
    jumps(&mut machine);
    jumps(&mut machine);
    let warm = *machine.counts();
    jumps(&mut machine);
    assert_eq!(*machine.counts(), warm, "100 pages exceed the ITLB, but their traces are held");
    let mut fetching =
        Machine::new(&pentium4(&["itlb.associativity:full", "itlb.replacement:lru", "itlb.lookup:fetch"]));
    (0..3).for_each(|_| jumps(&mut fetching));
    assert_eq!(fetching.counts().itlb_misses, 300);
}

#[test]
fn t306_taken_branches_end_lines_as_the_file_says() {
    let lines = |taken: &str| {
        let mut machine = Machine::new(&pentium4(&[taken]));
        let jump = [instruction(Class::Branch, 5)];
        (0..60).for_each(|i| run(&mut machine, 0x20_0000 + i * 4155, &jump));
        machine.counts().trace_misses
    };
    assert_eq!(lines("trace_cache.taken_branches:0"), 60);
    assert_eq!(lines("trace_cache.taken_branches:1"), 30);
    assert_eq!(lines("trace_cache.taken_branches:5"), 10);
}

#[test]
fn t307_a_block_equals_its_instructions_one_by_one() {
    let classes =
        [Class::Nop, Class::Store, Class::Load, Class::AluStore, Class::SegmentLoad, Class::Alu, Class::Branch];
    let code: Vec<Instruction> = (0..500).map(|i| instruction(classes[i * 5 % 7], 1 + (i % 4) as u8)).collect();
    let mut whole = Machine::new(&pentium4(&[]));
    let mut single = Machine::new(&pentium4(&[]));
    for start in [0x20_0003u32, 0x30_0ff0, 0x20_0003] {
        run(&mut whole, start, &code);
        let mut linear = start;
        for &instruction in &code {
            single.event(&Event::Fetch { linear: Linear(linear), instruction }, &mut Identity::default());
            linear += instruction.length as u32;
        }
    }
    assert_eq!(whole.ledger(), single.ledger());
    assert_eq!(whole.counts(), single.counts());
}

#[test]
fn t308_a_line_that_is_built_takes_an_instruction_a_clock_instead_of_three_micro_operations() {
    let built = |set: &[&str], code: &[Instruction]| {
        let mut machine = Machine::new(&pentium4(set));
        run(&mut machine, 0x20_0000, code);
        let once = machine.ledger().row(Category::TraceRebuild);
        run(&mut machine, 0x10_0000, &[instruction(Class::FarJump, 7)]);
        let far = machine.ledger().row(Category::TraceRebuild);
        run(&mut machine, 0x20_0000, code);
        assert_eq!(machine.ledger().row(Category::TraceRebuild), far, "it is there");
        once
    };
    assert_eq!(built(&[], &nops(600)), 600 * 667, "a clock each, less the third in which it would have come");
    assert_eq!(built(&["trace_cache.decode_cycles:3"], &nops(600)), 600 * 2667);
    assert_eq!(built(&["trace_cache.uops_per_cycle:1"], &nops(600)), 0);
    assert_eq!(built(&[], &[instruction(Class::AluStore, 3); 9]), 0, "four micro-operations take longer to come");
}

#[test]
fn t309_a_line_that_is_built_in_parts_is_one_refill() {
    let mut machine = Machine::new(&pentium4(&[]));
    (0..6).for_each(|i| run(&mut machine, 0x20_0000 + i, &nops(1)));
    assert_eq!((machine.counts().trace_misses, machine.ledger().row(Category::TraceRebuild)), (1, 6 * 667));
    let charges = machine.causes().charges().since(&Charges::default());
    let traces = charges.iter().filter(|charge| charge.category == Category::TraceRebuild);
    assert_eq!(traces.map(|charge| charge.sum.refills).sum::<u64>(), 1);
}

/// An instruction that ends its line and takes no time.
const END: Instruction = Instruction {
    length: 1,
    class: Class::Halt,
    issue: Issue {
        pipe: Pipe::Alone,
        reads: 0,
        writes: 0,
        address: 0,
        prefixes: 0,
        displacement_and_immediate: false,
        stack: false,
        condition: Condition::Always,
    },
};

#[test]
fn t310_a_line_that_is_there_comes_in_two_clocks_however_little_is_in_it() {
    // Of a pass in a steady state, less the line that ends it.
    let stalls = |set: &[&str], code: &[Instruction]| {
        let mut machine = Machine::new(&pentium4(set));
        let mut pass = |code: &[Instruction]| {
            let before = machine.ledger().row(Category::Stall);
            run(&mut machine, 0x20_0000, code);
            run(&mut machine, 0x10_0000, &[END]);
            machine.ledger().row(Category::Stall) - before
        };
        let [.., of_both] = [(); 4].map(|_| pass(code));
        let [.., of_two_ends] = [(); 4].map(|_| pass(&[END]));
        of_both - of_two_ends / 2
    };
    let ending = |mut code: Vec<Instruction>| {
        code.push(END);
        code
    };
    assert_eq!(stalls(&[], &ending(nops(1))), 2000 - 333, "a nop alone");
    assert_eq!(stalls(&[], &ending(nops(5))), 2000 - 5 * 333, "a line of five and the jump");
    assert_eq!(stalls(&[], &ending(nops(6))), 2 + 2000, "one of six, and one of the jump alone");
    let wide = [instruction(Class::Nop, 1), instruction(Class::AluStore, 3), instruction(Class::AluStore, 3), END];
    assert_eq!(stalls(&["instructions.alu_store:1"], &wide), 667 + 1000, "cut short by six");
    assert_eq!(stalls(&[], &ending(vec![instruction(Class::AluStore, 3); 3])), 0, "instructions that take longer");
    assert_eq!(stalls(&["trace_cache.uops_per_cycle:6"], &ending(nops(1))), 1000 - 333);
}

#[test]
fn t311_a_line_that_is_built_does_not_come() {
    let mut machine = Machine::new(&pentium4(&[]));
    for start in 0..10 {
        run(&mut machine, 0x20_0000 + start * 0x100, &[instruction(Class::Nop, 1), END]);
    }
    assert_eq!(machine.ledger().row(Category::Stall), 0);
}

#[test]
fn t312_a_taken_jump_is_part_of_what_its_line_waits_for() {
    let mut machine = Machine::new(&pentium4(&["trace_cache.taken_branches:0", "instructions.branch_taken:2"]));
    let jump = [Instruction { issue: Issue::default(), ..instruction(Class::Branch, 5) }];
    let pass = |m: &mut Machine| (0..4).for_each(|i| run(m, 0x20_0000 + i * 4155, &jump));
    (0..3).for_each(|_| pass(&mut machine));
    assert_eq!(machine.ledger().row(Category::Stall), 0, "two clocks for the jump are the line's");
}

#[test]
fn t313_a_line_that_was_open_while_only_misses_counted_has_come() {
    let mut machine = Machine::new(&pentium4(&[]));
    let code = [instruction(Class::Nop, 1), END];
    // What the line behind waits for the one of the nop.
    let waits = |machine: &mut Machine, rests: bool| {
        machine.only_misses(rests);
        run(machine, 0x20_0000, &code);
        machine.only_misses(false);
        let before = machine.ledger().row(Category::Stall);
        run(machine, 0x10_0000, &[END]);
        machine.ledger().row(Category::Stall) - before
    };
    for _ in 0..3 {
        waits(&mut machine, false);
    }
    assert_eq!(waits(&mut machine, false), 2000 - 333);
    assert_eq!(waits(&mut machine, true), 0);
}
