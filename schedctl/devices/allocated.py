"""What of the devices is taken: by allocated claims, and by claims whose allocation is still on its way to the API.

A device is held whole, by one claim, or in shares, each with a portion of its capacity (KEP-5075). Claims come and go
with every placement, so `devices_in_use` catches up from the cluster's change log, forks included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from schedctl.api.devices import DeviceRequestAllocationResult, ResourceClaim
from schedctl.api.meta import ObjectMeta, Struct, key_of
from schedctl.api.quantities import Amount, parse
from schedctl.cache.changes import ChangeKind
from schedctl.cache.nodes import ClusterView
from schedctl.devices.features import features_of

ZERO = Amount(0, 0)


class PoolID(NamedTuple):
    """A pool of devices; it is written ``driver/pool``."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    """A device; it is written ``driver/pool/device``."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"

    @property
    def pool_id(self) -> PoolID:
        """The pool it belongs to."""
        return PoolID(self.driver, self.pool)


class Use(NamedTuple):
    """How a device is in use.

    Attributes:
        whole: a claim holds all of it.
        shared: claims hold shares of it.
        capacity: what the shares take together, (name, amount) in order of name.
    """

    whole: bool
    shared: bool
    capacity: tuple[tuple[str, Amount], ...] = ()


class Holder(NamedTuple):
    """Who holds devices.

    Attributes:
        claim: the claim's key, ``namespace/name``.
        pending: the name of the `PendingAllocation`, "" for a claim whose allocation the API shows.
    """

    claim: str
    pending: str = ""


class PendingAllocation(Struct, frozen=True):
    """A claim that Reserve allocated and PreBind has not written yet: its devices are taken, the API shows nothing.

    Kept in the cluster as an object of its own kind, so that whoever lists claims sees what the API has.

    Attributes:
        metadata: its name is the claim's uid; there is no namespace.
        claim: the claim with its allocation in the status.
        group: the group of the pods that share it, ``namespace/name``; "" where no other pod may.
        sharers: how many pods have it.
    """

    metadata: ObjectMeta
    claim: ResourceClaim
    group: str = ""
    sharers: int = 1


_Taken = tuple[DeviceRequestAllocationResult, ...]


class AllocatedState:
    """The devices that are taken. Read-only to all but `devices_in_use`.

    Args:
        shares: whether shares are shares; else whoever has one holds the whole device (DRAConsumableCapacity).

    Attributes:
        pools: how each device in use is used, by pool and device name.
        version: grows with every change.
        changed: the version at which each pool last changed, the latest change last.
    """

    def __init__(self, *, shares: bool = True) -> None:
        self._shares = shares
        self.pools: dict[PoolID, dict[str, Use]] = {}
        self.version = 0
        self.changed: dict[PoolID, int] = {}
        self._by_holder: dict[Holder, _Taken] = {}
        self._by_device: dict[DeviceID, dict[Holder, _Taken]] = {}

    def use_of(self, device: DeviceID) -> Use | None:
        """Return how a device is in use, None if it is not."""
        return self.pools.get(device.pool_id, {}).get(device.device)

    def holders(self, device: DeviceID) -> tuple[str, ...]:
        """Return the keys (``namespace/name``) of the claims that hold a device or a share of it."""
        return tuple(dict.fromkeys(holder.claim for holder in self._by_device.get(device, ())))

    def hold(self, holder: Holder, claim: ResourceClaim | None) -> None:
        """Set what a holder takes to what a claim holds, nothing if there is no claim or no allocation."""
        taken = allocation_of(claim)
        before = self._by_holder.pop(holder, ())
        if taken:
            self._by_holder[holder] = taken
        if taken == before:
            return
        self.version += 1
        mine: dict[DeviceID, list[DeviceRequestAllocationResult]] = {_device(result): [] for result in before}
        for result in taken:
            mine.setdefault(_device(result), []).append(result)
        for device, results in mine.items():
            self._hold_device(device, holder, tuple(results))

    def every_holder(self) -> set[Holder]:
        """Return who holds something."""
        return set(self._by_holder)

    def _hold_device(self, device: DeviceID, holder: Holder, mine: _Taken) -> None:
        holders = self._by_device.setdefault(device, {})
        holders.pop(holder, None)
        if mine:
            holders[holder] = mine
        in_pool = self.pools.setdefault(device.pool_id, {})
        if holders:
            in_pool[device.device] = _use(
                (result for taken in holders.values() for result in taken), shares=self._shares
            )
        else:
            del self._by_device[device]
            del in_pool[device.device]
        self.changed.pop(device.pool_id, None)  # to the end: readers go backwards and stop at what they know
        self.changed[device.pool_id] = self.version


