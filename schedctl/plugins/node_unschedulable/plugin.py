"""NodeUnschedulable: cordoned nodes take no new pods, but those that tolerate the taint that comes with a cordon."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.api.tolerations import is_tolerated
from schedctl.cache.node_edits import UNSCHEDULABLE_TAINT
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import FilterPlugin, PreFilterPlugin
from schedctl.framework.reasons import ACCEPT, Reason, Verdicts

if TYPE_CHECKING:
    from schedctl.framework.remedies import Rejection, Remedies
    from schedctl.framework.wording import Wording


class NodeUnschedulable(PreFilterPlugin, FilterPlugin):
    """Rejects cordoned nodes, unless the pod tolerates the cordon."""

    skips_resizes = True
    filters_all_nodes = True
    foreseeable = True

    cordoned = Reason("node(s) were unschedulable", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """Whether it tolerates a cordon."""
        return _tolerates_cordon(pod)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A node that is no longer cordoned, and a toleration of the cordon."""
        return (
            registers(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, _after_node),
            registers(Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION, _after_toleration),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        """Has nothing to prepare; kube-scheduler skips pods here that wait for a resize."""

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Look at ``spec.unschedulable``."""
        cordoned = nodes.unschedulable
        if not cordoned.any() or _tolerates_cordon(cycle.pod):
            return ACCEPT
        return self.cordoned.where(cordoned.copy())

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.node_unschedulable.wording import WORDING

        return WORDING

    @override
    def remedies(self, pod: PodInfo, rejection: Rejection) -> Remedies:
        from schedctl.plugins.node_unschedulable.remedies import remedies

        return remedies(rejection)


def _after_node(pod: PodInfo, before: Node | None, after: Node) -> Hint:
    opened = not after.spec.unschedulable and (before is None or before.spec.unschedulable)
    return Hint.QUEUE if opened else Hint.SKIP


def _after_toleration(pod: PodInfo, before: PodInfo, after: PodInfo) -> Hint:
    return Hint.QUEUE if _tolerates_cordon(after) else Hint.SKIP


def _tolerates_cordon(pod: PodInfo) -> bool:
    # the taint of a cordon has no value, so no comparison covers it
    return is_tolerated(UNSCHEDULABLE_TAINT, pod.pod.spec.tolerations or (), compares=False)
