# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's gcc compiling a file under Linux, natively and as a server: what two experiments have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from cobnut import tables
from cobnut.checks import Check
from cobnut.experiments import Lab, linux_programs
from cobnut.experiments.linux_programs import COUNTED, WARMUP, Peer, Work
from cobnut.linux import images
from cobnut.results import Result, Series

NAME, IMAGE = "compile", "compiler"
SOURCE = images.FOLDER / "forks.c"  # 56 lines, with eight of the C library's headers
QUICK = b"int main(void) { return 0; }\n"


def run(lab: Lab, names: Sequence[str], judge: Callable[[Mapping[str, Peer]], Iterable[Check]]) -> Result:
    """Boots each of the peers, with the file compiled twice: the second time it is measured, and judged."""
    peers = measure(lab, names)
    checks = [*judge(peers), *linux_programs.judge_peers(peers, 1)]
    return linux_programs.result(lab, peers, series_of(peers), checks)


def measure(lab: Lab, peers: Sequence[str]) -> dict[str, Peer]:
    compiled = f"gcc -O2 -c {SOURCE.name} -o /tmp/object || exit 1"
    command, loops = linux_programs.in_turns(NAME, compiled)
    source = QUICK if lab.quick else SOURCE.read_bytes()
    return linux_programs.measure(
        lab, Work(None, command, loops, WARMUP, files={SOURCE.name: source}, image=IMAGE), peers
    )


def series_of(peers: Mapping[str, Peer]) -> list[Series]:
    """Of a compilation, by kernel."""
    names = list(peers)
    turns = [peer.loops[NAME] for peer in peers.values()]
    return [Series(what, unit, names, [one.count(what) for one in turns]) for what, unit in COUNTED]


def show(result: Result) -> None:
    tables.show_rows(result, "a compilation", [what for what, _ in COUNTED])
