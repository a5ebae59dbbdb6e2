# SPDX-License-Identifier: GPL-2.0-or-later
"""`--image` on each board, with our own kernels treated like unknown ones: booted, sanitized, recorded and measured."""

import json

import pytest

import guests
from cobnut import boards, build, cpio
from conftest import run_cobnut

BOARDS = ("pc", "versatilepb", "collie")
MACHINES = {"pc": "pentium4-1400", "versatilepb": "arm926-400", "collie": "sa1100-200"}


@pytest.fixture(scope="module", params=BOARDS)
def words(request, tmp_path_factory):
    """The command line's words for our kernel with hello on a board; on ARM kernel and RAM disk are but files."""
    board = boards.find(request.param)
    build.images(board)
    programs = [("sigma0", ""), ("root", "off=1"), ("hello", "")]
    if board is guests.PC:
        images = [str(board.kernel), *(f"{board.program(name)} {arguments}" for name, arguments in programs)]
    else:
        members = [cpio.program(f"{name} {line}".strip(), board.program(name).read_bytes()) for name, line in programs]
        disk = tmp_path_factory.mktemp("disk") / "disk"
        disk.write_bytes(cpio.archive(members))
        images = [str(board.kernel), str(disk)]
    symbols = ["--symbols", str(board.kernel_executable)]
    return ["--board", board.name, *(word for image in images for word in ("--image", image)), *symbols]


def machine_of(words: list[str]) -> str:
    return MACHINES[words[1]]


def test_a_kernel_boots_as_it_is(words):
    done = run_cobnut("boot", *words)
    assert done.returncode == 0 and "hello: hello, world" in done.stdout, done.stdout + done.stderr


def test_a_run_ends_when_the_console_says_so(words):
    done = run_cobnut("boot", *words, "--until", "hello, w")
    assert done.returncode == 0 and "hello: hello, world" in done.stdout
    assert "ended when the console said 'hello, w'" in done.stderr and "all programs finished" not in done.stdout


def test_a_whole_run_is_measured_and_replayed_to_the_same(words, tmp_path):
    live, record, replayed = tmp_path / "live.json", tmp_path / "record", tmp_path / "replayed.json"
    done = run_cobnut("boot", *words, "--machine", machine_of(words), "--json", str(live))
    assert done.returncode == 0 and "modelled cycles of the whole run" in done.stdout, done.stdout + done.stderr
    assert "no symbol" not in done.stdout, "of ours, which other kernels lack"
    measured = json.loads(live.read_text())
    assert measured["totals"]["cycles"] > 1_000_000 and measured["totals"]["instructions_kernel"] > 100_000
    assert run_cobnut("record", "--out", str(record), *words).returncode == 0
    done = run_cobnut("replay", str(record), "--machine", machine_of(words), "--json", str(replayed))
    assert done.returncode == 0, done.stderr
    assert json.loads(replayed.read_text())["replays"][0]["measured"] == measured


def test_a_kernel_is_sanitized(words):
    done = run_cobnut("boot", "--sanitize", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("sanitizer: 0 reports in ")


def test_a_record_says_how_the_code_is_called_and_what_the_emulator_was_told(words, tmp_path):
    record, replayed = tmp_path / "record", tmp_path / "replayed.json"
    done = run_cobnut("record", "--out", str(record), *words, "--qemu-args", "-name mine", "--seconds", "1000")
    assert done.returncode == 0, done.stderr
    assert run_cobnut("replay", str(record), "--json", str(replayed)).returncode == 0
    header = json.loads(replayed.read_text())["record"]
    assert header["provenance"]["emulator_arguments"] == ["-name", "mine"]
    assert len(header["functions"]) > 100, "from --symbols: on ARM the image itself has no names"


def test_words_that_qemu_does_not_know_are_one_line(words):
    done = run_cobnut("boot", *words, "--qemu-args", "-nonsense")
    assert done.returncode == 2 and "-nonsense: invalid option" in done.stderr and "Traceback" not in done.stderr
