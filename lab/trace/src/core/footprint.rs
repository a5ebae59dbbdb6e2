// SPDX-License-Identifier: GPL-2.0-or-later
//! How many distinct physical cache lines and pages a round trip touches.
//!
//! Every line has a stamp with the epoch in which it was last touched, so that starting over costs nothing.

use cobnut_model::Physical;
use serde::Serialize;

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
    pub fn code(&mut self, physical: Physical, bytes: u32, kernel: bool) {
        self.range(0, physical, bytes, kernel);
    }

    /// One data access; both lines count when it straddles two.
    #[inline]
    pub fn data(&mut self, physical: Physical, bytes: u32, kernel: bool) {
        self.range(1, physical, bytes, kernel);
    }

    #[inline]
    fn range(&mut self, kind: usize, physical: Physical, bytes: u32, kernel: bool) {
        for line in physical.0 >> LINE_SHIFT..=physical.plus(bytes.max(1) - 1).0 >> LINE_SHIFT {
            self.touched[kind].touch(line, self.epoch);
            if kernel {
                self.touched[kind + 2].touch(line, self.epoch);
            }
        }
    }

    /// What was touched since the last call; starts over.
    pub fn take(&mut self) -> Sizes {
        let [code, data, kernel_code, kernel_data] = &self.touched;
        let sizes = Sizes {
            code_lines: code.lines,
            data_lines: data.lines,
            code_pages: code.pages,
            data_pages: data.pages,
            kernel_code_lines: kernel_code.lines,
            kernel_data_lines: kernel_data.lines,
            kernel_code_pages: kernel_code.pages,
            kernel_data_pages: kernel_data.pages,
        };
        self.epoch += 1;
        for touched in &mut self.touched {
            (touched.lines, touched.pages) = (0, 0);
        }
        sizes
    }
}

/// How many distinct lines of 64 bytes and pages of 4 KB were touched, as code and as data; and how many of these by
/// the kernel.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Sizes {
    code_lines: u32,
    data_lines: u32,
    code_pages: u32,
    data_pages: u32,
    kernel_code_lines: u32,
    kernel_data_lines: u32,
    kernel_code_pages: u32,
    kernel_data_pages: u32,
}
