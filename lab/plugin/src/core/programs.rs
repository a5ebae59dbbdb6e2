// SPDX-License-Identifier: GPL-2.0-or-later
//! Programs of users that are known by their ELF files (`program=NAME:FILE`), so that what they do is told apart
//! without a mark in them. Code is a program's where the bytes that the file has for an address are executed there,
//! whatever the space that it is in.

use super::kernel_image::{Contents, KernelImage};
use super::symbols::Symbols;
use cobnut_trace::{CodeRange, ProgramCode};
use std::path::{Path, PathBuf};

pub struct Program {
    name: String,
    path: PathBuf,
    /// Contents of executable sections, by address.
    code: Contents,
    symbols: Symbols,
}

impl Program {
    fn read(argument: &str) -> Result<Self, String> {
        let (name, path) = argument
            .split_once(':')
            .filter(|(name, _)| !name.is_empty() && !name.contains('/'))
            .ok_or(format!("argument program={argument}: must be NAME:FILE"))?;
        let (symbols, code) = KernelImage::program(Path::new(path)).map_err(|why| format!("program {name}: {why}"))?;
        Ok(Program { name: name.to_string(), path: path.into(), code, symbols })
    }

    /// Its ELF file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has these bytes for this address.
    pub fn has(&self, address: u32, bytes: &[u8]) -> bool {
        self.code.iter().any(|(first, contents)| {
            let from = address.wrapping_sub(*first) as usize;
            contents.get(from..).is_some_and(|rest| rest.starts_with(bytes))
        })
    }

    /// The address that a symbol of its code names, or a number with 0x.
    fn address(&self, text: &str) -> Result<u32, String> {
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).map_err(|_| format!("{text} is not an address")),
            None => self.symbols.address(text).map_err(|_| format!("{} has no symbol {text}, or several", self.name)),
        }
    }
}

/// The programs of a run.
#[derive(Default)]
pub struct Programs {
    list: Vec<Program>,
}

impl Programs {
    /// From what the arguments `program=` say.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let list = arguments.iter().map(|argument| Program::read(argument)).collect::<Result<Vec<_>, _>>()?;
        Ok(Programs { list })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of the one whose code these bytes at `address` are.
    pub fn of(&self, address: u32, bytes: &[u8]) -> Option<usize> {
        self.list.iter().position(|program| program.has(address, bytes))
    }

    /// The number of the one with this name.
    pub fn named(&self, name: &str) -> Result<usize, String> {
        let found = self.list.iter().position(|program| program.name == name);
        found.ok_or(format!("there is no program={name}:FILE"))
    }

    pub fn number(&self, program: usize) -> &Program {
        &self.list[program]
    }

    /// `NAME/FROM..TO`, as a program's number and two of its addresses. None where that is not its form.
    pub fn places(&self, text: &str) -> Option<Result<(usize, u32, u32), String>> {
        let (name, places) = text.split_once('/')?;
        let (first, last) = places.split_once("..")?;
        let number = match self.named(name) {
            Ok(number) => number,
            Err(why) => return Some(Err(why)),
        };
        let at = |place| self.list[number].address(place);
        Some(at(first).and_then(|first| Ok((number, first, at(last)?))))
    }

    /// What is to be counted of each: all of its code under its name, the parts that `ranges` give (NAME and program,
    /// from and to), and its functions.
    pub fn code(&self, ranges: &[(usize, CodeRange)]) -> Vec<ProgramCode> {
        let code = |(number, program): (usize, &Program)| {
            let whole = program.code.iter().map(|(first, contents)| CodeRange {
                name: program.name.clone(),
                addresses: *first..first + contents.len() as u32,
            });
            let parts = ranges.iter().filter(|(of, _)| *of == number).map(|(_, range)| range.clone());
            let named = |one: CodeRange| CodeRange { name: format!("{}/{}", program.name, one.name), ..one };
            ProgramCode {
                ranges: whole.chain(parts).collect(),
                functions: program.symbols.functions().into_iter().map(named).collect(),
            }
        };
        self.list.iter().enumerate().map(code).collect()
    }
}

#[cfg(test)]
impl Programs {
    /// One program called `name`, with some code.
    pub fn one(name: &str, first: u32, code: &[u8], symbols: &[(u32, &str)]) -> Self {
        let end = first + code.len() as u32;
        let list = symbols.iter().map(|&(at, name)| (at, name.to_string())).collect();
        let symbols = Symbols::new(list, vec![(first, end)]);
        let (name, code) = (name.to_string(), vec![(first, code.to_vec())]);
        Programs { list: vec![Program { name, path: PathBuf::new(), code, symbols }] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> Programs {
        Programs::one("it", 0x8048000, &[0x90, 0xcd, 0x80, 0xc3], &[(0x8048000, "first"), (0x8048003, "last")])
    }

    #[test]
    fn code_is_a_program_s_where_its_bytes_are_executed_at_their_address() {
        let programs = programs();
        assert_eq!(programs.of(0x8048001, &[0xcd, 0x80]), Some(0));
        assert_eq!(programs.of(0x8048001, &[0xcd, 0x81]), None, "other bytes");
        assert_eq!(programs.of(0x8049001, &[0xcd, 0x80]), None, "another address");
        assert_eq!(programs.of(0x8048003, &[0xc3, 0x90]), None, "past its end");
    }

    #[test]
    fn places_are_symbols_or_numbers() {
        let programs = programs();
        assert_eq!(programs.places("it/first..last"), Some(Ok((0, 0x8048000, 0x8048003))));
        assert_eq!(programs.places("it/0x8048001..last"), Some(Ok((0, 0x8048001, 0x8048003))));
        assert!(programs.places("first..last").is_none(), "the kernel's");
        assert!(programs.places("it/first").is_none());
        assert!(matches!(programs.places("other/first..last"), Some(Err(_))));
        assert!(matches!(programs.places("it/first..nowhere"), Some(Err(_))));
        assert!(matches!(programs.places("it/0xg..last"), Some(Err(_))));
    }

    #[test]
    fn all_of_a_program_and_its_parts_are_counted() {
        let part = CodeRange { name: "call".to_string(), addresses: 0x8048001..0x8048003 };
        let code = programs().code(&[(0, part.clone())]);
        let whole = CodeRange { name: "it".to_string(), addresses: 0x8048000..0x8048004 };
        assert_eq!(code[0].ranges, [whole, part]);
        assert_eq!(code[0].functions[0].name, "it/first");
    }
}
