// SPDX-License-Identifier: GPL-2.0-or-later
//! Probes of a machine's geometry: small cases in one generated guest, of which the caller sees only what the plugin
//! reports.

#[path = "../common/mod.rs"]
pub mod common;

use common::{here, qemu, work_folder, GUEST_SUCCESS};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How often a case is executed: its own code is traced as it will be from the second time on.
const PASSES: usize = 3;

/// One case: what happens before, and the few bytes of code that are measured.
#[derive(Clone, Debug)]
pub struct Case {
    pub before: String,
    pub measured: String,
    /// The first execution counts, when nothing has touched what the case names; otherwise the last, when its own code
    /// is known to the machine.
    pub cold: bool,
}

impl Case {
    pub fn cold(self) -> Self {
        Case { cold: true, ..self }
    }
}

/// What the plugin reports of the measured code of one case.
pub struct Sample(Value);

impl Sample {
    /// Whole cycles in a row of the ledger.
    pub fn row(&self, category: &str) -> u64 {
        self.0["ledger"][category].as_u64().expect("a row of the ledger")
    }

    pub fn count(&self, counter: &str) -> u64 {
        self.0["per_iteration"][counter][0].as_u64().expect("a counter")
    }
}

/// A machine as the prober knows it: a file that it does not read, perhaps with some values set.
pub struct Subject {
    pub machine: PathBuf,
    pub set: Vec<String>,
    /// Names the folder of its runs.
    pub name: String,
}

impl Subject {
    /// Runs the cases, each a few times.
    pub fn measure(&self, cases: &[Case]) -> Vec<Sample> {
        let folder = work_folder(&format!("probe-{}", self.name));
        let image = build(&folder, cases);
        let (ram, out) = (folder.join("ram"), folder.join("out.json"));
        let _ = std::fs::remove_file(&out);
        let sets: String = self.set.iter().map(|assignment| format!(",set={assignment}")).collect();
        let arguments = format!("machine={},ram={},out={}{sets}", self.machine.display(), ram.display(), out.display());
        let output = qemu(&image, &ram, &arguments);
        let _ = std::fs::remove_file(&ram);
        assert_eq!(output.status.code(), Some(GUEST_SUCCESS), "{}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
        let regions = report["regions"].as_array().unwrap();
        assert_eq!(regions.len(), PASSES * cases.len());
        let counting = |case: &Case| if case.cold { 0 } else { PASSES - 1 };
        cases.iter().zip(regions.chunks(PASSES)).map(|(case, passes)| Sample(passes[counting(case)].clone())).collect()
    }
}

pub fn case(before: &str, measured: &str) -> Case {
    Case { before: before.into(), measured: measured.into(), cold: false }
}

fn build(folder: &Path, cases: &[Case]) -> PathBuf {
    let mut text = String::from("#include \"probe.inc\"\n");
    for (number, Case { before, measured, .. }) in cases.iter().enumerate() {
        // A case does not cross a page.
        write!(text, "\t.p2align 8\n\tmov ${PASSES}, %ebp\n3:\n{before}\n\tbegin {number}\n{measured}\n\tend\n")
            .unwrap();
        text.push_str("\tdec %ebp\n\tjnz 3b\n");
    }
    text.push_str("\tjmp finish\n");
    let (source, image) = (folder.join("probe.S"), folder.join("probe"));
    std::fs::write(&source, text).unwrap();
    let guests = here().join("tests/guests");
    let status = Command::new("gcc")
        .args(["-m32", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-I"])
        .arg(&guests)
        .arg(format!("-Wl,-T,{}", guests.join("link.ld").display()))
        .arg("-o")
        .args([&image, &source])
        .status()
        .expect("gcc cannot be started");
    assert!(status.success(), "{} does not build", source.display());
    image
}

/// What is touched: read as data, or executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Execute,
}

impl Access {
    /// Touches `count` places from `from` on.
    pub fn sweep(self, from: &str, stride: u32, count: u32) -> String {
        let name = if self == Access::Read { "reads" } else { "jumps" };
        format!("\t{name} ({from}), {stride}, {count}\n")
    }

    /// What has to stand before a measured [`Self::touch`] of `place`.
    pub fn prepare(self, place: &str) -> String {
        match self {
            Access::Read => String::new(),
            Access::Execute => format!("\tmov $5f, %ebx\n\tmov ${place}, %esi\n"),
        }
    }

    pub fn touch(self, place: &str) -> String {
        match self {
            Access::Read => format!("\tmov {place}, %ecx\n"),
            Access::Execute => "\tjmp *%esi\n".into(),
        }
    }
}

/// A case that does `before` and measures one touch of `place`.
pub fn touch_after(access: Access, before: &str, place: &str) -> Case {
    case(&(before.to_string() + &access.prepare(place)), &access.touch(place))
}

/// Code that names a place.
pub type Code<'a> = Box<dyn Fn(&str) -> String + 'a>;

/// Whether a measured touch found its place gone.
#[derive(Clone, Copy)]
pub enum Gone {
    /// From a TLB.
    Missed,
    /// From the caches so far that the refill costs so many cycles at least.
    Refilled(u64),
}

impl Gone {
    pub fn judge(self, sample: &Sample) -> bool {
        match self {
            Gone::Missed => sample.count("itlb_misses") + sample.count("dtlb_misses") > 0,
            Gone::Refilled(least) => sample.row("cache_refill") >= least,
        }
    }
}

/// A place to begin, and code around what is done there.
pub struct Ground<'a> {
    pub access: Access,
    /// What most of these say counts: the case's own code may lie in the way of one.
    pub bases: [String; 3],
    /// Makes room.
    pub first: Code<'a>,
    /// Between the last touch and the one that is measured.
    pub last: Code<'a>,
    pub gone: Gone,
}

impl Ground<'_> {
    /// Touches `count` places from `base` on, then `again`, one by one.
    pub fn touched(&self, base: &str, stride: u32, count: u32, again: &[u32]) -> String {
        let place = |n: &u32| format!("{base} + {:#x}", n * stride);
        let again: String = again.iter().map(|n| (self.last)(base) + &self.access.sweep(&place(n), 0, 1)).collect();
        (self.first)(base) + &self.access.sweep(base, stride, count) + &again + &(self.last)(base)
    }
}

