# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the os layer is in the server: its files are linked one behind the other."""

import re
from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.linux.patching import OVERLAY
from cobnut.symbols import Symbols

FOLDER = OVERLAY / "arch" / "um" / "os-Cobnut"
# a function's definition, as these files have it: its name stands on a line without indentation that ends no statement
DEFINITION = re.compile(r"^(?!static)[A-Za-z][\w \t*]*?\b(\w+)\([^;]*$", re.MULTILINE)
MOST_BYTES = 0x8000  # more is not the os layer alone


def functions(folder: Path = FOLDER) -> set[str]:
    """The names of its functions that no other file of Linux can have."""
    return {name for path in sorted(folder.glob("*.c")) for name in DEFINITION.findall(path.read_text())}


def addresses(server: Path) -> range:
    """From its first function to behind its last one, without what only its start needs."""
    symbols = Symbols(server)
    loop = symbols.address("userspace")
    text = next(section for section in symbols.code if section.address <= loop < section.end)
    in_text = range(text.address, text.end)
    ours = [symbols.addresses[name] for name in functions() if symbols.addresses.get(name, 0) in in_text]
    end = next((start for start in symbols.starts if start > max(ours)), text.end)
    found = range(min(ours), end)
    if len(found) > MOST_BYTES:
        raise CobnutError(f"{server}: the os layer's functions are not together: {found.start:#x} to {found.stop:#x}")
    return found
