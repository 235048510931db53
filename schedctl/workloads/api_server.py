"""Creating objects: what joins the cluster, what is admitted, what is refused, and everything that admission did.

`Admission` stands for the API server through a whole run, with the quotas and what they have counted. `join` brings in
the objects that make no pods, workloads included, and `Admission.create` admits one pod at a time, which then goes
through the queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from schedctl.api.defaults import storage_class, with_namespace
from schedctl.api.devices import ResourceClaim
from schedctl.api.field_errors import aggregate
from schedctl.api.kinds import KINDS
from schedctl.api.meta import Namespace
from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import FINISHED, Pod, PodSpec
from schedctl.api.policies import LimitRange, PriorityClass, ResourceQuota, RuntimeClass
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.api.workloads import Job
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads import admission, limit_ranges, pod_claims, pod_groups
from schedctl.workloads.apply import apply
from schedctl.workloads.clusters import every_pod, with_name_label
from schedctl.workloads.expansion import Expansion, Replica, Workload
from schedctl.workloads.pod_templates import has_controller
from schedctl.workloads.quotas import Quotas, QuotaUsage

_replace = msgspec.structs.replace
_READ = (LimitRange, Namespace, PriorityClass, RuntimeClass)
"""What admission reads of the cluster to complete a pod's spec."""
NAMESPACE_LIFECYCLE = "NamespaceLifecycle"
_OF_EVERY_CLUSTER = ("default", "kube-system", "kube-public", "kube-node-lease")
"""Namespaces that the API server makes itself."""
_KINDS = {kind.struct: kind for kind in KINDS}


class Rejected(msgspec.Struct, frozen=True):
    """An object that the API server refused.

    Attributes:
        object: the object as it was sent; for a pod that could not be made because of its claim, the pod.
        plugin: the admission plugin that refused it.
        message: the API server's whole message, e.g. ``pods "web-0" is forbidden: exceeded quota: ...``.
        claims: of a pod, the claims of its StatefulSet that were taken all the same; those have to be put into the
            cluster, where the next attempt finds them.
    """

    object: Any
    plugin: str
    message: str
    claims: tuple[PersistentVolumeClaim | ResourceClaim, ...] = ()

    @property
    def subject(self) -> str:
        """How messages name the object, e.g. ``Pod shop/web-0``."""
        return _subject(self.object)


class Created(msgspec.Struct, frozen=True):
    """A pod that the API server took.

    Attributes:
        pod: the pod as stored.
        claims: the claims that come with it, of its StatefulSet, its ephemeral volumes and its claim templates; those
            have to be put into the cluster before the pod is queued.
        rejected: claims of its ephemeral volumes that were refused; the pod waits for them in vain.
    """

    pod: Pod
    claims: tuple[PersistentVolumeClaim | ResourceClaim, ...] = ()
    rejected: tuple[Rejected, ...] = ()


