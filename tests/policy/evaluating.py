"""Checks in a few lines: a state of builders, manifests as data, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from schedctl.cache.cluster import Cluster
from schedctl.policy import documents
from schedctl.policy.evaluations import Conditions, evaluate
from schedctl.policy.results import AcceptancePolicy
from schedctl.reports.checks import CheckReport, CheckResult
from schedctl.scheduler import Scheduler
from schedctl.sources import Manifests, Terms, load_text
from schedctl.testing.builders import ZONE, node, pod

LOSE_ZONE = documents.Scenario("lose-zone", ZONE, ({"remove": {"nodeSelector": {ZONE: "$value"}}},))
"""Each zone is lost in turn."""


def zoned(*sizes: int, cpu: str = "4", memory: str = "16Gi", **more: Any) -> list[Any]:
    """Nodes a0, a1, ..., b0, ...: so many in each of the zones eu-1a, eu-1b, ..."""
    return [
        node(f"{letter}{number}", zone=f"eu-1{letter}", cpu=cpu, memory=memory, **more)
        for letter, size in zip("abcdef", sizes, strict=False)
        for number in range(size)
    ]


def running(name: str, on: str, *, owner: str = "old", kind: str = "ReplicaSet", **spec: Any) -> Any:
    """A running pod that its controller would make again."""
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}
    return pod(name, on=on, metadata={"ownerReferences": [reference], "uid": f"uid-{name}"}, **spec)


def deployment(
    name: str = "web",
    replicas: int = 3,
    *,
    cpu: str = "500m",
    memory: str = "",
    namespace: str = "shop",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    kind: str = "Deployment",
    **spec: Any,
) -> dict[str, Any]:
    """A Deployment, or another workload of the same shape; extra arguments are fields of its pods' spec."""
    requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
    pod_labels = {"app": name, **(labels or {})}
    container = {"name": "main", "image": "registry.example/web:v1", "resources": {"requests": requests}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}},
        "spec": {
            **({} if kind == "DaemonSet" else {"replicas": replicas}),
            "selector": {"matchLabels": {"app": name}},
            **({"serviceName": name} if kind == "StatefulSet" else {}),
            "template": {"metadata": {"labels": pod_labels}, "spec": {"containers": [container], **spec}},
        },
    }


def bare(name: str, namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    """A pod that nobody controls."""
    container = {"name": "main", "image": "registry.example/web:v1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], **spec},
    }


def priority_class(name: str, value: int) -> dict[str, Any]:
    """A PriorityClass."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def manifests_of(*objects: dict[str, Any]) -> Manifests:
    """Manifests of these objects."""
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return load_text(json.dumps(listed).encode(), "release.json", terms=Terms(creating=True))


def check(builtin: str, arguments: documents.Arguments, name: str = "", **more: Any) -> documents.Check:
    """A check by a built-in."""
    return documents.Check(
        name=name or builtin, builtin=builtin, arguments=arguments, scope=documents.BUILTINS[builtin].scope, **more
    )


def policy(
    *checks: documents.Check, scenarios: Sequence[documents.Scenario] = (), **more: Any
) -> documents.CheckPolicy:
    """A policy of these checks."""
    return documents.CheckPolicy(name="policy", checks=checks, scenarios=tuple(scenarios), **more)


def report(
    cluster: Cluster,
    manifests: Manifests,
    *policies: documents.CheckPolicy,
    conditions: Conditions | None = None,
    accepting: AcceptancePolicy | None = None,
) -> CheckReport:
    """What `evaluate` says."""
    return evaluate(policies, Scheduler(cluster), manifests, conditions=conditions, accepting=accepting)


def outcomes_of(results: Iterable[CheckResult]) -> list[tuple[str, str, str]]:
    """Subject, outcome and message of each result."""
    return [(result.subject, result.outcome.value, result.message) for result in results]
