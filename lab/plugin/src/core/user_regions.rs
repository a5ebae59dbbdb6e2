// SPDX-License-Identifier: GPL-2.0-or-later
//! Cases without marks, `region=CASE:WHAT`. WHAT says which turns of the guest are its iterations:
//!
//! - `NAME/FROM..TO`: two places in the code of a program (`program=NAME:FILE`), or of the kernel if NAME is `kernel`.
//!   Each time that the instruction at FROM is executed one iteration ends and the next starts, the first of all begins
//!   the case, and the instruction at TO ends it.
//! - `call=NUMBER`, `NAME/call=NUMBER`: system calls with this number, of all processes or of those that execute code
//!   of the program. Each is an iteration, from the instruction that makes it to its return in the same thread; what
//!   is in between belongs to none.
//! - `console=FROM..TO`: texts that the guest prints. FROM ends one iteration and starts the next, TO ends the case.
//! - `process=NAME`: the stays of a process on the processor, by its name or number, where `processes=` says who runs.
//!
//! `process=NAME/` before one of the others restricts that to what happens while such a process runs.
//! With `@N` behind it, the first N turns belong to the case but are no iterations. One case is open at a time: where
//! another one would begin inside it, that is not measured.

use super::processes::Process;
use super::programs::Programs;
use super::symbols::Symbols;
use cobnut_trace::Marker;

/// What tells the thread of a call, as long as it is in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Page directory or table base, and where its code segment starts or what relocates it.
    pub space: (u32, u32),
    pub stack: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// Places in the program with this number, or in the kernel.
    Code {
        program: Option<usize>,
        from: u32,
        to: u32,
    },
    Calls {
        program: Option<usize>,
        number: u32,
    },
    Console {
        from: String,
        to: String,
    },
    /// From when the process gets the processor to when another one does.
    Stays,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    Number(u32),
    Name(String),
}

impl Wanted {
    fn is(&self, process: &Process) -> bool {
        match self {
            Wanted::Number(number) => *number == process.number,
            Wanted::Name(name) => *name == process.name,
        }
    }
}

#[derive(Clone)]
struct Region {
    case: u32,
    /// Whose it is.
    of: Option<Wanted>,
    what: What,
    warmup: u32,
}

#[derive(Clone, Default)]
pub struct UserRegions {
    list: Vec<Region>,
    /// The one whose case is open.
    open: Option<usize>,
    /// How often that one's start was reached.
    turns: u32,
    /// The thread in the call that is measured.
    calling: Option<Thread>,
    /// Who runs, if that is known.
    process: Option<Process>,
    /// It is the process whose stays are measured.
    stays: bool,
    /// What the guest has printed last.
    printed: String,
    /// Spaces in which the program of the calls has run.
    spaces: Vec<(u32, u32)>,
    /// Cases that would have begun inside another one.
    inside: Vec<(u32, u32)>,
    /// Address of the instruction that has faulted last: if it is reached next, it begins again.
    undone: Option<u32>,
}

/// Addresses of pages agree with those of the programs in so many bits, wherever a segment starts.
const WITHIN_PAGE: u32 = 0xfff;
const KERNEL: &str = "kernel";
const PROCESS: &str = "process=";
const FORM: &str = "must be CASE:NAME/FROM..TO, CASE:call=NUMBER, CASE:NAME/call=NUMBER, CASE:console=FROM..TO or \
                    CASE:process=NAME, or one of these behind CASE:process=NAME/";

impl UserRegions {
    /// `symbols` are the kernel's.
    pub fn parse(arguments: &[String], programs: &Programs, symbols: &Symbols) -> Result<Self, String> {
        let mut list: Vec<Region> = Vec::new();
        for argument in arguments {
            let wrong = |why: &str| format!("argument region={argument}: {why}");
            let region = Region::parse(argument, programs, symbols).map_err(|why| wrong(&why))?;
            if let Some(other) = list.iter().find(|other| other.starts_like(&region)) {
                return Err(wrong(&format!("starts where case {} starts", other.case)));
            }
            list.push(region);
        }
        if list.len() > 1 {
            let alone = |region: &Region| match region.what {
                What::Calls { .. } => Some("calls"),
                What::Stays => Some("a process's stays"),
                _ => None,
            };
            if let Some(what) = list.iter().find_map(alone) {
                return Err(format!("argument region: {what} are measured alone, in a run of their own"));
            }
        }
        Ok(UserRegions { list, ..UserRegions::default() })
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn places(&self) -> impl Iterator<Item = (Option<usize>, u32)> + '_ {
        self.list.iter().flat_map(|region| match region.what {
            What::Code { program, from, to } => vec![(program, from), (program, to)],
            _ => Vec::new(),
        })
    }

    /// Whether a place of a region is so far into its page.
    pub fn may_be_within(&self, within: u32) -> bool {
        self.places().any(|(_, at)| at & WITHIN_PAGE == within)
    }

