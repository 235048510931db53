"""Requests that are larger than any node, and the quantities that were probably meant: ``cpu: 100`` for ``100m``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

import msgspec

from schedctl.api.meta import Quantity
from schedctl.api.pods import Container, Pod
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.remarks import Remark, Trials

_replace = msgspec.structs.replace
_LEAST_MILLICORES = 50
"""A whole number below it is more likely to mean cores: few containers ask for less than 50m."""
_ROUND = 5
"""Millicores are written as round numbers; 96 is a number of cores."""
_LEAST_GIBIBYTES = 100
"""A number of Gi from which on Mi may have been meant."""
_SMALLER = {"Pi": "Ti", "Ti": "Gi", "Gi": "Mi", "P": "T", "T": "G", "G": "M"}
_TINY = 1 << 20
"""Bytes that no container can run in."""
_MOST_MEBIBYTES = 65536


class LargestNode(NamedTuple):
    """The node that offers most of a resource, even when empty.

    Attributes:
        node: its name, the first where several offer as much.
        allocatable: how much.
    """

    node: str
    allocatable: int


class Slip(NamedTuple):
    """A quantity that was probably meant to be another.

    Whose it is, the pod says: evidence is shared by pods that request alike, whatever their containers are called.

    Attributes:
        written: as it is written.
        meant: as it was probably meant.
    """

    written: str
    meant: str


class TooLarge:
    """The largest node, where even that is too small; None where another node of the cluster is large enough."""

    def __init__(self, cluster: ClusterView, resource: str, requested: int) -> None:
        self._cluster = cluster
        self._resource = resource
        self._requested = requested
        self._known: tuple[int, LargestNode | None] = (-1, None)

    def at(self, row: int) -> LargestNode | None:
        """Return the largest node, whatever the row."""
        generation, largest = self._known
        if generation != self._cluster.generation:
            largest = self._find()
            self._known = self._cluster.generation, largest
        return largest

    def _find(self) -> LargestNode | None:
        nodes = self._cluster.nodes_by_name
        if not len(nodes):
            return None
        offered = nodes.allocatable(self._resource)
        position = int(offered.argmax())
        most = int(offered[position])
        return LargestNode(nodes.names[position], most) if 0 < most < self._requested else None


class Slips:
    """What may have been meant instead of requests that no node is large enough for."""

    def __init__(self, pod: Pod, resource: str, too_large: TooLarge) -> None:
        self._pod = pod
        self._resource = resource
        self._too_large = too_large
        self._known: tuple[int, tuple[Slip, ...]] = (0, ())

    def at(self, row: int) -> tuple[Slip, ...]:
        """Return the slips, whatever the row."""
        largest = self._too_large.at(row)
        if largest is None:
            return ()
        # by the largest node, which may be another after a change of the cluster
        allocatable, slips = self._known
        if allocatable != largest.allocatable:
            slips = tuple(dict.fromkeys(_slips(self._pod, self._resource, largest.allocatable)))
            self._known = largest.allocatable, slips
        return slips


def correct(pod: Pod, resource: str, slips: Collection[Slip]) -> Pod:
    """Return the pod as it was meant: with other requests, and limits where they were written the same."""
    meant = {slip.written: slip.meant for slip in slips}

    def change(amounts: dict[str, Quantity] | None) -> dict[str, Quantity] | None:
        if not amounts or resource not in amounts:
            return amounts
        written = amounts[resource]
        return {**amounts, resource: meant.get(str(written), written)}

    def edit(container: Container) -> Container:
        stated = container.resources
        if stated is None:
            return container
        return _replace(
            container, resources=_replace(stated, requests=change(stated.requests), limits=change(stated.limits))
        )

    def containers(written: list[Container] | None) -> list[Container] | None:
        return [edit(each) for each in written or ()] or None

    spec = pod.spec
    changed = _replace(spec, containers=containers(spec.containers), init_containers=containers(spec.init_containers))
    return _replace(pod, spec=changed)


def subject(pod: Pod, resource: str, slip: Slip) -> str:
    """Return whose slip it is: ``container web``."""
    names = [name for name, written in _requests_by_container(pod, resource) if str(written) == slip.written]
    return f"container{'s' if len(names) > 1 else ''} {' and '.join(names)}"


def remarks(pod: Pod, trials: Trials) -> list[Remark]:
    """Return what there is to say of memory in bytes where mebibytes were meant, which rejects no node."""
    found = []
    for slip in _tiny_memory(pod):
        (tried,) = trials.together([PodInfo(correct(pod, MEMORY, [slip]))])
        size = f"{parse(slip.written).nano_units / 10**9:g} bytes"
        outcome = f"would be placed on {tried.node}" if tried.node else "would fit nowhere"
        text = f"memory: {slip.written} of {subject(pod, MEMORY, slip)} is {size}; did you mean {slip.meant}?"
        evidence = {"resource": MEMORY, "written": slip.written, "meant": slip.meant, "node": tried.node}
        found.append(Remark(f"{text} if fixed, the pod {outcome}", evidence=evidence))
    return found


def _tiny_memory(pod: Pod) -> list[Slip]:
    """Return the requests for memory that are too small for any container, and what may have been meant."""
    found = []
    for _, written in _requests_by_container(pod, MEMORY):
        if 0 < parse(written).value < _TINY and (meant := _meant_bytes(str(written))):
            found.append(Slip(str(written), meant))
    return list(dict.fromkeys(found))


def _slips(pod: Pod, resource: str, largest: int) -> Iterator[Slip]:
    for _, written in _requests_by_container(pod, resource):
        text = str(written)
        meant = ""
        if resource == CPU:
            meant = _meant_millicores(text, largest)
        elif resource in (MEMORY, EPHEMERAL_STORAGE) and parse(written).value > largest:
            meant = _meant_smaller(text, largest)
        if meant:
            yield Slip(text, meant)


def _meant_millicores(text: str, largest: int) -> str:
    if not re.fullmatch(r"\d{1,9}", text):
        return ""
    number = int(text)
    likely = number >= _LEAST_MILLICORES and number % _ROUND == 0
    return f"{number}m" if likely and number <= largest < number * 1000 else ""


def _meant_smaller(text: str, largest: int) -> str:
    match = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([PTG]i?)", text)
    if match is None or (match[2] in ("Gi", "G") and float(match[1]) < _LEAST_GIBIBYTES):
        return ""
    meant = f"{match[1]}{_SMALLER[match[2]]}"
    return meant if parse(meant).value <= largest else ""


def _meant_bytes(text: str) -> str:
    match = re.fullmatch(r"(\d{1,9})(m|k|Ki)?", text)
    if match is None or not 0 < int(match[1]) <= _MOST_MEBIBYTES:
        return ""
    return f"{match[1]}Mi"


def _requests_by_container(pod: Pod, resource: str) -> Iterator[tuple[str, Quantity]]:
    for container in (*(pod.spec.init_containers or ()), *(pod.spec.containers or ())):
        requests = (container.resources and container.resources.requests) or {}
        if resource in requests:
            yield container.name, requests[resource]
