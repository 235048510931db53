"""How label selectors read, and how the labels of a pod that one does not match differ from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schedctl.api.selectors import LabelQuery, Requirement
from schedctl.documents.spelling import nearest
from schedctl.framework import wording


def describe_selector(selector: LabelQuery) -> str:
    """Return a selector as kubectl writes it: ``app=web,tier in (a,b),!canary``; "" selects everything."""
    return "<none>" if selector.nothing else _join(selector.requirements)


def _join(requirements: Iterable[Requirement]) -> str:
    plain = ({"key": r.key, "operator": r.operator, "values": sorted(r.values)} for r in requirements)
    return ",".join(map(wording.requirement, plain))


def describe_mismatch(selector: LabelQuery, labels: Mapping[str, str]) -> str:
    """Return what a selector asks of a pod's labels and what they are: ``selector app=webb, the pod has app=web``."""
    failing = [each for each in selector.requirements if not each.matches(labels)]
    keys = dict.fromkeys(_key_of(each, labels) or each.key for each in failing)
    present = [f"{key}={labels[key]}" for key in keys if key in labels]
    absent = [key for key in keys if key not in labels]
    has = [f"has {','.join(present)}"] if present else []
    lacks = [f"has no label {','.join(absent)}"] if absent else []
    return f"selector {_join(failing)}, the pod {' and '.join((*has, *lacks))}"


def is_near_miss(selector: LabelQuery, labels: Mapping[str, str]) -> bool:
    """Return whether each requirement that labels fail is a key or a value that is spelt like one of theirs."""
    failing = [each for each in selector.requirements if not each.matches(labels)]
    return bool(failing) and all(_is_near(each, labels) for each in failing)


def _is_near(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    key = _key_of(requirement, labels)
    if not key or requirement.operator != "In":
        return bool(key) and requirement.operator == "Exists"
    return labels[key] in requirement.values or bool(nearest(labels[key], requirement.values, cutoff=0.7))


def _key_of(requirement: Requirement, labels: Mapping[str, str]) -> str:
    """Return the label that a requirement means, "" for none: the one of that key, else one of its value or a like key.

    Labels such as ``app`` and ``app.kubernetes.io/name`` have one value under two keys.
    """
    if requirement.key in labels:
        return requirement.key
    same = [key for key, value in labels.items() if value in requirement.values]
    return nearest(requirement.key, labels, cutoff=0.7) or next(iter(same), "")
