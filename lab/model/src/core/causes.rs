// SPDX-License-Identifier: GPL-2.0-or-later
//! What a refill is charged to: the switch or invalidation that took the entry, or the switch whose code displaced it.
//!
//! A switch is a change of the running space: a CR3 write that names another directory, or user code in another
//! segment. Entering the kernel is none. The same switch happens again and again, so what is charged is summed for each
//! distinct [`Switch`]; an entry remembers the [`Moment`] of one, and a table of moments leads to it. The segment that
//! the new space runs in is known only when its first user code runs, so a CR3 switch stays unresolved until then.

use crate::{Category, Linear, Loss, Moment, Physical, CATEGORIES};
use std::collections::HashMap;

/// An address space as the hardware shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Space {
    /// Physical address of its page directory, or of its host's.
    pub directory: Physical,
    /// Linear address where its code segment starts; on ARM, what the process identifier adds to low addresses.
    pub code_base: Linear,
}

/// What took entries away, or when they were displaced. Those from `Reload` on leave the running space as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// A switch by a write of CR3, with or without other segments.
    Cr3,
    /// A switch by segments only.
    Segments,
    /// ARM: a switch by a write of the translation table base, the domain access register or the process identifier.
    TableBase,
    DomainAccess,
    ProcessId,
    /// A write of CR3 that names the directory in force.
    Reload,
    /// A write of CR0 or CR4.
    Control,
    Invlpg,
    /// A page fault drops the translation that raised it.
    PageFault,
    /// ARM: a TLB was emptied, or lost one entry; a cache was emptied or cleaned, or one line of it was.
    TlbFlush,
    TlbEntry,
    CacheFlush,
    CacheLine,
    /// No switch: before the first one, or one that is no longer known because there were too many since.
    Unknown,
}

impl How {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            How::Cr3 => "cr3",
            How::Segments => "segments",
            How::TableBase => "table_base",
            How::DomainAccess => "domain_access",
            How::ProcessId => "process_id",
            How::Reload => "reload",
            How::Control => "control",
            How::Invlpg => "invlpg",
            How::PageFault => "page_fault",
            How::TlbFlush => "tlb_flush",
            How::TlbEntry => "tlb_entry",
            How::CacheFlush => "cache_flush",
            How::CacheLine => "cache_line",
            How::Unknown => "unknown",
        }
    }
}

/// A kind of switch or invalidation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Switch {
    pub from: Space,
    pub to: Space,
    pub how: How,
    /// Address of the instruction that wrote CR3, or of the coprocessor operation on ARM; 0 for everything else.
    pub at: u32,
}

/// Why an entry was not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Flushed,
    Evicted,
    Cold,
}

/// The kinds with their report names.
pub const KINDS: [(Kind, &str); 3] = [(Kind::Flushed, "flushed"), (Kind::Evicted, "evicted"), (Kind::Cold, "cold")];

/// Sum of some refills: their number, and their cost in thousandths of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub refills: u64,
    pub milli: u64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.refills += other.refills;
        self.milli += other.milli;
    }

    fn repeat(&mut self, from: &Sum, times: u64) {
        self.refills += (self.refills - from.refills) * times;
        self.milli += (self.milli - from.milli) * times;
    }
}

type Sums = [[Sum; KINDS.len()]; CATEGORIES.len()];

/// One sum of [`Charges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    pub category: Category,
    pub kind: Kind,
    /// Index into [`Causes::switches`]. Of a cold refill always [`UNKNOWN`].
    pub switch: usize,
    pub sum: Sum,
}

/// What was charged to each switch so far.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    by_switch: Vec<Sums>,
    /// How often each happened.
    times: Vec<u64>,
}

impl Charges {
    /// Which switches happened between `origin` and `self`, and how often.
    pub fn switches_since(&self, origin: &Charges) -> Vec<(usize, u64)> {
        let then = |switch: usize| origin.times.get(switch).copied().unwrap_or(0);
        let times = self.times.iter().enumerate().map(|(switch, now)| (switch, now - then(switch)));
        times.filter(|&(_, times)| times > 0).collect()
    }

    /// Adds what was charged and what happened since `from` so many `times` more.
    pub fn repeat(&mut self, from: &Charges, times: u64) {
        self.times.iter_mut().zip(&from.times).for_each(|(count, from)| *count += (*count - from) * times);
        let before = from.by_switch.iter().flatten().flatten();
        self.by_switch.iter_mut().flatten().flatten().zip(before).for_each(|(sum, from)| sum.repeat(from, times));
    }

    /// Adds what was charged and what happened between `from` and `to`, which came later.
    pub fn pass_over(&mut self, from: &Charges, to: &Charges) {
        self.times.resize(to.times.len(), 0);
        let times = self.times.iter_mut().zip(&to.times).enumerate();
        times.for_each(|(switch, (count, to))| *count += to - from.times.get(switch).copied().unwrap_or(0));
        self.by_switch.resize(to.by_switch.len(), Default::default());
        for (switch, sums) in self.by_switch.iter_mut().enumerate() {
            let before = from.by_switch.get(switch).copied().unwrap_or_default();
            let added = before.iter().flatten().zip(to.by_switch[switch].iter().flatten());
            sums.iter_mut().flatten().zip(added).for_each(|(sum, (from, to))| {
                sum.refills += to.refills - from.refills;
                sum.milli += to.milli - from.milli;
            });
        }
    }

