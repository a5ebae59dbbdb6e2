# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig8`: frames of Doom on an X server: natively, and with Linux as a server, with the X server in a large
space or in a small one.

Both are Debian's programs as they are. Of two strolls, one of which is longer, the difference is its frames alone.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, Rule, at_most, exactly, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, SERVERS, Peer, Printed, Work
from cobnut.experiments.x_clients import COUNTED, MORE_THAN_SMALL, PAPERS, PEERS, Drawn, drawn
from cobnut.linux import images, stroll
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

IMAGE, SCRIPT = "doom", "doom.sh"
ONCE = 5  # frames of the stroll that is taken off the other
# what the game is told, and says of it when it is about to set up the level: the session has another skill
SKILLS = 1, 2
WARM = 3  # of a stroll before both, after which all pages of files are in memory
MOST_SLOWER = 1.01  # in small spaces, times large ones
# what is gained of frames a second, or saved of misses, as published
PUBLISHED: Mapping[str, Rule] = {
    "frames": reproduces(published.U02_DOOM_GAIN),
    "itlb_misses": reproduces(published.U02_DOOM_ITLB_SAVED),
    "dtlb_misses": reproduces(published.U02_DOOM_DTLB_SAVED, (0.015, 0.025), "2 %, told to a percent"),
}


def run(lab: Lab) -> Result:
    """Boots each kernel with the X server, and has the game play both strolls."""
    frames, boots = lab.settings["frames"], lab.settings["boots"]
    peers = linux_programs.measure(lab, work(frames), PAPERS if lab.quick else PEERS, boots)
    found = {name: each(peer, frames) for name, peer in peers.items()}
    checks = list(judge(found))
    for name, peer in peers.items():
        checks += linux_programs.judge_peer(peer, boots)
        shown = peer.console.count(f"timed {ONCE + frames} gametics")
        checks.append(SHEET.judge(f"{name}.played", shown, exactly(boots)))
    ledger = [LedgerRow(name, None, 1, "cycles", dict(one.ledger), one.cycles) for name, one in found.items()]
    emulator = f"{lab.emulator}, {linux_programs.versions()}"
    return lab.result(series_of(found), checks, ledger, emulator=emulator)


def name_of(tics: int) -> str:
    return f"stroll{tics}"


def work(frames: int) -> Work:
    """The X server, and the strolls: the game says when it has started, and when all frames were shown."""
    lengths = (ONCE, ONCE + frames)
    loops = tuple(
        Printed(name_of(tics), f"startskill {skill - 1} ", f"timed {tics} gametics")
        for skill, tics in zip(SKILLS, lengths, strict=True)
    )
    runs = zip((WARM, *SKILLS), (ONCE, *lengths), strict=True)
    played = " && ".join(f"timed {name_of(tics)} -skill {skill}" for skill, tics in runs)
    start = f". ./{SCRIPT} && display_serves"
    demos = {f"{name_of(tics)}.lmp": stroll.demo(tics) for tics in lengths}
    return Work(
        None,
        f"{start} && {played}",
        loops,
        warmup=0,
        files={SCRIPT: (images.FOLDER / SCRIPT).read_bytes(), **demos},
        image=IMAGE,
        commands={SERVERS: f"{start} && {MORE_THAN_SMALL} && {played}"},
    )


def each(peer: Peer, frames: int) -> Drawn:
    """A frame of those that one stroll has more than the other."""
    once, often = (peer.loops[name_of(tics)].region for tics in (ONCE, ONCE + frames))
    return drawn(once, often, frames)


def judge(found: Mapping[str, Drawn]) -> Iterator[Check]:
    """What an X server in a small space gains, and that it loses nowhere."""
    large, small = (found[name] for name in PAPERS)
    yield SHEET.judge("gain.frames", large.cycles / small.cycles - 1, PUBLISHED["frames"], large=large, small=small)
    for counter in ("itlb_misses", "dtlb_misses"):
        before, after = (one.counted[counter] for one in (large, small))
        yield SHEET.judge(f"saved.{counter}", 1 - after / before, PUBLISHED[counter], before=before, after=after)
    for name in (SERVERS, ALL):
        if name in found:
            yield SHEET.judge(f"{name}.small", found[name].cycles / large.cycles, at_most(MOST_SLOWER))
            without = found[name].without_caches / large.without_caches
            yield SHEET.judge(f"{name}.without_caches", without, at_most(MOST_SLOWER))


def series_of(found: Mapping[str, Drawn]) -> list[Series]:
    names = list(found)
    return [Series(what, unit, names, [found[name].counted[what] for name in names]) for what, unit in COUNTED.items()]


def show(result: Result) -> None:
    tables.show_rows(result, "a frame", list(COUNTED))


EXPERIMENT = Experiment(
    name="uhlig02/fig8",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "frames": Setting(200, 100, range(10, 10_001), "that are measured, behind the stroll's first ones"),
        "boots": linux_programs.BOOTS,
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
