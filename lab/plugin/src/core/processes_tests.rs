// SPDX-License-Identifier: GPL-2.0-or-later
use super::*;
use std::collections::HashMap;

const FIRST: u32 = 0xc100_0000;
const INIT: u32 = 0xc200_0000;
const SHELL: u32 = 0xc300_0000;
const POINTER: u32 = 0xc000_0010;
/// The number of a task of these tests, and its name behind an odd offset.
const NUMBER: u32 = 0x120;
const NAME: u32 = 0x201;

#[derive(Default)]
struct Memory(HashMap<u32, u8>);

impl Memory {
    fn put(&mut self, at: u32, bytes: &[u8]) {
        (at..).zip(bytes).for_each(|(at, byte)| {
            self.0.insert(at, *byte);
        });
    }

    fn put_word(&mut self, at: u32, word: u32) {
        self.put(at, &word.to_le_bytes());
    }

    fn task(&mut self, at: u32, (number, name): (u32, &str), parent: u32, canary: bool) {
        self.put(at, &[0; 0x300]);
        let parents = NUMBER + if canary { 12 } else { 8 };
        for (offset, word) in [(NUMBER, number), (NUMBER + 4, number), (parents, parent), (parents + 4, parent)] {
            self.put_word(at + offset, word);
        }
        self.put(at + NAME, name.as_bytes());
    }

    /// Three tasks, of which the shell is init's child.
    fn of_tasks(canary: bool) -> Self {
        let mut memory = Memory::default();
        memory.task(FIRST, (0, "swapper/0"), FIRST, canary);
        memory.task(INIT, (1, "init"), FIRST, canary);
        memory.task(SHELL, (17, "sh"), INIT, canary);
        memory.put_word(INIT + 0x40, 1);
        memory.put_word(INIT + 0x44, 1); // two words alike are no number
        memory
    }
}

impl Reads for Memory {
    fn word(&mut self, at: u32) -> Option<u32> {
        let byte = |offset| self.0.get(&(at + offset)).copied();
        Some(u32::from_le_bytes([byte(0)?, byte(1)?, byte(2)?, byte(3)?]))
    }

    fn segment(&mut self, selector: u32) -> u32 {
        selector << 8
    }
}

fn known() -> Processes {
    Processes { pointer: Pointer::At(POINTER), ..Processes::default() }
}

fn looked(processes: &mut Processes, memory: &mut Memory, task: u32) -> Option<String> {
    memory.put_word(POINTER, task);
    processes.look(memory).then(|| processes.present().unwrap().to_string())
}

#[test]
fn a_child_of_the_first_task_shows_where_number_and_name_are() {
    for canary in [false, true] {
        let (mut processes, mut memory) = (known(), Memory::of_tasks(canary));
        assert_eq!(looked(&mut processes, &mut memory, FIRST), None, "it has no parent but itself");
        assert_eq!(looked(&mut processes, &mut memory, SHELL), None, "its parent is not the first");
        assert!(processes.doubt().is_some());
        assert_eq!(looked(&mut processes, &mut memory, INIT).as_deref(), Some("init (1)"));
        assert_eq!(looked(&mut processes, &mut memory, SHELL).as_deref(), Some("sh (17)"));
        assert_eq!(looked(&mut processes, &mut memory, SHELL), None, "still the same");
        memory.put(SHELL + NAME, b"cat\0");
        assert_eq!(looked(&mut processes, &mut memory, SHELL).as_deref(), Some("cat (17)"), "another program");
        assert_eq!(looked(&mut processes, &mut memory, FIRST).as_deref(), Some("swapper/0 (0)"));
        assert_eq!(processes.doubt(), None);
    }
}

#[test]
fn the_pointer_is_what_a_function_loads_through_fs() {
    assert_eq!(loaded_through_fs(&[0x31, 0xc9, 0x64, 0xa1, 1, 2, 3, 4, 0xc3]), Some(0x0403_0201));
    assert_eq!(loaded_through_fs(&[0x64, 0x8b, 0x0d, 1, 2, 3, 4, 0xc3]), Some(0x0403_0201));
    assert_eq!(loaded_through_fs(&[0x64, 0x8b, 0x41, 1, 2, 3, 4, 0xc3]), None, "behind a register");
    assert_eq!(loaded_through_fs(&[0xa1, 1, 2, 3, 4, 0xc3]), None, "not through FS");
    let (function, mut memory) = (0xc000_0100, Memory::of_tasks(true));
    memory.put(function, &[0x64, 0xa1, 0x10, 0, 0, 0xc0, 0xc3, 0]);
    memory.put_word(POINTER + 0xd800, INIT);
    let pointer = Pointer::LoadedBy { function, segment: 0xd8 };
    let mut processes = Processes { pointer, ..Processes::default() };
    assert!(!processes.is_pointer(POINTER + 0xd800), "not known yet");
    assert!(processes.look(&mut memory) && processes.is_pointer(POINTER + 0xd800));
    assert_eq!(processes.present().map(|process| process.number), Some(1));
}

#[test]
fn what_is_no_task_is_given_up_and_said() {
    let (mut processes, mut memory) = (known(), Memory::of_tasks(true));
    for task in 0..2 * MOST_STRANGE as u32 {
        assert_eq!(looked(&mut processes, &mut memory, 0x1000 * task), None);
    }
    assert_eq!(processes.strange.len(), MOST_STRANGE);
    assert_eq!(processes.doubt().as_deref(), Some("processes: what c0000010 points to was at no time a task of Linux"));
    assert_eq!(Processes::default().doubt(), None, "nobody asked");
}

#[test]
fn a_wrong_description_is_refused() {
    let read = |text: &str| {
        let path = std::env::temp_dir().join(format!("cobnut-processes-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let error = Processes::read(Some(&path), None, &Symbols::default(), &Programs::default()).err();
        std::fs::remove_file(&path).unwrap();
        let error = error.unwrap_or_default();
        error.strip_prefix(&format!("process file {}: ", path.display())).map(str::to_string)
    };
    for (text, why) in [
        ("", "missing field `current`"),
        ("[current]\n", "current needs either variable, or loaded_by and segment"),
        ("[current]\nloaded_by = \"f\"\n", "current needs either variable, or loaded_by and segment"),
        ("[current]\nloaded_by = \"f\"\nsegment = 1\n", "the kernel's code has no symbol f"),
        ("[current]\nvariable = \"v\"\n", "no file has the kernel's symbols"),
        ("[current]\nvariable = \"v\"\nprogram = \"p\"\n", "there is no program=p:FILE"),
    ] {
        assert_eq!(read(text).as_deref(), Some(why), "{text}");
    }
}
