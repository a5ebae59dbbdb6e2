// SPDX-License-Identifier: GPL-2.0-or-later
//! Infers a machine's parameters from what probes of it report, without a look at its file.

use crate::probe::*;
use std::collections::BTreeMap;

/// Parameters by their names in machine files, in the words of machine files. A cost of which the file states the whole
/// is recovered for one part, under the name of the part.
pub type Recovered = BTreeMap<String, String>;

/// Drops what a CR3 write drops.
const FLUSH: &str = "\tmov %cr3, %eax\n\tmov %eax, %cr3\n";
const PAGE: u32 = 4096;
/// Where a cache is searched for code and for data, and how far; lines to fill its sets with lie before and after.
const CODE: u32 = 0x40_0000;
const CODE_BYTES: u32 = 0x1e_0000;
const DATA: u32 = 0x70_0000;
const DATA_BYTES: u32 = 0x2e_0000;
/// Places that nothing else touches.
const FRESH_DATA: u32 = 0xf1_0000;
const FRESH_CODE: u32 = 0x5d_0000;

fn hex(address: u32) -> String {
    format!("{address:#x}")
}

fn invalidate(place: &str) -> String {
    format!("\tinvlpg {place}\n")
}

/// Touches a place before the measured code.
fn touch_first(access: Access, place: &str) -> String {
    access.sweep(place, 0, 1)
}

fn missed(sample: &Sample) -> bool {
    Gone::Missed.judge(sample)
}

fn refilled(sample: &Sample, at_least: u64) -> bool {
    Gone::Refilled(at_least).judge(sample)
}

/// TLBs are emptied before each attempt.
fn tlb_ground<'a>(access: Access, bases: [String; 3]) -> Ground<'a> {
    let (first, last) = (Box::new(|_: &str| FLUSH.into()), Box::new(|_: &str| String::new()));
    Ground { access, bases, first, last, gone: Gone::Missed }
}

/// Sets of caches are filled with other lines.
fn cache_ground<'a>(access: Access, last: Code<'a>, cost: u64) -> Ground<'a> {
    let area = if access == Access::Read { DATA } else { CODE };
    let bases = [0x1_0000, 0x1_0440, 0x1_16c0].map(|offset| hex(area + offset));
    let first = Box::new(move |place: &str| match access {
        Access::Read => access.sweep(&format!("{place} + 0x300000"), 1 << 18, 16),
        Access::Execute => access.sweep(&format!("{place} - 0x200000"), 1 << 16, 16),
    });
    Ground { access, bases, first, last, gone: Gone::Refilled(cost) }
}

fn nothing<'a>() -> Code<'a> {
    Box::new(|_| String::new())
}

/// Ways and the stride from which on all places fall into one set, from the capacities at growing strides.
fn ways_and_wrap(strides: &[u32], held: &[u32]) -> (u32, u32) {
    let ways = held[held.len() - 1];
    let first = held.iter().position(|&n| n == ways).unwrap();
    (ways, strides[first])
}

pub fn recover(subject: &Subject) -> Recovered {
    let mut found = Recovered::new();
    tlbs(subject, &mut found);
    let first_level = caches(subject, &mut found);
    walks(subject, first_level, &mut found);
    direct_costs(subject, &mut found);
    if subject.measure(&[case("", "\t.fill 20, 1, 0x90\n").cold()])[0].count("trace_misses") > 0 {
        traces(subject, &mut found);
    } else if found.contains_key("itlb.entries") {
        found.insert("itlb.lookup".into(), "fetch".into());
    }
    found
}

/// One TLB as the probes see it.
struct TlbProbe {
    section: &'static str,
    access: Access,
    area: &'static str,
    /// Other places in the same memory, for large and for global pages.
    large: &'static str,
    global: &'static str,
    row: &'static str,
}

const DATA_TLB: TlbProbe = TlbProbe {
    section: "dtlb",
    access: Access::Read,
    area: "DATA_PAGES",
    large: "LARGE_PAGES + 0x200000",
    global: "GLOBAL + 0x5000",
    row: "tlb_refill_data",
};
const CODE_TLB: TlbProbe =
    TlbProbe { section: "itlb", access: Access::Execute, area: "CODE_PAGES", row: "tlb_refill_code", ..DATA_TLB };

