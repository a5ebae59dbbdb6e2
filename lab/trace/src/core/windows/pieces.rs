// SPDX-License-Identifier: GPL-2.0-or-later
//! Windows that were measured, in a file that a broken-off run leaves behind and the same run goes on with.
//!
//! Its lines are JSON: first what was measured ([`Origin`]), then a window each. A last line without an end is one that
//! was being written.

use super::breakdown::Shown;
use super::Plan;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a window showed, in the order of the report's figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The number of its unit.
    pub unit: u64,
    pub instructions: u64,
    pub figures: Vec<u64>,
    #[serde(flatten)]
    pub shown: Shown,
}

/// What has to be the same for windows of one run to be those of another.
#[derive(Serialize)]
pub struct Origin<'a> {
    pub windows: Plan,
    pub machine: &'a str,
    pub machine_set: &'a [String],
    pub without: Option<&'static str>,
    pub figures: Vec<&'static str>,
    /// What the guest is.
    pub guest: &'a Value,
}

pub struct Pieces {
    path: PathBuf,
    file: File,
    known: HashMap<u64, Window>,
}

impl Pieces {
    /// Opens the file, or makes it. One that is of something else is refused with one line.
    pub fn open(path: &Path, origin: &Origin) -> Result<Self, String> {
        let named = |error: std::io::Error| format!("pieces {}: {error}", path.display());
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(named)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(named)?;
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        let head = serde_json::json!(origin);
        let mut lines = text.lines();
        let known = match lines.next() {
            None => {
                text = format!("{head}\n");
                HashMap::new()
            }
            Some(first) if serde_json::from_str::<Value>(first).is_ok_and(|first| first == head) => lines
                .map(|line| serde_json::from_str(line).ok().filter(|window: &Window| window.shown.is_sound()))
                .map(|window| window.map(|window| (window.unit, window)))
                .collect::<Option<_>>()
                .ok_or_else(|| format!("pieces {}: holds what is no window", path.display()))?,
            Some(_) => return Err(format!("pieces {}: is of another run, machine or --windows", path.display())),
        };
        file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(named)?;
        file.write_all(text.as_bytes()).map_err(named)?;
        Ok(Pieces { path: path.to_path_buf(), file, known })
    }

    pub fn known(&self, unit: u64) -> Option<&Window> {
        self.known.get(&unit)
    }

    /// Keeps a window, from now on whatever becomes of the run.
    pub fn keep(&mut self, window: &Window) -> Result<(), String> {
        let line = serde_json::json!(window);
        writeln!(self.file, "{line}").map_err(|error| format!("pieces {}: {error}", self.path.display()))
    }
}
