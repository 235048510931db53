"""The JSON Schema of every document there is, by its kind; only the module of the one that is asked for is imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from schedctl.errors import UsageError
from schedctl.session import report_files


def _schema(module: str, name: str, *, read: bool = False) -> dict[str, Any]:
    from schedctl.reports.schemas import schema_of

    return schema_of(getattr(import_module(module), name), read=read)


def _check_policy() -> dict[str, Any]:
    from schedctl.policy.schemas import check_policy

    return check_policy()


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "BindReport": partial(_schema, "schedctl.reports.bindings", "BindReport"),
    "CalibrationReport": partial(_schema, "schedctl.reports.calibrations", "CalibrationReport"),
    "CapacityReport": partial(_schema, "schedctl.reports.capacities", "CapacityReport"),
    "CheckBaseline": partial(_schema, "schedctl.policy.baselines", "CheckBaseline"),
    "CheckPolicy": _check_policy,
    "CheckPolicyTest": partial(_schema, "schedctl.policy.expectations", "CheckPolicyTest", read=True),
    "CheckPolicyTestReport": partial(_schema, "schedctl.reports.policy_tests", "CheckPolicyTestReport"),
    "CheckReport": partial(_schema, "schedctl.reports.checks", "CheckReport"),
    "Config": partial(_schema, "schedctl.config.settings_file", "Config", read=True),
    "DrainReport": partial(_schema, "schedctl.reports.drains", "DrainReport"),
    "ExplainComparison": partial(_schema, "schedctl.reports.pod_comparisons", "ExplainComparison"),
    "ExplainReport": partial(_schema, "schedctl.reports.explanations", "ExplainReport"),
    "FeatureGateList": partial(_schema, "schedctl.reports.listings", "FeatureGateList"),
    "GangBindReport": partial(_schema, "schedctl.reports.bindings", "GangBindReport"),
    "NodeExplainReport": partial(_schema, "schedctl.reports.node_explanations", "NodeExplainReport"),
    "NodeLossReport": partial(_schema, "schedctl.reports.node_losses", "NodeLossReport"),
    "NodeGroups": partial(_schema, "schedctl.autoscaling.files", "NodeGroupsDocument", read=True),
    "NodesReport": partial(_schema, "schedctl.reports.nodes", "NodesReport"),
    "PluginList": partial(_schema, "schedctl.reports.listings", "PluginList"),
    "ProfileDiff": partial(_schema, "schedctl.reports.listings", "ProfileDiff"),
    "ProfileList": partial(_schema, "schedctl.reports.listings", "ProfileList"),
    "SimulationComparison": partial(_schema, "schedctl.reports.run_comparisons", "SimulationComparison"),
    "SimulationReport": partial(_schema, "schedctl.reports.simulations", "SimulationReport"),
    "Snapshot": partial(_schema, "schedctl.snapshots.documents", "Snapshot", read=True),
    "SnapshotDiff": partial(_schema, "schedctl.reports.snapshots", "SnapshotDiff"),
    "SnapshotReport": partial(_schema, "schedctl.reports.snapshots", "SnapshotReport"),
    "Study": partial(_schema, "schedctl.studies.forms", "Study", read=True),
    "SweepHead": partial(_schema, "schedctl.reports.sweeps", "SweepHead"),
    "SweepReport": partial(_schema, "schedctl.reports.sweeps", "SweepReport"),
    "SweepRow": partial(_schema, "schedctl.reports.sweeps", "SweepRow"),
    "TraceDiff": partial(_schema, "schedctl.reports.traces", "TraceDiff"),
    "TraceReport": partial(_schema, "schedctl.reports.traces", "TraceReport"),
    "WatchLine": partial(_schema, "schedctl.reports.watches", "WatchLine"),
}
"""How to make the JSON Schema of each kind of document."""
BY_HAND = ("CheckPolicy", "CheckPolicyTest", "Config", "NodeGroups", "Study")
"""The kinds that people write, whose editors can check them."""


def write(folder: str) -> dict[str, str]:
    """Write the schemas of what people write to a folder, and return the file of each kind, seen from here.

    The folder is made where it is not there; its parent is not.

    Raises:
        UsageError: it cannot be written to.
    """
    written = {}
    try:
        Path(folder).mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"--write: {folder} cannot be made: {(error.strerror or str(error)).lower()}") from None
    for kind in BY_HAND:
        file = Path(folder) / f"{kind}.schema.json"
        report_files.check([str(file)], "--write")
        report_files.write(str(file), f"{json.dumps(SCHEMAS[kind](), indent=2)}\n", "--write")
        written[kind] = file.as_posix() if file.is_absolute() else f"./{file.as_posix()}"
    return written
