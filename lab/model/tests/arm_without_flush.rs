// SPDX-License-Identifier: GPL-2.0-or-later
//! 7xx, continued: ARM's machines without flushes, which find an entry only for what it translates to.

mod common;

use cobnut_model::arm::{Block, Class, Instruction, Machine, Operation, Side, Translation};
use cobnut_model::{Category, Charges, Code, How, Kind, Linear, MachineFile, Physical, Space, Tables};
use common::Dice;
use std::collections::HashSet;
use std::path::Path;

const MACHINES: [&str; 2] = ["sa1100-200", "arm926-400"];
/// Above this, all spaces have one kernel.
const KERNEL: u32 = 0xc000_0000;

fn file(name: &str) -> MachineFile {
    MachineFile::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../machines/{name}.toml"))).unwrap()
}

/// The tables of one of several spaces: pages of 4 KB, whose frames are the space's own below the kernel.
#[derive(Clone, Copy)]
struct Of(u32);

impl Of {
    fn frame_of(self, page: u32) -> Physical {
        Physical(if page < KERNEL { page | self.0 << 24 } else { page })
    }

    fn space(self) -> Space {
        Space { directory: Physical(self.0 << 14), code_base: Linear(0) }
    }
}

impl Tables<Translation> for Of {
    fn walk(&mut self, Linear(mva): Linear) -> Option<Translation> {
        let frame = self.frame_of(mva & !0xfff);
        Some(Translation { frame, shift: 12, access: 3, cached: true, buffered: true, ..Translation::default() })
    }
}

/// What a kernel without tags executes to leave for another space (kernel/arm/first_levels.cpp).
fn switch(machine: &mut Machine, to: Of) {
    use Operation::*;
    for operation in [TestCleanInvalidate, InvalidateCache(Side::Code), TableBase, InvalidateTlb(Side::Both)] {
        machine.operation(operation, 0, KERNEL | 0x100, to.space());
    }
}

fn read(machine: &mut Machine, mut of: Of, mva: u32) {
    machine.data(Linear(mva), false, &mut of);
}

fn execute(machine: &mut Machine, mut of: Of, mva: u32) {
    let block = Block::new(vec![Instruction::new(Class::Alu)], machine.costs());
    machine.block(&block, Linear(mva), &mut of);
}

fn misses(machine: &Machine) -> [u64; 4] {
    let counts = machine.counts();
    [counts.itlb_misses, counts.dtlb_misses, counts.icache_misses, counts.dcache_misses]
}

/// Milli-cycles of refills of what whole TLBs and caches have lost.
fn charged(machine: &Machine, kind: Kind) -> u64 {
    let causes = machine.causes();
    let whole = |how| [How::TlbFlush, How::CacheFlush].contains(&how);
    let charges = causes.charges().since(&Charges::default());
    let of_kind = charges.iter().filter(|charge| charge.kind == kind);
    of_kind.filter(|c| kind != Kind::Flushed || whole(causes.switches()[c.switch].how)).map(|c| c.sum.milli).sum()
}

/// What happens in a run: reads and code of a few pages of the running space's and of the kernel's, and switches. They
/// fit into each set of each machine, for so many spaces. With `apart`, no two spaces use one address.
fn run(seed: u64, spaces: u32, apart: bool, mut each: impl FnMut(Option<Of>, Of, u32, bool)) {
    let mut dice = Dice::new(seed);
    let mut running = Of(0);
    for _ in 0..600 {
        if dice.below(12) == 0 {
            let to = Of((running.0 + 1 + dice.below(spaces - 1)) % spaces);
            each(Some(to), running, 0, false);
            running = to;
        }
        let place = dice.below(3) * 0x1100 + dice.below(4) * 0x40;
        let own = if apart { running.0 * 0x3300 } else { 0 };
        let (base, code) = (dice.of(&[0x1_0000 + own, KERNEL + 0xa_0000]), dice.below(2) == 0);
        each(None, running, base + place + if code { 0xc000 } else { 0 }, code);
    }
}

fn happen(machine: &mut Machine, to: Option<Of>, running: Of, mva: u32, code: bool) {
    match (to, code) {
        (Some(to), _) => switch(machine, to),
        (None, true) => execute(machine, running, mva),
        (None, false) => read(machine, running, mva),
    }
}

#[test]
fn t719_a_space_finds_its_own_and_never_what_another_has_at_the_address() {
    for name in MACHINES {
        let mut machine = Machine::new(&file(name)).without_flush();
        let touch = |machine: &mut Machine, of| {
            let before = misses(machine);
            read(machine, of, 0x5000);
            execute(machine, of, 0x9040);
            let after = misses(machine);
            [0, 1, 2, 3].map(|index| after[index] - before[index])
        };
        for of in [Of(0), Of(1)] {
            switch(&mut machine, of);
            assert_eq!(touch(&mut machine, of), [1; 4], "{name}: its first time");
        }
        for of in [Of(0), Of(1), Of(0)] {
            switch(&mut machine, of);
            assert_eq!(touch(&mut machine, of), [0; 4], "{name}: its own is there");
        }
        // The same space with another frame at the address: a mapping that has changed.
        assert_eq!(touch(&mut machine, Of(2)), [1; 4], "{name}");
        assert_eq!(machine.ledger().row(Category::Flush), 5 * machine.costs().register_write, "{name}: five switches");
    }
}

