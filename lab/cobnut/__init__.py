# SPDX-License-Identifier: GPL-2.0-or-later
"""The `cobnut` command: install what is missing, build, boot, run experiments, report.

One module per subject. `cli` is the only one that knows about command lines, `experiments/` the only place that knows
what a paper measured and how, `emulators/` the only place that knows how QEMU or Bochs is started. Nothing here models
a machine: that is the Rust library beside this package, which the emulator loads.
"""
