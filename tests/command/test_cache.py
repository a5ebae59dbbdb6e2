# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept outside the checkout: what its names depend on, and that nothing half made or broken is ever used."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cobnut import cache, crates, environment, linux_guest, paths
from cobnut.cache import Recipe

RECIPE = Recipe("thing", {"version": "1"})
# a process that makes an entry: it says so, takes its time and adds a line to the file that is its argument
MAKER = """
import sys, time
from pathlib import Path
from cobnut import cache
def make(folder, entry):
    print("making", flush=True)
    time.sleep(float(sys.argv[2]))
    (folder / "file").write_text("made")
    with open(sys.argv[1], "a") as log:
        log.write("made\\n")
print(cache.get(cache.Recipe("thing", {"version": "1"}), make))
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The cache's folder, which is not there yet; what would be below build/ is made elsewhere, too."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "INSIDE", tmp_path / "inside")
    return tmp_path / "cache"


def write(folder: Path, entry: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/file").write_text("whole")


def refuse(folder: Path, entry: Path) -> None:
    pytest.fail("it was made again")


def start_maker(log: Path, seconds: float) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(paths.LAB)}
    command = [sys.executable, "-c", MAKER, str(log), str(seconds)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_what_was_made_once_is_found_again(folder):
    entry = cache.get(RECIPE, write)
    assert entry.parent == folder and (entry / "sub/file").read_text() == "whole"
    assert cache.get(RECIPE, refuse) == entry
    assert sorted(path.name for path in folder.iterdir()) == ["lock", entry.name]


def test_names_follow_from_what_goes_in():
    others = [Recipe("thing", {"version": "2"}), Recipe("thing", {"edition": "1"}), Recipe("other", {"version": "1"})]
    assert len({recipe.name for recipe in [RECIPE, *others]}) == 4
    assert Recipe("thing", {"a": "1", "b": "2"}).name == Recipe("thing", {"b": "2", "a": "1"}).name


def test_the_packages_depend_on_requirements_and_interpreter(monkeypatch, tmp_path):
    names = {environment.recipe().name}
    monkeypatch.setattr(sys, "version", "4.0")
    names.add(environment.recipe().name)
    (tmp_path / "requirements.txt").write_text("pytest==0.1\n")
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    names.add(environment.recipe().name)
    assert len(names) == 3


def test_crates_depend_on_lock_file_manifests_compiler_flags_and_command(monkeypatch, tmp_path):
    lab = tmp_path / "lab"
    (lab / "one").mkdir(parents=True)
    for name in ("Cargo.lock", "Cargo.toml", "one/Cargo.toml"):
        (lab / name).write_text("")
    names = {crates.recipe(purpose, lab).name for purpose in crates.COMMANDS}
    for name in ("Cargo.lock", "Cargo.toml", "one/Cargo.toml"):
        (lab / name).write_text("changed")
        names.add(crates.recipe("build", lab).name)
    monkeypatch.setenv("RUSTFLAGS", "-C target-cpu=native")
    names.add(crates.recipe("build", lab).name)
    monkeypatch.setattr(crates, "_said", lambda *command: "rustc 2.0")
    names.add(crates.recipe("build", lab).name)
    assert len(names) == 8


def test_packages_are_installed_by_a_python_that_has_none():
    code = f"import sys; sys.path.insert(0, {str(paths.LAB)!r}); import cobnut.environment"
    # neither the packages of the project's own Python nor what the user has: as on a machine that has never seen it
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], check=True)


def test_the_linux_guest_depends_on_what_is_asked_for(monkeypatch):
    before = linux_guest.recipe().name
    monkeypatch.setattr(linux_guest, "RELEASE", "trixie")
    assert linux_guest.recipe().name != before


BROKEN = ("missing", "cut", "no contents", "bad contents", "no files in contents", "contents of another kind")


@pytest.mark.parametrize("harm", BROKEN)
def test_a_broken_entry_is_made_again(harm):
    entry = cache.get(RECIPE, write)
    match harm:
        case "missing":
            (entry / "sub/file").unlink()
        case "cut":
            (entry / "sub/file").write_text("who")
        case "no contents":
            (entry / cache.CONTENTS).unlink()
        case "bad contents":
            (entry / cache.CONTENTS).write_text('{"files"')
        case "no files in contents":
            (entry / cache.CONTENTS).write_text('{"inputs": {}}')
        case "contents of another kind":
            (entry / cache.CONTENTS).write_text("[]")
    assert cache.get(RECIPE, write) == entry
    assert (entry / "sub/file").read_text() == "whole"


def test_what_could_not_be_finished_is_no_entry(folder):
    def fail(folder: Path, entry: Path) -> None:
        write(folder, entry)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        cache.get(RECIPE, fail)
    assert [path.name for path in folder.iterdir()] == ["lock"]
    cache.get(RECIPE, write)


def test_what_a_killed_process_left_is_thrown_away(folder, tmp_path):
    killed = start_maker(tmp_path / "log", 1000)
    assert killed.stdout is not None and killed.stdout.readline() == "making\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert any(path.name.startswith(cache.UNFINISHED) for path in folder.iterdir())
    entry = cache.get(RECIPE, write)
    assert sorted(path.name for path in folder.iterdir()) == ["lock", entry.name]


def test_of_two_at_once_one_makes_it_and_the_other_waits(tmp_path):
    log = tmp_path / "log"
    first = start_maker(log, 1)
    assert first.stdout is not None and first.stdout.readline() == "making\n"
    second = start_maker(log, 1)
    cache.prune(tmp_path / "cache")  # no other process takes it away from its maker
    said = [process.communicate()[0].strip() for process in (first, second)]
    assert [process.returncode for process in (first, second)] == [0, 0]
    assert said[0] == said[1] and log.read_text() == "made\n"


@pytest.mark.parametrize("place", ["a file", "read only", "no home", "no lock"])
def test_where_nothing_can_be_written_entries_are_below_build(monkeypatch, tmp_path, folder, place):
    match place:
        case "a file":
            folder.write_text("")
        case "read only":
            monkeypatch.setenv(cache.VARIABLE, "/proc/cobnut")  # not even root makes one there
        case "no lock":  # as where the one that is there is another user's
            (folder / "lock" / RECIPE.name).mkdir(parents=True)
        case "no home":
            for name in (cache.VARIABLE, "XDG_CACHE_HOME", "HOME"):
                monkeypatch.delenv(name, raising=False)
    entry = cache.get(RECIPE, write)
    assert entry.parent == tmp_path / "inside" and cache.shared() == (place == "no lock")
    assert cache.get(RECIPE, refuse) == entry


def test_an_entry_that_can_only_be_read_is_used(monkeypatch, folder):
    entry = cache.get(RECIPE, write)
    shutil.rmtree(folder / "lock")
    (folder / "lock").touch()  # so that no process can lock or make one here
    monkeypatch.setattr(os, "utime", lambda *_: (_ for _ in ()).throw(PermissionError()))
    assert cache.get(RECIPE, refuse) == entry


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({"COBNUT_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/cobnut"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/cobnut"),
        ({"HOME": "/h"}, "/h/.cache/cobnut"),
        ({}, None),
    ],
)
def test_where_it_is(monkeypatch, variables, found):
    for name in (cache.VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache.outside() == (Path(found) if found else None)


def test_old_ones_go_when_another_is_made(folder):
    old, kept = cache.get(RECIPE, write), cache.get(Recipe("thing", {"version": "2"}), write)
    (folder / "not-ours").mkdir()
    for path in (old / cache.CONTENTS, folder / "not-ours"):
        long_ago = time.time() - (cache.KEPT_DAYS + 1) * cache.DAY_SECONDS
        os.utime(path, (long_ago, long_ago))
    new = cache.get(Recipe("thing", {"version": "3"}), write)
    assert {path.name for path in folder.iterdir()} == {"lock", "not-ours", kept.name, new.name}


def test_use_keeps_an_old_one(folder):
    entry = cache.get(RECIPE, write)
    os.utime(entry / cache.CONTENTS, (0, 0))
    cache.get(RECIPE, refuse)
    cache.prune(folder)
    assert entry.exists()


def test_all_of_it_can_be_thrown_away_by_command(cobnut, folder):
    entry = cache.get(RECIPE, write)
    (folder / "not-ours").mkdir()
    there = {cache.VARIABLE: str(folder)}
    assert f"{entry}: 0 MB, used 0 days ago\n" in cobnut("cache", env=there).stdout
    assert entry.exists()
    assert cobnut("cache", "--clear", env=there).returncode == 0
    assert {path.name for path in folder.iterdir()} == {"lock", "not-ours"}


def test_a_workspace_without_code_has_every_crate_of_the_laboratory(tmp_path):
    crates.write_workspace(tmp_path)
    for manifest in paths.LAB.glob("*/Cargo.toml"):
        copy = tmp_path / manifest.relative_to(paths.LAB)
        assert copy.read_text() == manifest.read_text()
        roots = {path.name for path in (manifest.parent / "src").glob("*.rs")} & {"lib.rs", "main.rs"}
        assert roots == {path.name for path in (copy.parent / "src").iterdir()} != set()
    assert (tmp_path / "Cargo.lock").read_text() == (paths.LAB / "Cargo.lock").read_text()
