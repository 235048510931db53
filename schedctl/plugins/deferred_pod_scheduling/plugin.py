"""DeferredPodScheduling: a running pod that waits for more of its node gets it there or nowhere (KEP-5836)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from schedctl.api.nodes import Node
from schedctl.cache.nodes import NodeInfo, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, PermitPlugin, PreFilterPlugin
from schedctl.framework.reasons import Reason, Verdict
from schedctl.framework.statuses import SUCCESS, Code, Status

if TYPE_CHECKING:
    from schedctl.framework.wording import Wording


class DeferredPodScheduling(PreFilterPlugin, FilterPlugin, PermitPlugin):
    """Keeps a pod whose resize is deferred to its node, unless no pod may be evicted there for the sake of resizes."""

    memory_only = True
    elsewhere = Reason("pod assigned to different node", unresolvable=True)
    disabled = Reason("node had resize preemption disabled", unresolvable=True)

    def signature(self, pod: PodInfo) -> Hashable:
        """The node on which it waits, if it does."""
        return pod.pod.spec.node_name if pod.resize_is_deferred else ""

    def events_to_register(self) -> tuple[Registration, ...]:
        """Its node, when preemption for resizes is allowed there again."""
        return (
            registers(Resource.NODE, Action.UPDATE_NODE_PREEMPTION_POLICY, _after_policy),
            registers(Resource.NODE, Action.ADD, _after_node),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Leave all other pods alone."""
        return None if cycle.pod.resize_is_deferred else Status(Code.SKIP)

    @per_node
    def filter(self, cycle: Cycle, node: NodeInfo) -> Verdict | None:
        """Refuse other nodes, and a node with ``spec.podPreemptionPolicy.disableResizePreemption``."""
        name = cycle.pod.pod.spec.node_name
        if not cycle.pod.resize_is_deferred:
            return None
        if name and name != node.name:
            return self.elsewhere(node=name)
        owners = _owners(node.object)
        return self.disabled(owners=owners) if owners else None

    def permit(self, cycle: Cycle, node_name: str) -> Status:
        """Hold back a pod whose resize fits: it runs there already, and the kubelet will see to it."""
        if not cycle.pod.resize_is_deferred:
            return SUCCESS
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("pod resize fits, waiting for Kubelet actuation",))

    @override
    def wording(self) -> Mapping[str, Wording]:
        from schedctl.plugins.deferred_pod_scheduling.wording import WORDING

        return WORDING


def _owners(node: Node) -> tuple[str, ...]:
    policy = node.spec.pod_preemption_policy
    return tuple(policy.disable_resize_preemption or ()) if policy is not None else ()


def _after_policy(pod: PodInfo, before: Node, after: Node) -> Hint:
    return _after_node(pod, None, after) if _owners(before) else Hint.SKIP


def _after_node(pod: PodInfo, before: Node | None, after: Node) -> Hint:
    runs_there = pod.resize_is_deferred and pod.pod.spec.node_name == after.metadata.name
    return Hint.QUEUE if runs_there and not _owners(after) else Hint.SKIP
