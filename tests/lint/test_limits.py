# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test starts may take processor time, not time that passes: on a busy machine that says nothing. Limits are
`run_limited` and `process.Limit`.
"""

import re
from pathlib import Path

import sources

BY_THE_CLOCK = re.compile(
    r"(?:subprocess\.run|check_output|check_call)\([^()]*(?:\([^()]*\)[^()]*)*\btimeout=|\.(?:wait|join)\([\d.]+\)"
    r"|communicate\([^()]*timeout=|settimeout\("
)


def by_the_clock(text: str) -> list[str]:
    """The limits in `text` that a busy machine reaches sooner."""
    return [" ".join(match.group().split()) for match in BY_THE_CLOCK.finditer(text)]


def test_nothing_is_limited_by_the_clock():
    tests = [
        path for path in sources.code(".py") if path.parts[0] == "tests" and path != Path("tests/lint/test_limits.py")
    ]
    found = {str(path): limits for path in tests if (limits := by_the_clock("\n".join(sources.lines(path))))}
    assert len(tests) > 50 and found == {}


def test_such_a_limit_is_noticed():
    assert by_the_clock("subprocess.run(command(),\n    text=True, timeout=300)\nrunning.wait(60)") == [
        "subprocess.run(command(), text=True, timeout=",
        ".wait(60)",
    ]
    assert by_the_clock("qemu.run(what, timeout=60)\nsubprocess.run(command, check=True)\nrunning.wait()") == []
