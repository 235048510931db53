"""What would let a pod group start, each tried on the group: fewer pods, another topology, nodes, priority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

import msgspec

from schedctl.api.meta import controller_of
from schedctl.api.pod_groups import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    TopologyConstraint,
)
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.explain import group_differences
from schedctl.explain.topology_keys import closest_topology_key, label_values
from schedctl.framework.pod_groups import group_key, priority_of
from schedctl.framework.similar import closest_names, did_you_mean, in_namespace
from schedctl.reports import counts
from schedctl.reports.reasons import Hint
from schedctl.scheduler import group_reports
from schedctl.scheduler.schedulers import Scheduler

_replace = msgspec.structs.replace
_MOST_NODES = 4096
"""More nodes than this are not added to see whether they help."""
_MOST_KEYS = 3
"""How many other topology keys are tried."""


def find(scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt) -> list[Hint]:
    """Return what would let a group start that does not, what changes least first.

    Args:
        scheduler: the profiles and the cluster.
        group: the group.
        attempt: the cycle in which it did not get as far as it should.
    """
    if differences := list(group_differences.hints(attempt.cycle, scheduler.cluster.release)):
        return differences
    search = _Search(scheduler, group, attempt)
    return [*search.preemption(), *search.fewer(), *search.topology(), *search.nodes(), *search.priority()]


def similar_topology_key(group: PodGroup, cluster: Cluster) -> str:
    """Return the key that was probably meant where no node has the topology key of a group, "" where none is near."""
    values = label_values(cluster)
    key = group.topology_key
    return "" if not key or key in values else closest_topology_key(key, values, len(cluster.rows))


def of_missing(key: str, cluster: Cluster) -> Hint:
    """Return what would let pods into the queue whose group is not there."""
    namespace, _, name = key.partition("/")
    meant = closest_names(name, in_namespace(namespace, cluster.every(PodGroup)))
    text = f"create PodGroup {key}, or correct spec.schedulingGroup.podGroupName{did_you_mean(*meant)}"
    return Hint("create-group", text)


def of_untried(group: PodGroup, there: int) -> list[Hint]:
    """Return what would let a group be tried that has too few pods."""
    if not group.is_gang or not 0 < there < group.min_count:
        return []
    return [
        Hint(
            "lower-min-count",
            f"minCount {there} instead of {group.min_count}: the {counts.of(there, 'pod')} there would be enough",
            command=_patch_min_count(group, there),
        )
    ]


class _Search:
    """Tries changes for one group."""

    def __init__(self, scheduler: Scheduler, group: PodGroup, attempt: GroupAttempt) -> None:
        self._scheduler = scheduler
        self._group = group
        self._attempt = attempt
        self._pods = attempt.cycle.pods
        best = group_reports.best_trial(attempt)
        self._placed = len(best.assignments) if best is not None else 0
        self._placement = best.placement if best is not None else None

    def preemption(self) -> Iterator[Hint]:
        """Yield that the victims of a preemption under way are enough, which was tried in its course."""
        if self._attempt.awaits_preemption and self._attempt.post_filter is not None:
            victims = [victim.key for victim in self._attempt.post_filter.victims]
            if victims:
                yield Hint(
                    "await-preemption",
                    f"kube-scheduler evicts {counts.of(len(victims), 'pod')} and tries the group again once they are"
                    " gone",
                    tried=True,
                    fits=1,
                )

    def fewer(self) -> Iterator[Hint]:
        """Yield the ``minCount`` with which the group would start."""
        least = self._placed + len(self._attempt.cycle.scheduled)
        group = self._group
        if not group.is_gang or not self._placed or least >= group.min_count:
            return
        policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=least))
        if self._starts(_replace(group, spec=_replace(group.spec, scheduling_policy=policy)), self._pods):
            yield Hint(
                "lower-min-count",
                f"minCount {least} instead of {group.min_count}: {counts.of(least, 'pod')} would start, the rest wait",
                tried=True,
                fits=1,
                command=_patch_min_count(group, least),
            )

    def topology(self) -> Iterator[Hint]:
        """Yield the topology keys under which the group would start, and that it would without any."""
        if not self._group.topology_key:
            return
        meant = similar_topology_key(self._group, self._scheduler.cluster)
        tries = [("rename-topology", meant)] if meant else [("wider-topology", key) for key in self._wider_keys()]
        for code, key in tries:
            attempt = self._try(_with_topology(self._group, key))
            if attempt.status.successful and attempt.chosen is not None:
                where = attempt.chosen.placement.name
                yield Hint(
                    code,
                    f"topology key {key} instead of {self._group.topology_key}: it would start in {key}={where}"
                    f" {_how_to_change_the_key(self._group)}",
                    tried=True,
                    fits=1,
                )
                return
        if self._starts(_with_topology(self._group, ""), self._pods):
            yield Hint(
                "no-topology",
                f"without the topology key {self._group.topology_key} it would start, spread over several of its"
                f" values {_how_to_change_the_key(self._group)}",
                tried=True,
                fits=1,
            )

    def nodes(self) -> Iterator[Hint]:
        """Yield how many more nodes like those of the placement would do, the smallest number that does."""
        model = self._model()
        if model is None:
            return
        name, on_it = model
        missing = len(self._pods) - self._placed
        starts = self._attempt.status.successful
        if self._group.is_gang and not starts:
            missing = min(missing, self._group.min_count - len(self._attempt.cycle.scheduled) - self._placed)
        number = ceil(max(1, missing) / max(1, on_it))
        whole = starts or not self._group.is_gang
        if number > _MOST_NODES or not self._starts_with(name, number, whole=whole):
            return
        where = f" in {self._group.topology_key}={self._placement_name}" if self._placement_name else ""
        yield Hint(
            "add-nodes",
            f"{counts.nodes(number, 'more ')} like {name}{where}",
            tried=True,
            fits=1,
            command=f"--add-node like:{name}={number}",
        )

    def priority(self) -> Iterator[Hint]:
        """Yield whom the group would evict if it were more important than anything that runs."""
        cluster, group = self._scheduler.cluster, self._group
        if self._attempt.awaits_preemption:
            return
        highest = max((priority_of(info, cluster) for info in cluster.pod_table), default=group.priority)
        if highest < group.priority:
            return
        for priority in sorted({priority_of(info, cluster) for info in cluster.pod_table}):
            if priority < group.priority:
                continue
            raised = _replace(group, spec=_replace(group.spec, priority=priority + 1))
            pods = [_with_priority(info, priority + 1) for info in self._pods]
            attempt = self._scheduler.attempt_group(raised, pods)
            if attempt.awaits_preemption and attempt.post_filter is not None:
                yield Hint(
                    "raise-priority",
                    f"with a priority above {priority} it would evict {_whom(attempt)}",
                    tried=True,
                    fits=1,
                )
            return  # with the next higher one more would go, and more important ones

    # -- trying --------------------------------------------------------------------

    @property
    def _placement_name(self) -> str:
        return self._placement.name if self._placement is not None else ""

    def _try(self, group: PodGroup) -> GroupAttempt:
        return self._scheduler.attempt_group(group, self._pods, make_room=False)

    def _starts(self, group: PodGroup, pods: Sequence[PodInfo]) -> bool:
        return self._scheduler.attempt_group(group, pods, make_room=False).status.successful

    def _wider_keys(self) -> list[str]:
        """Return the labels that divide the nodes more coarsely than the topology key, the finest first."""
        nodes = self._scheduler.cluster.node_table
        objects = [nodes.objects[row].metadata.labels or {} for row in self._scheduler.cluster.rows.tolist()]
        domains = {labels[self._group.topology_key] for labels in objects if self._group.topology_key in labels}
        values: dict[str, set[str]] = {}
        holders: Counter[str] = Counter()
        for labels in objects:
            holders.update(labels.keys())
            for key, value in labels.items():
                values.setdefault(key, set()).add(value)
        wider = [
            key
            for key, found in values.items()
            if key != self._group.topology_key and 1 < len(found) < len(domains) and holders[key] == len(objects)
        ]
        return sorted(wider, key=lambda key: (-len(values[key]), key))[:_MOST_KEYS]

    def _model(self) -> tuple[str, int] | None:
        """Return the node of the placement that took most pods of the group, and how many."""
        best = group_reports.best_trial(self._attempt)
        if best is None or not best.assignments:
            return None
        on_nodes = Counter(each.node_name for each in best.assignments)
        return min(on_nodes.items(), key=lambda item: (-item[1], item[0]))

    def _starts_with(self, model: str, number: int, *, whole: bool) -> bool:
        """Return whether the group starts, as a whole or at all, once there are so many more nodes like one."""
        scheduler = self._scheduler
        with scheduler.fork():
            cluster = scheduler.cluster
            node = node_edits.as_new(cluster.node_table.objects[cluster.node_table.row_of[model]])
            for each in range(number):
                name = f"{model}-new-{each + 1}"
                if name in cluster.node_table.row_of:
                    return False
                cluster.add_node(node_edits.rename_node(node, name))
                node_edits.publish_like(cluster, model, name)
            attempt = self._try(self._group)
            return attempt.status.successful and (not whole or len(attempt.assignments) == len(self._pods))


def _with_topology(group: PodGroup, key: str) -> PodGroup:
    constraints = PodGroupSchedulingConstraints(topology=[TopologyConstraint(key=key)]) if key else None
    return _replace(group, spec=_replace(group.spec, scheduling_constraints=constraints))


def _with_priority(info: PodInfo, priority: int) -> PodInfo:
    return PodInfo(_replace(info.pod, spec=_replace(info.pod.spec, priority=priority)))


def _whom(attempt: GroupAttempt) -> str:
    """Return the victims of a preemption in words, whole groups by name."""
    assert attempt.post_filter is not None
    whose = Counter(group_key(victim) for victim in attempt.post_filter.victims)
    single = whose.pop("", 0)
    parts = [f"PodGroup {key} ({counts.of(number, 'pod')})" for key, number in sorted(whose.items())]
    parts += [counts.of(single, "other pod" if parts else "pod")] if single else []
    return ", ".join(parts)


def _how_to_change_the_key(group: PodGroup) -> str:
    owner = controller_of(group)
    kind = "Job" if owner is not None and owner.kind == "Job" else "PodGroup"
    return f"(the key cannot be changed: delete the {kind} and create it again)"


def _patch_min_count(group: PodGroup, number: int) -> str:
    """Return the command that changes ``minCount``: of a Job that the group is made for, which has the say."""
    policy = f'{{"schedulingPolicy":{{"gang":{{"minCount":{number}}}}}}}'
    owner = controller_of(group)
    kind, name, spec = "podgroup", group.metadata.name, policy
    if owner is not None and owner.kind == "Job":
        kind, name, spec = "job", owner.name, f'{{"scheduling":{policy}}}'
    return f"kubectl patch {kind} {name} -n {group.metadata.namespace} --type=merge -p '{{\"spec\":{spec}}}'"