/// How many places, a stride apart, are held together with the first of them, found by probing it after touching so
/// many.
pub struct Search<'a> {
    pub ground: &'a Ground<'a>,
    pub stride: u32,
    /// The most places that there is room for.
    pub most: u32,
}

/// Places probed at once between the bounds of a search.
const ATTEMPTS: u32 = 12;

/// Runs the searches side by side. A result of `most` means that nothing was ever displaced.
pub fn search(subject: &Subject, searches: &[Search]) -> Vec<u32> {
    // Held at the lower end, gone at the upper one.
    let mut ranges: Vec<(u32, u32)> = searches.iter().map(|s| (1, s.most + 1)).collect();
    while ranges.iter().any(|(low, high)| high - low > 1) {
        let mut cases = Vec::new();
        let mut attempts = Vec::new();
        for (index, (search, &(low, high))) in searches.iter().zip(&ranges).enumerate() {
            let step = (high - low).div_ceil(ATTEMPTS + 1);
            for count in (low + step..high).step_by(step as usize) {
                attempts.push((index, count));
                let ground = search.ground;
                cases.extend(
                    ground
                        .bases
                        .iter()
                        .map(|base| touch_after(ground.access, &ground.touched(base, search.stride, count, &[]), base)),
                );
            }
        }
        let mut samples = subject.measure(&cases).into_iter();
        let mut found = ranges.clone();
        for (index, count) in attempts {
            let votes = samples.by_ref().take(3).filter(|sample| searches[index].ground.gone.judge(sample)).count();
            let gone = votes >= 2;
            let (low, high) = &mut found[index];
            if gone {
                *high = (*high).min(count);
            } else if count < *high {
                *low = count;
            }
        }
        ranges = found;
    }
    ranges.iter().map(|(low, _)| *low).collect()
}
