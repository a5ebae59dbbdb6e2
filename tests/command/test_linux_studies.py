# SPDX-License-Identifier: GPL-2.0-or-later
"""What studies of Linux make of what its programs print and of what the plugin counts. No emulator runs."""

from dataclasses import replace

import pytest

import made_up
from cobnut import machines, published, results
from cobnut.checks import alternatives, exactly, judge
from cobnut.errors import CobnutError
from cobnut.experiments import (
    compiling,
    find,
    haertig97_aim,
    haertig97_compile,
    haertig97_lmbench,
    linux_programs,
    talking_linux,
    uhlig02_catwc,
    uhlig02_fig7,
    uhlig02_fig8,
    uhlig02_fig9,
    uhlig02_gcc,
    uhlig02_mysql,
    uhlig02_table3,
    uhlig02_table5,
)
from cobnut.experiments.haertig97_lmbench import ROWS, Row, operation
from cobnut.experiments.linux_programs import Peer, Turns
from cobnut.experiments.talking_graph import GLOBAL
from cobnut.experiments.uhlig02_table3 import REQUESTS
from cobnut.linux import stroll
from cobnut.results import Result, Series

# as lmbench prints it, by the name of the row
SAID = {
    "null": ("Simple syscall: 0.3151 microseconds\n", 0.3151),
    "mmap": ("1.048576 326\n", 326),
    "file_create_delete": ("0k\t32\t20000\t50000\n1k\t20\t7968\t24064\n", 50 + 20),
    "bw_file_rd": ("1.05 500.00\n", 2000),
}


def row(name: str) -> Row:
    return next(one for one in ROWS if one.name == name)


def console(one: Row, *runs: str) -> str:
    """What the guest says while it executes the row's script."""
    return "".join(f"{one.begins}\n{said}" for said in runs) + f"{one.ends}\nthe rest 9.99 microseconds\n"


@pytest.mark.parametrize("name", SAID)
def test_a_figure_of_lmbench_is_that_of_its_last_run(name):
    said, microseconds = SAID[name]
    one = row(name)
    assert one.figure(console(one, "Simple syscall: 7 microseconds\n", "", said)) == pytest.approx(microseconds)


def test_a_program_that_says_nothing_is_told():
    with pytest.raises(CobnutError, match="'lat_syscall null' has not said what it measured: mkdir: no space"):
        row("null").figure(console(row("null"), SAID["null"][0], "mkdir: no space\n"))


def test_rows_are_told_apart_by_what_the_guest_prints():
    texts = [text for one in ROWS for text in (one.begins, one.ends)]
    assert len({one.name for one in ROWS}) == len(ROWS)
    assert not any(a in b for a in texts for b in texts if a is not b)
    assert not any(".." in text or "," in text for text in texts), "what the plugin takes for something else"


def test_a_row_is_run_to_get_warm_then_once_and_then_more_often():
    lines = row("pipe").script(5).splitlines()
    assert [line.split()[2] for line in lines if line.startswith("/bin")] == ["1", "1", "5"]
    assert lines.count(f"echo {row('pipe').begins}") == 3 and lines[-1] == f"echo {row('pipe').ends}"


def test_cycles_of_an_operation_are_those_of_the_turns_without_the_start():
    """A start of 1,000 instructions at 9 cycles, and turns at 2."""
    once, often = 1_000 + 500, 1_000 + 2_500
    counted = {
        "instructions_kernel": [once - 300, often - 300],
        "instructions_user": [300, 300],
        "cycles": [9_000 + 1_000, 9_000 + 5_000],
    }
    turns = Turns("small", "null", {"per_iteration": counted}, {}, [])
    said = console(row("null"), "", "", "Simple syscall: 4.00 microseconds\n")
    found = operation(row("null"), Peer("small", {"null": turns}, said, ()))
    assert (found.instructions, found.cycles) == (250, 500)


def test_the_text_is_the_same_each_time_and_as_long_as_it_was_asked_for():
    text = uhlig02_catwc.text(100_000)
    assert len(text) == 100_000 and text == uhlig02_catwc.text(100_000)
    assert 2_000 < text.count(b"\n") < 5_000 and max(map(len, text.split(b"\n"))) < 130


