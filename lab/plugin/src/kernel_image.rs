// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin needs to know of the kernel's ELF file: where the interface page and the trampoline are, and the
//! names of its code.

use crate::sanitize::Symbols;
use std::path::Path;

/// Pages that tell stub and trampoline from the rest of user mode.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelImage {
    /// Physical page number of the kernel interface page (symbol `kip`).
    pub interface_frame: Option<u32>,
    /// Linear page number of the way back from sysexit (symbol `trampoline`).
    pub trampoline_page: Option<u32>,
}

const PT_LOAD: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHF_EXECINSTR: u32 = 4;

fn contents(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("kernel file {}: {e}", path.display()))
}

fn incomplete(path: &Path) -> String {
    format!("kernel file {}: not a complete 32-bit ELF file", path.display())
}

impl KernelImage {
    /// Whether the kernel is one of ours, whose user code never holds a flat segment: others may have a `trampoline`,
    /// too.
    pub fn has_small_spaces(&self) -> bool {
        self.interface_frame.is_some() && self.trampoline_page.is_some()
    }

    pub fn read(path: &Path) -> Result<Self, String> {
        Self::parse(&contents(path)?).ok_or_else(|| incomplete(path))
    }

    /// The names of the kernel's code.
    pub fn symbols(path: &Path) -> Result<Symbols, String> {
        let bytes = contents(path)?;
        Self::parse_symbols(&Elf { bytes: &bytes }).ok_or_else(|| incomplete(path))
    }

    fn parse_symbols(elf: &Elf) -> Option<Symbols> {
        let (mut list, mut code) = (Vec::new(), Vec::new());
        let (sections, size, count) = (elf.word(0x20)?, elf.half(0x2e)?, elf.half(0x30)?);
        for section in (0..count).map(|n| sections + n * size) {
            let (start, length) = (elf.word(section + 16)?, elf.word(section + 20)?);
            if elf.word(section + 8)? & SHF_EXECINSTR != 0 {
                let linear = elf.word(section + 12)?;
                code.push((linear, linear + length));
            }
            if elf.word(section + 4)? != SHT_SYMTAB {
                continue;
            }
            let names = elf.word(sections + elf.word(section + 24)? * size + 16)?;
            for symbol in (start..start + length).step_by(16) {
                let name = elf.string(names + elf.word(symbol)?)?;
                list.push((elf.word(symbol + 4)?, String::from_utf8_lossy(name).into_owned()));
            }
        }
        Some(Symbols::new(list, code))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let elf = Elf { bytes };
        if bytes.get(..5)? != b"\x7fELF\x01" {
            return None;
        }
        let mut image = KernelImage::default();
        let (sections, size, count) = (elf.word(0x20)?, elf.half(0x2e)?, elf.half(0x30)?);
        for section in (0..count).map(|n| sections + n * size) {
            if elf.word(section + 4)? != SHT_SYMTAB {
                continue;
            }
            let (start, length, link) = (elf.word(section + 16)?, elf.word(section + 20)?, elf.word(section + 24)?);
            let names = elf.word(sections + link * size + 16)?;
            for symbol in (start..start + length).step_by(16) {
                let value = elf.word(symbol + 4)?;
                match elf.string(names + elf.word(symbol)?)? {
                    b"kip" => image.interface_frame = elf.physical(value).map(|p| p >> 12),
                    b"trampoline" => image.trampoline_page = Some(value >> 12),
                    _ => {}
                }
            }
        }
        Some(image)
    }
}

struct Elf<'a> {
    bytes: &'a [u8],
}

impl Elf<'_> {
    fn word(&self, at: u32) -> Option<u32> {
        let b = self.bytes.get(at as usize..at as usize + 4)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn half(&self, at: u32) -> Option<u32> {
        let b = self.bytes.get(at as usize..at as usize + 2)?;
        Some(u16::from_le_bytes([b[0], b[1]]) as u32)
    }

    fn string(&self, at: u32) -> Option<&[u8]> {
        let tail = self.bytes.get(at as usize..)?;
        Some(&tail[..tail.iter().position(|&b| b == 0)?])
    }

    /// Load address of a virtual address, by the program headers.
    fn physical(&self, linear: u32) -> Option<u32> {
        let (headers, size, count) = (self.word(0x1c)?, self.half(0x2a)?, self.half(0x2c)?);
        (0..count).map(|n| headers + n * size).find_map(|header| {
            let (kind, virt, phys) = (self.word(header)?, self.word(header + 8)?, self.word(header + 12)?);
            let length = self.word(header + 20)?;
            (kind == PT_LOAD && linear.wrapping_sub(virt) < length).then(|| linear - virt + phys)
        })
    }
}
