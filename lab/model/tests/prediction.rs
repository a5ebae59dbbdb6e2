// SPDX-License-Identifier: GPL-2.0-or-later
//! 43x: where jumps are expected to go; 44x: loads behind stores.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::Code;
use cobnut_model::*;
use common::*;

const HERE: u32 = 0x20_0000;

fn jump(class: Class, condition: Condition) -> Instruction {
    Instruction { issue: Issue { condition, ..Issue::default() }, ..instruction(class, 5) }
}

/// Executes a jump at `from`, and an instruction at `to`.
fn goes(machine: &mut Machine, from: u32, one: Instruction, to: u32) {
    run(machine, from, &[one]);
    run(machine, to, &[instruction(Class::Alu, 2)]);
}

fn run(machine: &mut Machine, at: u32, instructions: &[Instruction]) {
    let block = Block::new(instructions.to_vec(), machine.costs());
    machine.block(&block, Linear(at), &mut Identity::default());
}

/// How many of these turns of a conditional jump, taken or not, are not as expected.
fn mispredictions(machine: &mut Machine, from: u32, condition: Condition, turns: &[bool]) -> u64 {
    let before = machine.counts().mispredictions;
    let target = if condition == Condition::Backward { from - 0x100 } else { from + 0x100 };
    for &taken in turns {
        goes(machine, from, jump(Class::Branch, condition), if taken { target } else { from + 5 });
    }
    machine.counts().mispredictions - before
}

const T: bool = true;
const N: bool = false;

#[test]
fn t430_a_jump_that_is_not_known_goes_as_the_file_says() {
    let mut pentium = Machine::new(&shipped("pentium-90", &[]));
    assert_eq!(mispredictions(&mut pentium, HERE, Condition::Backward, &[T]), 1, "not taken");
    assert_eq!(mispredictions(&mut pentium, HERE + 64, Condition::Forward, &[N, N]), 0);
    let mut four = Machine::new(&pentium4(&[]));
    assert_eq!(mispredictions(&mut four, HERE, Condition::Backward, &[T]), 0, "backwards it is");
    assert_eq!(mispredictions(&mut four, HERE + 64, Condition::Backward, &[N]), 1);
    assert_eq!(mispredictions(&mut four, HERE + 128, Condition::Forward, &[T]), 1);
    assert_eq!(mispredictions(&mut four, HERE + 192, Condition::Forward, &[N, N]), 0);
    goes(&mut four, HERE + 256, jump(Class::Branch, Condition::Always), HERE + 0x1000);
    assert_eq!(four.counts().mispredictions, 2, "the decoder sees that it has no condition");
}

#[test]
fn t431_a_counter_changes_its_mind_at_the_second_time() {
    for name in ["pentium-90", "pentium4-1400"] {
        let mut machine = Machine::new(&shipped(name, &[]));
        mispredictions(&mut machine, HERE, Condition::Forward, &[T, T]);
        assert_eq!(mispredictions(&mut machine, HERE, Condition::Forward, &[T, T, N, T, T]), 1, "{name}: a loop's end");
        assert_eq!(mispredictions(&mut machine, HERE, Condition::Forward, &[N, N, N, T]), 3, "{name}");
    }
}

#[test]
fn t432_a_misprediction_costs_what_the_file_says_and_is_a_stall() {
    let stalls = |file: &MachineFile| {
        let mut machine = Machine::new(file);
        assert_eq!(mispredictions(&mut machine, HERE, Condition::Forward, &[T]), 1);
        cycles(&machine, Category::Stall)
    };
    assert_eq!(stalls(&shipped("pentium-133", &[])), 3);
    assert_eq!(stalls(&pentium4(&["branch_prediction.mispredicted_cycles:30"])), 30);
}

#[test]
fn t433_in_the_second_pipe_a_conditional_jump_costs_a_cycle_more() {
    let stalls = |condition| {
        let mut machine = Machine::new(&shipped("pentium-90", &[]));
        let simple = Issue { pipe: Pipe::Either, ..Issue::default() };
        let second = Issue { pipe: Pipe::Second, condition, ..Issue::default() };
        let first = Instruction { issue: simple, ..instruction(Class::Alu, 2) };
        run(&mut machine, HERE, &[first, Instruction { issue: second, ..instruction(Class::Branch, 2) }]);
        run(&mut machine, HERE + 0x100, &[first]);
        cycles(&machine, Category::Stall)
    };
    assert_eq!((stalls(Condition::Forward), stalls(Condition::Always)), (4, 3));
}

