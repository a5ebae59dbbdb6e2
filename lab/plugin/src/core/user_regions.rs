// SPDX-License-Identifier: GPL-2.0-or-later
//! Cases without marks: `region=CASE:NAME/FROM..TO` takes two places in a program's code. Each time that the
//! instruction at FROM is executed one iteration ends and the next starts, the first of all begins the case, and the
//! instruction at TO ends it. With `@N` behind it, the first N turns belong to the case but are no iterations.

use super::programs::Programs;
use cobnut_trace::Marker;

#[derive(Clone)]
struct Region {
    case: u32,
    program: usize,
    from: u32,
    to: u32,
    warmup: u32,
}

#[derive(Clone, Default)]
pub struct UserRegions {
    list: Vec<Region>,
    /// The one whose case is open.
    open: Option<usize>,
    /// How often that one's start was reached.
    turns: u32,
}

/// Addresses of pages agree with those of the programs in so many bits, wherever a segment starts.
const WITHIN_PAGE: u32 = 0xfff;

impl UserRegions {
    pub fn parse(arguments: &[String], programs: &Programs) -> Result<Self, String> {
        let region = |argument: &String| {
            let wrong = |why: &str| format!("argument region={argument}: {why}");
            let form = "must be CASE:NAME/FROM..TO or CASE:NAME/FROM..TO@TURNS";
            let number = |text: &str| text.parse().map_err(|_| wrong(form));
            let (case, places) = argument.split_once(':').ok_or(wrong(form))?;
            let (places, warmup) = places.split_once('@').unwrap_or((places, "0"));
            let (case, warmup) = (number(case)?, number(warmup)?);
            let (program, from, to) = programs.places(places).ok_or(wrong(form))?.map_err(|why| wrong(&why))?;
            if from == to {
                return Err(wrong("starts where it ends"));
            }
            Ok(Region { case, program, from, to, warmup })
        };
        Ok(UserRegions { list: arguments.iter().map(region).collect::<Result<_, _>>()?, open: None, turns: 0 })
    }

    /// Whether a place of a region is so far into its page.
    pub fn may_be_within(&self, within: u32) -> bool {
        self.list.iter().any(|region| [region.from, region.to].iter().any(|at| at & WITHIN_PAGE == within))
    }

    /// Whether an instruction so far into its page may be at a place of a region, if `bytes` are from it to the end of
    /// its block: the program has the same.
    pub fn may_be_at(&self, within: u32, bytes: &[u8], programs: &Programs) -> bool {
        self.list.iter().any(|region| {
            let is_it = |&at: &u32| at & WITHIN_PAGE == within && programs.number(region.program).has(at, bytes);
            [region.from, region.to].iter().any(is_it)
        })
    }

    /// User code is about to execute an instruction that may be at a place, and is at this address of its program.
    pub fn reached(&mut self, address: u32) -> Vec<Marker> {
        let Some(index) = self.list.iter().position(|one| [one.from, one.to].contains(&address)) else {
            return Vec::new();
        };
        let (is_open, region) = (self.open == Some(index), &self.list[index]);
        if address == region.to {
            if !is_open {
                return Vec::new();
            }
            self.open = None;
            return if self.turns > region.warmup { vec![Marker::Iteration, Marker::End] } else { vec![Marker::End] };
        }
        let mut markers = Vec::new();
        if !is_open {
            (self.open, self.turns) = (Some(index), 0);
            markers.push(Marker::Begin(region.case));
        }
        if self.turns >= region.warmup {
            markers.push(Marker::Iteration);
        }
        self.turns += 1;
        markers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "must be CASE:NAME/FROM..TO or CASE:NAME/FROM..TO@TURNS";
    const LOOP: &[u8] = &[0x90, 0xcd, 0x80, 0xeb, 0xfb, 0xc3];

    fn programs() -> Programs {
        Programs::one("it", 0x8048000, LOOP, &[(0x8048000, "again"), (0x8048001, "call"), (0x8048005, "done")])
    }

    fn regions(arguments: &[&str]) -> Result<UserRegions, String> {
        let arguments: Vec<String> = arguments.iter().map(|one| one.to_string()).collect();
        UserRegions::parse(&arguments, &programs())
    }

    #[test]
    fn a_loop_is_a_case_whose_turns_are_iterations() {
        let mut regions = regions(&["3:it/again..done"]).unwrap();
        assert_eq!(regions.reached(0x8048005), [], "it has not begun");
        assert_eq!(regions.reached(0x8048000), [Marker::Begin(3), Marker::Iteration]);
        assert_eq!(regions.reached(0x8048000), [Marker::Iteration]);
        assert_eq!(regions.reached(0x8048001), [], "no place of a region");
        assert_eq!(regions.reached(0x8048005), [Marker::Iteration, Marker::End]);
        assert_eq!(regions.reached(0x8048000), [Marker::Begin(3), Marker::Iteration], "again");
    }

    #[test]
    fn the_first_turns_may_be_no_iterations() {
        let mut regions = regions(&["3:it/again..done@2"]).unwrap();
        assert_eq!(regions.reached(0x8048000), [Marker::Begin(3)]);
        assert_eq!(regions.reached(0x8048000), []);
        assert_eq!(regions.reached(0x8048000), [Marker::Iteration]);
        assert_eq!(regions.reached(0x8048005), [Marker::Iteration, Marker::End]);
        assert_eq!(regions.reached(0x8048000), [Marker::Begin(3)]);
        assert_eq!(regions.reached(0x8048005), [Marker::End], "none was measured");
    }

    #[test]
    fn a_place_is_known_by_its_bytes_in_whatever_page() {
        let regions = regions(&["3:it/again..done"]).unwrap();
        assert!(regions.may_be_at(0, &LOOP[..3], &programs()) && regions.may_be_at(5, &LOOP[5..], &programs()));
        assert!(!regions.may_be_at(1, &LOOP[1..], &programs()), "another instruction");
        assert!(!regions.may_be_at(0, &[0x90, 0xcd, 0x81], &programs()), "another program");
    }

    #[test]
    fn a_wrong_region_is_refused() {
        for (argument, why) in [
            ("3", FORM),
            ("x:it/again..done", FORM),
            ("3:again..done", FORM),
            ("3:it/again..done@x", FORM),
            ("3:other/again..done", "there is no program=other:FILE"),
            ("3:it/again..nowhere", "it has no symbol nowhere, or several"),
            ("3:it/again..again", "starts where it ends"),
        ] {
            let error = regions(&[argument]).err();
            assert_eq!(error, Some(format!("argument region={argument}: {why}")));
        }
    }
}
