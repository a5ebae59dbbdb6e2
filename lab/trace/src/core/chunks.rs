// SPDX-License-Identifier: GPL-2.0-or-later
//! The outer shape of a record: magic, version, and chunks that are compressed and checked one by one.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `COBNUT` 0D 0A |
//! | 4 | version |
//! | | chunks |
//!
//! A chunk is its length (4), the length of what is stored of it (4), CRC-32 of both and of what is stored (4), and
//! what is stored: the contents as one LZ4 block. The first chunk is the header, the others hold events; the last one
//! has length 0 and stores nothing. Numbers are little endian here and in the chunks.

use std::io::{self, Read, Write};

pub const MAGIC: [u8; 8] = *b"COBNUT\r\n";
/// Raised whenever a reader of the older version would misunderstand a record.
pub const VERSION: u32 = 4;
/// Contents of one chunk: enough to compress well, little enough to stay in a processor's cache.
pub const CHUNK: usize = 256 << 10;
/// No chunk is longer than this, so that a damaged length cannot ask for all memory.
const LONGEST: usize = 4 << 20;

pub fn write_start(out: &mut impl Write) -> io::Result<()> {
    out.write_all(&MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())
}

pub fn write_chunk(out: &mut impl Write, contents: &[u8]) -> io::Result<()> {
    let stored = if contents.is_empty() { Vec::new() } else { lz4_flex::block::compress(contents) };
    let lengths = lengths(contents.len(), stored.len());
    out.write_all(&lengths)?;
    out.write_all(&checksum(&lengths, &stored).to_le_bytes())?;
    out.write_all(&stored)
}

fn lengths(contents: usize, stored: usize) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&(contents as u32).to_le_bytes());
    bytes[4..].copy_from_slice(&(stored as u32).to_le_bytes());
    bytes
}

fn checksum(lengths: &[u8], stored: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(lengths);
    sum.update(stored);
    sum.finalize()
}

/// Reads the chunks of a record one after the other.
pub struct Chunks<R> {
    source: R,
    stored: Vec<u8>,
}

impl<R: Read> Chunks<R> {
    /// Checks magic and version.
    pub fn new(mut source: R) -> Result<Self, String> {
        let mut magic = [0; 8];
        source.read_exact(&mut magic).map_err(|_| "not a record")?;
        if magic != MAGIC {
            return Err("not a record".into());
        }
        let mut version = [0; 4];
        fill(&mut source, &mut version)?;
        match u32::from_le_bytes(version) {
            VERSION => Ok(Chunks { source, stored: Vec::new() }),
            other => Err(format!("has format {other}, and this is a reader of format {VERSION}")),
        }
    }

    /// Puts the contents of the next chunk into `contents`, which are empty at the end of the record.
    pub fn next(&mut self, contents: &mut Vec<u8>) -> Result<(), String> {
        let mut head = [0; 12];
        fill(&mut self.source, &mut head)?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, stored) = (word(0) as usize, word(4) as usize);
        if length > LONGEST || stored > LONGEST {
            return Err("damaged: a chunk has an impossible length".into());
        }
        self.stored.resize(stored, 0);
        fill(&mut self.source, &mut self.stored)?;
        if checksum(&head[..8], &self.stored) != word(8) {
            return Err("damaged: a chunk does not have its checksum".into());
        }
        contents.resize(length, 0);
        if length == 0 {
            return match self.source.read(&mut [0]) {
                Ok(0) => Ok(()),
                _ => Err("damaged: something follows its end".into()),
            };
        }
        match lz4_flex::block::decompress_into(&self.stored, contents) {
            Ok(n) if n == length => Ok(()),
            _ => Err("damaged: a chunk cannot be decompressed".into()),
        }
    }
}

fn fill(source: &mut impl Read, bytes: &mut [u8]) -> Result<(), String> {
    source.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "ends too early: its recording was cut off, or the file was".to_string(),
        _ => error.to_string(),
    })
}
