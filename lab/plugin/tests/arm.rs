// SPDX-License-Identifier: GPL-2.0-or-later
//! A guest with an ARM processor: what is counted, what is modelled, and what is refused. Expected figures are counted
//! by hand from tests/guests/arm.S.

mod common;

use cobnut_model::MachineFile;
use cobnut_trace::arm::Arm;
use cobnut_trace::{Measurement, Replay};
use common::{here, plugin, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn build(folder: &Path) -> PathBuf {
    build_with(folder, &[])
}

/// With more arguments for gcc, as `-DNAME`.
fn build_with(folder: &Path, more: &[&str]) -> PathBuf {
    let image = folder.join("arm");
    let status = Command::new("arm-none-eabi-gcc")
        .args(more)
        .args(["-mcpu=arm926ej-s", "-nostdlib", "-static", "-Wl,--build-id=none", "-Wl,-Ttext=0x10000", "-o"])
        .arg(&image)
        .arg(here().join("tests/guests/arm.S"))
        .status()
        .expect("arm-none-eabi-gcc cannot be started");
    assert!(status.success(), "the guest does not build");
    image
}

fn qemu(folder: &Path, arguments: &str) -> Output {
    qemu_of(&build(folder), folder, arguments)
}

fn qemu_of(image: &Path, folder: &Path, arguments: &str) -> Output {
    let ram = folder.join("ram");
    Command::new("qemu-system-arm")
        .args(["-machine", "versatilepb,memory-backend=m", "-m", "64M", "-display", "none", "-audio", "driver=none"])
        .args([
            "-net",
            "none",
            "-semihosting-config",
            "enable=on,target=native",
            "-serial",
            "null",
            "-icount",
            "shift=3,sleep=off",
        ])
        .args(["-object", &format!("memory-backend-file,id=m,size=64M,mem-path={},share=on", ram.display())])
        .arg("-kernel")
        .arg(image)
        .args(["-plugin", &format!("{},ram={}{arguments}", plugin().display(), ram.display())])
        .output()
        .expect("qemu-system-arm cannot be started")
}

fn measure(name: &str, arguments: &str) -> Value {
    serde_json::from_slice(&output_of(name, arguments)).unwrap()
}

fn output_of(name: &str, arguments: &str) -> Vec<u8> {
    let folder = work_folder(name);
    let out = folder.join("out.json");
    let done = qemu(&folder, &format!(",out={},{arguments}", out.display()));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(out).unwrap()
}

fn on_machine(name: &str) -> Value {
    measure(name, &format!("machine={}", here().join("../machines/arm926-400.toml").display()))
}

fn series(report: &Value, case: usize, name: &str) -> Vec<u64> {
    let list = report["regions"][case - 1]["per_iteration"][name].as_array();
    list.unwrap_or_else(|| panic!("no {name}")).iter().map(|n| n.as_u64().unwrap()).collect()
}

#[test]
fn instructions_are_counted_exactly() {
    let report = measure("arm-count", "mode=count");
    assert_eq!(series(&report, 1, "instructions_kernel"), [3], "a marker belongs to what it begins");
    // Of 13 in the loop one aborts and is not counted; the vector and the handler are one each.
    assert_eq!(series(&report, 2, "instructions_kernel"), [14; 4]);
    assert_eq!(series(&report, 2, "entries_data"), [1; 4]);
    assert_eq!(series(&report, 2, "line_operations"), [1; 4]);
    assert_eq!(series(&report, 2, "drains"), [1; 4]);
    assert_eq!(series(&report, 3, "tlb_flushes"), [1; 3]);
    assert_eq!(series(&report, 3, "dcache_flushes"), [1; 3]);
    assert_eq!(series(&report, 4, "pid_writes"), [2; 3]);
    // A device access that QEMU begins again counts once.
    assert_eq!(series(&report, 5, "instructions_kernel"), [6; 3]);
}

#[test]
fn rows_add_up_and_refills_have_causes() {
    let report = on_machine("arm-model");
    for region in report["regions"].as_array().unwrap() {
        let rows: u64 = region["ledger"].as_object().unwrap().values().map(|row| row.as_u64().unwrap()).sum();
        assert_eq!(region["cycles_total"], rows);
        let each: u64 = region["cycles_per_iteration"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(region["cycles_total"], each);
    }
    // The loop of case 3 and its literals lie in one section: each flush takes one entry of the TLB.
    let misses = series(&report, 3, "itlb_misses");
    assert_eq!(misses, [1; 3]);
    let flushed =
        report["regions"][2]["causes"].as_array().unwrap().iter().find(|c| c["category"] == "tlb_refill_code");
    let flushed = flushed.expect("charged");
    assert_eq!((&flushed["kind"], &flushed["refills"]), (&"flushed".into(), &3.into()));
    let switch = flushed["switch"].as_u64().unwrap() as usize;
    assert_eq!(report["switches"][switch]["how"], "tlb_flush");
    // Case 4 finds the line under another address once, and afterwards each time.
    assert_eq!(series(&report, 4, "dcache_misses").iter().skip(1).sum::<u64>(), 0);
}

#[test]
fn the_line_that_is_cleaned_is_written_once_a_round() {
    let report = on_machine("arm-clean");
    assert_eq!(series(&report, 2, "write_backs"), [1; 4]);
    assert!(series(&report, 2, "dcache_misses")[1..].iter().all(|&misses| misses == 0), "cleaning keeps the line");
}

/// `range=` and the functions of the image are in what is compared.
#[test]
fn a_replay_measures_what_the_run_did_on_each_machine() {
    let image = build(&work_folder("arm-record-image"));
    let arguments = format!("kernel={},range=handler:abort..handled", image.display());
    let record = output_of("arm-record", &format!("mode=record,{arguments}"));
    assert_eq!(record, output_of("arm-record", &format!("mode=record,{arguments}")), "a record is repeatable");
    let replayed = |file: &MachineFile, begin: bool| {
        let replay = Replay::new(&record[..]).unwrap();
        let mut measurement = Measurement::<Arm>::new(Some(file), &[], &replay.header);
        if begin {
            measurement = measurement.from_begin();
        }
        replay.run(&mut measurement).unwrap();
        serde_json::to_value(measurement.report()).unwrap()
    };
    for name in ["arm926-400", "sa1100-200"] {
        let path = here().join(format!("../machines/{name}.toml"));
        let live = output_of(&format!("arm-live-{name}"), &format!("machine={},{arguments}", path.display()));
        let file = MachineFile::read(&path).unwrap();
        let report = replayed(&file, false);
        assert_eq!(format!("{report}\n"), String::from_utf8(live).unwrap(), "{name}");
        let begin = format!("machine={},from=begin,{arguments}", path.display());
        let live = output_of(&format!("arm-begin-{name}"), &begin);
        assert_eq!(format!("{}\n", replayed(&file, true)), String::from_utf8(live).unwrap(), "{name} from begin");
        assert_eq!(report["ranges"][1]["per_iteration"]["handler"]["instructions"], serde_json::json!([1, 1, 1, 1]));
        let functions = report["regions"][1]["functions"].as_array().unwrap();
        let spent: u64 = functions.iter().map(|function| function["cycles"].as_u64().unwrap()).sum();
        let total = report["regions"][1]["cycles_total"].as_u64().unwrap();
        assert!(functions.len() > 1 && (total - functions.len() as u64..=total).contains(&spent), "{functions:?}");
    }
}

#[test]
fn without_flush_a_guest_that_flushes_everything_misses_nothing() {
    for name in ["arm926-400", "sa1100-200"] {
        let machine = format!("machine={}", here().join(format!("../machines/{name}.toml")).display());
        let with = measure(&format!("arm-with-{name}"), &machine);
        let without = measure(&format!("arm-without-{name}"), &format!("{machine},without=flush"));
        assert_eq!((&with["without"], &without["without"]), (&Value::Null, &"flush".into()));
        for counter in ["tlb_flushes", "dcache_flushes", "instructions_kernel"] {
            assert_eq!(series(&with, 3, counter), series(&without, 3, counter), "what the guest does is the same");
        }
        for counter in ["itlb_misses", "icache_misses"] {
            assert!(series(&with, 3, counter).iter().all(|&misses| misses > 0), "{name}, {counter}");
            assert_eq!(series(&without, 3, counter)[1..], [0; 2], "{name}, {counter}: once it is there");
        }
        assert!(with["regions"][2]["ledger"]["flush"].as_u64() > Some(0));
        assert_eq!(without["regions"][2]["ledger"]["flush"], 0);
        // The line that case 2 cleans by its address is cleaned.
        assert_eq!(series(&without, 2, "write_backs"), [1; 4]);
    }
}

#[test]
fn a_machine_of_another_architecture_is_refused() {
    let folder = work_folder("arm-refused");
    let machine = here().join("../machines/i486.toml");
    let done = qemu(&folder, &format!(",out={},machine={}", folder.join("out.json").display(), machine.display()));
    assert!(!done.status.success());
    assert_eq!(String::from_utf8_lossy(&done.stderr).trim(), "cobnut-plugin: machine i486 is no arm machine");
}

#[test]
fn the_sanitizer_finds_what_the_guest_forgets() {
    // The vector is copied and never cleaned; then it is dropped with everything else that is dirty. Nothing else is
    // wrong.
    let report = measure("arm-sanitize", "mode=sanitize");
    let found: Vec<(&str, &str)> = report["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["kind"].as_str().unwrap(), one["mva"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("uncleaned-code", "0x00000010")]);
    assert_eq!(report["reports"][0]["count"], 1, "afterwards the code is in the cache: {report}");
    assert!(report["counts"]["accesses"].as_u64().unwrap() > 100);
    let operations = report["invalidations"].as_array().unwrap();
    let cleaned = operations.iter().find(|one| one["by"] == "CleanLine").unwrap();
    assert_eq!((&cleaned["executed"], &cleaned["needed"]), (&4.into(), &4.into()));
}

#[test]
fn an_operation_that_is_ignored_is_missed() {
    let executed = measure("arm-not-ignored", "mode=sanitize");
    let clean = executed["invalidations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["by"] == "CleanLine" && one["executed"] == 1)
        .map(|one| one["instruction"].as_str().unwrap().to_string())
        .collect::<Vec<_>>();
    assert_eq!(clean.len(), 1, "{executed}");
    // The vector of system calls, which is copied to 0x8, is not in memory when it is fetched.
    let report = measure("arm-ignored", &format!("mode=sanitize,ignore={}", clean[0]));
    let found: Vec<&str> =
        report["reports"].as_array().unwrap().iter().map(|one| one["mva"].as_str().unwrap()).collect();
    assert_eq!(found, ["0x00000010", "0x00000008"], "{report}");
}

/// Of the case with this number.
fn case(report: &Value, number: u64) -> &Value {
    report["regions"].as_array().unwrap().iter().find(|one| one["case"] == number).expect("no such case")
}

fn without_marks(name: &str, region: &str) -> Vec<(u64, u64)> {
    let image = work_folder(name).join("arm");
    let report = measure(name, &format!("mode=count,kernel={0},program=it:{0},region=9:{region}", image.display()));
    let counted = |counter: &str| case(&report, 9)["per_iteration"][counter].as_array().unwrap().clone();
    let numbers = |list: Vec<Value>| list.into_iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
    numbers(counted("instructions_kernel")).into_iter().zip(numbers(counted("instructions_user"))).collect()
}

#[test]
fn cases_without_marks_are_counted() {
    assert_eq!(without_marks("arm-kernel-region", "kernel/again..behind"), [(4, 0); 5]);
    // Of each turn six instructions, and three of the kernel for each call.
    assert_eq!(without_marks("arm-program-region", "it/calls..finished@1"), [(6, 6); 3]);
    assert_eq!(without_marks("arm-calls", "call=20"), [(3, 1); 4]);
    assert_eq!(without_marks("arm-calls-of", "it/call=3@1"), [(3, 1); 3]);
}

#[test]
fn what_a_guest_prints_delimits_a_case() {
    // A turn is a block of three; the last store is in the middle of one of seven.
    assert_eq!(without_marks("arm-console", "console=o..!"), [(3, 0), (3, 0), (7, 0)]);
}

#[test]
fn processes_are_told_apart() {
    let folder = work_folder("arm-processes");
    let image = build_with(&folder, &["-DPROCESSES"]);
    let description = folder.join("processes.toml");
    std::fs::write(&description, "[current]\nvariable = \"current\"\n").unwrap();
    let measured = |region: &str| {
        let (machine, out) = (here().join("../machines/arm926-400.toml"), folder.join("out.json"));
        let arguments = format!(
            ",out={},machine={},kernel={},processes={},region=9:{region}",
            out.display(),
            machine.display(),
            image.display(),
            description.display()
        );
        let done = qemu_of(&image, &folder, &arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let report: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
        assert_eq!(report["processes"], serde_json::json!({"00004000": ["init (1)", "sh (17)"]}));
        case(&report, 9)["iterations"].as_u64().unwrap()
    };
    assert_eq!(measured("call=20"), 4);
    assert_eq!(measured("process=init/call=20"), 2);
    assert_eq!(measured("process=17/call=20@1"), 1);
    assert_eq!(measured("process=sh"), 2);
}
