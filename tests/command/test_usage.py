# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong usage is answered with status 2 and one clear line."""

import errno
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from cobnut import cd, cli, writable
from cobnut.emulators import Boot, bochs
from cobnut.errors import CobnutError
from conftest import ROOT, assert_refused, run_launched, run_limited


def test_list_names_experiments_machines_and_boards(cobnut):
    done = cobnut("list")
    assert done.returncode == 0
    for name in ("uhlig02/fig4", "ipc/path", "pentium4-1400", "pc", "basic"):
        assert f"  {name} " in done.stdout


@pytest.mark.parametrize(
    ("experiment", "machines"),
    [
        ("ipc/path", "on pc; machines: pentium4-1400 (default)"),
        ("ipc/path", "on collie, versatilepb; machines: arm926-400 (default on versatilepb), sa1100-200 (default on"),
        ("ipc/scale", "on pc; machines: i486, pentium-133, pentium-90, pentium4-1400 (default)"),
        ("liedtke95/messages", "on pc; machines: pentium-133, pentium-90 (default)"),
        ("latency/worst", "on pc, versatilepb, collie; on no machine, nothing is modelled"),
        (
            "wiggins03/fig5",
            "on collie, versatilepb; machines: arm926-400 (default on versatilepb), sa1100-200 (default",
        ),
    ],
)
def test_list_says_which_machines_fit(cobnut, experiment, machines):
    about = cobnut("list").stdout.split(f"\n  {experiment} ", 1)[1].split("\n  ipc/strings ")[0]
    assert machines in re.split(r"\n  \w", about)[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "ipc/path", "--machine", "sa1100-200"], ["--machine sa1100-200: ipc/path runs on pc, an IA-32 board"]),
        (["run", "ipc/path", "--machine", "pentium-90"], ["has no segments.reload_cycles", "there are pentium4-1400"]),
        (
            ["run", "wiggins03/fig5", "--machine", "i486"],
            ["--machine i486: wiggins03/fig5 runs on collie, an ARM board"],
        ),
        (
            ["run", "liedtke95/messages", "--machine", "pentium4-1400"],
            ["no dtlb.miss_cycles", "pentium-133, pentium-90"],
        ),
        (
            ["run", "sanitize/stress", "--machine", "i486"],
            ["--machine i486", "sanitize/stress is measured on no machine"],
        ),
        (["run", "fuzz/syscalls", "--set", "dtlb.entries=8"], ["'dtlb.entries'", "fuzz/syscalls", "on no machine"]),
        (["run", "all", "--machine", "sa1100-200"], ["--machine sa1100-200", "ipc/path"]),
        (["run", "ipc/scale", "--board", "collie"], ["ipc/scale runs on pc, not on collie"]),
        (["run", "all", "--set", "hinges=0"], ["--set hinges=0", "ipc/path has no setting 'hinges'"]),
        (["boot", "--machine", "sa1100-200", "hello"], ["--machine sa1100-200", "board pc has an IA-32 processor"]),
        (["boot", "--board", "collie", "--machine", "i486", "hello"], ["--machine i486", "board collie has an ARM"]),
    ],
    ids=lambda value: " ".join(value) if len(value) > 2 else "",
)
def test_what_does_not_fit_is_refused_before_anything_is_built_or_run(cobnut, arguments, words):
    done = cobnut(*arguments)
    assert_refused(done, *words)
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_works_from_another_folder(cobnut, tmp_path):
    assert cobnut("list", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no/such"], ["unknown experiment", "no/such", "uhlig02/fig4"]),
        (["run", "ipc/path", "--machine", "z80"], ["unknown machine", "z80", "pentium4-1400"]),
        (["run", "ipc/path", "--machine", "pentium4"], ["unknown machine", "did you mean 'pentium4-1400'?"]),
        (["run", "fig9"], ["unknown experiment", "did you mean 'uhlig02/fig9'?"]),
        (["run", "fig4"], ["did you mean 'liedtke95/fig4' or 'uhlig02/fig4' or 'wiggins03/fig4'?"]),
        (["run", "uhlig02/fgi4"], ["unknown experiment", "did you mean 'uhlig02/fig4'?"]),
        (["run", "ipc/path", "--set", "ronds=3"], ["no setting 'ronds'", "did you mean 'rounds'?"]),
        (["run", "ipc/path", "--set", "dtlb.entrys=3"], ["dtlb.entrys", "did you mean 'dtlb.entries'?"]),
        (["run", "ipc/path", "--sweep", "dtlb.entrys"], ["no number 'dtlb.entrys'", "did you mean 'dtlb.entries'?"]),
        (["build", "--board", "versatile"], ["unknown board", "did you mean 'versatilepb'?"]),
        (["build", "--bord", "pc"], ["--bord", "did you mean", "--board"]),
        (["biuld"], ["biuld", "Did you mean 'build'?"]),
        (["boot", "helo"], ["module helo", "did you mean 'hello'?"]),
        (["run", "ipc/path", "--machine", "no/such.toml"], ["no/such.toml", "no such file"]),
        (["run", "ipc/path", "--board", "toaster"], ["unknown board", "toaster", "pc"]),
        (["run", "ipc/path", "--set", "rounds"], ["rounds", "K=V"]),
        (["run", "ipc/path", "--set", "rounds=many"], ["many", "whole number"]),
        (["run", "ipc/path", "--set", "rounds=0"], ["rounds=0", "from 1 to 1000000"]),
        (["run", "ipc/path", "--set", "words=64"], ["words=64", "from 0 to 63"]),
        (["run", "ipc/path", "--set", "slot=24"], ["slot=24", "one of 16, 32"]),
        (["run", "ipc/path", "--set", "small=100"], ["small=100", "from 64 to 2048 in steps of 64"]),
        (["run", "uhlig02/fig4", "--set", "hinges=9"], ["hinges=9", "from 0 to 2"]),
        (["run", "ipc/path", "--set", "dtlb.entries=0"], ["dtlb.entries", "from 1 to"]),
        (["run", "ipc/path", "--set", "colour=1"], ["colour", "rounds"]),
        (["run", "ipc/path", "--set", "itlb.entries=lots"], ["lots", "not a number"]),
        (["run", "ipc/path", "--report", str(ROOT / "cobnut")], ["--report", "not a folder"]),
        (["run", "ipc/path", "--json", str(ROOT)], ["--json", "cannot be written"]),
        (["run", "ipc/path", "--json", "/proc/x.json"], ["--json /proc/x.json", "cannot be written"]),
        (["run", "ipc/path", "--json", "/no/such/x.json"], ["--json /no/such/x.json", "cannot be written"]),
        (["run", "ipc/path", "--report", "/proc/x"], ["--report /proc/x", "cannot be written"]),
        (["run", "uhlig02/fig4", "--picture", "/proc/x.png"], ["--picture /proc/x.png", "cannot be written"]),
        (["run", "uhlig02/fig4", "--picture", "/no/such/x.png"], ["--picture /no/such/x.png", "cannot be written"]),
        (["run", "ipc/path", "--picture", "x.png"], ["--picture", "ipc/path has no curves"]),
        (["run", "all", "--picture", "x.png"], ["--picture", "all"]),
        (["run", "ipc/path", "--machine", "/dev/null"], ["/dev/null", "is not a file"]),
        (["run", "ipc/path", "--machine", "/tmp"], ["/tmp", "is not a file"]),
        (["run", "ipc/path", "--machine", ""], ["unknown machine ''"]),
        (["boot", "--image", "/no/such/kernel"], ["--image /no/such/kernel", "no such file"]),
        (["boot", "--image", str(ROOT / "README.md")], ["README.md", "neither a multiboot executable"]),
        (["boot", "--image", str(ROOT / "README.md"), "hello"], ["--image", "its own kernel and modules"]),
        (["boot", "--image", str(ROOT / "README.md"), "--emulator", "bochs"], ["--image", "on qemu"]),
        (["boot", "--image", str(ROOT / "README.md"), "--board", "collie"], ["README.md", "neither a zImage"]),
        (["boot", "--image", str(ROOT / "README.md"), "--board", "collie", "--cpu", "x"], ["--cpu", "board collie"]),
        (["boot", "--image", "/no", "--machine", "sa1100-200"], ["--machine sa1100-200", "board pc"]),
        (["boot", "--symbols", "/no/such/map", "hello"], ["--symbols", "--image", "there is none"]),
        (["boot", "--qemu-args", "'", "hello"], ["--qemu-args '", "no closing quotation"]),
        (["boot", "--qemu-args", "-S", "--emulator", "bochs", "hello"], ["--qemu-args", "not for bochs"]),
        (["boot", "--until", "", "hello"], ["--until", "empty"]),
        (["boot", "--region", "1:call=3", "hello"], ["--region", "--machine"]),
        (["boot", "--processes", "linux-pc", "hello"], ["--processes", "--machine"]),
        (["boot", "--machine", "i486", "--processes", "linux", "hello"], ["kernel of processes 'linux'", "linux-pc"]),
        (["boot", "--machine", "i486", "--program", "it", "hello"], ["--program it", "NAME:FILE"]),
        (["boot", "--machine", "i486", "--program", "it:/no", "hello"], ["--program it:/no", "no such file"]),
        (["run", "ipc/trace", "--region", "1:call=3"], ["--region", "--image"]),
        (["boot", "--gdb", "--until", "x", "hello"], ["--gdb", "--until"]),
        (["boot", "--gdb", "--image", "/no/such/kernel"], ["--gdb", "--image"]),
        (["boot", "--sanitize", "--machine", "i486", "hello"], ["--machine", "--sanitize"]),
        (["record", "--out", "x.record", "--image", "/no/such/kernel"], ["--image /no/such/kernel", "no such file"]),
        (["record", "--out", "x.record", "--image", "/no", "hello"], ["--image", "its own kernel and modules"]),
        (["record", "--out", "x.record", "--seconds", "0", "hello"], ["--seconds 0", "more than 0"]),
        (["boot", "--image", str(ROOT / "README.md"), "--sigma0", "hello"], ["--image", "its own kernel and modules"]),
        (["boot", "--image", str(ROOT / "README.md"), "--set", "checked=on"], ["--image", "its own kernel"]),
        (["run", "ipc/trace", "--image", "/no/such/kernel"], ["--image /no/such/kernel", "no such file"]),
        (["run", "ipc/trace", "--image", "/dev/null"], ["--image /dev/null", "is empty"]),
        (["run", "ipc/trace", "--image", "/tmp"], ["--image /tmp", "is a folder"]),
        (["run", "ipc/trace", "--image", str(ROOT / "README.md")], ["README.md", "neither a multiboot executable"]),
        (["run", "ipc/trace", "--image", ""], ["--image", "empty name"]),
        (["run", "ipc/trace", "--append", "quiet"], ["--append", "--image"]),
        (["run", "ipc/trace", "--seconds", "3"], ["--seconds", "--image"]),
        (["run", "ipc/trace", "--until", "x"], ["--until", "--image"]),
        (["run", "ipc/trace", "--symbols", "x"], ["--symbols", "--image"]),
        (["run", "ipc/trace", "--qemu-args", "-S"], ["--qemu-args", "--image"]),
        (["run", "ipc/path", "--image", "/no/such/kernel"], ["--image", "ipc/path", "these do: ipc/trace"]),
        (["run", "all", "--image", "/no/such/kernel"], ["--image", "all"]),
        (["run"], ["EXPERIMENT"]),
        (["build", "--board", "toaster"], ["unknown board", "toaster"]),
        (["build", "--set", "guest=beos"], ["unknown guest for pc 'beos'", "linux, lmbench, x, gnumach"]),
        (["build", "--board", "collie", "--set", "guest=gnumach"], ["unknown guest for collie", "linux-fass"]),
        (["build", "--board", "versatilepb", "--set", "guest=beos"], ["unknown guest for versatilepb", "linux-fass"]),
        (["build", "--set", "guest=linux", "--set", "checked=on"], ["--set guest=linux", "no other setting"]),
        (["boot"], ["at least one module"]),
        (["boot", "--emulator", "abacus", "hello"], ["unknown emulator", "abacus", "bochs"]),
        (["boot", "--memory", "0", "hello"], ["--memory 0"]),
        (["boot", "--board", "collie", "--memory", "32", "hello"], ["--memory 32", "collie has 512"]),
        (["record", "--out", "x.record", "--board", "collie", "--memory", "32", "hello"], ["--memory 32", "has 512"]),
        (["boot", "--emulator", "bochs", "--memory", "16", "hello"], ["--memory 16", "from 32", "bochs"]),
        (["boot", "--cpu", "z80", "hello"], ["z80"]),
        (["boot", "no-such-program"], ["no-such-program", "no such file"]),
        (["run", "ipc/path", "--sweep", "colour"], ["--sweep colour", "no number"]),
        (["run", "ipc/path", "--sweep", "l2.line_bytes"], ["--sweep l2.line_bytes", "no range", "LO:HI"]),
        (["run", "ipc/path", "--sweep", "dtlb.entries=64"], ["--sweep dtlb.entries=64", "LO:HI"]),
        (["run", "ipc/path", "--sweep", "dtlb.entries=64:32"], ["--sweep dtlb.entries=64:32", "lower one first"]),
        (["run", "ipc/path", "--sweep", "dtlb.entries=few:many"], ["--sweep dtlb.entries=few:many", "two numbers"]),
        (["run", "ipc/path", "--sweep", "dtlb.entries=0:64"], ["dtlb.entries", "from 1 to"]),
        (["run", "sanitize/mutations", "--sweep", "all"], ["--sweep", "sanitize/mutations"]),
        (["record", "hello"], ["--out"]),
        (["record", "--out", "x.record"], ["at least one module"]),
        (["record", "--out", "/proc/x.record", "hello"], ["--out /proc/x.record", "cannot be written"]),
        (["record", "--out", "x.record", "--memory", "0", "hello"], ["--memory 0"]),
        (["boot", "--gdb", "--emulator", "bochs", "hello"], ["--gdb", "not on bochs"]),
        (["boot", "--gdb", "--sanitize", "hello"], ["--gdb", "--sanitize"]),
        (["boot", "--ex", "continue", "hello"], ["--ex", "--gdb"]),
        (["boot", "--seconds", "0", "hello"], ["--seconds 0", "more than 0"]),
        (["boot", "--seconds", "1e9", "hello"], ["--seconds 1e+09", "less than"]),
        (["boot", "--gdb", "--seconds", "3", "hello"], ["--gdb", "--seconds"]),
        (["trace"], ["at least one module"]),
        (["trace", "--ring", "2", "hello"], ["--ring 2", "from 4"]),
        (["trace", "--seconds", "0", "hello"], ["--seconds 0", "more than 0"]),
        (["trace", "--output", "/proc/x.json", "hello"], ["--output /proc/x.json", "cannot be written"]),
        (["trace", "--memory", "0", "hello"], ["--memory 0"]),
        (["replay"], ["RECORD"]),
        (["replay", "/no/such.record"], ["/no/such.record", "no such file"]),
        (["replay", "/tmp"], ["/tmp", "is not a file"]),
        (["replay", str(ROOT / "cobnut")], ["record", "not a record"]),
        (["replay", str(ROOT / "cobnut"), "--machine", "z80"], ["unknown machine", "z80"]),
        (["replay", str(ROOT / "cobnut"), "--set", "dtlb.entries"], ["dtlb.entries", "K=V"]),
        (["replay", str(ROOT / "cobnut"), "--without", "cache"], ["--without cache", "only flush"]),
        (["replay", str(ROOT / "cobnut"), "--windows", "1000"], ["--windows 1000", "LENGTH/ONE_IN"]),
        (["replay", str(ROOT / "cobnut"), "--pieces", "x"], ["--pieces", "is for --windows"]),
        (
            ["replay", str(ROOT / "cobnut"), "--windows", "1000/9", "--pieces", "/tmp/no.pieces"],
            ["--pieces", "one --machine"],
        ),
        (["boot", "--windows", "1000/9", "hello"], ["--windows", "is for --machine"]),
        (["replay", str(ROOT / "cobnut"), "--set", "colour=1"], ["unknown parameter colour"]),
        (["replay", str(ROOT / "cobnut"), "--json", "/proc/x.json"], ["--json /proc/x.json", "cannot be written"]),
        (["test", "nothing"], ["unknown part", "nothing", "system"]),
        (["new"], ["DIR"]),
        (["new", str(ROOT / "docs")], ["new", "not empty"]),
        (["new", str(ROOT / "cobnut")], ["new", "not a folder"]),
        (["new", "/proc/mine"], ["new /proc/mine", "cannot be written"]),
        (["new", "/tmp/no/such/two words"], ["'two words'", "letters, digits"]),
        (["new", "/tmp/no/such/1st"], ["'1st'", "a letter first"]),
        (["new", "client", "/tmp/no/such/mine"], ["new client", "only `server`"]),
        (["new", "server", "/tmp/no/such/Mine"], ["'Mine'", "lower-case letters"]),
        (["new", "server", "/tmp/no/such/test"], ["'test' is taken"]),
        (["new", "server", str(ROOT / "docs")], ["new server", "not empty"]),
        (["new", "server", "/proc/mine"], ["new server /proc/mine", "cannot be written"]),
        (["new", "/tmp/no/such/mine", "--language", "pascal"], ["unknown language 'pascal'", "c, c++"]),
        (["new", "/tmp/no/such/mine", "--build", "ant"], ["unknown build tool 'ant'", "make, cmake"]),
        (["new", "/tmp/no/such/mine", "--board", "toaster"], ["unknown board 'toaster'"]),
        (["frobnicate"], ["frobnicate"]),
        (["run", "ipc/path", "--frobnicate"], ["--frobnicate"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and len(" ".join(value)) < 40 else "",
)
def test_wrong_usage_is_one_line(cobnut, arguments, words):
    assert_refused(cobnut(*arguments), *words)


def test_an_old_emulator_is_refused(cobnut, tmp_path):
    fake = tmp_path / "qemu-system-i386"
    fake.write_text("#!/bin/sh\necho 'QEMU emulator version 7.2.17 (Debian 1:7.2+dfsg-7)'\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert_refused(cobnut("boot", "hello", env={"PATH": path}), "7.2.17", "too old", "10")
    assert_refused(cobnut("run", "ipc/path", env={"PATH": path}), "7.2.17", "too old", "10")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda text: text.replace("clock_mhz = { value = 1400", "clock_mhz = { value = -5"), "clock_mhz"),
        (lambda text: "\n".join(line for line in text.splitlines() if not line.startswith("clock_mhz")), "clock_mhz"),
        (lambda text: text + "\n[[[\n", "bad.toml"),
    ],
    ids=["absurd", "missing", "not TOML"],
)
def test_a_bad_machine_file_is_refused(cobnut, tmp_path, change, word):
    good = (ROOT / "lab" / "machines" / "pentium4-1400.toml").read_text()
    bad = tmp_path / "bad.toml"
    bad.write_text(change(good))
    assert_refused(cobnut("run", "ipc/path", "--machine", str(bad)), word)


