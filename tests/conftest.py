"""What all tests share: the same answers on every machine, whatever its environment says about colour or clusters."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

from schedctl.documents import yaml_values
from tests import parse_cache

# Typer and Rich decide about colour when they are imported, some of them on variables that a build machine sets.
for variable in ("CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PY_COLORS"):
    os.environ.pop(variable, None)
os.environ["KUBECONFIG"] = os.environ["XDG_CONFIG_HOME"] = os.devnull
os.environ.pop("KUBERNETES_SERVICE_HOST", None)  # in a pod, its account would be a way into a cluster

# The same examples on every run, and no deadline, for the sake of slow machines.
# `HYPOTHESIS_PROFILE=explore pytest tests/…` looks for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

gc.set_threshold(200_000)  # as the program does
# Reading YAML is half of a short command, and thousands of tests read the same.
yaml_values.read = parse_cache.read


def pytest_collection_finish() -> None:
    """Let garbage collections pass over thousands of tests and their modules, which stay to the end."""
    gc.collect()
    gc.freeze()
