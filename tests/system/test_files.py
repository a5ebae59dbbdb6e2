# SPDX-License-Identifier: GPL-2.0-or-later
"""The file server by a shell's commands: folders that the command packs, archives of others, and broken ones."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from conftest import run_cobnut

SYSTEM = """
description = "made up"
ends_with = "shell"
[files]
site = "{files}"
[program.console]
provides = ["console"]
on.pc = {{ ports = ["0x3f8-0x3ff"], interrupts = [4] }}
on.versatilepb = {{ registers = ["0x101f2000-0x101f2fff"], interrupts = [13] }}
[program.files]
provides = ["files"]
files = ["site"]
arguments = "site"
memory_kb = {memory}
[program.shell]
uses = ["console", "files"]
arguments = "{commands}"
"""


def boot(folder: Path, files: str, commands: str, *options: str, memory: int = 1024) -> str:
    """What is said by a system with the file or folder `files`, by the shell's commands."""
    described = folder / "made.toml"
    described.write_text(SYSTEM.format(files=files, commands=f"{commands}; exit 3", memory=memory))
    done = run_cobnut("boot", str(described), *options)
    assert "init: the system ends with code 3" in done.stdout, done.stdout + done.stderr
    return done.stdout.replace("\r", "")


@pytest.mark.parametrize("options", [(), ("--emulator", "bochs"), ("--board", "versatilepb")])
def test_a_folder_of_the_description(tmp_path, options):
    site = tmp_path / "site"
    (site / "deep/deeper").mkdir(parents=True)
    (site / "first").write_text("one\n")
    (site / "deep/second").write_text("".join(f"line {number}\n" for number in range(2000)))
    (site / "deep/empty").write_text("")
    said = boot(tmp_path, "site", "ls; ls deep; cat first; cat /deep/second; cat deep/empty", *options)
    assert "        0 deep/\n        4 first\n" in said
    assert "        0 deeper/\n        0 empty\n    18890 second\n" in said
    assert "\none\nline 0\nline 1\n" in said and "\nline 1998\nline 1999\ninit:" in said


def test_what_is_not_there(tmp_path):
    (tmp_path / "site/sub").mkdir(parents=True)
    (tmp_path / "site/file").write_text("")
    commands = ["cat none", "ls none", "cat sub", "ls file", "cat a//b", "cat ../made.toml", "cat sub/../file"]
    said = boot(tmp_path, "site", "; ".join(commands))
    assert [line for line in said.splitlines() if ": " in line][1:-1] == [
        "none: not found",
        "none: not found",
        "sub: a bad value",
        "file: a bad value",
        "a//b: a bad value",
        "../made.toml: a bad value",
        "sub/../file: a bad value",
    ]


def test_an_archive_of_tars_own(tmp_path):
    (tmp_path / "site/sub").mkdir(parents=True)
    (tmp_path / "site/sub/file").write_text("by tar\n")
    subprocess.run(["tar", "-C", tmp_path / "site", "-cf", tmp_path / "site.tar", "."], check=True)
    assert "\nby tar\n" in boot(tmp_path, "site.tar", "cat sub/file")


def archive(*names: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as made:
        for name in names:
            one = tarfile.TarInfo(name)
            one.size = 600
            made.addfile(one, io.BytesIO(bytes(600)))
    return out.getvalue()


GOOD = archive("a", "b")  # the second header is behind the first one and two blocks of contents


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (GOOD[:2000], "header at byte 1536: the archive is truncated, its end mark is missing"),
        (GOOD[:2100], "header at byte 1536: the archive is truncated, the contents end behind it"),
        (GOOD[:1540] + b"x" + GOOD[1541:], "header at byte 1536: the checksum is wrong"),
        (archive("a", "a"), "header at byte 1536: the same path is there before"),
        (b"no archive" * 100, "header at byte 0: the checksum is wrong"),
        (b"", "header at byte 0: the archive is truncated, its end mark is missing"),
    ],
)
def test_a_broken_archive_is_one_line(tmp_path, broken, complaint):
    (tmp_path / "site.tar").write_bytes(broken)
    said = boot(tmp_path, "site.tar", "cat a")
    assert f"files: site: {complaint}\n" in said
    assert "a: the server does not run\n" in said


def test_an_archive_that_does_not_fit_its_servers_memory(tmp_path):
    (tmp_path / "site.tar").write_bytes(archive(*(f"file{number}" for number in range(300))))
    assert "files: site: out of memory\n" in boot(tmp_path, "site.tar", "cat a", memory=80)
    assert "a: not found\n" in boot(tmp_path, "site.tar", "cat a", memory=160)
