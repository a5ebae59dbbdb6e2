// SPDX-License-Identifier: GPL-2.0-or-later
//! Names of the kernel's code.

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

    /// Where `symbol` is, as it is written in assembly.
    pub fn address(&self, symbol: &str) -> Result<u32, String> {
        let mut found = self.list.iter().filter(|(_, name)| name == symbol).map(|&(at, _)| at);
        let address = found.next().ok_or(format!("the kernel's code has no symbol {symbol}"))?;
        match found.next() {
            None => Ok(address),
            Some(_) => Err(format!("the kernel's code has more than one symbol {symbol}")),
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
}

/// The qualified name in a C++ symbol (Itanium ABI), without what follows it; other symbols as they are.
fn readable(symbol: &str) -> String {
    let Some(mangled) = symbol.strip_prefix("_Z") else { return symbol.to_string() };
    let nested = mangled.strip_prefix('N');
    let mut rest = nested.unwrap_or(mangled).trim_start_matches(['K', 'L']);
    let mut parts = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(name) = rest.get(digits..digits + length) else { break };
        if name != "_GLOBAL__N_1" {
            parts.push(name);
        }
        rest = &rest[digits + length..];
        if nested.is_none() {
            break;
        }
        rest = rest.trim_start_matches('L');
    }
    if parts.is_empty() {
        symbol.to_string()
    } else {
        parts.join("::")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_mangling() {
        assert_eq!(readable("_ZN11page_tables9flush_allEv"), "page_tables::flush_all");
        assert_eq!(readable("_ZN11small_space12_GLOBAL__N_112clear_copiesER9PageTable"), "small_space::clear_copies");
        assert_eq!(readable("_Z4tickv"), "tick");
        assert_eq!(readable("sysenter_fast"), "sysenter_fast");
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