def devices_in_use(cluster: ClusterView) -> AllocatedState:
    """Return what all claims of the cluster take, those of `PendingAllocation` included.

    It is one object for the life of the cluster, brought up to date by every call in time proportional to what changed.
    """
    # The ledger is derived from no kind, or every placement would make it anew; so the read is noted here.
    cluster.note_reads(ResourceClaim)
    ledger = cluster.derive(_Ledger)
    ledger.catch_up(cluster)
    return ledger.state


class _Ledger:
    """The state and the generation of the cluster that it is of; made once for a cluster, since it reads no kind."""

    def __init__(self, cluster: ClusterView) -> None:
        self.state = AllocatedState(shares=features_of(cluster.release).shares)
        self._generation = -1
        self._version = -1

    def catch_up(self, cluster: ClusterView) -> None:
        version = cluster.version(ResourceClaim, PendingAllocation)
        # No claim has changed, whatever else has: the log need not be read to here next time.
        if version == self._version:
            self._generation = cluster.generation
            return
        changes = cluster.changes_since(self._generation) if self._generation >= 0 else None
        if changes is None:
            self._hold_all(cluster)
        else:
            for change in changes:
                if change.kind is ChangeKind.OBJECT:
                    self._hold_one(cluster, change.subject)
        self._generation, self._version = cluster.generation, version

    def _hold_all(self, cluster: ClusterView) -> None:
        claims = cluster.every(ResourceClaim).items()
        current = {Holder(key): claim for key, claim in claims if claim.status.allocation is not None}
        for pending in cluster.every(PendingAllocation).values():
            current[_pending_holder(pending)] = pending.claim
        for gone in self.state.every_holder() - current.keys():
            self.state.hold(gone, None)
        for holder, claim in current.items():
            self.state.hold(holder, claim)

    def _hold_one(self, cluster: ClusterView, changed: object) -> None:
        # What the cluster has now, not what the log says: an object may have changed again, or gone with a fork.
        if isinstance(changed, ResourceClaim):
            key = key_of(changed)
            self.state.hold(Holder(key), cluster.get(ResourceClaim, key))
        elif isinstance(changed, PendingAllocation):
            now = cluster.get(PendingAllocation, changed.metadata.name)
            self.state.hold(_pending_holder(changed), now.claim if now is not None else None)


def _pending_holder(pending: PendingAllocation) -> Holder:
    return Holder(key_of(pending.claim), pending.metadata.name)


def allocation_of(claim: ResourceClaim | None) -> _Taken:
    """Return what a claim holds but for admin access, which takes nothing."""
    allocation = claim.status.allocation if claim is not None else None
    results: Sequence[DeviceRequestAllocationResult] = (allocation and allocation.devices.results) or ()
    return tuple(result for result in results if not result.admin_access)  # KEP-5018


def _device(result: DeviceRequestAllocationResult) -> DeviceID:
    return DeviceID(result.driver, result.pool, result.device)


def _use(results: Iterable[DeviceRequestAllocationResult], *, shares: bool) -> Use:
    whole = shared = False
    capacity: dict[str, Amount] = {}
    for result in results:
        if result.share_id is None or not shares:
            whole = True
            continue
        shared = True
        for name, quantity in (result.consumed_capacity or {}).items():
            capacity[name] = capacity.get(name, ZERO).plus(parse(quantity))
    return Use(whole, shared, tuple(sorted(capacity.items())))