    /// Whether an instruction so far into its page may be at a place of a region, if `bytes` are from it to the end of
    /// its block: the program has the same. Of the kernel nothing but the address is known.
    pub fn may_be_at(&self, within: u32, bytes: &[u8], programs: &Programs) -> bool {
        let has = |program: Option<usize>, at| program.is_none_or(|number| programs.number(number).has(at, bytes));
        self.places().any(|(program, at)| at & WITHIN_PAGE == within && has(program, at))
    }

    /// Whether calls are measured.
    pub fn of_calls(&self) -> bool {
        matches!(self.list.first(), Some(Region { what: What::Calls { .. }, .. }))
    }

    /// Whether a process is named.
    pub fn of_process(&self) -> bool {
        self.list.iter().any(|region| region.of.is_some())
    }

    /// Whether what the guest prints is looked at.
    pub fn of_console(&self) -> bool {
        self.list.iter().any(|region| matches!(region.what, What::Console { .. }))
    }

    /// An instruction that may be at a place is about to be executed, at this address of its program, or of the
    /// kernel.
    pub fn reached(&mut self, address: u32, by_kernel: bool) -> Vec<Marker> {
        let here = |region: &Region| match region.what {
            What::Code { program, from, to } => {
                program.is_none() == by_kernel && [from, to].contains(&address) && self.is_theirs(region)
            }
            _ => false,
        };
        let Some(index) = self.list.iter().position(here) else { return Vec::new() };
        if self.undone.take() == Some(address) {
            return Vec::new();
        }
        let starts = matches!(self.list[index].what, What::Code { from, .. } if from == address);
        self.turn(index, starts)
    }

    /// The instruction at this address was not executed after all: it has faulted.
    pub fn undone(&mut self, address: u32) {
        self.undone = Some(address);
    }

    /// One end of a region is reached.
    fn turn(&mut self, index: usize, starts: bool) -> Vec<Marker> {
        let region = &self.list[index];
        if self.open.is_some_and(|open| open != index) {
            let outer = self.open.map_or(0, |open| self.list[open].case);
            if starts && !self.inside.contains(&(outer, region.case)) {
                self.inside.push((outer, region.case));
            }
            return Vec::new();
        }
        if !starts {
            let over = self.open.take().is_some();
            return match (over, self.turns > region.warmup) {
                (true, true) => vec![Marker::Iteration, Marker::End],
                (true, false) => vec![Marker::End],
                (false, _) => Vec::new(),
            };
        }
        let mut markers = self.begin(index);
        if self.turns >= self.list[index].warmup {
            markers.push(Marker::Iteration);
        }
        self.turns += 1;
        markers
    }

    fn begin(&mut self, index: usize) -> Vec<Marker> {
        if self.open.is_some() {
            return Vec::new();
        }
        (self.open, self.turns) = (Some(index), 0);
        vec![Marker::Begin(self.list[index].case)]
    }

    /// Whether what happens now may be a region's.
    fn is_theirs(&self, region: &Region) -> bool {
        region.of.as_ref().is_none_or(|wanted| self.process.as_ref().is_some_and(|process| wanted.is(process)))
    }

    /// Another process runs from now on, or the one that runs has another name.
    pub fn switched(&mut self, to: &Process) -> Vec<Marker> {
        self.process = Some(to.clone());
        let Some(region @ Region { what: What::Stays, warmup, .. }) = self.list.first() else { return Vec::new() };
        let (stayed, warmup) = (self.stays, *warmup);
        self.stays = self.is_theirs(region);
        match (stayed, self.stays) {
            (false, true) => {
                let mut markers = self.begin(0);
                markers.extend((self.turns >= warmup).then_some(Marker::Iteration));
                self.turns += 1;
                markers
            }
            (true, false) if self.turns > warmup => vec![Marker::Pause],
            _ => Vec::new(),
        }
    }

    /// Code of a program is executed in a space.
    #[inline]
    pub fn runs(&mut self, ran: usize, space: (u32, u32)) {
        let wanted =
            matches!(self.list[..], [Region { what: What::Calls { program, .. }, .. }] if program == Some(ran));
        if wanted && !self.spaces.contains(&space) {
            self.spaces.push(space);
        }
    }

    /// A thread is about to make the call with this number.
    pub fn calls(&mut self, called: u32, thread: Thread) -> Vec<Marker> {
        let Some(region @ &Region { what: What::Calls { program, number }, warmup, .. }) = self.list.first() else {
            return Vec::new();
        };
        let theirs = (program.is_none() || self.spaces.contains(&thread.space)) && self.is_theirs(region);
        // A thread that calls again has come back from a call that was not seen to return.
        let lost = self.calling.is_some_and(|calling| calling.space == thread.space);
        let mut markers = Vec::new();
        if lost {
            self.calling = None;
            markers.extend((self.turns > warmup).then_some(Marker::Drop));
        }
        if called != number || !theirs || self.calling.is_some() {
            return markers;
        }
        markers.extend(self.begin(0));
        markers.extend((self.turns >= warmup).then_some(Marker::Iteration));
        self.turns += 1;
        self.calling = Some(thread);
        markers
    }