    /// The sums between `origin` and `self` that are not zero, by category, kind, and switch.
    pub fn since(&self, origin: &Charges) -> Vec<Charge> {
        let mut found = Vec::new();
        for (c, &(category, _)) in CATEGORIES.iter().enumerate() {
            for &(kind, _) in &KINDS {
                for (switch, sums) in self.by_switch.iter().enumerate() {
                    let (now, then) = (sums[c][kind as usize], origin.by_switch.get(switch));
                    let then = then.map_or(Sum::default(), |sums| sums[c][kind as usize]);
                    let sum = Sum { refills: now.refills - then.refills, milli: now.milli - then.milli };
                    if sum != Sum::default() {
                        found.push(Charge { category, kind, switch, sum });
                    }
                }
            }
        }
        found
    }
}

/// Index of the switch that is none: cold refills, and losses whose switch is not known.
pub const UNKNOWN: usize = 0;
/// Where the charges to an unresolved switch wait.
const UNRESOLVED: usize = 1;
const NO_SWITCH: Switch = Switch {
    from: Space { directory: Physical(0), code_base: Linear(0) },
    to: Space { directory: Physical(0), code_base: Linear(0) },
    how: How::Unknown,
    at: 0,
};
/// Distinct switches beyond these are not told apart.
const MOST_SWITCHES: usize = 4096;
/// Moments that are remembered; a power of two. An entry that was lost longer ago is charged to no known switch.
const MOST_MOMENTS: usize = 1 << 20;

/// Passes around a repetition in which something may be charged that was lost before it.
const SPARE_PASSES: u32 = 4;

pub struct Causes {
    space: Space,
    /// The running space's switch.
    current: Moment,
    /// A CR3 switch whose user code has not run yet.
    unresolved: Option<Unresolved>,
    newest: Moment,
    moments: Vec<u16>,
    switches: Vec<Switch>,
    indices: HashMap<Switch, u16>,
    /// The two that happened last: a ping-pong needs no others.
    recent: [u16; 2],
    charges: Charges,
}

#[derive(Clone, Copy)]
struct Unresolved {
    moment: Moment,
    from: Space,
    at: u32,
}

impl Default for Causes {
    fn default() -> Self {
        Causes {
            space: Space::default(),
            current: Moment::START,
            unresolved: None,
            newest: Moment::START,
            moments: vec![UNKNOWN as u16; MOST_MOMENTS],
            switches: vec![NO_SWITCH; 2],
            indices: HashMap::new(),
            recent: [UNKNOWN as u16; 2],
            charges: Charges { by_switch: vec![Sums::default(); 2], times: vec![0; 2] },
        }
    }
}

impl Causes {
    /// Every distinct switch and invalidation, by index.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The space that runs.
    pub fn space(&self) -> Space {
        self.space
    }

    /// The last switch.
    pub(crate) fn current(&self) -> Moment {
        self.current
    }

    /// Appends everything that decides how the next events are charged, moments by how long ago they are.
    pub(crate) fn state(&self, out: &mut Vec<u64>) {
        let (switches, known) = (self.switches.len() as u32, self.is_known(self.current) as u32);
        let Space { directory, code_base } = self.space;
        out.extend([directory.0, code_base.0, switches, known].map(u64::from));
        if let Some(Unresolved { moment, from, at }) = self.unresolved {
            out.extend([self.newest.0 - moment.0, from.directory.0, from.code_base.0, at].map(u64::from));
        }
    }

    pub(crate) fn newest(&self) -> Moment {
        self.newest
    }

    /// What was charged so far, what waits for a switch to be resolved included.
    pub(crate) fn all_charges(&self) -> &Charges {
        &self.charges
    }

    /// How often what happened since `from` can happen again before the last switch is too long ago to be charged, or
    /// what was lost in the last passes is.
    pub(crate) fn repeatable(&self, from: Moment) -> u64 {
        let age = if self.is_known(self.current) { self.newest.0 - self.current.0 } else { 0 };
        match self.newest.0 - from.0 {
            0 => u64::MAX,
            each => ((MOST_MOMENTS as u32 - age) / each).saturating_sub(SPARE_PASSES) as u64,
        }
    }

    /// What happened since `from`, when `charges` were charged, happens so many `times` more. What was lost in these is
    /// not told by their moments, but by those of the last time.
    pub(crate) fn repeat(&mut self, from: Moment, charges: &Charges, times: u64) {
        self.charges.repeat(charges, times);
        self.newest.0 += (self.newest.0 - from.0) * times as u32;
    }

