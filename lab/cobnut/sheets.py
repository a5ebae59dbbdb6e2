# SPDX-License-Identifier: GPL-2.0-or-later
"""What an experiment says in words: its subject, what each of its checks means, what is known about those that it
misses, what its report draws. A TOML file beside its module has them, so that the module has the measuring and the
arithmetic alone.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, field_validator

from cobnut import plots, published
from cobnut.checks import Check, KnownMiss, Rule, alternatives, captured, judge, named
from cobnut.plots import Plot
from cobnut.results import Result

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
    which has their words. `known_misses` are by the name of a check, or by several names at once (`{A,B}`):
    what is known about it if it is not ok.
    """

    model_config = STRICT

    title: str
    source: str
    story: str
    cannot_say: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    any_of: dict[str, tuple[str, ...]] = {}
    checks: dict[str, Meaning] = {}
    texts: dict[str, str] = {}
    known_misses: dict[str, KnownMiss] = {}
    plots: tuple[dict[str, Any], ...] = ()

    @field_validator("known_misses")
    @classmethod
    def _by_name(cls, misses: dict[str, KnownMiss]) -> dict[str, KnownMiss]:
        return {name: miss for declared, miss in misses.items() for name in alternatives(declared)}

    @property
    def names(self) -> tuple[str, ...]:
        """Of all checks, as they are declared."""
        return tuple(re.sub("[A-Z]+", self._one_of, name) for name in (*self.checks, *self.named))

    def _one_of(self, word: re.Match[str]) -> str:
        return named(self.any_of[word[0]]) if word[0] in self.any_of else word[0]

    def judge(
        self, name: str, measured: float | None, rule: Rule | None, also: str | None = None, /, **values: Any
    ) -> Check:
        """Judges `measured` by `rule`, in the words of the first declared name that fits; `also` is said after them."""
        for declared, meaning in self.checks.items():
            words = captured(name, declared, self.any_of)
            if words is not None:
                why = " ".join(filter(None, (meaning.why.format(**words, **values), also)))
                return judge(name, measured, meaning.unit, rule, why)
        raise ValueError(f"no check is declared that is called {name}")

    def all_plots(self, result: Result) -> list[Plot]:
        """Of an experiment that draws the same of every result."""
        return self.drawn()

    def drawn(self, *names: str, **values: Any) -> list[Plot]:
        """The plots of these names, all without one, with `{NAME}` in their texts replaced by the values."""
        chosen = [plot for plot in self.plots if not names or plot.get("name") in names]
        return [_plot(_filled(plot, values)) for plot in chosen]


def _plot(fields: Mapping[str, Any]) -> Plot:
    kinds = {name.lower(): getattr(plots, name) for name in plots.__all__}
    marks = [{key: _number(key, value) for key, value in mark.items()} for mark in fields.get("marks", ())]
    given = {key: value for key, value in fields.items() if key not in ("kind", "name", "marks")}
    found: Plot = TypeAdapter(kinds[fields["kind"]]).validate_python({**given, **({"marks": marks} if marks else {})})
    return found


def _number(key: str, value: Any) -> Any:
    return getattr(published, value) if key in ("x", "y") and isinstance(value, str) else value


def _filled(tree: Any, values: Mapping[str, Any]) -> Any:
    """The same with the values in each of its texts."""
    if isinstance(tree, dict):
        return {_filled(key, values): _filled(value, values) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_filled(value, values) for value in tree]
    return tree.format_map(values) if isinstance(tree, str) else tree


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
