"""`Draws`: how a run ends where ties are drawn again and again, as data: shares of the draws, and distributions."""

from __future__ import annotations

from schedctl.reports.metadata import Record


class Distribution(Record, frozen=True):
    """A number that differs from draw to draw.

    Attributes:
        mean: the average, with three decimals.
        lowest: the least.
        q05: of 20 draws one is at most so much.
        median: of two draws one is.
        q95: of 20 draws 19 are.
        highest: the most.
    """

    mean: float
    lowest: float
    q05: float
    median: float
    q95: float
    highest: float


class Share(Record, frozen=True):
    """In how many draws something is so.

    Attributes:
        draws: in how many.
        share: the same as a part of all, from 0 to 1.
        low, high: the 95 % interval for its probability (Wilson's).
    """

    draws: int
    share: float
    low: float
    high: float


class DrawnNode(Record, frozen=True):
    """A node, and how often pods of a workload are there.

    Attributes:
        name: the node.
        draws: in how many draws at least one is.
        pods: how many there are on average.
    """

    name: str
    draws: int
    pods: float


class DrawnPod(Record, frozen=True):
    """A pod that is not placed in every draw.

    Attributes:
        name: the pod.
        placed: in how many draws it is placed.
        message: why it is pending in the first of the others.
    """

    name: str
    placed: int
    message: str = ""


class WorkloadDraws(Record, frozen=True, kw_only=True):
    """A workload over all draws.

    Attributes:
        kind, namespace, name: which.
        wanted: how many pods it is to have.
        placed: the draws in which all of them are placed.
        pods_placed: how many are.
        nodes_used: on how many nodes.
        nodes: these, the one with most pods first.
        pending: the pods that are not placed in every draw, the one that is placed least first.
    """

    kind: str
    namespace: str
    name: str
    wanted: int
    placed: Share
    pods_placed: Distribution
    nodes_used: Distribution
    nodes: list[DrawnNode]
    pending: list[DrawnPod] = []


class Draws(Record, frozen=True, kw_only=True):
    """A run repeated with other choices among equally good nodes.

    Attributes:
        draws: how often.
        first_seed: the seed of the first; those of the others follow.
        placed: the draws in which every pod is placed.
        pods_placed: how many pods are.
        preempted: how many running pods would have to make room.
        outcomes: how many of the draws differ in where any pod goes.
        workloads: in the order given.
        worst_seed: the seed of the draw that places fewest pods, the first of several.
        worst_command: what shows that draw in full, "" where the question came from standard input.
        failures: of draws that could not be run, why, by seed.
    """

    draws: int
    first_seed: int
    placed: Share
    pods_placed: Distribution
    preempted: Distribution
    outcomes: int
    workloads: list[WorkloadDraws]
    worst_seed: int
    worst_command: str = ""
    failures: dict[int, str] = {}
