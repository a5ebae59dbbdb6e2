// SPDX-License-Identifier: GPL-2.0-or-later
//! Which parts of a run are windows: a run is cut into units of so many instructions, and each is one or is none, by
//! its number and a seed alone. So no pattern of the guest's can fall in step with them, and a run that is repeated has
//! the same ones.

use serde::Serialize;

/// LENGTH/ONE_IN, with `:warm=UNITS`, `:seed=N` and `:misses=on` behind it as far as they are not the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Instructions of a unit, of at least so many: it ends with the run of code that it ends in.
    pub length: u64,
    /// One in so many units is a window, on average.
    pub one_in: u64,
    /// Units before a window that are modelled and do not count, 10 by default.
    pub warm: u64,
    /// TLBs and caches are asked all the time, and their misses counted.
    pub misses: bool,
    pub seed: u64,
}

const LONGEST: u64 = 1 << 32;
const MOST_WARM: u64 = 10_000;

impl Plan {
    /// From its words; an error is one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("windows {text}: {why}");
        let mut words = text.split(':');
        let (length, one_in) = words
            .next()
            .and_then(|first| first.split_once('/'))
            .ok_or_else(|| wrong("must be LENGTH/ONE_IN, then :warm=UNITS, :seed=N or :misses=on"))?;
        let number = |name: &str, value: &str, least: u64, most: u64| {
            let found = value.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
            found.ok_or_else(|| wrong(&format!("{name} must be a number from {least} to {most}")))
        };
        let mut plan = Plan {
            length: number("LENGTH", length, 1, LONGEST)?,
            one_in: number("ONE_IN", one_in, 1, LONGEST)?,
            warm: 10,
            misses: false,
            seed: 1,
        };
        for word in words {
            match word.split_once('=') {
                Some(("warm", value)) => plan.warm = number("warm", value, 0, MOST_WARM)?,
                Some(("seed", value)) => plan.seed = number("seed", value, 0, u64::MAX)?,
                Some(("misses", "on")) => plan.misses = true,
                Some(("misses", "off")) => plan.misses = false,
                _ => return Err(wrong(&format!("{word} is none of warm=UNITS, seed=N, misses=on"))),
            }
        }
        Ok(plan)
    }

    /// Whether the unit with this number is a window.
    pub fn chooses(&self, unit: u64) -> bool {
        mixed(self.seed.wrapping_add(unit.wrapping_mul(GOLDEN))) <= u64::MAX / self.one_in
    }

    /// The first window among the units from `unit` on for which a machine is warmed in `unit` already.
    pub fn warms_for(&self, unit: u64) -> Option<u64> {
        (unit..=unit + self.warm).find(|&unit| self.chooses(unit))
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): numbers one after
/// the other lead to numbers that have nothing to do with each other.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(GOLDEN);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_units_are_windows_as_asked_for_and_other_seeds_choose_others() {
        const UNITS: u64 = 100_000;
        let chosen = |seed| {
            let plan = Plan { seed, ..Plan::parse("1000/10").unwrap() };
            (0..UNITS).filter(|&unit| plan.chooses(unit)).collect::<Vec<_>>()
        };
        let (one, other) = (chosen(1), chosen(2));
        // five standard deviations of a binomial distribution
        let most = (UNITS as f64 * 0.1 * 0.9).sqrt() * 5.0;
        for found in [&one, &other] {
            assert!((found.len() as f64 - UNITS as f64 / 10.0).abs() < most, "{}", found.len());
        }
        let common = one.iter().filter(|unit| other.binary_search(unit).is_ok()).count();
        assert!((common as f64 - UNITS as f64 / 100.0).abs() < (UNITS as f64 * 0.01).sqrt() * 5.0, "{common}");
    }

    #[test]
    fn no_step_of_units_is_favoured() {
        let plan = Plan::parse("1000/10").unwrap();
        for step in [2, 3, 7, 10, 64] {
            for first in 0..step {
                let found = (0..20_000).filter(|round| plan.chooses(first + round * step)).count();
                assert!((1_800..2_200).contains(&found), "{found} from {first} in steps of {step}");
            }
        }
    }

    #[test]
    fn words_are_understood_or_refused() {
        let plan = Plan::parse("10000/100:warm=3:seed=7:misses=on").unwrap();
        assert_eq!((plan.length, plan.one_in, plan.warm, plan.seed, plan.misses), (10_000, 100, 3, 7, true));
        for wrong in ["", "10", "0/1", "10/0", "10/x", "10/1:warm", "10/1:warm=x", "10/1:misses=yes", "10/1:x=1"] {
            assert!(Plan::parse(wrong).is_err(), "{wrong}");
        }
    }
}