    /// Whether a call has not returned yet.
    #[inline]
    pub fn waits(&self) -> bool {
        self.calling.is_some()
    }

    /// User code goes on in a thread.
    pub fn returned(&mut self, thread: Thread) -> Option<Marker> {
        if self.calling != Some(thread) {
            return None;
        }
        self.calling = None;
        let warmup = self.list.first().map_or(0, |region| region.warmup);
        (self.turns > warmup).then_some(Marker::Pause)
    }

    /// The guest has printed a character.
    pub fn printed(&mut self, character: u8) -> Vec<Marker> {
        let longest = self.list.iter().map(|region| region.what.longest()).max().unwrap_or(0);
        self.printed.push(char::from(character));
        while self.printed.len() > longest {
            self.printed.remove(0);
        }
        let ends = |text: &str| self.printed.ends_with(text);
        let found = self.list.iter().enumerate().find_map(|(index, region)| match &region.what {
            What::Console { from, .. } if ends(from) && self.is_theirs(region) => Some((index, true)),
            What::Console { to, .. } if ends(to) && self.is_theirs(region) => Some((index, false)),
            _ => None,
        });
        found.map_or_else(Vec::new, |(index, starts)| self.turn(index, starts))
    }

    /// The run ends. A case of calls or stays has no other end.
    pub fn finish(&mut self) -> Vec<Marker> {
        let stays = matches!(self.list.first(), Some(Region { what: What::Stays, .. }));
        if !(self.of_calls() || stays) || self.open.take().is_none() {
            return Vec::new();
        }
        let unfinished = self.calling.take().is_some() || std::mem::take(&mut self.stays);
        let lost = unfinished.then_some(Marker::Drop);
        lost.into_iter().chain([Marker::End]).collect()
    }

    /// What could not be measured.
    pub fn doubts(&self) -> impl Iterator<Item = String> + '_ {
        self.inside.iter().map(|(outer, inner)| format!("case {inner} began inside case {outer}: not measured there"))
    }
}

impl Region {
    fn parse(argument: &str, programs: &Programs, symbols: &Symbols) -> Result<Self, String> {
        let number = |text: &str| text.parse().map_err(|_| FORM.to_string());
        let (case, rest) = argument.split_once(':').ok_or(FORM)?;
        let (rest, warmup) = rest.rsplit_once('@').unwrap_or((rest, "0"));
        let (case, warmup) = (number(case)?, number(warmup)?);
        let (of, rest) = match rest.strip_prefix(PROCESS) {
            Some(rest) => {
                let (name, what) = rest.split_once('/').map_or((rest, None), |(name, what)| (name, Some(what)));
                if name.is_empty() {
                    return Err(FORM.into());
                }
                (Some(name.parse().map_or_else(|_| Wanted::Name(name.to_string()), Wanted::Number)), what)
            }
            None => (None, Some(rest)),
        };
        let what = rest.map_or(Ok(What::Stays), |what| What::parse(what, programs, symbols))?;
        match &what {
            What::Code { from, to, .. } if from == to => Err("starts where it ends".into()),
            What::Console { from, to } if from == to || from.is_empty() || to.is_empty() => {
                Err("needs two different texts".into())
            }
            _ => Ok(Region { case, of, what, warmup }),
        }
    }

    fn starts_like(&self, other: &Region) -> bool {
        self.of == other.of
            && match (&self.what, &other.what) {
                (What::Code { program: ours, from, .. }, What::Code { program, from: other, .. }) => {
                    (ours, from) == (program, other)
                }
                (What::Console { from, .. }, What::Console { from: other, .. }) => from == other,
                _ => false,
            }
    }
}

impl What {
    fn parse(text: &str, programs: &Programs, symbols: &Symbols) -> Result<Self, String> {
        if let Some(texts) = text.strip_prefix("console=") {
            let (from, to) = texts.split_once("..").ok_or(FORM)?;
            return Ok(What::Console { from: from.to_string(), to: to.to_string() });
        }
        let (of, call) = match text.split_once('/') {
            Some((name, call)) => (Some(name), call),
            None => (None, text),
        };
        if let Some(number) = call.strip_prefix("call=") {
            let program = of.map(|name| programs.named(name)).transpose()?;
            let number = number.parse().map_err(|_| FORM)?;
            return Ok(What::Calls { program, number });
        }
        if of == Some(KERNEL) {
            let (from, to) = call.split_once("..").ok_or(FORM)?;
            let at = |place| symbols.place_named(place);
            return Ok(What::Code { program: None, from: at(from)?, to: at(to)? });
        }
        let (program, from, to) = programs.places(text).ok_or(FORM)??;
        Ok(What::Code { program: Some(program), from, to })
    }

    fn longest(&self) -> usize {
        match self {
            What::Console { from, to } => from.len().max(to.len()),
            _ => 0,
        }
    }
}

#[cfg(test)]
#[path = "user_regions_tests.rs"]
mod tests;