def test_every_row_has_a_limit():
    found = {
        kernel: {"null": haertig97_lmbench.Operation(cycles, 1.0)}
        for kernel, cycles in (("native", 100), ("small", 240), ("large", 260))
    }
    verdicts = {check.name: check.verdict for check in haertig97_lmbench.judge_row("null", found)}
    assert verdicts == {"small.null": "ok", "large.null": "failed"}


def compiled(name, count, faults=0):
    """A compilation that has so many of everything that is counted."""
    counted = {counter: [count] for counter in ("cycles", "itlb_misses", "dtlb_misses")}
    region = {"per_iteration": counted, "ledger": {"limit_fault": faults}, "iterations": 1}
    return Peer(name, {"compile": Turns(name, "compile", region, {}, [])}, "", ())


@pytest.mark.parametrize(("after", "verdict"), [(99, "ok"), (96, "failed"), (103, "failed")])
def test_a_compilation_saves_no_more_than_the_paper_says(after, verdict):
    checks = uhlig02_gcc.judge_savings({"small": compiled("small", 100), "all": compiled("all", after)})
    assert {check.verdict for check in checks} == {verdict}


def test_kernels_that_were_made_are_told_apart():
    peers = [
        Peer(name, {}, f"warning\r\nkernel.o has {total}  -\r\n", ()) for name, total in (("a", "1f"), ("b", "1f"))
    ]
    assert compiling.kernels_made(peers) == {"1f"}
    assert compiling.kernels_made([*peers, Peer("c", {}, "kernel.o has 2e  -\n", ())]) == {"1f", "2e"}


def test_a_compilation_may_take_as_much_more_as_the_papers():
    peers = {"native": compiled("native", 100), "large": compiled("large", 140, 31), "small": compiled("small", 107)}
    found = {check.name: check.ok for check in haertig97_compile.judge_times(peers)}
    assert found == {
        "small.times": True,
        "small.without_faults": True,
        "large.times": False,
        "large.without_faults": False,
    }


def loaded(name, cycles, faults=0):
    """A peer under which each of two loads takes so much."""
    region = {"per_iteration": {"cycles": [cycles]}, "ledger": {"limit_fault": faults}, "iterations": 1}
    return Peer(name, {load: Turns(name, load, region, {}, []) for load in ("load1", "load2")}, "", ())


def test_loads_double_and_all_of_them_are_judged_together():
    assert haertig97_aim.loads_of(1) == [1] and haertig97_aim.loads_of(8) == haertig97_aim.loads_of(9) == [1, 2, 4, 8]
    peers = {"native": loaded("native", 100), "large": loaded("large", 120, 10), "small": loaded("small", 108)}
    found = {check.name: check.ok for check in haertig97_aim.judge_loads([1, 2], peers)}
    assert found == {
        "small.times": True,
        "small.without_faults": True,
        "large.times": False,
        "large.without_faults": False,
    }


def counted(name, cycles, misses=0, refilled=0):
    """A peer under which each loop of web servers and of a database takes so much of ten requests or queries."""
    row = {"cycles": [cycles], "dtlb_misses": [misses], "itlb_misses": [misses]}
    region = {"per_iteration": row, "ledger": {"cache_refill": refilled, "write_back": 0}, "iterations": 1}
    loops = [uhlig02_fig7.loop(server, 0) for server in uhlig02_fig7.SERVERS]
    loops += [one.name for one in uhlig02_mysql.SELECTS]
    return Peer(name, {loop: Turns(name, loop, region, {}, []) for loop in loops}, "", ())


def test_what_small_spaces_gain_a_web_server_and_its_misses_are_of_a_request():
    peers = {"small": counted("small", 1055, 2700), "all": counted("all", 1000)}
    found = {check.name: (check.measured, check.ok) for check in uhlig02_fig7.judge((0,), 10, peers)}
    assert found == {
        "lighttpd.gain": (pytest.approx(0.055), True),
        "lighttpd.small.0": (pytest.approx(1 / 1.055), True),
        "lighttpd.without_caches.0": (pytest.approx(1 / 1.055), True),
        "apache.gain": (pytest.approx(0.055), False),
        "apache.small.0": (pytest.approx(1 / 1.055), True),
        "apache.without_caches.0": (pytest.approx(1 / 1.055), True),
        "apache.dtlb_misses": (270, True),
        "apache.itlb_misses": (270, True),
    }


