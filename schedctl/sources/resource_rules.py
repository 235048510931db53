"""Rules of an API server about resources: how they are called, and how much of them may be asked for.

Containers, whole pods, nodes, quotas and limit ranges each know other names; a misspelt one asks for nothing, or limits
nothing, which would pass unseen. `relations` applies them by struct.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from schedctl.api import pods, policies, quantities
from schedctl.api.meta import Quantity
from schedctl.api.nodes import NodeStatus
from schedctl.api.resources import extended_resource_problems, is_pod_level
from schedctl.documents.findings import Finding, Path, quote
from schedctl.documents.spelling import CLOSE, did_you_mean
from schedctl.sources import syntax

_HUGE_PAGES = "hugepages-"
_OF_CONTAINERS = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = ("cpu", "memory")
_LIMITED = ("Container", "Pod", "PersistentVolumeClaim")
_OF_QUOTAS = (
    *_OF_CONTAINERS,
    *(f"{what}.{name}" for what in ("requests", "limits") for name in _OF_CONTAINERS),
    "requests.storage",
    "pods",
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
)


def container(obj: pods.Container, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with what a container requests."""
    if obj.resources is None:
        return
    where = (*path, "resources")
    yield from _requirements(obj.resources, where, _of_container)
    names = {*(obj.resources.limits or ()), *(obj.resources.requests or ())}
    if any(name.startswith(_HUGE_PAGES) for name in names) and names.isdisjoint(_OF_PODS):
        yield Finding(where, "a container with huge pages has to request cpu or memory as well")


