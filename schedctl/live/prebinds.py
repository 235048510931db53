"""What kube-scheduler writes before it binds a pod, made of what the dry run has changed in memory.

The dry run carries a cycle to its end: it leaves volumes bound, volumes provisioned and devices allocated, the work of
controllers included. `steps` takes from that the part that kube-scheduler itself writes, in its order; how each is
written, `prebind_volumes` and `prebind_devices` know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from schedctl.api.devices import DeviceRequestAllocationResult, ResourceClaim
from schedctl.api.kinds import Kind, kind_named
from schedctl.api.meta import key_of
from schedctl.live.connections import Connection
from schedctl.live.objects import (
    CLAIM,
    RESOURCE_CLAIM,
    SLICE,
    Head,
    decode,
    get_current,
    list_current,
)
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, Step
from schedctl.live.prebind_devices import device_step
from schedctl.live.prebind_volumes import claim_steps, claims_to_bind, volume_steps


def steps(plan: BindPlan) -> list[Step]:
    """Return what is to be written before the pod is bound, in order.

    Raises:
        Refusal: something of it cannot be done from outside.
    """
    devices = (device_step(plan, changed) for changed in plan.changed if isinstance(changed.after, ResourceClaim))
    return [*volume_steps(plan), *claim_steps(plan), *devices]


def changes_since(
    connection: Connection, observed: ObservedState, plan: BindPlan, written: Sequence[Step]
) -> list[str]:
    """Return what has moved of the objects that are to be written, and of the devices that are to be taken."""
    changes = []
    # A step without a key makes its object. A claim for a volume that is there is bound by the volume controller: no
    # step is about it, and it must not have changed either.
    for kind, key in dict.fromkeys((step.kind.name, step.key) for step in written if step.key):
        changes += _change_of(connection, observed, kind_named(kind), key)
    for changed, _ in claims_to_bind(plan):
        changes += _change_of(connection, observed, CLAIM, key_of(changed.before))
    pools = {
        (result.driver, result.pool)
        for each in plan.changed
        if isinstance(each.after, ResourceClaim) and (each.before is None or each.before.status.allocation is None)
        for result in _results(each.after)
    }
    return list(dict.fromkeys(changes + (_pool_changes(connection, observed, pools) if pools else [])))


def _change_of(connection: Connection, observed: ObservedState, kind: Kind, key: str) -> list[str]:
    now, before = get_current(connection, kind, key), observed.get(kind, key)
    name = f"{_NAMES[kind.name]} {key}"
    if now is None or before is None:
        return [f"{name} is gone"]
    one, other = decode(before, Head).metadata, decode(now, Head).metadata
    return [] if (one.uid, one.resource_version) == (other.uid, other.resource_version) else [f"{name} has changed"]


def _pool_changes(connection: Connection, observed: ObservedState, pools: set[tuple[str, str]]) -> list[str]:
    """Say of pools of devices whether anything was taken from them, given back, or is offered otherwise."""
    changes = []
    for kind, of_pools, what in (
        (RESOURCE_CLAIM, _allocated_devices, "other devices of pool {} are allocated now"),
        (SLICE, _slice_versions, "the devices of pool {} have changed"),
    ):
        one, other = of_pools(observed.all_of(kind).values()), of_pools(list_current(connection, kind))
        changes += [what.format("/".join(pool)) for pool in sorted(pools) if one.get(pool) != other.get(pool)]
    return changes


def _allocated_devices(claims: Iterable[bytes]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return which claims hold which devices, by driver and pool."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for item in claims:
        claim: ResourceClaim = decode(item, ResourceClaim)
        for result in _results(claim):
            found.setdefault((result.driver, result.pool), set()).add((claim.metadata.uid, result.device))
    return found


def _results(claim: ResourceClaim) -> Sequence[DeviceRequestAllocationResult]:
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results or ()


def _slice_versions(slices: Iterable[bytes]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return the slices of each driver and pool, in which state."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for item in slices:
        slice_: _Slice = decode(item, _Slice)
        metadata = slice_.metadata
        pool = (slice_.spec.driver, slice_.spec.pool.name)
        found.setdefault(pool, set()).add((metadata.uid, metadata.resource_version))
    return found


class _Pool(msgspec.Struct):
    name: str = ""


class _SliceSpec(msgspec.Struct):
    driver: str = ""
    pool: _Pool = msgspec.field(default_factory=_Pool)


class _Slice(Head):
    spec: _SliceSpec = msgspec.field(default_factory=_SliceSpec)


_NAMES = {"PersistentVolume": "volume", "PersistentVolumeClaim": "claim", "ResourceClaim": "resource claim"}
