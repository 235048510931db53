"""The pods of DaemonSets on a node that joins."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api.defaults import with_namespace
from schedctl.api.generated_names import random_end
from schedctl.api.meta import controller_of
from schedctl.api.pods import Pod
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.workloads import daemon_sets, pod_templates
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.api_server import Admission, Created
from schedctl.workloads.expansion import Replica

_replace = msgspec.structs.replace


def start_daemons(cluster: Cluster, name: str) -> int:
    """Run the pods on a new node that the DaemonSets of the cluster make for it; return how many."""
    admit, started = Admission(cluster, disabled=(RESOURCE_QUOTA,)), 0
    node = cluster.node_table.objects[cluster.node_table.row_of[name]]
    for workload in list(cluster.every(DaemonSet).values()):
        untied = pod_templates.pod_of(workload, cluster).pod
        if list(daemon_sets.eligible_nodes(untied, [node], cluster.compares_taints)):
            started += _start(cluster, admit, daemon_sets.tie_to_node(untied, name), workload.metadata.name, name)
    return started


def start_daemons_like(cluster: Cluster, model: str, name: str) -> int:
    """Run pods on a new node like those of the model whose DaemonSets are not in the cluster; return how many."""
    admit, started = Admission(cluster, disabled=(RESOURCE_QUOTA,)), 0
    for info in sorted(cluster.pod_table.on(cluster.node_table.row_of[model]), key=lambda info: info.key):
        owner = controller_of(info.pod)
        if owner is None or owner.kind != "DaemonSet" or info.is_terminating:
            continue
        if cluster.get(DaemonSet, f"{info.namespace}/{owner.name}") is None:
            untied = _replace(info.pod, spec=_replace(info.pod.spec, node_name=""))
            started += _start(cluster, admit, daemon_sets.tie_to_node(untied, name), owner.name, name)
    return started


def copy_daemons(cluster: Cluster, daemons: Iterable[PodInfo], name: str) -> None:
    """Run on a new node what ran on another one when that had just joined; none of it may have claims of its own."""
    for info in daemons:
        metadata = info.pod.metadata
        copied = _replace(metadata, name=f"{metadata.name}-{name}", uid=f"{metadata.uid} on {name}")
        tied = daemon_sets.tie_to_node(_replace(info.pod, metadata=copied), name)
        cluster.add_pod(info.as_now(_replace(tied, spec=_replace(tied.spec, node_name=name))))


def _start(cluster: Cluster, admit: Admission, daemon: Pod, owner: str, node: str) -> bool:
    metadata = with_namespace(daemon.metadata)
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
