# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that a user is meant to see."""


class CobnutError(Exception):
    """What kept a command from doing its work, as one line that names the thing at fault.

    The command line prints it on stderr without a traceback and exits with status 2. A check of an experiment that fails is
    not an error: it is a result, and exits with status 1.
    """


class Skipped(CobnutError):
    """An experiment that cannot be made on this machine, for a reason that is not wrong usage: said in one line, status 0."""
