// SPDX-License-Identifier: GPL-2.0-or-later
//! What windows say of all of which they are a sample: a figure and its standard error.
//!
//! Units are not equally long, so it is the ratio of the figure to the instructions that is estimated, and multiplied
//! by all instructions, which are counted (Cochran, Sampling Techniques, 3rd edition, 2.11 and 6.3).

use serde::Serialize;

/// Sums over windows: of a figure, its square, and its product with the instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    figure: f64,
    squares: f64,
    products: f64,
}

impl Sums {
    pub fn add(&mut self, instructions: u64, figure: u64) {
        let (x, y) = (instructions as f64, figure as f64);
        self.figure += y;
        self.squares += y * y;
        self.products += x * y;
    }
}

/// The windows that were measured, and of what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub windows: u64,
    /// Instructions of the windows, and the sum of their squares.
    instructions: f64,
    squares: f64,
    /// Units of the whole, and its instructions.
    pub units: u64,
    pub all_instructions: u64,
}

impl Sample {
    /// A unit has ended.
    pub fn unit(&mut self, instructions: u64) {
        self.units += 1;
        self.all_instructions += instructions;
    }

    /// It was a window.
    pub fn window(&mut self, instructions: u64) {
        let x = instructions as f64;
        self.windows += 1;
        self.instructions += x;
        self.squares += x * x;
    }

    /// What the whole is said to have. None: there is no window.
    pub fn estimate(&self, sums: &Sums) -> Option<Estimate> {
        if self.instructions == 0.0 {
            return None;
        }
        let (n, ratio) = (self.windows as f64, sums.figure / self.instructions);
        let all = self.all_instructions as f64;
        let error = (self.windows > 1).then(|| {
            let residuals = sums.squares - 2.0 * ratio * sums.products + ratio * ratio * self.squares;
            let variance = residuals.max(0.0) / (n - 1.0);
            let left_out = 1.0 - n / self.units as f64;
            all / (self.instructions / n) * (variance * left_out / n).sqrt()
        });
        Some(Estimate { value: ratio * all, error })
    }
}

/// A figure of the whole, and how far it is likely to be off: by no more than the error in two of three cases, by no
/// more than twice the error in nineteen of twenty. No error where there is but one window.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub error: Option<f64>,
}

impl Estimate {
    /// In another unit, `each` of which are one, to three decimals.
    pub fn in_units_of(self, each: u64) -> Estimate {
        let rounded = |value: f64| (value / each as f64 * 1000.0).round() / 1000.0;
        Estimate { value: rounded(self.value), error: self.error.map(rounded) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;

    /// How often the truth lies within so many errors of the estimate, of populations of `units`, each with its
    /// instructions and figure, of which one in ten is seen.
    fn within(units: &[(u64, u64)], errors: f64) -> f64 {
        const SEEDS: u64 = 2_000;
        let truth: u64 = units.iter().map(|unit| unit.1).sum();
        let holds = (0..SEEDS).filter(|&seed| {
            let plan = Plan { seed, ..Plan::parse("1/10").unwrap() };
            let (mut sample, mut sums) = (Sample::default(), Sums::default());
            for (number, &(instructions, figure)) in units.iter().enumerate() {
                sample.unit(instructions);
                if plan.chooses(number as u64) {
                    sample.window(instructions);
                    sums.add(instructions, figure);
                }
            }
            let found = sample.estimate(&sums).unwrap();
            (found.value - truth as f64).abs() <= errors * found.error.unwrap()
        });
        holds.count() as f64 / SEEDS as f64
    }

    #[test]
    fn the_error_says_how_far_estimates_are_off() {
        // a period that a fixed step of ten would fall in step with, and units of two lengths
        let periodic: Vec<_> = (0..2_000u64).map(|n| (1_000 + n % 3 * 500, 2_000 + 9_000 * (n % 10 / 8))).collect();
        let rising: Vec<_> = (0..2_000u64).map(|n| (1_000, 1_000 + 5 * n)).collect();
        for units in [periodic, rising] {
            let (one, two) = (within(&units, 1.0), within(&units, 2.0));
            assert!((0.65..0.71).contains(&one), "68 % are within one error: {one}");
            assert!((0.93..0.97).contains(&two), "95 % are within two: {two}");
        }
    }

    #[test]
    fn a_run_that_is_all_windows_has_no_error() {
        let (mut sample, mut sums) = (Sample::default(), Sums::default());
        for (instructions, figure) in [(1_000, 5_000), (900, 7_000), (1_300, 1)] {
            sample.unit(instructions);
            sample.window(instructions);
            sums.add(instructions, figure);
        }
        let found = sample.estimate(&sums).unwrap();
        assert_eq!((found.value.round(), found.error), (12_001.0, Some(0.0)));
    }

    #[test]
    fn what_follows_the_instructions_exactly_is_known() {
        let (mut sample, mut sums) = (Sample::default(), Sums::default());
        for number in 1..100 {
            sample.unit(number * 10);
            if number % 5 == 0 {
                sample.window(number * 10);
                sums.add(number * 10, number * 30);
            }
        }
        let found = sample.estimate(&sums).unwrap();
        assert_eq!(found.value, 3.0 * sample.all_instructions as f64);
        assert!(found.error.unwrap() < 1e-3, "{found:?}");
    }
}