def pod_level(obj: pods.ResourceRequirements, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with what a pod requests as a whole (KEP-2837)."""
    yield from _requirements(obj, path, _of_pod)


def node_status(obj: NodeStatus, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with what a node offers."""
    yield from _amounts(obj.capacity or {}, (*path, "capacity"))
    yield from _amounts(obj.allocatable or {}, (*path, "allocatable"))


def quota(obj: policies.ResourceQuotaSpec, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with what a quota limits."""
    hard = obj.hard or {}
    yield from _names(hard, (*path, "hard"), _of_quota)
    yield from _amounts(hard, (*path, "hard"))


def limit_range_item(obj: policies.LimitRangeItem, path: Path) -> Iterator[Finding]:
    """Yield what is wrong with bounds and defaults."""
    if obj.type not in _LIMITED and "/" not in obj.type:
        yield Finding((*path, "type"), f"expected one of {', '.join(_LIMITED)}, got {quote(obj.type)}")
    fields = {"min": obj.min, "defaultRequest": obj.default_request, "default": obj.default, "max": obj.max}
    if obj.type in ("Container", "Pod"):
        for field, amounts in fields.items():
            yield from _names(amounts or {}, (*path, field), _of_container)
    elif obj.type == "PersistentVolumeClaim" and "storage" not in {*(obj.min or ()), *(obj.max or ())}:
        yield Finding(path, "expected storage under min or max, the only resource of claims")
    for (lower, least), (upper, most) in combinations(fields.items(), 2):
        for name, amount in (least or {}).items():
            bound = (most or {}).get(name)
            if bound is not None and _compare(amount, bound) > 0:
                yield Finding((*path, lower, name), f"expected at most {bound}, the {upper}, got {amount}")


_Rule = Callable[[str], tuple[str, str]]
"""Returns why a resource cannot be named, and what may have been meant; "" if it can."""


def _of_container(name: str) -> tuple[str, str]:
    if name in _OF_CONTAINERS or name.startswith(_HUGE_PAGES):
        return syntax.label_key(name), ""
    if "/" not in name:
        expected = f"expected one of {', '.join(_OF_CONTAINERS)}, hugepages-SIZE, or DOMAIN/NAME"
        return f"{expected}, got {quote(name)}", _suggestion(name, _OF_CONTAINERS)
    if "kubernetes.io/" in name:
        return syntax.label_key(name), ""
    problems = extended_resource_problems(name)
    return (f"{quote(name)} {problems[0]}" if problems else ""), ""


def _of_pod(name: str) -> tuple[str, str]:
    if is_pod_level(name):
        return "", ""
    return f"expected one of cpu, memory, hugepages-SIZE of a whole pod, got {quote(name)}", _suggestion(name, _OF_PODS)


def _of_quota(name: str) -> tuple[str, str]:
    if "/" in name:
        return syntax.label_key(name), ""
    if name in _OF_QUOTAS or name.removeprefix("requests.").startswith(_HUGE_PAGES):
        return "", ""
    return f"a quota cannot limit {quote(name)}", _suggestion(name, _OF_QUOTAS)


def _suggestion(name: str, known: Sequence[str]) -> str:
    """Return the question whether a name was meant that begins as this one does, or is like it."""
    alike = [each for each in known if name and (each.startswith(name) or name.startswith(each))]
    return did_you_mean(name, alike or known, "", cutoff=0 if alike else CLOSE)


def _requirements(obj: pods.ResourceRequirements, path: Path, rule: _Rule) -> Iterator[Finding]:
    limits, requests = obj.limits or {}, obj.requests or {}
    for field, amounts in (("limits", limits), ("requests", requests)):
        where = (*path, field)
        yield from _names(amounts, where, rule)
        yield from _amounts(amounts, where)
        for name, amount in amounts.items():
            if name in ("memory", "ephemeral-storage"):
                yield from _fraction_of_byte(amount, (*where, name))
            elif name.startswith(_HUGE_PAGES) and not _is_multiple(amount, name.removeprefix(_HUGE_PAGES)):
                yield Finding((*where, name), f"expected a multiple of the size of a page, got {amount}")
    for name, request in requests.items():
        limit = limits.get(name)
        if _whole_units(name) or name.startswith(_HUGE_PAGES):
            if limit is None or _compare(request, limit):
                found = "none" if limit is None else limit
                message = (
                    f"{name} cannot be overcommitted: expected the limit {request}, equal to the request, got {found}"
                )
                hint = f'write {name}: "{request}" under resources.limits'
                yield Finding((*path, "requests", name), message, hint)
        elif limit is not None and _compare(request, limit) > 0:
            message = (
                f"Invalid value: {_quote(request)}: must be less than or equal to {name} limit of {_canonical(limit)}"
            )
            yield Finding((*path, "requests", name), message)


def _names(amounts: Mapping[str, Quantity], path: Path, rule: _Rule) -> Iterator[Finding]:
    for name in amounts:
        message, hint = rule(name)
        if message:
            yield Finding((*path, name), message, hint)


def _is_multiple(amount: Quantity, size: str) -> bool:
    """Whether an amount is whole pages of a size, at least one."""
    try:
        page = quantities.parse(size).nano_units
    except ValueError:
        return False
    return page > 0 and quantities.parse(amount).nano_units % page == 0


def _fraction_of_byte(quantity: Quantity, path: Path) -> Iterator[Finding]:
    """Yield what an API server warns of where bytes are not whole: `m`, thousandths, is written for `M` or `Mi`."""
    amount = quantities.parse(quantity)
    if amount.milli_value % 1000:
        mega = re.fullmatch(r"([0-9.]+)m", str(quantity))
        hint = f'did you mean "{mega[1]}Mi"?' if mega else "write a whole number of bytes"
        message = f"{quote(str(quantity))} is {amount.nano_units / 10**9:g} bytes, expected a whole number"
        yield Finding(path, message, hint, warning=True)


@lru_cache(maxsize=1 << 14)
def _compare(request: Quantity, limit: Quantity) -> int:
    return quantities.parse(request).compare(quantities.parse(limit))


def _amounts(resources: dict[str, Quantity], path: Path) -> Iterator[Finding]:
    for name, quantity in resources.items():
        amount = quantities.parse(quantity)
        if amount.unscaled < 0:
            yield Finding((*path, name), f"Invalid value: {_quote(quantity)}: must be greater than or equal to 0")
        elif (name == "pods" or _whole_units(name)) and amount.milli_value % 1000:
            yield Finding((*path, name), f"expected a whole number of {name}, got {quantity}")


def _canonical(quantity: Quantity) -> str:
    """Return a quantity as the API server writes it."""
    return quantities.canonical(quantities.stored_amount(quantity), quantities.form_of(quantity))


def _quote(quantity: Quantity) -> str:
    return quote(_canonical(quantity))


def _whole_units(name: str) -> bool:
    """Whether it is an extended resource: one with a domain of its own."""
    return "/" in name and "kubernetes.io/" not in name