#[test]
fn t720_without_flushes_a_machine_saves_what_was_charged_to_them() {
    for name in MACHINES {
        for seed in 1..=20 {
            let (mut flushing, mut apart) = (Machine::new(&file(name)), Machine::new(&file(name)).without_flush());
            let mut switches = 0;
            run(seed, 3, true, |to, running, mva, code| {
                switches += to.is_some() as u64;
                happen(&mut flushing, to, running, mva, code);
                happen(&mut apart, to, running, mva, code);
            });
            let flushed = charged(&flushing, Kind::Flushed);
            assert!(flushed > 0 && charged(&flushing, Kind::Evicted) == 0, "{name}, seed {seed}");
            assert_eq!((charged(&apart, Kind::Flushed), charged(&apart, Kind::Evicted)), (0, 0), "{name}, seed {seed}");
            let operations = flushing.ledger().row(Category::Flush) - apart.ledger().row(Category::Flush);
            assert_eq!(operations, switches * 3 * flushing.costs().operation, "{name}: three of each switch");
            let saved = flushing.ledger().total() - apart.ledger().total();
            assert_eq!(saved, flushed + operations, "{name}, seed {seed}");
        }
    }
}

#[test]
fn t721_where_all_fits_each_translation_and_each_line_of_a_frame_misses_once() {
    for name in MACHINES {
        for seed in 1..=20 {
            let mut machine = Machine::new(&file(name)).without_flush();
            // Of a TLB for both, a page of code is none of data.
            let mut pages = HashSet::new();
            let mut lines = HashSet::new();
            run(seed, 2, false, |to, running, mva, code| {
                happen(&mut machine, to, running, mva, code);
                if to.is_none() {
                    pages.insert((mva >> 12, running.frame_of(mva & !0xfff), code));
                    lines.insert((mva >> 5, running.frame_of(mva & !0xfff), code));
                }
            });
            let of = |set: &HashSet<(u32, Physical, bool)>, wanted| set.iter().filter(|one| one.2 == wanted).count();
            let wanted = [of(&pages, true), of(&pages, false), of(&lines, true), of(&lines, false)];
            assert_eq!(misses(&machine), wanted.map(|n| n as u64), "{name}, seed {seed}");
        }
    }
}

#[test]
fn t722_what_is_done_to_an_entry_or_a_line_is_done() {
    use Operation::*;
    for name in MACHINES {
        let mut machine = Machine::new(&file(name)).without_flush();
        let of = Of(0);
        read(&mut machine, of, 0x5000);
        machine.data(Linear(0x5000), true, &mut { of });
        let operate = |machine: &mut Machine, operation| machine.operation(operation, 0x5004, 0x100, of.space());
        for all in [InvalidateTlb(Side::Data), InvalidateCache(Side::Data), TestClean, TestCleanInvalidate] {
            operate(&mut machine, all);
        }
        read(&mut machine, of, 0x5000);
        assert_eq!((misses(&machine), machine.counts().write_backs), ([0, 1, 0, 1], 0), "{name}: nothing was lost");
        operate(&mut machine, CleanLine);
        operate(&mut machine, CleanLine);
        assert_eq!(machine.counts().write_backs, 1, "{name}");
        operate(&mut machine, InvalidateTlbEntry(Side::Data));
        read(&mut machine, of, 0x5000);
        assert_eq!(misses(&machine), [0, 2, 0, 1], "{name}");
        operate(&mut machine, InvalidateLine(Side::Data));
        read(&mut machine, of, 0x5000);
        assert_eq!((misses(&machine), machine.counts().write_backs), ([0, 2, 0, 2], 1), "{name}: it was clean");
    }
}

#[test]
fn t723_lines_that_are_read_to_clean_the_cache_displace_nothing() {
    struct Zeros;
    impl Tables<Translation> for Zeros {
        fn walk(&mut self, _: Linear) -> Option<Translation> {
            let frame = Physical(0xe000_0000);
            Some(Translation { frame, shift: 20, access: 1, cached: true, buffered: true, ..Translation::default() })
        }
    }
    let left = |mut machine: Machine| {
        read(&mut machine, Of(0), 0x5000);
        (0..256).for_each(|line| machine.data(Linear(0xe000_0000 + 32 * line), false, &mut Zeros));
        read(&mut machine, Of(0), 0x5000);
        misses(&machine)
    };
    let machine = || Machine::new(&file("sa1100-200"));
    assert_eq!(left(machine()), [0, 2, 0, 2], "a page of the bank, and the line is displaced");
    assert_eq!(left(machine().without_flush()), [0, 1, 0, 1]);
}
