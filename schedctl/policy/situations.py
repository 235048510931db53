"""What there is to judge: the pods of the manifests, each with what became of it, in one picture of the cluster.

A `Situation` is such a picture: the manifests placed on the state, or that and a case of a scenario on top
(`schedctl.policy.scenarios`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api.nodes import Node
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.policy import named_nodes
from schedctl.policy.documents import BASELINE, Match
from schedctl.reports.simulations import Fate
from schedctl.scheduler import Scheduler
from schedctl.simulation import report_builder
from schedctl.simulation.outcomes import Eviction, PodOutcome, Run
from schedctl.simulation.simulations import Simulation
from schedctl.simulation.simulator.external_events import MISSING_NODE
from schedctl.simulation.tie_breaking import TieBreaker, first_by_name
from schedctl.sources.manifests import Sourced
from schedctl.workloads.expansion import Workload
from schedctl.workloads.quotas import QuotaUsage

Key = tuple[str, str, str]
"""Kind, namespace and name of an object."""

UNCLEAR = frozenset((Fate.INCONCLUSIVE, Fate.FOREIGN_SCHEDULER))
"""Nobody here can tell where such a pod goes."""
REFUSED = frozenset((Fate.REJECTED, Fate.NOT_CREATED, Fate.ORPHANED))
"""Such a pod does not come to be, or not for long."""
_NAMED = ("Pod", "StatefulSet")
"""Kinds whose pods have names that stay."""


class JudgedPod(msgspec.Struct, eq=False):
    """A pod of the manifests in one situation.

    Attributes:
        name: how findings name it.
        info: the pod: as it is in the cluster, or as it would have been created.
        fate: what became of it.
        node: the node it is on, "" for none.
        message: why it is on none.
        plugins: who refused it.
        keys: every key it has had: its own, and those of the pods that took its place.
        lost: it had a node and no controller recreates it.
        rejection: why the kubelet of the node that its manifest names may reject it, "" if nothing speaks for it.
    """

    name: str
    info: PodInfo
    fate: Fate
    node: str = ""
    message: str = ""
    plugins: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    lost: bool = False
    rejection: str = ""

    @property
    def is_placed(self) -> bool:
        """Whether it is on a node."""
        return self.fate is Fate.PLACED

    @property
    def is_unclear(self) -> bool:
        """Whether nobody here can tell."""
        return self.fate in UNCLEAR

    @property
    def is_pending(self) -> bool:
        """Whether it is known to be on no node."""
        return not (self.is_placed or self.is_unclear)


class JudgedWorkload(msgspec.Struct, eq=False):
    """An object of the manifests that makes pods, in one situation; a pod on its own is a workload of one.

    Attributes:
        workload: what it was expanded to.
        sourced: the object with its place in the files, None where it comes from none.
        pods: its pods: new ones in the order in which they are created, then old ones that stay.
        removed: its pods of before that went, with the nodes they ran on.
    """

    workload: Workload
    sourced: Sourced | None
    pods: list[JudgedPod]
    removed: tuple[PodInfo, ...] = ()

    @property
    def key(self) -> Key:
        """Kind, namespace and name."""
        return self.workload.kind, self.workload.namespace, self.workload.name

    @property
    def placed_pods(self) -> list[JudgedPod]:
        """Those on a node."""
        return [pod for pod in self.pods if pod.is_placed]

    @property
    def pending_pods(self) -> list[JudgedPod]:
        """Those known to be on none."""
        return [pod for pod in self.pods if pod.is_pending]

    @property
    def unclear_pods(self) -> list[JudgedPod]:
        """Those of which nobody here can tell."""
        return [pod for pod in self.pods if pod.is_unclear]

    def as_admitted(self) -> JudgedWorkload:
        """Return it with the pods inconclusive that a kubelet may reject: whether they run nobody here can tell."""
        doubtful = {id(pod) for pod in self.pods if pod.is_placed and pod.rejection}
        pods = [
            replace(pod, fate=Fate.INCONCLUSIVE, node="", message=pod.rejection) if id(pod) in doubtful else pod
            for pod in self.pods
        ]
        return replace(self, pods=pods) if doubtful else self

    def undecided_pods(self, ignore_pending: bool) -> list[JudgedPod]:
        """Return those whose node nobody knows: they have none, or nobody can tell; pending ones can be left out."""
        return [pod for pod in self.pods if pod.is_unclear or (pod.is_pending and not ignore_pending)]

    @property
    def keys(self) -> set[str]:
        """Every key that one of its pods has had."""
        return {key for pod in self.pods for key in pod.keys}

    @property
    def wants_none(self) -> str:
        """Why it has no pods, in words."""
        return "no node matches its pod template" if self.per_node() else "it has 0 replicas"

    def per_node(self) -> bool:
        """Whether it makes one pod for each node."""
        return isinstance(self.workload.object, DaemonSet)


class Situation(msgspec.Struct, eq=False):
    """A picture of the cluster with the manifests in it.

    It holds as long as the cluster is as the runs have left it: what asks the cluster again (why a pod is pending, how
    many more fit, whether a node can be drained) has to ask before the next picture is made.

    Attributes:
        name: ``baseline``, or scenario and value as in ``lose-zone=eu-1a``.
        scheduler: profiles, and the cluster as it is in this picture.
        workloads: what is judged, in the order given.
        run: what the run that led here found out.
        evictions: who had to make room for others, in order; since the state was as it was given.
        successors: by key of a pod that was there before, the key of the pod in its place, "" for none.
        changes: what the scenario changed, in words; none without one.
        nodes_before: the nodes by name, as they were before the scenario.
        quotas: the ResourceQuotas, with what is used of them once the manifests are placed.
        sourced: the objects of the manifests with their places, by kind, namespace and name.
        choose: which of several equally good nodes the runs take.
    """

    name: str
    scheduler: Scheduler
    workloads: list[JudgedWorkload]
    run: Run
    evictions: list[Eviction] = msgspec.field(default_factory=list)
    successors: dict[str, str] = msgspec.field(default_factory=dict)
    changes: list[str] = msgspec.field(default_factory=list)
    nodes_before: Mapping[str, Node] = msgspec.field(default_factory=dict)
    quotas: Sequence[QuotaUsage] = ()
    sourced: Mapping[Key, Sourced] = msgspec.field(default_factory=dict)
    choose: TieBreaker = first_by_name

    @property
    def cluster(self) -> Cluster:
        """The cluster."""
        return self.scheduler.cluster

    def latest_key(self, key: str) -> str:
        """Return the key of the pod that stands for one that was there before: its own, or of the last in its place."""
        return latest_key(self.successors, key)

    def node_of(self, key: str) -> str:
        """Return the node a pod is on, "" for none."""
        return node_of(self.cluster, key)

    @property
    def unclear_pods(self) -> list[JudgedPod]:
        """The pods of the manifests of which nobody here can tell where they go."""
        return [pod for judged in self.workloads for pod in judged.unclear_pods]

    def undecided_pods(self, ignore_pending: bool) -> list[PodInfo]:
        """Return the pods of the cluster and of the manifests whose node nobody knows.

        Pending ones can be left out, those of the state among them.
        """
        if ignore_pending:
            return [pod.info for pod in self.unclear_pods]
        pending = dict(self.cluster.pending)
        judged = [pod for each in self.workloads for pod in each.undecided_pods(ignore_pending)]
        # Pods that were never created, or that another scheduler places, are in no queue.
        outside = [pod.info for pod in judged if not (pod.keys and pod.keys[-1] in pending)]
        return [*outside, *pending.values()]

    def evictions_for(self, keys: Iterable[str]) -> list[Eviction]:
        """Return who had to make room for some pods."""
        evictors = set(keys)
        return [eviction for eviction in self.evictions if eviction.by in evictors]


def latest_key(successors: Mapping[str, str], key: str) -> str:
    """Return the end of a chain of successors, "" where somebody in it has none."""
    seen = {key}  # names of StatefulSet pods come back, so a chain may run in a circle
    while key in successors:
        key = successors[key]
        if key in seen:
            break
        seen.add(key)
    return key


def node_of(cluster: Cluster, key: str) -> str:
    """Return the node a pod is on, "" for none."""
    row = cluster.pod_table.row_of.get(key)
    return "" if row is None else cluster.node_table.names[int(cluster.pod_table.node[row])]


def released_situation(facts: Simulation, scheduler: Scheduler, sourced: Mapping[Key, Sourced]) -> Situation:
    """Return the situation that a release has led to.

    Args:
        facts: of the release.
        scheduler: whose cluster it was placed on, as the run left it.
        sourced: the objects of the manifests with their places, by kind, namespace and name; by kind, namespace and
            place where the name is generated.
    """
    controller, cluster = facts.controller, scheduler.cluster
    workloads = []
    for rollout in controller.rollouts:
        update, workload = rollout.update, rollout.update.workload
        if workload.standing:  # of the cluster, and stays as it is; only new nodes want pods of it
            continue
        created = {key: PodInfo(replica.pod) for key, replica in update.created.items()}
        pods = [_with_rejection(_created_pod(facts, key, info), info, cluster) for key, info in created.items()]
        pods += [
            JudgedPod("", PodInfo(replica.pod), Fate.NOT_CREATED, message="its controller waits for other pods")
            for replica in update.unsent.values()
        ]
        going = {id(info) for info in (*rollout.removed, *update.leaving.values())}
        for info in update.old:
            if id(info) not in going:
                pods.append(_kept_pod(controller.latest(info.key), info, facts, cluster))
        for number, pod in enumerate(pods):
            pod.name = _name(workload, pod, number)
        removed = tuple(info for info in rollout.removed if info.pod.spec.node_name)
        judged = JudgedWorkload(workload, None, pods, removed)
        judged.sourced = sourced.get(judged.key) or sourced.get((workload.kind, workload.namespace, workload.source))
        workloads.append(judged)
    evictions = [eviction for eviction in facts.run.evictions if eviction.by]
    table = cluster.node_table
    nodes = {name: table.objects[row] for name, row in table.row_of.items()}
    return Situation(
        BASELINE,
        scheduler,
        workloads,
        facts.run,
        evictions,
        dict(controller.successors),
        nodes_before=nodes,
        quotas=controller.admission.quota_usage(),
        sourced=sourced,
    )


def changed_situation(
    before: Situation,
    name: str,
    facts: Run,
    *,
    successors: Mapping[str, str],
    foreign: set[str],
    changes: Sequence[str],
    quotas: Sequence[QuotaUsage],
) -> Situation:
    """Return the situation that a scenario has led to.

    Args:
        before: the manifests placed.
        name: of the scenario.
        facts: of the run that placed what had lost its node.
        successors: by key of a pod that had to go, the key of the pod in its place, "" for none.
        foreign: pods that no profile serves, by key.
        changes: what was changed, in words.
        quotas: the ResourceQuotas.
    """
    scheduler = before.scheduler
    workloads = []
    for judged in before.workloads:
        pods = [_after(pod, scheduler.cluster, facts, successors, foreign) for pod in judged.pods]
        if judged.per_node():  # a node that is gone wants no daemon any more
            pods = [pod for pod in pods if not pod.lost]
        workloads.append(JudgedWorkload(judged.workload, judged.sourced, pods, judged.removed))
    evictions = [*before.evictions, *(eviction for eviction in facts.evictions if eviction.by)]
    together = {**before.successors, **successors}
    return Situation(
        name,
        scheduler,
        workloads,
        facts,
        evictions,
        together,
        list(changes),
        before.nodes_before,
        quotas,
        before.sourced,
    )


def selected_workloads(workloads: Iterable[JudgedWorkload], match: Match) -> list[JudgedWorkload]:
    """Return the workloads a policy is about, each with the pods it is about."""
    found = []
    for judged in workloads:
        pods = [pod for pod in judged.pods if match.selects(*judged.key, pod.info.labels)]
        template = judged.workload.template
        if pods and len(pods) < len(judged.pods):
            found.append(replace(judged, pods=pods))
        elif pods or (not judged.pods and match.selects(*judged.key, template.metadata.labels if template else None)):
            found.append(judged)
    return found


def _waits(outcome: PodOutcome) -> tuple[Fate, str, tuple[str, ...]]:
    """Return what became of a pod that took part in a run, why it has no node, and who says so."""
    return report_builder.fate_of(outcome), outcome.message, outcome.plugins


def _created_pod(facts: Simulation, key: str, info: PodInfo) -> JudgedPod:
    """Return a pod that the release made."""
    controller = facts.controller
    now = controller.latest(key)
    keys = _chain(controller.successors, key)
    outcome = facts.run.pods.get(now)
    if now in controller.rejected:
        rejected = controller.rejected[now]
        return JudgedPod("", info, Fate.REJECTED, message=rejected.message, plugins=(rejected.plugin,), keys=keys)
    if now in controller.foreign:
        info = controller.foreign[now]
        message = f'schedulerName "{info.pod.spec.scheduler_name}" belongs to another scheduler'
        return JudgedPod("", info, Fate.FOREIGN_SCHEDULER, message=message, keys=keys)
    if outcome is None:
        return JudgedPod("", info, Fate.QUEUED, message="it has not entered the scheduling queue", keys=keys)
    fate, message, plugins = _waits(outcome)
    node = outcome.node if fate is Fate.PLACED else ""
    return JudgedPod("", outcome.pod, fate, node, message, plugins, keys, lost=fate is Fate.EVICTED)


def _with_rejection(pod: JudgedPod, created: PodInfo, cluster: Cluster) -> JudgedPod:
    """Return a pod with why the kubelet of its node may reject it, if it was created with the name of the node."""
    if pod.is_placed and created.pod.spec.node_name:
        pod.rejection = named_nodes.rejection(cluster, pod.info, pod.node)
    return pod


def _kept_pod(now: str, info: PodInfo, facts: Simulation, cluster: Cluster) -> JudgedPod:
    """Return a pod that was there before and belongs to the workload still."""
    keys: tuple[str, ...] = (info.key,) if now == info.key else (info.key, now)
    node, outcome = node_of(cluster, now), facts.run.pods.get(now)
    if node:
        return JudgedPod("", cluster.pod_table.infos[cluster.pod_table.row_of[now]], Fate.PLACED, node, keys=keys)
    if outcome is None:
        return JudgedPod("", info, Fate.QUEUED, message="it has no node", keys=keys)
    fate, message, plugins = _waits(outcome)
    return JudgedPod("", outcome.pod, fate, message=message, plugins=plugins, keys=keys, lost=fate is Fate.EVICTED)


def _after(pod: JudgedPod, cluster: Cluster, facts: Run, successors: Mapping[str, str], foreign: set[str]) -> JudgedPod:
    """Return a pod as a scenario has left it."""
    # What never came to the cluster, or left it to others, is the same in every scenario.
    if pod.fate in REFUSED or pod.is_unclear or not pod.keys:
        return pod
    chain = _chain(successors, pod.keys[-1])
    now, keys = chain[-1], (*pod.keys, *chain[1:])
    row = cluster.pod_table.row_of.get(now)
    outcome = facts.pods.get(now)
    if row is not None and (outcome is None or outcome.node):
        table = cluster.pod_table
        node = cluster.node_table.names[int(table.node[row])]
        return replace(pod, info=table.infos[row], fate=Fate.PLACED, node=node, message="", plugins=(), keys=keys)
    if now in foreign:
        return replace(pod, fate=Fate.FOREIGN_SCHEDULER, node="", message="another scheduler places it", keys=keys)
    if outcome is not None:
        fate, message, plugins = _waits(outcome)
        lost = fate is Fate.EVICTED
        return replace(
            pod, info=outcome.pod, fate=fate, node="", message=message, plugins=plugins, keys=keys, lost=lost
        )
    if now in cluster.strays:
        info = cluster.strays[now]
        message = MISSING_NODE.format(info.pod.spec.node_name)
        return replace(pod, info=info, fate=Fate.ORPHANED, node="", message=message, plugins=(), keys=keys)
    if now in cluster.pending:
        return replace(pod, info=cluster.pending[now], fate=Fate.QUEUED, node="", keys=keys)
    return replace(pod, fate=Fate.EVICTED, node="", message="no controller recreates it", keys=keys, lost=True)


def _chain(successors: Mapping[str, str], key: str) -> tuple[str, ...]:
    """Return a key and those of the pods that took its place one after another."""
    chain = [key]
    while (after := successors.get(chain[-1], "")) and after not in chain:
        chain.append(after)
    return tuple(chain)


def _name(workload: Workload, pod: JudgedPod, number: int) -> str:
    """Return how findings name a pod: by its place among its workload's, which stays through all pictures."""
    if workload.kind in _NAMED:
        return pod.info.pod.metadata.name
    # The names of other pods end at random, and would not be the same in the next run.
    return f"{workload.name}[{number}]"
