"""Which module makes the page of which kind of report; only that one is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from schedctl.errors import UsageError
from schedctl.render.html import page

_MODULES = {
    "CapacityReport": "capacities",
    "CheckReport": "checks",
    "DrainReport": "drains",
    "ExplainComparison": "pod_comparisons",
    "ExplainReport": "explanations",
    "NodeExplainReport": "node_explanations",
    "SimulationComparison": "run_comparisons",
    "SimulationReport": "simulations",
    "SweepReport": "sweeps",
}
"""Who lays out which kind of report as a page."""


def document(report: Any) -> str:
    """Return a report as a page.

    Raises:
        UsageError: there is no page of this kind of report.
    """
    module = _MODULES.get(report.kind)
    if module is None:
        raise UsageError(f"-o html has no page for a {report.kind}", "use text, json or yaml")
    return page.write(import_module(f"schedctl.render.html.{module}").page(report))
