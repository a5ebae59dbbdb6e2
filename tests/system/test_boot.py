# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting: every kind of processor, both emulators, and everything that is wrong with what is booted."""

import re

import pytest

import guests
from cobnut.emulators import Boot
from cobnut.modules import Module
from conftest import assert_refused


@pytest.mark.parametrize("on", [*guests.QEMU, *guests.BOCHS], ids=str)
@pytest.mark.parametrize("space", ["large", "small"])
def test_hello(on, space):
    wish = "small=16@0" if space == "small" else ""
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello", wish), on=on)
    assert "hello: hello, world" in outcome.console
    assert f"my space is {space}" in outcome.console
    assert "finished with code 0" in outcome.console or "root: all programs finished" in outcome.console
    assert outcome.code in (0, None)


def test_time_passes_as_it_should():
    console = guests.boot(guests.program("root", "off=1"), guests.program("hello")).console
    before, after = (
        int(number) for number in re.search(r"at (\d+) us I slept for 100 ms, now it is (\d+) us", console).groups()
    )
    # as a timeout has it: ten bits, times a power of two (manual 3.2)
    assert 100_000 >> 7 << 7 <= after - before < 110_000


@pytest.mark.parametrize("option", ["sysenter=off", "fastpath=off", "small=1024", "small=64"])
def test_kernel_options(option):
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello"), options=option)
    assert outcome.code == 0 and "hello: hello, world" in outcome.console


@pytest.mark.parametrize(
    "option", ["small=banana", "small=63", "small=4096", "small=", "sysenter=maybe", "turbo=on", "trace=much"]
)
def test_a_wrong_kernel_option_is_named(option):
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello"), options=option)
    assert outcome.code == 1
    assert outcome.kernel_message and option in outcome.kernel_message


@pytest.mark.parametrize("memory_mb", [2, 3, 6])
def test_too_little_memory_is_said(memory_mb):
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello"), memory_mb=memory_mb)
    assert outcome.code == 1
    assert outcome.kernel_message and "memory" in outcome.kernel_message


# a quarter is the kernel's, and at most half of the 240 MB that it reaches
@pytest.mark.parametrize(("memory_mb", "kernel_mb"), [(16, 3), (64, 15), (256, 63), (384, 95), (512, 120), (3072, 120)])
def test_little_and_much_memory_do(memory_mb, kernel_mb):
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello"), memory_mb=memory_mb)
    assert f"Cobnut: {kernel_mb} MB kernel memory" in outcome.console
    assert outcome.code == 0 and "hello: hello, world" in outcome.console


def zeros(path, mb: int) -> Module:
    with path.open("wb") as file:
        file.truncate(mb << 20)
    return Module(path)


@pytest.mark.parametrize(("on", "memory_mb", "module_mb"), [(guests.QEMU[0], 640, 250), (guests.BOCHS[0], 320, 40)])
def test_modules_are_beyond_what_the_kernel_reaches(tmp_path, on, memory_mb, module_mb):
    """Those behind the servers' are moved to the end of the memory, be they larger than the kernel's window or not."""
    large = zeros(tmp_path / "large", module_mb)
    outcome = guests.boot(guests.program("root", "off=1"), large, guests.program("hello"), on=on, memory_mb=memory_mb)
    assert re.search("root: large: not started: .*ELF", outcome.console)
    assert "hello: hello, world" in outcome.console


def test_modules_that_fit_nowhere_are_refused(tmp_path):
    outcome = guests.boot(guests.program("root", "off=1"), zeros(tmp_path / "large", 250), memory_mb=300)
    assert outcome.code == 1
    assert outcome.kernel_message and "too little memory for the modules" in outcome.kernel_message


CUT = 0x1000 + 200  # in the first segment of our programs


def bad_copy(name, folder, kind):
    data = guests.PC.program(name).read_bytes()
    path = folder / name
    path.write_bytes(
        {
            "truncated": data[:CUT],
            "text": b"not a program\n" * 200,
            "header only": data[:52],
            "empty": b"\0",
        }[kind]
    )
    return Module(path)


@pytest.mark.parametrize("kind", ["truncated", "text", "header only", "empty"])
@pytest.mark.parametrize("which", ["sigma0", "root"])
def test_the_kernel_refuses_a_bad_initial_server(tmp_path, which, kind):
    bad = bad_copy(which, tmp_path, kind)
    outcome = guests.boot(
        bad if which == "root" else guests.program("root", "off=1"),
        guests.program("hello"),
        sigma0=bad if which == "sigma0" else None,
    )
    assert outcome.code == 1
    assert outcome.kernel_message and which in outcome.kernel_message


@pytest.mark.parametrize("kind", ["truncated", "text", "header only", "empty"])
def test_root_refuses_a_bad_payload_and_starts_the_others(tmp_path, kind):
    outcome = guests.boot(
        guests.program("root", "off=1"), bad_copy("pingpong", tmp_path, kind), guests.program("hello")
    )
    assert outcome.code == 1
    assert re.search(r"root: pingpong: not started: .+", outcome.console)
    assert "hello: hello, world" in outcome.console


def test_a_boot_without_modules_is_refused():
    outcome = guests.run(Boot(guests.PC.kernel, ()))
    assert outcome.code == 1
    assert outcome.kernel_message


def test_the_command_boots_hello(cobnut):
    done = cobnut("boot", "hello")
    assert done.returncode == 0, done.stderr
    assert "hello: hello, world" in done.stdout


def test_the_command_boots_on_bochs(cobnut):
    done = cobnut("boot", "--emulator", "bochs", "hello small=16@0")
    assert done.returncode == 0, done.stderr
    assert "hello: my space is small" in done.stdout


def test_the_command_passes_on_what_the_kernel_refuses(cobnut):
    assert_refused(cobnut("boot", "--append", "small=banana", "hello"), "the kernel stopped", "small=banana")
    assert_refused(cobnut("boot", "--memory", "2", "hello"), "the kernel stopped", "memory")


def test_build_prints_the_images_kernel_first(cobnut):
    done = cobnut("build")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [str(path) for path in guests.PC.images]
    assert all(path.is_file() for path in guests.PC.images)


@pytest.mark.parametrize("words", [("--machine", "pentium-90"), ("--board", "collie", "--machine", "sa1100-200")])
def test_what_nobody_marked_is_measured_as_a_whole(cobnut, words):
    done = cobnut("boot", *words, "hello")
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^ +(\S[a-z ]*\S) +([\d,]+)$", done.stdout, re.MULTILINE))
    cycles = {name: int(text.replace(",", "")) for name, text in rows.items()}
    total = cycles.pop("total")
    # each row is rounded down by itself
    assert 0 <= total - sum(cycles.values()) < 20 and cycles["instructions"] > 10_000
