# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut boot --gdb` and what gdb knows of the kernel (kernel/gdb/cobnut.py)."""

import re
import subprocess
from pathlib import Path

import pytest

import guests
from cobnut import elf
from cobnut.process import Limit
from conftest import ROOT, run_cobnut, run_limited

ROOT_SERVER, SIGMA0 = "50.1", "48.1"
# a small space has touched its first page, and then its pager has mapped it
STOPPED = ("break small_space::copy_entry", "continue", "continue")
SMALL = "hello small=16@0"


def gdb(*commands, module=SMALL, options=()):
    """What gdb says when a guest is stopped and gdb executes `commands`."""
    words = [word for command in commands for word in ("--ex", command)]
    done = run_cobnut("boot", "--gdb", *words, *options, module)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def stopped():
    """Everything asked of one stopped guest, by command."""
    commands = ["cobnut threads", "cobnut spaces", "cobnut thread 50", "cobnut thread 51.1", "cobnut walk 51 0x400020"]
    commands += [
        "cobnut walk 50 0xffc04030",
        "cobnut walk 50 0x300000",
        "cobnut walk 50 0",
        "cobnut walk 50 0xf0100000",
        "cobnut ready",
        "cobnut trace 3",
        "backtrace",
        "cobnut backtrace",
    ]
    marked = [word for command in commands for word in (f"echo == {command}\\n", command)]
    said = gdb(*STOPPED, *marked, options=["--append", "trace=16"])
    return dict(part.split("\n", 1) for part in said.split("== ")[1:])


def test_threads(stopped):
    rows = {row[0]: row[1:] for line in stopped["cobnut threads"].splitlines()[1:] if (row := line.split())}
    assert sorted(rows) == ["*51.1", SIGMA0, ROOT_SERVER], "the kernel's list turns at each tick"
    assert rows[ROOT_SERVER][:3] == ["receiving", "anybody", "255"]
    assert rows["*51.1"][0] == "running" and rows["*51.1"][4] == "0x00400000", "at its first instruction"


def test_spaces(stopped):
    lines = sorted(stopped["cobnut spaces"].splitlines()[1:4], key=lambda line: line.split()[-1])
    assert [line.split()[-1] for line in lines] == [SIGMA0, ROOT_SERVER, "51.1"]
    assert "small, slot 0xd0000000 + 16 MB" in lines[2] and "large" in lines[1]
    assert lines[1].startswith("*"), "the small space runs on the directory of the space that ran last"


def test_one_thread(stopped):
    assert f"thread {ROOT_SERVER} at 0x" in stopped["cobnut thread 50"]
    assert "running" in stopped["cobnut thread 51.1"] and "ip 0x00400000" in stopped["cobnut thread 51.1"]


def test_page_walks(stopped):
    small = stopped["cobnut walk 51 0x400020"]
    assert "linear address 0xd0400020" in small and re.search(r"entry 833: 0x00000000 not copied", small)
    assert re.search(r"physical address 0x0[0-9a-f]{4}020$", small, re.MULTILINE)
    assert "physical address 0x00300000" in stopped["cobnut walk 50 0x300000"], "root is where it was loaded"
    assert "table entry 0: 0x00000000 not present" in stopped["cobnut walk 50 0"]
    assert "physical address 0x00100000" in stopped["cobnut walk 50 0xf0100000"]


def test_the_interrupt_table_is_read_only(stopped):
    gate = re.search(r"^ *table entry 4: .*$", stopped["cobnut walk 50 0xffc04030"], re.MULTILINE).group()
    assert "present" in gate and "writable" not in gate and "user" not in gate


def test_nobody_else_is_ready(stopped):
    assert stopped["cobnut ready"].strip() == "nobody is ready"


def test_ready_threads_are_in_their_queue():
    # sigma0 runs first, root waits for its turn
    assert re.search(r"^255: 50\.1$", gdb("break trap", "continue", "cobnut ready"), re.MULTILINE)


def test_the_place_of_who_called_by_the_gate():
    # its first call is of the shortest kind
    options = ["--cpu", "486", "--root", "pingpong pair=large_large"]
    said = gdb("break exit_null_int", "continue", "cobnut threads", options=options)
    places = [int(row[5], 16) for line in said.splitlines() if "receiving" in (row := line.split())]
    assert len(places) == 3 and all(places), said


