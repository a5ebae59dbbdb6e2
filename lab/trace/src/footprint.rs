// SPDX-License-Identifier: GPL-2.0-or-later
//! How many distinct physical cache lines and pages a round trip touches.
//!
//! Every line has a stamp with the epoch in which it was last touched, so that starting over costs nothing.

use serde_json::{json, Value};

const LINE_SHIFT: u32 = 6;
const LINES_PER_PAGE_SHIFT: u32 = 12 - LINE_SHIFT;

/// Lines and pages touched by one kind of access.
struct Touched {
    line_stamps: Vec<u32>,
    page_stamps: Vec<u32>,
    lines: u32,
    pages: u32,
}

impl Touched {
    fn new(memory: usize) -> Self {
        let lines = (memory >> LINE_SHIFT) + 1;
        let pages = (lines >> LINES_PER_PAGE_SHIFT) + 1;
        Touched { line_stamps: vec![0; lines], page_stamps: vec![0; pages], lines: 0, pages: 0 }
    }

    #[inline]
    fn touch(&mut self, line: u32, epoch: u32) {
        let Some(stamp) = self.line_stamps.get_mut(line as usize) else { return };
        if *stamp == epoch {
            return;
        }
        *stamp = epoch;
        self.lines += 1;
        let page = &mut self.page_stamps[(line >> LINES_PER_PAGE_SHIFT) as usize];
        if *page != epoch {
            *page = epoch;
            self.pages += 1;
        }
    }
}

pub struct Footprint {
    /// code, data, kernel code, kernel data
    touched: [Touched; 4],
    epoch: u32,
}

impl Footprint {
    /// For `memory` bytes of guest memory.
    pub fn new(memory: usize) -> Self {
        Footprint { touched: std::array::from_fn(|_| Touched::new(memory)), epoch: 1 }
    }

    /// Code bytes within one page.
    #[inline]
    pub fn code(&mut self, physical: u32, bytes: u32, kernel: bool) {
        self.range(0, physical, bytes, kernel);
    }

    /// One data access; both lines count when it straddles two.
    #[inline]
    pub fn data(&mut self, physical: u32, bytes: u32, kernel: bool) {
        self.range(1, physical, bytes, kernel);
    }

    #[inline]
    fn range(&mut self, kind: usize, physical: u32, bytes: u32, kernel: bool) {
        for line in physical >> LINE_SHIFT..=physical.wrapping_add(bytes.max(1) - 1) >> LINE_SHIFT {
            self.touched[kind].touch(line, self.epoch);
            if kernel {
                self.touched[kind + 2].touch(line, self.epoch);
            }
        }
    }

    /// What was touched since the last call; starts over.
    pub fn take(&mut self) -> Sizes {
        let sizes = Sizes(std::array::from_fn(|kind| (self.touched[kind].lines, self.touched[kind].pages)));
        self.epoch += 1;
        for touched in &mut self.touched {
            (touched.lines, touched.pages) = (0, 0);
        }
        sizes
    }
}

/// Distinct lines and pages of code, data, kernel code and kernel data.
#[derive(Clone, Copy, Default)]
pub struct Sizes([(u32, u32); 4]);

impl Sizes {
    pub fn report(&self) -> Value {
        let [code, data, kernel_code, kernel_data] = self.0;
        json!({
            "code_lines": code.0, "data_lines": data.0, "code_pages": code.1, "data_pages": data.1,
            "kernel_code_lines": kernel_code.0, "kernel_data_lines": kernel_data.0,
            "kernel_code_pages": kernel_code.1, "kernel_data_pages": kernel_data.1,
        })
    }
}
