"""Releases from YAML: what is there, what is to be created, and what becomes of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple

import pytest

from schedctl.api.custom_kinds import CUSTOM_KINDS
from schedctl.reports.metadata import Metadata
from schedctl.reports.simulations import SimulationReport
from schedctl.scheduler import Scheduler
from schedctl.simulation import report_builder
from schedctl.simulation.simulations import Simulation
from schedctl.simulation.simulations import simulate as simulate_release
from schedctl.sources import Terms, load_text
from schedctl.workloads.clusters import assemble


class SimulatedRelease(NamedTuple):
    """A simulated release: the facts, the report, and the scheduler with the cluster as the run left it."""

    facts: Simulation
    report: SimulationReport
    scheduler: Scheduler


Simulate = Callable[..., SimulatedRelease]


@pytest.fixture
def simulate() -> Simulate:
    """Simulates a release of YAML in a cluster of YAML."""

    def simulate(state: str, manifests: str, *, fail: bool = False, **options) -> SimulatedRelease:
        scheduler = Scheduler(assemble(one.object for one in load_text(yaml(state), "state.yaml").objects).cluster)
        terms = Terms(creating=True, custom_kinds=CUSTOM_KINDS)
        manifest_set = load_text(yaml(manifests), "release.yaml", terms=terms)
        facts = simulate_release(scheduler, manifest_set.objects, passed=manifest_set.ignored, **options)
        report = report_builder.report(
            facts, scheduler.cluster, metadata=Metadata(), problems=manifest_set.problems, fail=fail
        )
        return SimulatedRelease(facts, report, scheduler)

    return simulate


def yaml(text: str) -> bytes:
    """The text as YAML also where it begins with a brace, which would be taken for JSON."""
    return re.sub(r"\A(\s*(---\n)?\s*)\{", r"\1# YAML\n{", textwrap.dedent(text)).encode()
