// SPDX-License-Identifier: GPL-2.0-or-later
//! Builds a test guest with gcc, boots it under QEMU with the plugin, and reads the report.
#![allow(dead_code)]

use cobnut_model::{Architecture, MachineFile};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The guests end themselves through QEMU's exit device with code 0.
pub const GUEST_SUCCESS: i32 = 1;

pub fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn machine_file() -> PathBuf {
    here().join("../machines/pentium4-1400.toml")
}

/// The files of the IA-32 machines.
pub fn machine_files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(here().join("../machines")).unwrap();
    let all = folder.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        all.filter(|path| MachineFile::read(path).unwrap().architecture == Architecture::Ia32).collect();
    files.sort();
    assert!(files.len() >= 4, "{files:?}");
    files
}

/// Where `cargo test` puts the plugin: beside the test's own executable.
pub fn plugin() -> PathBuf {
    let plugin = std::env::current_exe().unwrap().with_file_name("libcobnut_plugin.so");
    assert!(plugin.exists(), "{} is missing", plugin.display());
    plugin
}

/// A folder of its own below cargo's target directory.
pub fn work_folder(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(3).unwrap().join("plugin-tests").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn build_guest(name: &str, folder: &Path) -> PathBuf {
    build_guest_with(name, folder, &[])
}

/// The same with more arguments for gcc, as `-DNAME`.
pub fn build_guest_with(name: &str, folder: &Path, more: &[&str]) -> PathBuf {
    let guests = here().join("tests/guests");
    let image = folder.join(name);
    let status = Command::new("gcc")
        .args(["-m32", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-I"])
        .arg(&guests)
        .arg(format!("-Wl,-T,{}", guests.join("link.ld").display()))
        .args(more)
        .arg("-o")
        .arg(&image)
        .arg(guests.join(format!("{name}.S")))
        .status()
        .expect("gcc cannot be started");
    assert!(status.success(), "guest {name} does not build");
    image
}

/// Starts QEMU with the given plugin arguments.
pub fn qemu(image: &Path, ram: &Path, plugin_arguments: &str) -> Output {
    Command::new("qemu-system-i386")
        .arg("-kernel")
        .arg(image)
        .arg("-object")
        .arg(format!("memory-backend-file,id=m,size=16M,mem-path={},share=on", ram.display()))
        .args(["-machine", "pc,memory-backend=m", "-icount", "shift=0,sleep=off", "-display", "none"])
        // a BIOS that finds no screen and no card has less to do
        .args(["-nodefaults", "-serial", "null", "-no-reboot"])
        .args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"])
        .arg("-plugin")
        .arg(format!("{},{plugin_arguments}", plugin().display()))
        .output()
        .expect("qemu-system-i386 cannot be started")
}

/// Runs guest `name` on the Pentium 4; `more` is appended to the plugin's arguments. Returns the text of the report.
/// `run` names the folder of this run.
pub fn report_text(name: &str, run: &str, more: &str) -> String {
    String::from_utf8(output_of(name, run, more)).unwrap()
}

/// Records guest `name`.
pub fn record(name: &str, run: &str, more: &str) -> Vec<u8> {
    output_of(name, run, &format!(",mode=record{more}"))
}

fn output_of(name: &str, run: &str, more: &str) -> Vec<u8> {
    let folder = work_folder(run);
    let image = build_guest(name, &folder);
    let (ram, out) = (folder.join("ram"), folder.join("out.json"));
    let _ = std::fs::remove_file(&out);
    let arguments = format!(
        "machine={},kernel={},ram={},out={}{more}",
        machine_file().display(),
        image.display(),
        ram.display(),
        out.display()
    );
    let output = qemu(&image, &ram, &arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(GUEST_SUCCESS), "{errors}");
    let _ = std::fs::remove_file(&ram);
    std::fs::read(&out).unwrap()
}

pub fn report(name: &str, run: &str, more: &str) -> Report {
    Report(serde_json::from_str(&report_text(name, run, more)).unwrap())
}

pub struct Report(pub Value);

impl Report {
    pub fn case(&self, case: u64) -> &Value {
        self.0["regions"].as_array().unwrap().iter().find(|r| r["case"] == case).expect("no such case")
    }

    /// One number per iteration.
    pub fn series(&self, case: u64, counter: &str) -> Vec<u64> {
        let list = self.case(case)["per_iteration"][counter].as_array().expect(counter);
        list.iter().map(|n| n.as_u64().unwrap()).collect()
    }

    /// The value in all iterations but the first, where they agree.
    pub fn steady(&self, case: u64, counter: &str) -> u64 {
        let series = self.series(case, counter);
        assert!(series[1..].iter().all(|n| *n == series[1]), "{counter} is not steady: {series:?}");
        series[1]
    }
}