def test_a_database_in_small_spaces_gains_for_simple_queries_alone_and_is_never_slower():
    peers = {"small": counted("small", 1030), "all": counted("all", 1000)}
    found = {check.name: check.ok for check in uhlig02_mysql.judge(peers)}
    assert [name for name, ok in found.items() if not ok] == ["complex.gain"]
    slower = uhlig02_mysql.judge({"small": counted("small", 1000), "all": counted("all", 1011)})
    assert not any(check.ok for check in slower if not check.name.endswith(".gain"))
    caches = uhlig02_mysql.judge({"small": counted("small", 1000), "all": counted("all", 1100, refilled=100)})
    assert all(check.ok for check in caches if check.name.endswith(".without_caches"))


def test_what_web_servers_and_their_client_say_tells_loops_apart():
    texts = [
        f"{uhlig02_fig7.said(server, number)} {what}"
        for server in uhlig02_fig7.SERVERS
        for number in range(len(uhlig02_fig7.PAGES))
        for what in ("now", "done")
    ]
    assert not any(a in b for a in texts for b in texts if a is not b)


def test_spaces_of_linux_are_called_by_the_processes_that_were_in_them():
    graph = talking_linux.graph_of(made_up.talking())
    both = "sh 7 a.b 8"
    assert graph.times == {(both, "server"): 10, ("server", both): 10, ("server", "cat 9"): 10, (both, "root"): 10}
    assert graph.successions == {("sh 7", "cat 9"): 2, ("cat 9", "a.b 8"): 1}
    assert (graph.unknown, graph.total) == (10, 50), "nobody has been in one of them"
    assert graph.groups["server"] == GLOBAL and graph.groups[both] != graph.groups["cat 9"] >= 0
    series = {one.name: dict(zip(one.x, one.y, strict=True)) for one in talking_linux.series_of("shell", graph)}
    assert series["shell.process"]["a.b 8"] == graph.groups[both]
    assert series["shell.cluster"] == {"server": None, "root": None, both: 0, "cat 9": 0}


def test_the_server_of_linux_is_in_all_hosts_and_switches_are_known():
    found = {check.name: (check.measured, check.ok) for check in uhlig02_fig9.judge_linux("shell", made_up.talking())}
    assert found == {
        "linux.shell.known": (0.8, False),
        "linux.shell.with_server": (0.6, False),
        "linux.shell.global": (1, True),
        "linux.shell.cr3_writes": (0.06, False),
    }


@pytest.mark.parametrize("more", [20, 30, 100, 200])
def test_tests_of_x11perf_are_told_apart_by_what_it_prints(more):
    """x11perf puts blanks before each number, and none of these lines may be taken for another one."""
    loops = [loop for request in REQUESTS for loop in request.loops(more)]
    for one in loops:
        printed = (f"    {one.first} @   0.1 msec ( 9.0/sec): Dot", f"    {one.behind} @   0.1 msec ( 9.0/sec): Dot")
        matched = [text for line in printed for other in loops for text in (other.first, other.behind) if text in line]
        assert matched == [one.first, one.behind]


def asked(name, per_object, more=20):
    """What a kernel has to show of a request that takes so many cycles for an object, beside 1,000 for a turn."""
    request = next(one for one in REQUESTS if one.name == name)
    loops = {}
    for n, loop in zip(request.repetitions(more), request.loops(more), strict=True):
        cycles = [1_000 + n * request.objects * per_object] * uhlig02_table3.MEASURED + [7]
        ledger = {"instructions": sum(cycles)}
        region = {"per_iteration": {"cycles": cycles}, "ledger": ledger, "iterations": uhlig02_table3.TURNS}
        loops[loop.name] = Turns("small", loop.name, region, {}, [])
    return uhlig02_table3.each(request, more, Peer("small", loops, "", ()))


@pytest.mark.parametrize("name", ["dot", "image"])
def test_an_object_has_nothing_of_what_is_around_the_repetitions(name):
    found = asked(name, 200)
    assert found.cycles == 200 and found.ledger == {"instructions": 200}


