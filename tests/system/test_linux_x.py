# SPDX-License-Identifier: GPL-2.0-or-later
"""An X server of Debian's in Linux as a server, with clients of Debian's: x11perf says how fast it is, and Doom's
pictures and sound are those that it has natively.
"""

import hashlib
import re
import shutil

import pytest
from guest_programs import GUESTS, compiled

from cobnut.linux import stroll
from conftest import run_cobnut

COMMAND = """
Xvfb :0 -screen 0 640x640x24 -noreset 2>/dev/null &
until [ -S /tmp/.X11-unix/X0 ]; do kill -0 $! || exit 1; sleep 1; done
x11perf -display :0 -repeat 1 -reps 20 -dot -pointer -prop -getimage10 2>&1
"""
OBJECTS = {"Dot": 20_000, "GetImage 10x10 square": 80, "QueryPointer": 20, "GetProperty": 20}


@pytest.mark.parametrize("small", ["none", "all"])
def test_x11perf_has_its_requests_answered(small):
    done = run_cobnut("linux", "--image", "x", "--small", small, "--run", COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^ *(\d+) reps @ +[\d.]+ msec \( *([\d.]+)/sec\): (.+)$", done.stdout, re.MULTILINE)
    assert {name: int(count) for count, _, name in rows} == OBJECTS, done.stdout
    assert all(float(rate) > 0 for _, rate, _ in rows)


TICS, SHOWN = 20, 18  # of a stroll, and the last ones that are compared: the first picture comes by the clock
SHOT_AT, TICS_OF_SHOT = 20, 75
# A sound begins when it does, with one of the mixer's buffers, between silence, which is zeros. The game sets its
# volume after it has started it: the first buffers can have been mixed before, at full volume.
BUFFER, MIXED_EARLY = 4096, 8
PLAYED = f"""
. ./doom.sh && display_serves -extension MIT-SHM || exit
./relay {SHOWN} &
until [ -S /tmp/.X11-unix/X1 ]; do sleep 0.1; done
DISPLAY=:1 timed stroll >/dev/null 2>&1 || exit
SDL_AUDIODRIVER=disk SDL_DISKAUDIOFILE=/tmp/sound played -nodraw -playdemo shot >/dev/null 2>&1 || exit
begins=$(($(cmp /tmp/sound /dev/zero | sed 's/.*differ: [a-z]* \\([0-9]*\\),.*/\\1/') - 1))
tail -c +$(((begins / {BUFFER} + {MIXED_EARLY}) * {BUFFER} + 1)) /tmp/sound | tr -d '\\0' | md5sum
"""


@pytest.fixture(scope="module")
def doom(tmp_path_factory):
    """The files of a guest with Doom: two sessions, and what looks at its pictures."""
    folder = tmp_path_factory.mktemp("doom")
    shutil.copy(GUESTS / "doom.sh", folder)
    compiled("relay", folder)
    (folder / "stroll.lmp").write_bytes(stroll.demo(TICS))
    (folder / "shot.lmp").write_bytes(stroll.demo(TICS_OF_SHOT, {SHOT_AT}, walks=False, monsters=False))
    return folder


def test_doom_looks_and_sounds_as_natively(doom):
    said = []
    for words in (("--kernel", "native"), ("--small", "all")):
        done = run_cobnut("linux", "--image", "doom", "--files", str(doom), "--run", PLAYED, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append(done.stdout.splitlines())
    native, server = said
    pictures, sound = native
    assert pictures.startswith(f"{SHOWN} images, {SHOWN}, "), "no picture is as the one before"
    assert hashlib.md5(b"").hexdigest() not in sound
    assert server == native
