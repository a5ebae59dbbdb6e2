# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets: what an experiment says in words, as its file has it."""

import inspect
import statistics
import sys

import pytest
from pydantic import ValidationError

from cobnut import experiments, published, sheets
from cobnut.checks import KnownMiss, at_most, exactly, joined
from cobnut.plots import Lines, Mark

WORDS = """
title = "A title"
source = "This test"
story = \"\"\"
Text that is broken
   where the file likes.\"\"\"
named = ["judged.elsewhere"]
any_of.PAIR = ["large_large", "intra"]

[checks."PAIR.SIZE.cycles"]
unit = "cycles"
why = "{PAIR} at {SIZE}, {times:g} times."

[checks."{large_large,intra}.total"]
unit = "instructions"
why = "All."

[known_misses."intra.8.cycles"]
low = 1
high = 2
reason = \"\"\"
It is
known.\"\"\"

[[plots]]
kind = "lines"
title = "Cycles of {pair}"
x_title = "size"
y_title = "cycles"
series = { "{pair}.cycles" = "{pair}" }
marks = [{ label = "published", x = 8, y = "U02_SMALL_ROUND_TRIP" }]

[[plots]]
name = "other"
kind = "lines"
title = "Another"
x_title = "size"
y_title = "cycles"
series = {}
"""


@pytest.fixture
def read(tmp_path):
    """A function that makes a sheet of a text."""

    def made(text: str) -> sheets.Sheet:
        (tmp_path / "module.toml").write_text(text)
        return sheets.beside(str(tmp_path / "module.py"))

    return made


def test_a_text_is_one_line_however_the_file_breaks_it(read):
    sheet = read(WORDS)
    assert sheet.story == "Text that is broken where the file likes."
    assert sheet.known_misses == {"intra.8.cycles": KnownMiss(1, 2, "It is known.")}


def test_one_reason_may_be_that_of_several_checks(read):
    sheet = read(WORDS.replace('"intra.8.cycles"', '"{large_large,intra}.{4,8}.cycles"'))
    names = [f"{pair}.{size}.cycles" for pair in ("large_large", "intra") for size in (4, 8)]
    assert sheet.known_misses == dict.fromkeys(names, KnownMiss(1, 2, "It is known."))


def test_a_check_has_the_words_of_the_declared_name_that_fits(read):
    sheet = read(WORDS)
    check = sheet.judge("intra.8.cycles", 5, at_most(4), "It failed.", times=2)
    assert (check.unit, check.ok) == ("cycles", False)
    assert check.why == "at most 4. intra at 8, 2 times. It failed."
    assert sheet.judge("intra.total", 3, exactly(3)).why == "exactly 3. All."


@pytest.mark.parametrize("name", ["small_small.8.cycles", "intra.cycles", "judged.elsewhere", "intra.total.more"])
def test_a_check_that_has_no_words_cannot_be_judged(read, name):
    with pytest.raises(ValueError, match="no check is declared"):
        read(WORDS).judge(name, 1, exactly(1), times=1)


def test_names_are_listed_with_what_their_words_may_be(read):
    names = read(WORDS).names
    assert names == ("{large_large,intra}.SIZE.cycles", "{large_large,intra}.total", "judged.elsewhere")
    assert joined(["a.SIZE", "a.b", "a.{c,d}", "e"]) == ["a.SIZE", "a.{b,c,d}", "e"]


def test_plots_have_values_in_their_texts_and_published_numbers_in_their_marks(read):
    sheet = read(WORDS)
    first, second = sheet.drawn(pair="intra")
    assert first == Lines(
        "Cycles of intra",
        "size",
        "cycles",
        {"intra.cycles": "intra"},
        marks=(Mark("published", 8, published.U02_SMALL_ROUND_TRIP),),
    )
    assert sheet.drawn("other") == [second]


@pytest.mark.parametrize(
    ("old", "new"), [('unit = "cycles"', 'units = "cycles"'), ("low = 1", 'low = "little"'), ("story =", "tale =")]
)
def test_a_word_that_nobody_knows_is_refused(read, old, new):
    with pytest.raises(ValidationError):
        read(WORDS.replace(old, new, 1))


def test_a_plot_with_a_field_that_it_has_not_is_refused(read):
    with pytest.raises(ValidationError):
        read(WORDS.replace("y_title", "y_titel", 1)).drawn(pair="intra")


def test_every_plot_of_a_sheet_can_be_drawn():
    """Whatever is put into its texts, its kind and its fields are known."""

    class Anything(dict):
        def __missing__(self, key):
            return key

    for whole in experiments.all_experiments().values():
        for one in (whole, *whole.elsewhere):
            for plot in one.sheet.plots:
                assert sheets._plot(sheets._filled(plot, Anything())).title


def test_half_of_the_experiments_have_fewer_than_150_lines():
    modules = [
        sys.modules[one.run.__module__]
        for whole in experiments.all_experiments().values()
        for one in (whole, *whole.elsewhere)
    ]
    lengths = [len(inspect.getsource(module).splitlines()) for module in modules]
    assert statistics.median(lengths) < 150
