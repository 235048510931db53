"""Remedies for claims, of storage and of devices, that a rejection and a misspelt name have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from schedctl.api.devices import DeviceClaim, DeviceRequest, ResourceClaim
from schedctl.api.pods import Pod
from schedctl.api.storage import PersistentVolumeClaim
from schedctl.cache.cluster import Cluster
from schedctl.framework.remedies import Remedy, edit_object
from schedctl.framework.wording import name_of

_replace = msgspec.structs.replace


def use_storage_class(claim: str, storage_class: str) -> Remedy:
    """Return that a claim is of another class; it would have to be made anew."""
    return Remedy(
        "use-storage-class",
        f"claim {name_of(claim)} were of class {storage_class}",
        edit_object(PersistentVolumeClaim, claim, lambda written: with_storage_class(written, storage_class)),
        effort=3,
        subject=(claim, storage_class),
    )


def with_storage_class(claim: PersistentVolumeClaim, storage_class: str) -> PersistentVolumeClaim:
    """Return a claim of a class."""
    return _replace(claim, spec=_replace(claim.spec, storage_class_name=storage_class))


def use_device_class(claim: str, request: str, device_class: str) -> Remedy:
    """Return that a request asks for devices of another class."""
    return Remedy(
        "use-device-class",
        f"{request_of(claim, request)} asked for class {device_class}",
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
