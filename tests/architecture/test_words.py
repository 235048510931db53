"""What the tree says about itself, and what it must not say."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import schedctl
from tests.architecture.trees import nodes_of, tree_of

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "schedctl").rglob("*.py"))

# Paths of somebody's machine, and settings that say where packages come from: those are the user's own. A `proxy-url`
# is none of these, but a field of kubeconfigs.
MACHINE = re.compile(r"(?<![\w./~-])/(?:work|root|home|Users|tmp/w)/[\w.]")
REGISTRY = re.compile(
    r"(?:index|registry)[_-]url|--find-links|--trusted-host|\bGO(?:PROXY|NOSUMDB|PRIVATE)\b", re.IGNORECASE
)

# Riddles, personification and words that only we use, in texts that people see.
DIALECT = re.compile(
    r"\b(?:nobody|somebody|whom|anew|alike|wakes? up|lets? go|let go|gone for good|makes another|counts? nowhere"
    r"|had to go|within reach|mended|will do|as the run left|is no kind|not ours|taken back)\b",
    re.IGNORECASE,
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / path for path in listed.stdout.split("\0") if path]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_module_has_a_docstring(path):
    text = ast.get_docstring(tree_of(path))
    assert text, "a module without a docstring"
    if path.name == "__init__.py":
        assert len(text.splitlines()) > 1, "a package whose docstring is one line"


@pytest.mark.parametrize("forbidden", [MACHINE, REGISTRY], ids=["a path of one machine", "where packages come from"])
def test_no_tracked_file_names(forbidden):
    found = []
    for path in tracked_files():
        if path == Path(__file__) or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [
            f"{name(path)}:{i}: {line.strip()}" for i, line in enumerate(text.splitlines(), 1) if forbidden.search(line)
        ]
    assert found == []


@pytest.mark.parametrize("real", ["oracle", "cluster"])
def test_oracles_are_of_the_claimed_version(real):
    text = (ROOT / "conformance" / real / "go.mod").read_text()
    required = re.search(r"^\tk8s\.io/kubernetes (\S+)( // indirect)?$", text, re.MULTILINE)
    assert required is not None
    assert required[1] == schedctl.KUBERNETES_VERSION
    assert (ROOT / "conformance/corpus" / schedctl.KUBERNETES_VERSION).is_dir()


def test_changelog_has_this_version():
    assert f"## [{schedctl.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_dependency_has_a_comment():
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    for requirement in tomllib.loads("\n".join(lines))["project"]["dependencies"]:
        assert any(f'"{requirement}"' in line and "#" in line for line in lines), requirement


def texts_of(path: Path) -> list[ast.Constant]:
    """Return the strings of a module that are no docstrings."""
    bare = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    return [
        node
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    ]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_texts_are_plain_english(path):
    assert [f"{text.lineno}: {text.value}" for text in texts_of(path) if DIALECT.search(text.value)] == []


def test_descriptions_in_schemas_are_plain_english():
    reference = (ROOT / "docs/reference/schemas.md").read_text(encoding="utf-8")
    assert [line for line in reference.splitlines() if DIALECT.search(line)] == []
