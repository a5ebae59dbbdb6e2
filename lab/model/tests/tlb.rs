// SPDX-License-Identifier: GPL-2.0-or-later
//! 1xx: translation look-aside buffers.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::*;
use common::*;

fn shape(entries: usize, ways: usize, replacement: Replacement) -> TlbShape {
    TlbShape { entries, ways, replacement, large_pages: true, global: true }
}

fn walk(linear: u32) -> Walk {
    Walk { frame: Physical(linear & !0xfff), large: false, global: false, entries: [Physical(0), Physical(0)] }
}

/// Touches pages by number; returns how many missed.
fn touch(tlb: &mut Tlb, pages: impl IntoIterator<Item = u32>) -> u32 {
    pages.into_iter().fold(0, |misses, page| {
        let linear = page << 12;
        if tlb.lookup(Linear(linear)).is_some() {
            return misses;
        }
        tlb.fill(Linear(linear), &walk(linear));
        misses + 1
    })
}

#[test]
fn t101_holds_exactly_its_capacity() {
    let mut tlb = Tlb::new(shape(64, 64, Replacement::Lru));
    assert_eq!(touch(&mut tlb, 0..64), 64);
    assert_eq!(touch(&mut tlb, 0..64), 0);
    assert_eq!(touch(&mut tlb, 0..65), 1, "one page more than fits");
    assert_eq!(touch(&mut tlb, 0..65), 65, "a cyclic sweep over one page more defeats LRU");
}

#[test]
fn t102_associativity_limits_pages_of_one_set() {
    let mut tlb = Tlb::new(shape(64, 4, Replacement::Lru));
    let same_set = |n: u32| (0..n).map(|i| i * 16);
    touch(&mut tlb, same_set(4));
    assert_eq!(touch(&mut tlb, same_set(4)), 0);
    assert_eq!(touch(&mut tlb, same_set(5)), 1);
    assert!(touch(&mut tlb, same_set(5)) > 0);
}

#[test]
fn t103_lru_evicts_the_longest_unused() {
    let mut tlb = Tlb::new(shape(4, 4, Replacement::Lru));
    touch(&mut tlb, [1, 2, 3, 4, 1, 5]);
    assert!(tlb.lookup(Linear(1 << 12)).is_some(), "used again before the eviction");
    assert!(tlb.lookup(Linear(2 << 12)).is_none(), "the oldest");
}

#[test]
fn t104_pseudo_lru_follows_its_tree() {
    let mut tlb = Tlb::new(shape(4, 4, Replacement::PseudoLru));
    // After 1 2 3 4 and 1, the root points to the right pair and that pair's bit to its left member, 3.
    touch(&mut tlb, [1, 2, 3, 4, 1, 5]);
    assert!(tlb.lookup(Linear(3 << 12)).is_none());
    assert!([1, 2, 4, 5].iter().all(|&p| tlb.lookup(Linear(p << 12)).is_some()), "true LRU would have evicted 2");
}

#[test]
fn t105_random_repeats_with_its_seed() {
    let misses = |seed| {
        let mut tlb = Tlb::new(shape(16, 16, Replacement::Random { seed }));
        (0..50).map(|_| touch(&mut tlb, 0..20)).collect::<Vec<_>>()
    };
    assert_eq!(misses(7), misses(7));
    assert_ne!(misses(7), misses(8));
}

#[test]
fn t106_global_entries_survive_a_flush_when_enabled() {
    let mut tlb = Tlb::new(shape(8, 8, Replacement::Lru));
    let global = Walk { global: true, ..walk(0x5000) };
    tlb.flush_all(true, Moment::START);
    tlb.fill(Linear(0x5000), &global);
    tlb.fill(Linear(0x6000), &walk(0x6000));
    tlb.flush(Moment::START);
    assert!(tlb.lookup(Linear(0x5000)).is_some());
    assert!(tlb.lookup(Linear(0x6000)).is_none());
    tlb.flush_all(false, Moment::START);
    tlb.fill(Linear(0x5000), &global);
    tlb.flush(Moment::START);
    assert!(tlb.lookup(Linear(0x5000)).is_none(), "CR4.PGE is off");
}

#[test]
fn t107_invalidate_drops_global_entries_too() {
    let mut tlb = Tlb::new(shape(8, 8, Replacement::Lru));
    tlb.flush_all(true, Moment::START);
    tlb.fill(Linear(0x5000), &Walk { global: true, ..walk(0x5000) });
    tlb.fill(Linear(0x6000), &walk(0x6000));
    tlb.invalidate(Linear(0x5678), Moment::START);
    assert!(tlb.lookup(Linear(0x5000)).is_none());
    assert!(tlb.lookup(Linear(0x6000)).is_some());
}