#[test]
fn t434_an_indirect_jump_is_expected_where_it_went_last() {
    let mut machine = Machine::new(&pentium4(&[]));
    for (to, missed) in [(0x1000, 1), (0x1000, 1), (0x2000, 2), (0x1000, 3), (0x1000, 3)] {
        goes(&mut machine, HERE, instruction(Class::Indirect, 2), HERE + to);
        assert_eq!(machine.counts().mispredictions, missed);
    }
}

/// Calls from so many places, one in the other, and returns to each. Returns how many returns went elsewhere than
/// expected, once all places are known.
fn nested(file: &MachineFile, depth: u32) -> u64 {
    let mut machine = Machine::new(file);
    let mut missed = 0;
    for _ in 0..2 {
        missed = machine.counts().mispredictions;
        let place = |level: u32| HERE + level * 0x43;
        (0..depth).for_each(|level| run(&mut machine, place(level), &[instruction(Class::Call, 5)]));
        for level in (0..depth).rev() {
            run(&mut machine, HERE + 0x1_0000 + level % 2, &[instruction(Class::Return, 1)]);
            run(&mut machine, place(level) + 5, &[instruction(Class::Alu, 2)]);
        }
        missed = machine.counts().mispredictions - missed;
    }
    missed
}

#[test]
fn t435_a_return_stack_holds_its_entries() {
    assert_eq!(nested(&pentium4(&[]), 16), 0);
    assert_eq!(nested(&pentium4(&[]), 18), 2, "the two oldest are lost");
    assert_eq!(nested(&pentium4(&["branch_prediction.return_stack:4"]), 16), 12);
    assert_eq!(nested(&shipped("pentium-90", &[]), 4), 4, "without one it is the last place that counts");
}

#[test]
fn t436_the_buffers_have_entries_and_ways_and_survive_switches() {
    let known = |file: &MachineFile, jumps: u32| {
        let mut machine = Machine::new(file);
        let pass = |machine: &mut Machine| {
            let before = machine.counts().mispredictions;
            let one = jump(Class::Branch, Condition::Forward);
            (0..jumps).for_each(|n| goes(machine, HERE + n * 32, one, HERE + 0x10_0000));
            machine.counts().mispredictions - before
        };
        assert_eq!(pass(&mut machine), jumps as u64);
        machine.event(&Event::Cr3Write { directory: Physical(0x5000), at: 0 }, &mut Identity::default());
        pass(&mut machine)
    };
    // Every 32nd address: two sets of 64 for four ways each.
    assert_eq!(known(&shipped("pentium-90", &[]), 8), 0);
    assert_eq!(known(&shipped("pentium-90", &[]), 9), 5, "one set has to hold five");
    let full = ["branch_prediction.associativity:full"];
    assert_eq!((known(&shipped("pentium-90", &full), 256), known(&shipped("pentium-90", &full), 257)), (0, 257));
}

#[test]
fn t437_what_comes_from_traces_is_predicted_by_their_own_buffer() {
    let known = |changes: &[&str], switch: bool| {
        let mut machine = Machine::new(&pentium4(changes));
        let pass = |machine: &mut Machine| {
            let before = machine.counts().mispredictions;
            let one = jump(Class::Branch, Condition::Forward);
            (0..8).for_each(|n| goes(machine, HERE + n * 64, one, HERE + 0x10_0000));
            machine.counts().mispredictions - before
        };
        pass(&mut machine);
        pass(&mut machine);
        if switch {
            machine.event(&Event::Cr3Write { directory: Physical(0x5000), at: 0 }, &mut Identity::default());
        }
        pass(&mut machine)
    };
    let small = ["trace_prediction.entries:4", "trace_prediction.associativity:full"];
    assert_eq!((known(&[], false), known(&small, false)), (0, 8));
    assert_eq!(known(&small, true), 0, "the traces are gone: the large buffer is asked");
}

