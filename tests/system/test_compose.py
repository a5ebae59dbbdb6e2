# SPDX-License-Identifier: GPL-2.0-or-later
"""Sequences of calls that change a space's shape: nothing is found, and the oracle sees what it is shown."""

import pytest

import guests
from cobnut import boards, composed
from cobnut.experiments import attack_compose_arm, maintenance
from conftest import run_cobnut

ARM_SECONDS = 120  # of processor time
ENFORCED = "limits=1 area=512"


def compose(
    arguments: str, options: str = "small=512", on: guests.Processor = guests.USUAL
) -> tuple[composed.Composed, str]:
    outcome = guests.boot(guests.program("compose", arguments), options=options, on=on)
    return composed.read(str(on), outcome), outcome.console


def holds(arguments: str, options: str, on: guests.Processor) -> None:
    done, console = compose(arguments, options, on)
    assert done.failure is None, console[-2000:]
    assert done.findings == () and done.book_faults == 0, console[-2000:]
    assert len(done.pairs) >= 200


@pytest.mark.parametrize("on", guests.BOCHS, ids=str)
def test_nothing_is_found_where_limits_hold(on):
    holds(f"{ENFORCED} seed=1 episodes=60", "small=512", on)


@pytest.mark.parametrize(
    ("area", "options", "on"),
    [
        (512, "", guests.QEMU[0]),
        (64, "sysenter=off", guests.USUAL),
        (64, "groups=off", guests.USUAL),
        (512, "automatic=off", guests.USUAL),
        (64, "revocation=eager", guests.USUAL),
    ],
)
def test_nothing_is_found_with_other_options(area, options, on):
    holds(f"area={area} seed=2 episodes=150", f"small={area} {options}", on)


def test_a_segment_past_its_space_is_found():
    done, console = compose("episodes=60 mistake=segment")
    assert any("own segment ends past its space" in one for one in done.findings), console[-2000:]
    assert done.again, "and made short"


def test_a_slot_that_is_lost_is_found():
    done, console = compose("episodes=100 mistake=slot")
    assert any("a slot is lost" in one for one in done.findings), console[-2000:]


def test_what_an_emulator_without_limits_lets_through_is_found():
    done, console = compose("limits=1 episodes=120")
    for what in ("a victim's memory was read", "a victim's memory has changed"):
        assert any(what in one for one in done.findings), console[-2000:]


def test_a_finding_is_found_again_by_its_arguments():
    done, _ = compose("episodes=60 mistake=segment")
    again, console = compose(f"{done.again[0]} mistake=segment")
    assert again.findings == done.findings[:1], console


def test_a_seed_gives_the_same_run():
    assert compose("seed=7 episodes=20 verbose=1")[1] == compose("seed=7 episodes=20 verbose=1")[1]


def test_counters_of_switches_may_overflow():
    """Two switches before they do: more than tens of minutes of ping-pong, without the wait. Nothing drains them with
    automatic=off.
    """
    preset = (
        'python for s in all_spaces(): a = "((Space*)%d)->arch." % int(s.address); gdb.execute(f"set var {a}switches ='
        ' 0xfffffffe"); gdb.execute(f"set var {a}free_switches = {a}host ? 0 : 1")'
    )
    words = [word for command in ("tbreak tls::control", "continue", preset, "continue") for word in ("--ex", command)]
    options = ("--append", "small=512 automatic=off sysenter=off", "--root", "compose seed=5 episodes=60")
    done = run_cobnut("boot", "--gdb", *words, *options)
    assert "Temporary breakpoint 1, tls::control" in done.stdout
    assert "refused" not in done.stdout, "somebody ran on another's page tables"
    assert "0 findings, 0 faults in the books: ok" in done.stdout, done.stdout[-2000:]


@pytest.mark.parametrize("arguments", ["area=x", "steps=32", "mistake=none", "episodes=0"])
def test_wrong_arguments_are_said(arguments):
    outcome = guests.boot(guests.program("compose", arguments))
    assert outcome.code == 2
    assert "compose: seed=N episodes=N" in outcome.console


def compose_arm(board: boards.Board, arguments: str, **mutant):
    outcome, findings = attack_compose_arm.sanitized(board, arguments, ARM_SECONDS, **mutant)
    assert not outcome.timed_out, outcome.console[-2000:]
    return composed.read(board.name, outcome), outcome.console, findings


@pytest.mark.parametrize(("board", "tags"), [("collie", True), ("versatilepb", True), ("versatilepb", False)])
def test_nothing_is_found_on_arm(board, tags):
    found = boards.find(board)
    done, console, findings = compose_arm(found if tags else found.standard, "seed=2 episodes=16")
    assert done.failure is None, console[-2000:]
    assert done.findings == () and done.book_faults == 0, console[-2000:]
    assert findings.reports == []
    assert len(done.pairs) >= 100


@pytest.mark.parametrize(
    ("mistake", "what"),
    [
        ("page", "what is not mapped is"),
        ("word", "what was not written last"),
    ],
)
def test_a_mistake_about_memory_is_found_on_arm(mistake, what):
    done, console, _ = compose_arm(boards.find("versatilepb"), f"episodes=12 mistake={mistake}")
    assert any(what in one for one in done.findings), console[-2000:]
    assert done.again, "and made short"


@pytest.mark.parametrize("without", ["host::make_room", "page_tables::change", "host::put_in"])
def test_a_kernel_that_forgets_to_flush_is_found_on_arm(without, tmp_path):
    """The first operation on TLBs or caches of a function is taken out of the built kernel."""
    board = boards.find("versatilepb")
    site = next(one for one in maintenance.sites(board.kernel_executable) if one.name.startswith(f"{without}+"))
    kernel = tmp_path / "cobnut-kernel.bin"
    kernel.write_bytes(maintenance.without(board.kernel_executable, board.kernel.read_bytes(), site))
    done, _, findings = compose_arm(board, "episodes=16", kernel=kernel)
    assert findings.reports or done.findings or done.failure, site


def test_nothing_of_others_tables_stays_where_a_new_space_has_no_utcbs():
    """An episode in which one space reaches behind the UTCBs of another that has not run yet."""
    done, console, findings = compose_arm(boards.find("collie"), "seed=1 first=5 episodes=1")
    assert done.operations["unborn"] == 2 and done.failure is None, console[-2000:]
    assert done.findings == () and findings.reports == []


def test_a_seed_gives_the_same_run_on_arm():
    board = boards.find("collie")
    assert compose_arm(board, "seed=7 episodes=2 verbose=1")[1] == compose_arm(board, "seed=7 episodes=2 verbose=1")[1]


@pytest.mark.parametrize("arguments", ["steps=32", "mistake=none", "episodes=0"])
def test_wrong_arguments_are_said_on_arm(arguments):
    outcome, _ = attack_compose_arm.sanitized(boards.find("collie"), arguments, ARM_SECONDS)
    assert outcome.code == 2
    assert "compose: seed=N episodes=N" in outcome.console
