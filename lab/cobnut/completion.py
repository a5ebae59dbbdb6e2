# SPDX-License-Identifier: GPL-2.0-or-later
"""What a shell offers for a word that has been begun (`./cobnut --install-completion`)."""

from cobnut import boards, machines


def experiments(begun: str) -> list[str]:
    """Names of experiments, and `all`."""
    from cobnut.experiments import all_experiments

    return _that_begin([*all_experiments(), "all"], begun)


def proofs_(begun: str) -> list[str]:
    """Names of what `test long` makes."""
    from cobnut import proofs

    return _that_begin(proofs.names(), begun)


def machines_(begun: str) -> list[str]:
    """The machines that come with the project."""
    return _that_begin(list(machines.known()), begun)


def boards_(begun: str) -> list[str]:
    """The boards."""
    return _that_begin(list(boards.BOARDS), begun)


def images_(begun: str) -> list[str]:
    """The images that a guest with Linux can have."""
    from cobnut.linux import images

    return _that_begin(images.known(), begun)


def processes(begun: str) -> list[str]:
    """The kernels whose processes are told apart."""
    from cobnut import cases

    return _that_begin(cases.known(), begun)


def programs(begun: str) -> list[str]:
    """The programs that are built for any board, and the systems."""
    from cobnut import systems

    built = {name for board in boards.BOARDS.values() for name in board.programs}
    return _that_begin(sorted(built | systems.known().keys()), begun)


def _that_begin(names: list[str], begun: str) -> list[str]:
    return [name for name in names if name.startswith(begun)]
