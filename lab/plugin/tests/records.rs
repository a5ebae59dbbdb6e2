// SPDX-License-Identifier: GPL-2.0-or-later
//! Records (`mode=record`) and their replay: what a replay measures is what the plugin measures in the run itself, to
//! the byte, on every machine.

mod common;
use cobnut_model::MachineFile;
use cobnut_trace::ia32::Ia32;
use cobnut_trace::{Measurement, Recorder, Replay};
use common::*;

const GUESTS: [&str; 6] = ["sysenter", "faults", "reads", "flush", "aliases", "remap"];

fn replayed(record: &[u8], machine: &MachineFile, set: &[String]) -> Result<String, String> {
    let replay = Replay::new(record)?;
    let mut measurement = Measurement::<Ia32>::new(Some(machine), set, &replay.header);
    replay.run(&mut measurement)?;
    Ok(format!("{}\n", measurement.report().to_json()))
}

/// Records a replay.
fn copied(record: &[u8]) -> Result<Vec<u8>, String> {
    let replay = Replay::new(record)?;
    let mut copy = Vec::new();
    let mut recorder = Recorder::<Ia32, _>::new(&mut copy, &replay.header).unwrap();
    replay.run(&mut recorder)?;
    recorder.finish().unwrap();
    drop(recorder);
    Ok(copy)
}

#[test]
fn a_replay_measures_what_the_run_did_on_every_machine() {
    for guest in GUESTS {
        let ranges = if guest == "sysenter" { ",range=space:on_sysenter..segments" } else { "" };
        let record = record(guest, &format!("record-{guest}"), ranges);
        for file in machine_files() {
            let machine = MachineFile::read(&file).unwrap();
            let live =
                report_text(guest, &format!("record-live-{guest}"), &format!(",machine={}{ranges}", file.display()));
            assert!(live.contains("\"dtlb_misses\""), "{live}");
            assert_eq!(replayed(&record, &machine, &[]).unwrap(), live, "{guest} on {}", machine.name);
        }
    }
}

#[test]
fn a_changed_machine_replays_as_it_runs() {
    let set = ["dtlb.entries:8".to_string(), "dtlb.associativity:8".to_string()];
    let live = report_text("reads", "record-set-live", &format!(",set={},set={}", set[0], set[1]));
    let mut machine = MachineFile::read(&machine_file()).unwrap();
    set.iter().for_each(|assignment| machine.set(assignment).unwrap());
    assert_eq!(replayed(&record("reads", "record-set", ""), &machine, &set).unwrap(), live);
}

/// A guest goes on for a moment after it has asked for its end; that is not part of its record.
#[test]
fn two_records_of_a_guest_are_the_same_bytes() {
    for guest in GUESTS {
        let first = record(guest, &format!("record-again-1-{guest}"), "");
        for _ in 0..3 {
            let again = record(guest, &format!("record-again-2-{guest}"), "");
            assert!(first == again, "{guest}: {} and {} bytes", first.len(), again.len());
        }
    }
}

#[test]
fn a_record_measures_the_same_each_time() {
    let machine = MachineFile::read(&machine_file()).unwrap();
    let record = record("faults", "record-measured", "");
    assert_eq!(replayed(&record, &machine, &[]).unwrap(), replayed(&record, &machine, &[]).unwrap());
}

#[test]
fn recording_a_replay_gives_the_record() {
    for guest in GUESTS {
        let first = record(guest, &format!("record-copy-{guest}"), "");
        let second = copied(&first).unwrap();
        assert!(first == second, "{guest}: {} and {} bytes", first.len(), second.len());
    }
}

#[test]
fn a_damaged_record_is_refused_with_one_line() {
    let good = record("remap", "record-damaged", "");
    let refusal = |bytes: &[u8]| copied(bytes).expect_err("a damaged record was taken");
    for length in 0..good.len() {
        assert!(!refusal(&good[..length]).contains('\n'));
    }
    let mut bytes = good.clone();
    for at in 0..good.len() {
        for flipped in [1, 0x80, 0xff] {
            bytes[at] = good[at] ^ flipped;
            assert!(!refusal(&bytes).contains('\n'), "byte {at}");
        }
        bytes[at] = good[at];
    }
    bytes.push(0);
    assert_eq!(refusal(&bytes), "damaged: something follows its end");
    assert_eq!(refusal(b"\x7fELF and what follows"), "not a record");
    assert_eq!(refusal(&good[..good.len() - 3]), "ends too early: its recording was cut off, or the file was");
}

#[test]
fn processes_are_recorded() {
    let description = work_folder("record-description").join("processes.toml");
    std::fs::write(&description, "[current]\nvariable = \"current\"\n").unwrap();
    let more = format!(",processes={},region=5:process=sh", description.display());
    let record = record("processes", "record-processes", &more);
    let live = report_text("processes", "record-processes-live", &more);
    assert!(live.contains("[\"init (1)\",\"sh (17)\"]"), "{live}");
    assert_eq!(replayed(&record, &MachineFile::read(&machine_file()).unwrap(), &[]).unwrap(), live);
    assert!(copied(&record).unwrap() == record);
}