def test_the_trace(stopped):
    events = [line.split() for line in stopped["cobnut trace 3"].splitlines()[1:4]]
    assert len(events) == 3 and float(events[0][0]) <= float(events[1][0]) <= float(events[2][0]) == 0
    assert ["switched", "51.1"] in [event[1:3] for event in events]


def test_gdb_finds_the_callers(stopped):
    assert "small_space::copy_entry" in stopped["backtrace"] and re.search(r"in trap|in common", stopped["backtrace"])


def test_a_program_is_followed_by_its_own_symbols():
    commands = ("add-symbol-file build/pc/user/hello", "break cobnut_main", "continue", "backtrace")
    said = gdb(*commands, module="hello", options=["--append", "automatic=off"])
    assert re.search(r"^#0 +cobnut_main .*/hello/main\.cc:\d+\n#1 .* in cobnut_start_payload", said, re.MULTILINE)


def test_the_callers_of_a_program_in_a_small_space():
    """A breakpoint is a linear address: its slot is at 0xd0000000."""
    place = 0xD000_0000 + int(address_of("_ZN6cobnut5printEPKcz", guests.PC.program("hello")), 16)
    commands = [f"break *{place:#x}", "continue", "print $esp", "cobnut backtrace", "print $esp", "stepi", "print $eip"]
    said = gdb(*commands)
    before, after = re.findall(r"^\$\d = \(void \*\) (0x\w+)", said, re.MULTILINE)[:2]
    assert before == after and int(before, 16) < 0xD000_0000, "the stack pointer is what it was"
    called = re.findall(r"^#\d +(?:0x\w+ in )?([\w:]+) \(", said.split(before, 1)[1], re.MULTILINE)
    assert called[:4] == ["cobnut::print", "cobnut_main", "cobnut_start_payload", "_start"], said
    assert "Cannot access memory" not in said.split(before, 1)[1].split(after, 1)[0], said


def test_elsewhere_it_is_gdbs_backtrace(stopped):
    assert stopped["backtrace"] and stopped["cobnut backtrace"].startswith(stopped["backtrace"])


# two programs that are linked at the same address, with other functions in the same places
MAIN = """static volatile int done;
__attribute__((noinline)) static void {name}_step(int n)
{{
    for (int i = 0; i < n; i++) done += {factor} * i;
}}
__attribute__((noinline)) static void {name}_work(int n)
{{
    {name}_step(n + {factor});
    done++;
}}
int cobnut_main(const char *command_line)
{{
    (void)command_line;
    for (int i = 0; i < 2; i++) {name}_work(i);
    return 0;
}}
"""
BOARDS = [("pc", ("--append", "automatic=off")), ("versatilepb", ("--board", "versatilepb"))]


@pytest.fixture(scope="module")
def overlapping(tmp_path_factory):
    """Makes the two programs for a board, once."""
    made: dict[str, list[Path]] = {}

    def make(board: str) -> list[Path]:
        if board not in made:
            folder = tmp_path_factory.mktemp(board)
            made[board] = [build_program(folder / name, board, factor) for name, factor in (("one", 3), ("two", 5))]
        return made[board]

    return make


