"""The documents that the listing commands print with ``-o json``, and the schemas of all documents there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from schedctl import KUBERNETES_VERSION, __version__
from schedctl.config.own import Config
from schedctl.explain import reports
from schedctl.explain.schemas import schema_of
from schedctl.simulation.capacity_reports import CapacityReport
from schedctl.simulation.drain_reports import DrainReport
from schedctl.simulation.reports import SimulationReport


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
        weight: at ``score`` in the default profile, 0 where it does not score.
        fidelity: ``exact`` where every comparison with kube-scheduler's own plugin agreed, ``partial`` where not.
        proof: what was compared; null where no case asks the plugin, which unit tests alone then hold to its rules.
        description: what it is for, in a sentence.
    """

    name: str
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


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "CapacityReport": lambda: schema_of(CapacityReport),
    "Config": lambda: schema_of(Config, read=True),
    "DrainReport": lambda: schema_of(DrainReport),
    "ExplainReport": reports.schema,
    "PluginList": lambda: schema_of(PluginList),
    "ProfileList": lambda: schema_of(ProfileList),
    "SimulationReport": lambda: schema_of(SimulationReport),
}
"""How to make the JSON Schema of each kind of document."""
