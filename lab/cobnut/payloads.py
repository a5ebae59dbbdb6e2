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
FAULT = re.compile(r"^root: (\S+): ended: .*, ip ([0-9a-f]{8})$", re.MULTILINE)
END = re.compile(r"^root: (\S+): (?:finished with code (-?\d+)|ended: |not started: )", re.MULTILINE)
FAILED = 1  # the code of a program that did not end by itself
CODES = range(1, 128)  # those that a run can end with


def fault_places(console: str, modules: Sequence[Module]) -> list[str]:
    """For each program that was ended for a fault where it was: function, file and line, innermost first."""
    lines = []
    for name, ip in FAULT.findall(console.replace("\r", "")):
        module = _called(name, modules)
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


def _called(name: str, modules: Sequence[Module]) -> Module | None:
    """The program of this name; None where it could be one of several files."""
    found = {module.path: module for module in modules if _is_called(module, name)}
    if len(found) > 1 and not any(given_names(module) for module in found.values()):
        # of files that are called alike the first keeps its name, and others get a number before it (emulators.stage)
        first, *others = found.values()
        found = {module.path: module for module in ([first] if name == staged_name(first) else others)}
    return next(iter(found.values())) if len(found) == 1 else None


def given_names(module: Module) -> list[str]:
    """What name=NAME among its arguments says."""
    return [word.removeprefix("name=") for word in module.arguments.split() if word.startswith("name=")]


def _is_called(module: Module, name: str) -> bool:
    """Whether root calls the program so: by name=NAME among its arguments, else by its file's name."""
    given = given_names(module)
    plain = staged_name(module)
    return name in given if given else name == plain or re.fullmatch(rf"\d+-{re.escape(plain)}", name) is not None
