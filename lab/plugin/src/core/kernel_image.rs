// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin needs to know of the kernel's ELF file: where the interface page and the trampoline are, and the
//! names of its code.

use crate::core::symbols::Symbols;
use cobnut_model::{Linear, Page, Physical};
use object::elf;
use object::read::elf::{ElfFile32, ElfSection32, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, SectionFlags};
use std::path::Path;

/// What stands in sections, by their addresses.
pub type Contents = Vec<(u32, Vec<u8>)>;

/// Pages that tell stub and trampoline from the rest of user mode.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelImage {
    /// The frame of the kernel interface page (symbol `kip`).
    pub interface_frame: Option<Physical>,
    /// The page of the way back from sysexit (symbol `trampoline`).
    pub trampoline_page: Option<Page>,
}

fn contents(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("file {}: {e}", path.display()))
}

fn incomplete(path: &Path) -> String {
    format!("file {}: not a complete 32-bit ELF file", path.display())
}

fn of_kernel(why: String) -> String {
    format!("kernel {why}")
}

impl KernelImage {
    /// Whether the kernel is one of ours, whose user code never holds a flat segment: others may have a `trampoline`,
    /// too.
    pub fn has_small_spaces(&self) -> bool {
        self.interface_frame.is_some() && self.trampoline_page.is_some()
    }

    pub fn read(path: &Path) -> Result<Self, String> {
        contents(path).and_then(|bytes| Self::parse(&bytes).ok_or_else(|| incomplete(path))).map_err(of_kernel)
    }

    /// The names of the kernel's code.
    pub fn symbols(path: &Path) -> Result<Symbols, String> {
        let symbols = |bytes: Vec<u8>| Self::parse_symbols(&bytes).ok_or_else(|| incomplete(path));
        contents(path).and_then(symbols).map_err(of_kernel)
    }

    /// The names of a program's code, and its executable sections by address.
    pub fn program(path: &Path) -> Result<(Symbols, Contents), String> {
        let bytes = contents(path)?;
        let found = Self::parse_symbols(&bytes).zip(Self::parse_code(&bytes));
        found.ok_or_else(|| incomplete(path))
    }

    fn parse_code(bytes: &[u8]) -> Option<Vec<(u32, Vec<u8>)>> {
        let elf = parse(bytes)?;
        let code = elf.sections().filter(is_code);
        code.map(|section| Some((section.address() as u32, section.data().ok()?.to_vec()))).collect()
    }

    /// The names of code in an ELF file, or None if it is none that is complete.
    pub fn parse_symbols(bytes: &[u8]) -> Option<Symbols> {
        let elf = parse(bytes)?;
        let code = elf.sections().filter(is_code);
        let code = code.map(|section| (section.address() as u32, (section.address() + section.size()) as u32));
        let list = elf.symbols().map(|symbol| {
            let name = String::from_utf8_lossy(symbol.name_bytes().ok()?);
            Some((symbol.address() as u32, name.into_owned()))
        });
        Some(Symbols::new(list.collect::<Option<_>>()?, code.collect()))
    }

    /// Where the symbol with this name is, whatever it names; None: it is no ELF file that is complete.
    pub fn parse_variable(bytes: &[u8], name: &str) -> Option<Option<u32>> {
        let elf = parse(bytes)?;
        let mut named = elf.symbols().filter(|symbol| symbol.name_bytes() == Ok(name.as_bytes()));
        Some(named.next().map(|symbol| symbol.address() as u32))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let elf = parse(bytes)?;
        let mut image = KernelImage::default();
        for symbol in elf.symbols() {
            let linear = Linear(symbol.address() as u32);
            match symbol.name_bytes().ok()? {
                b"kip" => image.interface_frame = physical(&elf, linear).map(Physical::frame),
                b"trampoline" => image.trampoline_page = Some(linear.page()),
                _ => {}
            }
        }
        Some(image)
    }
}

type Elf<'a> = ElfFile32<'a, LittleEndian>;
type Section<'a, 'b> = ElfSection32<'a, 'b, LittleEndian>;

fn is_code(section: &Section) -> bool {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(elf::SHF_EXECINSTR),
        _ => false,
    }
}

fn parse(bytes: &[u8]) -> Option<Elf<'_>> {
    ElfFile32::parse(bytes).ok()
}

/// Load address of a virtual address, by the program headers.
fn physical(elf: &Elf, linear: Linear) -> Option<Physical> {
    elf.elf_program_headers().iter().filter(|header| header.p_type(LittleEndian) == elf::PT_LOAD).find_map(|header| {
        let offset = linear.minus(Linear(header.p_vaddr(LittleEndian)));
        (offset < header.p_memsz(LittleEndian)).then(|| Physical(header.p_paddr(LittleEndian)).plus(offset))
    })
}
