# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of the composing attack program's console. No emulator runs here."""

from dataclasses import replace

import pytest

from cobnut import boards, composed
from cobnut.emulators import Outcome
from cobnut.experiments import attack_compose, attack_compose_arm

CONSOLE = """compose: episode 0
compose: episode 1
compose: found a slot is lost and nothing was needed past it: seed 3 episode 1
compose: again: seed=3 first=1 episodes=1 keep=0x3
compose: op tls 9 followed by 3
compose: op exchange 5 followed by 1
compose: 2 episodes, 14 steps, seed 3, 1 findings, 0 faults in the books: FAILED
"""


def outcome(console, timed_out=False):
    return Outcome(None, console, "", 1.0, timed_out)


def test_a_run_is_read():
    done = composed.read("x", outcome(CONSOLE))
    assert (done.episodes, done.steps, done.book_faults, done.failure) == (2, 14, 0, None)
    assert done.findings == ("a slot is lost and nothing was needed past it (seed 3, episode 1)",)
    assert done.again == ("seed=3 first=1 episodes=1 keep=0x3",)
    assert done.pairs == {("tls", "tls"), ("tls", "exchange"), ("exchange", "tls")}


def test_a_run_without_its_end_has_failed():
    stopped = composed.read("x", outcome("compose: episode 0\ncompose: episode 1\ncobnut: kernel fault 13\n"))
    assert stopped.failure == "kernel fault 13" and stopped.episodes == 2
    assert composed.read("x", outcome("", timed_out=True)).failure == "no end"
    assert composed.read("x", outcome("")).failure
    assert composed.last_episode("compose: episode 0\ncompose: episode 41\n") == 41
    assert composed.last_episode("") is None


def test_the_shortest_part_that_stops_a_kernel_is_found():
    def stops(arguments):
        keep = int(arguments.split("keep=")[1], 0)
        return keep & 0b1010 == 0b1010

    assert composed.shortest(3, 7, stops) == "seed=3 first=7 episodes=1 keep=0xa"
    assert composed.shortest(3, 7, lambda arguments: False) is None


def good():
    names = [f"op{n}" for n in range(25)]
    done = composed.Composed("int", 30, 420, (), (), 0, dict.fromkeys(names, 9), dict.fromkeys(names, (1 << 25) - 1))
    return [replace(done, name=variant.name) for variant in attack_compose.VARIANTS]


def failed(runs, steps=3360):
    return {check.name for check in composed.judge_runs(runs, steps, attack_compose.LEAST_PAIRS_QUICK) if not check.ok}


def test_every_check_can_fail():
    runs = good()
    assert failed(runs) == set()
    assert failed([replace(runs[0], findings=("x",)), *runs[1:]]) == {"int.findings"}
    assert failed([replace(runs[0], failure="kernel fault 13"), *runs[1:]]) == {"int.failed"}
    assert failed([replace(runs[0], book_faults=1), *runs[1:]]) == {"int.book_faults"}
    assert failed([replace(runs[0], episodes=1), *runs[1:]]) == {"steps"}
    assert failed([replace(one, followers={}) for one in runs]) == {"pairs"}


def test_a_kernel_that_stops_is_made_to_stop_by_less():
    booted = []

    def boot(arguments, timeout):
        booted.append(arguments)
        stops = "episodes=9" in arguments or int(arguments.split("keep=")[1], 0) & 2
        return outcome("compose: episode 0\ncompose: episode 1\n" + "cobnut: kernel fault 3\n" * bool(stops))

    done = composed.look("x", 5, 9, boot, lambda arguments: f"boot {arguments}")
    assert done.failure == "kernel fault 3"
    assert done.again == ("boot seed=5 first=1 episodes=1 keep=0x2",)
    assert len(booted) == 2 + composed.STEPS_EACH


@pytest.mark.parametrize(("tags", "kernel"), [(True, ""), (False, "--set tags=off ")])
def test_the_commands_that_repeat_a_finding_on_arm_have_the_kernel(tags, kernel):
    found = boards.find("collie")
    command = attack_compose_arm.replay(found if tags else found.standard, "seed=1 keep=0x3")
    assert command == f'./cobnut boot {kernel}--board collie --sanitize --root "compose seed=1 keep=0x3"'


def test_the_commands_that_repeat_a_finding_have_the_variants_options():
    command = attack_compose.VARIANTS[4].replay("seed=1 first=2 episodes=1 keep=0x3")
    assert '--append "small=64 revocation=eager"' in command and "area=64" in command and "--cpu pentium " in command
