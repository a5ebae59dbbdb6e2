// SPDX-License-Identifier: GPL-2.0-or-later
//! `cobnut-path MACHINE`: what a path through a kernel costs on a machine, from a listing of what another emulator saw
//! executed. One line an instruction or access, numbers hexadecimal and without a prefix:
//!
//! | line | what |
//! |---|---|
//! | `i LINEAR PHYSICAL BYTES` | an instruction that was executed |
//! | `r LINEAR PHYSICAL SIZE`, `w LINEAR PHYSICAL SIZE` | what it read or wrote |
//!
//! The path is executed until nothing of it is missed any more, so what is printed is the cost when TLBs and caches
//! hold all of it: `{"instructions": N, "cycles": N, "ledger": {...}}`. Exit status 2 for a bad file or listing, which
//! is one line on stderr.

#[path = "../../plugin/src/ia32/decode.rs"]
#[allow(dead_code)]
mod decode;
#[path = "../../plugin/src/ia32/issue.rs"]
mod issue;

use cobnut_model::ia32::{Block, Event, Instruction, Machine, Walk};
use cobnut_model::{Code, Ledger, Linear, MachineFile, Physical, Tables, CATEGORIES};
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

/// More passes than it takes to fill a set of any TLB or cache.
const WARM: usize = 8;

enum Step {
    Code { linear: Linear, instructions: Vec<Instruction> },
    Access(Event),
}

/// A listing: what was executed, and where its pages are.
#[derive(Default)]
struct Listing {
    steps: Vec<Step>,
    pages: HashMap<Linear, Physical>,
    instructions: usize,
}

impl Listing {
    fn parse(text: &str) -> Result<Self, String> {
        let mut listing = Listing::default();
        let mut behind = None;
        for line in text.lines() {
            let wrong = || format!("not a line of a listing: {line}");
            let words: Vec<&str> = line.split_whitespace().collect();
            let [what, linear, physical, last] = words[..] else { return Err(wrong()) };
            let number = |text| u32::from_str_radix(text, 16).map_err(|_| wrong());
            let (linear, physical) = (Linear(number(linear)?), Physical(number(physical)?));
            listing.pages.insert(linear.page().start(), physical.frame());
            match what {
                "i" => behind = listing.execute(linear, &bytes(last).ok_or_else(wrong)?, behind),
                "r" | "w" => {
                    let size = number(last)? as u8;
                    let read = what == "r";
                    listing.steps.push(Step::Access(match read {
                        true => Event::Read { linear, physical, size },
                        false => Event::Write { linear, physical, size },
                    }));
                }
                _ => return Err(wrong()),
            }
        }
        Ok(listing)
    }

    /// Adds an instruction to the run that ends where it stands. Returns where the next one stands if nothing jumps.
    fn execute(&mut self, at: Linear, bytes: &[u8], behind: Option<Linear>) -> Option<Linear> {
        let decoded = decode::decode(bytes);
        let one = Instruction { length: bytes.len() as u8, class: decoded.class, issue: decoded.issue };
        self.instructions += 1;
        let run = self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Code { instructions, .. } => Some(instructions),
            Step::Access(_) => None,
        });
        match run.filter(|_| behind == Some(at)) {
            Some(run) => run.push(one),
            None => self.steps.push(Step::Code { linear: at, instructions: vec![one] }),
        }
        let goes_on = decoded.jump.is_none() && decoded.falls_through;
        goes_on.then(|| at.plus(bytes.len() as u32))
    }

    /// What the machine books when it executes all of it once more.
    fn cost(&self, file: &MachineFile) -> Ledger {
        let mut machine = Machine::new(file);
        let mut tables = Pages(&self.pages);
        let blocks: Vec<Option<Block>> = self.steps.iter().map(|step| block(step, &machine)).collect();
        let mut before = Ledger::default();
        for _ in 0..WARM {
            before = *machine.ledger();
            for (step, block) in self.steps.iter().zip(&blocks) {
                match (step, block) {
                    (Step::Code { linear, .. }, Some(block)) => machine.block(block, *linear, &mut tables),
                    (Step::Access(event), _) => machine.event(event, &mut tables),
                    _ => {}
                }
            }
        }
        let mut once = Ledger::default();
        once.advance(&before, machine.ledger(), 1);
        once
    }
}

fn block(step: &Step, machine: &Machine) -> Option<Block> {
    match step {
        Step::Code { instructions, .. } => Some(Block::new(instructions.clone(), machine.costs())),
        Step::Access(_) => None,
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
    bytes.filter(|bytes| digits.len() == 2 * bytes.len() && (1..=15).contains(&bytes.len()))
}

/// Pages as the listing has them, all of one table.
struct Pages<'a>(&'a HashMap<Linear, Physical>);

impl Tables<Walk> for Pages<'_> {
    fn walk(&mut self, linear: Linear) -> Option<Walk> {
        let frame = *self.0.get(&linear.page().start())?;
        Some(Walk { frame, large: false, global: true, entries: [Physical(0); 2] })
    }
}

fn answer() -> Result<String, String> {
    let file = std::env::args().nth(1).ok_or("usage: cobnut-path MACHINE < LISTING")?;
    let machine = MachineFile::read(Path::new(&file))?;
    let text = std::io::read_to_string(std::io::stdin()).map_err(|error| error.to_string())?;
    let listing = Listing::parse(&text)?;
    let cost = listing.cost(&machine);
    let rows = cost.whole_cycles_since(&Ledger::default());
    let ledger: serde_json::Map<_, _> =
        CATEGORIES.iter().zip(rows).map(|(&(_, name), cycles)| (name.to_string(), cycles.into())).collect();
    let cycles = cost.total() / cobnut_model::MILLI;
    let found = serde_json::json!({"instructions": listing.instructions, "cycles": cycles, "ledger": ledger});
    Ok(found.to_string())
}

fn main() -> ExitCode {
    match answer() {
        Ok(text) => println!("{text}"),
        Err(error) => {
            eprintln!("cobnut-path: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> MachineFile {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
        MachineFile::read(&folder.join(name).with_extension("toml")).unwrap()
    }

    /// Two instructions and the access of the first, then a jump to a third: two runs.
    const LISTING: &str = "i f0101000 101000 8b03\nr f0155000 155000 4\ni f0101002 101002 40\ni f0101003 101003 eb10\n\
                           i f0101015 101015 cf\n";

    #[test]
    fn a_path_costs_its_instructions_when_nothing_of_it_is_missed() {
        let file = machine("i486");
        let listing = Listing::parse(LISTING).unwrap();
        assert_eq!((listing.instructions, listing.steps.len()), (4, 3));
        let cost = listing.cost(&file);
        let milli = |key: &str| file.milli(&format!("instructions.{key}")).unwrap();
        let iret = file.milli("entry.iret_cycles").unwrap_or(file.milli("entry.int_iret_cycles").unwrap() / 2);
        let taken = file.milli("instructions.branch_taken").unwrap_or(milli("branch"));
        assert_eq!(cost.total(), milli("load") + milli("alu") + taken + iret, "{cost:?}");
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for text in ["i 1000", "i 1000 1000 zz", "x 1000 1000 4", "r 1000 1000 4 5", "i 1000 1000 9"] {
            assert_eq!(Listing::parse(text).err(), Some(format!("not a line of a listing: {text}")), "{text}");
        }
    }
}
