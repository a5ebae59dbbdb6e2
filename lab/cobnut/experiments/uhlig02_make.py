# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/make`: a part of this kernel's tree, which make builds with Linux as a server whose programs are in large or
in small spaces: small ones help nothing.
"""

from cobnut import sheets
from cobnut.checks import exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, compiling, linux_programs, uhlig02_gcc
from cobnut.experiments.compiling import TREE
from cobnut.results import Result

SHEET = sheets.beside(__file__)


def run(lab: Lab) -> Result:
    """Boots each kernel with the tree."""
    peers = compiling.measure_tree(lab, uhlig02_gcc.PEERS)
    kernels = compiling.kernels_made(peers.values())
    checks = [
        *uhlig02_gcc.judge_savings(peers, TREE, SHEET),
        SHEET.judge("kernels", len(kernels), exactly(1), sums=", ".join(sorted(kernels))),
        *linux_programs.judge_peers(peers, 1),
    ]
    return linux_programs.result(lab, peers, compiling.series_of(peers, TREE), checks)


EXPERIMENT = Experiment(
    name="uhlig02/make",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={"folders": Setting(3, 1, range(1, len(compiling.FOLDERS) + 1), "of the kernel's tree that are built")},
    run=run,
    plots=SHEET.all_plots,
    show=compiling.show,
)
