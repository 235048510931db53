"""Each node, zone or other group of nodes lost in turn: which loss would leave pods pending, ranked."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

import msgspec

from schedctl.api import topology
from schedctl.cache.cluster import Cluster
from schedctl.errors import UsageError
from schedctl.reports import exit_codes
from schedctl.reports.node_losses import LossResult, NodeLossReport, NodeLossSummary, PendingAfterLoss
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import log_assumptions
from schedctl.session import node_maps
from schedctl.session.command_words import options_of
from schedctl.session.sessions import Session
from schedctl.simulation.node_choices import label_of, nodes_chosen
from schedctl.simulation.node_losses import NodeLoss, NodeLosses, PendingReplacement
from schedctl.simulation.utilisation import zones
from schedctl.studies.engines import Engine, Failure, InProcess

NODE = "node"
_ZONE = "zone"


class Loss(msgspec.Struct, frozen=True):
    """Nodes that are lost at once.

    Attributes:
        by: ``node``, or the label that they have in common.
        name: the node, or the value of the label.
        nodes: their names.
    """

    by: str
    name: str
    nodes: tuple[str, ...]

    @property
    def weight(self) -> int:
        """How much work it is, beside others."""
        return len(self.nodes)


class LossWork(msgspec.Struct, frozen=True):
    """Plays losses on a cluster.

    Attributes:
        scheduler: the profiles and the cluster.
    """

    scheduler: Scheduler

    def begin(self) -> Callable[[Loss], NodeLoss]:
        """Return what plays one."""
        losses = NodeLosses(self.scheduler)
        return lambda loss: losses.lose(loss.nodes)


def losses_of(cluster: Cluster, by: Sequence[str]) -> list[Loss]:
    """Return what can be lost at once.

    Args:
        cluster: the cluster.
        by: ``node``, ``zone`` or labels; none for nodes and, where there are several, zones.

    Raises:
        UsageError: no node has one of the labels.
    """
    several_zones = len({zone for zone in zones(cluster).values() if zone}) > 1
    found: list[Loss] = []
    for word in by or (NODE, *((_ZONE,) if several_zones else ())):
        found += _nodes(cluster) if word == NODE else _groups(cluster, label_of(cluster, word))
    return sorted(found, key=lambda loss: -loss.weight)  # the longest begin first, so that nobody waits for them alone


def lose(
    session: Session,
    by: Sequence[str] = (),
    *,
    engine: Engine | None = None,
    namespace: str = "",
    fail: bool = False,
    node_map: bool = False,
) -> NodeLossReport:
    """Return which loss would leave pods pending, the worst first; the state is as before.

    Args:
        session: with its state loaded; its what-ifs are made here.
        by: see `losses_of`.
        engine: where the losses are played; in this process if None.
        namespace: of pods and workloads that what-ifs name without one.
        fail: whether a loss that leaves pods pending makes the exit code 1.
        node_map: whether the report has the nodes that pictures show.

    Raises:
        UsageError: a what-if cannot be carried out, or no node has a label.
    """
    cluster = session.cluster
    session.change(namespace)
    scheduler = session.scheduler()
    settled = session.settle(scheduler)
    losses = losses_of(cluster, by)
    if not losses:
        raise UsageError("the cluster has no nodes, so none can be lost", "`-f` names the files that have the nodes")
    # what answers rest on where kinds are missing is heard in this process alone
    chosen = InProcess() if engine is None or cluster.missing else engine
    results: list[NodeLoss | Failure] = []
    with session.notifier.progress("losing") as progress, log_assumptions(cluster) as assumptions:
        for loss, result in zip(losses, chosen.results(LossWork(scheduler), losses), strict=True):
            results.append(result)
            progress.advance(len(results), len(losses), f"{loss.by} {loss.name}")
    assumptions.admission(session.state.assembled.unknown)
    guesses = assumptions.describe()
    ranked = _ranked([_result(*pair, session) for pair in zip(losses, results, strict=True)])
    bad = [each for each in ranked if each.pending]
    failed = sum(bool(each.error) for each in ranked)
    doubtful = bool(failed) or any(each.decides for each in guesses)
    report = NodeLossReport(
        metadata=session.metadata(settled),
        summary=NodeLossSummary(
            exit_code=exit_codes.of_answer(failed=fail and bool(bad), inconclusive=doubtful),
            scenarios=len(ranked),
            harmless=len(ranked) - len(bad) - failed,
            leaving_pending=len(bad),
            most_pending=max((each.pending for each in ranked), default=0),
            failed=failed,
            pending_before=len(cluster.pending),
        ),
        results=ranked,
        pending_before=sorted(cluster.pending),
        pending_command=_command(session) if cluster.pending else "",
        guesses=guesses,
    )
    return node_maps.add(report, cluster) if node_map else report


def _nodes(cluster: Cluster) -> Iterator[Loss]:
    for name in sorted(cluster.node_table.row_of):
        yield Loss(NODE, name, (name,))


def _groups(cluster: Cluster, label: str) -> Iterator[Loss]:
    table = cluster.node_table
    objects = (table.objects[row] for row in table.row_of.values())
    values = {topology.group_of(node.metadata.labels, label) for node in objects} - {None}
    for value in sorted(str(each) for each in values):
        yield Loss(label, value, tuple(nodes_chosen(cluster, f"{label}={value}")))
    if not values:
        nodes_chosen(cluster, f"{label}=")  # says that no node has the label, and which there are


def _result(loss: Loss, result: NodeLoss | Failure, session: Session) -> LossResult:
    command = _command(session, loss)
    if isinstance(result, Failure):
        return LossResult(
            rank=0,
            by=loss.by,
            name=loss.name,
            nodes=len(loss.nodes),
            displaced=0,
            pending=0,
            error=result.error,
            command=command,
        )
    return LossResult(
        rank=0,
        by=loss.by,
        name=loss.name,
        nodes=result.nodes,
        displaced=result.displaced,
        pending=len(result.pending),
        groups=_grouped(result.pending),
        lost=list(result.lost),
        foreign=result.foreign,
        preempted=result.preempted,
        simulated=result.simulated,
        command=command,
    )


def _grouped(pending: Sequence[PendingReplacement]) -> list[PendingAfterLoss]:
    groups: dict[tuple[str, str], list[PendingReplacement]] = {}
    for each in pending:
        groups.setdefault((each.owner, each.message), []).append(each)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        PendingAfterLoss(owner, message, [each.pod for each in pods], sum(each.preempted for each in pods))
        for (owner, message), pods in ordered
    ]


def _ranked(results: list[LossResult]) -> list[LossResult]:
    def badness(each: LossResult) -> tuple[object, ...]:
        return (not each.error, -each.pending, -len(each.lost), -each.preempted, each.by != NODE, each.by, each.name)

    ordered = sorted(results, key=badness)
    return [msgspec.structs.replace(each, rank=rank) for rank, each in enumerate(ordered, 1)]


def _command(session: Session, loss: Loss | None = None) -> str:
    """Return the command that explains the pods that are pending, or that a loss would leave pending."""
    words = ["schedctl", "explain", "--all-pending", *options_of(session)]
    if loss is not None and loss.by == NODE:
        words += ["--remove-node", loss.name]
    elif loss is not None:
        words += ["--lose", f"{_ZONE if loss.by == topology.ZONE else loss.by}={loss.name}"]
    return shlex.join(words)
