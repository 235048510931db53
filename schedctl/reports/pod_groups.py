"""What becomes of a pod group as a whole: the part of a report that stands before what becomes of its pods."""

from __future__ import annotations

from enum import StrEnum

from schedctl.reports import counts
from schedctl.reports.metadata import Record
from schedctl.reports.reasons import Hint, Reason


class GroupVerdict(StrEnum):
    """What becomes of a pod group."""

    PLACED = "Placed"
    """Every pod of it has a node, or would get one."""
    STARTS = "Starts"
    """Enough pods for it to start; the others stay pending."""
    WAITS = "Waits"
    """Fewer pods than it needs: none is placed."""
    PREEMPTS = "Preempts"
    """It would fit once it has evicted others; none is placed before."""
    GATED = "Gated"
    """It is kept out of the queue, and not tried."""
    OFF = "Off"
    """Groups are off, and its pods are scheduled one by one."""
    ERROR = "Error"
    """kube-scheduler refuses to try it, or a plugin failed."""


class GroupTrial(Record, frozen=True):
    """How far a group got in one placement.

    Attributes:
        placement: the value of the topology key, "" where there was no choice.
        nodes: of how many nodes it consists.
        placed: how many of the pods tried found a node.
        tried: how many pods were tried; kube-scheduler stops where too few are left for the group to start.
        feasible: whether the group could start there.
        chosen: whether it is the one that is taken.
        scores: the weighted score of each plugin, empty where there was nothing to choose.
        message: why the group could not start there, "" where it could.
    """

    placement: str
    nodes: int
    placed: int
    tried: int
    feasible: bool
    chosen: bool = False
    scores: dict[str, int] = {}
    message: str = ""


class MemberCause(Record, frozen=True):
    """Pods of the group that found no node, for the same reasons.

    Attributes:
        pods: as ``namespace/name``.
        message: kube-scheduler's line about the first of them.
        reached: whether kube-scheduler tried them; else this is what they would have met had it gone on.
        reasons: why the nodes were rejected.
    """

    pods: list[str]
    message: str
    reached: bool = True
    reasons: list[Reason] = []


class MissingResource(Record, frozen=True):
    """What a group lacks of a resource.

    Attributes:
        resource: its name.
        requested: what the pods ask for that found no node, as far as the group needs them to start.
        free: what is left of it in the placement after the pods that did find nodes.
        text: the same in words.
    """

    resource: str
    requested: int
    free: int
    text: str


class GroupScaleUp(Record, frozen=True):
    """What new nodes of a group of nodes would change for a pod group.

    Attributes:
        group: the group of nodes.
        new_nodes: how many would be enough, 0 where no number is.
        text: the same in words.
    """

    group: str
    new_nodes: int = 0
    text: str = ""


class PodGroupResult(Record, frozen=True, kw_only=True):
    """What becomes of a pod group.

    Attributes:
        namespace, name: of the group.
        policy: ``Gang`` or ``Basic``.
        min_count: how many of its pods have to run for any to run; 1 unless it is a gang.
        topology_key: the label of which all its nodes have one value, "" for none.
        priority: of the group.
        pods: how many pods it has.
        scheduled: how many of them have a node already.
        placed: how many more would get one, or found one in the placement that took most.
        verdict: what becomes of it.
        reason, message: what kube-scheduler writes into the condition PodGroupInitiallyScheduled; "" where it writes
            none.
        text: the verdict in words.
        attempts: how often it was tried in a run.
        members: its pods, as ``namespace/name``, those with a node first.
        nodes: how many of its pods are, or would be, on which node; where it does not start, those of before.
        trials: each placement that was tried, in order.
        causes: why pods found no node in the placement that took most.
        missing: what it lacks in total in that placement.
        victims: the pods that would be preempted, as ``namespace/name``.
        waiting: what else is pending and comes behind it in the queue.
        hints: what would let it start, tried on the group.
        scale_up: what new nodes of each group of nodes would change, those that an autoscaler prefers first; empty
            where every pod has a place, or where no group of nodes is known.
        notes: what a reader must know to read the answer right.
    """

    namespace: str
    name: str
    policy: str
    min_count: int
    topology_key: str = ""
    priority: int = 0
    pods: int
    scheduled: int = 0
    placed: int = 0
    verdict: GroupVerdict
    reason: str = ""
    message: str = ""
    text: str = ""
    attempts: int = 0
    members: list[str] = []
    nodes: dict[str, int] = {}
    trials: list[GroupTrial] = []
    causes: list[MemberCause] = []
    missing: list[MissingResource] = []
    victims: list[str] = []
    waiting: list[str] = []
    hints: list[Hint] = []
    scale_up: list[GroupScaleUp] = []
    notes: list[str] = []

    @property
    def starts(self) -> bool:
        """Whether enough of its pods run or would run."""
        return self.verdict in (GroupVerdict.PLACED, GroupVerdict.STARTS)


class BrokenGroup(Record, frozen=True):
    """A gang that had as many pods on nodes as it needs, and no longer has.

    Attributes:
        group: which, as ``namespace/name``.
        before: how many of its pods were on nodes.
        after: how many are.
        needs: how many it needs, its ``minCount``.
    """

    group: str
    before: int
    after: int
    needs: int

    @property
    def text(self) -> str:
        """How many of its pods are left, in words."""
        return f"{self.after} of {counts.of(self.before, 'pod')} left, needs {self.needs}"
