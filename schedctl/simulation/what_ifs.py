"""What-ifs: changes to a cluster that somebody thinks about making, as values that compose.

A `Change` makes itself on a cluster, which is a fork or one that nobody needs afterwards, and answers with what it
`Changed`, in words and as facts. Changes are made one after another, each on what the one before has left. They are a
closed set; ``what_if_words`` reads them from command lines and policy files.

Nothing is scheduled here. Pods that lose their node come back as their controllers would make them again, on no node
yet, and whoever asks decides what becomes of them. All that happens at once: grace periods, disruption budgets and what
kubectl refuses are the business of ``drains``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from schedctl.api.defaults import namespaced
from schedctl.api.devices import ResourceSlice
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node, Taint
from schedctl.api.pods import Pod, PodTemplate
from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import SYSTEM_CLASSES
from schedctl.api.short_names import NAMES
from schedctl.api.storage import CSINode
from schedctl.api.tolerations import NO_EXECUTE, tolerates
from schedctl.api.workloads import CronJob, DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import similar
from schedctl.errors import UsageError
from schedctl.reports.metadata import Record
from schedctl.simulation.node_choices import node_named, nodes_chosen, one_of
from schedctl.simulation.replacement import controller_of, successor
from schedctl.workloads import daemon_sets, pod_templates
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created, join
from schedctl.workloads.clusters import every_pod
from schedctl.workloads.expansion import Replica, Unplaced, expand
from schedctl.workloads.names import random_end
from schedctl.workloads.rollouts import plan

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a pod that stands for a static one, which only its kubelet can end."""
_CONDITIONS = "node.kubernetes.io/"
"""How the keys of taints begin that Kubernetes sets itself, for what is wrong with one node."""
_SCALED = (Deployment, ReplicaSet, StatefulSet, ReplicationController)
_FEW = 3
_replace = msgspec.structs.replace


class Changed(Record, frozen=True):
    """What a change did.

    Attributes:
        kind: the word for it, e.g. ``cordon``.
        text: in words, e.g. ``cordoned general-a-1``.
        nodes: the nodes it changed, added or removed.
        waiting: the pods that are on no node because of it, as ``namespace/name``.
        gone: the pods that are gone because of it.
        successors: by pod that is gone, the one its controller makes in its place, which waits.
    """

    kind: str
    text: str
    nodes: list[str] = msgspec.field(default_factory=list)
    waiting: list[str] = msgspec.field(default_factory=list)
    gone: list[str] = msgspec.field(default_factory=list)
    successors: dict[str, str] = msgspec.field(default_factory=dict)


class Change(ABC):
    """One thing to change.

    Attributes:
        kind: the word for it.
    """

    kind: ClassVar[str]

    @abstractmethod
    def apply(self, cluster: Cluster) -> Changed:
        """Make the change and return what it did.

        Raises:
            UsageError: what it is about is not there; with the nearest names.
        """


def apply(changes: Iterable[Change], cluster: Cluster) -> list[Changed]:
    """Make changes in the order given and return what each did.

    Raises:
        UsageError: what one is about is not there.
    """
    return [change.apply(cluster) for change in changes]


# -- nodes -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cordon(Change):
    """Nodes take no more pods; those that run there stay.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "cordon"

    def apply(self, cluster: Cluster) -> Changed:
        """Cordon the nodes."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, node_edits.cordon)
        return Changed(kind=self.kind, text=f"cordoned {few(names)}", nodes=names)


@dataclass(frozen=True, slots=True)
class Drain(Change):
    """Nodes are cordoned and emptied, but for the pods of DaemonSets and those their kubelets run by themselves.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "drain"

    def apply(self, cluster: Cluster) -> Changed:
        """Cordon the nodes, then let their pods come back on no node."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, node_edits.cordon)
        leaving = [info for name in names for info in pods_on(cluster, name) if not stays(info.pod)]
        return _displaced(self.kind, f"drained {few(names)}", cluster, names, leaving)


