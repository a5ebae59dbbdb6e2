// SPDX-License-Identifier: GPL-2.0-or-later
//! How it is said which parameters a machine file has, and which values make sense: one table for each processor
//! (`ia32/schema.rs`, `arm/schema.rs`), used for parsing, overriding and reporting.

use crate::{arm, ia32};

/// What a parameter's value may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A whole number in `min..=max`.
    Integer {
        min: u64,
        max: u64,
    },
    /// A whole number in `1..=max`, or "full" for fully associative.
    Ways,
    /// Cycles, with at most three decimals, in `0..=max`.
    Cycles {
        max: u64,
    },
    Bool,
    Choice(&'static [&'static str]),
}

/// One parameter: section, key, kind.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub section: &'static str,
    pub key: &'static str,
    pub kind: Kind,
}

/// Which processors a machine file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    Ia32,
    Arm,
}

impl Architecture {
    pub fn name(self) -> &'static str {
        match self {
            Architecture::Ia32 => "ia32",
            Architecture::Arm => "arm",
        }
    }

    pub(crate) fn of(name: &str) -> Result<Self, String> {
        let known = [Architecture::Ia32, Architecture::Arm].into_iter().find(|known| known.name() == name);
        known.ok_or(format!("architecture: {name} is not one of ia32, arm"))
    }
}

/// Everything that a file may and has to say.
pub(crate) struct Schema {
    pub specs: Vec<Spec>,
    pub layouts: &'static [Layout],
    pub alternatives: &'static [(&'static str, [&'static [&'static str]; 2])],
    pub optional_keys: &'static [&'static str],
    pub optional_sections: &'static [&'static str],
}

/// Sections of which a machine has exactly one list.
pub(crate) type Layout = &'static [&'static [&'static str]];

impl Schema {
    /// Whether a machine may lack a whole section.
    pub fn optional_section(&self, section: &str) -> bool {
        let chosen = self.layouts.iter().any(|lists| lists.iter().any(|list| list.contains(&section)));
        self.optional_sections.contains(&section) || chosen
    }

    /// Whether a parameter may be left out of a section that is there.
    pub fn optional_key(&self, section: &str, key: &str) -> bool {
        let alternative = |(s, lists): &(&str, [&[&str]; 2])| *s == section && lists.iter().any(|l| l.contains(&key));
        self.optional_keys.contains(&key) || self.alternatives.iter().any(alternative)
    }
}

/// The schema of machine files of this architecture.
pub(crate) fn of(architecture: Architecture) -> Schema {
    match architecture {
        Architecture::Ia32 => ia32::schema::schema(),
        Architecture::Arm => arm::schema::schema(),
    }
}

pub(crate) const TLBS: [&str; 4] = ["tlb", "itlb", "dtlb", "dtlb_large"];
/// Of all jumps, and of those that come from a trace cache.
pub(crate) const PREDICTORS: [&str; 2] = ["branch_prediction", "trace_prediction"];
pub(crate) const CACHES: [&str; 4] = ["l1i", "l1d", "l1", "l2"];

pub(crate) const REPLACEMENT: Kind = Kind::Choice(&["lru", "pseudo-lru", "round-robin", "random"]);
pub(crate) const ENTRIES: Kind = Kind::Integer { min: 1, max: 1 << 16 };
pub(crate) const BYTES: Kind = Kind::Integer { min: 64, max: 1 << 28 };
pub(crate) const LINE: Kind = Kind::Integer { min: 8, max: 4096 };
pub(crate) const CYCLES: Kind = Kind::Cycles { max: 1_000_000 };
pub(crate) const SEED: Kind = Kind::Integer { min: 0, max: u32::MAX as u64 };
