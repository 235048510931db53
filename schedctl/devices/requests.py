"""Requests of a claim in the one form that the search reads, whether exact or one of several alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from schedctl.api import devices
from schedctl.api.meta import Quantity

EXACT_COUNT, ALL = "ExactCount", "All"


class Request(msgspec.Struct, frozen=True, eq=False):
    """A request for devices, with what the API server fills in.

    Attributes:
        name: its own name; of an alternative, the alternative's.
        full_name: the same, behind the request's name and a slash for an alternative.
        parent: the name of the request an alternative belongs to, otherwise its own.
        class_name: the device class.
        selectors: conditions beside the class's.
        mode: ``ExactCount`` or ``All``.
        count: how many devices, where they are counted.
        admin: whether devices in use will do (KEP-5018).
        names_admin: whether it says so, or says not.
        tolerations: of device taints.
        capacity: amounts asked of each device.
        derived: the expressions of attributes that it derives, by full name.
    """

    name: str
    full_name: str
    parent: str
    class_name: str
    selectors: Sequence[devices.DeviceSelector]
    mode: str
    count: int
    admin: bool
    names_admin: bool
    tolerations: Sequence[devices.DeviceToleration]
    capacity: Mapping[str, Quantity] | None
    derived: Mapping[str, str]

    def tolerates(self, taint: devices.DeviceTaint) -> bool:
        """Return whether one of its tolerations covers a taint."""
        return any(_tolerates(toleration, taint) for toleration in self.tolerations)


def requests_of(claim: devices.ResourceClaim, *, derivations: bool) -> list[tuple[Request, ...]]:
    """Return the claim's requests in order, each as its alternatives: one where it is exact.

    Args:
        claim: the claim.
        derivations: whether requests may derive attributes.
    """
    return [_alternatives(each, derivations) for each in claim.spec.devices.requests or ()]


def _alternatives(written: devices.DeviceRequest, derivations: bool) -> tuple[Request, ...]:
    if not written.first_available:
        return (_request(written.name, written.exactly or devices.ExactDeviceRequest(), derivations),)
    return tuple(_request(each.name, each, derivations, written.name) for each in written.first_available)


def _request(
    name: str,
    written: devices.ExactDeviceRequest | devices.DeviceSubRequest,
    derivations: bool,
    parent: str | None = None,
) -> Request:
    mode = written.allocation_mode or EXACT_COUNT
    admin = written.admin_access if isinstance(written, devices.ExactDeviceRequest) else None
    return Request(
        name=name,
        full_name=name if parent is None else f"{parent}/{name}",
        parent=name if parent is None else parent,
        class_name=written.device_class_name,
        selectors=written.selectors or (),
        mode=mode,
        count=written.count or 1 if mode == EXACT_COUNT else written.count,  # 0 is left out: the API server makes it 1
        admin=bool(admin),
        names_admin=admin is not None,
        tolerations=written.tolerations or (),
        capacity=written.capacity.requests if written.capacity is not None else None,
        derived={each.name: each.expression for each in (written.derived_attributes or () if derivations else ())},
    )


def _tolerates(toleration: devices.DeviceToleration, taint: devices.DeviceTaint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    # An empty key tolerates every key, whatever the operator; the API server insists on Exists for it.
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
