// SPDX-License-Identifier: GPL-2.0-or-later
//! What a record says of itself: its first chunk, as JSON.

use crate::code_ranges::CodeRange;
use serde_json::{json, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Bytes of the guest's main memory.
    pub memory: usize,
    /// Parts of the code that are counted by themselves.
    pub ranges: Vec<CodeRange>,
    /// Where the record comes from: whatever its maker wants to be known.
    pub provenance: Value,
}

impl Header {
    pub fn to_json(&self) -> String {
        let range = |r: &CodeRange| json!({ "name": r.name, "first": r.addresses.start, "end": r.addresses.end });
        json!({
            "memory_bytes": self.memory,
            "ranges": self.ranges.iter().map(range).collect::<Vec<_>>(),
            "provenance": self.provenance,
        })
        .to_string()
    }

    /// From the contents of the first chunk; None where they are nothing of the kind.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let found: Value = serde_json::from_slice(text).ok()?;
        let word = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        let range = |r: &Value| {
            let name = r["name"].as_str()?.to_string();
            Some(CodeRange { name, addresses: word(&r["first"])?..word(&r["end"])? })
        };
        Some(Header {
            memory: word(&found["memory_bytes"])? as usize,
            ranges: found["ranges"].as_array()?.iter().map(range).collect::<Option<_>>()?,
            provenance: found["provenance"].clone(),
        })
    }
}
