"""New nodes for pod groups that start as a whole: how many of one option, tried on the whole group.

Pod by pod a gang may seem to fit where it does not start, since each of its pods finds some node and all of them must
share a value of a topology key. So growth by single pods is not enough for it, and no proof that nothing helps.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.autoscaling.joining import Joining
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.framework.pod_groups import group_of
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.scheduler import Scheduler
from schedctl.simulation.scale_ups.options import Counts, cost_of, with_more, within_limits
from schedctl.simulation.scale_ups.trials import Placement, Trials


class Gang(msgspec.Struct, frozen=True):
    """A pod group that starts as a whole or in one topology domain, and its pods that have no node."""

    group: PodGroup
    pods: list[PodInfo]


def gangs_of(pods: Iterable[PodInfo], cluster: Cluster) -> list[Gang]:
    """Return the gangs among pods, in the order in which the first pod of each comes."""
    found: dict[str, Gang] = {}
    for info in pods if cluster.release.enabled(GENERIC_WORKLOAD) else ():
        group = group_of(info, cluster)
        if group is not None and (group.is_gang or group.topology_key):
            found.setdefault(group.key, Gang(group, [])).pods.append(info)
    return list(found.values())


def grow_for(scheduler: Scheduler, trials: Trials, gang: Gang, begin: Placement) -> Counts | None:
    """Return the cheapest counts that place all pods of a gang, by more nodes of one option; None where none do.

    Args:
        scheduler: the profiles and the cluster.
        trials: the options.
        gang: the gang.
        begin: how many new nodes there are, and where other pods are.
    """
    found = (_fewest(scheduler, trials, gang, begin, option) for option in range(len(trials.options)))
    enough = [with_more(begin.counts, option, number) for option, number in enumerate(found) if number]
    return min(enough, key=lambda counts: cost_of(trials.options, counts), default=None)


def _fewest(scheduler: Scheduler, trials: Trials, gang: Gang, begin: Placement, option: int) -> int:
    """Return how many more nodes of an option are the fewest that are enough, 0 where not even the most are."""
    most = len(gang.pods)
    while most and not within_limits(trials.options, with_more(begin.counts, option, most)):
        most -= 1
    low, high = 0, 1
    while high < most and not _is_enough(scheduler, trials, gang, begin, option, high):
        low, high = high, high * 2
    high = min(high, most)
    if not high or not _is_enough(scheduler, trials, gang, begin, option, high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        if _is_enough(scheduler, trials, gang, begin, option, middle):
            high = middle
        else:
            low = middle
    return high


def _is_enough(scheduler: Scheduler, trials: Trials, gang: Gang, begin: Placement, option: int, number: int) -> bool:
    cluster = scheduler.cluster
    with trials.joined(begin.counts):
        for key, node in begin.placed.items():
            info = cluster.pending.get(key)
            if info is not None:
                cluster.assume(info, node)
        Joining(cluster).add(trials.options[option].template, number)
        try:
            attempt = scheduler.attempt_group(gang.group, gang.pods, make_room=False)
        except NotModelled:
            return False
        return attempt.status.successful and len(attempt.assignments) == len(gang.pods)
