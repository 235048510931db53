"""What expressions can speak of: the variables, their fields, and the scope in which each exists.

The table is the contract between `schedctl.policy.facts`, which fills the values in as plain data, and
`schedctl.policy.compilation`, which refuses what is not in it before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schedctl.policy.documents import Scope

VARIABLES: Final = "variables"
PARAMS: Final = "params"
TEXT, INTEGER, BOOLEAN, ANYTHING = "string", "int", "bool", "dyn"
TEXTS, LABELS, AMOUNTS = "list<string>", "map<string,string>", "map<string,int>"

RECORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Source": {"file": TEXT, "line": INTEGER},
    "Taint": {"key": TEXT, "value": TEXT, "effect": TEXT},
    "Node": {
        "name": TEXT,
        "zone": TEXT,
        "labels": LABELS,
        "taints": "list<Taint>",
        "unschedulable": BOOLEAN,
        "allocatable": AMOUNTS,
        "requested": AMOUNTS,
        "free": AMOUNTS,
        "pods": INTEGER,
    },
    "Victim": {"namespace": TEXT, "name": TEXT, "priority": INTEGER, "node": TEXT},
    "Owner": {"kind": TEXT, "name": TEXT},
    "Pod": {
        "namespace": TEXT,
        "name": TEXT,
        "labels": LABELS,
        "annotations": LABELS,
        "spec": ANYTHING,
        "priority": INTEGER,
        "requests": AMOUNTS,
        "workload": "Owner",
        "scheduled": BOOLEAN,
        "inconclusive": BOOLEAN,
        "node": "Node?",
        "reasons": TEXTS,
        "preempts": "list<Victim>",
        "source": "Source",
    },
    "Workload": {
        "kind": TEXT,
        "namespace": TEXT,
        "name": TEXT,
        "labels": LABELS,
        "annotations": LABELS,
        "replicas": INTEGER,
        "pods": "list<Pod>",
        "ready": INTEGER,
        "pending": INTEGER,
        "zones": AMOUNTS,
        "nodes": AMOUNTS,
        "source": "Source",
    },
    "Group": {
        "namespace": TEXT,
        "name": TEXT,
        "labels": LABELS,
        "annotations": LABELS,
        "policy": TEXT,
        "minCount": INTEGER,
        "topologyKey": TEXT,
        "priority": INTEGER,
        "pods": "Pods",
        "starts": BOOLEAN,
        "nodes": AMOUNTS,
    },
    "Quota": {"namespace": TEXT, "name": TEXT, "labels": LABELS, "hard": AMOUNTS, "used": AMOUNTS},
    "Namespace": {
        "name": TEXT,
        "labels": LABELS,
        "annotations": LABELS,
        "pods": "Pods",
        "rejected": INTEGER,
        "requested": AMOUNTS,
        "headroom": AMOUNTS,
        "quotas": "list<Quota>",
    },
    "Pods": {"total": INTEGER, "scheduled": INTEGER, "pending": INTEGER},
    "Result": {
        "pods": "Pods",
        "pendingByReason": AMOUNTS,
        "nodesByZone": AMOUNTS,
        "preemptions": INTEGER,
        "headroom": AMOUNTS,
    },
}
"""The fields of every record; one of type ``Name?`` may be missing, as the node of a pod that has none.

Amounts are integers in the units in which the scheduler counts: millicores of cpu, bytes, or whole units. ``Pod.spec``
is the spec as the API writes it, in plain JSON values; ``Result.headroom`` has what is free in the whole cluster by
resource: cpu, memory, pods and so on; ``Workload.zones`` and ``nodes`` have how many of its pods are there; ``ready``
counts those that have a node. Of a pod that is ``inconclusive`` nobody here can tell where it goes: ``scheduled`` is
false, and it is among the pending. ``Namespace.labels`` and ``annotations`` are missing where no Namespace object is
known; ``Group.policy`` is ``Gang`` or ``Basic``, ``starts`` whether ``minCount`` of its pods have a node;
``Quota.used`` and ``Namespace.headroom`` where nobody counts what is used.
"""

ROOTS: Final[Mapping[str, str]] = {
    "pod": "Pod",
    "workload": "Workload",
    "node": "Node",
    "result": "Result",
    "baseline": "Result",
    "nodes": "list<Node>",
    "namespaceObject": "Namespace",
    "namespaces": "list<Namespace>",
    "quota": "Quota",
    "group": "Group",
    "quotas": "list<Quota>",
}
"""Every variable and its type, besides ``params`` and ``variables``."""

IN_SCOPE: Final[Mapping[Scope, tuple[str, ...]]] = {
    Scope.POD: ("pod", "workload", "namespaceObject", "result", "baseline"),
    Scope.WORKLOAD: ("workload", "namespaceObject", "result", "baseline"),
    Scope.NODE: ("node", "result", "baseline"),
    Scope.NAMESPACE: ("namespaceObject", "result", "baseline"),
    Scope.QUOTA: ("quota", "namespaceObject", "result", "baseline"),
    Scope.GROUP: ("group", "namespaceObject", "result", "baseline"),
    Scope.RUN: ("nodes", "namespaces", "quotas", "result", "baseline"),
}
"""Which of them exist where. In the scope of a pod, ``workload`` is what it belongs to: for a pod on its own, the pod
as a workload of one. ``namespaceObject``, which is what ValidatingAdmissionPolicies call it, since ``namespace`` is a
reserved word of CEL, is the namespace of the object. ``nodes`` are those of the scenario at hand, by name,
``namespaces`` and ``quotas`` all there are; ``result`` is what came of the scenario, ``baseline`` is the cluster before
the change."""
