"""Ctrl-C ends the program wherever it comes: no clause that takes what a plugin lets out takes it as well."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.trees import nodes_of

PACKAGE = Path(__file__).parents[2] / "schedctl"
LETS_THROUGH = {"PASSING", "KeyboardInterrupt"}


def names_in(handler: ast.ExceptHandler) -> set[str]:
    nodes = [] if handler.type is None else list(ast.walk(handler.type))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def swallowing_handlers(path: Path) -> list[str]:
    """Handlers of ``ESCAPING`` that Ctrl-C reaches, because none before lets it through."""
    found = []
    for node in nodes_of(path) if "ESCAPING" in path.read_text(encoding="utf-8") else ():
        if isinstance(node, ast.Try):
            through: set[str] = set()
            for handler in node.handlers:
                if "ESCAPING" in names_in(handler) and not through & LETS_THROUGH:
                    found.append(f"{path.relative_to(PACKAGE)}:{handler.lineno}")
                through |= names_in(handler)
    return found


def test_clauses_for_faults_of_plugins_are_found():
    assert any("ESCAPING" in path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))


def test_no_clause_for_faults_of_plugins_takes_an_interrupt():
    assert [each for path in sorted(PACKAGE.rglob("*.py")) for each in swallowing_handlers(path)] == []
