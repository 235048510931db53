"""`ExplainComparison`: the same pods under several configurations, as data.

What holds for `ExplainReport` holds here: within a version fields are only added, every field is always there, and
every sentence was worded by ``comparisons``. The sides are called by letters; all are compared with the first.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schedctl.reports.explanations import PodReference, Verdict
from schedctl.reports.metadata import Metadata, Record, Side, schema_name
from schedctl.reports.node_maps import NodeMap


@schema_name("Effect")
class PodEffect(StrEnum):
    """What another configuration does to a pod."""

    SAME = "Same"
    """It goes to the same node, or to any of the same equally good nodes; or to none, for the same verdict."""
    MOVES = "Moves"
    """It goes to another node."""
    MAY_MOVE = "MayMove"
    """Other nodes are equally good, but some are so under both: kube-scheduler may or may not take the same."""
    BREAKS = "Breaks"
    """It had a node, and has none."""
    MENDS = "Mends"
    """It had no node, and has one."""
    OTHERWISE = "Otherwise"
    """It has no node under either, but for another verdict, or preemption makes room elsewhere."""
    UNCLEAR = "Unclear"
    """One of the answers is inconclusive."""


@schema_name("Outcome")
class PodAnswer(Record, frozen=True, kw_only=True):
    """The answer about a pod under one configuration.

    Attributes:
        side: which.
        verdict: what became of the pod.
        profile: the profile that was run, "" where none serves the pod.
        node: where it goes, "" for nowhere; the first by name of `ties`.
        ties: all the best nodes, of which kube-scheduler takes any one.
        score: the total of these nodes, null where there are none.
        plugins: who refuses, where no node is feasible.
        message: the line of the FailedScheduling event, "" where there is none.
        error: the fault the cycle was abandoned with, "" for none.
        nominated_node: where preemption makes room, "" for nowhere.
        victims: the pods it evicts, as ``namespace/name``.
    """

    side: str
    verdict: Verdict
    profile: str = ""
    node: str = ""
    ties: list[str]
    score: int | None = None
    plugins: list[str]
    message: str = ""
    error: str = ""
    nominated_node: str = ""
    victims: list[str]


class Shift(Record, frozen=True, kw_only=True):
    """By how much the node of the first side leads over that of the other, in the weighted score of one plugin.

    Attributes:
        plugin: which.
        before: under the first side, null where the plugin gives no score there.
        after: under the other side, likewise.
    """

    plugin: str
    before: int | None
    after: int | None


@schema_name("Refusal")
class NodeRefusal(Record, frozen=True, kw_only=True):
    """A node that one side chooses and the other refuses.

    Attributes:
        side: who refuses.
        node: the node.
        plugin: by which plugin, "" if it is not known.
        text: in Kubernetes' words.
    """

    side: str
    node: str
    plugin: str
    text: str


@schema_name("Difference")
class PodDifference(Record, frozen=True, kw_only=True):
    """What changes for a pod under another side, compared with the first.

    Attributes:
        side: the other side.
        effect: what it does.
        text: why, in words; "" where nothing differs.
        shifts: the plugins whose scores differ in which of the two nodes they favour, or how much; the largest first.
        refusals: which of the two nodes the other side will not have.
    """

    side: str
    effect: PodEffect
    text: str = ""
    shifts: list[Shift]
    refusals: list[NodeRefusal]


class PodComparison(Record, frozen=True, kw_only=True):
    """One pod under all configurations.

    Attributes:
        pod: the pod.
        outcomes: the answers, by side.
        differences: each other side against the first.
    """

    pod: PodReference
    outcomes: list[PodAnswer]
    differences: list[PodDifference]


class SideSummary(Record, frozen=True, kw_only=True):
    """All pods under one configuration.

    Attributes:
        side: which.
        scheduled: how many pods have a node.
        preempting: how many of the others would get one by preemption.
        nodes: how many nodes the pods go to.
        fullest: how many pods go to the node to which most go.
        zones: how many pods go to which zone, "" for nodes in none.
    """

    side: Side
    scheduled: int
    preempting: int
    nodes: int
    fullest: int
    zones: dict[str, int]


class Tally(Record, frozen=True, kw_only=True):
    """For how many pods another side changes what, compared with the first.

    Attributes:
        side: the other side.
        same, moves, may_move, breaks, mends, otherwise, unclear: how many pods by `Effect`.
    """

    side: str
    same: int = 0
    moves: int = 0
    may_move: int = 0
    breaks: int = 0
    mends: int = 0
    otherwise: int = 0
    unclear: int = 0


@schema_name("Summary")
class ExplainComparisonSummary(Record, frozen=True, kw_only=True):
    """The answer in numbers.

    Attributes:
        exit_code: the exit code of the command.
        pods: how many were asked about.
        tallies: each other side against the first.
    """

    exit_code: int
    pods: int
    tallies: list[Tally]


class ExplainComparison(Record, frozen=True, kw_only=True):
    """The whole answer of ``schedctl explain --compare``.

    Attributes:
        metadata: under which conditions it was made; its configuration is that of the first side.
        summary: the answer in numbers.
        sides: the configurations, and what each makes of all pods.
        results: each pod, in the order in which it was asked about.
        node_map: the nodes that pictures show; null unless the output has pictures (``html``).
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ExplainComparison"] = "ExplainComparison"
    metadata: Metadata
    summary: ExplainComparisonSummary
    sides: list[SideSummary]
    results: list[PodComparison]
    node_map: NodeMap | None = None