@pytest.mark.parametrize(("large", "verdict"), [(1132, "ok"), (1090, "failed"), (1170, "failed")])
def test_a_request_gains_what_the_paper_says(large, verdict):
    found = {"small": {"pointer": asked("pointer", large)}, "servers": {"pointer": asked("pointer", 1000)}}
    checks = {check.name: check for check in uhlig02_table3.judge_request("pointer", found)}
    assert checks["pointer.gain"].verdict == verdict
    assert not checks["pointer.cycles.small"].ok and not checks["pointer.cycles.servers"].ok


def framed(name, per_frame, misses, refilled=0, frames=10):
    """A frame of Doom that takes so much, beside 5,000 cycles for the game's start."""
    loops = {}
    for tics in (uhlig02_fig8.ONCE, uhlig02_fig8.ONCE + frames):
        row = {counter: [tics * misses] for counter in ("itlb_misses", "dtlb_misses")}
        row |= {"cycles": [5_000 + tics * per_frame]}
        ledger = {"cache_refill": tics * refilled, "write_back": 0}
        ledger["instructions"] = 5_000 + tics * (per_frame - refilled)
        region = {"per_iteration": row, "ledger": ledger, "iterations": 1}
        loops[uhlig02_fig8.name_of(tics)] = Turns(name, "stroll", region, {}, [])
    return uhlig02_fig8.each(Peer(name, loops, "", ()), frames)


def test_strolls_are_told_apart_by_what_the_game_prints():
    """Each of the three starts says its skill, and no text of one is in a line of another."""
    work = uhlig02_fig8.work(30)
    said = [f"startskill {skill - 1}  deathmatch: 0" for skill in (uhlig02_fig8.WARM, *uhlig02_fig8.SKILLS)]
    assert [sum(loop.first in line for line in said) for loop in work.loops] == [1, 1]
    assert [loop.behind for loop in work.loops] == ["timed 5 gametics", "timed 35 gametics"]
    assert all(f"-skill {skill}" in work.command for skill in uhlig02_fig8.SKILLS)


def test_a_frame_has_nothing_of_the_games_start():
    found = framed("small", 200, 3)
    assert (found.cycles, found.counted["itlb_misses"], found.ledger["instructions"]) == (200, 3, 200)


def test_a_frame_gains_and_misses_what_the_paper_says():
    found = {"small": framed("small", 1060, 100), "servers": framed("servers", 1000, 37)}
    checks = {check.name: (check.measured, check.ok) for check in uhlig02_fig8.judge(found)}
    assert checks == {
        "gain.frames": (pytest.approx(0.06), True),
        "saved.itlb_misses": (pytest.approx(0.63), True),
        "saved.dtlb_misses": (pytest.approx(0.63), False),
        "servers.small": (pytest.approx(1 / 1.06), True),
        "servers.without_caches": (pytest.approx(1 / 1.06), True),
    }
    slower = {"small": framed("small", 1000, 9), "servers": framed("servers", 1020, 9, refilled=20)}
    checks = {check.name: check.ok for check in uhlig02_fig8.judge(slower)}
    assert not checks["servers.small"] and checks["servers.without_caches"]


def booted(cycles, ledger, switch, doubts=()):
    """A boot in which a loop took so much, and whose refills are charged to the one switch that it saw."""
    switches = [{"from": "a", "to": "b", "how": switch, "at": None}]
    cause = {"category": "cache_refill", "kind": "flushed", "switch": 0, "refills": 1, "cycles": ledger}
    region = {
        "case": 0,
        "iterations": 1,
        "per_iteration": {"cycles": [cycles]},
        "ledger": {"cache_refill": ledger, "write_back": 0},
        "cycles_total": cycles,
        "cycles_per_iteration": [cycles],
        "space": "a",
        "spaces": ["a"],
        "causes": [cause],
    }
    turns = Turns("all", "key", region, {"os": {"cycles": [cycles]}}, switches)
    return Peer("all", {"key": turns}, "shown\n", tuple(doubts))


