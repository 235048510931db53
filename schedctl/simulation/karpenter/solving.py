"""Places pods as Karpenter's scheduler does: the largest first, on a node, else on a claim, else on a new claim.

The first place that fits is taken. What is left to chance there, the order of equal domains and of claims with equally
many pods, is the order of names and of making here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from schedctl.api.resources import CPU, MEMORY
from schedctl.api.tolerations import PREFER_NO_SCHEDULE
from schedctl.api.topology import HOSTNAME
from schedctl.cache.pod_info import HostPort
from schedctl.simulation.karpenter.offers import NODES, OfferedType, Pool
from schedctl.simulation.karpenter.preparation import PreparedModel
from schedctl.simulation.karpenter.targets import Claim, Room
from schedctl.simulation.karpenter.topology import Topology
from schedctl.simulation.karpenter.topology_groups import tolerated
from schedctl.simulation.karpenter.value_sets import ValueSet, conflict, narrow
from schedctl.simulation.karpenter.waiting_pods import WaitingPod


class Step(msgspec.Struct, frozen=True):
    """What came of a pod when it was its turn.

    Attributes:
        pod: its key.
        node: the node that it was put on, "" for none.
        claim: the number of the claim, 0 for none.
        is_new: whether the claim was made for it.
        relaxed: the preferences that were given up for it, in order.
        types: how many instance types the claim may still be.
        refusals: why each NodePool launches no node for it, by name.
    """

    pod: str
    node: str = ""
    claim: int = 0
    is_new: bool = False
    relaxed: tuple[str, ...] = ()
    types: int = 0
    refusals: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def placed(self) -> bool:
        """Whether it has a place."""
        return bool(self.node or self.claim)


class Solution(msgspec.Struct):
    """Where Karpenter expects pods to run.

    Attributes:
        claims: the nodes that it would launch, in the order in which they were first thought of.
        existing: the pods that it expects on nodes that are there, by name of the node.
        unplaced: the last step of each pod that it does nothing for.
        steps: in order.
    """

    claims: list[Claim] = msgspec.field(default_factory=list)
    existing: dict[str, list[WaitingPod]] = msgspec.field(default_factory=dict)
    unplaced: dict[str, Step] = msgspec.field(default_factory=dict)
    steps: list[Step] = msgspec.field(default_factory=list)


def solve(
    model: PreparedModel,
    pods: Iterable[WaitingPod],
    *,
    without: Collection[str] = (),
    on_pod: Callable[[int, int], None] = lambda done, most: None,
) -> Solution:
    """Return where Karpenter would have pods run.

    Args:
        model: the cluster.
        pods: those that wait, and those of nodes that are left out.
        without: the nodes that are to go.
        on_pod: called with how many pods had their turn, and how many there are.
    """
    return _Solver(model, list(pods), frozenset(without)).run(on_pod)


class _Solver:
    """A round while it goes on."""

    def __init__(self, prepared: PreparedModel, pods: Sequence[WaitingPod], without: frozenset[str]) -> None:
        self._model = model = prepared.model
        self._pods = sorted(pods, key=_largest_first)
        self._topology = Topology(prepared.counts, self._pods, without)
        self._tolerate = any(taint.effect == PREFER_NO_SCHEDULE for pool in model.pools for taint in pool.taints)
        self._existing = list(prepared.nodes)
        self._rooms = prepared.rooms(without)
        self._topology.register(*(each.node.host for each in self._existing if each.node.name not in without))
        self._claims: list[Claim] = []
        self._left = {pool.name: model.left_of(pool, without) for pool in model.pools}
        self._daemons = {pool.name: _daemons_of(pool, model.daemons) for pool in model.pools}
        self._ports = {pool.name: dict(ports) for pool in model.pools for _, ports in (self._daemons[pool.name],)}
        self._solution = Solution()

    def run(self, on_pod: Callable[[int, int], None]) -> Solution:
        """Place pods as long as that gets on: a pod may wait for others."""
        queue, found = deque(self._pods), self._solution
        length_after: dict[str, int] = {}
        done = 0
        while queue and length_after.get(queue[0].key) != len(queue):
            pod = queue.popleft()
            done += 1
            on_pod(done, len(self._pods))
            step = self._place(pod)
            found.steps.append(step)
            if step.placed:
                found.unplaced.pop(pod.key, None)
                continue
            found.unplaced[pod.key] = step
            self._topology.update(pod)  # with all its preferences, for its next turn
            queue.append(pod)
            length_after[pod.key] = len(queue)
        found.claims = sorted(self._claims, key=lambda each: each.number)
        found.existing = {each.node.name: list(each.pods) for each in self._existing if each.pods}
        return found

    def _place(self, pod: WaitingPod) -> Step:
        """Find a place for a pod, with all its preferences or, one after another, without them."""
        relaxed: list[str] = []
        while True:
            step = self._put(pod, tuple(relaxed))
            if step.placed:
                return step
            less = pod.relax(tolerate=self._tolerate)
            if less is None:
                return step
            pod, preference = less
            relaxed.append(preference)
            self._topology.update(pod)

    def _put(self, pod: WaitingPod, relaxed: tuple[str, ...]) -> Step:
        for row in self._rooms.rows_for(pod):
            each = self._existing[row]
            room = each.room_for(pod, self._topology)
            if room is not None:
                self._existing[row] = each.with_pod(pod, room)
                self._rooms.take(row, pod)
                self._topology.record(pod, each.node.taints, room.requirements)
                return Step(pod.key, node=each.node.name, relaxed=relaxed)
        self._claims.sort(key=lambda claim: len(claim.pods))
        for claim in self._claims:
            found = claim.room_for(pod, self._topology)
            if isinstance(found, Room):
                claim.add(pod, found, self._topology)
                return Step(pod.key, claim=claim.number, relaxed=relaxed, types=len(claim.types))
        return self._launch(pod, relaxed)

    def _launch(self, pod: WaitingPod, relaxed: tuple[str, ...]) -> Step:
        """Launch a node of the first pool that may have one for a pod."""
        refusals: dict[str, str] = {}
        for pool in self._model.pools:
            claim = self._claim(pool)
            if isinstance(claim, str):
                refusals[pool.name] = claim
                continue
            found = claim.room_for(pod, self._topology)
            if isinstance(found, str):
                refusals[pool.name] = found
                continue
            claim.add(pod, found, self._topology)
            self._claims.append(claim)
            self._take(pool, found.types)
            return Step(pod.key, claim=claim.number, is_new=True, relaxed=relaxed, types=len(claim.types))
        return Step(pod.key, relaxed=relaxed, refusals=refusals)

    def _claim(self, pool: Pool) -> Claim | str:
        """Return a new claim of a pool within its limits, or why there is none."""
        if not pool.types:
            if not pool.known_types:
                return "nothing says which instance types it may launch; `--instance-types FILE` does"
            return "no instance type meets its requirements"
        left = self._left[pool.name]
        if left.get(NODES) == 0:
            return "limit reached: nodes of the pool"
        types = tuple(
            each for each in pool.types if all(each.capacity.get(name, 0) <= amount for name, amount in left.items())
        )
        if not types:
            return f"limit reached: every instance type is larger than what is left of {', '.join(sorted(left))}"
        requests, _ = self._daemons[pool.name]
        number = len(self._claims) + 1
        host = (HOSTNAME, ValueSet(frozenset((f"claim {number}",))))
        requirements = narrow(pool.requirements, (host,))
        return Claim(pool, number, requirements, types, dict(requests), requests, self._ports[pool.name])

    def _take(self, pool: Pool, types: Sequence[OfferedType]) -> None:
        """Take the largest of the types that a claim may be off what is left of its pool."""
        left = self._left[pool.name]
        for name in left:
            left[name] -= max(each.capacity.get(name, 0) for each in types)


def _largest_first(pod: WaitingPod) -> tuple[int, int, str, str]:
    """Rank pods: by cpu, by memory, then the oldest, then by uid."""
    created = pod.info.pod.metadata.creation_timestamp or ""
    return -pod.requests.get(CPU, 0), -pod.requests.get(MEMORY, 0), str(created), pod.info.uid


def _daemons_of(pool: Pool, daemons: Iterable[WaitingPod]) -> tuple[dict[str, int], dict[str, Sequence[HostPort]]]:
    """Return what the pods of DaemonSets take of each new node of a pool: requests, and host ports by pod."""
    requests: dict[str, int] = {}
    ports: dict[str, Sequence[HostPort]] = {}
    for daemon in daemons:
        if not _runs_on(pool, daemon):
            continue
        for name, amount in daemon.requests.items():
            requests[name] = requests.get(name, 0) + amount
        ports[daemon.key] = daemon.host_ports
    return requests, ports


def _runs_on(pool: Pool, daemon: WaitingPod) -> bool:
    hard = [each for each in pool.taints if each.effect != PREFER_NO_SCHEDULE]
    if not tolerated(hard, daemon.tolerations):
        return False
    terms = daemon.node_terms
    return any(not conflict(pool.requirements, term, of_new_node=True) for term in terms)
