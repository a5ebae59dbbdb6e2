// SPDX-License-Identifier: GPL-2.0-or-later
//! 5xx: machine files: what is refused, and in which words.

mod common;
use cobnut_model::MachineFile;
use common::*;

/// The error for the Pentium 4 file with one piece of text replaced.
fn error(from: &str, to: &str) -> String {
    assert!(PENTIUM4.contains(from), "{from} is not in the file");
    let error = MachineFile::parse(&PENTIUM4.replacen(from, to, 1), "bad.toml").unwrap_err();
    assert!(!error.contains('\n'), "one line: {error}");
    error
}

fn expect(from: &str, to: &str, message: &str) {
    assert_eq!(error(from, to), format!("machine file bad.toml: {message}"));
}

#[test]
fn t501_every_shipped_file_is_good_and_every_parameter_has_a_source() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines");
    let paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(paths.len() >= 4);
    for path in paths {
        let file = MachineFile::read(&path).unwrap();
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), file.name);
        assert!(file.parameters().all(|(_, p)| p.source.len() >= 3), "{}", file.name);
    }
}

#[test]
fn t502_missing_parameter() {
    expect("cr3_cycles", "#", "missing parameter address_space.cr3_cycles");
}

#[test]
fn t503_missing_section() {
    expect("[address_space]", "[entry_]", "unknown section entry_");
    let text = PENTIUM4.replace("[memory]\n", "#").replace("read_cycles", "# r").replace("write_back_cycles", "# w");
    assert_eq!(MachineFile::parse(&text, "x").unwrap_err(), "machine file x: missing parameter memory.read_cycles");
}

#[test]
fn t504_unknown_parameter() {
    expect("cr3_cycles", "cr3_cycle", "unknown parameter address_space.cr3_cycle");
}

#[test]
fn t505_unknown_key_in_a_parameter() {
    expect("value = 480, source", "value = 480, origin", "address_space.cr3_cycles: unknown key origin");
}

#[test]
fn t506_no_entries() {
    expect(
        "entries = { value = 64, low",
        "entries = { value = 0, low",
        "itlb.entries: 0 is not a whole number from 1 to 65536",
    );
}

#[test]
fn t507_associativity_that_does_not_divide() {
    expect(
        "lines = { value = 2048",
        "lines = { value = 2047",
        "trace_cache.associativity: 8 does not divide lines = 2047",
    );
    let mut file = pentium4(&[]);
    assert!(file.set("dtlb.associativity:5").unwrap_err().contains("5 does not divide entries = 64"));
}

#[test]
fn t508_negative_and_silly_costs() {
    expect(
        "value = 480",
        "value = -1",
        "address_space.cr3_cycles: -1 is not a number of cycles from 0 to 1000000 with at most three decimals",
    );
    expect(
        "value = 0.333",
        "value = 0.3333",
        "instructions.nop: 0.3333 is not a number of cycles from 0 to 10000 with at most three decimals",
    );
    assert!(error("value = 480", "value = nan").contains("nan is not a number of cycles"));
}

#[test]
fn t509_value_outside_its_own_range() {
    expect("value = 2048, low", "value = 2049, low", "trace_cache.lines: 2049 lies outside its range 1360..2048");
}

#[test]
fn t510_half_a_range() {
    expect("low = 1360, high = 2048", "low = 1360", "trace_cache.lines: low and high must be given together");
}

#[test]
fn t511_no_source() {
    expect(
        "value = 480, source = \"U02 section 2.3.1: direct cost of a CR3 reload\"",
        "value = 480",
        "address_space.cr3_cycles: missing source",
    );
}

#[test]
fn t512_wrong_type_and_wrong_choice() {
    expect(
        "value = 480",
        "value = \"480\"",
        "address_space.cr3_cycles: \"480\" is not a number of cycles from 0 to 1000000 with at most three decimals",
    );
    expect(
        "lookup = { value = \"fetch\"",
        "lookup = { value = \"sometimes\"",
        "itlb.lookup: sometimes is not one of trace-build, fetch",
    );
}

#[test]
fn t513_not_toml_names_the_line() {
    assert!(error("[itlb]", "[itlb").starts_with("machine file bad.toml: line "));
}

#[test]
fn t514_unreadable_file() {
    let error = MachineFile::read("no/such/file.toml".as_ref()).unwrap_err();
    assert!(error.starts_with("machine file no/such/file.toml: "), "{error}");
}

