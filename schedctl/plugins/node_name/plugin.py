"""NodeName: a pod that names its node goes nowhere else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Registration, Resource, registers
from schedctl.framework.points import FilterPlugin, NodeSet, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts

if TYPE_CHECKING:
    from schedctl.framework.wording import Wording


class NodeName(PreFilterPlugin, FilterPlugin):
    """Rejects all nodes but the one in ``spec.nodeName``."""

    filters_all_nodes = True
    foreseeable = True

    other = Reason("node(s) didn't match the requested node name", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """The node it names."""
        return pod.pod.spec.node_name

    def events_to_register(self) -> tuple[Registration, ...]:
        """Any new node, which may be the one."""
        return (registers(Resource.NODE, Action.ADD),)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> NodeSet | None:
        """Narrow the search to the named node."""
        name = cycle.pod.pod.spec.node_name
        return NodeSet(frozenset((name,))) if name else None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Compare the node."""
        name = cycle.pod.pod.spec.node_name
        if not name:
            return ACCEPT
        row = nodes.descriptions.row_of.get(name, -1)
        return self.other.where(nodes.rows != row, requested=name)

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_name.wording import WORDING

        return WORDING
