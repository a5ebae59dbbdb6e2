# SPDX-License-Identifier: GPL-2.0-or-later
"""The counts of switches between spaces, however high, do not decide which page directory a space runs on.

gdb presets them, since reaching such counts takes hours, and checks at each tick whether the running space's directory
is that of its host.
"""

import re

import pytest

from conftest import run_cobnut

# With automatic=off nothing else reads the counts. Above a count there may be a flag, which stays.
PRESET = """
tick = gdb.Breakpoint("slots::look", internal=True)
tick.silent = True
left = 6
while left:
    gdb.execute("continue", to_string=True)
    spaces = [f"((Space*){address_of(space)})->arch" for space in all_spaces()]
    running = current() and gdb.parse_and_eval(f"((Thread*){current()})->space->arch.host")
    if running and running != processor()["host"]:
        print("a space runs on another's directory")
    if len(spaces) < SPACES or not all(int(gdb.parse_and_eval(f"{space}.partner")) for space in spaces[2:]):
        continue  # the threads that talk are still to come
    left -= 1
    for space in spaces if left == 5 else []:
        gdb.execute(f"set {space}.switches |= 0x7fffffff")
        gdb.execute(f"set {space}.free_switches = 0")
tick.delete()
gdb.execute("continue")
"""


@pytest.mark.parametrize("sysenter", ["on", "off"])
@pytest.mark.parametrize(("pair", "servers"), [("small_small", 1), ("small_large", 2)])
def test_a_count_that_wraps_changes_nobodys_directory(tmp_path, pair, servers, sysenter):
    script = tmp_path / "preset.py"
    script.write_text(PRESET.replace("SPACES", str(3 + servers)))
    program = f"pingpong pair={pair} servers={servers} slot=16 rounds=30000"
    done = run_cobnut(
        "boot", "--gdb", "--append", f"automatic=off sysenter={sysenter}", "--ex", f"source {script}", "--root", program
    )
    assert re.search(r"^pingpong: done$", done.stdout, re.MULTILINE), done.stdout[-2000:] + done.stderr
    assert "another's directory" not in done.stdout
