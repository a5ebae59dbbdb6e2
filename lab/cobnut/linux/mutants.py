# SPDX-License-Identifier: GPL-2.0-or-later
"""The board's Linux with our series, and all its mutants in one kernel: each lacks one of the operations on caches, TLB
and caching page directory that the series brings, or one of its notes of what they have to find.

The list is derived from the lines that the series adds. Each statement among them that is such an operation is made to
depend on the kernel's option fass_without=NUMBER (a mutant schema), so that one build has all of them; how often each
was reached is in /proc/fass_reached.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from pydantic import TypeAdapter

from cobnut import cache, packages
from cobnut.boards import Board
from cobnut.cache import Recipe
from cobnut.linux import board as board_linux
from cobnut.linux import kbuild, patching, source
from cobnut.linux.board import BoardLinux
from cobnut.linux.patching import digest

LIST = "mutants.json"
OPTION, REACHED = "fass_without", "fass_reached"
# what a line that the series adds calls to flush, clean, clear or give up what may be stale
CALLS = (
    r"fass_(?:flush_caches|free_table|note_alias|claim)|local_flush_tlb_all|pmd_clear|flush_pmd_entry|__cpuc_\w+"
    r"|__flush_icache_all|__cpu_flush_\w+|vivt_flush_user_range|forget_sections|note_run"
)
# and what it notes for later
NOTES = r"last_aliased = mm|[ab]->aliased = true|mm->context\.fass\.ran = fass_flushes"
STATEMENT = re.compile(rf"^(\t+)(return )?((?:({CALLS})\(.*|({NOTES});))$")
# where it asks for more than the standard kernel does, which asks whether the process is active
ASKS = re.compile(r"has_fass\(\) (?:&&|\|\|)|if \((fass_enabled)\)$")
ASKING_FILES = re.compile(r"mm/flush\.c|cacheflush\.h|tlbflush\.h")
OPERATION = re.compile(r"^\tmcr\tp15, 0, (\w+), c[78], .*")  # of coprocessor 15 on caches or TLB
CODE_SIDE = re.compile(r"^\tmov\t(\w+), #VM_EXEC$")
FUNCTION = re.compile(r"^(?:ENTRY\((\w+)\)|(?=[a-z_])[^=;(]*?\b(\w+)\()")
ASSEMBLY = f"\tldr\tip, ={OPTION}\n\tldr\tip, [ip]\n\tteq\tip, #{{number}}\n"

DECLARED = f"""
extern unsigned int {OPTION}, {REACHED}[];
#define fass_reaches(n) ({REACHED}[n]++, {OPTION} != (n))
"""
DECLARED_BEHIND = "#include <linux/types.h>\n"
DEFINED = f"""
unsigned int {OPTION}, {REACHED}[{{size}}];

static int __init parse_without(char *text)
{{{{
	return kstrtouint(text, 10, &{OPTION});
}}}}
early_param("{OPTION}", parse_without);

static int reached_show(struct seq_file *file, void *unused)
{{{{
	unsigned int n;

	for (n = 1; n < ARRAY_SIZE({REACHED}); n++)
		seq_printf(file, "reached_%u %u\\n", n, {REACHED}[n]);
	return 0;
}}}}

static int __init reached_init(void)
{{{{
	proc_create_single("{REACHED}", 0444, NULL, reached_show);
	return 0;
}}}}
fs_initcall(reached_init);
"""


@dataclass(frozen=True)
class Mutant:
    """A kernel without the operation `text` of this file; `number` is the option's."""

    number: int
    name: str
    file: str
    text: str


@dataclass(frozen=True)
class Schema:
    """The kernel that is each of the mutants, and without the option none."""

    linux: BoardLinux
    mutants: list[Mutant]


MUTANTS = TypeAdapter(list[Mutant])


def ensure(board: Board) -> Schema:
    """Makes sure of the kernel: what is missing is fetched and compiled."""
    packages.ensure(packages.BUILD_TOOLS, packages.ARM_TOOLS, kbuild.TOOLS)
    given, patches = source.ensure(), board_linux.fast_series()
    inputs = {**board_linux.recipe(board, given, patches).inputs, "mutants": digest(Path(__file__))}

    def make(target: Path, _: Path) -> None:
        def prepare(tree: Path) -> None:
            stock = {name: _text(tree / name) for name in patching.touched(patches)}
            patching.apply(patches, tree, given)
            (target / LIST).write_bytes(MUTANTS.dump_json(rewrite(tree, stock), indent=1))

        board_linux.make(board, given, target, f"{board.name}-mutants", board_linux.FASS_OPTION, prepare)

    entry = cache.get(Recipe("linuxmutants", inputs), make)
    linux = BoardLinux(entry / board_linux.KERNEL, entry / board_linux.SYMBOLS, given.version)
    return Schema(linux, MUTANTS.validate_json((entry / LIST).read_bytes()))


