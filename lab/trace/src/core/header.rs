// SPDX-License-Identifier: GPL-2.0-or-later
//! What a record says of itself: its first chunk, as JSON.

use cobnut_model::Architecture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

/// A range of linear addresses that belongs to the part `name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Part", into = "Part")]
pub struct CodeRange {
    pub name: String,
    pub addresses: Range<u32>,
}

/// The same as it stands in a record.
#[derive(Serialize, Deserialize)]
struct Part {
    name: String,
    first: u32,
    end: u32,
}

impl From<Part> for CodeRange {
    fn from(Part { name, first, end }: Part) -> Self {
        CodeRange { name, addresses: first..end }
    }
}

impl From<CodeRange> for Part {
    fn from(CodeRange { name, addresses }: CodeRange) -> Self {
        Part { name, first: addresses.start, end: addresses.end }
    }
}

/// What is counted of a user program's code, by the addresses that it has there.
#[derive(Clone, Debug, Default)]
pub struct ProgramCode {
    /// Parts that are counted by themselves.
    pub ranges: Vec<CodeRange>,
    /// Its functions, by address.
    pub functions: Vec<CodeRange>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The guest's processor; records of before there were others do not say.
    #[serde(default = "ia32")]
    pub architecture: String,
    /// Bytes of the guest's main memory.
    #[serde(rename = "memory_bytes")]
    pub memory: u32,
    /// Parts of the code that are counted by themselves.
    pub ranges: Vec<CodeRange>,
    /// The kernel's functions, by address.
    #[serde(default)]
    pub functions: Vec<CodeRange>,
    /// Where the record comes from: whatever its maker wants to be known.
    #[serde(default)]
    pub provenance: Value,
}

fn ia32() -> String {
    Architecture::Ia32.name().to_string()
}

impl Header {
    pub fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// From the contents of the first chunk; None where they are nothing of the kind.
    pub fn parse(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}
