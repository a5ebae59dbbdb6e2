# SPDX-License-Identifier: GPL-2.0-or-later
"""An X.2 boot loader of its own between multiboot and the kernel: it has patched the interface page, and the kernel
finds its options on that loader's command line.
"""

import subprocess
from pathlib import Path

import pytest

import guests
from cobnut import cd
from cobnut.emulators import Boot, qemu
from cobnut.modules import Module
from conftest import run_limited

TIMEOUT_SECONDS = 120


@pytest.fixture(scope="module")
def kickstart(tmp_path_factory):
    program = tmp_path_factory.mktemp("kickstart") / "kickstart"
    options = ["-m32", "-march=i486", "-Os", "-ffreestanding", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-w"]
    options += ["-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", "-Wl,-Ttext=0x800000"]
    options += ["-Wl,--section-start=.multiboot=0x7ff000"]
    source = Path(__file__).with_name("kickstart.c")
    subprocess.run(["gcc", *options, source, "-o", program], check=True)
    return program


def booted(kickstart, options):
    kernel = kickstart.with_name("x2-kernel")  # not the name that a loader's file has
    if not kernel.exists():
        kernel.symlink_to(guests.PC.kernel)
    modules = (Module(kernel), guests.program("sigma0"), guests.program("root", "off=1"))
    return Boot(kickstart, (*modules, guests.program("hello", "small=16@0")), options)


def console(kickstart, options):
    return qemu.run(booted(kickstart, options), timeout=TIMEOUT_SECONDS, repeatable=True)


def test_options_on_its_command_line_are_the_kernels(kickstart):
    outcome = console(kickstart, "small=256 sysenter=off")
    assert "small-space area 256 MB, IPC by int" in outcome.console
    assert "root: hello: finished with code 0" in outcome.console and outcome.code == 0


def test_what_is_for_itself_is_left_alone(kickstart):
    outcome = console(kickstart, "kmem=16M maxmem=64 decode-all small=128 mbi")
    assert "small-space area 128 MB" in outcome.console
    assert "root: hello: finished with code 0" in outcome.console


def test_without_options_all_is_as_usual(kickstart):
    assert "small-space area 512 MB, IPC by sysenter" in console(kickstart, "").console


def test_a_value_that_makes_no_sense_is_refused(kickstart):
    assert "cobnut: option small=100: a multiple of 64" in console(kickstart, "small=100").console


def test_from_a_cd(kickstart, tmp_path):
    image, folder = tmp_path / "image.iso", tmp_path / "work"
    folder.mkdir()
    cd.ensure()
    cd.write(booted(kickstart, "small=256"), image, folder)
    command = [qemu.PROGRAM, "-display", "none", "-serial", "stdio", "-m", "64"]
    command += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-drive", f"file={image},format=raw,media=cdrom"]
    done = run_limited(command)
    assert "small-space area 256 MB" in done.stdout and "root: all programs finished" in done.stdout
