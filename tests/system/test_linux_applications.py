# SPDX-License-Identifier: GPL-2.0-or-later
"""Web servers, a database and a compiler of Debian's in Linux as a server: pages, rows and objects are the right ones,
and a crowd of connections is served. Longer: `./cobnut test long linux/crowd`.
"""

import os
import re
import shutil

import pytest
from guest_programs import GUESTS

from cobnut import linux_guest
from cobnut.emulators import qemu
from cobnut.experiments import compiling, linux_programs
from cobnut.linux import fastcgi, guest
from cobnut.linux.guest import Wish
from conftest import LIMIT_SECONDS, run_cobnut

CONNECTIONS = int(os.environ.get("CROWD", "300"))
CROWD_MB = 512  # with 224, Linux has too little memory for 10,000
ANSWER_SECONDS = 30  # of the guest's time
MADE = "'/hello?5' 'hello world, of 5 pages\n'"
STORED = "/page 'a page\n'"


@pytest.fixture
def web(tmp_path):
    """The files of a guest with web servers and their client."""
    for path in (GUESTS / "web.sh", linux_guest.program("visitor"), fastcgi.ensure()):
        shutil.copy2(path, tmp_path)
    (tmp_path / "page").write_text("a page\n")
    return tmp_path


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_web_servers_have_the_right_pages(web, small):
    command = (
        f". ./web.sh && lighttpd_serves && ./visitor 8080 3 lighttpd {MADE} {STORED}"
        f" && apache_serves && ./visitor 8081 3 apache {MADE} {STORED} && echo all visited"
    )
    done = run_cobnut("linux", "--image", "web", "--files", str(web), "--small", small, "--run", command)
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (0, ["apache 1 done", "all visited"]), done.stderr


def test_a_crowd_of_connections_is_served(web, tmp_path_factory):
    """By a clock that goes with the instructions, however busy the machine is. What is asked for is a file: a FastCGI
    server with one process cannot take so many at once.
    """
    visitor = f"./visitor 8080 crowd {CONNECTIONS} {ANSWER_SECONDS} {STORED}"
    wish = Wish("web", f". ./web.sh && lighttpd_serves && {visitor}", web, memory_mb=CROWD_MB)
    boot = guest.prepare(wish, tmp_path_factory.mktemp("boot"))
    ended = qemu.run(boot, timeout=LIMIT_SECONDS * max(1, CONNECTIONS // 1000), repeatable=True)
    found = re.search(r"(\d+) connections, (\d+) refused, (\d+) answers, longest (\S+) s", ended.console)
    assert found, ended.console
    assert tuple(map(int, found.groups()[:3])) == (CONNECTIONS, 0, 3 * CONNECTIONS)
    assert float(found[4]) < ANSWER_SECONDS


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_a_database_has_the_right_rows(tmp_path, small):
    shutil.copy(GUESTS / "database.sh", tmp_path)
    made = "create database d; use d; create table t(a int primary key, b int);"
    command = f""". ./database.sh && database_serves
        asked "{made} insert into t select seq, seq * seq from seq_1_to_1000"
        asked "use d; select b from t where a in (3, 77, 1000); select count(*), sum(b) from t;"
        asked "use d; begin; delete from t where a > 10; rollback; update t set b = 0 where a = 3; select sum(b) from t"
        """
    done = run_cobnut("linux", "--image", "database", "--files", str(tmp_path), "--small", small, "--run", command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["9", "5929", "1000000", "1000\t333833500", "333833491"], done.stdout


def test_this_kernel_is_made_as_natively(tmp_path):
    """A part of it; `./cobnut run uhlig02/make` builds more."""
    linux_programs.write_files(tmp_path, compiling.tree())
    command = "make -s FOLDERS=boot && md5sum kernel.o"
    placements = (["--kernel", "native"], ["--small", "none"], ["--small", "server"], ["--small", "all"])
    words = ["--image", compiling.MAKER, "--files", str(tmp_path), "--run", command]
    done = [run_cobnut("linux", *words, *placement) for placement in placements]
    assert [one.returncode for one in done] == [0, 0, 0, 0], done
    assert len({one.stdout for one in done}) == 1 and "kernel.o" in done[0].stdout