def test_a_number_of_the_machine_that_makes_no_sense_is_refused(cobnut):
    assert_refused(cobnut("run", "ipc/path", "--set", "itlb.entries=-1"), "itlb.entries")


def test_trying_what_can_be_written_leaves_no_trace(tmp_path):
    old = tmp_path / "old.json"
    old.write_text("old")
    writable.check_all(old, tmp_path / "deep" / "report", tmp_path / "new.png")
    writable.check_all(Path("/dev/stdout"), tmp_path, Path("/dev/null"))
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "later.json")
    writable.check_all(link, None, None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "old.json"]
    assert old.read_text() == "old"


@pytest.mark.parametrize("place", ["file/report", "link", "circle"])
def test_a_report_that_could_not_make_its_folder_is_refused(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(CobnutError, match="--report .* cannot be written there"):
        writable.check_all(None, tmp_path / place, None)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_tree_that_cannot_be_written_is_named(monkeypatch, capsys, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code), str(ROOT / "build" / "lock" / "pc"))

    monkeypatch.setattr(cli, "app", refuse)
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    said = capsys.readouterr().err
    assert said.startswith(f"cobnut: {ROOT / 'build'}: cannot be written (") and said.count("\n") == 1


def test_a_read_only_checkout_is_one_line():
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        tree = Path(name) / "tree"
        (tree / "lab").mkdir(parents=True)
        for file in ("cobnut", "lab/bootstrap.sh", "lab/requirements.txt"):
            shutil.copy(ROOT / file, tree / file)
        for folder in (Path(name), tree, tree / "lab"):
            folder.chmod(0o555)
        as_nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = run_limited([*as_nobody, str(tree / "cobnut"), "list"])
        for folder in (Path(name), tree):
            folder.chmod(0o755)
    assert done.returncode == 2
    assert done.stderr == f"cobnut: {tree}/build: cannot be written, and all that is built or measured goes there\n"