#[test]
fn t108_a_large_page_takes_one_entry() {
    let large = Walk { frame: Physical(0x0080_3000), large: true, global: false, entries: [Physical(0), Physical(0)] };
    let mut tlb = Tlb::new(shape(8, 8, Replacement::Lru));
    tlb.fill(Linear(0x0040_3000), &large);
    assert_eq!(tlb.lookup(Linear(0x0040_3abc)), Some(Physical(0x0080_3000)));
    assert_eq!(tlb.lookup(Linear(0x007f_f000)), Some(Physical(0x00bf_f000)), "another part of the same page");
    let mut split = Tlb::new(TlbShape { large_pages: false, ..shape(8, 8, Replacement::Lru) });
    split.fill(Linear(0x0040_3000), &large);
    assert_eq!(split.lookup(Linear(0x0040_3abc)), Some(Physical(0x0080_3000)));
    assert_eq!(split.lookup(Linear(0x007f_f000)), None, "this TLB breaks large pages up");
}

#[test]
fn t109_a_refill_knows_how_the_entry_was_lost() {
    let mut tlb = Tlb::new(shape(2, 2, Replacement::Lru));
    assert_eq!(tlb.fill(Linear(0x1000), &walk(0x1000)), Loss::Cold, "never held");
    tlb.fill(Linear(0x2000), &walk(0x2000));
    tlb.fill(Linear(0x3000), &walk(0x3000));
    assert_eq!(tlb.fill(Linear(0x1000), &walk(0x1000)), Loss::Evicted(Moment::START));
    tlb.flush(Moment::START);
    assert_eq!(tlb.fill(Linear(0x1000), &walk(0x1000)), Loss::Flushed(Moment::START));
}

#[test]
fn t110_in_a_unified_tlb_code_and_data_displace_each_other() {
    let refills = |name: &str| {
        let mut machine = Machine::new(&shipped(name, &[]));
        let mut tables = Identity::default();
        for _ in 0..2 {
            jumps(&mut machine, &mut tables, 0x40_0000, 20);
            sweep(&mut machine, &mut tables, 0x80_0000, 20);
        }
        let first_pass = 20;
        (machine.counts().itlb_misses - first_pass, machine.counts().dtlb_misses - first_pass)
    };
    let (code, data) = refills("i486");
    assert!(code > 0 && data > 0, "20 + 20 pages in 32 entries");
    assert_eq!(refills("pentium-90"), (0, 0), "32 entries for code, 64 for data");
}

#[test]
fn t111_one_flush_or_invlpg_reaches_code_and_data_of_a_unified_tlb() {
    let mut machine = Machine::new(&shipped("i486", &[]));
    let mut tables = Identity::default();
    let both = |machine: &mut Machine, tables: &mut Identity| {
        jumps(machine, tables, 0x40_0000, 1);
        machine.event(&read_at(0x40_0800), tables);
        machine.counts().itlb_misses + machine.counts().dtlb_misses
    };
    assert_eq!(both(&mut machine, &mut tables), 1, "data finds the entry that code brought");
    machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut tables);
    assert_eq!(both(&mut machine, &mut tables), 2);
    machine.event(&Event::Invlpg { linear: Linear(0x40_0000) }, &mut tables);
    assert_eq!(both(&mut machine, &mut tables), 3);
}

#[test]
fn t112_large_data_pages_may_have_a_tlb_of_their_own() {
    let refills = |large: u32, small: u32| {
        let mut machine = Machine::new(&shipped("pentium-90", &[]));
        let mut tables = Identity { large_from: 0x8000_0000, ..Default::default() };
        for _ in 0..3 {
            for page in 0..large {
                let linear = 0x8000_0000 + (page << 22);
                machine.event(
                    &Event::Read { linear: Linear(linear), physical: Physical(0x40_0000), size: 4 },
                    &mut tables,
                );
            }
            sweep(&mut machine, &mut tables, 0x40_0000, small);
        }
        machine.counts().dtlb_misses
    };
    assert_eq!(refills(8, 64), 72, "8 beside 64: each missed once");
    assert!(refills(9, 64) > 73);
}

#[test]
fn t113_without_the_global_bit_a_cr3_write_takes_global_pages_too() {
    for (name, kept) in [("i486", false), ("pentium-90", false), ("pentium4-1400", true)] {
        let mut machine = Machine::new(&shipped(name, &[]));
        let mut tables = Identity { global_from: 0, ..Default::default() };
        machine.event(&Event::ControlWrite { global_pages: true }, &mut tables);
        sweep(&mut machine, &mut tables, 0x40_0000, 4);
        machine.event(&Event::Cr3Write { directory: Physical(0), at: 0 }, &mut tables);
        sweep(&mut machine, &mut tables, 0x40_0000, 4);
        assert_eq!(machine.counts().dtlb_misses == 4, kept, "{name}");
    }
}
