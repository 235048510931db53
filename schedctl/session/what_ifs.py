"""Changes of the cluster that are made before the question is asked, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from schedctl.session.names import AS_WRITTEN, Names

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.scheduler import Scheduler
    from schedctl.simulation.what_ifs import WhatIfResult


class WhatIfs(msgspec.Struct, frozen=True):
    """What is changed; false where there are none.

    Attributes:
        written: words and texts, in the order given.
        names: the names in them.
    """

    written: tuple[tuple[str, str], ...] = ()
    names: Names = AS_WRITTEN

    def __bool__(self) -> bool:
        return bool(self.written)

    def apply(self, cluster: Cluster, namespace: str = "") -> list[WhatIfResult]:
        """Change the cluster for good and return what each what-if did.

        Args:
            cluster: the cluster.
            namespace: of pods and workloads that name none; "" for the usual one.

        Raises:
            UsageError: a text cannot be read, or what it is about is not there.
            InputError: a file of nodes cannot be understood.
        """
        if not self.written:
            return []
        from schedctl.api.defaults import DEFAULT_NAMESPACE
        from schedctl.simulation import what_if_syntax, what_ifs

        namespace = namespace or DEFAULT_NAMESPACE
        changes = [self.names.what_if(what_if_syntax.parse(word, text, namespace)) for word, text in self.written]
        return what_ifs.apply(changes, cluster)


NO_WHAT_IFS = WhatIfs()
"""No what-if."""


def successors(changed: Iterable[WhatIfResult]) -> dict[str, str]:
    """Return by key of a pod that is gone the key of the pod that has taken its place in the end."""
    found: dict[str, str] = {}
    for each in changed:
        # A pod that took the place of another may lose its own to a later what-if.
        found = {gone: each.successors.get(made, made) for gone, made in found.items()} | each.successors
    return found


def hypothetical_nodes(changed: Iterable[WhatIfResult]) -> frozenset[str]:
    """Return the nodes that what-ifs cordoned, drained, tainted, labelled or lost, which no fix is to undo."""
    return frozenset(name for each in changed if each.kind != "add-node" for name in each.nodes)


def settle(changed: Iterable[WhatIfResult], scheduler: Scheduler) -> list[str]:
    """Place the pods that have no node because of what-ifs, as a run does it; return a line about that, or none."""
    waiting = dict.fromkeys(key for each in changed for key in each.waiting)
    pods = [info for key in waiting if (info := scheduler.cluster.pending.get(key)) and scheduler.profile_of(info)]
    if not pods:
        return []
    from schedctl.simulation.replacement import ReplacementController
    from schedctl.simulation.runs import Options, run

    facts = run(scheduler, pods, options=Options(trace=False), controller=ReplacementController(scheduler))
    placed = sum(info.key in scheduler.cluster.pod_table.row_of for info in pods)
    others = len(facts.evictions)
    gone = f"; {others} other{'s' if others > 1 else ''} would be preempted" if others else ""
    return [f"{placed} of {len(pods)} pods to be placed would get a node, {len(pods) - placed} would not{gone}"]