def test_boots_of_a_kernel_are_turns_of_one():
    one = linux_programs.joined([booted(900, 100, "cr3"), booted(950, 170, "segments", ["?"]), booted(990, 120, "cr3")])
    turns = one.loops["key"]
    assert (turns.iterations, turns.cycles, turns.own("os")) == (3, 950, 950), "the median"
    assert turns.without_caches == pytest.approx((800 + 780 + 870) / 3), "the mean, as the ledger is"
    assert [charge.how for charge in turns.row().causes] == ["cr3", "segments", "cr3"]
    assert one.doubts == ("?",) and one.console.count("shown") == 3
    alone = booted(900, 100, "cr3")
    assert linux_programs.joined([alone]) is alone


def test_boots_of_a_kernel_differ_in_the_files_before_the_others(monkeypatch):
    found = []

    def prepared(wish, folder):
        found.append((wish.small, {path.name: path.stat().st_size for path in (folder / "files").iterdir()}))
        raise CobnutError("nothing is booted")

    monkeypatch.setattr(linux_programs.guest, "prepare", prepared)
    lab = made_up.lab(uhlig02_mysql.EXPERIMENT)
    work = linux_programs.Work(None, "true", (), 0, files={"text": b"x"})
    for number in range(3):
        with pytest.raises(CobnutError, match="nothing is booted"):
            linux_programs._measured(lab, work, "all", number)
    sizes = [files.get(linux_programs.PADDING, 0) for _, files in found]
    assert len(set(sizes)) == 3 and sizes[0] == 0 and all(files["text"] == 1 for _, files in found)


def test_a_stroll_is_as_long_as_it_was_asked_for_and_ends():
    assert [len(stroll.demo(tics)) for tics in (0, 1, 40)] == [14, 18, 174]
    shot = stroll.demo(3, {1}, walks=False, monsters=False)
    assert shot == bytes([109, 2, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]) + bytes(7) + b"\x01" + bytes(4) + b"\x80"
    moves = {tic[0:3] for tic in zip(*[iter(stroll.demo(60)[13:-1])] * 4, strict=True)}
    assert moves == {(25, 0, 0), (25, 0, 2)}


def of_checks(**measured):
    """A result with such checks."""
    made = [judge(name, value, "", exactly(0), "") for name, value in measured.items()]
    return Result("x", None, results.provenance(), [], made, [])


def test_a_row_of_the_table_is_what_its_experiment_measures():
    calls, pings = (row for row in uhlig02_table5.ROWS if row.name in ("linux", "sawmill"))
    found = of_checks(**{"getpid.gain": 1.7, "read_4k.gain": 1.4, "getpid.large": 9, "write_4k.gain": None})
    assert calls.measured(found) == pytest.approx([0.7, 0.4])
    assert pings.measured(of_checks(saved=0.18, **{"large.cycles": 7})) == [0.18]
    checks = {check.name: check.ok for check in uhlig02_table5.judge(calls, [0.7, 0.4], True)}
    assert checks == {"linux.least": True, "linux.most": True}
    assert [check.ok for check in uhlig02_table5.judge(pings, [], True)] == [False], "nothing was measured"


@pytest.mark.parametrize(("value", "oks"), [(0.18, [True, True]), (0.08, [False, True]), (-0.02, [False, False])])
def test_on_another_machine_than_the_papers_small_spaces_only_have_to_lose_nothing(value, oks):
    pings = next(row for row in uhlig02_table5.ROWS if row.name == "sawmill")
    checks = [next(uhlig02_table5.judge(pings, [value], is_papers)) for is_papers in (True, False)]
    assert [check.ok for check in checks] == oks


def test_each_row_names_checks_that_its_experiment_declares():
    for row in uhlig02_table5.ROWS:
        sheet = find(row.experiment).sheet
        declared = [one for name in sheet.names for one in alternatives(name)]
        assert set(row.checks) <= set(declared), row.name
    assert [row.name for row in uhlig02_table5.ROWS] == list(published.U02_TABLE5)


def of_series(**series):
    """A result with series over the names that their values have."""
    made = [Series(name.replace("__", "."), "", list(values), list(values.values())) for name, values in series.items()]
    return Result("x", None, results.provenance(), made, [], [])


def row_of(name):
    return next(row for row in uhlig02_table5.ROWS if row.name == name)