    /// CR3 was written by the instruction at `at`. Returns the moment, and whether that is a switch.
    pub(crate) fn cr3_written(&mut self, directory: Physical, at: u32) -> (Moment, bool) {
        self.resolve_switch();
        if directory == self.space.directory {
            return (self.happened(Switch { from: self.space, to: self.space, how: How::Reload, at }), false);
        }
        let moment = self.next_moment(UNRESOLVED);
        self.unresolved = Some(Unresolved { moment, from: self.space, at });
        self.space.directory = directory;
        self.current = moment;
        (moment, true)
    }

    /// A switch to the space `to`, known at once.
    pub(crate) fn switched(&mut self, to: Space, how: How, at: u32) -> Moment {
        let from = std::mem::replace(&mut self.space, to);
        self.current = self.happened(Switch { from, to, how, at });
        self.current
    }

    /// User code runs in a segment that starts at `base`. Returns whether that is a switch.
    pub(crate) fn user_code(&mut self, base: Linear) -> bool {
        let from = std::mem::replace(&mut self.space.code_base, base);
        if self.unresolved.is_some() {
            self.resolve_switch();
            return false;
        }
        if from == base {
            return false;
        }
        let from = Space { code_base: from, ..self.space };
        self.current = self.happened(Switch { from, to: self.space, how: How::Segments, at: 0 });
        true
    }

    /// An invalidation that is no switch.
    pub(crate) fn invalidated(&mut self, how: How) -> Moment {
        self.invalidated_by(how, 0)
    }

    /// The same by the instruction at `at`.
    pub(crate) fn invalidated_by(&mut self, how: How, at: u32) -> Moment {
        self.happened(Switch { from: self.space, to: self.space, how, at })
    }

    /// Charges a refill. The same amount must go into the ledger.
    #[inline]
    pub(crate) fn charge(&mut self, category: Category, loss: Loss, milli: u64) {
        self.charge_part(category, loss, Sum { refills: 1, milli });
    }

    /// Charges what a refill that was charged already costs more.
    #[inline]
    pub(crate) fn charge_more(&mut self, category: Category, loss: Loss, milli: u64) {
        self.charge_part(category, loss, Sum { refills: 0, milli });
    }

    #[inline]
    fn charge_part(&mut self, category: Category, loss: Loss, part: Sum) {
        let (kind, switch) = match loss {
            Loss::Cold => (Kind::Cold, UNKNOWN),
            Loss::Flushed(moment) => (Kind::Flushed, self.switch_of(moment)),
            Loss::Evicted(moment) => (Kind::Evicted, self.switch_of(moment)),
        };
        self.charges.by_switch[switch][category as usize][kind as usize].add(part);
    }

    /// What was charged so far. No switch may be unresolved: see [`resolve_switch`](Self::resolve_switch).
    pub fn charges(&self) -> &Charges {
        debug_assert!(self.unresolved.is_none());
        &self.charges
    }

    /// Takes the running space for the one that the last CR3 switch goes to.
    pub(crate) fn resolve_switch(&mut self) {
        let Some(Unresolved { moment, from, at }) = self.unresolved.take() else { return };
        let index = self.index(Switch { from, to: self.space, how: How::Cr3, at });
        self.charges.times[index] += 1;
        if self.is_known(moment) {
            self.moments[moment.0 as usize % MOST_MOMENTS] = index as u16;
        }
        let waiting = std::mem::take(&mut self.charges.by_switch[UNRESOLVED]);
        for (sums, waiting) in self.charges.by_switch[index].iter_mut().zip(waiting) {
            sums.iter_mut().zip(waiting).for_each(|(sum, waiting)| sum.add(waiting));
        }
    }

    fn happened(&mut self, switch: Switch) -> Moment {
        let index = self.index(switch);
        self.charges.times[index] += 1;
        self.next_moment(index)
    }

    fn next_moment(&mut self, index: usize) -> Moment {
        self.newest = Moment(self.newest.0 + 1);
        self.moments[self.newest.0 as usize % MOST_MOMENTS] = index as u16;
        self.newest
    }

    #[inline]
    fn is_known(&self, moment: Moment) -> bool {
        self.newest.0 - moment.0 < MOST_MOMENTS as u32
    }

    #[inline]
    fn switch_of(&self, moment: Moment) -> usize {
        match self.is_known(moment) {
            true => self.moments[moment.0 as usize % MOST_MOMENTS] as usize,
            false => UNKNOWN,
        }
    }

    fn index(&mut self, switch: Switch) -> usize {
        if let Some(&index) = self.recent.iter().find(|&&index| self.switches[index as usize] == switch) {
            return index as usize;
        }
        if let Some(&index) = self.indices.get(&switch) {
            self.recent = [index, self.recent[0]];
            return index as usize;
        }
        if self.switches.len() == MOST_SWITCHES {
            return UNKNOWN;
        }
        let index = self.switches.len();
        self.indices.insert(switch, index as u16);
        self.switches.push(switch);
        self.charges.by_switch.push(Sums::default());
        self.charges.times.push(0);
        index
    }
}
