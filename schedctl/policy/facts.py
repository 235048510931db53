"""What checks and expressions see: the objects of a situation as plain data.

The fields are those of `schedctl.policy.variables`. Amounts are integers in the scheduler's units; what a pod requests
includes the overhead and what its init containers need, as the scheduler counts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from schedctl.api import topology
from schedctl.api.nodes import Node
from schedctl.api.resources import PODS
from schedctl.api.tolerations import HARD_EFFECTS
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.policy.causes import Causes, lines
from schedctl.policy.namespaces import NamespaceFacts
from schedctl.policy.pod_groups import group_names
from schedctl.policy.situations import JudgedPod, JudgedWorkload, Situation
from schedctl.reports.simulations import Fate
from schedctl.simulation.what_ifs import abbreviate

NOT_ASKED = "NotAsked"
"""Why pods are pending that nobody has tried to place."""
Data = dict[str, Any]


class Facts(msgspec.Struct):
    """The objects of a situation as plain data, each made when it is first asked for: ten checks ask for the same pods.

    Attributes:
        situation: the situation.
        causes: what answers why pods are pending.
    """

    situation: Situation
    causes: Causes
    _pods: dict[int, Data] = msgspec.field(default_factory=dict)
    _workloads: dict[tuple[int, frozenset[str]], Data] = msgspec.field(default_factory=dict)
    _nodes: dict[str, Data] = msgspec.field(default_factory=dict)
    _all_nodes: list[Data] | None = None
    _result: Data | None = None
    _usage: Usage | None = None
    _specs: dict[int, tuple[Any, Data]] = msgspec.field(default_factory=dict)
    _unclear: dict[int, str] = msgspec.field(default_factory=dict)
    _in_namespaces: NamespaceFacts | None = None

    def unclear_pods(self, about: Situation | JudgedWorkload) -> str:
        """Return the pods of the situation or of a workload of which nobody can tell where they go, in words."""
        if id(about) not in self._unclear:
            self._unclear[id(about)] = abbreviate(group_names(pod.name for pod in about.unclear_pods))
        return self._unclear[id(about)]

    def pod(self, pod: JudgedPod, judged: JudgedWorkload) -> Data:
        """Return a pod of a workload."""
        if id(pod) not in self._pods:
            self._pods[id(pod)] = self._pod(pod, judged)
        return self._pods[id(pod)]

    def workload(self, judged: JudgedWorkload, read: frozenset[str]) -> Data:
        """Return a workload with those fields, of its own and of its pods, that are read: each pod may ask for it."""
        if (id(judged), read) not in self._workloads:
            known = self._workload(judged)
            if "pods" in read:
                known["pods"] = [_only(self.pod(pod, judged), read) for pod in judged.pods]
            self._workloads[id(judged), read] = _only(known, read)
        return self._workloads[id(judged), read]

    def node(self, name: str) -> Data:
        """Return a node."""
        if name not in self._nodes:
            self._nodes[name] = self._node(name)
        return self._nodes[name]

    def nodes(self) -> list[Data]:
        """Return all nodes, by name."""
        if self._all_nodes is None:
            self._all_nodes = [self.node(name) for name in sorted(self.situation.cluster.node_table.row_of)]
        return self._all_nodes

    @property
    def in_namespaces(self) -> NamespaceFacts:
        """The namespaces and quotas."""
        if self._in_namespaces is None:
            self._in_namespaces = NamespaceFacts(self.situation)
        return self._in_namespaces

    def result(self) -> Data:
        """Return what is true of the run as a whole: every pod of the cluster and of the manifests counts."""
        if self._result is None:
            situation = self.situation
            pending: Counter[str] = Counter()
            outside, judged = 0, {key for each in situation.workloads for key in each.keys}
            for each in situation.workloads:
                for pod in each.pods:
                    if not pod.is_placed:
                        pending.update(_refusers(pod))
                        # Pods that were never created, or are gone for good, are pending and not in the cluster.
                        outside += not pod.keys or pod.keys[-1] not in situation.cluster.pending
            for key in situation.cluster.pending:
                if key not in judged:
                    outcome = situation.run.pods.get(key)
                    pending.update(outcome.plugins if outcome is not None and outcome.plugins else (NOT_ASKED,))
            self._result = _result(situation.cluster, pending, outside, len(situation.evictions))
        return self._result

    # -- inside ------------------------------------------------------------------

    def _pod(self, pod: JudgedPod, judged: JudgedWorkload) -> Data:
        info, situation = pod.info, self.situation
        metadata = info.pod.metadata
        return {
            "namespace": metadata.namespace,
            "name": pod.name,
            "labels": dict(info.labels),
            "annotations": dict(metadata.annotations or {}),
            "spec": self._spec(info),
            "priority": info.priority,
            "requests": {name: amount for name, amount in info.demand.fit_requests.items() if amount},
            "workload": {"kind": judged.workload.kind, "name": judged.workload.name},
            "scheduled": pod.is_placed,
            "inconclusive": pod.is_unclear,
            **({"node": self.node(pod.node)} if pod.is_placed else {}),
            "reasons": self._reasons(pod),
            "preempts": [
                {
                    "namespace": eviction.pod.namespace,
                    "name": eviction.pod.pod.metadata.name,
                    "priority": eviction.pod.priority,
                    "node": eviction.node,
                }
                for eviction in situation.evictions_for(pod.keys)
            ],
            "source": _source(judged),
        }

    def _reasons(self, pod: JudgedPod) -> list[str]:
        if pod.is_placed:
            return []
        if pod.fate in (Fate.UNSCHEDULABLE, Fate.NOMINATED):
            reasons = lines(self.causes.explain(pod.info, hints=False).reasons)
            if reasons:
                return reasons
        return [pod.message or pod.fate.value]

    def _spec(self, info: PodInfo) -> Data:
        spec = info.pod.spec
        known = self._specs.get(id(spec))
        if known is None:
            plain: Data = _partial(spec, msgspec.to_builtins(spec))
            # The spec is kept along, so that no other one gets its id; the pods of a workload share one.
            known = self._specs[id(spec)] = (spec, plain)
        return known[1]

    def _workload(self, judged: JudgedWorkload) -> Data:
        workload, placed = judged.workload, judged.placed_pods
        metadata = getattr(workload.object, "metadata", None)
        nodes = Counter(pod.node for pod in placed)
        zones: Counter[str] = Counter()
        for name, count in nodes.items():
            zones[self.node(name)["zone"]] += count
        return {
            "kind": workload.kind,
            "namespace": workload.namespace,
            "name": workload.name,
            "labels": dict((metadata.labels if metadata is not None else None) or {}),
            "annotations": dict((metadata.annotations if metadata is not None else None) or {}),
            "replicas": len(judged.pods),
            "ready": len(placed),
            "pending": len(judged.pending_pods) + len(judged.unclear_pods),
            "zones": dict(sorted(zones.items())),
            "nodes": dict(sorted(nodes.items())),
            "source": _source(judged),
        }

    def _node(self, name: str) -> Data:
        cluster = self.situation.cluster
        if self._usage is None:
            self._usage = usage(cluster)
        node = cluster.node_table.objects[cluster.node_table.row_of[name]]
        allocatable, requested = self._usage.of(name)
        return {
            "name": name,
            "zone": topology.zone_of(node.metadata.labels),
            "labels": dict(node.metadata.labels or {}),
            "taints": [
                {"key": taint.key, "value": taint.value or "", "effect": taint.effect}
                for taint in node.spec.taints or ()
            ],
            "unschedulable": bool(node.spec.unschedulable),
            "allocatable": allocatable,
            "requested": requested,
            "free": {resource: amount - requested.get(resource, 0) for resource, amount in allocatable.items()},
            "pods": requested.get(PODS, 0),
        }


class Usage(msgspec.Struct, frozen=True):
    """What the nodes of a cluster offer and what is taken of it, by resource and place.

    Attributes:
        places: the place of each node.
        allocatable, requested: by resource, a number for each place; of ``pods``, how many there are.
    """

    places: Mapping[str, int]
    allocatable: Mapping[str, list[int]]
    requested: Mapping[str, list[int]]

    def of(self, name: str) -> tuple[dict[str, int], dict[str, int]]:
        """Return what a node offers and what is taken of it, by resource."""
        place = self.places[name]
        offered = {resource: column[place] for resource, column in self.allocatable.items() if column[place]}
        taken = {resource: self.requested[resource][place] for resource in offered}
        return offered, taken


def usage(cluster: Cluster) -> Usage:
    """Return what the nodes of a cluster offer now, and what is taken of it."""
    column = cluster.nodes
    resources = dict.fromkeys(
        resource
        for row in cluster.node_table.row_of.values()
        for resource in cluster.node_table.objects[row].status.allocatable or ()
    )
    return Usage(
        {name: place for place, name in enumerate(column.names)},
        {name: column.allocatable(name).tolist() for name in sorted(resources)},
        {name: (column.pod_count if name == PODS else column.requested(name)).tolist() for name in sorted(resources)},
    )


def takes_pods(node: Node) -> bool:
    """Return whether a node takes pods that do not ask for it: it is not cordoned, and no taint keeps them away."""
    return not node.spec.unschedulable and all(taint.effect not in HARD_EFFECTS for taint in node.spec.taints or ())


def before(cluster: Cluster) -> Data:
    """Return what is true of a state as it was given, in the shape of `Facts.result`.

    Nobody asked why pods are pending there, so all of them count as ``NotAsked``.
    """
    pending = Counter({NOT_ASKED: len(cluster.pending)} if cluster.pending else {})
    return _result(cluster, pending, 0, 0)


def _result(cluster: Cluster, pending: Counter[str], outside: int, preemptions: int) -> Data:
    scheduled, waiting = len(cluster.pod_table), len(cluster.pending) + outside
    zones = Counter(topology.zone_of(node.metadata.labels) for node in _nodes(cluster))
    taken = usage(cluster)
    closed = {node.metadata.name for node in _nodes(cluster) if not takes_pods(node)}
    free: dict[str, int] = {}
    for resource, offered in taken.allocatable.items():
        used = taken.requested[resource]
        places = [place for name, place in taken.places.items() if name not in closed]
        free[resource] = sum(max(offered[place] - used[place], 0) for place in places)
    return {
        "pods": {"total": scheduled + waiting, "scheduled": scheduled, "pending": waiting},
        "pendingByReason": dict(sorted(pending.items())),
        "nodesByZone": dict(sorted(zones.items())),
        "preemptions": preemptions,
        "headroom": free,
    }


def _partial(value: Any, plain: Any) -> Any:
    """Return plain data in which it is noted which fields of the objects in it are kept: others may be written."""
    # Only expressions ask for specs; policies without any never load the CEL engine.
    from schedctl.cel.values import PartialObject

    if isinstance(value, msgspec.Struct):
        fields = dict(zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True))
        kept = {name: _partial(getattr(value, fields[name]), each) for name, each in plain.items()}
        return PartialObject(kept, type(value).__name__, frozenset(fields))
    if isinstance(value, list):
        return [_partial(*pair) for pair in zip(value, plain, strict=True)]
    return plain


def _only(data: Data, read: frozenset[str]) -> Data:
    return {name: value for name, value in data.items() if name in read}


def _refusers(pod: JudgedPod) -> tuple[str, ...]:
    """Return who keeps a pod from a node, by plugin; where no plugin does, what became of it."""
    return pod.plugins or (pod.fate.value,)


def _source(judged: JudgedWorkload) -> Data:
    sourced = judged.sourced
    if sourced is None:
        return {"file": "", "line": 0}
    return {"file": sourced.origin or sourced.source, "line": 0 if sourced.origin else sourced.line}


def _nodes(cluster: Cluster) -> list[Node]:
    table = cluster.node_table
    return [table.objects[row] for row in table.row_of.values()]
