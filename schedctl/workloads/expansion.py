"""From objects that somebody is about to create to the pods that will enter the queue.

`expand` does for whole manifests what the controllers do: every workload becomes its pods, with the names, owners,
labels and claims they would have, and what makes no pods is told apart. The cluster is only looked at; `api_server`
brings the objects in and admits the pods, one by one as they are created, because quotas depend on the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from schedctl.api import workloads
from schedctl.api.custom_kinds import ROLLOUT_HASH, CustomWorkload, Replicas, WorkloadReference
from schedctl.api.defaults import with_namespace
from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.meta import LabelSelector, ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import FINISHED, Pod, PodTemplate, PodTemplateSpec
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.errors import Problem
from schedctl.framework.foreign_groups import KUEUE_QUEUE
from schedctl.workloads import job_groups, pod_templates
from schedctl.workloads.apply import apply
from schedctl.workloads.daemon_sets import describe_no_node, eligible_nodes, nodes_of, tie_to_node
from schedctl.workloads.names import template_hash
from schedctl.workloads.pod_templates import Owner, comparable

_replace = msgspec.structs.replace

MAKERS: Mapping[type, tuple[str, str]] = {
    workloads.Deployment: ("apps/v1", "Deployment"),
    workloads.ReplicaSet: ("apps/v1", "ReplicaSet"),
    workloads.StatefulSet: ("apps/v1", "StatefulSet"),
    workloads.DaemonSet: ("apps/v1", "DaemonSet"),
    workloads.Job: ("batch/v1", "Job"),
    workloads.CronJob: ("batch/v1", "CronJob"),
    workloads.ReplicationController: ("v1", "ReplicationController"),
    PodTemplate: ("v1", "PodTemplate"),
    Pod: ("v1", "Pod"),
}
"""The kinds that make pods, with ``apiVersion`` and ``kind``; a bare Pod makes itself."""

_MADE_BY: Mapping[str, tuple[str, ...]] = {
    "Deployment": ("ReplicaSet",),
    "CronJob": ("Job",),
    **dict.fromkeys(("ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController"), ("Pod",)),
}
"""What built-in controllers make; the operators of other kinds may make anything."""
REVISION_LABEL = "controller-revision-hash"
MANY = 100_000
"""More pods than this of one workload are refused, because somebody's finger slipped."""
_PATH_OF_REPLICAS = ("spec", "replicas")
_Scaled = TypeVar(
    "_Scaled", workloads.Deployment, workloads.ReplicaSet, workloads.StatefulSet, workloads.ReplicationController
)
_WITH_SELECTOR = (workloads.Deployment, workloads.ReplicaSet, workloads.StatefulSet, workloads.DaemonSet)


class SourcedObject(Protocol):
    """An object together with where it came from, as ``sources.Sourced`` is."""

    @property
    def object(self) -> Any:
        """The API struct."""

    @property
    def place(self) -> str:
        """Where it begins, e.g. ``deploy/web.yaml:12``; "" when it comes from nowhere."""

    @property
    def origin(self) -> str:
        """The template it was rendered from, e.g. ``web/templates/deployment.yaml``; "" when unknown."""

    def problem(self, message: str, path: tuple[str | int, ...] = (), hint: str = "") -> Problem:
        """Return a problem with the object, at a field or at the object as a whole."""


class UnsourcedObject(msgspec.Struct, frozen=True):
    """An object that comes from no file; a `SourcedObject` for callers of the library.

    Attributes:
        object: the API struct.
        place, origin: as in `SourcedObject`.
    """

    object: Any
    place: str = ""
    origin: str = ""

    def problem(self, message: str, path: tuple[str | int, ...] = (), hint: str = "") -> Problem:
        """Return a problem with the object, without a line."""
        metadata = self.object.metadata
        name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
        dotted = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
        return Problem(message, self.place, path=dotted, subject=f"{type(self.object).__name__} {name}", hint=hint)


class Replica(msgspec.Struct, frozen=True):
    """One pod that is to be created.

    Attributes:
        pod: the pod as its controller sends it, not yet admitted.
        claims: the claims its controller creates first (of a StatefulSet), those that are not there yet.
        node: the node a daemon's pod is tied to, "" for others.
        ordinal: its place among ordered or indexed pods, -1 where there is none.
    """

    pod: Pod
    claims: tuple[PersistentVolumeClaim, ...] = ()
    node: str = ""
    ordinal: int = -1


