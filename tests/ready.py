# SPDX-License-Identifier: GPL-2.0-or-later
"""The command, started from a process that has imported it: a start costs a fork, where importing everything anew is
0.3 to 0.5 s of processor time, in some hundreds of tests.

A call has its own process, arguments, environment, folder and streams, as from a shell; what comes before `cli.main` is
all that it does without: the launcher and the imports, for which `conftest.run_launched` is there. That no call begins
with what another one has left behind follows from the fork.
"""

import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "lab")]

from cobnut import process

LARGEST_REQUEST = 1 << 20
# what the launcher gives Python
LAUNCHERS = {"PYTHONPATH": str(ROOT / "lab"), "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache")}


@dataclass(frozen=True)
class Call:
    """A call of the command under way."""

    pid: int

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class Ready:
    """The process, which ends with this one."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=os.environ | LAUNCHERS,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def run(self, arguments: list[str], folder: Path, seconds: float, env: dict[str, str]) -> process.Ended:
        """Calls the command as `process.run_limited` does."""
        request = json.dumps({"arguments": arguments, "folder": str(folder), "env": env | LAUNCHERS}).encode()
        answers, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with _written() as out, _written() as errors, answers:
            with theirs:
                socket.send_fds(self._requests, [request], [theirs.fileno(), out.fileno(), errors.fileno()])
            with process.Limit(Call(int(answers.recv(64))), seconds) as limit:
                status = int(answers.recv(64))
            out.seek(0)
            errors.seek(0)
            return process.Ended(status, out.read(), errors.read(), limit.reached)

    def used_seconds(self) -> float:
        """Processor time of all calls."""
        return process.processor_seconds(self._process.pid)


def _written() -> IO[str]:
    """A file for what a call writes, to be read as `process.run_limited` reads a pipe."""
    return tempfile.TemporaryFile("w+", errors="replace")


def _take_calls(requests: socket.socket) -> None:
    """Forks for each request, and tells the caller the process's identifier and its status. Returns in the forked ones
    alone, ready to call `cli.main`.
    """
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.data:
                pid, answers = key.data
                selector.unregister(key.fd)
                os.close(key.fd)
                answers.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())
                answers.close()
                continue
            request, files, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 3)
            if not request:
                sys.exit()
            pid = os.fork()
            if pid == 0:
                _become(json.loads(request), *files)
                return
            answers = socket.socket(fileno=files[0])
            answers.send(str(pid).encode())
            list(map(os.close, files[1:]))
            selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


def _become(request: dict[str, Any], answers: int, out: int, errors: int) -> None:
    """What a call is that a request describes."""
    os.dup2(out, 1)
    os.dup2(errors, 2)
    list(map(os.close, (answers, out, errors)))
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["cobnut", *request["arguments"]]


if __name__ == "__main__":
    from cobnut import cli, experiments

    experiments.all_experiments()
    gc.freeze()  # what is there already needs no collector, neither later nor when a call ends
    _take_calls(socket.socket(fileno=int(sys.argv[1])))
    cli.main()
