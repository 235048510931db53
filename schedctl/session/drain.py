"""What ``kubectl drain`` would do to nodes, and where their pods would go."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api import label_selectors
from schedctl.cache.cluster import Cluster
from schedctl.errors import UsageError
from schedctl.reports.drains import DrainReport
from schedctl.scheduler.gaps import log_assumptions
from schedctl.session import drain_reasons, node_maps, runs
from schedctl.session.names import Names
from schedctl.session.sessions import Session
from schedctl.simulation import broken_groups, drain_report_builder, drains, utilisation
from schedctl.simulation.drains import DrainFlags
from schedctl.simulation.node_choices import node_named, nodes_chosen
from schedctl.workloads.disruption_budgets import Budgets

_NODE_PREFIX = re.compile(r"^(?:nodes?|no)/")
"""What `kubectl get nodes -o name` prints before a name, and what else kubectl takes for it."""


class NodeSelection(msgspec.Struct, frozen=True):
    """Which nodes are drained: those named, or those with labels, or those of a zone."""

    names: Sequence[str] = ()
    selector: str = ""
    zone: str = ""

    def find(self, cluster: Cluster, known: Names) -> list[str]:
        """Return the names of the nodes, each once.

        Args:
            cluster: the cluster.
            known: what it calls what the selection names.

        Raises:
            UsageError: one is not there, or none has the labels.
        """
        if self.zone:
            return nodes_chosen(cluster, known.choice_of_nodes(f"zone={self.zone}"))
        if not self.selector:
            names = dict.fromkeys(known.name(_NODE_PREFIX.sub("", name)) for name in self.names)
            return [node_named(cluster, name).metadata.name for name in names]
        query, table = known.query(label_selectors.parse(self.selector)), cluster.node_table
        found = sorted(name for name, row in table.row_of.items() if query.matches(table.objects[row].metadata.labels))
        if not found:
            raise UsageError("no node has these labels", "`-l` selects nodes; `--pod-selector` selects pods")
        return found


def drain(
    session: Session, selection: NodeSelection, flags: DrainFlags, *, fail: bool = False, node_map: bool = False
) -> DrainReport:
    """Return what draining nodes would do, one after another.

    Args:
        session: with its state loaded; its what-ifs are made here.
        selection: the nodes.
        flags: those of ``kubectl drain``.
        fail: whether a node that is not drainable, or a pod that stays pending, makes the exit code 1.
        node_map: whether the report has the nodes that pictures show.

    Raises:
        UsageError: a what-if cannot be carried out, or a node is not there.
    """
    cluster, notifier = session.cluster, session.notifier
    with log_assumptions(cluster) as assumptions:
        # A budget's status knows nothing of the what-ifs; what they take is counted afterwards, by the drain.
        budgets = Budgets.of(cluster)
        bound = frozenset(cluster.pod_table.row_of)
        session.change()
        names = selection.find(cluster, session.names)
        flags = replace(flags, pod_selector=session.names.query(flags.pod_selector))
        scheduler = session.scheduler()
        settled = session.settle(scheduler)
        for key in cluster.pod_table.row_of.keys() - bound:
            budgets.note_running(cluster.pod_table.infos[cluster.pod_table.row_of[key]])
        groups = broken_groups.pods_on_nodes(cluster)
        before = utilisation.measure(cluster) if node_map else None
        with notifier.progress("draining") as progress:
            facts = drains.drain(scheduler, names, flags, budgets=budgets, progress=runs.RunProgress(progress))
    assumptions.admission(session.state.assembled.unknown)
    metadata = session.metadata(settled)
    report = drain_report_builder.report(facts, cluster, metadata=metadata, fail=fail, guesses=assumptions.describe())
    report = replace(report, broken_groups=broken_groups.broken_since(groups, cluster))
    report = drain_reasons.add_warnings(report, facts, scheduler)
    if node_map:
        report = node_maps.add(report, cluster, before)
    if facts.interrupted:
        return report
    with notifier.progress("explaining") as progress:
        return drain_reasons.add_reasons(report, scheduler, progress.advance)
