"""Whether a pod would fit on a new node of a group, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from schedctl.api.amounts import quantity
from schedctl.api.resources import PODS, allocatable
from schedctl.autoscaling.groups import NodeGroup, NodeTemplate
from schedctl.autoscaling.joining import Joining
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import NotModelled
from schedctl.reports.nodes import ScaleUpObstacle as Obstacle
from schedctl.scheduler import Scheduler

_FIT, _TAINTS, _AFFINITY = "NodeResourcesFit", "TaintToleration", "NodeAffinity"
_VOLUMES = ("VolumeBinding", "VolumeZone", "NodeVolumeLimits", "VolumeRestrictions")


class GroupJudgement(msgspec.Struct, frozen=True):
    """What is said of a pod and a new node of a group.

    Attributes:
        group: the group.
        obstacle: what is in the way, None where the pod would fit.
        text: the same in words, "" where it would fit.
        plugin: the plugin that refuses the node, "" where it is none.
        reasons: as kube-scheduler words them.
        templates: those of the group on which it would fit.
    """

    group: NodeGroup
    obstacle: Obstacle | None = None
    text: str = ""
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    templates: tuple[NodeTemplate, ...] = ()

    @property
    def helps(self) -> bool:
        """Whether the pod would fit on a new node."""
        return self.obstacle is None


def judge_groups(scheduler: Scheduler, pod: PodInfo, groups: Iterable[NodeGroup]) -> list[GroupJudgement]:
    """Return what each group could do for a pod; the cluster is as before."""
    return [_judge(scheduler, pod, group) for group in groups]


def _judge(scheduler: Scheduler, pod: PodInfo, group: NodeGroup) -> GroupJudgement:
    if not group.templates:
        text = next(iter(group.notes), "nothing says what a new node is like")
        return GroupJudgement(group, Obstacle.NO_TEMPLATE, text)
    fitting: list[NodeTemplate] = []
    refused: list[tuple[int, float, GroupJudgement]] = []
    for template in group.templates:
        found = _judge_template(scheduler, pod, group, template)
        if found.helps:
            fitting.append(template)
        else:
            refused.append((_nearness(found), _shortfall(pod, template), found))
    if not fitting:
        return min(refused, key=lambda each: each[:2])[2]
    capacity = fitting[0].node.status.capacity or fitting[0].node.status.allocatable
    reached = group.limit_reached(1, {**allocatable(capacity), "nodes": 1})
    if reached:
        return GroupJudgement(group, Obstacle.LIMIT, f"limit reached: {reached}", templates=tuple(fitting))
    return GroupJudgement(group, templates=tuple(fitting))


def _nearness(judgement: GroupJudgement) -> int:
    """Return how far a new node is from taking the pod: what other pods do may change, what the node is does not."""
    order = (Obstacle.OTHER_PODS, Obstacle.VOLUME, Obstacle.OTHER, Obstacle.SIZE, Obstacle.LABELS, Obstacle.TAINT)
    return order.index(judgement.obstacle) if judgement.obstacle in order else len(order)


def _shortfall(pod: PodInfo, template: NodeTemplate) -> float:
    """Return how much of what a pod requests a new node lacks: of all that are too small, the nearest one is named."""
    offered = allocatable(template.node.status.allocatable)
    requests = pod.demand.fit_requests.items()
    return sum(max(0.0, 1.0 - offered.get(name, 0) / amount) for name, amount in requests if amount > 0)


def _judge_template(scheduler: Scheduler, pod: PodInfo, group: NodeGroup, template: NodeTemplate) -> GroupJudgement:
    with scheduler.fork():
        joining = Joining(scheduler.cluster)
        (name,) = joining.add(template)
        try:
            found = scheduler.judge(pod, [name])[name]
        except NotModelled as missing:
            return GroupJudgement(group, Obstacle.OTHER, f"not modelled: {missing}")
        if found.fits:
            return GroupJudgement(group, templates=(template,))
        obstacle, text = _obstacle(scheduler, pod, name, template, found.plugin, found.reasons)
    return GroupJudgement(group, obstacle, text, found.plugin, found.reasons)


def _obstacle(
    scheduler: Scheduler, pod: PodInfo, name: str, template: NodeTemplate, plugin: str, reasons: Sequence[str]
) -> tuple[Obstacle, str]:
    message = "; ".join(reasons)
    if plugin == _FIT:
        return Obstacle.SIZE, _too_large(scheduler, pod, name) or message
    if plugin == _TAINTS:
        taints = ", ".join(_written(each.key, each.value, each.effect) for each in template.node.spec.taints or ())
        return Obstacle.TAINT, f"taint {taints} is not tolerated" if taints else message
    if plugin == _AFFINITY:
        return Obstacle.LABELS, "its labels do not match the node selector or affinity of the pod"
    if plugin in _VOLUMES:
        zone = f" in zone {template.zone}" if template.zone else ""
        return Obstacle.VOLUME, f"a volume of the pod cannot be used on a new node{zone} ({message})"
    if plugin in ("InterPodAffinity", "PodTopologySpread", "NodePorts"):
        return Obstacle.OTHER_PODS, message
    return Obstacle.OTHER, message


def _written(key: str, value: str, effect: str) -> str:
    return f"{key}{f'={value}' if value else ''}:{effect}"


def _too_large(scheduler: Scheduler, pod: PodInfo, name: str) -> str:
    """Return which requests are larger than what an empty new node has, "" for none."""
    nodes = scheduler.cluster.nodes_named([name])
    parts = []
    for resource, amount in pod.demand.fit_requests.items():
        if resource == PODS or not amount:
            continue
        free = int(nodes.allocatable(resource)[0]) - int(nodes.requested(resource)[0])
        if amount > free:
            parts.append(f"{resource} {quantity(resource, amount)} requested, {quantity(resource, max(0, free))} free")
    return f"larger than a new node: {'; '.join(parts)}" if parts else ""