@dataclass(frozen=True, slots=True)
class RemoveNode(Change):
    """Nodes are gone, and the pods on them with them.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "remove-node"

    def apply(self, cluster: Cluster) -> Changed:
        """Remove the nodes; their pods come back on no node, but for those of DaemonSets."""
        return _removed(self.kind, "removed", cluster, nodes_chosen(cluster, self.nodes))


@dataclass(frozen=True, slots=True)
class Lose(Change):
    """All nodes of a zone, or with another label, fail at once.

    Attributes:
        label: as ``zone=eu-1a``, ``region=eu-1``, ``hostname=node-3`` or ``LABEL=VALUE``.
    """

    label: str

    kind: ClassVar[str] = "lose"

    def apply(self, cluster: Cluster) -> Changed:
        """Remove the nodes; their pods come back on no node, but for those of DaemonSets."""
        if "=" not in self.label:
            raise UsageError(f'"{self.label}" is no label with a value', "e.g. `zone=eu-west-1a` or `pool=spot`")
        return _removed(self.kind, f"lost {self.label}:", cluster, nodes_chosen(cluster, self.label))


@dataclass(frozen=True, slots=True)
class AddNodes(Change):
    """Nodes join, described in full; empty but for the pods of the DaemonSets in the cluster.

    Attributes:
        nodes: the nodes, as read from a file.
        count: how many of each.
    """

    nodes: tuple[Node, ...]
    count: int = 1

    kind: ClassVar[str] = "add-node"

    def apply(self, cluster: Cluster) -> Changed:
        """Add the nodes under their names, with numbers where those are taken or there are several."""
        added, daemons = [], 0
        for node in self.nodes:
            own = node.metadata.name
            names = [own] if self.count == 1 and own not in cluster.node_table.row_of else None
            for name in names or list(_new_names(cluster, f"{own}-", self.count)):
                cluster.add_node(node_edits.rename_node(node, name))
                daemons += _start_daemons(cluster, name)
                added.append(name)
        return Changed(kind=self.kind, text=f"added {few(added)}{_with_daemons(daemons)}", nodes=added)


@dataclass(frozen=True, slots=True)
class AddNodesLike(Change):
    """Nodes join that are like one of the cluster when it was new: same size, labels and taints, no images.

    Attributes:
        node: the node they are like.
        count: how many.
    """

    node: str
    count: int = 1

    kind: ClassVar[str] = "add-node"

    def apply(self, cluster: Cluster) -> Changed:
        """Add the nodes as ``NODE-new-1`` and so on, with what drivers publish of the model and its daemons."""
        named, count = self.node, self.count
        if named not in cluster.node_table.row_of and f"{named}x{count}" in cluster.node_table.row_of:
            named, count = f"{named}x{count}", 1  # a name that ends like a number of nodes
        model = node_named(cluster, named)
        taints = [taint for taint in model.spec.taints or () if not taint.key.startswith(_CONDITIONS)]
        fresh = _replace(
            model,
            spec=_replace(model.spec, unschedulable=False, taints=taints or None),
            status=_replace(model.status, images=None, conditions=None),
        )
        names = list(_new_names(cluster, f"{named}-new-", count))
        daemons = 0
        for name in names:
            cluster.add_node(node_edits.rename_node(fresh, name))
            node_edits.publish_like(cluster, named, name)
            daemons += _start_daemons(cluster, name) + _start_daemons_like(cluster, named, name)
        text = f"added {few(names)}, like {named}{_with_daemons(daemons)}"
        return Changed(kind=self.kind, text=text, nodes=names)


@dataclass(frozen=True, slots=True)
class SetTaint(Change):
    """Nodes get a taint, as ``kubectl taint`` does it; NoExecute evicts the pods that do not tolerate it for good.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key, value, effect: the taint; it replaces the one of the same key and effect.
    """

    nodes: str
    key: str
    value: str
    effect: str

    kind: ClassVar[str] = "taint"

    def apply(self, cluster: Cluster) -> Changed:
        """Set the taint."""
        names = nodes_chosen(cluster, self.nodes)
        taint = Taint(key=self.key, value=self.value, effect=self.effect)
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.add_taint(node, taint))
        evicted = []
        if self.effect == NO_EXECUTE:
            running = (info for name in names for info in pods_on(cluster, name))
            evicted = [info for info in running if not is_mirror(info.pod) and not _bears(info.pod, taint)]
        written = f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"
        return _displaced(self.kind, f"tainted {few(names)} with {written}", cluster, names, evicted)


@dataclass(frozen=True, slots=True)
class ClearTaint(Change):
    """Nodes lose their taints of a key, as with ``kubectl taint KEY-``.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key: of the taints.
        effect: of the taints, "" for any.
    """

    nodes: str
    key: str
    effect: str = ""

    kind: ClassVar[str] = "taint"

    def apply(self, cluster: Cluster) -> Changed:
        """Clear the taints of those nodes that have one.

        Raises:
            UsageError: none has.
        """
        chosen = nodes_chosen(cluster, self.nodes)
        names = [name for name in chosen if any(map(self._is_meant, node_named(cluster, name).spec.taints or ()))]
        if not names:
            keys = {taint.key for name in chosen for taint in node_named(cluster, name).spec.taints or ()}
            raise UsageError(f'no taint "{self.key}" on {few(chosen)}', one_of(self.key, sorted(keys), "taints"))
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.remove_taints(node, self.key, self.effect))
        written = f"{self.key}{f':{self.effect}' if self.effect else ''}"
        return Changed(kind=self.kind, text=f"cleared taint {written} from {few(names)}", nodes=names)

    def _is_meant(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)


@dataclass(frozen=True, slots=True)
class SetLabel(Change):
    """Nodes get a label, or lose one; the pods that run there stay.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key: of the label.
        value: its value, None to remove it.
    """

    nodes: str
    key: str
    value: str | None

    kind: ClassVar[str] = "label"

    def apply(self, cluster: Cluster) -> Changed:
        """Set or remove the label."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.set_label(node, self.key, self.value))
        if self.value is None:
            return Changed(kind=self.kind, text=f"removed label {self.key} from {few(names)}", nodes=names)
        return Changed(kind=self.kind, text=f"labelled {few(names)} {self.key}={self.value}", nodes=names)


