"""The JSON Schema of every document there is, by its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schedctl.config.settings_file import Config
from schedctl.policy import schemas as policy_schemas
from schedctl.policy.baselines import CheckBaseline
from schedctl.policy.expectations import CheckPolicyTest
from schedctl.reports.bindings import BindReport
from schedctl.reports.calibrations import CalibrationReport
from schedctl.reports.capacities import CapacityReport
from schedctl.reports.checks import CheckReport
from schedctl.reports.drains import DrainReport
from schedctl.reports.explanations import ExplainReport
from schedctl.reports.listings import PluginList, ProfileDiff, ProfileList
from schedctl.reports.pod_comparisons import ExplainComparison
from schedctl.reports.policy_tests import CheckPolicyTestReport
from schedctl.reports.run_comparisons import SimulationComparison
from schedctl.reports.schemas import schema_of
from schedctl.reports.simulations import SimulationReport
from schedctl.reports.snapshots import SnapshotDiff, SnapshotReport
from schedctl.reports.watches import WatchLine
from schedctl.snapshots.documents import Snapshot

SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "BindReport": lambda: schema_of(BindReport),
    "CalibrationReport": lambda: schema_of(CalibrationReport),
    "CapacityReport": lambda: schema_of(CapacityReport),
    "CheckBaseline": lambda: schema_of(CheckBaseline),
    "CheckPolicy": policy_schemas.check_policy,
    "CheckPolicyTest": lambda: schema_of(CheckPolicyTest, read=True),
    "CheckPolicyTestReport": lambda: schema_of(CheckPolicyTestReport),
    "CheckReport": lambda: schema_of(CheckReport),
    "Config": lambda: schema_of(Config, read=True),
    "DrainReport": lambda: schema_of(DrainReport),
    "ExplainComparison": lambda: schema_of(ExplainComparison),
    "ExplainReport": lambda: schema_of(ExplainReport),
    "PluginList": lambda: schema_of(PluginList),
    "ProfileDiff": lambda: schema_of(ProfileDiff),
    "ProfileList": lambda: schema_of(ProfileList),
    "SimulationComparison": lambda: schema_of(SimulationComparison),
    "SimulationReport": lambda: schema_of(SimulationReport),
    "Snapshot": lambda: schema_of(Snapshot, read=True),
    "SnapshotDiff": lambda: schema_of(SnapshotDiff),
    "SnapshotReport": lambda: schema_of(SnapshotReport),
    "WatchLine": lambda: schema_of(WatchLine),
}
"""How to make the JSON Schema of each kind of document."""