fn tlbs(subject: &Subject, found: &mut Recovered) {
    let shared = FLUSH.to_string() + &touch_first(Access::Execute, "CODE_PAGES + 0x9000");
    let unified = !missed(&subject.measure(&[touch_after(Access::Read, &shared, "CODE_PAGES + 0x9008")])[0]);
    let probes: &[TlbProbe] = if unified { &[TlbProbe { section: "tlb", ..DATA_TLB }] } else { &[DATA_TLB, CODE_TLB] };
    for probe in probes {
        let entries = tlb_geometry(subject, probe, unified, found);
        tlb_pages(subject, probe, entries, found);
    }
}

fn tlb_geometry(subject: &Subject, probe: &TlbProbe, unified: bool, found: &mut Recovered) -> u32 {
    let strides: Vec<u32> = (0..7).map(|shift| 1 << shift).collect();
    let ground = tlb_ground(probe.access, [0, 3, 6].map(|page| format!("{} + {}", probe.area, hex(page * PAGE))));
    let most = |stride: u32| (16_384 / stride - 8).min(1024);
    let searches: Vec<Search> =
        strides.iter().map(|s| Search { ground: &ground, stride: s * PAGE, most: most(*s) }).collect();
    let (held, sets) = ways_and_wrap(&strides, &search(subject, &searches));
    // Without sets, the page of the case's own code takes one of the entries that hold code.
    let own = (sets == 1 && (unified || probe.access == Access::Execute)) as u32;
    let ways = held + own;
    let set = |key: &str, value: String| (format!("{}.{key}", probe.section), value);
    found.extend([
        set("entries", (ways * sets).to_string()),
        set("associativity", if sets == 1 { "full".into() } else { ways.to_string() }),
    ]);
    if let Some(policy) = replacement(subject, &ground, sets * PAGE, held) {
        found.insert(format!("{}.replacement", probe.section), policy);
    }
    ways * sets
}

fn tlb_pages(subject: &Subject, probe: &TlbProbe, entries: u32, found: &mut Recovered) {
    let TlbProbe { section, access, large, global, area, row } = *probe;
    let after = |before: &str, place: &str| touch_after(access, before, place);
    let page = format!("{area} + 0x64000");
    let lost = |place: &str| touch_first(access, place) + &invalidate(place);
    let crowd = access.sweep(area, PAGE, 2 * entries).repeat(2);
    let samples = subject.measure(&[
        after(&(touch_first(access, global) + FLUSH), global),
        after(&(FLUSH.to_string() + &touch_first(access, large)), &format!("{large} + 0x3000")),
        after(&(touch_first(access, large) + &crowd), large),
        after(&lost(&page), &page),
        after(&lost(large), large),
    ]);
    let [kept, whole, apart] = [0, 1, 2].map(|n| !missed(&samples[n]));
    let separate = whole && apart;
    found.insert(format!("{section}.global_bit"), kept.to_string());
    found.insert(format!("{section}.pages"), if whole && !separate { "4k+4m" } else { "4k" }.into());
    found.insert(format!("{section}.miss_cycles"), samples[3].row(row).to_string());
    if !separate {
        return;
    }
    let strides = [1, 2, 4, 8, 16];
    let ground = tlb_ground(access, [0, 1, 2].map(|page| format!("{large} + {}", hex(page << 22))));
    let searches = strides.map(|s| Search { ground: &ground, stride: s << 22, most: 125 / s });
    let (ways, sets) = ways_and_wrap(&strides, &search(subject, &searches));
    let set = |key: &str, value: String| (format!("{section}_large.{key}"), value);
    found.extend([
        set("entries", (ways * sets).to_string()),
        set("associativity", if sets == 1 { "full".into() } else { ways.to_string() }),
        set("pages", "4m".into()),
        set("global_bit", kept.to_string()),
        set("miss_cycles", samples[4].row(row).to_string()),
    ]);
    if let Some(policy) = replacement(subject, &ground, sets << 22, ways) {
        found.insert(format!("{section}_large.replacement"), policy);
    }
}

