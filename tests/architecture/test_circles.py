"""No circle of files: every file can be read, tested and moved knowing only what stands below it.

The contracts of `.importlinter` order the packages; what circles inside one of them, only this finds.
"""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent.name for path in (ROOT / "schedctl").glob("*/__init__.py"))

# Packages with circles that are still to be broken; whoever breaks the last of one removes its line.
KNOWN = {}


@pytest.fixture(scope="module")
def circles() -> list[set[str]]:
    """The strongly connected components of more than one file; imports for annotations only count too."""
    graph = grimp.build_graph("schedctl", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    return [component for component in components(imports) if len(component) > 1]


def components(edges: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected components, after Kosaraju: two walks, the second against the arrows."""
    finished: list[str] = []
    walk(edges, sorted(edges), finished)
    backwards: dict[str, set[str]] = {node: set() for node in edges}
    for source, targets in edges.items():
        for target in targets:
            backwards[target].add(source)
    return walk(backwards, reversed(finished), [])


def walk(edges: dict[str, set[str]], starts, finished: list[str]) -> list[set[str]]:
    """What each start reaches and no earlier one did; `finished` gains the nodes as the walk leaves them."""
    seen: set[str] = set()
    trees = []
    for start in starts:
        if start in seen:
            continue
        tree = {start}
        path = [(start, iter(sorted(edges[start])))]
        while path:
            node, following = path[-1]
            unseen = next((target for target in following if target not in seen | tree), None)
            if unseen is None:
                finished.append(node)
                path.pop()
            else:
                tree.add(unseen)
                path.append((unseen, iter(sorted(edges[unseen]))))
        seen |= tree
        trees.append(tree)
    return trees


def package(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def test_components_are_found():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(map(sorted, components(edges))) == [["a", "b", "c"], ["d", "e"], ["f"]]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=KNOWN[name]) if name in KNOWN else ())
        for name in PACKAGES
    ],
)
def test_no_files_of_a_package_import_each_other_in_a_circle(name, circles):
    assert [sorted(circle) for circle in circles if name in map(package, circle)] == []


def test_no_package_that_is_gone_is_excused():
    assert set(KNOWN) <= set(PACKAGES)
