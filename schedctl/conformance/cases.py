"""Cases: what the oracle and we are asked, one JSON object a line.

Objects are taken as an API server would store them, as the oracle takes them: defaulted, with priorities from their
PriorityClass and a uid, finished pods dropped.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api import defaults
from schedctl.api.kinds import find
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.policies import PriorityClass
from schedctl.api.priorities import resolve
from schedctl.api.sharing import Sharing
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config import loading
from schedctl.config.types import SchedulerConfiguration
from schedctl.releases import NEWEST, Release
from schedctl.workloads.pod_resources import complete_pod_resources


class Case(Struct, frozen=True):
    """One case; ``conformance/oracle/README.md`` describes every field."""

    id: str
    objects: list[dict[str, Any]] | None = None
    config: str = ""
    pods: list[str] | None = None
    simulate: bool = False
    lean: bool = False
    percent: int = 0
    timing: bool = False
    bench: bool = False
    groups: bool = False


def configuration(case: Case, release: Release = NEWEST) -> SchedulerConfiguration:
    """Return the scheduler configuration of a case, as a release reads it.

    Raises:
        ConfigError: kube-scheduler would refuse it.
    """
    if not case.config:
        return loading.default(release)
    return loading.load(case.config, "config", release=release)


def cluster_of(case: Case, release: Release = NEWEST) -> tuple[Cluster, list[PodInfo]]:
    """Return the cluster of a case, as a release sees it, and the pods it asks about, in order.

    Beside the pending ones these are running ones whose resize is deferred, where the scheduler sees to them.

    Raises:
        msgspec.ValidationError: an object does not decode.
        LookupError: a pod asked about is not pending in the case.
    """
    objects = [decoded for raw in case.objects or () if (decoded := _decode(raw)) is not None]
    classes = {o.metadata.name: o for o in objects if isinstance(o, PriorityClass)}
    cluster, sharing = Cluster(release), Sharing()
    pods = []
    for obj in objects:
        if isinstance(obj, Pod):
            pods.append(PodInfo(sharing.pod(_with_pod_requests(resolve(defaults.pod(obj), classes), release))))
        elif isinstance(obj, Node):
            cluster.add_node(obj)
        else:
            cluster.put(obj)
    cluster.add_pods(pods)
    queued = {info.key: info for info in pods if info.key in cluster.pending or cluster.tries_resize(info)}
    if case.pods:
        missing = [key for key in case.pods if key not in queued]
        if missing:
            raise LookupError(f"no pending pod {missing[0]}")
        return cluster, [queued[key] for key in case.pods]
    return cluster, list(queued.values())


def _decode(raw: dict[str, Any]) -> Any:
    kind = find(raw.get("apiVersion", ""), raw.get("kind", ""))
    if kind is None:  # the scheduler does not read it
        return None
    obj: Any = msgspec.convert(raw, kind.struct)
    # Of a pod before it gets its namespace, of others after: so the oracle does, and the uid holds the namespace.
    metadata = _with_uid(obj.metadata) if kind.struct is Pod else obj.metadata
    if kind.namespaced:
        metadata = defaults.with_namespace(metadata)
    return msgspec.structs.replace(obj, metadata=_with_uid(metadata))


def _with_uid(metadata: ObjectMeta) -> ObjectMeta:
    """Return the metadata with the uid that the oracle gives objects without one."""
    if metadata.uid:
        return metadata
    return msgspec.structs.replace(metadata, uid=f"uid-{metadata.namespace}/{metadata.name}")


def _with_pod_requests(pod: Pod, release: Release) -> Pod:
    """Return the pod with its requests as a whole, where defaulting completes them: what the oracle's cases go through.

    Only where it has limits as a whole, be they those of its containers for huge pages.
    """
    whole = pod.spec.resources
    if whole is None or release.enabled("PodLevelResourcesFixDefaulting") or not release.enabled("PodLevelResources"):
        return pod
    spec = complete_pod_resources(pod.spec)
    limited = whole.limits or any(
        name.startswith("hugepages-") for name in (spec.resources and spec.resources.limits) or ()
    )
    return msgspec.structs.replace(pod, spec=spec) if limited else pod