/// The policy, by which place of a full set goes: after a new use of the first, the next newcomer displaces the second
/// where the least recently used goes; after one of the third, the first. Trees of bits differ in one or the other, by
/// whether the set was empty. Below four ways a tree is an order, so nothing is said.
fn replacement(subject: &Subject, ground: &Ground, stride: u32, ways: u32) -> Option<String> {
    if ways < 4 {
        return None;
    }
    // What is used again before the newcomer, and what should be gone then; counted from 0.
    let attempts = [(0, 1), (2, 0), (0, ways / 2), (2, 1)];
    let cases = ground.bases.iter().flat_map(|base| {
        attempts.map(|(again, victim)| {
            let before = ground.touched(base, stride, ways, &[again, ways]);
            touch_after(ground.access, &before, &format!("{base} + {}", hex(victim * stride)))
        })
    });
    let samples = subject.measure(&cases.collect::<Vec<_>>());
    let went: Vec<bool> = samples.iter().map(|sample| ground.gone.judge(sample)).collect();
    let votes = |wanted: fn(&[bool]) -> bool| went.chunks(attempts.len()).filter(|w| wanted(w)).count();
    let (lru, tree) = (votes(|w| w[0] && w[1]), votes(|w| !(w[0] && w[1]) && (w[2] || w[3])));
    Some(match (lru, tree) {
        (2.., _) => "lru".into(),
        (_, 2..) => "pseudo-lru".into(),
        _ => "neither lru nor pseudo-lru".into(),
    })
}

/// Where page walks read: a table's entry is taken out of the first level, or has never been read at all.
fn walks(subject: &Subject, first_level: Measured, found: &mut Recovered) {
    let page = "DATA_PAGES + 0x464000";
    let warm = touch_first(Access::Read, page);
    let crowd = first_level.displace("table_data + 0x1190");
    let samples = subject.measure(&[
        touch_after(Access::Read, &(warm.clone() + &invalidate(page)), page),
        touch_after(Access::Read, &(warm + &invalidate(page) + &crowd), page),
        touch_after(Access::Read, "", "DATA_PAGES + 0x3c64000").cold(),
    ]);
    let [cached, displaced, cold] = [0, 1, 2].map(|n: usize| samples[n].row("tlb_refill_data"));
    let reads = if displaced > cached {
        "l1"
    } else if cold > cached {
        "l2"
    } else {
        "constant"
    };
    found.insert("walker.reads_through".into(), reads.into());
}

/// A cache that has been measured.
#[derive(Clone, Copy)]
struct Measured {
    ways: u32,
    /// Bytes of one way.
    way: u32,
}

impl Measured {
    /// Displaces a place from this cache, and nothing that is further than 2 * ways ways away.
    fn displace(&self, place: &str) -> String {
        Access::Read.sweep(&format!("{place} + {}", hex(self.way)), self.way, 2 * self.ways)
    }
}

fn caches(subject: &Subject, found: &mut Recovered) -> Measured {
    let place = hex(FRESH_DATA + 0x240);
    let code = hex(FRESH_CODE + 0x240);
    let alias = touch_first(Access::Read, "DATA_FRAME + 0x40");
    let samples = subject.measure(&[
        touch_after(Access::Read, "", &place).cold(),
        touch_after(Access::Read, &touch_first(Access::Execute, &code), &code).cold(),
        touch_after(Access::Read, &alias, "DATA_PAGES + 0x40").cold(),
        touch_after(Access::Execute, "", &hex(FRESH_CODE + 0x2240)).cold(),
    ]);
    let memory = samples[0].row("cache_refill");
    let unified = !refilled(&samples[1], 1);
    let traces = samples[3].count("trace_misses") > 0;
    found.insert("memory.read_cycles".into(), memory.to_string());
    let first = if unified { "l1" } else { "l1d" };
    let tagged = if refilled(&samples[2], 1) { "virtual" } else { "physical" };
    found.insert(format!("{first}.tagged"), tagged.into());
    let l1 = cache(subject, first, Access::Read, found);
    if !unified && !traces {
        cache(subject, "l1i", Access::Execute, found);
    }
    first_level_writes(subject, first, l1, found);
    second_level(subject, l1, memory, found);
    l1
}

/// Smallest power of two from 8 on at which a touch beside a touched place, each anywhere else, costs `at_least`.
fn smallest_distance(
    subject: &Subject,
    first: impl Fn(&str) -> String,
    access: Access,
    from: u32,
    at_least: u64,
) -> u32 {
    let cases: Vec<Case> = (3..10)
        .map(|shift| {
            let place = from + shift * 0x2000;
            touch_after(access, &first(&hex(place)), &hex(place + (1 << shift))).cold()
        })
        .collect();
    let gone = subject.measure(&cases).iter().position(|sample| refilled(sample, at_least));
    8 << gone.expect("lines of at most 512 bytes")
}

