# SPDX-License-Identifier: GPL-2.0-or-later
"""What is started here may take processor time, not time that passes: on a busy machine that says nothing. Limits are
`run_limited` and `process.Limit`, and what is built on these.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import sources

WAITING = {"wait", "join", "result", "acquire"}  # methods whose argument is how long they wait
ALWAYS = {"settimeout", "alarm", "setitimer", "setdefaulttimeout"}
CLOCKS = {"monotonic", "monotonic_ns", "time", "time_ns", "perf_counter", "perf_counter_ns"}
# whose `timeout` is processor time, by how they are called; what they hand on is looked at where they are
PROCESSOR_TIME = {
    "qemu.run",
    "qemu_arm.run",
    "bochs.run",
    "bochs.trace",
    "stress.boot",
    "stress_arm.boot",
    "runner.sanitized",
    "runner.run",
}
# what may look at the clock, and why
ALLOWED = {
    "lab/cobnut/process.py": "the limit itself looks every second, and ends what sleeps for minutes",
    "lab/cobnut/emulators/__init__.py": "`boot --seconds`: the time that a person is willing to look on",
    "lab/cobnut/emulators/qemu.py": "the same",
    "lab/cobnut/debugging.py": "an emulator that was told to end, and is killed if it does not",
    "tests/system/frames.py": "a frame that may be lost is sent again, as often as it takes",
    "tests/command/test_signals.py": "a process that should have ended uses no processor time",
}


def by_the_clock(text: str) -> list[str]:
    """The limits in `text` that a busy machine reaches sooner."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(text)) if _limits(node)]


def _limits(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _waits(node)
    if isinstance(node, ast.Compare):  # a deadline is over, or not
        return any(map(_reads_a_clock, ast.walk(node)))
    if isinstance(node, ast.BinOp):  # a deadline is set
        return isinstance(node.op, ast.Add) and any(map(_reads_a_clock, (node.left, node.right)))
    return False


def _waits(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    method = name.rpartition(".")[2]
    if any(one.arg == "timeout" for one in call.keywords):
        return name not in PROCESSOR_TIME
    return method in ALWAYS or ("." in name and method in WAITING and any(map(_seconds, call.args)))


def _seconds(argument: ast.AST) -> bool:
    """Whether it is a number, or a constant that says so by its name."""
    if isinstance(argument, ast.Constant):
        return isinstance(argument.value, (int, float)) and not isinstance(argument.value, bool)
    return isinstance(argument, ast.Name) and ("SECONDS" in argument.id.upper() or "TIMEOUT" in argument.id.upper())


def _reads_a_clock(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in CLOCKS:
        return False
    return isinstance(node.func.value, ast.Name) and node.func.value.id == "time"


def python() -> Iterator[Path]:
    """All that is Python here, of tests, of the command and of the laboratory."""
    return (path for path in sources.code(".py") if path.parts[0] in (".ci", "lab", "tests"))


def test_nothing_is_limited_by_the_clock():
    found = {str(path): limits for path in python() if (limits := by_the_clock("\n".join(sources.lines(path))))}
    assert {path: limits for path, limits in found.items() if path not in ALLOWED} == {}
    assert found.keys() == ALLOWED.keys(), "an exception that nobody needs any more"
    assert len([path for path in python() if path.parts[0] == "lab"]) > 100


def test_such_a_limit_is_noticed():
    for limit in (
        "subprocess.run(command(), text=True, timeout=300)",
        "run(command, timeout=SECONDS)",
        "process.communicate(timeout=seconds)",
        "running.wait(60)",
        "thread.join(TIMEOUT_SECONDS)",
        "connection.settimeout(5)",
        "signal.alarm(60)",
        "time.monotonic() + 60",
        "time.monotonic() - start < LIMIT",
        "end >= time.time()",
    ):
        assert by_the_clock(limit) == [limit]
    for other in (
        "qemu.run(what, timeout=60)",
        "subprocess.run(command, check=True)",
        "running.wait()",
        "', '.join(names)",
        "os.path.join(folder, name)",
        "time.monotonic() - start",
    ):
        assert by_the_clock(other) == []