# -- workloads -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """A pod or workload by its name.

    Attributes:
        struct: its kind, one of `schedctl.api.short_names.NAMES`.
        namespace, name: which.
    """

    struct: type
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{NAMES[self.struct][0]}/{self.namespace}/{self.name}"

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Scale(Change):
    """A workload is to have another number of pods, as with ``kubectl scale``.

    Attributes:
        workload: a Deployment, ReplicaSet, StatefulSet or ReplicationController.
        replicas: how many pods.
    """

    workload: Subject
    replicas: int

    kind: ClassVar[str] = "scale"

    def apply(self, cluster: Cluster) -> Changed:
        """Scale the workload: further pods wait, admitted; those that are too many are gone.

        Raises:
            UsageError: there is no such workload, or it is of a kind that cannot be scaled.
        """
        if self.workload.struct not in _SCALED:
            kinds = ", ".join(NAMES[struct][0] for struct in _SCALED)
            raise UsageError(f"{self.workload} cannot be scaled", f"these can: {kinds}")
        workload = _found(cluster, self.workload)
        before = 1 if workload.spec.replicas is None else workload.spec.replicas
        scaled = _replace(workload, spec=_replace(workload.spec, replicas=self.replicas))
        expansion = expand([Unplaced(scaled)], cluster)
        if expansion.refused:
            raise UsageError(f"{self.workload} cannot be scaled: {expansion.refused[0].message}")
        admit = Admission(cluster)
        waiting: list[str] = []
        gone: list[str] = []
        updates = plan(join(expansion, cluster, admit), cluster, "rolling")
        for update in updates:
            while step := update.next(lambda key: True):
                for info in step.remove:
                    cluster.remove_pod(info)
                    admit.credit(info.pod)
                    gone.append(info.key)
                waiting += _created(cluster, admit, step.create)
        refused = f", {len(admit.rejected)} refused ({admit.rejected[0].message})" if admit.rejected else ""
        fewer = f" ({counted(len(gone), 'pod')} gone)" if gone else ""
        text = f"scaled {self.workload} from {before} to {self.replicas}{fewer}{_told(waiting)}{refused}"
        return Changed(kind=self.kind, text=text, waiting=waiting, gone=gone)


@dataclass(frozen=True, slots=True)
class SetPriority(Change):
    """A pod, or all pods of a workload now and later, have another priority.

    Attributes:
        subject: the pod or workload.
        value: the priority, or the name of a PriorityClass, whose preemption policy comes with it.
    """

    subject: Subject
    value: int | str

    kind: ClassVar[str] = "priority"

    def apply(self, cluster: Cluster) -> Changed:
        """Change the priority of pods and templates; a bare number becomes a class of its own, as clusters demand.

        Raises:
            UsageError: there is no such subject, or no such class.
        """
        if self.subject.struct is Pod:
            pods = [_pod(cluster, self.subject)]
        else:
            workload = _found(cluster, self.subject)
            groups = expand([Unplaced(workload)], cluster).groups
            pods = [info for update in plan(groups, cluster) for info in update.old]
            for each in (workload, *_replica_sets(workload, cluster)):
                cluster.put(_with_template(each, lambda spec: self._prioritised(spec, cluster, None)))
        before = sorted({info.priority for info in pods})
        value = self.value if isinstance(self.value, int) else self._named(cluster, self.value).value
        for info in pods:
            pod = info.pod
            _change_pod(cluster, info, _replace(pod, spec=self._prioritised(pod.spec, cluster, value)))
        was = f", was {' and '.join(map(str, before))}" if before else ""
        many = f" ({len(pods)} pods)" if self.subject.struct is not Pod else ""
        return Changed(kind=self.kind, text=f"priority of {self.subject} is {value}{many}{was}")

    def _prioritised(self, spec: Any, cluster: Cluster, value: int | None) -> Any:
        """Return a pod's spec with the class, and with its value where it has been admitted."""
        chosen = self._class(cluster, spec.preemption_policy)
        policy = (chosen.preemption_policy or "PreemptLowerPriority") if value is not None else None
        return _replace(spec, priority_class_name=chosen.metadata.name, priority=value, preemption_policy=policy)

    def _class(self, cluster: Cluster, policy: str | None) -> PriorityClass:
        """Return the class of a pod; that of a bare number joins the cluster, and keeps the pod's policy."""
        if isinstance(self.value, str):
            return self._named(cluster, self.value)
        name = f"what-if-{self.value}{'-never' if policy == 'Never' else ''}"
        made = PriorityClass(metadata=ObjectMeta(name=name), value=self.value, preemption_policy=policy)
        if cluster.get(PriorityClass, name) is None:
            cluster.put(made)
        return made

    def _named(self, cluster: Cluster, name: str) -> PriorityClass:
        if name in SYSTEM_CLASSES:
            return PriorityClass(metadata=ObjectMeta(name=name), value=SYSTEM_CLASSES[name])
        classes = cluster.every(PriorityClass)
        if name not in classes:
            raise UsageError(
                f'there is no PriorityClass "{name}"', one_of(name, [*classes, *SYSTEM_CLASSES], "classes")
            )
        return classes[name]


