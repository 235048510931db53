"""Scenarios: what is supposed to happen once the manifests stand, and what becomes of the pods then.

Each case of a scenario is a fork of the cluster in which the manifests are placed: its changes are made, and the pods
that lose their node by them come back as their controllers make them, and go through the queue like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from schedctl.api import topology
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.plugins.priority_sort import PrioritySort
from schedctl.policy.documents import Scenario, substitute_value
from schedctl.policy.situations import Situation, changed_situation, latest_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.scheduler import Scheduler
from schedctl.scheduler.certain_fits import all_fit
from schedctl.simulation import what_if_syntax, what_ifs
from schedctl.simulation.node_choices import SHORTHANDS, cluster_labels, label_of
from schedctl.simulation.outcomes import PodOutcome, PodState, Run, RunEnd
from schedctl.simulation.replacement import ReplacementController, controller_of
from schedctl.simulation.runs import Options, run
from schedctl.simulation.tie_breaking import TieBreaker
from schedctl.simulation.what_ifs import WhatIf, WhatIfResult
from schedctl.simulation.what_ifs.workloads import Scale
from schedctl.workloads.quotas import QuotaUsage


class Case(msgspec.Struct, frozen=True):
    """One thing that is supposed to happen.

    Attributes:
        name: ``lose-zone=eu-1a``, or the scenario's name where it has but one case.
        changes: what is changed, in order.
    """

    name: str
    changes: tuple[WhatIf, ...]


def cases(scenario: Scenario, cluster: Cluster) -> list[Case]:
    """Return the cases of a scenario: one, or one for each value that a node has of its topology key, in their order.

    Args:
        scenario: the scenario.
        cluster: whose labels a topology key has its values from.

    Raises:
        UsageError: a change cannot be understood, or no node has the topology key.
    """
    if not scenario.topology_key:
        return [Case(scenario.name, tuple(what_if_syntax.from_mappings(scenario.changes)))]
    key = label_of(cluster, scenario.topology_key)
    table = cluster.node_table
    values = {topology.group_of(table.objects[row].metadata.labels, key) or "" for row in table.row_of.values()} - {""}
    if not values:
        known = [*sorted(cluster_labels(cluster)), *SHORTHANDS]
        raise UsageError(f'no node has a label "{key}"', suggest_names(key, known, "labels"))
    return [
        Case(f"{scenario.name}={value}", tuple(what_if_syntax.from_mappings(substitute_value(scenario.changes, value))))
        for value in sorted(values)
    ]


@contextmanager
def play(case: Case, before: Situation, deciding: Collection[str] | None = None) -> Iterator[Situation]:
    """Yield the situation that a case leads to; it holds for the length of the ``with`` block.

    Losing a zone displaces a third of a cluster, and most of it decides nothing. Where only some pods matter to the
    checks, it is first asked whether they and all whose turn comes before theirs are certain to find a node
    (`scheduler.certain_fits`), which takes no run; the deciding pods are then placed, and nobody says where. Else the
    run is made with those pods alone. Where that does not settle what becomes of them either (`_is_settled`), the
    whole run is made.

    Args:
        case: the case.
        before: the manifests placed.
        deciding: the keys of the pods that have to be placed, None for all there are.

    Raises:
        UsageError: what a change is about is not in the cluster.
        KeyboardInterrupt: the run was interrupted.
    """
    scheduler = before.scheduler
    with scheduler.fork():
        done = what_ifs.apply(case.changes, scheduler.cluster)
        successors = _successors(done)
        ours = {latest_key(successors, key) for judged in before.workloads for key in judged.keys}
        pods, foreign = _pods_to_place(scheduler, done, ours, list(before.run.pods))
        if deciding is not None:
            deciding_keys = {latest_key(successors, key) for key in deciding}
            bound = _lowest_priority(deciding_keys, scheduler.cluster)
            first = _pods_up_to(pods, deciding_keys, bound, scheduler)
            if first is not None and _are_certain(first, deciding_keys, scheduler):
                facts = Run({info.key: PodOutcome(info, PodState.BOUND) for info in first}, end=RunEnd.SETTLED)
                yield _situation(case, before, done, facts, ReplacementController(scheduler), successors, foreign)
                return
            if first is not None and len(first) < len(pods):
                with scheduler.fork():
                    facts, controller = _run(scheduler, first, before.choose)
                    # Without a bound none of the deciding pods is in the cluster any more.
                    if bound is None or _is_settled(facts, first, deciding_keys, bound):
                        yield _situation(case, before, done, facts, controller, successors, foreign)
                        return
        facts, controller = _run(scheduler, pods, before.choose)
        yield _situation(case, before, done, facts, controller, successors, foreign)


def _situation(
    case: Case,
    before: Situation,
    done: Sequence[WhatIfResult],
    facts: Run,
    controller: ReplacementController,
    successors: Mapping[str, str],
    foreign: set[str],
) -> Situation:
    return changed_situation(
        before,
        case.name,
        facts,
        successors={**successors, **controller.successors},
        foreign=foreign | controller.foreign.keys(),
        changes=[each.text for each in done],
        quotas=_quotas_after(case, before),
    )


def _quotas_after(case: Case, before: Situation) -> Sequence[QuotaUsage]:
    """Return the quotas: pods that come back are counted already, but nobody counts those of another replica count."""
    if any(isinstance(each, Scale) for each in case.changes):
        return [replace(each, used=None) for each in before.quotas]
    return before.quotas


def _run(scheduler: Scheduler, pods: Sequence[PodInfo], choose: TieBreaker) -> tuple[Run, ReplacementController]:
    controller = ReplacementController(scheduler)
    facts = run(scheduler, pods, options=Options(choose=choose, trace=False), controller=controller)
    if facts.end is RunEnd.INTERRUPTED:
        raise KeyboardInterrupt
    return facts, controller


def _successors(done: Sequence[WhatIfResult]) -> dict[str, str]:
    """Return by key of a pod that is gone the key of the pod in its place, "" for none."""
    return {key: each.successors.get(key, "") for each in done for key in each.gone}


def _pods_to_place(
    scheduler: Scheduler, done: Sequence[WhatIfResult], ours: Collection[str], arrived: Sequence[str]
) -> tuple[list[PodInfo], set[str]]:
    """Return the pods that want a node, in order of arrival, and the keys of those that no profile serves.

    All changes happen at one time, so pods of one priority come in an order that is a matter of chance in a real
    cluster. Here those of the manifests come last, so that a pass does not depend on a race they might lose.

    Args:
        scheduler: with the cluster.
        done: what was changed.
        ours: the keys of the manifests' pods.
        arrived: the keys of the pods that came before, in order; a cluster does not keep it when a fork is left.
    """
    displaced = {key for each in done for key in each.waiting}
    served: list[PodInfo] = []
    foreign: set[str] = set()
    for key, info in scheduler.cluster.pending.items():
        if scheduler.profile_of(info) is None:
            foreign.add(key)
        else:
            served.append(info)
    turn_of = {key: turn for turn, key in enumerate(arrived)}
    last = len(turn_of)
    # A controller makes all pods of one workload in one go; what was pending keeps its order.
    makers = [_maker(info) if info.key in displaced else _NOBODY for info in served]
    rank_of = {maker: rank for rank, maker in enumerate(sorted(set(makers)))}
    turns = [
        (info.key in ours, info.key in displaced, rank_of[maker], turn_of.get(info.key, last), info.key, info)
        for info, maker in zip(served, makers, strict=True)
    ]
    return [info for *_, info in sorted(turns)], foreign  # no two keys are equal, so that pods are not compared


_NOBODY = ("", "", "")


def _maker(info: PodInfo) -> tuple[str, str, str]:
    owner = controller_of(info.pod)
    return (info.namespace, owner.kind, owner.name) if owner is not None else (info.namespace, "Pod", info.key)


# -- pods that decide ------------------------------------------------------------


def _pods_up_to(
    pods: Sequence[PodInfo], deciding_keys: Collection[str], bound: int | None, scheduler: Scheduler
) -> list[PodInfo] | None:
    """Return the pods whose turn comes before the deciding ones have had theirs, those included.

    None where that cannot be told from the start.
    """
    cluster = scheduler.cluster
    # Another QueueSort plugin may order the pods by something else than priority and arrival.
    if any(type(each) is not PrioritySort for profile in scheduler.profiles.values() for each in profile.queue_sort):
        return None
    # A pod group goes by a priority of its own.
    if cluster.release.enabled(GENERIC_WORKLOAD) and any(info.pod.spec.scheduling_group for info in pods):
        return None
    if bound is None:
        return []
    if any(info.is_terminating and info.priority > bound for info in cluster.pod_table):
        return None
    ordered = sorted(pods, key=lambda info: -info.priority)
    end = max(
        (n + 1 for n, info in enumerate(ordered) if info.priority > bound or info.key in deciding_keys), default=0
    )
    first = {info.key for info in ordered[:end]}
    return [info for info in pods if info.key in first]


def _lowest_priority(keys: Collection[str], cluster: Cluster) -> int | None:
    """Return the lowest priority of some pods, None where none of them is in the cluster."""
    table = cluster.pod_table
    priorities = [table.infos[table.row_of[key]].priority for key in keys if key in table.row_of]
    priorities += [cluster.pending[key].priority for key in keys if key in cluster.pending]
    return min(priorities, default=None)


def _are_certain(first: Sequence[PodInfo], deciding_keys: Collection[str], scheduler: Scheduler) -> bool:
    """Return whether all of the first pods find a node at once, and nothing else becomes of the deciding ones."""
    if any(info.is_terminating and info.key in deciding_keys for info in scheduler.cluster.pod_table):
        return False
    return all_fit(scheduler, first)


def _is_settled(facts: Run, first: Sequence[PodInfo], deciding_keys: Collection[str], bound: int) -> bool:
    """Return whether what became of some pods in a run of the first alone is what becomes of them in the whole run.

    All pods come at the same time, and the queue takes those of higher priority first, then those that came first. So
    the whole run begins as this one did, up to the last pod of the first, provided that it placed the deciding pods on
    its way: at their first attempt, before the clock moved. From there on they have a node, and only an eviction could
    take it away. Nobody evicts a pod of his own or a higher priority, and every pod above the lowest of the deciding
    ones was among the first. If all of those have their node as well, nobody is left who could.
    """

    def was_placed_at_once(key: str) -> bool:
        outcome = facts.pods[key]
        return outcome.state is PodState.BOUND and outcome.attempts == 1 and not outcome.settled

    if any(eviction.pod.key in deciding_keys or eviction.pod.priority >= bound for eviction in facts.evictions):
        return False
    return all(
        was_placed_at_once(info.key) for info in first if info.priority > bound or info.key in deciding_keys
    ) and all(outcome.pod.priority <= bound or was_placed_at_once(key) for key, outcome in facts.pods.items())
