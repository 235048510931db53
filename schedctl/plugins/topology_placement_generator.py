"""TopologyPlacementGenerator: a group with a topology key is tried in one domain after another (KEP-5732)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedctl.cache.nodes import Nodes
from schedctl.framework.group_points import GroupCycle, Placement, PlacementGeneratePlugin
from schedctl.framework.statuses import Status, error


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """Makes one placement of each value of the group's topology key, or of that in which the group runs already.

    kube-scheduler tries them in any order; here it is that of their names.
    """

    def placement_generate(self, cycle: GroupCycle, nodes: Nodes) -> Sequence[Placement] | Status:
        """Divide the nodes that have the label by its value."""
        key = cycle.group.topology_key
        if not key:
            return (Placement("", nodes),)
        required = _domain_of_scheduled(cycle, nodes, key)
        if isinstance(required, Status):
            return required
        rows: dict[str, list[int]] = {}
        objects = nodes.cluster.node_table.objects
        for position, row in enumerate(nodes.rows.tolist()):
            domain = (objects[row].metadata.labels or {}).get(key)
            if domain is not None and required in (None, domain):
                rows.setdefault(domain, []).append(position)
        return [Placement(domain, nodes.take(np.array(rows[domain], np.intp))) for domain in sorted(rows)]


def _domain_of_scheduled(cycle: GroupCycle, nodes: Nodes, key: str) -> str | Status | None:
    """Return the one domain in which pods of the group run, None where none does, or that there is no such domain."""
    found: str | None = None
    pods, objects = nodes.cluster.pod_table, nodes.cluster.node_table.objects
    for pod in cycle.scheduled:
        if pod.key not in pods.row_of:
            node = pod.pod.spec.node_name
            return _undetermined(f'getting node for pod {pod.key}: nodeinfo not found for node name "{node}"')
        domain = (objects[int(pods.node[pods.row_of[pod.key]])].metadata.labels or {}).get(key)
        if domain is None:
            return _undetermined(f"no topology domain found for pod {pod.key}")
        if found not in (None, "", domain):
            return _undetermined(f"more than 1 domain found for pod group: {found}, {domain}")
        found = domain
    return found


def _undetermined(why: str) -> Status:
    return error(f"cannot determine domain for already scheduled pods: {why}")