def rewrite(tree: Path, stock: Mapping[str, str]) -> list[Mutant]:
    """Makes a schema of the patched `tree`. `stock` has the text that its files had before, empty where there was
    none.
    """
    mutants: list[Mutant] = []
    for name, before in stock.items():
        if name.endswith((".c", ".h", ".S")):
            changed = _rewritten(name, before.splitlines(), _text(tree / name).splitlines(), mutants)
            (tree / name).write_text("\n".join([*changed, ""]))
    header, code = tree / "arch/arm/include/asm/fass.h", tree / "arch/arm/mm/fass.c"
    header.write_text(_text(header).replace(DECLARED_BEHIND, DECLARED_BEHIND + DECLARED, 1))
    code.write_text(_text(code) + DEFINED.format(size=len(mutants) + 1))
    return mutants


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _rewritten(name: str, before: list[str], lines: list[str], mutants: list[Mutant]) -> Iterator[str]:
    """The lines of a file with a choice at each operation; appends the mutants."""
    wanted = _added(before, lines) & _compiled(lines)
    function, pending = "", ""
    for at, line in enumerate(lines):
        if found := FUNCTION.match(line):
            function = found[1] or found[2]
        if pending:  # a statement goes on
            yield line + (pending if line.endswith(";") else "")
            pending = "" if line.endswith(";") else pending
            continue
        chosen = _chosen(name, line, len(mutants) + 1) if at in wanted else None
        if chosen is None:
            yield line
            continue
        what, text, end = chosen
        same = sum(one.name.partition("-")[0] == f"{function}.{what}" for one in mutants)
        mutants.append(Mutant(len(mutants) + 1, f"{function}.{what}{f'-{same + 1}' * bool(same)}", name, line.strip()))
        is_whole = not end or line.endswith(";")
        pending = "" if is_whole else end
        yield text + end if is_whole else text


def _chosen(file: str, line: str, number: int) -> tuple[str, str, str] | None:
    """What the line does, if it is an operation, the line by which the mutant does not, and what follows the statement
    that the line begins.
    """
    reaches = f"fass_reaches({number})"
    if file.endswith(".S"):
        test = ASSEMBLY.format(number=number)
        if OPERATION.match(line):
            return "mcr", test + line.replace("\tmcr\t", "\tmcrne\t"), ""
        if found := CODE_SIDE.match(line):
            return "code_side", f"{test}{line}\n\tmoveq\t{found[1]}, #0", ""
        return None
    if found := STATEMENT.match(line):
        indent, returns, statement, call, note = found.groups()
        if returns:
            return call, f"{indent}return !{reaches} ? 0 : {statement}", ""
        what = call or re.split("[.>]", note.partition(" =")[0])[-1]
        return what, f"{indent}do {{ if ({reaches}) {statement}", " } while (0);"
    if ASKING_FILES.search(file) and (found := ASKS.search(line)):
        asks = found[1] or "has_fass()"
        return "asks", line.replace(asks, f"({reaches} && {asks})"), ""
    return None


def _added(before: list[str], after: list[str]) -> set[int]:
    """Which lines are not among those before."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return set(range(len(after))) - {at for block in blocks for at in range(block.b, block.b + block.size)}


def _compiled(lines: list[str]) -> set[int]:
    """Which lines are not only for a kernel without the series."""
    taken: list[bool | None] = []  # None: it is about something else
    found = set()
    for at, line in enumerate(lines):
        word = (line.split() or [""])[0]
        if word in ("#if", "#ifdef", "#ifndef"):
            without = word == "#ifndef" or "!defined(CONFIG_ARM_FASS)" in line
            taken.append(not without if "CONFIG_ARM_FASS" in line else None)
        elif word == "#else" and taken[-1] is not None:
            taken[-1] = not taken[-1]
        elif word == "#endif":
            taken.pop()
        if False not in taken:
            found.add(at)
    return found
