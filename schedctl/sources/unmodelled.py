"""Custom resources of which an operator may make pods, though nobody here knows how.

Whether a kind is one of those says the table of `schedctl.sources.operator_kinds`; of other kinds it is read off fields
of pods and of numbers of them, in the resource or in the schema of its CustomResourceDefinition.
`schedctl.sources.manifests` keeps them apart from kinds that scheduling has nothing to do with.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.errors import Problem
from schedctl.sources import operator_kinds

OPERATOR = "not modelled, an operator may make pods of it"
KUSTOMIZE = "not built, and kustomize may change the objects beside it; check with -k DIR"
WORKLOAD = "not modelled, a controller may make PodGroups of its templates for pods that stand alone here"
POD_GROUP = "not modelled, its pods would be placed together"

_OTHER_GROUPS = {
    "scheduling.k8s.io/v1alpha1": "the API of Kubernetes 1.35",
    "scheduling.k8s.io/v1alpha2": "the API of Kubernetes 1.36",
    "scheduling.k8s.io/v1alpha3": "an alpha API of Kubernetes 1.37",
}
"""Versions of pod groups and workloads that are not read, and whose they are."""

_OF_PODS = frozenset(
    (
        "containers",
        "podTemplate",
        "podSpec",
        "nodeSelector",
        "tolerations",
        "volumeClaimTemplate",
        "volumeClaimTemplates",
    )
)
"""Fields that a resource has whose operator makes pods."""
_OF_NUMBERS = frozenset(("replicas", "instances", "image", "resources", "affinity", "storage"))
"""Fields that say so if two of them come together."""
_REPLICAS = frozenset(("replicas", "instances", "members", "replicaCount"))
"""Fields that say so if they are numbers."""


class Unmodelled(msgspec.Struct, frozen=True):
    """A resource of which pods may be made.

    Attributes:
        kind: its ``Kind.group``, as policies allow it.
        problem: which it is, where it begins, and why it may change the answer.
    """

    kind: str
    problem: Problem


def reason_of(group: str, kind: str, resource: Any, defined: frozenset[tuple[str, str]]) -> str:
    """Return why a resource of a kind that is not read may change the answer, "" if it hardly can.

    Args:
        group: its API group.
        kind: its kind.
        resource: its fields.
        defined: the groups and kinds whose definitions say that they make pods.
    """
    if kind in ("PodGroup", "CompositePodGroup"):
        return POD_GROUP
    if (group, kind) == ("scheduling.k8s.io", "Workload"):
        return WORKLOAD
    if group == "kustomize.config.k8s.io":
        return KUSTOMIZE
    known = operator_kinds.makes_pods(group, kind)
    if known is None:
        spec = resource.get("spec") if isinstance(resource, dict) else None
        named_so = any(label.endswith("operator") for label in group.split("."))
        known = named_so or (group, kind) in defined or _names_pods(spec)
    return OPERATOR if known else ""


def unread_version(api_version: str, kind: str) -> str:
    """Return that a group of pods is written for an API that is not read, "" for any other object."""
    whose = _OTHER_GROUPS.get(api_version)
    if whose is None or kind not in ("PodGroup", "Workload"):
        return ""
    return (
        f"{kind} as {api_version} is {whose}, which is not read, as if the object were not there"
        " (Kubernetes 1.37 has it as scheduling.k8s.io/v1beta1)"
    )


def defines(definition: Any) -> tuple[str, str] | None:
    """Return group and kind of a CustomResourceDefinition whose resources make pods by its schema, None for another.

    What can be scaled (``subresources.scale``) makes pods as well.
    """
    spec = definition.get("spec") if isinstance(definition, dict) else None
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict) or not (_names_pods(spec) or _is_scaled(spec)):
        return None
    return str(spec.get("group", "")), str(names.get("kind", ""))


def _is_scaled(spec: dict[str, Any]) -> bool:
    versions = spec.get("versions")
    among = [spec, *versions] if isinstance(versions, list) else [spec]
    subresources = [each.get("subresources") for each in among if isinstance(each, dict)]
    return any(isinstance(each, dict) and "scale" in each for each in subresources)


def _names_pods(value: Any) -> bool:
    """Return whether fields of pods are in a value, at any depth."""
    pending = [value]
    while pending:
        inside = pending.pop()
        if isinstance(inside, dict):
            if not _OF_PODS.isdisjoint(inside) or len(_OF_NUMBERS.intersection(inside)) > 1:
                return True
            if any(type(inside[field]) is int for field in _REPLICAS.intersection(inside)):
                return True
            pending += inside.values()
        elif isinstance(inside, list):
            pending += inside
    return False
