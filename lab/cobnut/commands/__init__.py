# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of commands that take many, one module for each kind of command; `cli` has the others."""