class Admission:
    """The API server of one run.

    Attributes:
        disabled: the plugins that are switched off.
        effects: what admission changed, each with the objects it changed (``Pod shop/web-0``), in order.
        rejected: everything that was refused, in order; what was tried more than once is there once, with the last
            answer.
    """

    def __init__(self, cluster: Cluster, disabled: Collection[str] = ()) -> None:
        """Start with the quotas that are in the cluster.

        Raises:
            ValueError: there is no plugin of a name in `disabled`.
        """
        for name in disabled:
            if name not in admission.PLUGINS:
                raise ValueError(f"unknown admission plugin {name!r}; expected one of {', '.join(admission.PLUGINS)}")
        self.disabled = frozenset(disabled)
        self.effects: dict[admission.Effect, list[str]] = {}
        self.rejected: list[Rejected] = []
        self._place_of: dict[str, int] = {}
        self._noted: set[tuple[admission.Effect, str]] = set()
        self._cluster = cluster
        self._lists_namespaces = bool(cluster.every(Namespace))  # what joins later need not be all there is
        self._quotas = Quotas(cluster)
        self._known: dict[Any, tuple[Pod, PodSpec, tuple[admission.Effect, ...], tuple[admission.Refusal, ...]]] = {}

    def create(self, replica: Replica) -> Created | Rejected:
        """Admit a pod with its claims, and count it against the quotas.

        Args:
            replica: the pod as its controller sends it.
        """
        namespace = with_namespace(replica.pod.metadata).namespace
        # A pod with a uid comes out of a cluster, whose namespaces may not all have been listed.
        if not (replica.pod.metadata.uid or self._has_namespace(namespace)):
            return self._keep(Rejected(replica.pod, NAMESPACE_LIFECYCLE, f'namespaces "{namespace}" not found'))
        claims: list[PersistentVolumeClaim | ResourceClaim] = []
        refused: Rejected | None = None
        # The StatefulSet controller goes on with the other claims when one is refused, and then makes no pod.
        for sent in replica.claims:
            if self._cluster.get(PersistentVolumeClaim, f"{sent.metadata.namespace}/{sent.metadata.name}") is None:
                claim = self.create_claim(sent)
                if not isinstance(claim, Rejected):
                    claims.append(claim)
                elif refused is None:
                    refused = claim
        pod = replica.pod
        if refused is not None:
            return self._reject(pod, refused.plugin, refused.message, claims)
        if not pod.metadata.uid:
            spec, effects, refusals = self._admit_spec(pod)
            pod = _replace(pod, metadata=with_namespace(pod.metadata), spec=spec)
            if refusals:
                return self._reject(pod, refusals[0].plugin, refusals[0].message, claims)
            self._note(effects, pod)
        if admission.RESOURCE_QUOTA not in self.disabled and (message := self._quotas.charge_pod(pod)):
            return self._reject(pod, admission.RESOURCE_QUOTA, message, claims)
        # Those of ephemeral volumes are made after the pod, by a controller: it is there, and waits for those refused.
        rejected = []
        for sent in pod_claims.ephemeral_claims(pod, self._cluster):
            claim = self.create_claim(sent)
            if isinstance(claim, Rejected):
                rejected.append(claim)
            else:
                claims.append(claim)
        pod, device_claims = pod_claims.generated_claims(pod, self._cluster)
        return Created(pod, (*claims, *device_claims), tuple(rejected))

    def create_claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim | Rejected:
        """Admit a claim and count it against the quotas."""
        if admission.DEFAULT_STORAGE_CLASS not in self.disabled:
            claim, effects = admission.claim_with_class(claim, self._cluster)
            self._note(effects, claim)
        if admission.LIMIT_RANGER not in self.disabled:
            for limits in limit_ranges.of(self._cluster, claim.metadata.namespace):
                if violations := limit_ranges.claim_violations(claim, limits):
                    return self._reject(claim, admission.LIMIT_RANGER, aggregate(violations))
        if admission.RESOURCE_QUOTA not in self.disabled and (message := self._quotas.charge_claim(claim)):
            return self._reject(claim, admission.RESOURCE_QUOTA, message)
        return claim

    def create_object(self, obj: Any) -> Rejected | None:
        """Admit an object that is neither pod nor claim and count it against the quotas; return its refusal, if any."""
        if isinstance(obj, PodGroup):
            classes, release = self._cluster.every(PriorityClass), self._cluster.release
            plugin, message = pod_groups.refusal(obj, classes, release)
            if plugin and plugin not in self.disabled:
                return self._reject(obj, plugin, message)
        if admission.RESOURCE_QUOTA not in self.disabled and (message := self._quotas.charge_object(obj)):
            return self._reject(obj, admission.RESOURCE_QUOTA, message)
        return None

    def track(self, quota: ResourceQuota) -> None:
        """Count a quota that joins."""
        self._quotas.track(quota)

    def quota_usage(self) -> list[QuotaUsage]:
        """Return every quota and what is used of it by now, by namespace and name."""
        usage = self._quotas.usage()
        return [replace(each, used=None) for each in usage] if admission.RESOURCE_QUOTA in self.disabled else usage

    def credit(self, pod: Pod) -> None:
        """Credit the quotas with a pod that is gone."""
        self._quotas.credit_pod(pod)

    def _has_namespace(self, name: str) -> bool:
        """Whether a namespace is there, as far as can be known: a cluster that lists none may have any."""
        known = not self._lists_namespaces or name in _OF_EVERY_CLUSTER
        return known or self._cluster.get(Namespace, name) is not None

    def _admit_spec(self, pod: Pod) -> tuple[PodSpec, tuple[admission.Effect, ...], tuple[admission.Refusal, ...]]:
        """Admit a spec, once for all pods that share it and their labels, as those of one template do."""
        key = (id(pod.spec), pod.metadata.namespace, id(pod.metadata.labels), self._cluster.version(*_READ))
        known = self._known.get(key)
        if known is None:
            answer = admission.admit_spec(pod, self._cluster, self.disabled)
            known = self._known[key] = (pod, *answer)  # holding the pod keeps the ids from being used again
        return known[1:]

    def _note(self, effects: Iterable[admission.Effect], obj: Any) -> None:
        subject = _subject(obj)
        for effect in effects:
            if (effect, subject) not in self._noted:  # what a quota refused is tried again
                self._noted.add((effect, subject))
                self.effects.setdefault(effect, []).append(subject)

    def _reject(
        self, obj: Any, plugin: str, message: str, claims: Iterable[PersistentVolumeClaim | ResourceClaim] = ()
    ) -> Rejected:
        prefix = rejection_prefix(plugin, type(obj), obj.metadata.name)
        # A pod refused because of its claim carries the message about the claim.
        whole = message if " is forbidden: " in message else prefix + message
        return self._keep(Rejected(obj, plugin, whole, tuple(claims)))

    def _keep(self, rejected: Rejected) -> Rejected:
        """Note a refusal, in place of the one before of the same object."""
        place = self._place_of.setdefault(rejected.subject, len(self.rejected))
        self.rejected[place : place + 1] = [rejected]
        return rejected