#[test]
fn t515_pseudo_lru_needs_a_power_of_two() {
    let mut file = pentium4(&["dtlb.entries:78"]);
    assert!(file.set("dtlb.replacement:pseudo-lru").unwrap_err().contains("78 ways cannot have a pseudo-lru tree"));
}

#[test]
fn t516_setting_a_value_drops_its_range_and_says_so() {
    let file = pentium4(&["trace_cache.lines:1024"]);
    let json: serde_json::Value = serde_json::from_str(&file.to_json()).unwrap();
    let parameter = &json["parameters"]["trace_cache.lines"];
    assert_eq!(parameter["value"], 1024);
    assert_eq!(parameter["source"], "set for this run (the file says 2048)");
    assert!(parameter.get("low").is_none());
}

#[test]
fn t517_setting_nonsense_is_refused() {
    for (assignment, message) in [
        ("dtlb.entries", "must be PARAMETER:VALUE"),
        ("dtlb.size:4", "unknown parameter dtlb.size"),
        ("dtlb.entries:0", "0 is not a whole number from 1 to 65536"),
        ("l1i.size_bytes:8192", "l1i.size_bytes is not in this file"),
        ("micro_ops.nop:7", "7 do not fit into a line of 6"),
    ] {
        let error = pentium4(&[]).set(assignment).unwrap_err();
        assert!(error.contains(message), "{error}");
        assert!(error.starts_with(&format!("machine file pentium4-1400.toml: set={assignment}: ")), "{error}");
    }
}

#[test]
fn t518_the_tool_checks_and_prints() {
    let tool = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_cobnut-machine")).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/pentium4-1400.toml");
    let (status, json, errors) = tool(&["check", file, "--json"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["parameters"]["itlb.entries"]["value"], 64);
    assert_eq!(json["parameters"]["itlb.entries"]["high"], 128);
    assert_eq!(json["parameters"]["instructions.nop"]["value"], 0.333);
    let (status, _, errors) = tool(&["check", "nowhere.toml"]);
    assert_eq!(status, 1);
    assert_eq!(errors, "cobnut-machine: machine file nowhere.toml: No such file or directory (os error 2)\n");
    assert_eq!(tool(&[]).0, 2);
}

/// The error for a shipped file with one piece of text replaced.
fn error_in(name: &str, from: &str, to: &str) -> String {
    let path = format!("{}/../machines/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {name}");
    MachineFile::parse(&text.replacen(from, to, 1), "bad").unwrap_err()
}

#[test]
fn t519_components_that_exclude_or_need_each_other() {
    let tlbs = "sections: must have exactly itlb and dtlb, or itlb and dtlb and dtlb_large, or tlb";
    assert!(error_in("i486", "[tlb]", "[dtlb]").ends_with(tlbs));
    assert!(error_in("pentium-90", "[dtlb]", "[tlb]").ends_with(tlbs));
    let caches = "sections: must have exactly trace_cache and micro_ops and l1d, or l1i and l1d, or l1";
    assert!(error_in("i486", "[l1]", "[l1d]").ends_with(caches));
    assert!(error_in("pentium-90", "[l1i]", "[l1]").ends_with(caches));
}

#[test]
fn t520_one_cost_is_stated_in_one_way() {
    let both = "miss_cycles = { value = 9, source = \"twice\" }\nrefill_cycles";
    assert!(error("refill_cycles", both).ends_with("itlb: must have exactly refill_cycles, or miss_cycles"));
    let neither = error_in("i486", "miss_cycles", "# miss_cycles");
    assert!(neither.ends_with("tlb: must have exactly refill_cycles, or miss_cycles"), "{neither}");
    let halves = error_in("i486", "load_cycles", "loads = { value = 4, source = \"half\" }\nload_cycles");
    assert!(halves.ends_with("segments: must have exactly reload_cycles and loads, or load_cycles"), "{halves}");
}

#[test]
fn t521_parts_do_not_exceed_their_whole() {
    let refused = |name: &str, set: &str| shipped(name, &[]).set(set).unwrap_err();
    assert!(refused("i486", "entry.iret_cycles:108").contains("more than int_iret_cycles"));
    assert!(refused("i486", "instructions.branch_taken:0").contains("less than branch"));
    assert!(refused("pentium-90", "dtlb.pages:4m").contains("\"4m\" belongs to dtlb_large"));
    assert!(refused("pentium-90", "dtlb_large.pages:4k").contains("\"4m\" belongs to dtlb_large"));
}
