# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m cobnut`, which is what the launcher at the root of the repository runs."""

import gc

gc.disable()  # what is imported stays: looking through it at the start, and again at the end, is a third of a short run

from cobnut.cli import main

gc.freeze()
gc.enable()

main()
