"""Why the devices a node sees do not satisfy a pod's claims: facts for explanations, put together when someone asks."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import NamedTuple

from schedctl.devices.allocated import DeviceID, PoolID


class Why(Enum):
    """Why a device was not taken, in the order in which kube-scheduler would notice."""

    HELD = "held by another claim"
    CHOSEN = "chosen for another request of the pod"
    CLASS = "does not match a selector of the device class"
    REQUEST = "does not match a selector of the request"
    CONDITIONS = "has binding conditions, and DRADeviceBindingConditions is off"
    UNREACHED = "cannot be reached from the node"
    OPERATIONS = "needs no work on the node, which the node does not know of"
    CAPACITY = "has too little capacity"
    COUNTERS = "its pool has not enough of a counter"
    PARTITION = "draws on counters, and DRAPartitionableDevices is off"
    GROUPS = "has no compatibility group in common with devices that draw on the same counters"
    TAINT = "is tainted"
    CONSTRAINT = "violates a constraint of the claim"
    ATTRIBUTE = "lacks the attribute in a constraint of the claim"
    TRIED = "was tried together with others without success"


class Refusal(NamedTuple):
    """One reason against a device.

    Attributes:
        why: which check it fails.
        number: of the selector or constraint, from 0, where it fails one.
        subject: the expression, capacity, counter (``set/counter``), taint (``key=value:effect``) or attribute.
        needed: how much is needed, where something is short.
        left: how much is left of it.
        holders: the claims that hold the device, or shares of it.
    """

    why: Why
    number: int = -1
    subject: str = ""
    needed: str = ""
    left: str = ""
    holders: tuple[str, ...] = ()


class JudgedDevice(NamedTuple):
    """A device, and every reason against it in the order of `Why`."""

    device: DeviceID
    refusals: tuple[Refusal, ...]


class Shortage(NamedTuple):
    """A request that the search could not get past.

    Attributes:
        claim: the claim's key, ``namespace/name``.
        request: the request, ``request/alternative`` where it has several.
        class_name: the device class it asks for.
        needed: how many devices it needs; 0 for all of them where there is none.
        found: how many it had when it got stuck.
        limit: whether the limit of 32 devices a claim was in the way, not the devices.
        devices: all the node could choose from, in order; one only where that one was a must.
    """

    claim: str
    request: str
    class_name: str
    needed: int
    found: int
    limit: bool
    devices: tuple[JudgedDevice, ...]

    @property
    def nearest(self) -> tuple[JudgedDevice, ...]:
        """One device for each set of reasons: first those of the class that are not chosen, then the fewest reasons.

        Of several with equally many, the one whose first reason comes last.
        """
        order = list(Why)
        found: dict[tuple[Refusal, ...], JudgedDevice] = {}
        for judged in self.devices:
            if judged.refusals:
                found.setdefault(judged.refusals, judged)

        def distance(judged: JudgedDevice) -> tuple[bool, bool, int, int]:
            whys = [refusal.why for refusal in judged.refusals]
            return Why.CHOSEN in whys, Why.CLASS in whys, len(whys), -order.index(whys[0])

        return tuple(sorted(found.values(), key=distance))

    def histogram(self) -> Counter[Why]:
        """Return how many devices were passed over for which reason, the first of each counts."""
        return Counter(judged.refusals[0].why for judged in self.devices if judged.refusals)


class Explanation(NamedTuple):
    """What came of an attempt to allocate claims on a node.

    Attributes:
        fits: whether it worked.
        error: the error it ended in, "" if none.
        exceeded: whether it was given up after too many steps.
        shortages: the requests at which it got stuck: one, or each alternative of one.
        pools: incomplete and invalid pools, and what is wrong with each.
        incomplete: those of them of which slices are missing.
    """

    fits: bool
    error: str = ""
    exceeded: bool = False
    shortages: tuple[Shortage, ...] = ()
    pools: tuple[tuple[PoolID, str], ...] = ()
    incomplete: tuple[PoolID, ...] = ()
