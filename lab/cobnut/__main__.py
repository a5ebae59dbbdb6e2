# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m cobnut`, which is what the launcher at the root of the repository runs."""

from cobnut.cli import main

main()