def test_loads_of_the_table_are_read_from_curves_over_kernels_and_over_sizes():
    past = {"getpid__limit_faults": {"native": 0, "large": 2, "small": 1}}
    calls = of_series(getpid__cycles={"native": 100, "large": 220, "small": 110, "all": None}, **past)
    (one,) = row_of("linux").taken(calls, 9)
    assert one.cycles == {"native": 100, "large": 220, "small": 110}
    assert one.without_faults == {"native": 100, "large": 202, "small": 101}
    faults = {"apache__native__limit_faults": {0: 0, 32: 0}, "apache__small__limit_faults": {0: 2, 32: 3}}
    pages = of_series(apache__native={0: 100, 32: 200}, apache__small={0: 130, 32: 230}, **faults)
    found = row_of("apache").taken(pages, 10)
    assert [one.cycles for one in found] == [{"native": 100, "small": 130}, {"native": 200, "small": 230}]
    assert [one.without_faults for one in found] == [{"native": 100, "small": 110}, {"native": 200, "small": 200}]


def test_no_load_of_a_row_may_lose_by_small_spaces():
    pages = row_of("apache")

    def slower(*all_small):
        after = dict(enumerate(all_small))
        curves = of_series(apache__small=dict.fromkeys(after, 1000), apache__all=after)
        return uhlig02_table5.judge_slower(pages, pages.taken(curves, 0))

    assert slower(900, 1009).ok and slower(900, 1009).measured == pytest.approx(1.009)
    assert not slower(900, 1011).ok
    assert not slower().ok, "nothing was measured"


def test_all_rows_together_may_be_a_twentieth_behind_native_and_one_that_was_not_measured_there_does_not_count():
    def checks(web, calls):
        kernels = {"native": 100, "small": web}
        taken = {
            row_of("gcc"): [uhlig02_table5.Taken(kernels, {"native": 100, "small": 100})],
            row_of("linux"): [uhlig02_table5.Taken({"native": 10, "small": calls}, {"native": 10, "small": calls})],
            row_of("doom"): [uhlig02_table5.Taken({"small": 1, "servers": 7}, {})],
        }
        return {check.name: (check.measured, check.ok) for check in uhlig02_table5.judge_behind(taken)}

    assert checks(121, 10) == {
        "behind.cycles": (pytest.approx(1.1), False),
        "behind.without_faults": (pytest.approx(1), True),
    }
    assert checks(104, 10.4)["behind.cycles"] == (pytest.approx(1.04), True)


def test_a_row_whose_experiment_ends_in_an_error_was_not_measured_and_the_others_are(monkeypatch, capsys):
    def found(lab):
        if lab.experiment == "uhlig02/gcc":
            raise CobnutError("the compiler had not ended")
        return of_checks(**{name: 0.1 for row in uhlig02_table5.ROWS for name in row.checks})

    def one(name):
        return replace(find(name), run=found)

    monkeypatch.setattr(uhlig02_table5.experiments, "find", one)

    def measured(only):
        return uhlig02_table5.run(made_up.lab(uhlig02_table5.EXPERIMENT, only=uhlig02_table5.ONLY.index(only)))

    result = measured("all")
    checks = {check.name: check.measured for check in result.checks}
    assert (checks["gcc"], checks["doom"]) == (None, 0.1)
    assert "uhlig02/gcc: the compiler had not ended" in capsys.readouterr().out
    assert "behind.cycles" in checks
    assert "behind.cycles" not in {check.name for check in measured("doom").checks}, "it is about all rows"


def test_what_else_a_rows_experiment_checks_must_not_have_failed():
    result = of_checks(saved=0.0, doubts=3.0, turns=0.0)
    check = uhlig02_table5.judge_experiment(row_of("gcc"), result)
    assert (check.measured, check.ok) == (1, False) and check.why.endswith(" doubts")
    assert uhlig02_table5.judge_experiment(row_of("gcc"), of_checks(saved=0.0)).ok
    assert not uhlig02_table5.judge_experiment(row_of("gcc"), of_checks()).ok, "it has found nothing"


def test_a_fault_past_a_limit_takes_what_the_machine_says_or_was_told():
    lab = replace(made_up.lab(uhlig02_table5.EXPERIMENT), model=machines.load("pentium4-1400"))
    assert uhlig02_table5.fault_cycles(lab) == 500 + 610
    assert uhlig02_table5.fault_cycles(replace(lab, overrides={"entry.fault_cycles": "400"})) == 400 + 610
