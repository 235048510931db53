"""Remedies for claims, of storage and of devices, and for volumes, that several plugins or misspelt names share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schedctl.api.devices import DeviceClaim, DeviceRequest, ResourceClaim
from schedctl.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeNodeAffinity
from schedctl.cache.cluster import Cluster
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Reach, Remedy, edit_object
from schedctl.framework.wording import name_of

_COPIED_ACROSS = ("/zone", "/region")
"""How the labels end of places between which a volume can be copied, by a snapshot say."""
_replace = msgspec.structs.replace


def use_storage_class(claim: str, storage_class: str) -> Remedy:
    """Return that a claim that is not bound is of another class, for which it has to be recreated."""
    return Remedy(
        "use-storage-class",
        f"claim {name_of(claim)} is recreated with class {storage_class}",
        edit_object(PersistentVolumeClaim, claim, lambda written: with_storage_class(written, storage_class)),
        effort=3,
        subject=(claim, storage_class),
        command=recreate(claim, storageClassName=storage_class),
    )


def recreate(claim: str, **fields: Any) -> str:
    """Return the command that deletes a claim and creates it with fields of its spec changed, None for none.

    The API server takes no change of the spec of an unbound claim. It is not for a bound one, whose data would be lost.
    """
    namespace, _, name = claim.partition("/")
    options = ("-p", json.dumps({"spec": fields}, separators=(",", ":")), "--dry-run=client", "-o", "yaml")
    changed = kubectl("patch", "pvc", name, namespace=namespace, options=options)
    return f"{changed} | {kubectl('replace', options=('--force', '-f', '-'))}" if changed else ""


def with_storage_class(claim: PersistentVolumeClaim, storage_class: str) -> PersistentVolumeClaim:
    """Return a claim of a class."""
    return _replace(claim, spec=_replace(claim.spec, storage_class_name=storage_class))


def move_volume(name: str, claim: str, node: str, keys: set[str], cluster: Cluster) -> list[Remedy]:
    """Return that a claim's volume moves to where a node is, by the labels of these keys.

    Empty where that cannot be: what is on another node's disks is not copied.
    """
    volume = cluster.get(PersistentVolume, name)
    if volume is None or volume.spec.local is not None or not all(key.endswith(_COPIED_ACROSS) for key in keys):
        return []
    labels = cluster.node_table.labels.maps[cluster.node_table.row_of[node]]
    place = {key: labels[key] for key in sorted(keys) if key in labels}
    if len(place) != len(keys):
        return []
    written = ", ".join(f"{key}={value}" for key, value in place.items())
    return [
        Remedy(
            "move-volume",
            f"volume {name} of claim {name_of(claim)} is moved to {written}",
            edit_object(PersistentVolume, name, lambda volume: _with_place(volume, place)),
            effort=6,
            subject=name,
            reach=Reach.RULE,
        )
    ]


def _with_place(volume: PersistentVolume, place: Mapping[str, str]) -> PersistentVolume:
    """Return a volume with a place in its labels and its node affinity."""

    def with_place(term: NodeSelectorTerm) -> NodeSelectorTerm:
        expressions = [
            NodeSelectorRequirement(key=each.key, operator="In", values=[place[each.key]])
            if each.key in place
            else each
            for each in term.match_expressions or ()
        ]
        return _replace(term, match_expressions=expressions or None)

    labels = {key: place.get(key, value) for key, value in (volume.metadata.labels or {}).items()}
    affinity = volume.spec.node_affinity
    if affinity is not None and affinity.required is not None:
        terms = [with_place(term) for term in affinity.required.node_selector_terms or ()]
        affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))
    metadata = _replace(volume.metadata, labels=labels or None)
    return _replace(volume, metadata=metadata, spec=_replace(volume.spec, node_affinity=affinity))


def use_device_class(claim: str, request: str, device_class: str) -> Remedy:
    """Return that a request asks for devices of another class."""
    return Remedy(
        "use-device-class",
        f"{request_of(claim, request)} asks for class {device_class}",
        edit_request(claim, request, lambda written: _replace(written, device_class_name=device_class)),
        effort=3,
        subject=(claim, request),
    )


def request_of(claim: str, request: str) -> str:
    """Return a request of a resource claim in words."""
    return f"request {request} of claim {name_of(claim)}"


def edit_devices(claim: str, change: Callable[[DeviceClaim], DeviceClaim]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit of what a resource claim asks for."""
    return edit_object(
        ResourceClaim,
        claim,
        lambda written: _replace(written, spec=_replace(written.spec, devices=change(written.spec.devices))),
    )


def edit_request(claim: str, name: str, change: Callable[[Any], Any]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit of one request of a resource claim, ``request/alternative`` where it has several."""
    request_name, _, alternative = name.partition("/")

    def edit(request: DeviceRequest) -> DeviceRequest:
        if request.name != request_name:
            return request
        if request.exactly is not None:
            return _replace(request, exactly=change(request.exactly))
        choices = [change(each) if each.name == alternative else each for each in request.first_available or ()]
        return _replace(request, first_available=choices or None)

    return edit_devices(
        claim, lambda devices: _replace(devices, requests=[edit(each) for each in devices.requests or ()])
    )
