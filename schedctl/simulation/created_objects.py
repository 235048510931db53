"""Objects that are created in a cluster and whose pods wait for a node: what a release is before anything is placed."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping

import msgspec

from schedctl.api.nodes import Node
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import EventAction, SimulatedEvent
from schedctl.simulation.rollout_controller import RolloutController
from schedctl.workloads.api_server import Admission, join
from schedctl.workloads.expansion import Expansion, SourcedObject, expand
from schedctl.workloads.rollouts import RolloutStrategy, plan


class CreatedObjects(msgspec.Struct, frozen=True):
    """What was created.

    Attributes:
        expansion: what the objects make.
        controller: which pods were created, refused and replaced.
        pods: the pods that wait for a node, in the order in which they were created.
    """

    expansion: Expansion
    controller: RolloutController
    pods: list[PodInfo]


def create(
    scheduler: Scheduler,
    objects: Iterable[SourcedObject],
    *,
    passed: Mapping[str, int] | None = None,
    strategy: RolloutStrategy = "replace",
    disabled: Collection[str] = (),
    name: str = "",
) -> CreatedObjects:
    """Create objects in the scheduler's cluster without scheduling a pod. The cluster is changed.

    Args:
        scheduler: the profiles and the cluster.
        objects: the objects, in the order in which they are created.
        passed: how many objects there were beside them that are not read.
        strategy: ``replace`` or ``add``: a rollout that waits for pods to run has no end here.
        disabled: admission plugins that are switched off.
        name: the scheduler name of all pods that are created, "" for their own.
    """
    cluster = scheduler.cluster
    expansion = expand(objects, cluster, passed)
    updates = plan(expansion.groups, cluster, strategy)
    admission = Admission(cluster, disabled)
    joined = {id(workload.object) for workload in join(expansion, cluster, admission)}
    updates = [update for update in updates if id(update.workload.object) in joined]
    controller = RolloutController(scheduler, updates, admission, scheduler_name=name)
    pods: dict[str, PodInfo] = {}
    events = deque(controller.start())
    controller.on_start()
    while events:
        events.extend(_apply(scheduler, controller, events.popleft(), pods))
    return CreatedObjects(expansion, controller, [info for key, info in pods.items() if key in cluster.pending])


def _apply(
    scheduler: Scheduler, controller: RolloutController, event: SimulatedEvent, pods: dict[str, PodInfo]
) -> list[SimulatedEvent]:
    """Carry out an event as if it took no time, and return what follows from it."""
    cluster, subject, is_put = scheduler.cluster, event.subject, event.action is EventAction.PUT
    if isinstance(subject, PodInfo) and is_put:
        cluster.add_pod(subject)
        pods[subject.key] = subject
        return []
    if isinstance(subject, PodInfo):
        node = cluster.node_of(subject.key) or ""
        if not node and subject.key not in cluster.pending:
            return []
        answers = list(controller.on_eviction(subject, node)) if node else []
        cluster.remove_pod(subject)
        return [*answers, *controller.on_deletion(subject, node)]
    if isinstance(subject, Node):
        cluster.add_node(subject)
    elif is_put:
        cluster.put(subject)
        controller.on_object(subject)
    else:
        cluster.delete(subject)
        controller.on_object(subject)
    return []
