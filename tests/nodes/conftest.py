from __future__ import annotations

from pathlib import Path

import pytest

from schedctl import sources
from schedctl.api import autoscalers
from schedctl.sources import Terms
from schedctl.workloads.clusters import assemble

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def state():
    """Returns the cluster in fixtures, autoscalers' kinds included."""

    def load(*names: str):
        paths = [str(FIXTURES / name) for name in names]
        found = sources.load(paths, terms=Terms(kinds=autoscalers.KINDS))
        return assemble((one.object for one in found.objects), kinds=autoscalers.KINDS).cluster

    return load


@pytest.fixture
def written(tmp_path):
    """Writes a file and returns its path."""

    def write(text: str, name: str = "file.yaml") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write