#[test]
fn t438_a_jump_that_the_kernel_is_entered_behind_teaches_nothing_but_calls_count() {
    let mut machine = Machine::new(&pentium4(&[]));
    run(&mut machine, HERE, &[jump(Class::Branch, Condition::Forward)]);
    machine.event(&Event::Entry(EntryKind::Interrupt), &mut Identity::default());
    run(&mut machine, HERE + 0x100, &[instruction(Class::Alu, 2)]);
    assert_eq!(machine.counts().mispredictions, 0);
    run(&mut machine, HERE, &[instruction(Class::Call, 5)]);
    machine.event(&Event::Entry(EntryKind::Interrupt), &mut Identity::default());
    goes(&mut machine, HERE + 0x100, instruction(Class::Return, 1), HERE + 5);
    assert_eq!(machine.counts().mispredictions, 0, "the return stack had it");
}

#[test]
fn t439_the_i486_predicts_nothing() {
    let mut machine = Machine::new(&shipped("i486", &[]));
    assert_eq!(mispredictions(&mut machine, HERE, Condition::Forward, &[T, N, T]), 0);
}

/// Stalls of one run of code with these accesses: address, size, whether it is a store.
fn stalls(file: &MachineFile, accesses: &[(u32, u8, bool)]) -> (u64, u64) {
    let mut machine = Machine::new(file);
    run(&mut machine, HERE, &[instruction(Class::Alu, 2)]);
    access(&mut machine, accesses);
    (machine.counts().blocked_loads, cycles(&machine, Category::Stall))
}

fn access(machine: &mut Machine, accesses: &[(u32, u8, bool)]) {
    for &(at, size, write) in accesses {
        if !machine.has_just_seen(Linear(at), size, write) {
            machine.data(Linear(at), Physical(at), size, write, &mut Identity::default());
        }
    }
}

const A: u32 = 0x30_0040;

#[test]
fn t440_a_load_gets_what_a_store_has_if_it_starts_there_and_wants_no_more() {
    let file = pentium4(&[]);
    assert_eq!(stalls(&file, &[(A, 4, true), (A, 4, false), (A, 2, false), (A, 1, false)]), (0, 0));
    assert_eq!(stalls(&file, &[(A, 1, true), (A, 4, false)]), (1, 20), "it wants more");
    assert_eq!(stalls(&file, &[(A, 4, true), (A + 2, 2, false)]), (1, 20), "it starts elsewhere");
    assert_eq!(stalls(&file, &[(A, 4, true), (A + 4, 4, true), (A, 8, false)]), (1, 20), "two have it");
    assert_eq!(stalls(&file, &[(A, 4, true), (A + 4, 4, false)]), (0, 0), "it has nothing of it");
    assert_eq!(stalls(&file, &[(A - 2, 4, true), (A - 2, 4, false)]), (1, 20), "the store spans two lines");
    assert_eq!(stalls(&file, &[(A, 1, true), (A, 4, true), (A, 4, false)]), (0, 0), "the newest counts");
}

#[test]
fn t441_a_load_that_has_waited_waits_for_all_of_them() {
    let accesses = [(A, 1, true), (A + 8, 1, true), (A, 4, false), (A, 4, false), (A + 8, 4, false)];
    assert_eq!(stalls(&pentium4(&[]), &accesses), (1, 20));
    assert_eq!(stalls(&pentium4(&["store_forwarding.blocked_cycles:60"]), &accesses), (1, 60));
}

#[test]
fn t442_there_are_so_many_stores_on_their_way_and_none_behind_their_run() {
    let file = pentium4(&["store_forwarding.stores:3"]);
    let behind = |others: u32| {
        let stores = (1..=others).map(|n| (A + n * 64, 4, true));
        [(A, 1, true)].into_iter().chain(stores).chain([(A, 4, false)]).collect::<Vec<_>>()
    };
    assert_eq!((stalls(&file, &behind(2)).0, stalls(&file, &behind(3)).0), (1, 0));
    let mut machine = Machine::new(&file);
    run(&mut machine, HERE, &[instruction(Class::Alu, 2)]);
    access(&mut machine, &[(A, 1, true)]);
    run(&mut machine, HERE, &[instruction(Class::Alu, 2)]);
    access(&mut machine, &[(A, 4, false)]);
    assert_eq!(machine.counts().blocked_loads, 0);
}

#[test]
fn t443_a_pentium_knows_no_such_wait() {
    assert_eq!(stalls(&shipped("pentium-90", &[]), &[(A, 1, true), (A, 4, false)]), (0, 0));
}
