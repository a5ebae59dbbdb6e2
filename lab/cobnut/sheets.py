# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment says in words: its subject, what each of its checks means, what is known about those that it
misses. A TOML file beside its module has them, so that the module has the measuring and the arithmetic alone.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from cobnut.checks import Check, KnownMiss, Rule, captured, judge

STRICT = ConfigDict(frozen=True, extra="forbid")


class Meaning(BaseModel):
    """Of a check: the unit of what is measured, and what the rule is about. `{NAME}` stands for a value that the
    judging code gives by that name, or for what a word in capitals of the check's declared name is in this one.
    """

    model_config = STRICT

    unit: str
    why: str


class Sheet(BaseModel):
    """`checks` are by the names that `checks.named` describes. `named` are the names of those that other code judges,
    which has their words. `known_misses` are by the name of a check: what is known about it if it is not ok.
    """

    model_config = STRICT

    title: str
    source: str
    story: str
    cannot_say: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    checks: dict[str, Meaning] = {}
    known_misses: dict[str, KnownMiss] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all checks, as they are declared."""
        return (*self.checks, *self.named)

    def judge(
        self, name: str, measured: float | None, rule: Rule | None, also: str | None = None, **values: Any
    ) -> Check:
        """Holds `measured` against `rule`, in the words of the first declared name that fits; `also` is said after
        them.
        """
        for declared, meaning in self.checks.items():
            words = captured(name, declared)
            if words is not None:
                why = " ".join(filter(None, (meaning.why.format(**words, **values), also)))
                return judge(name, measured, meaning.unit, rule, why)
        raise ValueError(f"no check is declared that is called {name}")


def beside(module: str) -> Sheet:
    """The sheet of a module, given its `__file__`."""
    tree = tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
    return Sheet.model_validate(_flowing(tree))


def _flowing(tree: Any) -> Any:
    """The same with each text on one line, however the file breaks it."""
    if isinstance(tree, dict):
        return {key: _flowing(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_flowing(value) for value in tree]
    return " ".join(tree.split()) if isinstance(tree, str) else tree
