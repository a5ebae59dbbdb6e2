// SPDX-License-Identifier: GPL-2.0-or-later
//! What a sanitizer has found, as lines for people and as JSON.

use super::symbols::Symbols;
use cobnut_model::{Mistake, Report, Reports};
use serde::Serialize;

/// What a processor's reports call things in a line.
pub struct Words {
    /// The tables in force.
    pub tables: &'static str,
    /// What the guilty instruction is said to have done, before `by`.
    pub guilt: &'static str,
}

/// An address in JSON: 8 hexadecimal digits behind 0x.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Hex(String);

impl From<u32> for Hex {
    fn from(address: u32) -> Self {
        Hex(format!("{address:#010x}"))
    }
}

/// A report in JSON; `W` is where it happened, which each processor says otherwise.
#[derive(Serialize)]
pub struct Finding<'a, W: Serialize> {
    kind: &'static str,
    /// The instruction that made the access, and its place in the kernel's code if it is there.
    instruction: Hex,
    symbol: Option<String>,
    /// 0 of the kernel, 3 of a user.
    privilege: u8,
    #[serde(flatten)]
    at: W,
    write: bool,
    /// The access came to a fault.
    faulted: bool,
    /// The instruction that made it wrong, if it is known.
    store: Option<Hex>,
    store_symbol: Option<String>,
    /// IA-32: the page-table entry that was changed, 0 if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<Hex>,
    detail: &'a str,
    /// How often the same happened.
    count: u64,
    /// All of it in words.
    line: String,
}

/// What was counted of an instruction.
#[derive(Serialize)]
pub struct Counted<C: Serialize> {
    instruction: Hex,
    symbol: Option<String>,
    #[serde(flatten)]
    counts: C,
}

/// What a sanitizer writes.
#[derive(Serialize)]
pub struct Findings<'a, W: Serialize, I: Serialize, C: Serialize> {
    pub plugin_version: &'static str,
    pub reports: Vec<Finding<'a, W>>,
    /// The instructions that invalidate.
    pub invalidations: Vec<Counted<I>>,
    /// ARM: those that store to what was to be watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Vec<Counted<Mark>>>,
    /// IA-32: those that clear entries of page tables, and those that take translations away.
    pub erasures: Vec<Counted<Erasure>>,
    pub losses: Vec<Counted<Loss>>,
    pub counts: C,
    /// Why nothing can be judged.
    pub warnings: &'a [String],
}

#[derive(Serialize)]
pub struct Mark {
    pub executed: u64,
    /// How often it only cleared bits.
    pub cleared: u64,
}

#[derive(Serialize)]
pub struct Erasure {
    pub directory_entries: u64,
    pub global_bits: u64,
}

#[derive(Serialize)]
pub struct Loss {
    pub losses: u64,
    /// During how many of the guest's accesses a translation stayed in place at most.
    pub longest: u64,
}

impl<W: Serialize, I: Serialize, C: Serialize> Findings<'_, W, I, C> {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The report as a line.
fn line<K: Mistake>(report: &Report<K>, words: &Words, symbols: &Symbols) -> String {
    let who = if report.user { "user" } else { "kernel" };
    let what = match (report.faulted, report.write) {
        (true, _) => "faulted at",
        (false, true) => "writing",
        (false, false) => "reading",
    };
    let store = match report.store {
        0 => String::new(),
        at => format!("; {}by {}", words.guilt, symbols.place(at)),
    };
    format!(
        "{}: {who} {}, {} {:08x}, {what} {:08x}: {}{store}; {} ({} times)",
        report.kind.name(),
        symbols.place(report.instruction),
        words.tables,
        report.tables,
        report.address,
        report.kind.sentence(),
        report.detail,
        report.count
    )
}

/// All reports as lines.
pub fn lines<K: Mistake>(reports: &Reports<K>, words: &Words, symbols: &Symbols) -> Vec<String> {
    reports.list().iter().map(|report| line(report, words, symbols)).collect()
}

/// All reports for JSON, with where each happened and the entry that was changed.
pub fn findings<'a, K: Mistake, W: Serialize>(
    reports: &'a Reports<K>,
    words: &Words,
    symbols: &Symbols,
    place: impl Fn(&Report<K>) -> (W, Option<Hex>),
) -> Vec<Finding<'a, W>> {
    let one = |report: &'a Report<K>| {
        let (at, entry) = place(report);
        Finding {
            kind: report.kind.name(),
            instruction: report.instruction.into(),
            symbol: symbols.name(report.instruction),
            privilege: if report.user { 3 } else { 0 },
            at,
            write: report.write,
            faulted: report.faulted,
            store: (report.store != 0).then(|| report.store.into()),
            store_symbol: symbols.name(report.store),
            entry,
            detail: &report.detail,
            count: report.count,
            line: line(report, words, symbols),
        }
    };
    reports.list().iter().map(one).collect()
}

/// What was counted of each of `list`'s instructions.
pub fn by_instruction<T, C: Serialize>(
    list: &[T],
    symbols: &Symbols,
    counts: impl Fn(&T) -> (u32, C),
) -> Vec<Counted<C>> {
    let one = |counted: &T| {
        let (instruction, counts) = counts(counted);
        Counted { instruction: instruction.into(), symbol: symbols.name(instruction), counts }
    };
    list.iter().map(one).collect()
}
