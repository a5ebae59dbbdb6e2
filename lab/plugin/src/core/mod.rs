// SPDX-License-Identifier: GPL-2.0-or-later
//! What following a guest takes on every processor.

pub mod arguments;
mod code_ranges;
pub mod findings;
pub mod idle;
pub mod kernel_image;
pub mod observer;
pub mod output;
pub mod processes;
pub mod programs;
pub mod ram;
pub mod reader;
pub mod seam;
pub mod setup;
pub mod stretch;
pub mod symbols;
pub mod user_regions;
