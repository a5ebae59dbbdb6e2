// SPDX-License-Identifier: GPL-2.0-or-later
//! 2xx: caches.

mod common;
use cobnut_model::ia32::*;
use cobnut_model::Code;
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

fn misses(cache: &mut Cache<Physical>, addresses: impl IntoIterator<Item = u32>) -> usize {
    addresses.into_iter().filter(|&a| !cache.access(Physical(a), false).hit()).count()
}

#[test]
fn t201_holds_exactly_its_size() {
    let mut cache = Cache::<Physical>::new(shape());
    assert_eq!(misses(&mut cache, (0..8192).step_by(4)), 128);
    assert_eq!(misses(&mut cache, (0..8192).step_by(4)), 0);
    assert_eq!(misses(&mut cache, [8192]), 1);
}

#[test]
fn t202_associativity() {
    let mut cache = Cache::<Physical>::new(shape());
    let same_set = |n: u32| (0..n).map(|i| i * 2048);
    misses(&mut cache, same_set(4));
    assert_eq!(misses(&mut cache, same_set(4)), 0);
    misses(&mut cache, same_set(5));
    assert_eq!(misses(&mut cache, same_set(5)), 5);
}

#[test]
fn t203_a_line_is_the_unit() {
    let mut cache = Cache::<Physical>::new(shape());
    assert_eq!(misses(&mut cache, [0x1000, 0x103f, 0x1040]), 2);
}

#[test]
fn t204_write_back_counts_modified_victims() {
    let mut cache = Cache::<Physical>::new(shape());
    cache.access(Physical(0), true);
    misses(&mut cache, (1..4).map(|i| i * 2048));
    assert_eq!(cache.access(Physical(4 * 2048), false).write_backs, 1);
    assert_eq!(cache.access(Physical(5 * 2048), false).write_backs, 0, "the next victim is clean");
}

#[test]
fn t205_write_through_never_holds_modified_lines() {
    let mut cache = Cache::<Physical>::new(CacheShape { write_back: false, ..shape() });
    cache.access(Physical(0), true);
    assert_eq!(cache.flush(Moment::START), 0);
}

#[test]
fn t206_without_write_allocate_a_store_leaves_no_line() {
    let mut cache = Cache::<Physical>::new(CacheShape { write_allocate: false, ..shape() });
    cache.access(Physical(0x40), true);
    assert!(!cache.access(Physical(0x40), false).hit());
}

#[test]
fn t207_a_read_miss_fills_its_aligned_group() {
    let mut cache = Cache::<Physical>::new(CacheShape { lines_per_fill: 2, ..shape() });
    assert_eq!(misses(&mut cache, [0x1040, 0x1000, 0x1080]), 2);
}

#[test]
fn t208_flush_empties_and_counts_modified_lines() {
    let mut cache = Cache::<Physical>::new(shape());
    cache.access(Physical(0), true);
    cache.access(Physical(64), true);
    cache.access(Physical(128), false);
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
                    0 => machine.event(
                        &Event::Fetch { linear: Linear(linear), instruction: instruction(Class::Nop, 1) },
                        &mut tables,
                    ),
                    _ => machine.event(&read_at(linear), &mut tables),
                }
            }
        }
        cycles(&machine, Category::CacheRefill)
    };
    let steady_cost = |lines: u32| refills(lines) - 100 * lines as u64;
    assert_eq!(steady_cost(4), 0, "after the first pass nothing is missing");
    assert!(steady_cost(5) > 0);
}

/// Two machines see the same, but one is not told of what it says that it has just seen.
#[test]
fn t210_an_access_that_was_just_seen_changes_nothing() {
    let changes: [&[&str]; 4] =
        [&[], &["l1d.write_policy:write-back"], &["l1d.write_allocate:false"], &["walker.reads_through:l1"]];
    let files = ["i486", "pentium-90", "pentium-133"].map(|name| shipped(name, &[]));
    for file in files.into_iter().chain(changes.map(pentium4)) {
        let (mut told, mut spared) = (Machine::new(&file), Machine::new(&file));
        let mut tables = Identity { global_from: 0x40_0000, large_from: 0x60_0000, walks: 0 };
        let (mut random, mut linear, mut seen) = (1u64, 0, 0);
        let code: Vec<Block> =
            (1..9).map(|length| Block::new(vec![instruction(Class::Nop, length)], told.costs())).collect();
        for _ in 0..100_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (place, choice) = ((random >> 44) as u32, (random >> 33) as u32 % 64);
            // A megabyte of each kind of page.
            let far = (1 + place % 3) << 21 | place & 0xf_fffc;
            match choice {
                0 => {
                    let event = match place % 4 {
                        0 => Event::Cr3Write { directory: Physical(place & 0x3000), at: 0 },
                        1 => Event::Invlpg { linear: Linear(linear) },
                        2 => Event::ControlWrite { global_pages: place & 8 != 0 },
                        _ => Event::PageFault { linear: Linear(far) },
                    };
                    [&mut told, &mut spared].into_iter().for_each(|machine| machine.event(&event, &mut tables));
                }
                1..16 => {
                    let (block, at) =
                        (&code[place as usize % code.len()], if choice < 4 { far } else { far & 0x60_0fff });
                    [&mut told, &mut spared]
                        .into_iter()
                        .for_each(|machine| machine.block(block, Linear(at), &mut tables));
                }
                _ => {
                    linear = if choice < 24 { far } else { linear.wrapping_add(4 * (place % 3)) };
                    let (size, write) = (1 << (place % 5), place & 0x100 != 0);
                    told.data(Linear(linear), Physical(linear), size, write, &mut tables);
                    match spared.has_just_seen(Linear(linear), size, write) {
                        true => seen += 1,
                        false => spared.data(Linear(linear), Physical(linear), size, write, &mut tables),
                    }
                }
            }
            assert_eq!(told.ledger(), spared.ledger(), "{}", file.name);
        }
        assert_eq!(told.counts(), spared.counts());
        assert!(told.checkpoint().same_state(&spared.checkpoint()));
        // Where loads can wait for stores, it has to be told of all of these.
        let least = if file.has_section("store_forwarding") { 5_000 } else { 10_000 };
        assert!(seen > least, "{}: {seen}", file.name);
    }
}
