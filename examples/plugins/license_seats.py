"""LicenseSeats: Reserve and Unreserve over a pool of named seats, so that no two pods hold the same licence key.

For software with floating licences, whose seats the profile lists. A pod asks for one of them by the annotation
``license.example.com/name``; one that runs already says which it has by ``license.example.com/seat``.

Extension points: ``preFilter``, ``reserve``::

    schedctl simulate jobs.yaml -f cluster.yaml --plugin examples/plugins/license_seats.py \
        --scheduler-config examples/profiles/license-seats.yaml
"""

from __future__ import annotations

import msgspec

from schedctl.api.meta import ObjectMeta, Struct
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config.args import PluginArgs
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint, Registration, Resource, registers
from schedctl.framework.points import PreFilterPlugin, ReservePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SUCCESS, Status

LICENSE, SEAT = "license.example.com/name", "license.example.com/seat"


class Seat(Struct, frozen=True):
    """A seat that a pod holds; it is named like the pod.

    As an object of the cluster it is seen by the next pod, and gone again at the end of a what-if.
    """

    metadata: ObjectMeta
    license: str
    seat: str


class LicenseSeatsArgs(PluginArgs, frozen=True):
    """The seats of each licence, by name."""

    licenses: dict[str, list[str]] = msgspec.field(default_factory=dict)


class LicenseSeats(PreFilterPlugin, ReservePlugin):
    """Gives each pod that asks for a licence a seat of its own.

    PreFilter refuses a pod while there is no seat, Reserve takes the first that is free, Unreserve gives it back.
    """

    args_type = LicenseSeatsArgs
    memory_only = True

    unknown = Reason("there is no licence {license}", unresolvable=True)
    taken = Reason("all {seats} seats of licence {license} are taken", unresolvable=True)

    def signature(self, pod: PodInfo) -> str:
        """The licence it asks for."""
        return _license_of(pod)

    def events_to_register(self) -> tuple[Registration, ...]:
        """A holder of the licence that leaves."""
        return (registers(Resource.ASSIGNED_POD, Action.DELETE, _after_departure),)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Refuse a pod for which there is no seat."""
        return self._refusal(cycle.pod)

    def reserve(self, cycle: Cycle, node_name: str) -> Status:
        """Take the first free seat."""
        pod = cycle.pod
        free = self._free(_license_of(pod))
        if not free:
            return self._refusal(pod) or SUCCESS
        metadata = ObjectMeta(name=pod.pod.metadata.name, namespace=pod.namespace)
        self.handle.cluster.put(Seat(metadata=metadata, license=_license_of(pod), seat=free[0]))
        return SUCCESS

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Give the seat back, if one was taken."""
        held = self.handle.cluster.get(Seat, cycle.pod.key)
        if held is not None:
            self.handle.cluster.delete(held)

    def seat_of(self, pod: PodInfo) -> str:
        """Return the seat that a pod holds, "" for none."""
        held = self.handle.cluster.get(Seat, pod.key)
        return held.seat if held is not None else (pod.pod.metadata.annotations or {}).get(SEAT, "")

    def _refusal(self, pod: PodInfo) -> Status | None:
        name = _license_of(pod)
        if not name:
            return None
        if name not in self._seats:
            return self.unknown.status(license=name)
        if not self._free(name):
            return self.taken.status(seats=len(self._seats[name]), license=name)
        return None

    def _free(self, name: str) -> list[str]:
        """Return the seats of a licence that no pod on a node holds, in the order of the profile."""
        holders = [pod for pod in self.handle.cluster.pod_table if _license_of(pod) == name]
        held = {self.seat_of(pod) for pod in holders}
        return [seat for seat in self._seats.get(name, ()) if seat not in held]

    @property
    def _seats(self) -> dict[str, list[str]]:
        args: LicenseSeatsArgs = self.args or LicenseSeatsArgs()
        return args.licenses


def _license_of(pod: PodInfo) -> str:
    return (pod.pod.metadata.annotations or {}).get(LICENSE, "")


def _after_departure(pod: PodInfo, before: PodInfo, after: None) -> Hint:
    return Hint.QUEUE if _license_of(before) == _license_of(pod) else Hint.SKIP
