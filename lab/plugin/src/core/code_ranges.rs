// SPDX-License-Identifier: GPL-2.0-or-later
//! The plugin's arguments `range=NAME:SYMBOL..SYMBOL`, and `range=NAME:PROGRAM/FROM..TO`.

use crate::core::programs::Programs;
use crate::core::symbols::Symbols;
use cobnut_trace::CodeRange;

/// Whose code a range is of.
pub enum Of {
    Kernel(CodeRange),
    /// The program with this number.
    Program(usize, CodeRange),
}

/// The range that `argument` (`NAME:SYMBOL..SYMBOL`) names: from the first symbol to before the second.
pub fn parse(argument: &str, symbols: &Symbols, programs: &Programs) -> Result<Of, String> {
    let wrong = |why: &str| format!("argument range={argument}: {why}");
    let form = "must be NAME:SYMBOL..SYMBOL";
    let (name, places) = argument.split_once(':').ok_or(wrong(form))?;
    let range = |first, end| match first < end {
        true => Ok(CodeRange { name: name.to_string(), addresses: first..end }),
        false => Err(wrong("holds no instruction")),
    };
    if let Some(found) = programs.places(places) {
        let (program, first, end) = found.map_err(|why| wrong(&why))?;
        return Ok(Of::Program(program, range(first, end)?));
    }
    let (first, end) = places.split_once("..").ok_or(wrong(form))?;
    let address = |symbol| symbols.address(symbol).map_err(|why| wrong(&why));
    Ok(Of::Kernel(range(address(first)?, address(end)?)?))
}