def test_help_and_version(cobnut):
    assert cobnut("-h").stdout == cobnut("--help").stdout
    assert cobnut("run", "-h").stdout == cobnut("run", "--help").stdout
    assert re.fullmatch(r"cobnut [0-9a-f]{12}(-dirty)?\n|cobnut unknown\n", cobnut("--version").stdout)


@pytest.mark.parametrize("words", ["--version", "list", "run nosuch", "boot --seconds 0 hello", "cache x"])
def test_the_launcher_starts_what_the_other_tests_call(words, cobnut):
    launched, called = run_launched(*words.split()), cobnut(*words.split())
    assert (launched.returncode, launched.stdout, launched.stderr) == (called.returncode, called.stdout, called.stderr)
    assert launched.stdout + launched.stderr


def test_what_the_system_refuses_is_one_line(monkeypatch, capsys):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr(cli, "app", refuse)
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    assert capsys.readouterr().err == "cobnut: somewhere: Permission denied\n"


@pytest.mark.parametrize("start", [lambda boot: bochs.run(boot, timeout=10), bochs.interact], ids=["run", "interact"])
def test_a_bochs_that_ends_before_it_starts_is_an_error(monkeypatch, tmp_path, start):
    monkeypatch.setattr(bochs, "PROGRAM", "false")
    monkeypatch.setattr(bochs, "PLUGINS", str(tmp_path))
    monkeypatch.setattr(cd, "write", lambda boot, iso, folder: iso.touch())
    with pytest.raises(CobnutError, match=r"Bochs refused to start \(processor 'nope'\?\)"):
        start(Boot(tmp_path / "kernel", (), cpu="nope"))
