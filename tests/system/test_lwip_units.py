# SPDX-License-Identifier: GPL-2.0-or-later
"""lwIP's own unit tests, of the source that `network` is built from, on this machine."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cobnut import lwip, packages

# what a port declares (lwip's doc/sys_arch.txt), for a program of this machine
PORT = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#define LWIP_TIMEVAL_PRIVATE 0
#define LWIP_ERRNO_STDINCLUDE 1
#define LWIP_PLATFORM_DIAG(x) do { printf x; } while (0)
#define LWIP_PLATFORM_ASSERT(x) do { puts(x); abort(); } while (0)
#define LWIP_RAND() ((u32_t)rand())
"""
PARTS = ("src/core", "src/api", "src/apps/mdns", "src/apps/mqtt", "test/unit")
LEAST = 100  # checks


def test_lwips_own_tests(tmp_path: Path):
    packages.ensure(packages.LWIP_TEST_TOOLS)
    source = lwip.ensure()
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch/cc.h").write_text(PORT)
    (tmp_path / "config.h").touch()  # of the library `check`, which has nothing to say
    folders = [f"-I{folder}" for folder in (source / "test/unit", source / "src/include", tmp_path)]
    files = [source / "src/netif/ethernet.c", *(file for part in PARTS for file in (source / part).rglob("*.c"))]
    objects = [tmp_path / f"{number}.o" for number in range(len(files))]

    def compiled(file: Path, to: Path) -> None:
        subprocess.run(["gcc", "-w", "-O1", *folders, "-c", str(file), "-o", str(to)], check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compiled, files, objects))
    libraries = ("-lcheck", "-lsubunit", "-lm", "-lrt", "-lpthread")
    subprocess.run(["gcc", "-o", "units", *map(str, objects), *libraries], cwd=tmp_path, check=True)
    done = subprocess.run(["./units"], cwd=tmp_path, capture_output=True, text=True, check=False)
    said = re.search(r"100%: Checks: (\d+), Failures: 0, Errors: 0", done.stdout)
    assert said and done.returncode == 0, done.stdout
    assert int(said[1]) >= LEAST
