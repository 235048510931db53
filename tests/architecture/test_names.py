"""How functions and variables are called, and how long functions and the prose at the top of modules are.

A function is a verb, or the noun that it returns: a participle alone (`told`, `asked_for`, `listed_anew`) is neither,
with its noun behind it it is fine (`pending_pods`). A variable says what it holds.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.trees import nodes_of, tree_of

ROOT = Path(__file__).parents[2] / "schedctl"
LONGEST = 60  # lines of a body, comments not counted
SENTENCES = 3  # of a module docstring: what lives here, why, who the neighbours are
SAYS_NOTHING = frozenset(("told", "said", "given", "wanted", "own", "way", "asked"))
SENTENCE_END = re.compile(r"[.!?](?=[)\"']?(?:\s|$))")


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Participles that do not end in -ed or -ing, and the adverbs that were used like them. Forms that are an imperative
# as well (put, set, read, run, cut, let, split, cost, come) are verbs.
IRREGULAR = words(
    "alike anew apart begun bound broken brought built caught chosen done drawn driven fallen felt forgotten found "
    "given gone gotten grown heard held hidden kept known laid led left lent lost made meant met paid risen said seen "
    "sent shown shrunk sold spent spoken stood sworn taken taught thought thrown told torn understood won worn woven "
    "written"
)
# What ends like a participle and is none, or has long been a noun of its own.
NO_PARTICIPLES = words(
    "bed bleed breed embed exceed feed heed hundred need proceed red seed shed speed succeed "  # verbs and nouns in -ed
    "anything bring cling everything king nothing ping ring something spring sting string swing thing "  # in -ing
    "binding building encoding ending finding heading indexing listing mapping meaning opening padding ranking "
    "setting spacing spelling substring timing warning wording"
)
# Words that no noun can be made of: what follows a participle here only says where, when or how.
PARTICLES = words(
    "a about above after again alike all alone along already an and anew any apart as at away back before behind "
    "below beside between both but by down each either ever first for from here how however if in instead into it "
    "last later least less more most much never no not now of off on once one only or otherwise out over own per so "
    "some soon still than that the them there these they this those through to together too twice under unless until "
    "up upon what when where whether which while who whole whose why with within without yet"
)


def is_participle(word: str) -> bool:
    if word in NO_PARTICIPLES:
        return False
    # -ed and -ing need a stem: `bed`, `ring`
    return word in IRREGULAR or (len(word) > 4 and word.endswith(("ed", "ing")))


def is_bare_participle(name: str) -> bool:
    """Whether a name begins with a participle and no noun comes before a preposition, an adverb or the end."""
    first, *rest = name.strip("_").lower().split("_")
    if not is_participle(first):
        return False
    after = next((word for word in rest if not is_participle(word)), None)
    return after is None or after in PARTICLES


@cache
def modules() -> list[tuple[str, list[str], Path]]:
    """Every module of the package: its path, its lines, its file."""
    files = sorted(ROOT.rglob("*.py"))
    return [(str(file.relative_to(ROOT.parent)), file.read_text(encoding="utf-8").splitlines(), file) for file in files]


@cache
def functions() -> list[tuple[str, list[str], ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of the package, by the place where it stands, with the lines of its module."""
    return [
        (f"{path}:{node.lineno} {node.name}", lines, node)
        for path, lines, file in modules()
        for node in nodes_of(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def lines_of_body(lines: list[str], function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From the first statement after the docstring; the options that a command declares stand before it.

    A body of one statement is a table or a declaration, however long.
    """
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if len(body) < 2:
        return 0
    return sum(not line.lstrip().startswith("#") for line in lines[body[0].lineno - 1 : body[-1].end_lineno])


def variables(file: Path) -> Iterator[tuple[int, str]]:
    """Parameters and names that are assigned; fields of classes are not among them, for they may be printed."""
    nodes = nodes_of(file)
    fields = {id(each) for node in nodes if isinstance(node, ast.ClassDef) for each in node.body}
    targets = {id(node.target) for node in nodes if isinstance(node, ast.AnnAssign) and id(node) in fields}
    for node in nodes:
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in targets:
            yield node.lineno, node.id


@pytest.mark.parametrize(
    "name", ["told", "_asked", "moved_by", "looked_for", "listed_anew", "made_alone", "found_out", "kept", "waiting"]
)
def test_participles_alone_are_found(name):
    assert is_bare_participle(name)


@pytest.mark.parametrize(
    "name",
    [
        "pending_pods",
        "assumed_bound_pods",
        "required_affinity",
        "binding",
        "feed",
        "read",
        "string",
        "report",
        "on_told",
    ],
)
def test_verbs_and_nouns_are_left_alone(name):
    assert not is_bare_participle(name)


def test_at_most_four_percent_of_functions_are_called_by_a_participle():
    names = [(place, node.name) for place, _, node in functions() if not node.name.startswith("__")]
    bare = [place for place, name in names if is_bare_participle(name)]
    packages = Counter(place.split("/")[1] for place in bare).most_common()
    assert len(bare) <= 0.04 * len(names), "\n".join([f"{len(bare)} of {len(names)}: {packages}", *bare])


def test_no_function_is_longer_than_a_page():
    long = {place: lines for place, text, node in functions() if (lines := lines_of_body(text, node)) > LONGEST}
    assert long == {}


def test_a_variable_says_what_it_holds():
    vague = [
        f"{path}:{line} {name}" for path, _, file in modules() for line, name in variables(file) if name in SAYS_NOTHING
    ]
    assert vague == []


def test_a_module_says_in_three_sentences_what_lives_there_and_why():
    """Reasons stand beside the tricky lines instead."""
    essays = {
        path: count
        for path, _, file in modules()
        if (count := sentences(ast.get_docstring(tree_of(file)) or "")) > SENTENCES
    }
    assert essays == {}


def sentences(text: str) -> int:
    return len(SENTENCE_END.findall(text))
