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
    """A name that is none of the `known` ones, with the one that it looks like."""
    known = list(known)
    like = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean '{like[0]}'? " if like else ""
    return CobnutError(f"unknown {what} '{name}' ({meant}known: {', '.join(known) or 'none'})")


class Skipped(CobnutError):
    """An experiment that cannot be made on this machine, for a reason that is not wrong usage: said in one line, status
    0.
    """
