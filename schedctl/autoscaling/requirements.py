"""Requirements of NodePools: which nodes and instance types a pool allows, and the labels that follow from them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from schedctl.api import node_labels, topology
from schedctl.api.autoscalers import Requirement

_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "Gt": operator.gt,
    "Lt": operator.lt,
    "Gte": operator.ge,
    "Lte": operator.le,
}
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", *_NUMBERS)
_CURRENT = {
    node_labels.BETA_INSTANCE_TYPE: node_labels.INSTANCE_TYPE,
    "beta.kubernetes.io/arch": node_labels.ARCHITECTURE,
    "beta.kubernetes.io/os": node_labels.OPERATING_SYSTEM,
    **topology.CURRENT_LABELS,
}
"""The current label for each deprecated one, which Karpenter takes it for."""


_WELL_KNOWN = frozenset(
    (
        node_labels.KARPENTER_POOL,
        node_labels.CAPACITY_TYPE,
        topology.ZONE,
        topology.REGION,
        node_labels.INSTANCE_TYPE,
        node_labels.ARCHITECTURE,
        node_labels.OPERATING_SYSTEM,
        "node.kubernetes.io/windows-build",
    )
)
PROVIDERS = ("karpenter.k8s.aws/", "karpenter.azure.com/")
"""What the labels begin with by which providers tell types of nodes apart."""


def is_well_known(key: str) -> bool:
    """Return whether nodes have a label by what they are, whatever their NodePool says of it."""
    return key in _WELL_KNOWN or key.startswith(PROVIDERS)


def current_key(key: str) -> str:
    """Return the label that Karpenter takes a key for."""
    return _CURRENT.get(key, key)


def allows(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Return whether labels meet a requirement; one about an absent label is met by NotIn and DoesNotExist only."""
    value = labels.get(current_key(requirement.key))
    values = requirement.values or []
    match requirement.operator:
        case "In":
            return value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    compare = _NUMBERS.get(requirement.operator)
    if compare is None or value is None or not value.isdecimal() or len(values) != 1 or not values[0].isdecimal():
        return False
    return compare(int(value), int(values[0]))


def unknown_operators(requirements: Iterable[Requirement]) -> list[str]:
    """Return the operators that are not Karpenter's."""
    return sorted({each.operator for each in requirements if each.operator not in _OPERATORS})


def about(requirements: Iterable[Requirement], key: str) -> list[Requirement]:
    """Return the requirements of a label."""
    return [each for each in requirements if current_key(each.key) == key]


def values_of(requirements: Sequence[Requirement], key: str) -> list[str] | None:
    """Return the values that a label may have, None where no requirement lists any."""
    found: list[str] | None = None
    for each in about(requirements, key):
        if each.operator == "In":
            values = each.values or []
            found = values if found is None else [value for value in found if value in values]
    if found is None:
        return None
    others = [each for each in about(requirements, key) if each.operator == "NotIn"]
    return [value for value in found if all(value not in (each.values or ()) for each in others)]


def choices_of(requirements: Sequence[Requirement]) -> dict[str, list[str]]:
    """Return the labels of a pool's own for which its requirements list several values, of which a node has one."""
    keys = dict.fromkeys(each.key for each in requirements if not is_well_known(current_key(each.key)))
    found = {key: values_of(requirements, key) or [] for key in keys}
    return {key: values for key, values in found.items() if len(values) > 1}


def labels_of(requirements: Sequence[Requirement]) -> dict[str, str]:
    """Return the labels that every node of a pool has because one value is all that a requirement allows."""
    keys = dict.fromkeys(current_key(each.key) for each in requirements)
    found = {key: values for key in keys if (values := values_of(requirements, key)) is not None}
    return {key: values[0] for key, values in found.items() if len(values) == 1}
