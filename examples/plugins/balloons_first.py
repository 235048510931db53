"""BalloonsFirst: a PostFilter that takes away placeholder pods before anybody else has to go.

For clusters that keep room free with "balloons": pods that do nothing but ask for resources, and give way to whoever
needs them. Balloons carry the label ``balloon: "true"``, or the one the profile names.

Extension point: ``postFilter``, before DefaultPreemption::

    schedctl explain pod web-0 -n shop -f cluster.yaml --plugin examples/plugins/balloons_first.py \
        --scheduler-config examples/profiles/balloons-first.yaml
"""

from __future__ import annotations

import numpy as np

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import PostFilterPlugin, PostFilterResult
from schedctl.framework.reasons import CodeColumn
from schedctl.framework.statuses import SUCCESS, Code, unschedulable


class BalloonsFirstArgs(PluginArgs, frozen=True):
    """The label that makes a pod a balloon, and its value."""

    label: str = "balloon"
    value: str = "true"


class BalloonsFirst(PostFilterPlugin):
    """Makes room by removing balloons, as few as will do.

    Balloons need no lower priority than the pod, and their budgets are not asked.
    """

    args_type = BalloonsFirstArgs

    def post_filter(self, cycle: Cycle, nodes: Nodes, codes: CodeColumn) -> PostFilterResult:
        """Nominate the pod to the node where the fewest balloons have to go, the first by name of those."""
        if self._is_balloon(cycle.pod):
            return PostFilterResult(unschedulable())
        found: tuple[int, str, tuple[PodInfo, ...]] | None = None
        for position in np.flatnonzero(codes == Code.UNSCHEDULABLE).tolist():
            victims = self._in_the_way(cycle, nodes, position)
            candidate = len(victims), nodes.names[position], victims
            if victims and (found is None or candidate[:2] < found[:2]):
                found = candidate
        if found is None:
            return PostFilterResult(unschedulable("no balloon makes room"))
        # a success ends PostFilter: DefaultPreemption, which comes after this plugin, is not asked
        return PostFilterResult(SUCCESS, found[1], found[2])

    def _in_the_way(self, cycle: Cycle, nodes: Nodes, position: int) -> tuple[PodInfo, ...]:
        """Return the balloons that have to leave a node for the pod, () where that would not help."""
        alone = nodes.take([position])
        balloons = sorted((pod for pod in nodes.pods_on(position) if self._is_balloon(pod)), key=_size, reverse=True)
        for count in range(1, len(balloons) + 1):
            gone = balloons[:count]
            without = alone.hypothetical([0] * count, gone, -1)
            if self.handle.run_filters(cycle, without, nominated=True).feasible[0]:
                return tuple(gone)
        return ()

    def _is_balloon(self, pod: PodInfo) -> bool:
        args: BalloonsFirstArgs = self.args or BalloonsFirstArgs()
        return pod.labels.get(args.label) == args.value and not pod.is_terminating


def _size(pod: PodInfo) -> tuple[int, int, str]:
    """Return what balloons are compared by: those that free most go first."""
    requests = pod.demand.fit_requests
    return requests.get("cpu", 0), requests.get("memory", 0), pod.key
