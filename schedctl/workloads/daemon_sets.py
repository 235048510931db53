"""Which pod of a DaemonSet to look at: it makes one for each node that is eligible, tied to that node by name.

Whether the pod fits there is not the controller's concern but the scheduler's. A DaemonSet that has all its pods makes
none, so its own pods never stand in the way of one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from schedctl.api import pods
from schedctl.api.defaults import with_namespace
from schedctl.api.node_selectors import NAME_FIELD, required_node_affinity
from schedctl.api.nodes import Node
from schedctl.api.tolerations import first_untolerated
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.framework.similar import closest_name, did_you_mean
from schedctl.workloads.clusters import every_pod
from schedctl.workloads.pod_templates import NextPod, has_controller, pod_of

NO_NODE = "no node meets its node selector, affinity and tolerations"
_replace = msgspec.structs.replace


class Complete(Exception):
    """A DaemonSet has a pod for every eligible node and makes no other; the message says so."""


def pod_for(workload: DaemonSet, cluster: Cluster, node: str = "") -> NextPod:
    """Return the pod of a DaemonSet for one node.

    Args:
        workload: the DaemonSet.
        cluster: its nodes, and the pods it made already.
        node: the node in question; "" for the first by name that has none of its pods yet.

    Returns:
        The pod it would make for the node, or the one that is there already; where no node is eligible, or this one is
        not, the template as it is before it is tied to a node, so that the nodes say why.

    Raises:
        Complete: no node was named and all have their pods.
    """
    metadata = with_namespace(workload.metadata)
    subject = f"DaemonSet {metadata.namespace}/{metadata.name}"
    untied = pod_of(workload, cluster).pod
    eligible = sorted(eligible_nodes(untied, nodes_of(cluster), cluster.compares_taints))
    there = dict(_pods(workload, cluster))
    # Asked about first: a pod may be on a node that is not eligible any more.
    if node in there:
        made = there[node]
        return NextPod(made, note=f"{subject} has pod {made.key} for node {node}: this is about that pod")
    if node and node not in eligible:
        note = f"{subject} makes no pod for node {node}, because of its node selector, affinity or tolerations"
        return NextPod(untied, note=f"{note}: this is its template")
    if not eligible:
        note = f"{subject} makes no pod, as {NO_NODE}"
        return NextPod(untied, note=f"{note}: this is its template")
    without = [name for name in eligible if name not in there]
    if not without and not node:
        raise Complete(_complete(subject, [there[name] for name in eligible]))
    chosen = node or without[0]
    note = f"this is the pod that {subject} would make for node {chosen}"
    if not node and len(without) > 1:
        note += f", the first of {len(without)} eligible nodes without one; `--node NAME` explains another"
    return NextPod(tie_to_node(untied, chosen), note=note)


def nodes_of(cluster: Cluster) -> Iterator[Node]:
    """Yield the nodes of a cluster."""
    table = cluster.node_table
    return (table.objects[row] for row in table.row_of.values())


def eligible_nodes(untied: pods.Pod, nodes: Iterable[Node], compares: bool) -> Iterator[str]:
    """Yield the names of the nodes the controller would make a pod for; `compares` as in `tolerates`."""
    required, spec = required_node_affinity(untied), untied.spec
    for node in nodes:
        name = node.metadata.name
        if (
            spec.node_name in ("", name)
            and required.matches(name, node.metadata.labels)
            # NoExecute as well as NoSchedule: the controller makes no pod that would be evicted at once.
            and first_untolerated(node.spec.taints or (), spec.tolerations or (), compares) is None
        ):
            yield name


def describe_no_node(selector: Mapping[str, str], nodes: Iterable[Node]) -> str:
    """Return in words that no node is eligible, with the label that a node selector probably meant."""
    labels = [node.metadata.labels or {} for node in nodes]
    for key, value in selector.items():
        values = {each[key] for each in labels if key in each}
        if value not in values and (close := closest_name(value, sorted(values))):
            return f"{NO_NODE}: no node has {key}={value}{did_you_mean(close)}"
        if not values and (close := closest_name(key, sorted({name for each in labels for name in each}))):
            return f"{NO_NODE}: no node has a label {key}{did_you_mean(close)}"
    return NO_NODE


def _pods(workload: DaemonSet, cluster: Cluster) -> Iterator[tuple[str, pods.Pod]]:
    """Yield its pods with the node each is on or, while it is pending, tied to."""
    owner = with_namespace(workload.metadata)
    for info in every_pod(cluster):
        pod = info.pod
        if pod.metadata.namespace == owner.namespace and has_controller(pod.metadata, "DaemonSet", owner):
            yield node_of(pod), pod


def node_of(pod: pods.Pod) -> str:
    """Return the node a daemon's pod is on or, by its affinity, tied to; "" for none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in (required and required.node_selector_terms) or ():
        for field in term.match_fields or ():
            if field.key == NAME_FIELD and field.operator == "In" and field.values:
                return field.values[0]
    return ""


def tie_to_node(pod: pods.Pod, node: str) -> pods.Pod:
    """Return the pod tied to a node, in place of the nodes it required."""
    name = pods.NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=[node])
    required = pods.NodeSelector(node_selector_terms=[pods.NodeSelectorTerm(match_fields=[name])])
    affinity = pod.spec.affinity or pods.Affinity()
    changed = _replace(
        affinity.node_affinity or pods.NodeAffinity(), required_during_scheduling_ignored_during_execution=required
    )
    return _replace(pod, spec=_replace(pod.spec, affinity=_replace(affinity, node_affinity=changed)))


def _complete(subject: str, there: list[pods.Pod]) -> str:
    nodes = f"each of its {len(there)} nodes" if len(there) > 1 else "its only node"
    pending = [pod.key for pod in there if not pod.spec.node_name]
    waiting = f", {len(pending)} of them pending (`pod {pending[0]}`)" if pending else ""
    return f"{subject} has a pod for {nodes}{waiting}; `--node NAME` explains that of a node"
