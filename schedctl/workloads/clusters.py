"""A cluster from manifests: what an API server would have made of them, with everything in place.

Objects that came out of a cluster go in as they are; what was written by hand is admitted first. `cluster_updates`
keeps such a cluster up to date, object by object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from schedctl.api import defaults
from schedctl.api.gaps import Gap
from schedctl.api.kinds import Kind
from schedctl.api.meta import ELLIPSIS, Namespace
from schedctl.api.nodes import Node
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import FINISHED, Pod
from schedctl.api.policies import PriorityClass
from schedctl.api.sharing import Sharing
from schedctl.api.storage import PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.releases import NEWEST, Release
from schedctl.workloads import admission
from schedctl.workloads.pod_groups import admit_group

NAME_LABEL = "kubernetes.io/metadata.name"


class AssembledCluster(msgspec.Struct):
    """A cluster and what admission had to say.

    Attributes:
        cluster: the cluster.
        warnings: by pod key, why an API server would have refused the pod.
        finished: pods that have run to their end, by key; they take part in nothing and are not in the cluster.
        unknown: by pod key, the missing kinds that admission would have looked at.
    """

    cluster: Cluster = msgspec.field(default_factory=Cluster)
    warnings: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    finished: dict[str, Pod] = msgspec.field(default_factory=dict)
    unknown: dict[str, frozenset[type]] = msgspec.field(default_factory=dict)


class _ReadKinds:
    """The missing kinds that are read while it observes a cluster, a `ReadObserver`."""

    def __init__(self) -> None:
        self.kinds: set[type] = set()

    def read(self, kind: type) -> None:
        self.kinds.add(kind)


def assemble(
    objects: Iterable[Any], missing: Iterable[Gap] = (), kinds: Iterable[Kind] = (), release: Release = NEWEST
) -> AssembledCluster:
    """Return the cluster of these API objects; no two of them may have kind and name in common.

    Args:
        objects: the objects.
        missing: the kinds that could not be listed.
        kinds: other people's kinds that some of them may be of.
        release: the kube-scheduler whose rules hold.
    """
    made = AssembledCluster(Cluster(release))
    cluster = made.cluster
    cluster.lack(missing, kinds)
    pods: list[Pod] = []
    nodes: list[Node] = []
    claims: list[PersistentVolumeClaim] = []
    groups: list[PodGroup] = []
    for obj in objects:
        if isinstance(obj, Pod):
            pods.append(obj)
        elif isinstance(obj, Node):
            nodes.append(obj)
        elif isinstance(obj, PersistentVolumeClaim):
            claims.append(obj)
        elif isinstance(obj, PodGroup):
            groups.append(obj)
        elif isinstance(obj, StorageClass):
            cluster.put(defaults.storage_class(obj))
        else:
            cluster.put(with_name_label(obj) if isinstance(obj, Namespace) else obj)
    classes = cluster.every(PriorityClass) if groups else {}
    for group in groups:
        cluster.put(admit_group(group, classes, release))
    cluster.add_nodes(nodes)
    for claim in claims:
        cluster.put(claim if claim.metadata.uid else admission.claim(claim, cluster))
    # Last, since admission needs the classes they name; running ones are admitted too: their priorities decide who may
    # be evicted, and their selectors whom they keep away.
    cluster.add_pods(_admit_pods(pods, made))
    return made


def every_pod(cluster: Cluster) -> Iterator[PodInfo]:
    """Yield the pods of a cluster: the pending ones, the running ones, those on nodes that are not there."""
    yield from cluster.pending.values()
    yield from cluster.pod_table
    yield from cluster.strays.values()


def find_pod(key: str, cluster: Cluster) -> PodInfo | None:
    """Return the pod of that ``namespace/name``, wherever `every_pod` would find it; None if there is none."""
    row = cluster.pod_table.row_of.get(key)
    bound: PodInfo | None = None if row is None else cluster.pod_table.infos[row]
    return bound or cluster.pending.get(key) or cluster.strays.get(key)


def _admit_pods(pods: Iterable[Pod], made: AssembledCluster) -> Iterator[PodInfo]:
    """Yield the pods that take part, and note what is to be known of the others."""
    sharing = Sharing()
    for pod in _each_with_a_name(pods):
        if pod.metadata.uid:  # admission has been, and reads nothing of the cluster
            stored = defaults.pod(pod)
            if pod.status.phase in FINISHED:
                made.finished[stored.key] = stored
            else:
                yield PodInfo(stored if stored is pod else sharing.pod(stored))
            continue
        reads = _ReadKinds()
        with made.cluster.observe_reads(reads):
            admitted = admission.admit(pod, made.cluster)
        if reads.kinds:
            made.unknown[admitted.pod.key] = frozenset(reads.kinds)
        if pod.status.phase in FINISHED:
            made.finished[admitted.pod.key] = admitted.pod
            continue
        if admitted.warnings:
            made.warnings[admitted.pod.key] = admitted.warnings
        for claim in admitted.claims:
            made.cluster.put(claim)
        yield PodInfo(admitted.pod if admitted.pod is pod else sharing.pod(admitted.pod))


def _each_with_a_name(pods: Iterable[Pod]) -> Iterator[Pod]:
    """Name the pods that have a ``generateName`` only, which differ in their random ends."""
    generated: Counter[str] = Counter()
    for pod in pods:
        metadata = pod.metadata
        if metadata.name:
            yield pod
            continue
        key = f"{metadata.namespace}/{metadata.generate_name}"
        generated[key] += 1
        end = ELLIPSIS if generated[key] == 1 else f"{ELLIPSIS}{generated[key]}"
        name = f"{metadata.generate_name}{end}"
        yield msgspec.structs.replace(pod, metadata=msgspec.structs.replace(metadata, name=name))


def with_name_label(namespace: Namespace) -> Namespace:
    """Return a namespace with the label of its name, which an API server always adds and selectors rely on."""
    metadata = namespace.metadata
    labels = {**(metadata.labels or {}), NAME_LABEL: metadata.name}
    return msgspec.structs.replace(namespace, metadata=msgspec.structs.replace(metadata, labels=labels))
