// SPDX-License-Identifier: GPL-2.0-or-later
//! The plugin's arguments `range=NAME:SYMBOL..SYMBOL`.

use crate::core::symbols::Symbols;
use cobnut_trace::CodeRange;

/// The range that `argument` (`NAME:SYMBOL..SYMBOL`) names: from the first symbol to before the second.
pub fn parse(argument: &str, symbols: &Symbols) -> Result<CodeRange, String> {
    let wrong = |why: &str| format!("argument range={argument}: {why}");
    let (name, first, end) = argument
        .split_once(':')
        .and_then(|(name, symbols)| symbols.split_once("..").map(|(first, end)| (name, first, end)))
        .ok_or(wrong("must be NAME:SYMBOL..SYMBOL"))?;
    let address = |symbol| symbols.address(symbol).map_err(|why| wrong(&why));
    let addresses = address(first)?..address(end)?;
    if addresses.is_empty() {
        return Err(wrong("holds no instruction"));
    }
    Ok(CodeRange { name: name.to_string(), addresses })
}
