"""The documents that the listing commands print with ``-o json``, and the schemas of all documents there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from schedctl import KUBERNETES_VERSION, __version__
from schedctl.calibration.reports import CalibrationReport
from schedctl.config.settings import Config
from schedctl.policy import schemas as policy_schemas
from schedctl.policy.baselines import CheckBaseline
from schedctl.policy.expectations import CheckPolicyTest, CheckPolicyTestReport
from schedctl.reports import explanations
from schedctl.reports.bindings import BindReport
from schedctl.reports.checks import CheckReport
from schedctl.reports.pod_comparisons import ExplainComparison
from schedctl.reports.run_comparisons import SimulationComparison
from schedctl.reports.schemas import schema_of
from schedctl.reports.simulations import SimulationReport
from schedctl.reports.watches import WatchLine
from schedctl.simulation.capacity_reports import CapacityReport
from schedctl.simulation.drain_reports import DrainReport
from schedctl.snapshots.documents import Snapshot
from schedctl.snapshots.reports import SnapshotDiff, SnapshotReport


class Document(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Base of documents and their parts: camelCase on the wire, every field written."""


class ListMetadata(Document, frozen=True, kw_only=True):
    """Which schedctl made the list, and whose behaviour it follows."""

    tool_version: str = __version__
    kubernetes_version: str = KUBERNETES_VERSION


class Proof(Document, frozen=True, kw_only=True):
    """How a plugin was compared with kube-scheduler's own, on random cases.

    Attributes:
        kubernetes_version: of kube-scheduler.
        seeds: FROM:TO, half open, of each family of cases.
        cycles: by family, the scheduling cycles in which the plugin had a say.
        differences: in how many ways the answers to the cases of these families differ, in whatever plugin.
    """

    kubernetes_version: str
    seeds: str
    cycles: dict[str, int]
    differences: int


class PluginItem(Document, frozen=True, kw_only=True):
    """A plugin of the registry.

    Attributes:
        name: its Kubernetes name.
        extension_points: the points it takes part in, in the order of a cycle.
        origin: where it comes from: ``Kubernetes``, what ``--plugin`` named, or the package that offers it.
        weight: at ``score`` in the default profile, 0 where it does not score.
        fidelity: ``exact`` where every comparison with kube-scheduler's own plugin agreed, ``partial`` where not;
            ``yours`` where it is not Kubernetes' own.
        proof: what was compared; null where no case asks the plugin, which unit tests alone then hold to its rules.
        description: what it is for, in a sentence.
    """

    name: str
    origin: str
    extension_points: list[str]
    weight: int
    fidelity: str
    proof: Proof | None
    description: str


class PluginList(Document, frozen=True, kw_only=True):
    """``schedctl plugins list``: all plugins, in the order of the default profile."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["PluginList"] = "PluginList"
    metadata: ListMetadata = ListMetadata()
    items: list[PluginItem]


class ProfileItem(Document, frozen=True, kw_only=True):
    """A configuration that ships.

    Attributes:
        name: what ``--profile`` takes.
        scheduler_names: the profiles in it, any of which ``--profile`` takes as well.
        description: what it is for.
        file: where it is.
    """

    name: str
    scheduler_names: list[str]
    description: str
    file: str


class ProfileList(Document, frozen=True, kw_only=True):
    """``schedctl profiles list``: the configurations that ship, by name."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ProfileList"] = "ProfileList"
    metadata: ListMetadata = ListMetadata()
    items: list[ProfileItem]


class ProfileDifference(Document, frozen=True, kw_only=True):
    """A field in which two configurations differ.

    Attributes:
        scheduler_name: the profile, by its name on the left where it has another on the right; empty for what is not of
            a profile.
        field: the steps to it: `plugins`, the point and the plugin, or `order`; `pluginConfig`, the plugin and its
            argument; or a field of the profile or the configuration. No steps stand for the whole profile.
        left: the value there, of a plugin its weight, or true where none counts; null where there is none.
        right: the value on the other side.
    """

    scheduler_name: str
    field: list[str]
    left: Any
    right: Any


class ProfileDiff(Document, frozen=True, kw_only=True):
    """``schedctl profiles diff``: what two configurations do differently.

    Attributes:
        left: the one, as it was named.
        right: the other.
        items: the differences, profile by profile.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ProfileDiff"] = "ProfileDiff"
    metadata: ListMetadata = ListMetadata()
    left: str
    right: str
    items: list[ProfileDifference]


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
    "ExplainReport": explanations.schema,
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
