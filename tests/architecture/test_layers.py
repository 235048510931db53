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


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("schedctl", cache_dir=None)


@pytest.mark.parametrize("module", [m for m in plugin_modules() if m != "in_tree"])
def test_plugins_are_strangers_to_each_other(module, graph):
    inside = {f"{PLUGINS}.{module}"} | graph.find_descendants(f"{PLUGINS}.{module}")
    imported = {
        target.removeprefix(f"{PLUGINS}.").split(".")[0]
        for source in inside
        for target in graph.find_modules_directly_imported_by(source)
        if target.startswith(f"{PLUGINS}.")
    }
    assert imported - {module} == set()
