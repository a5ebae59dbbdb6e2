# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not said here: phrases that make a reader guess. A thread, a space or a list is named by its noun instead
(docs/glossary.md), and what is done to it by a verb that a kernel engineer uses.
"""

import re
from pathlib import Path

import sources

# each with what to write instead
RIDDLES = {
    r"\bwho (comes|has come|had come|have come) to\b": "the thread (space, ...) that",
    r"\b(of|to|from|for|than|with|at|in) who\b(?! (may|mapped|has run|has which|wrote)\b)": "the thread (...) that",
    r"\bwho (sleeps|waits|has none|is left|is invited|takes no part|is not granted)\b(?! (to|for) )": "the thread that",
    r"\bplace that (the|another|a|its) [a-z ]*had\b": "the slot (address, ...) of the former",
    r"\bto be had\b": "available, left, readable",
    r"\bwhat goes on\b": "what runs",
    r"\bcame? to something\b": "succeeds",
    r"\b(the|its) midst\b": "in the middle",
    r"\bdeeds?\b": "event, action",
    r", for (it|they|there) (is|are|was|were|has|have)\b": "because, since",
    r"\b(has|have|had|needs|knows) (it|them|him) not\b": "does not have it",
    r"\b(he|she|it) has not(?=[.,;:])": "it does not",
    r"\b(needs|knows) not\b": "does not need",
    r"\bnone the (worse|wiser)\b": "not changed by it",
    r"\bhad no end\b": "did not terminate",
    r"\bwhom it is worth\b": "that gains by it",
    r"\b(nobody|somebody|anybody)'s to pieces\b": "splits no mapping",
    r"\bnobody near\b": "no neighbour, no caller",
    r"\bhold(s|ing)? (a|the) \w+ against\b": "compare with",
}
OWN = Path("tests/lint/test_words.py")


def riddles(text: str) -> list[str]:
    """What of `text`, which may be broken into lines with the marks of comments before them, should not be said so."""
    flat = re.sub(r"\s*\n\s*(//[/!<]*|#|\*)?\s*", " ", text)
    return [
        f"{match.group()} (say: {plain})"
        for riddle, plain in RIDDLES.items()
        for match in re.finditer(riddle, flat, re.IGNORECASE)
    ]


def test_nothing_is_said_in_riddles():
    found = {
        str(path): said
        for path in [*sources.code(), *sources.prose()]
        if path != OWN and (said := riddles((sources.paths.ROOT / path).read_text(encoding="utf-8")))
    }
    assert found == {}


def test_a_riddle_is_noticed_across_lines():
    assert riddles("/// The slot belongs to\n/// who has it.") == ["to who (say: the thread (...) that)"]
    assert riddles("# who has\n# come to the place") == ["who has come to (say: the thread (space, ...) that)"]
    assert riddles("The space that has the slot is asked who reads its pages.") == []


def test_the_glossary_gives_each_word_one_meaning():
    rows = re.findall(r"^\| ([a-z ]+) \| (.+?) \|", "\n".join(sources.lines(Path("docs/glossary.md"))), re.MULTILINE)
    words = [word for word, meaning in rows if word != "word" and meaning.strip("- ")]
    assert len(words) > 30 and len(words) == len(set(words))
    for page in ("README.md", "docs/architecture.md"):
        assert "glossary.md)" in (sources.paths.ROOT / page).read_text()
