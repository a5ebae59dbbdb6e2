# SPDX-License-Identifier: GPL-2.0-or-later
"""What is not said here: phrases that make a reader guess. A thread, a space or a list is named by its noun instead
(docs/glossary.md), and what is done to it by a verb that a kernel engineer uses.
"""

import re
from pathlib import Path

import sources

DOES = "has|gets|sends|leaves|reads|wants|else|makes|waits|answered|printed|was|can|cannot|may"
# each with what to write instead
RIDDLES = {
    r"\bwho (comes|has come|had come|have come) to\b": "the thread (space, ...) that",
    r"\b(of|to|from|for|than|with|at|in) who\b(?! (may|mapped|has run|has which|wrote)\b)": "the thread (...) that",
    r"\bwho (sleeps|waits|has none|is left|is invited|takes no part|is not granted)\b(?! (to|for) )": "the thread that",
    # a clause that stands for a noun, and no question
    rf"(?<=[;:|] )(?-i:who) ({DOES})\b(?![^.;|]*\?)": "the thread (space, sender, ...) that",
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
    r"\bholds (it|them) not\b": "does not hold it",
    r"\bhas not any more\b": "has lost it",
    r"\bof late\b": "recently",
    r"\bstops to run\b": "another thread is about to run",
    r"\bof which it is known\b": "known, memoised",
    r"\b(paid for as|since they were paid)\b": "charged to the budget",
    r"\bcosts what somebody\b": "is charged to the switch that evicted the entry",
    # names, each with the one that the field has for it
    r"\bcarry_on\w*": "resume",
    r"\bput_off\b": "delay_granted",
    r"\beverybodys\b": "hub",
    r"\b(?-i:Past)\b(?=::| \{|,$)": "LossHistory",
    r"\b(un)?settl(e|es|ed|ing)\b": "resolve a switch, split settings, reach a steady state, a source gives a number",
}
# in programs as well as in the kernel
WHO = {r"\b(?-i:Who) (?![^.?]*\?)": "The thread (space, ...) that"}
# in the kernel, where a name means one thing and a thread, a space or a page does what is done
KERNEL_RIDDLES = {
    r"\b(some|every|any)body('s)?\b": "a thread, another space, all",
    r"\bwhom\b": "the thread that",
    **WHO,
    r"\bwhoever\b": "the thread (space, ...) that",
    r"\bin whose hands\b": "which space has it",
}
OWN = Path("tests/lint/test_words.py")


def kernel_riddles(text: str) -> list[str]:
    """Likewise by the kernel's own list, in its C++ and assembly."""
    return riddles(text, KERNEL_RIDDLES)


def riddles(text: str, not_used: dict[str, str] = RIDDLES) -> list[str]:
    """What of `text`, which may be broken into lines with the marks of comments before them, should not be said so."""
    flat = re.sub(r"\s*\n\s*(//[/!<]*|#|\*)?\s*", " ", text)
    return [
        f"{match.group()} (say: {plain})"
        for riddle, plain in not_used.items()
        for match in re.finditer(riddle, flat, re.IGNORECASE)
    ]


def test_nothing_is_said_in_riddles():
    found = {
        str(path): said
        for path in [*sources.code(), *sources.prose()]
        if path != OWN and (said := riddles("\n".join(sources.lines(path))))
    }
    assert found == {}


def test_nothing_is_said_in_riddles_in_the_kernel():
    files = [path for path in sources.code(".cpp", ".hpp", ".S", ".inc", ".ld") if path.parts[0] == "kernel"]
    found = {str(path): said for path in files if (said := kernel_riddles("\n".join(sources.lines(path))))}
    assert len(files) > 150 and found == {}


def test_no_sentence_of_a_program_begins_with_one_who_is_not_named():
    files = [path for path in sources.code(".cc", ".c", ".h", ".S") if path.parts[0] == "user"]
    found = {str(path): said for path in files if (said := riddles("\n".join(sources.lines(path)), WHO))}
    assert len(files) > 100 and found == {}


def test_a_riddle_is_noticed_in_the_kernel():
    assert len(kernel_riddles("// Who has it is asked. Somebody else waits; it is open to whom it waits for.")) == 3
    assert kernel_riddles("// Who goes on? The pager is asked, and nobody() stands there.") == []


def test_a_former_name_is_noticed():
    assert len(riddles("carry_on(t); t.put_off = settled; let past = Past::new();")) == 4
    assert riddles("resume(t); // Past the limit: a fault") == []


def test_a_riddle_is_noticed_across_lines():
    assert riddles("/// The slot belongs to\n/// who has it.") == ["to who (say: the thread (...) that)"]
    assert riddles("| a string | its group: who has left it is gone |") == [
        "who has (say: the thread (space, sender, ...) that)"
    ]
    assert riddles("The wait: who is served next?") == []
    assert riddles("# who has\n# come to the place") == ["who has come to (say: the thread (space, ...) that)"]
    assert riddles("The space that has the slot is asked who reads its pages.") == []


def test_the_glossary_gives_each_word_one_meaning():
    rows = re.findall(r"^\| ([a-z ]+) \| (.+?) \|", "\n".join(sources.lines(Path("docs/glossary.md"))), re.MULTILINE)
    words = [word for word, meaning in rows if word != "word" and meaning.strip("- ")]
    assert len(words) > 30 and len(words) == len(set(words))
    for page in ("README.md", "docs/architecture.md"):
        assert "glossary.md)" in (sources.paths.ROOT / page).read_text()
