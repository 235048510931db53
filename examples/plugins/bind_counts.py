"""BindCounts: a PostBind that counts, and tells in explanations what it has counted.

For whoever wants a number out of a run that no report has: here, how many pods of each namespace went to each zone.
`counts` hands the numbers over::

    scheduler.profiles["default-scheduler"].plugins["BindCounts"].counts()

Extension point: ``postBind``::

    schedctl simulate web.yaml -f cluster.yaml --plugin examples/plugins/bind_counts.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from schedctl.framework.cycles import Cycle
from schedctl.framework.handles import Handle
from schedctl.framework.points import PostBindPlugin
from schedctl.framework.remarks import Remark, Trials

ZONE = "topology.kubernetes.io/zone"


class BindCounts(PostBindPlugin):
    """Counts the pods bound, by namespace and zone.

    PostBind is told of pods that are bound and decides nothing, so that the numbers may live in the plugin. They are of
    all runs since it was made, those that were undone included.
    """

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._bound: Counter[tuple[str, str]] = Counter()

    def post_bind(self, cycle: Cycle, node_name: str) -> None:
        """Count a pod."""
        node = self.handle.cluster.nodes_named([node_name]).object(0)
        self._bound[cycle.pod.namespace, (node.metadata.labels or {}).get(ZONE, "")] += 1

    def counts(self) -> dict[tuple[str, str], int]:
        """Return how many pods were bound, by namespace and zone."""
        return dict(sorted(self._bound.items()))

    def remarks(self, cycle: Cycle, trials: Trials) -> Sequence[Remark]:
        """Say where the pods of the namespace went, once there are any."""
        zones = {zone: count for (namespace, zone), count in self.counts().items() if namespace == cycle.pod.namespace}
        if not zones:
            return ()
        listed = ", ".join(f"{count} in {zone or 'no zone'}" for zone, count in zones.items())
        return (Remark(f"bound so far of namespace {cycle.pod.namespace}: {listed}", evidence={"zones": zones}),)