# -- pods that lose their node ---------------------------------------------------


def pods_on(cluster: Cluster, node: str) -> list[PodInfo]:
    """Return the pods on a node, by name."""
    return sorted(cluster.pod_table.on(cluster.node_table.row_of[node]), key=lambda info: info.key)


def is_mirror(pod: Pod) -> bool:
    """Return whether a pod stands for a static one."""
    return MIRROR in (pod.metadata.annotations or {})


def stays(pod: Pod) -> bool:
    """Return whether draining its node leaves a pod there: one of a DaemonSet, or of the kubelet itself."""
    owner = controller_of(pod)
    return is_mirror(pod) or (owner is not None and owner.kind == "DaemonSet")


def displace(cluster: Cluster, pods: Sequence[PodInfo]) -> dict[str, str]:
    """Remove running pods and let those come back, on no node, that somebody makes again.

    Pods of DaemonSets belong to their node and do not come back, nor do those that were on their way out already.

    Returns:
        By key of a pod that came back, the key of the pod in its place.
    """
    for info in pods:
        cluster.remove_pod(info)
    admit = Admission(cluster, disabled=(RESOURCE_QUOTA,))
    successors: dict[str, str] = {}
    for info in pods:
        made = None
        if not info.terminating and not stays(info.pod):
            made = successor(info.pod, lambda key: pod_templates.exists(key, cluster))
        if made is not None:
            for key in _created(cluster, admit, (Replica(made),)):
                successors[info.key] = key
    return successors