class Workload(msgspec.Struct, frozen=True):
    """One object that makes pods, and the pods it makes.

    Attributes:
        kind: its kind, e.g. ``Deployment`` or ``Rollout``; ``Pod`` for a bare pod.
        api_version: its ``apiVersion``.
        namespace: its namespace.
        name: its name; that of the pod for a bare pod.
        replicas: the pods it makes, in the order in which they are created.
        object: the object itself.
        ordered: whether each pod waits for the one before it to run (``OrderedReady``).
        template: what its pods are made of, None where there are several templates.
        source: where it begins, e.g. ``deploy/web.yaml:12``; "" when it comes from nowhere.
        origin: the Helm template it was rendered from, "" when unknown.
        standing: whether it is in the cluster and stays as it is; then `replicas` come beside the pods it has.
        notes: what should be known about the number or form of its pods; sentences without a full stop.
    """

    kind: str
    api_version: str
    namespace: str
    name: str
    replicas: tuple[Replica, ...]
    object: Any = None
    ordered: bool = False
    template: PodTemplateSpec | None = None
    source: str = ""
    origin: str = ""
    standing: bool = False
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """How messages name it, e.g. ``Deployment shop/web``."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods it makes."""
        return tuple(replica.pod for replica in self.replicas)

    @property
    def claims(self) -> tuple[PersistentVolumeClaim, ...]:
        """The claims it makes."""
        return tuple(claim for replica in self.replicas for claim in replica.claims)


class Skipped(NamedTuple):
    """An object of a kind that makes pods, of which none are made.

    Attributes:
        subject: how messages name it, e.g. ``Pod shop/web-0``.
        reason: why.
    """

    subject: str
    reason: str


class Expansion(msgspec.Struct):
    """What becomes of objects that are about to be created.

    Attributes:
        groups: what makes pods: DaemonSets of the cluster for nodes that come along, then the others as given.
        joined: what joins the cluster: everything that scheduling or admission reads, the workloads themselves
            included, and the ReplicaSets that Deployments make.
        passed: how many objects of other kinds there were, by ``apiVersion kind``.
        skipped: objects of kinds that make pods, of which none are made here.
        refused: why the API server would refuse objects; those make no pods and do not join.
    """

    groups: list[Workload] = msgspec.field(default_factory=list)
    joined: list[Any] = msgspec.field(default_factory=list)
    passed: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: list[Skipped] = msgspec.field(default_factory=list)
    refused: list[Problem] = msgspec.field(default_factory=list)


def expand(manifests: Iterable[SourcedObject], cluster: Cluster, passed: Mapping[str, int] | None = None) -> Expansion:
    """Return the pods these objects make and what else they bring.

    Args:
        manifests: the objects, in the order in which they are created; workloads of custom kinds as `CustomWorkload`.
        cluster: where they are created; it is not changed.
        passed: how many objects of kinds that are not read there were beside them.
    """
    return _Expander(list(manifests), cluster, passed or {}).expand()


