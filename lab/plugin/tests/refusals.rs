// SPDX-License-Identifier: GPL-2.0-or-later
//! Wrong arguments: QEMU ends before the guest starts, with one clear line and status 1.

mod common;
use common::*;

fn refusal(run: &str, arguments: &str) -> String {
    let folder = work_folder(run);
    let image = build_guest("sysenter", &folder);
    let ram = folder.join("ram");
    let arguments = arguments
        .replace("MACHINE", &machine_file().display().to_string())
        .replace("FOLDER", &folder.display().to_string());
    let output = qemu(&image, &ram, &arguments);
    let _ = std::fs::remove_file(&ram);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let lines: Vec<&str> = errors.lines().filter(|l| l.starts_with("cobnut-plugin: ")).collect();
    assert_eq!(lines.len(), 1, "{errors}");
    lines[0].replace(&folder.display().to_string(), "FOLDER").replace(&machine_file().display().to_string(), "MACHINE")
}

#[test]
fn every_mistake_has_its_line() {
    let bad = work_folder("refusals").join("bad.toml");
    let text = std::fs::read_to_string(machine_file()).unwrap();
    std::fs::write(&bad, text.replace("value = 480", "value = -480")).unwrap();
    for (arguments, expected) in [
        (
            "ram=FOLDER/ram,out=FOLDER/out",
            "missing argument machine=FILE (or mode=count, idle, record, sanitize or stretch)",
        ),
        ("machine=MACHINE,out=FOLDER/out", "missing argument ram=FILE"),
        ("machine=MACHINE,ram=FOLDER/ram", "missing argument out=FILE"),
        ("machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,speed=9", "unknown argument speed"),
        (
            "mode=guess,ram=FOLDER/ram,out=FOLDER/out",
            "argument mode: guess is not one of count, idle, model, record, sanitize, stretch",
        ),
        (
            "machine=FOLDER/none.toml,ram=FOLDER/ram,out=FOLDER/out",
            "machine file FOLDER/none.toml: No such file or directory (os error 2)",
        ),
        (
            "machine=FOLDER/bad.toml,ram=FOLDER/ram,out=FOLDER/out",
            "machine file FOLDER/bad.toml: address_space.cr3_cycles: -480 is not a number of cycles from 0 to 1000000 \
             with at most three decimals",
        ),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,set=dtlb.entries:0",
            "machine file MACHINE: set=dtlb.entries:0: dtlb.entries: 0 is not a whole number from 1 to 65536",
        ),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,kernel=MACHINE",
            "kernel file MACHINE: not a complete 32-bit ELF file",
        ),
        (
            "mode=count,ram=FOLDER/ram,out=FOLDER/out,windows=1000/9",
            "argument windows: there is no machine to measure on",
        ),
        ("machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,pieces=FOLDER/x", "argument pieces: is for windows="),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,windows=0/9",
            "windows 0/9: LENGTH must be a number from 1 to 4294967296",
        ),
        ("machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,program=it", "argument program=it: must be NAME:FILE"),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,program=it:MACHINE",
            "program it: file MACHINE: not a complete 32-bit ELF file",
        ),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,program=it:FOLDER/sysenter,region=1:it/asks..nowhere",
            "argument region=1:it/asks..nowhere: it has no symbol nowhere, or several",
        ),
        (
            "mode=sanitize,ram=FOLDER/ram,out=FOLDER/out,program=it:FOLDER/sysenter",
            "argument program: only what is measured or recorded has one",
        ),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,region=1:process=sh",
            "argument region: process= needs processes=FILE",
        ),
        (
            "mode=sanitize,ram=FOLDER/ram,out=FOLDER/out,processes=FOLDER/none",
            "argument processes: only what is measured or recorded has one",
        ),
        (
            "machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,processes=FOLDER/none",
            "process file FOLDER/none: No such file or directory (os error 2)",
        ),
        ("mode=sanitize,ram=FOLDER/ram,out=FOLDER/out,ignore=here", "argument ignore: here is not an address"),
        (
            "mode=sanitize,ram=FOLDER/ram,out=FOLDER/out,symbols=FOLDER/none",
            "symbol file FOLDER/none: No such file or directory (os error 2)",
        ),
        (
            "mode=sanitize,ram=FOLDER/ram,out=FOLDER/out,symbols=MACHINE",
            "symbol file MACHINE: not lines of address, type and name",
        ),
        ("machine=MACHINE,ram=FOLDER/ram,out=FOLDER/out,without=cache", "argument without: cache is not flush"),
        ("mode=count,ram=FOLDER/ram,out=FOLDER/out,without=flush", "argument without: there is no machine to change"),
        ("mode=count,ram=FOLDER/ram,out=FOLDER/out,from=boot", "argument from: boot is not begin"),
        (
            "mode=record,ram=FOLDER/ram,out=FOLDER/out,from=begin",
            "argument from: only a measurement can wait for its beginning",
        ),
        ("mode=count,ram=FOLDER/ram,out=FOLDER/out,range=x", "argument range=x: must be NAME:SYMBOL..SYMBOL"),
        (
            "mode=count,ram=FOLDER/ram,out=FOLDER/out,range=x:user..segments",
            "argument range=x:user..segments: the kernel's code has no symbol user",
        ),
        (
            "mode=count,ram=FOLDER/ram,out=FOLDER/out,kernel=FOLDER/sysenter,range=x:user..nowhere",
            "argument range=x:user..nowhere: the kernel's code has no symbol nowhere",
        ),
        (
            "mode=count,ram=FOLDER/ram,out=FOLDER/out,kernel=FOLDER/sysenter,range=x:segments..on_sysenter",
            "argument range=x:segments..on_sysenter: holds no instruction",
        ),
        (
            "machine=MACHINE,ram=FOLDER/other,out=FOLDER/out",
            "ram file FOLDER/other: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(refusal("refusals", arguments), format!("cobnut-plugin: {expected}"));
    }
}
