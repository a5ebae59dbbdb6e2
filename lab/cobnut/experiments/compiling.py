# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's gcc compiling under Linux, natively and as a server: what three experiments have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from cobnut import paths, tables
from cobnut.checks import Check
from cobnut.experiments import Lab, linux_programs
from cobnut.experiments.linux_programs import COUNTED, WARMUP, Peer, Work
from cobnut.linux import images
from cobnut.results import Result, Series

NAME, IMAGE = "compile", "compiler"
SOURCE = images.FOLDER / "forks.c"  # 56 lines, with eight of the C library's headers
QUICK = b"int main(void) { return 0; }\n"

TREE, MAKER, MAKEFILE = "make", "build", images.FOLDER / "tree.mk"
FOLDERS = ("boot", "slots", "pc", "ia32", "core")  # of kernel/, that MAKEFILE builds
QUICK_SOURCE = "kernel/pc/clock.cpp"
TREE_SECONDS = 3600  # of the emulator's processor time
SUM = "kernel.o has "  # and its sum, as the guest prints it


def run(lab: Lab, names: Sequence[str], judge: Callable[[Mapping[str, Peer]], Iterable[Check]]) -> Result:
    """Boots each of the peers, with the file compiled twice: the second time it is measured, and judged."""
    peers = measure(lab, names)
    return result(lab, peers, [*judge(peers), *linux_programs.judge_peers(peers, 1)])


def result(lab: Lab, peers: Mapping[str, Peer], checks: Iterable[Check]) -> Result:
    return linux_programs.result(lab, peers, series_of(peers), checks)


def measure(lab: Lab, peers: Sequence[str], boots: int = 1) -> dict[str, Peer]:
    compiled = f"gcc -O2 -c {SOURCE.name} -o /tmp/object || exit 1"
    command, loops = linux_programs.in_turns(NAME, compiled)
    source = QUICK if lab.quick else SOURCE.read_bytes()
    return linux_programs.measure(
        lab, Work(None, command, loops, WARMUP, files={SOURCE.name: source}, image=IMAGE), peers, boots
    )


def measure_tree(lab: Lab, peers: Sequence[str]) -> dict[str, Peer]:
    """The first `folders` of FOLDERS with the kernel's assembler files, made once: all files have been read before.
    With --quick it is one file.
    """
    folders = " ".join(FOLDERS[: lab.settings["folders"]])
    part = f"SOURCES={QUICK_SOURCE} ASSEMBLY=" if lab.quick else f"FOLDERS='{folders}'"
    read = "cat kernel/*/* kernel/*/*/* /usr/bin/* /usr/lib/gcc/*/*/cc1* >/dev/null"
    turns, loops = linux_programs.in_turns(TREE, f"make -s {part} || exit 1", first=read)
    command = f"{turns}; echo {SUM}$(md5sum <kernel.o)"
    work = Work(None, command, loops, WARMUP, files=tree(), image=MAKER, seconds=TREE_SECONDS)
    return linux_programs.measure(lab, work, peers)


def tree() -> dict[str, bytes]:
    """The files of the kernel for PCs that are compiled, and what make is told of them."""
    given = [path for folder in FOLDERS for path in (paths.ROOT / "kernel" / folder).rglob("*") if path.is_file()]
    files = {str(path.relative_to(paths.ROOT)): path.read_bytes() for path in given}
    return {"Makefile": MAKEFILE.read_bytes(), **files}


def kernels_made(peers: Iterable[Peer]) -> set[str]:
    """The sums of what was made: one, if all have made the same."""
    return {line.removeprefix(SUM).split()[0] for peer in peers for line in peer.console.splitlines() if SUM in line}


def series_of(peers: Mapping[str, Peer], name: str = NAME) -> list[Series]:
    """Of a compilation, by kernel."""
    names = list(peers)
    turns = [peer.loops[name] for peer in peers.values()]
    return [Series(what, unit, names, [one.count(what) for one in turns]) for what, unit in COUNTED]


def show(result: Result) -> None:
    tables.show_rows(result, "a compilation", [what for what, _ in COUNTED])
