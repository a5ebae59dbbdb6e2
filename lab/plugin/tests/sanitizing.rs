// SPDX-License-Identifier: GPL-2.0-or-later
//! The sanitizer on guests that make one mistake each, and on the same guests without it.

mod common;
use common::*;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers of `guests/stale.S`.
const CASES: [(&str, u32, &str); 11] = [
    ("TABLE_CLEARED", 1, "stale-translation"),
    ("FRAME_CHANGED", 2, "stale-translation"),
    ("MADE_READ_ONLY", 3, "stale-translation"),
    ("GLOBAL_OUTLIVES", 5, "stale-global"),
    ("DIRECTORY_CLEARED", 6, "stale-directory-entry"),
    ("COPY_OUTLIVES", 7, "stale-copy"),
    ("PAST_LIMIT", 8, "segment-limit"),
    ("FOREIGN", 9, "foreign-segment"),
    ("CR4_UNCHANGED", 10, "stale-translation"),
    ("WRONG_PAGE", 11, "stale-translation"),
    ("FOREIGN_BY_ALIAS", 13, "foreign-segment"),
];

fn sanitize(name: &str, run: &str, defines: &[&str], with_kernel: bool) -> (Value, String) {
    sanitize_with(name, run, defines, |image| match with_kernel {
        true => format!("kernel={},", image.display()),
        false => String::new(),
    })
}

/// `more` gives further arguments of the plugin, each with a comma behind it, from the path of the guest's image.
fn sanitize_with(name: &str, run: &str, defines: &[&str], more: impl Fn(&Path) -> String) -> (Value, String) {
    // tests run at the same time, and a guest's memory is a file
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let folder = work_folder(&format!("{run}-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
    let image = build_guest_with(name, &folder, defines);
    let (ram, out) = (folder.join("ram"), folder.join("out.json"));
    let _ = std::fs::remove_file(&out);
    let arguments = format!("mode=sanitize,{}ram={},out={}", more(&image), ram.display(), out.display());
    let output = qemu(&image, &ram, &arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(GUEST_SUCCESS), "{errors}");
    let _ = std::fs::remove_file(&ram);
    (serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap(), errors)
}

fn run(case: u32, right: bool) -> (Value, String) {
    let define = format!("-DCASE={case}");
    let defines: &[&str] = if right { &[&define, "-DRIGHT"] } else { &[&define] };
    sanitize("stale", &format!("sanitize-{case}-{right}"), defines, true)
}

fn kinds(report: &Value) -> Vec<&str> {
    report["reports"].as_array().unwrap().iter().map(|r| r["kind"].as_str().unwrap()).collect()
}

#[test]
fn every_mistake_is_caught_once() {
    for (name, case, kind) in CASES {
        let (report, errors) = run(case, false);
        assert_eq!(kinds(&report), [kind], "{name}: {errors}");
        assert_eq!(errors.lines().filter(|l| l.starts_with(&format!("sanitizer: {kind}: "))).count(), 1, "{name}");
    }
}

#[test]
fn who_does_it_right_hears_nothing() {
    for (name, case, _) in CASES {
        let (report, errors) = run(case, true);
        assert_eq!(kinds(&report), [""; 0], "{name}: {errors}");
    }
}

#[test]
fn what_adds_rights_or_is_followed_by_a_reload_is_legal() {
    for case in [4, 12] {
        let (report, errors) = run(case, false);
        assert_eq!(kinds(&report), [""; 0], "{case}: {errors}");
    }
}

#[test]
fn a_report_names_everything() {
    let (report, errors) = run(1, false);
    let one = &report["reports"][0];
    assert_eq!((one["symbol"].as_str(), one["privilege"].as_u64()), (Some("user+0x10"), Some(3)), "{errors}");
    assert!(one["store_symbol"].as_str().unwrap().starts_with("on_int"), "{one}");
    assert_eq!((one["linear"].as_str(), one["page"].as_str()), (Some("0x50000000"), Some("0x50000000")));
    assert_eq!((one["faulted"].as_bool(), one["write"].as_bool()), (Some(false), Some(false)));
    assert!(report["counts"]["accesses"].as_u64().unwrap() > 10);
}

#[test]
fn invalidations_are_listed_with_what_they_took() {
    let (report, _) = run(1, true);
    let used: Vec<&Value> = report["invalidations"].as_array().unwrap().iter().filter(|i| i["needed"] == 1).collect();
    assert_eq!(used.len(), 1);
    assert!(used[0]["symbol"].as_str().unwrap().starts_with("on_int"));
}

#[test]
fn an_invalidation_that_is_ignored_is_missed() {
    let (report, _) = run(1, true);
    let needed = report["invalidations"].as_array().unwrap().iter().find(|i| i["needed"] == 1).unwrap();
    assert_eq!(needed["by"], "invlpg");
    let address = needed["instruction"].as_str().unwrap();
    let defines = ["-DCASE=1", "-DRIGHT"];
    let (report, errors) = sanitize_with("stale", "sanitize-ignored", &defines, |_| format!("ignore={address},"));
    assert_eq!(kinds(&report), ["stale-translation"], "{errors}");
}

#[test]
fn what_is_invalidated_late_is_listed_with_how_late() {
    let (report, _) = run(1, true);
    let losses = report["losses"].as_array().unwrap();
    assert_eq!(losses.len(), 1, "{losses:?}");
    assert!(losses[0]["symbol"].as_str().unwrap().starts_with("on_int"));
    assert_eq!(losses[0]["losses"], 1);
    assert!((1..10).contains(&losses[0]["longest"].as_u64().unwrap()), "a block and a fetch or two: {losses:?}");
}

#[test]
fn names_can_come_from_a_system_map() {
    let (report, errors) = sanitize_with("stale", "sanitize-map", &["-DCASE=1"], |image| {
        let listing = Command::new("nm").arg(image).output().expect("nm cannot be started");
        let map = image.with_file_name("System.map");
        std::fs::write(&map, listing.stdout).unwrap();
        format!("symbols={},", map.display())
    });
    assert_eq!(report["reports"][0]["symbol"], "user+0x10", "{errors}");
}

#[test]
fn a_kernel_of_others_may_have_a_trampoline_and_flat_user_segments() {
    let defines = ["-DCASE=1", "-DRIGHT", "-Wl,--defsym=trampoline=0x300000"];
    let (report, errors) = sanitize("stale", "sanitize-foreign", &defines, true);
    assert_eq!(kinds(&report), [""; 0], "{errors}");
}

#[test]
fn flat_user_segments_are_reported_where_there_is_a_trampoline() {
    let (report, errors) = sanitize("sysenter", "sanitize-flat", &[], true);
    assert!(kinds(&report).contains(&"flat-segment"), "{errors}");
    let (report, errors) = sanitize("sysenter", "sanitize-no-kernel", &[], false);
    assert_eq!(kinds(&report), [""; 0], "{errors}");
}
