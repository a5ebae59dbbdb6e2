// SPDX-License-Identifier: GPL-2.0-or-later
//! 2xx: caches.

mod common;
use cobnut_model::*;
use common::*;

fn shape() -> CacheShape {
    CacheShape {
        size: 8192,
        line: 64,
        ways: 4,
        replacement: Replacement::Lru,
        virtually_tagged: false,
        write_back: true,
        write_allocate: true,
        lines_per_fill: 1,
    }
}

fn misses(cache: &mut Cache, addresses: impl IntoIterator<Item = u32>) -> usize {
    addresses.into_iter().filter(|&a| !cache.access(a, false).hit()).count()
}

#[test]
fn t201_holds_exactly_its_size() {
    let mut cache = Cache::new(shape());
    assert_eq!(misses(&mut cache, (0..8192).step_by(4)), 128);
    assert_eq!(misses(&mut cache, (0..8192).step_by(4)), 0);
    assert_eq!(misses(&mut cache, [8192]), 1);
}

#[test]
fn t202_associativity() {
    let mut cache = Cache::new(shape());
    let same_set = |n: u32| (0..n).map(|i| i * 2048);
    misses(&mut cache, same_set(4));
    assert_eq!(misses(&mut cache, same_set(4)), 0);
    misses(&mut cache, same_set(5));
    assert_eq!(misses(&mut cache, same_set(5)), 5);
}

#[test]
fn t203_a_line_is_the_unit() {
    let mut cache = Cache::new(shape());
    assert_eq!(misses(&mut cache, [0x1000, 0x103f, 0x1040]), 2);
}

#[test]
fn t204_write_back_counts_modified_victims() {
    let mut cache = Cache::new(shape());
    cache.access(0, true);
    misses(&mut cache, (1..4).map(|i| i * 2048));
    assert_eq!(cache.access(4 * 2048, false).write_backs, 1);
    assert_eq!(cache.access(5 * 2048, false).write_backs, 0, "the next victim is clean");
}

#[test]
fn t205_write_through_never_holds_modified_lines() {
    let mut cache = Cache::new(CacheShape { write_back: false, ..shape() });
    cache.access(0, true);
    assert_eq!(cache.flush(Moment::START), 0);
}

#[test]
fn t206_without_write_allocate_a_store_leaves_no_line() {
    let mut cache = Cache::new(CacheShape { write_allocate: false, ..shape() });
    cache.access(0x40, true);
    assert!(!cache.access(0x40, false).hit());
}

#[test]
fn t207_a_read_miss_fills_its_aligned_group() {
    let mut cache = Cache::new(CacheShape { lines_per_fill: 2, ..shape() });
    assert_eq!(misses(&mut cache, [0x1040, 0x1000, 0x1080]), 2);
}

#[test]
fn t208_flush_empties_and_counts_modified_lines() {
    let mut cache = Cache::new(shape());
    cache.access(0, true);
    cache.access(64, true);
    cache.access(128, false);
    assert_eq!(cache.flush(Moment::START), 2);
    assert_eq!(misses(&mut cache, [0, 64, 128]), 3);
}

#[test]
fn t209_in_a_unified_cache_code_and_data_displace_each_other() {
    // Lines of one set, alternately code and data: as many as the i486 has ways, then one more.
    let refills = |lines: u32| {
        let mut machine = Machine::new(&shipped("i486", &["memory.read_cycles:100", "walker.reads_through:constant"]));
        let mut tables = Identity::default();
        for _ in 0..3 {
            for line in 0..lines {
                let linear = 0x40_0000 + line * 2048;
                match line % 2 {
                    0 => machine.event(&Event::Fetch { linear, instruction: instruction(Class::Nop, 1) }, &mut tables),
                    _ => machine.event(&Event::Read { linear, physical: linear, size: 4 }, &mut tables),
                }
            }
        }
        cycles(&machine, Category::CacheRefill)
    };
    let settled_cost = |lines: u32| refills(lines) - 100 * lines as u64;
    assert_eq!(settled_cost(4), 0, "after the first pass nothing is missing");
    assert!(settled_cost(5) > 0);
}