class _PodNames:
    """The names of pods that are taken, and new ones beside them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._taken: set[str] = set()

    def take(self, namespace: str, name: str) -> bool:
        """Take a name among the new pods; False if one of them has it already."""
        # Names in the cluster are not asked: a pod of the same name replaces that one.
        key = f"{namespace}/{name}"
        is_free = key not in self._taken
        self._taken.add(key)
        return is_free

    def generate(self, namespace: str, base: str, *parts: object) -> str:
        """Take and return the name that a server would generate: the base and a random end."""
        base = base[:LONGEST_GENERATED]
        # Worked out from what the pod is, so the same input makes the same names on any machine.
        attempt = 0
        while True:
            name = base + random_end(namespace, base, *parts, attempt)
            if not pod_templates.exists(f"{namespace}/{name}", self._cluster) and self.take(namespace, name):
                return name
            attempt += 1


class _Refused(Exception):
    """An object that the API server would refuse."""

    def __init__(self, message: str, path: tuple[str | int, ...] = (), hint: str = "") -> None:
        super().__init__(message)
        self.message, self.path, self.hint = message, path, hint


class _Expander:
    """One call of `expand`."""

    def __init__(self, manifests: Sequence[SourcedObject], cluster: Cluster, passed: Mapping[str, int]) -> None:
        self.manifests, self.cluster = manifests, cluster
        self.names = _PodNames(cluster)
        self._makers: dict[type, Callable[[Any], Workload]] = {
            workloads.Deployment: self._deployment,
            workloads.ReplicaSet: self._replica_set,
            workloads.ReplicationController: self._replication_controller,
            workloads.StatefulSet: self._stateful_set,
            workloads.DaemonSet: self._daemon_set,
            workloads.Job: self._job,
            workloads.CronJob: self._cron_job,
            PodTemplate: self._pod_template,
            Pod: self._pod,
            CustomWorkload: self._custom,
        }
        self.result = Expansion(passed=Counter(passed))
        self._within_custom = False  # whether an operator controls what is made of now
        self.owners = {_identity(one.object) for one in manifests if type(one.object) in (*MAKERS, CustomWorkload)}
        there = {node.metadata.name: node for node in nodes_of(cluster)}
        coming = {node.metadata.name: apply(node, there.get(node.metadata.name)) for node in _nodes(manifests)}
        self.nodes = there | coming
        self.new_nodes = [node for name, node in coming.items() if name not in there]
        # Those of the manifests come last and win.
        scalers = [*cluster.every(workloads.HorizontalPodAutoscaler).values(), *(one.object for one in manifests)]
        self.scalers = {
            (scaler.spec.scale_target_ref.kind, scaler.metadata.namespace, scaler.spec.scale_target_ref.name): scaler
            for scaler in scalers
            if isinstance(scaler, workloads.HorizontalPodAutoscaler)
        }

    def _without_target(self, scaler: workloads.HorizontalPodAutoscaler) -> Iterator[Skipped]:
        """Yield an autoscaler whose workload is not among the manifests: no pods are made for it."""
        target, namespace = scaler.spec.scale_target_ref, scaler.metadata.namespace
        if (target.kind, namespace, target.name) not in self.owners:
            subject = f"HorizontalPodAutoscaler {namespace}/{scaler.metadata.name}"
            yield Skipped(subject, f"its target {target.kind} {target.name} is not among the manifests")

    def expand(self) -> Expansion:
        if self.new_nodes:
            self.result.groups += self._unchanged_daemon_sets()
        for one in self.manifests:
            obj, result = self._with_name(one.object), self.result
            maker = self._makers.get(type(obj))
            if maker is not None and (reason := self._reason_to_skip(obj)):
                kind, namespace, name = _identity(obj)
                result.skipped.append(Skipped(f"{kind} {namespace}/{name}", reason))
                if isinstance(obj, Pod) and pod_templates.exists(f"{namespace}/{name}", self.cluster):
                    continue  # the one that runs stays as it is
                maker = None
            if maker is None:
                if isinstance(obj, workloads.HorizontalPodAutoscaler):
                    result.skipped += self._without_target(obj)
                result.joined.append(obj)
                continue
            try:
                self._refuse_changes(obj)
                group = maker(obj)
                obj = group.object
            except _Refused as refused:
                result.refused.append(one.problem(refused.message, refused.path, refused.hint))
                continue
            # A bare pod joins when it is admitted; of custom kinds scheduling reads nothing.
            if not isinstance(obj, Pod | CustomWorkload):
                result.joined.append(obj)
            result.groups.append(replace(group, source=one.place, origin=one.origin))
        return self.result

    def _with_name(self, obj: Any) -> Any:
        """Return a workload with the name that the server generates where its manifest gives the beginning only."""
        metadata = obj.metadata
        if metadata.name or not metadata.generate_name or isinstance(obj, Pod) or type(obj) not in MAKERS:
            return obj
        kind, namespace, _ = _identity(obj)
        base = metadata.generate_name[:LONGEST_GENERATED]
        number = next(
            number for number in count() if (kind, namespace, self._ending(base, kind, number)) not in self.owners
        )
        name = self._ending(base, kind, number)
        self.owners.add((kind, namespace, name))
        return _replace(obj, metadata=_replace(metadata, name=name))

    @staticmethod
    def _ending(base: str, kind: str, number: int) -> str:
        return base + random_end(kind, base, number)

    def _reason_to_skip(self, obj: Any) -> str:
        """Return why an object of a kind that makes pods joins the cluster as it is, "" for one that makes pods."""
        if isinstance(obj, Pod) and _is_running(obj):
            return "it comes out of a cluster, where it has a node already"
        if isinstance(obj, Pod) and obj.status.phase in FINISHED:
            return "its status says that it has ended"
        kind, namespace, _ = _identity(obj)
        # An export has workloads beside the ReplicaSets and pods they made; counted as both, each pod would come twice.
        for reference in obj.metadata.owner_references or ():
            owner = (reference.kind, namespace, reference.name)
            if reference.controller and kind in _MADE_BY.get(reference.kind, (kind,)) and owner in self.owners:
                return "its owner is among the manifests and makes it"
        return ""

    def _refuse_changes(self, obj: Any) -> None:
        """Refuse an object that the server would not let take the place of the one that is there."""
        live = None if isinstance(obj, CustomWorkload) else self._live(obj)
        if live is None:
            return
        if isinstance(obj, workloads.Job):
            if comparable(live.spec.template) != comparable(obj.spec.template):
                hint = "a Job of this name exists; delete it first"
                raise _Refused("field is immutable", ("spec", "template"), hint)
        elif isinstance(obj, _WITH_SELECTOR):
            _same_selector(obj, live)
            if isinstance(obj, workloads.StatefulSet):
                _same_claims(obj, live)

    # -- the kinds -----------------------------------------------------------------

    def _deployment(self, obj: workloads.Deployment) -> Workload:
        count, notes = self._count(obj, self._live(obj))
        obj = _at_scale(obj, count)
        current = pod_templates.current_replica_set(obj, self.cluster)
        if current is None:
            current = pod_templates.replica_set_of(obj, template_hash(comparable(obj.spec.template)))
            self.result.joined.append(current)
        # A ReplicaSet without a uid is one that would have to be made; of an existing one, paused Deployments scale.
        if obj.spec.paused and current.metadata.uid == "":
            notes.append("is paused and makes no pods of a new template")
            count = 0
        owner = Owner("apps/v1", "ReplicaSet", current.metadata)
        replicas = self._equal_replicas(owner, current.spec.template, count)
        return self._workload(obj, replicas, obj.spec.template, notes)

    def _replica_set(self, obj: workloads.ReplicaSet) -> Workload:
        count, notes = self._count(obj, self._live(obj))
        obj = _at_scale(obj, count)
        owner = Owner("apps/v1", "ReplicaSet", with_namespace(obj.metadata))
        return self._workload(obj, self._equal_replicas(owner, obj.spec.template, count), obj.spec.template, notes)

    def _replication_controller(self, obj: workloads.ReplicationController) -> Workload:
        template = obj.spec.template
        if template is None:
            raise _Refused('the field "template" is required', ("spec", "template"))
        count, notes = self._count(obj, self._live(obj))
        obj = _at_scale(obj, count)
        owner = Owner("v1", "ReplicationController", with_namespace(obj.metadata))
        return self._workload(obj, self._equal_replicas(owner, template, count), template, notes)

    def _stateful_set(self, obj: workloads.StatefulSet) -> Workload:
        count, notes = self._count(obj, self._live(obj))
        obj = _at_scale(obj, count)
        start = obj.spec.ordinals.start if obj.spec.ordinals else 0
        metadata = with_namespace(obj.metadata)
        for ordinal in range(start, start + count):
            self._take(metadata.namespace, f"{metadata.name}-{ordinal}")
        replicas = (stateful_replica(obj, ordinal, self.cluster) for ordinal in range(start, start + count))
        ordered = obj.spec.pod_management_policy != "Parallel"
        return replace(self._workload(obj, replicas, obj.spec.template, notes), ordered=ordered)

    def _daemon_set(self, obj: workloads.DaemonSet) -> Workload:
        owner = Owner("apps/v1", "DaemonSet", with_namespace(obj.metadata))
        replicas = self._daemons(owner, obj.spec.template, self.nodes.values())
        selector = obj.spec.template.spec.node_selector or {}
        notes = [] if replicas else [describe_no_node(selector, self.nodes.values())]
        return self._workload(obj, replicas, obj.spec.template, notes)

    def _unchanged_daemon_sets(self) -> Iterator[Workload]:
        """Yield the DaemonSets of the cluster that are left as they are and get pods on nodes that come along."""
        for obj in self.cluster.every(workloads.DaemonSet).values():
            if _identity(obj) in self.owners:
                continue
            owner = Owner("apps/v1", "DaemonSet", with_namespace(obj.metadata))
            replicas = self._daemons(owner, obj.spec.template, self.new_nodes)
            if replicas:
                notes = ["is in the cluster; these are its pods on added nodes"]
                yield replace(self._workload(obj, replicas, obj.spec.template, notes), standing=True)

    def _job(self, obj: workloads.Job) -> Workload:
        metadata = with_namespace(obj.metadata)
        message, path, hint = job_groups.objection(obj.spec, self.cluster.release)
        if message:
            raise _Refused(message, path, hint)
        group, note = (
            (None, "") if self._within_custom else job_groups.group_for(_replace(obj, metadata=metadata), self.cluster)
        )
        spec = obj.spec if group is None else _replace(obj.spec, template=job_groups.in_group(obj.spec.template, group))
        replicas, notes = self._job_pods(metadata, spec)
        if group is not None and replicas:
            self.result.joined.append(group)
        return self._workload(obj, replicas, spec.template, [*notes, note] if note and replicas else notes)

    def _cron_job(self, obj: workloads.CronJob) -> Workload:
        metadata, spec = with_namespace(obj.metadata), obj.spec.job_template.spec
        message, path, hint = job_groups.objection(spec, self.cluster.release)
        if message:
            raise _Refused(message, ("spec", "jobTemplate", *path), hint)
        labels = obj.spec.job_template.metadata.labels
        job = ObjectMeta(name=f"{metadata.name}-next", namespace=metadata.namespace, labels=labels)
        if obj.spec.suspend:
            return self._workload(obj, (), spec.template, ["is suspended and makes no jobs"])
        replicas, notes = self._job_pods(job, spec)
        if labels and replicas:  # which say whether Kueue admits it
            self.result.joined.append(workloads.Job(metadata=job, spec=spec))
        if spec.scheduling is not None:
            notes.append("its Jobs get no PodGroup: the Job controller makes none for a Job that a CronJob controls")
        when = f" ({obj.spec.schedule})" if obj.spec.schedule else ""
        return self._workload(obj, replicas, spec.template, [f"these are the pods of its next run{when}", *notes])

    def _pod_template(self, obj: PodTemplate) -> Workload:
        metadata = with_namespace(obj.metadata)
        name = self.names.generate(metadata.namespace, f"{metadata.name}-", "PodTemplate")
        pod = pod_templates.free_pod(Owner("v1", "PodTemplate", metadata), obj.template, name=name)
        notes = ["no controller makes pods of a PodTemplate; this is one pod of it"]
        return self._workload(obj, (Replica(pod),), obj.template, notes)

    def _pod(self, obj: Pod) -> Workload:
        metadata = with_namespace(obj.metadata)
        if metadata.name:
            self._take(metadata.namespace, metadata.name)
        else:
            name = self.names.generate(metadata.namespace, metadata.generate_name, len(self.result.groups))
            metadata = _replace(metadata, name=name)
        pod = Pod(metadata=_replace(metadata, uid="", deletion_timestamp=None), spec=obj.spec)
        template = PodTemplateSpec(metadata=ObjectMeta(labels=metadata.labels), spec=obj.spec)
        return self._workload(pod, (Replica(pod),), template, [])

    def _custom(self, obj: CustomWorkload) -> Workload:
        if obj.made is not None:
            return self._expand_custom(obj, obj.made)
        owner = Owner(obj.api_version, obj.kind, with_namespace(obj.metadata))
        replicas: list[Replica] = []
        groups, notes = obj.replicas, list[str]()
        if not groups and obj.workload_ref is not None:
            groups = [self._group_of_reference(owner, obj.workload_ref, notes)]
        for group in groups:
            if group.per_node:
                replicas += self._daemons(owner, group.template, self.nodes.values())
            elif group.template.metadata.name:
                self._take(owner.metadata.namespace, group.template.metadata.name)
                replicas.append(
                    Replica(pod_templates.pod_from(owner, group.template, name=group.template.metadata.name))
                )
            else:
                number = self._group_count(obj, group, notes)
                if group.hash_label:
                    replicas += self._hashed_replicas(owner, group, number)
                else:
                    replicas += self._equal_replicas(owner, group.template, number, group.group)
        single = groups[0].template if len(groups) == 1 else None
        return self._workload(obj, replicas, single, notes)

    def _expand_custom(self, obj: CustomWorkload, made: Sequence[Any]) -> Workload:
        """Return the pods of the objects that an operator makes; those objects join the cluster themselves."""
        replicas: list[Replica] = []
        notes, templates = list(obj.notes), []
        owners = {
            (owner.kind, owner.name)
            for one in made
            if isinstance(one, Pod)
            for owner in one.metadata.owner_references or ()
        }
        for one in made:
            maker = self._makers.get(type(one))
            if not isinstance(one, Pod):
                self.result.joined.append(one)
            # pods that a webhook tells apart are made beside the StatefulSet that they belong to
            if maker is None or (type(one).__name__, one.metadata.name) in owners:
                continue
            self._within_custom = True
            try:
                workload = maker(one)
            finally:
                self._within_custom = False
            replicas += workload.replicas
            notes += [note for note in workload.notes if note not in notes]
            templates.append(workload.template)
        single = templates[0] if len(templates) == 1 else None
        return self._workload(obj, replicas, single, notes)

    def _hashed_replicas(self, owner: Owner, group: Replicas, count: int) -> list[Replica]:
        """Return pods of a ReplicaSet that the resource makes for its template, as a Deployment does."""
        own_hash = template_hash(comparable(group.template))
        labels = {**(group.template.metadata.labels or {}), group.hash_label: own_hash}
        template = _replace(group.template, metadata=_replace(group.template.metadata, labels=labels))
        metadata = ObjectMeta(
            name=f"{owner.metadata.name}-{own_hash}",
            namespace=owner.metadata.namespace,
            labels=labels,
            owner_references=[owner.reference],
        )
        # its own selector selects by fewer labels, and by the hash the same pods
        spec = workloads.WorkloadSpec(replicas=count, selector=LabelSelector(match_labels=labels), template=template)
        self.result.joined.append(workloads.ReplicaSet(metadata=metadata, spec=spec))
        return self._equal_replicas(Owner("apps/v1", "ReplicaSet", metadata), template, count)

    def _group_of_reference(self, owner: Owner, reference: WorkloadReference, notes: list[str]) -> Replicas:
        """Return the pods of a resource whose template another workload holds."""
        namespace, name = owner.metadata.namespace, reference.name
        struct = next((struct for struct, (_, kind) in MAKERS.items() if kind == reference.kind), None)
        beside = (
            one.object
            for one in self.manifests
            if type(one.object) is struct and _identity(one.object) == (reference.kind, namespace, name)
        )
        there = self.cluster.get(struct, f"{namespace}/{name}") if struct is not None else None
        found: Any = next(beside, there)
        template = found.template if isinstance(found, PodTemplate) else found and found.spec.template
        if template is None:
            message = f"{reference.kind} {name} not found in namespace {namespace}"
            raise _Refused(message, ("spec", "workloadRef"), "its pod template is the one of the Rollout")
        notes.append(f"its pod template is that of {reference.kind} {name}")
        return Replicas(
            template=PodTemplateSpec(metadata=_of_pods(template.metadata), spec=template.spec),
            count=reference.replicas,
            hash_label=ROLLOUT_HASH,
        )

    # -- what they share -------------------------------------------------------------

    def _workload(
        self, obj: Any, replicas: Iterable[Replica], template: PodTemplateSpec | None, notes: Iterable[str]
    ) -> Workload:
        kind, namespace, name = _identity(obj)
        api_version = obj.api_version if isinstance(obj, CustomWorkload) else MAKERS[type(obj)][0]
        return Workload(kind, api_version, namespace, name, tuple(replicas), obj, template=template, notes=tuple(notes))

    def _equal_replicas(self, owner: Owner, template: PodTemplateSpec, count: int, group: str = "") -> list[Replica]:
        """Return so many pods that differ in the random ends of their names only."""
        metadata = owner.metadata
        base = f"{metadata.name}-{group}-" if group else f"{metadata.name}-"
        pod = pod_templates.pod_from(owner, template)
        names = (self.names.generate(metadata.namespace, base, owner.kind, index) for index in range(count))
        return [Replica(pod_templates.with_name(pod, name)) for name in names]

    def _daemons(self, owner: Owner, template: PodTemplateSpec, nodes: Iterable[Node]) -> list[Replica]:
        """Return the pod for each eligible node of these, in the order of their names."""
        labels = {REVISION_LABEL: template_hash(comparable(template))}
        untied = pod_templates.daemon_pod(owner, template, labels=labels)
        base, namespace = f"{owner.metadata.name}-", owner.metadata.namespace
        replicas = []
        for node in sorted(
            eligible_nodes(untied, nodes, self.cluster.compares_taints)
        ):  # names do not depend on the order of the nodes
            name = self.names.generate(namespace, base, owner.kind, node)
            replicas.append(Replica(tie_to_node(pod_templates.with_name(untied, name), node), node=node))
        return replicas

    def _job_pods(self, metadata: ObjectMeta, spec: workloads.JobSpec) -> tuple[list[Replica], list[str]]:
        """Return the pods that run at once, and what to know about the others."""
        notes = []
        if spec.suspend:
            queue = (metadata.labels or {}).get(KUEUE_QUEUE, "")
            key = f"{metadata.namespace}/{metadata.name}"
            # Kueue resumes a new Job of its; one that is in the cluster has its turn when there is quota, not now
            if not queue or self.cluster.get(workloads.Job, key) is not None:
                return [], ["is suspended and makes no pods"]
            notes.append(f"is suspended until Kueue admits it (LocalQueue {queue}); these are its pods then")
        parallel = 1 if spec.parallelism is None else spec.parallelism
        count = parallel if spec.completions is None else min(parallel, spec.completions)
        _check_count(count, ("spec", "parallelism"))
        if spec.completions is not None and spec.completions > count:
            notes.append(f"runs {count} at a time until {spec.completions} have succeeded; these are the first")
        replicas = []
        pod = pod_templates.job_pod(metadata, spec)
        for index in range(count):
            base, ordinal = f"{metadata.name}-", -1
            if spec.completion_mode == "Indexed":
                # The Job controller cuts the name of the job, not the index.
                end = f"-{index}-"
                base, ordinal = metadata.name[: LONGEST_GENERATED - len(end)] + end, index
                pod = pod_templates.job_pod(metadata, spec, index=index)
            name = self.names.generate(metadata.namespace, base, "Job", index)
            replicas.append(Replica(pod_templates.with_name(pod, name), ordinal=ordinal))
        return replicas, notes

    def _count(self, obj: Any, live: Any) -> tuple[int, list[str]]:
        """Return how many replicas a workload has, and where the number is from if it does not say."""
        stated: int | None = obj.spec.replicas
        scaler = self.scalers.get(_identity(obj))
        if stated is not None:
            return _scale(stated, scaler)
        # Applying leaves alone what the manifest does not set: the number that runs stays.
        running: int | None = live.spec.replicas if live is not None else None
        if scaler is not None:
            least = 1 if scaler.spec.min_replicas is None else scaler.spec.min_replicas
            count = least if running is None else max(least, min(running, scaler.spec.max_replicas))
            name = f"HorizontalPodAutoscaler {scaler.metadata.name}"
            if count == least:
                return _check_count(count), [f"replicas are not set; {least} is the minimum of {name}"]
            return _check_count(count), [f"replicas are not set; {name} keeps the current {count}"]
        if running is not None and running != 1:  # 1 is the default, and not worth a note
            return running, [f"replicas are not set; the current {running} stay"]
        return 1, []

    def _group_count(self, obj: CustomWorkload, group: Replicas, notes: list[str]) -> int:
        if group.count is not None:
            return _check_count(group.count, group.path)
        scaler = self.scalers.get(_identity(obj))
        if scaler is not None and len(obj.replicas) == 1:
            least = 1 if scaler.spec.min_replicas is None else scaler.spec.min_replicas
            name = f"HorizontalPodAutoscaler {scaler.metadata.name}"
            notes.append(f"replicas are not set; {least} is the minimum of {name}")
            return _check_count(least)
        return group.default

    def _live(self, obj: Any) -> Any:
        """Return the object of this kind and name that is in the cluster, None if there is none."""
        metadata = with_namespace(obj.metadata)
        return self.cluster.get(type(obj), f"{metadata.namespace}/{metadata.name}")

    def _take(self, namespace: str, name: str) -> None:
        if not self.names.take(namespace, name):
            raise _Refused(
                f'pods "{name}" already exists', ("metadata", "name"), "two objects create a pod of this name"
            )


def stateful_replica(workload: workloads.StatefulSet, ordinal: int, cluster: Cluster) -> Replica:
    """Return the pod of a StatefulSet for an ordinal, with the claims that are not there yet."""
    metadata = with_namespace(workload.metadata)
    revision = {REVISION_LABEL: f"{metadata.name}-{template_hash(comparable(workload.spec.template))}"}
    claims = tuple(pod_templates.stateful_claims(workload, ordinal, cluster))
    return Replica(pod_templates.stateful_pod(workload, ordinal, revision), claims, ordinal=ordinal)


def _is_running(pod: Pod) -> bool:
    """Return whether a pod comes out of a cluster, where it has a node already."""
    return bool(pod.spec.node_name and (pod.metadata.uid or pod.status.phase))


def _of_pods(metadata: ObjectMeta) -> ObjectMeta:
    return ObjectMeta(labels=metadata.labels, annotations=metadata.annotations)


def _nodes(manifests: Iterable[SourcedObject]) -> Iterator[Node]:
    return (one.object for one in manifests if isinstance(one.object, Node))


def _identity(obj: Any) -> tuple[str, str, str]:
    """Return kind, namespace and name of what makes pods."""
    metadata = with_namespace(obj.metadata)
    kind = obj.kind if isinstance(obj, CustomWorkload) else MAKERS[type(obj)][1]
    return kind, metadata.namespace, metadata.name


def _check_count(count: int, path: tuple[str | int, ...] = _PATH_OF_REPLICAS) -> int:
    if count > MANY:
        raise _Refused(f"has {count} pods; at most {MANY} pods of one workload are simulated", path)
    return count


def _at_scale(obj: _Scaled, count: int) -> _Scaled:
    """Return a workload that asks for so many replicas, as an autoscaler makes it: disruption budgets count by that."""
    return obj if obj.spec.replicas == count else _replace(obj, spec=_replace(obj.spec, replicas=count))


def _scale(stated: int, scaler: workloads.HorizontalPodAutoscaler | None) -> tuple[int, list[str]]:
    """Return how many replicas there will be where the manifest says so many; an autoscaler leaves 0 alone."""
    if scaler is None or stated == 0:
        return _check_count(stated), []
    least, most = scaler.spec.min_replicas, scaler.spec.max_replicas
    count = max(1 if least is None else least, min(stated, most))
    if count == stated:
        return _check_count(stated), []
    bound = f"{'minimum' if count > stated else 'maximum'} of HorizontalPodAutoscaler {scaler.metadata.name}"
    return _check_count(count), [f"replicas are {stated} in the manifest; {count} is the {bound}"]


def _same_selector(obj: Any, live: Any) -> None:
    """Refuse another selector than that of the object that is there."""
    if _terms(obj.spec.selector) != _terms(live.spec.selector):
        message = "field is immutable"
        raise _Refused(message, ("spec", "selector"), "the existing one has another selector; delete it first")


def _terms(selector: Any) -> tuple[Any, ...]:
    if selector is None:
        return ()
    expressions = [(e.key, e.operator, sorted(e.values or ())) for e in selector.match_expressions or ()]
    return dict(selector.match_labels or {}), sorted(expressions)


def _same_claims(obj: workloads.StatefulSet, live: workloads.StatefulSet) -> None:
    """Refuse other claim templates than those of the StatefulSet that is there."""

    def claims(one: workloads.StatefulSet) -> Iterator[tuple[str, bytes]]:
        for template in one.spec.volume_claim_templates or ():
            yield template.metadata.name, msgspec.json.encode(pod_templates.comparable_claim(template.spec))

    policies = {one.spec.pod_management_policy or "OrderedReady" for one in (obj, live)}
    if list(claims(obj)) != list(claims(live)) or len(policies) > 1:
        raise _Refused(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
            "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ("spec",),
            "volumeClaimTemplates or podManagementPolicy differ from the existing one; delete it first",
        )
