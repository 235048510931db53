"""The drawing of who may import whom, executed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = "schedctl.plugins"


def test_every_import_contract_is_kept():
    lint = subprocess.run([Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True)
    assert lint.returncode == 0, lint.stdout + lint.stderr


def plugin_modules() -> list[str]:
    return sorted(module.stem for module in (ROOT / "schedctl/plugins").iterdir() if not module.stem.startswith("__"))


def owner(module: str, modules: list[str]) -> str:
    """The plugin a module belongs to: itself, or the one whose name it continues (`volume_binding_claims`)."""
    return min((other for other in modules if f"{module}_".startswith(f"{other}_")), key=len)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("schedctl", cache_dir=None)


@pytest.mark.parametrize("module", [m for m in plugin_modules() if m != "in_tree"])
def test_plugins_are_strangers_to_each_other(module, graph):
    modules = plugin_modules()
    inside = {f"{PLUGINS}.{module}"} | graph.find_descendants(f"{PLUGINS}.{module}")
    imported = {
        target.removeprefix(f"{PLUGINS}.").split(".")[0]
        for source in inside
        for target in graph.find_modules_directly_imported_by(source)
        if target.startswith(f"{PLUGINS}.")
    }
    assert {other for other in imported if owner(other, modules) != owner(module, modules)} == set()
