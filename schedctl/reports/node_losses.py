"""`NodeLossReport`: what ``schedctl n-1`` says, as data."""

from __future__ import annotations

from typing import Literal

from schedctl.reports.metadata import Metadata, Record, ReportedAssumption, schema_name
from schedctl.reports.node_maps import NodeMap


@schema_name("Summary")
class NodeLossSummary(Record, frozen=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        scenarios: how many losses were tried.
        harmless: after how many every pod that a controller makes again would find a node.
        leaving_pending: after how many some pod would find none.
        most_pending: how many pods the worst of them would leave pending.
        failed: how many could not be answered.
        pending_before: how many pods are pending already; they take no part.
    """

    exit_code: int
    scenarios: int
    harmless: int
    leaving_pending: int
    most_pending: int
    failed: int = 0
    pending_before: int = 0


class PendingAfterLoss(Record, frozen=True):
    """Pods that would find no node, for one reason.

    Attributes:
        owner: their controller, ``Kind namespace/name``, "" for none.
        message: the line of their FailedScheduling event.
        pods: their names, as ``namespace/name``.
        preempted: how many of them had a node that is still there, and would have to make room.
    """

    owner: str
    message: str
    pods: list[str]
    preempted: int = 0


class LossResult(Record, frozen=True, kw_only=True):
    """What the loss of a node, or of all nodes with a label, would do.

    Attributes:
        rank: 1 for the loss that would leave most pods pending.
        by: ``node``, or the label that the nodes have in common.
        name: the node, or the value of the label.
        nodes: how many nodes are gone.
        displaced: how many pods their controllers make again.
        pending: how many pods would find no node, those preempted included.
        groups: these, by controller and reason.
        lost: the pods that no controller makes again, as ``namespace/name``.
        foreign: how many pods would wait for a scheduler that no profile is.
        preempted: how many pods of other nodes would be evicted to make room.
        simulated: whether the pods were placed; false where it is certain beforehand that each finds a node.
        error: why there is no answer, "" where there is one.
        command: what shows this loss in full.
    """

    rank: int
    by: str
    name: str
    nodes: int
    displaced: int
    pending: int
    groups: list[PendingAfterLoss] = []
    lost: list[str] = []
    foreign: int = 0
    preempted: int = 0
    simulated: bool = True
    error: str = ""
    command: str = ""


class NodeLossReport(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl n-1``.

    Attributes:
        metadata: under which conditions it was made.
        summary: the answer in numbers.
        results: every loss that was tried, the worst first.
        pending_before: the pods that are pending already and are not counted, as ``namespace/name``.
        pending_command: the command that explains these, "" where there are none.
        guesses: what some answer rests on that could not be listed.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["NodeLossReport"] = "NodeLossReport"
    metadata: Metadata
    summary: NodeLossSummary
    results: list[LossResult]
    pending_before: list[str] = []
    pending_command: str = ""
    guesses: list[ReportedAssumption] = []
    node_map: NodeMap | None = None