/// A first-level cache.
fn cache(subject: &Subject, section: &str, access: Access, found: &mut Recovered) -> Measured {
    let (fresh, bytes) = if access == Access::Read { (FRESH_DATA, DATA_BYTES) } else { (FRESH_CODE, CODE_BYTES) };
    let line = smallest_distance(subject, |place| touch_first(access, place), access, fresh + 0x4000, 1);
    let ground = cache_ground(access, nothing(), 1);
    let strides: Vec<u32> = (0..).map(|shift| line << shift).take_while(|&stride| stride <= 1 << 16).collect();
    let most = |stride: u32| (bytes / stride).min(1024);
    let searches: Vec<Search> =
        strides.iter().map(|&stride| Search { ground: &ground, stride, most: most(stride) }).collect();
    let (ways, way) = ways_and_wrap(&strides, &search(subject, &searches));
    let set = |key: &str, value: u32| (format!("{section}.{key}"), value.to_string());
    found.extend([set("line_bytes", line), set("size_bytes", ways * way), set("associativity", ways)]);
    if let Some(policy) = replacement(subject, &ground, way, ways) {
        found.insert(format!("{section}.replacement"), policy);
    }
    Measured { ways, way }
}

fn write(place: &str) -> String {
    format!("\tmov %ecx, {place}\n")
}

fn first_level_writes(subject: &Subject, section: &str, l1: Measured, found: &mut Recovered) {
    let fresh = hex(FRESH_DATA + 0x1_4140);
    let ground = cache_ground(Access::Read, nothing(), 1);
    let mut cases = vec![touch_after(Access::Read, &write(&fresh), &fresh).cold()];
    cases.extend(ground.bases.iter().map(|base| {
        // A modified line, and as many others as leave it the next to go.
        let modified = ground.touched(base, 0, 1, &[]) + &write(base);
        let others = Access::Read.sweep(&format!("{base} + {}", hex(l1.way)), l1.way, l1.ways - 1);
        let others = if l1.ways > 1 { others } else { String::new() };
        touch_after(Access::Read, &(modified + &others), &format!("{base} + {}", hex(l1.way * l1.ways)))
    }));
    let samples = subject.measure(&cases);
    let written_back = samples[1..].iter().filter(|sample| sample.row("write_back") > 0).count() >= 2;
    let policy = if written_back { "write-back" } else { "write-through" };
    found.insert(format!("{section}.write_policy"), policy.into());
    found.insert(format!("{section}.write_allocate"), (!refilled(&samples[0], 1)).to_string());
}

fn second_level(subject: &Subject, l1: Measured, memory: u64, found: &mut Recovered) {
    let (near, stored) = (hex(FRESH_DATA + 0x1_6240), hex(FRESH_DATA + 0x2_0240));
    let samples = subject.measure(&[
        touch_after(Access::Read, &(touch_first(Access::Read, &near) + &l1.displace(&near)), &near),
        touch_after(Access::Read, &(write(&stored) + &l1.displace(&stored)), &stored).cold(),
    ]);
    let hit = samples[0].row("cache_refill");
    if hit >= memory {
        return;
    }
    let allocates = !refilled(&samples[1], memory);
    let read = |place: &str| touch_first(Access::Read, place);
    let group = smallest_distance(subject, read, Access::Read, FRESH_DATA + 0x3_0000, memory);
    if allocates {
        let line = smallest_distance(subject, write, Access::Read, FRESH_DATA + 0x5_0000, memory);
        found.insert("l2.line_bytes".into(), line.to_string());
    }
    let ground = cache_ground(Access::Read, Box::new(|place| l1.displace(place)), memory);
    let strides: Vec<u32> = (0..).map(|shift| group << shift).take_while(|&stride| stride <= 1 << 18).collect();
    let most = |stride: u32| (DATA_BYTES / stride).min(1024);
    let searches: Vec<Search> =
        strides.iter().map(|&stride| Search { ground: &ground, stride, most: most(stride) }).collect();
    let (ways, way) = ways_and_wrap(&strides, &search(subject, &searches));
    if let Some(policy) = replacement(subject, &ground, way, ways) {
        found.insert("l2.replacement".into(), policy);
    }
    let cases = ground.bases.iter().map(|base| {
        let modified = ground.touched(base, 0, 1, &[]) + &write(base);
        let others = Access::Read.sweep(&format!("{base} + {}", hex(way)), way, ways - 1);
        let before = if ways > 1 { modified + &others } else { modified };
        touch_after(Access::Read, &before, &format!("{base} + {}", hex(way * ways)))
    });
    let samples = subject.measure(&cases.collect::<Vec<_>>());
    let written = samples.iter().map(|sample| sample.row("write_back")).max().unwrap();
    found.extend(
        [
            ("l2.associativity", ways.to_string()),
            ("l2.size_bytes", (ways * way).to_string()),
            ("l2.bytes_per_fill", group.to_string()),
            ("l2.hit_cycles", hit.to_string()),
            ("l2.write_allocate", allocates.to_string()),
            ("l2.write_policy", if written > 0 { "write-back" } else { "write-through" }.to_string()),
            ("memory.write_back_cycles", written.to_string()),
        ]
        .map(|(path, value)| (path.to_string(), value)),
    );
}

