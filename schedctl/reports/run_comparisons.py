"""`SimulationComparison`: the same manifests placed under several configurations, as data.

What holds for `SimulationReport` holds here. The sides are called by letters; all are compared with the first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports import simulations
from schedctl.reports.metadata import AssumedVolumes, Metadata, Record, Side, schema_name
from schedctl.reports.node_maps import NodeMap


@schema_name("Effect")
class PlacementEffect(StrEnum):
    """What another configuration does to a pod of the cluster."""

    SAME = "Same"
    """It is on the same node, or on none."""
    MOVES = "Moves"
    """It is on another node."""
    BREAKS = "Breaks"
    """It has no node any more."""
    MENDS = "Mends"
    """It has one now."""


@schema_name("Outcome")
class WorkloadOutcome(Record, frozen=True, kw_only=True):
    """What became of a workload under one configuration.

    Attributes:
        side: which.
        placed: how many of its pods are on a node.
        zones: how many are in which zone, "" for nodes in none.
        nodes: how many are on which node.
        zone_skew: by how much the fullest zone outnumbers the emptiest; null as in a `SimulationReport`.
        messages: why pods of it are pending or were rejected, each once.
    """

    side: str
    placed: int
    zones: dict[str, int]
    nodes: dict[str, int]
    zone_skew: int | None = None
    messages: list[str]


@schema_name("Difference")
class PlacementDifference(Record, frozen=True, kw_only=True):
    """What changes for pods under another side, compared with the first.

    Pods of a workload are equal, so that they are compared by number: what a node has under both stays there, and of
    the rest as many as are placed under both move. Two pods of a workload that change places do not count.

    Attributes:
        side: the other side.
        same: how many pods stay where they are.
        moves: how many are on another node.
        between_zones: how many of them are in another zone.
        breaks: how many have no node any more.
        mends: how many have one now.
    """

    side: str
    same: int = 0
    moves: int = 0
    between_zones: int = 0
    breaks: int = 0
    mends: int = 0


class WorkloadComparison(Record, frozen=True, kw_only=True):
    """One workload under all configurations.

    Attributes:
        api_version, kind, namespace, name: which.
        source: where it begins, e.g. ``deploy/web.yaml:12``.
        wanted: how many pods it is to have.
        outcomes: what became of it, by side.
        differences: each other side against the first.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    source: str
    wanted: int
    outcomes: list[WorkloadOutcome]
    differences: list[PlacementDifference]


class Whereabouts(Record, frozen=True, kw_only=True):
    """Where a pod of the cluster is under one configuration.

    Attributes:
        side: which.
        node: the node it is on, or its successor is; "" for none.
        fate: what became of it; null where nothing happened to it.
        preempted_by: the pod it had to make room for, "" for none.
        message: why it is pending.
    """

    side: str
    node: str = ""
    fate: simulations.Fate | None = None
    preempted_by: str = ""
    message: str = ""


class OtherComparison(Record, frozen=True, kw_only=True):
    """A pod of the cluster that was pending before, or that is preempted under some configuration.

    Attributes:
        pod: which, as ``namespace/name``.
        whereabouts: by side.
        effects: what each other side changes for it, compared with the first.
    """

    pod: str
    whereabouts: list[Whereabouts]
    effects: list[PlacementEffect]


class OwnerOutcome(Record, frozen=True, kw_only=True):
    """What became of the pods of an owner under one configuration.

    Attributes:
        side: which.
        placed: how many of them, or of their successors, are on a node.
        preempted: how many had to make room.
        nodes: how many are on which node.
    """

    side: str
    placed: int
    preempted: int
    nodes: dict[str, int]


class OwnerComparison(Record, frozen=True, kw_only=True):
    """Other pods of one owner under all configurations, which are compared by number as those of workloads are.

    Attributes:
        owner: their workload, ``Pod namespace/name`` for a pod without a controller.
        pods: which, as ``namespace/name``.
        outcomes: by side.
        differences: each other side against the first.
    """

    owner: str
    pods: list[str]
    outcomes: list[OwnerOutcome]
    differences: list[PlacementDifference]


class SideResult(Record, frozen=True, kw_only=True):
    """All that became of the run under one configuration.

    Attributes:
        side: which.
        summary: the answer in numbers, as in a `SimulationReport`.
        preemptions: who had to make room, in order.
        utilisation: how full the cluster was and is.
        balance: how evenly.
        ending: how the run ended.
    """

    side: Side
    summary: simulations.SimulationSummary
    preemptions: list[simulations.Preempted]
    utilisation: simulations.Utilisation
    balance: list[simulations.Balance]
    ending: simulations.Ending


class ComparisonSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        workloads: how many there are.
        pods: how many pods they want.
        workload_pods: what becomes of those, each other side against the first.
        other_pods: what becomes of the other pods of the cluster that had a part in some run, likewise: those that were
            pending before, and those that are preempted under some side. No other running pod is moved.
    """

    exit_code: int
    workloads: int
    pods: int
    workload_pods: list[PlacementDifference]
    other_pods: list[PlacementDifference]


class SimulationComparison(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl simulate --compare``.

    Attributes:
        metadata: under which conditions it was made; its configuration is that of the first side.
        summary: the answer in numbers.
        sides: the configurations, and what each makes of the cluster.
        results: each workload, in the order given.
        others: the other pods that are not the same under all sides.
        owners: of those pods by owner; two of one owner that change places come to nothing there.
        assumed_volumes: the volumes that were provisioned in the first run before a pod was placed, by class; under
            the other sides they are assumed to be the same.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["SimulationComparison"] = "SimulationComparison"
    metadata: Metadata
    summary: ComparisonSummary
    sides: list[SideResult]
    results: list[WorkloadComparison]
    others: list[OtherComparison]
    owners: list[OwnerComparison] = []
    assumed_volumes: list[AssumedVolumes] = []
    node_map: NodeMap | None = None
