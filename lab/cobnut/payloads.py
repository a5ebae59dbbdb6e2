# SPDX-License-Identifier: GPL-2.0-or-later
"""What our root server says on the console about the programs that it started: how each ended, and where in its source
one was that was ended for a fault.
"""

import re
from collections.abc import Sequence

from cobnut.emulators import staged_name
from cobnut.modules import Module
from cobnut.symbols import places

# user/root/main.cc
FAULT = re.compile(r"^root: (\S+): ended: .*, ip ([0-9a-f]{8}), thread (\d+)$", re.MULTILINE)
END = re.compile(r"^root: (\S+): (?:finished with code (-?\d+)|ended: |not started: )", re.MULTILINE)
FAILED = 1  # the code of a program that did not end by itself
CODES = range(1, 128)  # those that a run can end with
# Thread numbers: the kernel gives sigma0 the first of users' (kernel/core/kip.hpp), root has the next but one, and root
# gives the modules behind it the following ones. So the second and later modules of a boot have this plus their place.
BEFORE_ROOT = 48 + 1


def fault_places(console: str, modules: Sequence[Module]) -> list[str]:
    """For each program that was ended for a fault where it was: function, file and line, innermost first."""
    lines = []
    for name, ip, thread in FAULT.findall(console.replace("\r", "")):
        module = _started_as(int(thread), name, modules)
        found = places(module.path, int(ip, 16)) if module else []
        lines += [f"{name}: {'in' if index == 0 else 'called by'} {place}" for index, place in enumerate(found)]
    return lines


def status(console: str, modules: Sequence[Module]) -> int:
    """The code of the first program, in the order of the modules, that did not end with 0, as root itself takes it."""
    codes: dict[str, int] = {}
    for name, code in END.findall(console.replace("\r", "")):
        codes.setdefault(name, 0)
        codes[name] = codes[name] or (int(code) if code and int(code) in (0, *CODES) else FAILED)
    ordered = [name for module in modules for name in codes if _is_called(module, name)]
    return next((codes[name] for name in ordered if codes[name]), 0)


def _started_as(thread: int, name: str, modules: Sequence[Module]) -> Module | None:
    """The module of a boot that root started as this thread; None where that has another name: it was not our root."""
    place = thread - BEFORE_ROOT
    return modules[place] if 1 < place < len(modules) and _is_called(modules[place], name) else None


def given_names(module: Module) -> list[str]:
    """What name=NAME among its arguments says."""
    return [word.removeprefix("name=") for word in module.arguments.split() if word.startswith("name=")]


def _is_called(module: Module, name: str) -> bool:
    """Whether root calls the program so: by name=NAME among its arguments, else by its file's name."""
    given = given_names(module)
    plain = staged_name(module)
    return name in given if given else name == plain or re.fullmatch(rf"\d+-{re.escape(plain)}", name) is not None