def _created(cluster: Cluster, admit: Admission, replicas: Iterable[Replica]) -> list[str]:
    """Let pods join the cluster, on no node, and return the keys of those that were admitted."""
    keys = []
    for replica in replicas:
        created = admit.create(replica)
        if isinstance(created, Created):
            for claim in created.claims:
                cluster.put(claim)
            cluster.add_pod(PodInfo(created.pod))
            keys.append(created.pod.key)
    return keys


def _displaced(kind: str, done: str, cluster: Cluster, nodes: list[str], pods: Sequence[PodInfo]) -> Changed:
    """Displace pods and return that as a change of their nodes."""
    successors, gone = displace(cluster, pods), [info.key for info in pods]
    waiting = list(successors.values())
    lost = [info for info in pods if info.key not in successors and not stays(info.pod) and not info.terminating]
    text = f"{done}{_told(waiting, lost)}"
    return Changed(kind=kind, text=text, nodes=nodes, waiting=waiting, gone=gone, successors=successors)


def _removed(kind: str, verb: str, cluster: Cluster, names: list[str]) -> Changed:
    changed = _displaced(
        kind, f"{verb} {few(names)}", cluster, names, [info for name in names for info in pods_on(cluster, name)]
    )
    for name in names:
        cluster.remove_node(name)
        published = [one for one in cluster.every(ResourceSlice).values() if one.spec.node_name == name]
        csi = cluster.get(CSINode, name)
        for obj in (*published, *((csi,) if csi is not None else ())):
            cluster.delete(obj)
    return changed


def _bears(pod: Pod, taint: Taint) -> bool:
    """Whether a pod tolerates a taint for good."""
    return any(
        toleration.toleration_seconds is None and tolerates(toleration, taint)
        for toleration in pod.spec.tolerations or ()
    )


# -- nodes that come -------------------------------------------------------------


def _new_names(cluster: Cluster, base: str, count: int) -> Iterator[str]:
    number = 0
    for _ in range(count):
        number += 1
        while f"{base}{number}" in cluster.node_table.row_of:
            number += 1
        yield f"{base}{number}"


def _start_daemons(cluster: Cluster, name: str) -> int:
    """Run the pods on a new node that the DaemonSets of the cluster make for it; return how many."""
    admit, started = Admission(cluster, disabled=(RESOURCE_QUOTA,)), 0
    for workload in list(cluster.every(DaemonSet).values()):
        untied = pod_templates.pod_of(workload, cluster).pod
        if list(daemon_sets.eligible_nodes(untied, [node_named(cluster, name)])):
            started += _start(cluster, admit, daemon_sets.tied(untied, name), workload.metadata.name, name)
    return started


def _start_daemons_like(cluster: Cluster, model: str, name: str) -> int:
    """Run pods on a new node like those of the model whose DaemonSets are not in the cluster; return how many."""
    admit, started = Admission(cluster, disabled=(RESOURCE_QUOTA,)), 0
    for info in pods_on(cluster, model):
        owner = controller_of(info.pod)
        if owner is None or owner.kind != "DaemonSet" or info.terminating:
            continue
        if cluster.get(DaemonSet, f"{info.namespace}/{owner.name}") is None:
            untied = _replace(info.pod, spec=_replace(info.pod.spec, node_name=""))
            started += _start(cluster, admit, daemon_sets.tied(untied, name), owner.name, name)
    return started


