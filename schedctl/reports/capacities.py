"""`CapacityReport`: what ``schedctl capacity`` says, as data."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap
from schedctl.reports.reasons import Reason, Remark

NODE = "node"
"""What groups nodes one by one."""


@schema_name("Summary")
class CapacitySummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        pods: how many kinds of pods were asked about.
        fitting: of how many kinds at least one more fits.
        inconclusive: how many need something that is not modelled.
    """

    exit_code: int
    pods: int
    fitting: int
    inconclusive: int = 0


class GroupFit(Record, frozen=True):
    """Some nodes, and how many of the pods went there.

    Attributes:
        name: the value of the label, or the name of the node; "" for nodes without the label.
        nodes: how many nodes there are.
        used: how many of them took at least one.
        fits: how many pods they took.
    """

    name: str
    nodes: int
    used: int
    fits: int


class Grouping(Record, frozen=True):
    """Where the pods went, by one label.

    Attributes:
        label: the label, or ``node``.
        groups: by name; of nodes those that took a pod.
    """

    label: str
    groups: list[GroupFit]


class Stop(Record, frozen=True):
    """Why the next pod does not fit.

    Attributes:
        message: the line of its FailedScheduling event, or the fault.
        plugins: who refused it.
        reasons: why no node is feasible, the most frequent first.
        nominated_node: the node on which evictions would make room for it, "" for none.
        victims: how many pods would have to go there.
    """

    message: str
    plugins: list[str]
    reasons: list[Reason]
    nominated_node: str = ""
    victims: int = 0


class LargestFit(Record, frozen=True):
    """How much of a resource one pod could request, with all else as it is.

    Attributes:
        resource: which.
        requested: what the pod requests.
        alone: the most that fits on the cluster as it is; null if not even none of it fits.
        after: the most that fits after all others were placed; null likewise, or if that was not asked.
    """

    resource: str
    requested: int
    alone: int | None
    after: int | None


class CapacityResult(Record, frozen=True):
    """How many more pods of one kind fit.

    Attributes:
        subject: what was asked about, e.g. ``deploy shop/web``.
        pod: the first of the pods, as ``namespace/name``.
        priority: their priority.
        requests: what each requests.
        fits: how many fit.
        limited: no more were tried, though another might fit.
        by: where they went.
        nodes: how many went to which node.
        stop: why the next one does not fit, null where it might.
        largest: the largest single pod, for each resource it requests.
        quota: why the namespace allows fewer, "" where it does not.
        within_quota: how many it allows, null where no quota is in the way.
        error: what it needs that is not modelled, "" for nothing.
        notes: what a reader must know to read the answer right.
        warnings: what plugins find in the spec of the pods that does not do what was probably meant.
        group_size: of how many pods each is, where pod groups are counted: `fits` is then the number of groups, while
            `by` and `nodes` still count pods; 0 where pods are counted.
    """

    subject: str
    pod: str
    priority: int
    requests: dict[str, int]
    fits: int
    limited: bool
    by: list[Grouping]
    nodes: dict[str, int]
    stop: Stop | None
    largest: list[LargestFit]
    quota: str = ""
    within_quota: int | None = None
    error: str = ""
    notes: list[str] = []
    warnings: list[Remark] = []
    group_size: int = 0


class CapacityReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl capacity``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: each kind of pod, on the cluster as it is.
        guesses: what some number rests on that could not be listed: the numbers are those of a cluster without it.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["CapacityReport"] = "CapacityReport"
    metadata: Metadata
    summary: CapacitySummary
    results: list[CapacityResult]
    guesses: list[ReportedAssumption] = []
    node_map: NodeMap | None = None