def build_program(folder: Path, board: str, factor: int) -> Path:
    assert run_cobnut("new", str(folder), "--board", board).returncode == 0
    (folder / "main.c").write_text(MAIN.format(name=folder.name, factor=factor))
    done = run_limited(["make", f"BOARD={board}"], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (program,) = [path for path in folder.rglob(folder.name) if path.is_file()]
    return program


def address_of(name: str, program: Path) -> str:
    return next(f"{one.address:08x}" for one in elf.read(program).symbols if one.name == name)


@pytest.mark.parametrize(("board", "options"), BOARDS)
def test_each_of_two_programs_at_one_address_has_its_own_symbols(overlapping, board, options):
    one, two = overlapping(board)
    commands = ["cobnut break one one_step", "cobnut break two two_step", *["continue", "echo ==\\n", "backtrace"] * 4]
    said = gdb(*commands, module=str(two), options=[*options, str(one)])
    stops = [part.split("Breakpoint")[0] for part in said.split("==\n")[1:]]
    seen = [re.findall(r"^#\d +(?:0x\w+ in )?((?:one|two)_\w+|cobnut_main) ", stop, re.MULTILINE) for stop in stops]
    assert seen == [[f"{name}_step", f"{name}_work", "cobnut_main"] for name in ("one", "one", "two", "two")], said
    assert re.search(r"^cobnut: in two, whose symbols say:\n#0 +two_step ", said, re.MULTILINE), said


@pytest.mark.parametrize(("board", "options"), BOARDS)
def test_programs_are_told_from_each_other_where_both_have_the_same_code(overlapping, board, options):
    one, two = overlapping(board)
    (place,) = {address_of("cobnut_start_payload", path) for path in (one, two)}
    commands = [f"break *0x{place}", *["continue", "cobnut program", "info symbol cobnut_main"] * 2]
    said = gdb(*commands, module=str(two), options=[*options, str(one)])
    assert re.findall(r"^stopped in (\w+), symbols of (\w+)$", said, re.MULTILINE) == [("one", "one"), ("two", "two")]
    assert [line.rsplit("/", 1)[1] for line in said.splitlines() if "in section .text of" in line] == ["one", "two"]


@pytest.mark.parametrize(("board", "options"), [*BOARDS, ("pc", ())])
def test_a_breakpoint_in_one_program_is_not_for_the_other(overlapping, board, options):
    """Both have their step at that address."""
    one, two = overlapping(board)
    assert address_of("one_step", one) == address_of("two_step", two)
    commands = ["cobnut break two two_step", *["continue", "cobnut program"] * 2]
    said = gdb(*commands, module=str(two), options=[*options, str(one)])
    assert re.findall(r"^stopped in (\w+),", said, re.MULTILINE) == ["two", "two"]


def test_a_breakpoint_is_where_a_small_space_has_its_slot(overlapping):
    """The first program's is not for the second, which has its slot elsewhere; disabled, it is for none."""
    one, two = overlapping("pc")
    commands = ["cobnut break one one_step", "cobnut break two two_step", "cobnut break two two_work"]
    commands += ["continue", "echo ==\\n", "cobnut backtrace"] * 3
    commands += ["disable 2", *["continue", "echo ==\\n", "cobnut backtrace"], "disable", "continue"]
    said = gdb(*commands, module=f"{two} small=16@1", options=[f"{one} small=16@0"])
    innermost = re.findall(r"^==\n(?:cobnut: .*\n#0 .*\n.*\n)?#0 +(?:0x\w+ in )?(\w+) ", said, re.MULTILINE)
    assert innermost == ["one_step", "one_step", "two_work", "two_work"], said


def test_symbols_of_a_program_can_be_chosen_by_hand(overlapping):
    one, two = overlapping("pc")
    commands = ["cobnut program two", "info line two_work", "cobnut program one", "info line one_work"]
    said = gdb(*commands, module=str(one), options=[str(two)])
    assert "stopped in none of the programs, symbols of two" in said
    assert len(re.findall(r'^Line \d+ of "main\.c"', said, re.MULTILINE)) == 2, said


def test_what_a_fault_of_the_kernel_says_is_shown():
    said = gdb("break system_calls::thread_control", "continue", "set $eip = 0", "continue")
    assert "cobnut: kernel fault 14 error 0 at 00000000" in said
    assert "thread_control_registers" in said.split("backtrace:", 1)[1]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cobnut frobnicate", "no command cobnut frobnicate"),
        ("cobnut thread", "usage: cobnut thread ID"),
        ("cobnut thread 999", "no thread 999"),
        ("cobnut walk 0xf0000000 0", "no space at 0xf0000000"),
        ("cobnut program pong", "no program pong (there are sigma0, root, hello)"),
        ("cobnut break hello", "usage: cobnut break PROGRAM PLACE"),
        ("cobnut break hello no_such_function", "no_such_function"),
        ("cobnut trace", "boot with the option trace=KB"),
    ],
)
def test_wrong_commands_are_named(command, words):
    done = run_cobnut("boot", "--gdb", *[word for one in (*STOPPED, command) for word in ("--ex", one)], SMALL)
    assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr


def test_without_a_terminal_it_waits_for_somebody_to_attach():
    process = subprocess.Popen(
        [ROOT / "cobnut", "boot", "--gdb", "hello"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    said = re.search(r"^gdb: attach with: gdb .*target remote 127.0.0.1:(\d+)' .*cobnut-kernel$", line)
    assert said
    attach = ["gdb", "-nx", "--batch", "-ex", f"target remote 127.0.0.1:{said.group(1)}"]
    done = run_limited(
        [*attach, "-ex", "break trap", "-ex", "continue", "-ex", "kill", str(guests.PC.kernel)], seconds=60
    )
    assert "Breakpoint 1, trap" in done.stdout
    with Limit(process, 60) as limit:
        assert "small-space area" in process.communicate()[0], "the console is here"
    assert not limit.reached