def _start(cluster: Cluster, admit: Admission, daemon: Pod, owner: str, node: str) -> bool:
    metadata = namespaced(daemon.metadata)
    metadata = _replace(metadata, name=f"{owner}-{random_end(metadata.namespace, owner, node)}")
    if metadata.uid:
        metadata = _replace(metadata, uid=f"{metadata.uid} on {node}")
    created = admit.create(Replica(_replace(daemon, metadata=metadata)))
    if not isinstance(created, Created):
        return False
    for claim in created.claims:
        cluster.put(claim)
    cluster.add_pod(PodInfo(_replace(created.pod, spec=_replace(created.pod.spec, node_name=node))))
    return True


# -- pods and workloads by name --------------------------------------------------


def _found(cluster: Cluster, subject: Subject) -> Any:
    found: Any = cluster.every(subject.struct).get(subject.key)
    if found is None:
        there = list(cluster.every(subject.struct))
        raise UsageError(
            f'there is no {subject.struct.__name__} "{subject.name}" in namespace {subject.namespace}',
            _nearest(subject, there),
        )
    return found


def _pod(cluster: Cluster, subject: Subject) -> PodInfo:
    there = {info.key: info for info in every_pod(cluster)}
    if subject.key not in there:
        hint = _nearest(subject, list(there))
        raise UsageError(f'there is no pod "{subject.name}" in namespace {subject.namespace}', hint)
    return there[subject.key]


def _nearest(subject: Subject, keys: Sequence[str]) -> str:
    """The next step: the namespace that has the name, else the nearest names."""
    elsewhere = [key.partition("/")[0] for key in keys if key.partition("/")[2] == subject.name]
    if elsewhere:
        there = Subject(subject.struct, elsewhere[0], subject.name)
        return f"there is one in namespace {few(elsewhere)}: `{there}`"
    inside = [key.partition("/")[2] for key in keys if key.partition("/")[0] == subject.namespace]
    close = similar(subject.name, inside)
    close = close or [name for name in inside if name.startswith(subject.name)]
    return f"did you mean {few(close)}?" if close else f"there are {few(sorted(keys))}" if keys else ""


def _change_pod(cluster: Cluster, info: PodInfo, pod: Pod) -> None:
    if info.key in cluster.pending:
        cluster.update_pending(PodInfo(pod))
    else:
        cluster.remove_pod(info)
        cluster.add_pod(PodInfo(pod))


def _replica_sets(workload: Any, cluster: Cluster) -> list[ReplicaSet]:
    """Return the ReplicaSets of a Deployment."""
    if not isinstance(workload, Deployment):
        return []
    metadata = namespaced(workload.metadata)
    return [
        one
        for one in cluster.every(ReplicaSet).values()
        if one.metadata.namespace == metadata.namespace
        and pod_templates.controlled_by(one.metadata, "Deployment", metadata)
    ]


def _with_template(workload: Any, change: Callable[[Any], Any]) -> Any:
    """Return a workload whose pods will have another spec."""

    def changed(template: Any) -> Any:
        return None if template is None else _replace(template, spec=change(template.spec))

    if isinstance(workload, PodTemplate):
        return _replace(workload, template=changed(workload.template))
    if isinstance(workload, CronJob):
        job = workload.spec.job_template
        job = _replace(job, spec=_replace(job.spec, template=changed(job.spec.template)))
        return _replace(workload, spec=_replace(workload.spec, job_template=job))
    return _replace(workload, spec=_replace(workload.spec, template=changed(workload.spec.template)))


# -- words -----------------------------------------------------------------------


def few(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many."""
    if len(names) <= _FEW + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_FEW])} and {len(names) - _FEW} more"


def counted(number: int, noun: str) -> str:
    """Return ``1 pod`` or ``2 pods``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _told(waiting: Sequence[str], lost: Sequence[PodInfo] = ()) -> str:
    """Return in words how many pods wait, and which are gone for good."""
    parts = [f"{counted(len(waiting), 'pod')} to be placed"] if waiting else []
    parts += [f"{few([info.key for info in lost])} gone for good"] if lost else []
    return f" ({', '.join(parts)})" if parts else ""


def _with_daemons(number: int) -> str:
    return f", with {counted(number, 'pod')} of DaemonSets" if number else ""
