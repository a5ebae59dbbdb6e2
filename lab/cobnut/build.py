# SPDX-License-Identifier: GPL-2.0-or-later
"""Building: images with CMake and Ninja, the laboratory with cargo. Both decide for themselves what is out of date."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from cobnut import crates, littlefs, lwip, packages, paths, progress
from cobnut.boards import ARM, BOARDS, IA32, Board
from cobnut.process import alone, run_logged


def images(board: Board) -> None:
    """Builds the kernel and the programs of `board`."""
    packages.ensure(packages.BUILD_TOOLS, packages.ARM_TOOLS if board.processor is ARM else ())
    _cmake(board.name, f"building for {board.folder.name}")
    if board.definitions:
        folder = board.kernel_folder
        _cmake(board.name, f"building for {folder.name}", folder, board.definitions, target="cobnut-kernel")


def all_images() -> None:
    """Builds them for all boards, and the standard kernels of those that have one."""
    for board in BOARDS.values():
        images(board)
        if board.processor is ARM:
            images(board.standard)


def network(board: Board) -> None:
    """Builds the TCP/IP server for `board`, whose other programs are built, with a source of lwIP that is fetched, and
    for the PC the program that has all of it in one space.
    """
    targets = ("network", "single") if board.processor is IA32 else ("network",)
    _with_source(board, targets, f"COBNUT_LWIP:PATH={lwip.ensure()}")


def store(board: Board) -> None:
    """Likewise the file server that writes, with a source of littlefs."""
    _with_source(board, ("store",), f"COBNUT_LITTLEFS:PATH={littlefs.ensure()}")


def _with_source(board: Board, programs: Sequence[str], named: str) -> None:
    """Builds `programs` of servers/, of whose folders the first needs a source, which CMake has by `named`."""
    folder = board.folder
    with alone(paths.LOCKS / folder.name):
        known = named in (folder / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        if not known or f"servers/{programs[0]}/" not in (folder / "build.ninja").read_text(encoding="utf-8"):
            run_logged(["cmake", "-B", str(folder), f"-D{named}"], f"configure-{folder.name}.log")
        run_logged(["cmake", "--build", str(folder), "--target", *programs], f"build-{folder.name}.log")


def host_tests() -> None:
    """Builds the unit tests of the kernel's hardware-free parts."""
    packages.ensure(packages.BUILD_TOOLS, packages.UNIT_TEST_TOOLS)
    _cmake("host", "building the unit tests")


def fuzzers() -> None:
    """Builds the libFuzzer targets of the same parts."""
    packages.ensure(packages.BUILD_TOOLS, packages.FUZZING_TOOLS)
    _cmake("fuzz", "building the fuzzers")


def lab() -> None:
    """Builds the laboratory: the emulator's plugin, the replayer and the machine-file tool."""
    packages.ensure_rust()
    packages.ensure(packages.BUILD_TOOLS)  # cargo links with gcc
    manifest = paths.LAB / "Cargo.toml"
    command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        str(manifest),
        "--target-dir",
        str(paths.CARGO_TARGET),
    ]
    if paths.PLUGIN.exists():
        run_logged(command, "cargo.log")
        return
    with progress.meter("building the laboratory") as meter:

        def line_seen(line: str) -> None:
            meter.advance(note=_crate(line))

        crates.seed("build", line_seen)
        run_logged(command, "cargo.log", line_seen=line_seen)


def everything(board: Board) -> None:
    """What an experiment needs."""
    images(board)
    lab()


def _cmake(
    preset: str, title: str, folder: Path | None = None, definitions: Sequence[str] = (), *, target: str = "all"
) -> None:
    """Builds `target` in `folder`, by default the preset's own."""
    folder = folder or paths.BUILD / preset
    log = f"build-{folder.name}.log"
    with alone(paths.LOCKS / folder.name):
        if not (folder / "build.ninja").exists():
            configure = ["cmake", "--preset", preset, "-B", str(folder), *definitions]
            run_logged(configure, f"configure-{folder.name}.log")
        plan = ["cmake", "--build", str(folder), "--target", target]
        if (folder / ".ninja_log").exists() and not sys.stderr.isatty():
            run_logged(plan, log)
            return
        with progress.meter(title) as meter:

            def line_seen(line: str) -> None:
                match = re.match(r"\[(\d+)/(\d+)\]", line)
                if match:
                    meter.total(int(match.group(2)))
                    meter.advance()

            run_logged(plan, log, line_seen=line_seen)


def _crate(line: str) -> str:
    match = re.match(r"\s*Compiling (\S+)", line)
    return match.group(1) if match else ""
