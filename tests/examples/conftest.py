"""The example plugins, loaded as ``--plugin`` loads them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from schedctl.cache.cluster import Cluster
from schedctl.releases import NEWEST, Release
from schedctl.scheduler import Scheduler
from schedctl.session import configurations
from schedctl.session.states import StateSource
from schedctl.simulation.outcomes import PodState

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "examples/plugins"
PROFILES = ROOT / "examples/profiles"


class Example(NamedTuple):
    """An example: its module, and a way to make a scheduler in which it takes part."""

    module: ModuleType
    chosen: configurations.ConfigurationChoice

    def scheduler(self, made: Cluster) -> Scheduler:
        return Scheduler(made, self.chosen.configuration, self.chosen.registry)


@pytest.fixture
def example():
    """Load an example by the name of its file, with the profile of that name, or with no configuration at all."""

    def load(name: str, *, profile: bool = True, release: Release = NEWEST) -> Example:
        file = PROFILES / f"{name.replace('_', '-')}.yaml"
        path = str(file) if profile and file.exists() else ""
        chosen = configurations.choose(path, "", StateSource(), [str(PLUGINS / f"{name}.py")], release=release)
        (mine,) = (each for each in chosen.registry.values() if each.__module__.startswith("schedctl_plugin_"))
        return Example(sys.modules[mine.__module__], chosen)

    return load


@pytest.fixture
def ends():
    """StateSource each pod of a run is: its node if it is bound, else its state."""

    def ends(facts):
        return {
            key.removeprefix("default/"): outcome.node if outcome.state is PodState.BOUND else outcome.state
            for key, outcome in facts.pods.items()
        }

    return ends
