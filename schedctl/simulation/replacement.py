"""The controllers that answer every run: volumes are bound, and evicted pods replaced.

A ReplicaSet replaces a pod as soon as it terminates, under another name; a StatefulSet and a DaemonSet replace it once
it is gone, under the same name or on the same node; a pod without a controller is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
from typing_extensions import override

from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.meta import OwnerReference
from schedctl.api.pods import Pod, PodStatus, PodTemplateSpec
from schedctl.api.workloads import CronJob
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.events import Controller, SimulatedEvent
from schedctl.workloads import garbage, ownership
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created
from schedctl.workloads.expansion import Replica
from schedctl.workloads.pod_templates import exists
from schedctl.workloads.volume_controller import VolumeController

_AFTER_DELETION = ("StatefulSet", "DaemonSet")
"""Kinds that wait until the previous pod is gone, since its name or its node is to be free."""
_NO_CONTROLLERS = ("Node",)
"""Owners that are no controllers: a kubelet runs static pods itself."""
_replace = msgspec.structs.replace


def controller_of(pod: Pod) -> OwnerReference | None:
    """Return who makes another such pod, None if nobody does."""
    for reference in pod.metadata.owner_references or ():
        if reference.controller and reference.kind not in _NO_CONTROLLERS:
            return reference
    return None


def waits_for_deletion(pod: Pod) -> bool:
    """Return whether the controller of a pod makes no other before this one is gone."""
    owner = controller_of(pod)
    return owner is not None and owner.kind in _AFTER_DELETION


def template_node(info: PodInfo, cluster: Cluster) -> str:
    """Return the node that the template of a pod's workload names itself, "" where it leaves that to a scheduler."""
    owner = ownership.workload_of(info, cluster)
    workload = ownership.find_workload(owner, cluster) if owner is not None else None
    if workload is None:
        return ""
    spec = workload.spec.job_template.spec if isinstance(workload, CronJob) else workload.spec
    template: PodTemplateSpec | None = spec.template
    return template.spec.node_name if template is not None else ""


def successor(pod: Pod, taken: Callable[[str], bool], node_name: str = "") -> Pod | None:
    """Return the pod that takes the place of one that has to go; None if none does.

    It is as admission left the pod before it, and marked as admitted by a uid of its own.

    Args:
        pod: the pod that has to go.
        taken: whether there is a pod of this key already.
        node_name: the node that its template names, as a rule none.
    """
    owner = controller_of(pod)
    if owner is None:
        return None
    metadata = pod.metadata
    name = metadata.name
    if owner.kind != "StatefulSet":
        stem = name.rpartition("-")[0] or owner.name  # manifests may lack generateName; the last part is random
        base = (metadata.generate_name or f"{stem}-")[:LONGEST_GENERATED]
        attempt = 0
        while name == metadata.name or taken(f"{metadata.namespace}/{name}"):
            name = base + random_end(metadata.namespace, base, "successor", metadata.name, attempt)
            attempt += 1
    fresh = _replace(
        metadata,
        name=name,
        uid=f"successor of {metadata.uid or metadata.name}",
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
    )
    status = PodStatus(phase="Pending")
    return _replace(pod, metadata=fresh, spec=_replace(pod.spec, node_name=node_name), status=status)


class ReplacementController(Controller):
    """Makes the replacement of each pod that is evicted or deleted, when the controller of that pod would.

    It binds claims as well, those of replacements among them (`VolumeController`).

    Attributes:
        admission: the API server, which admits the replacements.
        successors: by key of a pod, the key of the pod that replaced it.
        foreign: the pods created here that ask for a scheduler none of the profiles is, by key.
    """

    def __init__(self, scheduler: Scheduler, admission: Admission | None = None) -> None:
        """Watch the cluster of a scheduler.

        Args:
            scheduler: whose cluster and profiles are used.
            admission: the API server; None for one without quotas, which counted the pods that are replaced before.
        """
        cluster = scheduler.cluster
        self.admission = admission or Admission(cluster, disabled=(RESOURCE_QUOTA,))
        self.successors: dict[str, str] = {}
        self.foreign: dict[str, PodInfo] = {}
        self._scheduler = scheduler
        self._cluster = cluster
        self._volumes = VolumeController(cluster)
        plugins = [plugin for profile in scheduler.profiles.values() for plugin in profile.plugins.values()]
        self._kinds_of_plugins = tuple({kind.struct for plugin in plugins for kind in plugin.kinds})
        self._successor_keys: set[str] = set()  # some of them are still on their way, so the cluster lacks them
        # pods that terminate at the start were replaced before the start, where their controller does not wait
        self._replaced = {info.key for info in cluster.pod_table.terminating_pods() if not waits_for_deletion(info.pod)}

    def latest(self, key: str) -> str:
        """Return the key of the pod that stands for a pod now: its own, or that of its last successor."""
        seen = {key}  # a StatefulSet's pod is its own successor, so the chain may be a circle
        while (after := self.successors.get(key, key)) not in seen:
            seen.add(after)
            key = after
        return key

    def latest_successor(self, key: str) -> str:
        """Return the key of the pod that stands in the place of a pod that had to go, "" for none."""
        return self.latest(key) if key in self.successors else ""

    @override
    def on_start(self) -> None:
        self._volumes.synchronize()

    @override
    def on_object(self, obj: object) -> None:
        self._volumes.on_object(obj)

    @override
    def on_eviction(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        return () if waits_for_deletion(pod.pod) else self._replace(pod)

    @override
    def on_deletion(self, pod: PodInfo, node_name: str) -> Iterable[SimulatedEvent]:
        self.sweep(pod)
        return self.replace_deleted(pod)

    def sweep(self, pod: PodInfo) -> None:
        """Let go what goes with a pod that is gone, before a pod of its name comes with claims of its own."""
        garbage.sweep(pod.pod, self._cluster, self._kinds_of_plugins)

    def replace_deleted(self, pod: PodInfo) -> Iterable[SimulatedEvent]:
        """Create the pod that takes the place of one that is gone, if anything does that has not been created yet."""
        key = pod.key
        if key in self._replaced:
            self._replaced.discard(key)
            return ()
        # a StatefulSet's pod is its own successor, and is replaced each time it is gone
        has_successor = key in self.successors and self.successors[key] != key
        return () if has_successor else self._replace(pod)

    def _replace(self, pod: PodInfo) -> Iterator[SimulatedEvent]:
        """Create the pod that takes the place of another, if anything does."""
        replacement = successor(pod.pod, self._is_taken, template_node(pod, self._cluster))
        if replacement is not None:
            yield from self._create_replacement(pod, replacement)

    def _is_taken(self, key: str) -> bool:
        return key in self._successor_keys or exists(key, self._cluster)

    def _create_replacement(self, pod: PodInfo, replacement: Pod) -> Iterator[SimulatedEvent]:
        created = self.admission.create(Replica(replacement))
        if isinstance(created, Created):
            self._record_successor(pod, created.pod)
            for claim in created.claims:
                yield SimulatedEvent(claim)
            yield from self._add_to_queue(PodInfo(created.pod))

    def _record_successor(self, pod: PodInfo, replacement: Pod) -> None:
        self.successors[pod.key] = replacement.key
        self._successor_keys.add(replacement.key)

    def _add_to_queue(self, info: PodInfo) -> Iterator[SimulatedEvent]:
        """Let a pod join the queue, or note it as foreign if no profile serves it."""
        if self._scheduler.profile_of(info) is None and not info.pod.spec.node_name:
            self.foreign[info.key] = info
        else:
            yield SimulatedEvent(info)
