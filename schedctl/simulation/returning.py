"""Controllers that make every pod again that has to go, and do nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedctl.cache.pod_info import PodInfo
from schedctl.scheduler import Scheduler
from schedctl.simulation.happenings import Controller, Happening
from schedctl.simulation.replacements import comes_later, successor
from schedctl.workloads.admission import RESOURCE_QUOTA
from schedctl.workloads.creation import Admission, Created
from schedctl.workloads.expansion import Replica
from schedctl.workloads.templates import exists


class Returning(Controller):
    """Makes the successors of pods that are evicted, each when its controller would.

    Quotas are left aside: what comes was counted before.

    Attributes:
        successors: by key of a pod that had to go, the key of the pod in its place.
        foreign: successors that no profile serves, by key.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.successors: dict[str, str] = {}
        self.foreign: set[str] = set()
        self._taken: set[str] = set()  # the keys of successors, some of which are still on their way
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._admission = Admission(scheduler.cluster, disabled=(RESOURCE_QUOTA,))
        self._replaced = {
            info.key for info in scheduler.cluster.pod_table if info.terminating and not comes_later(info.pod)
        }

    def now(self, key: str) -> str:
        """Return the key of the pod that is in a pod's place in the end, "" for none."""
        found = self.successors.get(key, "")
        seen = {key}
        while found not in seen and found in self.successors:
            seen.add(found)
            found = self.successors[found]
        return found

    def evicted(self, pod: PodInfo, node_name: str) -> Iterable[Happening]:
        """Make the successor of a pod, where its controller does not wait until it is gone."""
        return () if comes_later(pod.pod) else self._succeed(pod)

    def gone(self, pod: PodInfo, node_name: str) -> Iterable[Happening]:
        """Make the successor of a pod that has none yet; those on their way out when all began have theirs."""
        if pod.key in self._replaced:
            self._replaced.discard(pod.key)
            return ()
        known = pod.key in self.successors and self.successors[pod.key] != pod.key
        return () if known else self._succeed(pod)

    def _succeed(self, pod: PodInfo) -> Iterator[Happening]:
        """Create the pod that takes the place of another, if anything does."""
        made = successor(pod.pod, lambda key: key in self._taken or exists(key, self._cluster))
        created = self._admission.create(Replica(made)) if made is not None else None
        if not isinstance(created, Created):
            return
        self.successors[pod.key] = created.pod.key
        self._taken.add(created.pod.key)
        for claim in created.claims:
            yield Happening(claim)
        info = PodInfo(created.pod)
        if self._scheduler.profile_of(info) is None:
            self.foreign.add(info.key)
        else:
            yield Happening(info)
