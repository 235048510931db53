"""DynamicResources: devices that pods claim (KEP-4381), by resource claims or as extended resources (KEP-5004)."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from schedctl.api.devices import DeviceClass
from schedctl.cache.arrays import IntArray
from schedctl.cache.cluster import Change, ChangeKind
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled, PluginError
from schedctl.framework.cycles import Cycle, StateKey
from schedctl.framework.device_classes import classes_by_resource
from schedctl.framework.points import (
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    Scope,
    ScorePlugin,
)
from schedctl.framework.reasons import CodeColumn, Reason, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, error, unschedulable

STATE = StateKey[None]("DynamicResources")
"""Written by PreFilter, whether or not the pod has claims."""


class DynamicResources(
    PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, PostFilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin
):
    """Finds nodes where the devices a pod claims are available, and takes them for it."""

    unread = Reason("not found", code=Code.ERROR)
    reads_feasible_set = False

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Let a pod without claims in.

        Raises:
            NotModelled: the pod has one.
        """
        _refuse_claims(pod)
        return SUCCESS

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Skip for a pod that needs no devices.

        Raises:
            NotModelled: it has a claim, or asks for an extended resource that a DeviceClass backs.
        """
        pod = cycle.pod
        _refuse_claims(pod)
        classes = classes_by_resource(nodes.cluster)
        for name, amount in pod.requests.exact.items() if classes else ():
            if amount and name in classes:
                feature = "extended resources backed by a DeviceClass"
                raise NotModelled("DynamicResources", feature, f'pod {pod.key}, resource "{name}"')
        cycle.state[STATE] = None
        return SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Verdicts:
        """Fail, since it is asked only where the profile leaves PreFilter out."""
        return self.unread.where(np.ones(len(nodes), np.bool_))

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Leave the pod to the next plugin, without a reason; fail where an earlier plugin ended PreFilter."""
        return PostFilterResult(unschedulable() if STATE in cycle.state else error("not found"))

    def score(self, cycle: Cycle, nodes: Nodes) -> IntArray:
        """Return 0 for every node, int64 (n,): there are no devices to prefer.

        Raises:
            PluginError: PreFilter did not run.
        """
        if STATE not in cycle.state:
            raise PluginError("not found")
        return np.zeros(len(nodes), np.int64)

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Succeed: there is nothing to take."""
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing was taken."""

    def pre_bind(self, cycle: Cycle, node_name: str) -> Status:
        """Succeed: there is nothing to write down."""
        return SUCCESS

    def signature(self, pod: PodInfo) -> Hashable | None:
        """The resources the pod asks for, any of which a DeviceClass may back."""
        if pod.pod.spec.resource_claims:
            return None
        return frozenset(name for name, amount in pod.requests.exact.items() if amount)

    def moved_by(self, cycle: Cycle, change: Change) -> Scope:
        """Only a DeviceClass can make devices of what a pod without claims asks for."""
        classes = change.kind is ChangeKind.OBJECT and isinstance(change.subject, DeviceClass)
        return Scope.EVERYTHING if classes else Scope.NOTHING


def _refuse_claims(pod: PodInfo) -> None:
    for claim in pod.pod.spec.resource_claims or ():
        raise NotModelled("DynamicResources", "resource claims", f'pod {pod.key}, claim "{claim.name}"')