def rejection_prefix(plugin: str, what: type, name: str) -> str:
    """Return what the API server's message about an object begins with that a plugin refuses."""
    kind = _KINDS[what]
    group = kind.api_version.rpartition("/")[0]
    of_group = f".{group}" if group else ""
    if plugin == admission.VALIDATION:
        return f'{kind.name}{of_group} "{name}" is invalid: '
    return f'{kind.resource}{of_group} "{name}" is forbidden: '


def join(expansion: Expansion, cluster: Cluster, admit: Admission) -> list[Workload]:
    """Bring what joins into the cluster, and return the workloads that are really there.

    An object that is in the cluster already keeps what only a cluster knows of it: its uid, its status, the volume of
    a claim. A workload that a quota refuses, and one whose pod group is refused, makes no pods; `Admission.rejected`
    has it.

    Args:
        expansion: the expansion.
        cluster: the cluster, which changes.
        admit: the API server.
    """
    claims: list[PersistentVolumeClaim] = []
    running: list[Pod] = []
    refused: list[Any] = []
    refused_groups: list[PodGroup] = []
    groups: list[PodGroup] = []
    for obj in expansion.joined:
        if isinstance(obj, PodGroup):
            groups.append(obj)
        elif isinstance(obj, Node):
            cluster.add_node(apply(obj, _node(cluster, obj.metadata.name)))
        elif isinstance(obj, Pod):
            running.append(obj)
        elif isinstance(obj, PersistentVolumeClaim):
            claims.append(obj)
        elif _live(obj, cluster) is None and admit.create_object(obj) is not None:
            refused.append(obj)
        else:
            merged = apply(obj, _live(obj, cluster))
            cluster.put(_with_server_labels(merged))
    for group in groups:  # once all PriorityClasses are there
        if _live(group, cluster) is None and admit.create_object(group) is not None:
            refused_groups.append(group)
        else:
            admitted = pod_groups.admit_group(group, cluster.every(PriorityClass), cluster.release)
            cluster.put(apply(admitted, _live(group, cluster)))
    # Quotas count from when all objects are there, so one in the same manifests refuses none of them; claims and pods
    # come after it.
    for obj in expansion.joined:
        if isinstance(obj, ResourceQuota):
            admit.track(obj)
    for claim in claims:
        if _live(claim, cluster) is None:
            created = claim if claim.metadata.uid else admit.create_claim(claim)
            if isinstance(created, PersistentVolumeClaim):
                cluster.put(created)
    for pod in running:
        if pod.status.phase not in FINISHED:
            _run(pod, cluster, admit)
    gone = {id(obj) for obj in refused}
    return [
        workload
        for workload in expansion.groups
        if id(workload.object) not in gone
        # a Job whose controller cannot make its group makes no pods either
        and not (
            isinstance(workload.object, Job) and any(_is_group_of(workload.object, each) for each in refused_groups)
        )
    ]


def _is_group_of(job: Job, group: PodGroup) -> bool:
    return group.metadata.namespace == job.metadata.namespace and has_controller(group.metadata, "Job", job.metadata)


def _run(pod: Pod, cluster: Cluster, admit: Admission) -> None:
    """Add a pod that names its node itself, in place of the one of its name."""
    created = admit.create(Replica(pod))
    if isinstance(created, Created):
        for claim in created.claims:
            cluster.put(claim)
        # The new one is charged before the old one is credited, as for a server that knows nothing of a replacement.
        for info in [info for info in every_pod(cluster) if info.key == created.pod.key]:
            cluster.remove_pod(info)
            admit.credit(info.pod)
        cluster.add_pod(PodInfo(created.pod))


def _with_server_labels(obj: Any) -> Any:
    """Return an object with what the API server adds to those of its kind."""
    if isinstance(obj, Namespace):
        return with_name_label(obj)
    return storage_class(obj) if isinstance(obj, StorageClass) else obj


def _live(obj: Any, cluster: Cluster) -> Any:
    metadata = obj.metadata
    key = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
    return cluster.get(type(obj), key)


def _node(cluster: Cluster, name: str) -> Node | None:
    row = cluster.node_table.row_of.get(name)
    return None if row is None else cluster.node_table.objects[row]


def _subject(obj: Any) -> str:
    metadata = obj.metadata
    return f"{type(obj).__name__} {metadata.namespace}/{metadata.name}"
