# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/guides/writing-a-server.md, from top to bottom: its commands, and its files as it shows them."""

import os
import re

from conftest import ROOT, run_cobnut, run_limited

GUIDE = (ROOT / "docs" / "guides" / "writing-a-server.md").read_text()
STEP = re.compile(r"```sh\n(?P<commands>.*?)```|`(?P<file>tally/[\w.]+)`:\n\n```\w+\n(?P<text>.*?)```", re.DOTALL)
CHECKS_SAID = re.compile(r"^(ok|FAIL) (.*)$", re.MULTILINE)


def said(folder, command: str) -> str:
    """What a command of the guide says; it has to succeed."""
    if command.startswith("./cobnut "):
        done = run_cobnut(*command.split()[1:], cwd=folder)
    else:
        done = run_limited(["sh", "-c", command], cwd=folder, env=dict(os.environ))
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout.replace("\r", "")


def test_each_step_works_as_it_is_written(tmp_path):
    checks = []
    files = []
    for step in STEP.finditer(GUIDE):
        if step["file"]:
            files.append(step["file"])
            (tmp_path / step["file"]).write_text(step["text"])
            continue
        for command in step["commands"].splitlines():
            console = said(tmp_path, command)
            checks.append([name for verdict, name in CHECKS_SAID.findall(console) if verdict == "ok"])
            assert "FAIL" not in console
    first = GUIDE.split("```\nok ")[1].split("```")[0]
    assert checks[1] == [name for _, name in CHECKS_SAID.findall("ok " + first)] != []
    assert files == ["tally/tally.h", "tally/server.cc", "tally/test.cc", "tally/place.toml"]
    assert [len(each) for each in checks] == [0, 4, 5, 5, 5, 10], checks
    assert re.search(r"^ +1 tally +running .* 1 +0 ", console, re.MULTILINE), console


def test_the_compiler_asks_for_what_the_interface_promises(tmp_path):
    """As the guide says between the interface and the server."""
    said(tmp_path, "./cobnut new server tally")
    interface = next(step for step in STEP.finditer(GUIDE) if step["file"] == "tally/tally.h")
    (tmp_path / "tally/tally.h").write_text(interface["text"])
    done = run_limited(["make", "-C", "tally"], cwd=tmp_path, env=dict(os.environ))
    assert done.returncode and "no matching function" in done.stdout + done.stderr


def test_a_name_with_a_mark_becomes_one_of_cxx(tmp_path):
    done = run_cobnut("new", "server", str(tmp_path / "night-lamp_2"))
    assert done.returncode == 0, done.stderr
    made = tmp_path / "night-lamp_2"
    assert sorted(done.stdout.splitlines()) == sorted(str(path) for path in made.iterdir())
    assert "struct NightLamp2 {" in (made / "night-lamp_2.h").read_text()
    assert not any("tally" in path.read_text().lower() for path in made.iterdir())
    assert "init: the system ends with code 0" in said(made, "make run")