fn direct_costs(subject: &Subject, found: &mut Recovered) {
    let samples = subject.measure(&[
        case("\tmov %cr3, %ebx\n", "\tmov %ebx, %cr3\n"),
        case("\tmov $DATA_PAGES, %ebx\n", "\tinvlpg (%ebx)\n"),
        case("\tmov $KERNEL_DATA, %ebx\n", "\tmov %ebx, %es\n"),
        case("", "\tint $0x30\n"),
        case("", "\tinc %esi\n\tinc %edi\n"),
        case("", "\tinc %esi\n\tinc %esi\n"),
        case("\tmov $DATA_PAGES, %esi\n", "\tinc %edi\n\tinc %esi\n\tmov (%esi), %ecx\n"),
        case("\tmov $DATA_PAGES, %esi\n", "\tinc %edi\n\tinc %edx\n\tmov (%esi), %ecx\n"),
        case("", "\tinc %esi\n"),
        case("", "\tinc %si\n"),
    ]);
    let row = |n: usize, category: &str| samples[n].row(category);
    let cost = |n: usize| row(n, "instructions");
    let pairing = if cost(4) < cost(5) { "pentium" } else { "none" };
    found.extend(
        [
            ("address_space.cr3_cycles", row(0, "flush").to_string()),
            ("address_space.invlpg_cycles", row(1, "flush").to_string()),
            ("segments.load_cycles", row(2, "segment_reload").to_string()),
            ("entry.int_iret_cycles", row(3, "kernel_entry_exit").to_string()),
            ("pipeline.pairing", pairing.to_string()),
            ("pipeline.address_stall_cycles", (cost(6) - cost(7)).to_string()),
            ("pipeline.prefix_cycles", (cost(9) - cost(8)).to_string()),
        ]
        .map(|(path, value)| (path.to_string(), value)),
    );
}

/// The trace cache: how many micro-operations a line takes, what one costs, what a CR3 write does, and when the ITLB is
/// asked.
fn traces(subject: &Subject, found: &mut Recovered) {
    let nops = |count: u32| format!("\t.fill {count}, 1, 0x90\n");
    let elsewhere = Access::Execute.sweep("CODE_PAGES + 0x1010", PAGE + 16, 600);
    // A page in another set of the TLB than the case's own code, which would shield its neighbour in a tree.
    let first = "CODE_PAGES + 0x2000";
    let before = touch_first(Access::Execute, first) + &elsewhere;
    let samples = subject.measure(&[
        case("", &nops(20)).cold(),
        case("", &nops(80)).cold(),
        case(FLUSH, &nops(60)),
        case("", &nops(60)),
        touch_after(Access::Execute, &before, first),
    ]);
    let lines = |n: usize| samples[n].count("trace_misses");
    let rebuild = samples[1].row("trace_rebuild") - samples[0].row("trace_rebuild");
    found.insert("trace_cache.uops_per_line".into(), (60 / (lines(1) - lines(0))).to_string());
    found.insert("trace_cache.line_cycles".into(), (rebuild / (lines(1) - lines(0))).to_string());
    found.insert("trace_cache.flushed_by_cr3".into(), (lines(2) > lines(3)).to_string());
    let asked = samples[4].count("itlb_misses") > 0;
    found.insert("itlb.lookup".into(), if asked { "fetch" } else { "trace-build" }.into());
}
