// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of the kernel's code.

use super::kernel_image::KernelImage;
use cobnut_trace::CodeRange;
use cpp_demangle::{DemangleOptions, Symbol};
use object::elf;
use std::path::Path;

/// Symbols of code, by address.
#[derive(Default)]
pub struct Symbols {
    list: Vec<(u32, String)>,
    /// Linear addresses of executable sections: first, and one past the last.
    code: Vec<(u32, u32)>,
}

impl Symbols {
    pub fn new(mut list: Vec<(u32, String)>, code: Vec<(u32, u32)>) -> Self {
        list.retain(|(at, name)| !name.is_empty() && code.iter().any(|&(first, end)| (first..end).contains(at)));
        list.sort();
        Symbols { list, code }
    }

    /// Reads an ELF file's symbols, or lines as System.map has them; an error is one line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |why: &str| format!("symbol file {}: {why}", path.display());
        let bytes = std::fs::read(path).map_err(|e| named(&e.to_string()))?;
        if bytes.starts_with(&elf::ELFMAG) {
            return KernelImage::parse_symbols(&bytes).ok_or_else(|| named("not a complete 32-bit ELF file"));
        }
        let lines = String::from_utf8_lossy(&bytes);
        Self::parse(&lines).ok_or_else(|| named("not lines of address, type and name"))
    }

    /// From lines of address, type and name, as `nm`, System.map and /proc/kallsyms have them. Code is what lies
    /// between the first and the last symbol of types t and T.
    pub fn parse(text: &str) -> Option<Self> {
        let mut list = Vec::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let address = u32::from_str_radix(address, 16).ok()?;
            if kind.eq_ignore_ascii_case("t") {
                list.push((address, name.to_string()));
            }
        }
        let (first, last) = (list.iter().map(|s| s.0).min()?, list.iter().map(|s| s.0).max()?);
        Some(Self::new(list, vec![(first, (last | 0xfff).saturating_add(1))]))
    }

    /// Where `symbol` is, as it is written in assembly.
    pub fn address(&self, symbol: &str) -> Result<u32, String> {
        let mut found = self.list.iter().filter(|(_, name)| name == symbol).map(|&(at, _)| at);
        let address = found.next().ok_or(format!("the kernel's code has no symbol {symbol}"))?;
        match found.next() {
            None => Ok(address),
            Some(_) => Err(format!("the kernel's code has more than one symbol {symbol}")),
        }
    }

    /// The address that a symbol names, or a number with 0x.
    pub fn place_named(&self, text: &str) -> Result<u32, String> {
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).map_err(|_| format!("{text} is not an address")),
            None => self.address(text),
        }
    }

    /// `symbol+offset` for an address in the kernel's code.
    pub fn name(&self, at: u32) -> Option<String> {
        let &(first, _) = self.code.iter().find(|&&(first, end)| (first..end).contains(&at))?;
        let end = self.list.partition_point(|&(symbol, _)| symbol <= at);
        let (symbol, name) = self.list[..end].last().filter(|(symbol, _)| *symbol >= first)?;
        let offset = at - symbol;
        Some(if offset == 0 { readable(name) } else { format!("{}+{offset:#x}", readable(name)) })
    }

    /// The functions, by address: each from its symbol to the next, or to the end of its section. Of several symbols at
    /// one address the last one counts, as for [`Symbols::name`].
    pub fn functions(&self) -> Vec<CodeRange> {
        let mut functions: Vec<CodeRange> = Vec::new();
        for (index, (at, name)) in self.list.iter().enumerate() {
            let next = self.list.get(index + 1).map_or(u32::MAX, |&(next, _)| next);
            let section = self.code.iter().find(|&&(first, end)| (first..end).contains(at));
            let end = section.map_or(*at, |&(_, end)| end.min(next));
            if end > *at {
                functions.push(CodeRange { name: readable(name), addresses: *at..end });
            }
        }
        functions
    }

    /// An address for people, with its name if it has one.
    pub fn place(&self, at: u32) -> String {
        match self.name(at) {
            Some(name) => format!("{at:08x} ({name})"),
            None => format!("{at:08x}"),
        }
    }
}

/// Where the variable `name` is, by an ELF file or by lines as System.map has them.
pub fn variable(file: Option<&Path>, name: &str) -> Result<u32, String> {
    let path = file.ok_or("no file has the kernel's symbols")?;
    let bytes = std::fs::read(path).map_err(|error| format!("symbol file {}: {error}", path.display()))?;
    let found = match bytes.starts_with(&elf::ELFMAG) {
        true => KernelImage::parse_variable(&bytes, name).flatten(),
        false => line_of(&String::from_utf8_lossy(&bytes), name),
    };
    found.ok_or(format!("{} has no symbol {name}", path.display()))
}

/// The address in the line that ends with `name`.
fn line_of(text: &str, name: &str) -> Option<u32> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let words = lines.find(|words| words.len() == 3 && words[2] == name)?;
    u32::from_str_radix(words[0], 16).ok()
}

/// The qualified name in a C++ symbol (Itanium ABI), without parameters, unnamed namespaces and what a compiler says of
/// a part or copy (`.cold`); other symbols as they are.
fn readable(symbol: &str) -> String {
    let options = DemangleOptions::new().no_params().no_return_type();
    let mangled = symbol.split('.').next().filter(|name| name.starts_with("_Z"));
    let demangled = mangled.and_then(|name| Symbol::new(name).ok()?.demangle_with_options(&options).ok());
    demangled.map_or_else(|| symbol.to_string(), |name| name.replace("(anonymous namespace)::", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_mangling() {
        assert_eq!(readable("_ZN11page_tables9flush_allEv"), "page_tables::flush_all");
        assert_eq!(readable("_ZN11small_space12_GLOBAL__N_112clear_copiesER9PageTable"), "small_space::clear_copies");
        assert_eq!(readable("_Z4tickv"), "tick");
        assert_eq!(readable("_ZN3ipc12_GLOBAL__N_14failER6Thread8IpcError5Phase.cold"), "ipc::fail");
        assert_eq!(readable("_ZN4ListI6ThreadE4pushERS0_"), "List<Thread>::push");
        assert_eq!(readable("sysenter_fast"), "sysenter_fast");
    }

    #[test]
    fn a_system_map_is_read() {
        let symbols = Symbols::parse("c1000000 T startup_32\nc1000040 t helper\nc1800000 D data\n").unwrap();
        assert_eq!(symbols.name(0xc100_0044).as_deref(), Some("helper+0x4"));
        assert_eq!((symbols.name(0xc180_0000), symbols.name(0x0804_8000)), (None, None));
        assert!(Symbols::parse("no map").is_none() && Symbols::parse("").is_none());
    }

    #[test]
    fn a_variable_has_its_line() {
        let map = "c1000040 t current_time\nc1800000 D current\nc1800004 d current_other\n";
        assert_eq!((line_of(map, "current"), line_of(map, "other")), (Some(0xc180_0000), None));
    }

    #[test]
    fn an_address_belongs_to_the_symbol_before_it() {
        let list = vec![(0x1010, "b".to_string()), (0x1000, "a".to_string()), (0x5000, "data".to_string())];
        let symbols = Symbols::new(list, vec![(0x1000, 0x2000)]);
        assert_eq!(symbols.name(0x1000).as_deref(), Some("a"));
        assert_eq!(symbols.name(0x1014).as_deref(), Some("b+0x4"));
        assert_eq!(symbols.name(0x5000), None);
        assert_eq!(symbols.name(0x40), None);
    }
}
