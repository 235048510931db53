"""Pods of one spec together, so that what holds for one of them is worked out once."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedctl.api.pods import Pod
from schedctl.cache.pod_info import PodInfo


class PodClass(msgspec.Struct):
    """Pods that differ in nothing that decides where they may go.

    Attributes:
        example: the first of them.
        size: how many there are.
    """

    example: PodInfo
    size: int = 0


def pod_classes(pods: Iterable[PodInfo], most: int) -> list[PodClass] | None:
    """Return the classes of some pods, None where there are more than `most` of them.

    Pods without a controller are classes of their own.
    """
    found: list[PodClass] = []
    by_owner: dict[object, list[PodClass]] = {}
    for info in pods:
        owner = _controller(info.pod)
        same_owner = by_owner.setdefault((info.namespace, owner) if owner is not None else info.key, [])
        for each in same_owner:
            if _are_equal(each.example, info):
                each.size += 1
                break
        else:
            if len(found) == most:
                return None
            one = PodClass(info, 1)
            same_owner.append(one)
            found.append(one)
    return found


def _are_equal(one: PodInfo, other: PodInfo) -> bool:
    return one.labels == other.labels and one.pod.spec == other.pod.spec


def _controller(pod: Pod) -> tuple[str, str] | None:
    return next(((each.kind, each.name) for each in pod.metadata.owner_references or () if each.controller), None)
