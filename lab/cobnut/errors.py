# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that a user is meant to see."""

import difflib
from collections.abc import Iterable


class CobnutError(Exception):
    """What kept a command from doing its work, as one line that names the thing at fault.

    The command line prints it on stderr without a traceback and exits with status 2. A check of an experiment that
    fails is not an error: it is a result, and exits with status 1.
    """


def unknown(what: str, name: str, known: Iterable[str]) -> CobnutError:
    """The error for a name that is not among the `known` ones, with the known one that it looks like."""
    known = list(known)
    return CobnutError(f"unknown {what} '{name}' ({meant(name, known)}known: {', '.join(known) or 'none'})")


def meant(name: str, known: Iterable[str]) -> str:
    """Asks whether it was one of the `known` names that was meant, or its last part; empty if it looks like none."""
    known = list(known)
    longer = [one for one in known if name and one.startswith(name)]
    ends = [one for one in known if name and one.endswith(f"/{name}")]
    like = longer[:1] or ends or difflib.get_close_matches(name, known, n=1)
    quoted = " or ".join(f"'{one}'" for one in like)
    return f"did you mean {quoted}? " if like else ""


class Skipped(CobnutError):
    """An experiment that cannot be made on this machine, for a reason that is not wrong usage: said in one line, status
    0.
    """
