"""Groups of nodes, and what is offered, requested and free in each: for checks of amounts.

Only nodes that take pods count: those that are not cordoned and have no taint of the effects NoSchedule and NoExecute,
which leaves out the control plane, nodes that are not ready, and those kept for somebody. The latter count in a check
that names their labels; it has the nodes with these labels, and their taints do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from schedctl.api import topology
from schedctl.api.amounts import amount
from schedctl.api.resources import CPU, PODS
from schedctl.cache.cluster import Cluster
from schedctl.policy.facts import takes_pods, usage
from schedctl.policy.findings import IGNORE_PENDING, RUN, Finding, Judged
from schedctl.policy.situations import Situation
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome
from schedctl.simulation.node_choices import label_of
from schedctl.simulation.utilisation import share


@dataclass(slots=True)
class Group:
    """Some nodes.

    Attributes:
        about: what findings are about.
        allocatable: what they offer of a resource.
        requested: what is taken of it.
        free: what is left.
        closed: what those nodes offer that take no pods.
    """

    about: Judged
    allocatable: int = 0
    requested: int = 0
    free: int = 0
    closed: int = 0

    def percent(self, value: int) -> float:
        """Return a number in percent of what is offered."""
        return share(value, self.allocatable)


def groups(cluster: Cluster, resource: str, by: str, selector: Mapping[str, str]) -> list[Group]:
    """Return the groups of nodes of a cluster, by the values of a label in their order; all in one for no label.

    Args:
        cluster: the cluster.
        resource: of which the amounts are.
        by: the label, "" for none.
        selector: labels of the nodes that count; those that take pods, if empty.
    """
    key = label_of(cluster, by) if by else ""
    taken, table = usage(cluster), cluster.node_table
    found: dict[str, Group] = {}
    offers = taken.allocatable.get(resource)
    for name, row in table.row_of.items():
        node = table.objects[row]
        value = topology.group_of(node.metadata.labels, key) or "" if key else ""
        if value not in found:
            found[value] = Group(Judged.of_nodes(key, value) if key else RUN)
        if offers is None or not selector.items() <= (node.metadata.labels or {}).items():
            continue
        group, place = found[value], taken.places[name]
        offered, requested = offers[place], taken.requested[resource][place]
        if node.spec.unschedulable or not (selector or takes_pods(node)):
            group.closed += offered
            continue
        group.allocatable += offered
        group.requested += requested
        group.free += max(offered - requested, 0)
    return [found[value] for value in sorted(found)] or [Group(RUN)]


class UndecidedDemand(msgspec.Struct, frozen=True):
    """What pods request whose node nobody knows.

    Attributes:
        resource: of which.
        amount: how much.
        pods: how many of them request any.
        ignores_pending: whether it is without pending pods.
    """

    resource: str
    amount: int
    pods: int
    ignores_pending: bool

    def finding(self, message: str, about: Judged) -> Finding:
        """Return the finding that it could make the difference."""
        text = f"{counts.of(self.pods, 'pod')} without a node {'requests' if self.pods == 1 else 'request'}"
        hints = () if self.ignores_pending else (IGNORE_PENDING,)
        reasons = (f"{text} {self._text()}",)
        return Finding(CheckOutcome.INCONCLUSIVE, message, reasons, hints, about=about)

    def _text(self) -> str:
        """Return the amount with a unit, e.g. ``27 cores``, ``500m of cpu``, ``3Gi of memory``."""
        if self.resource == CPU and self.amount % 1000 == 0:
            return counts.of(self.amount // 1000, "core")
        return f"{amount(self.resource, self.amount)} of {self.resource}"


def undecided_demand(situation: Situation, resource: str, ignore_pending: bool) -> UndecidedDemand:
    """Return what pods request of a resource whose node nobody knows."""
    pods = situation.undecided_pods(ignore_pending)
    requested = [1 if resource == PODS else info.demand.fit_requests.get(resource, 0) for info in pods]
    return UndecidedDemand(resource, sum(requested), sum(map(bool, requested)), ignore_pending)
