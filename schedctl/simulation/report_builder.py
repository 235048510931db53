"""From the facts of a simulated release to its report: counts, groups, and who is where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.pod_groups import PodGroup
from schedctl.api.pods import Pod
from schedctl.api.resources import CPU, MEMORY
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import Problem
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports import exit_codes, simulations
from schedctl.reports.explanations import OwnerPods
from schedctl.reports.metadata import Metadata, ReportedAssumption
from schedctl.reports.reasons import Hint
from schedctl.reports.simulations import EndReason, Fate
from schedctl.scheduler.assumed_volumes import assumed_volumes
from schedctl.simulation import group_results, utilisation
from schedctl.simulation.outcomes import Eviction, PodOutcome, PodState, RunEnd
from schedctl.simulation.rollout_controller import RolloutController, RolloutProgress
from schedctl.simulation.simulations import Simulation
from schedctl.simulation.utilisation import Measure
from schedctl.sources.unmodelled import POD_GROUP, WORKLOAD, Unmodelled
from schedctl.workloads.admission import Effect

_FATES = {
    PodState.BOUND: Fate.PLACED,
    PodState.WAITING: Fate.WAITING,
    PodState.UNSCHEDULABLE: Fate.UNSCHEDULABLE,
    PodState.GATED: Fate.GATED,
    PodState.QUEUED: Fate.QUEUED,
    PodState.TERMINATING: Fate.EVICTED,
    PodState.GONE: Fate.EVICTED,
    PodState.UNANSWERED: Fate.INCONCLUSIVE,
    PodState.ORPHANED: Fate.ORPHANED,
}

_WITHOUT_NODE_NAME = Hint("drop-node-name", "remove spec.nodeName to have the pod scheduled")


def report(
    facts: Simulation,
    cluster: Cluster,
    *,
    metadata: Metadata,
    problems: Sequence[Problem] = (),
    unmodelled: Sequence[Unmodelled] = (),
    fail: bool = False,
    guesses: Sequence[ReportedAssumption] = (),
) -> simulations.SimulationReport:
    """Return the report of a simulated release.

    Args:
        facts: what happened.
        cluster: the cluster as the run left it.
        metadata: under which conditions.
        problems: why objects of the manifests did not take part.
        unmodelled: the resources of which pods may be made that are not known.
        fail: whether pods that are not placed make the exit code 1 (``--exit-code``).
        guesses: what the run rests on that is not known.
    """
    results = workloads(facts, cluster)
    preemptions = [_preemption(facts, eviction) for eviction in facts.run.evictions if eviction.by]
    mistakes = [*problems, *facts.expansion.refused]
    objects = [
        rejected.message for rejected in facts.controller.admission.rejected if not isinstance(rejected.object, Pod)
    ]
    summary = _summary(results, len(preemptions), len(mistakes))
    unmodelled, unread = _without_unread(unmodelled, cluster)
    groups = [each.problem for each in unmodelled if each.problem.message in (POD_GROUP, WORKLOAD)]
    guesses = [
        *guesses,
        *(
            ReportedAssumption("", _kind_of(group), True, f"{group.subject}: {group.message}: the answer is a guess")
            for group in groups
        ),
    ]
    created = {key for rollout in facts.controller.rollouts for key in rollout.update.created}
    pod_groups, others_groups = group_results.of_run(facts.run, cluster, facts.expansion.joined, created)
    waiting = [each for each in pod_groups if not each.starts]
    summary = msgspec.structs.replace(
        summary,
        exit_code=_exit_code(summary, facts.run.end, bool(objects or waiting), fail, bool(guesses)),
        rejected=summary.rejected + len(objects),
        not_returned=sum(each.fate not in (None, Fate.PLACED) for each in preemptions),
        groups=len(pod_groups),
        groups_waiting=len(waiting),
    )
    ending = facts.run.end or RunEnd.INTERRUPTED
    return simulations.SimulationReport(
        metadata=metadata,
        summary=summary,
        results=results,
        preemptions=preemptions,
        others=_others(facts, results),
        utilisation=_utilisation(facts),
        balance=[_balance(facts, resource) for resource in (CPU, MEMORY)],
        ending=simulations.Ending(
            reason=EndReason[ending.name],
            text=facts.run.end_in_words,
            period=facts.run.period,
            clock=facts.run.clock,
            attempts=facts.run.attempts,
        ),
        rejected=objects,
        mistakes=[_mistake(problem) for problem in mistakes],
        passed=dict(sorted((facts.expansion.passed + unread).items())),
        unmodelled=[_unmodelled_resource(each.problem) for each in unmodelled if each.problem not in groups],
        guesses=list(guesses),
        groups=[*pod_groups, *others_groups],
        assumed_volumes=assumed_volumes((outcome.pod.pod for outcome in facts.run.pods.values()), cluster),
    )


def workloads(facts: Simulation, cluster: Cluster) -> list[simulations.WorkloadResult]:
    """Return what became of each workload, in the order given; the cluster is as the run left it."""
    zones = utilisation.zones(cluster)
    domains = {zone for zone in zones.values() if zone}
    effects = _by_object(facts.controller)
    return [_result(rollout, facts, cluster, zones, domains, effects) for rollout in facts.controller.rollouts]


def _without_unread(unmodelled: Sequence[Unmodelled], cluster: Cluster) -> tuple[Sequence[Unmodelled], Counter[str]]:
    """Return the resources without the Workloads that change nothing, and the number of those.

    Pod groups are off, or their PodGroups are there already.
    """
    if cluster.release.enabled(GENERIC_WORKLOAD):
        refs = ((group.metadata.namespace, group.spec.workload_ref) for group in cluster.every(PodGroup).values())
        made = {f"Workload {namespace}/{ref.workload_name}" for namespace, ref in refs if ref is not None}
        kept = [each for each in unmodelled if each.problem.subject not in made]
    else:
        kept = [each for each in unmodelled if each.problem.message != WORKLOAD]
    left_out = len(unmodelled) - len(kept)
    return kept, Counter({"scheduling.k8s.io/v1beta1 Workload": left_out} if left_out else {})


def _kind_of(group: Problem) -> str:
    return group.subject.partition(" ")[0]


def _unmodelled_resource(problem: Problem) -> simulations.UnmodelledResource:
    return simulations.UnmodelledResource(problem.subject, f"{problem.source}:{problem.line}", problem.message)


def mark_interrupted(report: simulations.SimulationReport) -> simulations.SimulationReport:
    """Return a report that somebody did not wait for to be completed."""
    return msgspec.structs.replace(
        report, summary=msgspec.structs.replace(report.summary, exit_code=exit_codes.INTERRUPTED)
    )


def pending_pod(facts: Simulation, namespace: str, name: str) -> PodInfo | None:
    """Return a pod of the report as the run left it, None if it was in no queue."""
    outcome = facts.run.pods.get(f"{namespace}/{name}")
    return outcome.pod if outcome is not None else None


def examples(facts: Simulation) -> list[tuple[PodInfo | None, int]]:
    """Return for each result a pod of the workload, a new one first, and how many like it the workload is to have."""
    return [_example(rollout, facts) for rollout in facts.controller.rollouts]


def _example(rollout: RolloutProgress, facts: Simulation) -> tuple[PodInfo | None, int]:
    update = rollout.update
    outcomes = (facts.run.pods.get(facts.controller.latest(key)) for key in update.created)
    created = (outcome.pod for outcome in outcomes if outcome is not None)
    replicas = len(update.created) + len(update.unsent) + len(_kept_pods(rollout))
    return next(created, next(iter(update.old), None)), 1 if _per_node(update.workload.object) else replicas


def _summary(
    results: Sequence[simulations.WorkloadResult], preempted: int, mistakes: int
) -> simulations.SimulationSummary:
    fates = Counter(pod.fate for result in results for pod in result.pods)
    pods, placed = sum(result.wanted for result in results), sum(result.placed for result in results)
    counted_apart = (Fate.REJECTED, Fate.NOT_CREATED, Fate.INCONCLUSIVE, Fate.FOREIGN_SCHEDULER, Fate.ORPHANED)
    return simulations.SimulationSummary(
        exit_code=0,
        workloads=len(results),
        pods=pods,
        placed=placed,
        pending=pods - placed - sum(fates[fate] for fate in counted_apart),
        rejected=fates[Fate.REJECTED],
        not_created=fates[Fate.NOT_CREATED],
        inconclusive=fates[Fate.INCONCLUSIVE],
        foreign_scheduler=fates[Fate.FOREIGN_SCHEDULER],
        orphaned=fates[Fate.ORPHANED],
        preempted=preempted,
        mistakes=mistakes,
    )


def _exit_code(
    summary: simulations.SimulationSummary, end: RunEnd | None, rejected: bool, fail: bool, guessed: bool
) -> int:
    if end in (None, RunEnd.INTERRUPTED):
        return exit_codes.INTERRUPTED
    if summary.mistakes:
        return exit_codes.BAD_INPUT
    if guessed:
        return exit_codes.INCONCLUSIVE
    unclear = summary.inconclusive
    unplaced = rejected or summary.placed + unclear < summary.pods
    return exit_codes.of_answer(failed=fail and unplaced, inconclusive=unclear > 0)


# -- workloads --------------------------------------------------------------------


def _result(
    rollout: RolloutProgress,
    facts: Simulation,
    cluster: Cluster,
    zones: Mapping[str, str],
    domains: Set[str],
    effects: Mapping[str, Sequence[Effect]],
) -> simulations.WorkloadResult:
    update, controller = rollout.update, facts.controller
    workload = update.workload
    created = [(key, _workload_pod(facts, key)) for key in update.created]
    unsent = [replica.pod.metadata.name for replica in update.unsent.values()]
    kept = _kept_pods(rollout)
    places = [fate.node for _, fate in created if fate.fate is Fate.PLACED]
    places += [node for info in kept if (node := _node_of(controller.latest(info.key), cluster))]
    by_zone = Counter(zones.get(node, "") for node in places)
    return simulations.WorkloadResult(
        api_version=workload.api_version,
        kind=workload.kind,
        namespace=workload.namespace,
        name=workload.name,
        source=workload.source,
        origin=workload.origin,
        changes=[
            simulations.ReportedChange(
                what=change.what, text=change.text, path=change.path, before=change.before, after=change.after
            )
            for change in update.changes
        ],
        effects=_effects(update.created, workload.claims, effects),
        notes=[*workload.notes, *_named_nodes(facts, created)],
        wanted=len(created) + len(unsent) + len(kept),
        placed=len(places),
        kept=len(kept),
        removed=len(rollout.removed),
        left=len(update.leaving),
        zones=dict(sorted(by_zone.items())) if any(by_zone) else {},
        nodes=[
            simulations.NodePods(name=node, zone=zones.get(node, ""), pods=number)
            for node, number in sorted(Counter(places).items(), key=lambda item: (zones.get(item[0], ""), item[0]))
        ],
        zone_skew=utilisation.skew(by_zone, domains) if len(domains) > 1 and not _per_node(workload.object) else None,
        pending=_pending_groups(facts, created, "" if workload.kind == "Pod" else workload.subject),
        rejected=_rejected_groups(facts, created),
        not_created=unsent,
        pods=[
            *(fate for _, fate in created),
            *(simulations.WorkloadPod(name=name, fate=Fate.NOT_CREATED) for name in unsent),
        ],
    )


def _kept_pods(rollout: RolloutProgress) -> list[PodInfo]:
    """Return the old pods that stay."""
    going = {id(info) for info in (*rollout.removed, *rollout.update.leaving.values())}
    return [info for info in rollout.update.old if id(info) not in going]


def _named_nodes(facts: Simulation, created: Iterable[tuple[str, simulations.WorkloadPod]]) -> Iterator[str]:
    """Yield the nodes that are named in the spec of pods, which therefore nobody schedules."""
    outcomes = (facts.run.pods.get(facts.controller.latest(key)) for key, fate in created if fate.fate is Fate.PLACED)
    names = {outcome.pod.pod.spec.node_name for outcome in outcomes if outcome is not None}
    if nodes := ", ".join(sorted(names - {""})):
        yield f"spec.nodeName names {nodes}: no scheduler is asked, and the kubelet rejects pods that do not fit"


def _per_node(obj: Any) -> bool:
    return isinstance(obj, DaemonSet) or (
        isinstance(obj, CustomWorkload) and any(group.per_node for group in obj.replicas)
    )


def _node_of(key: str, cluster: Cluster) -> str:
    row = cluster.pod_table.row_of.get(key)
    return "" if row is None else cluster.node_table.names[int(cluster.pod_table.node[row])]


def _workload_pod(facts: Simulation, key: str) -> simulations.WorkloadPod:
    """Return what became of a replica that was created as the pod of this key."""
    now = facts.controller.latest(key)
    name = now.partition("/")[2]
    evicted = key.partition("/")[2] if key in facts.controller.successors else ""
    fate, outcome = _fate(facts, now)
    if outcome is None:
        return simulations.WorkloadPod(name=name, fate=fate, evicted=evicted)
    return simulations.WorkloadPod(
        name=name,
        fate=fate,
        node=_node_of_outcome(outcome),
        attempts=outcome.attempts,
        ties=outcome.ties,
        settled=outcome.settled,
        evicted=evicted,
    )


def _fate(facts: Simulation, key: str) -> tuple[Fate, PodOutcome | None]:
    """Return what became of the pod of this key, and its outcome where it came into the queue."""
    # a pod that was rejected because its name is taken has the outcome of the other one
    if key in facts.controller.rejected:
        return Fate.REJECTED, None
    if key in facts.controller.foreign:
        return Fate.FOREIGN_SCHEDULER, None
    outcome = facts.run.pods.get(key)
    return (Fate.QUEUED, None) if outcome is None else (fate_of(outcome), outcome)


def _node_of_outcome(outcome: PodOutcome) -> str:
    """Return the node that a pod is on or that is promised to it, "" for none."""
    return outcome.node if outcome.state in (PodState.BOUND, PodState.WAITING) else outcome.nominated


def fate_of(outcome: PodOutcome) -> Fate:
    """Return what became of a pod that took part in a run."""
    fate = _FATES[outcome.state]
    if fate in (Fate.UNSCHEDULABLE, Fate.QUEUED):
        if outcome.fault:
            return Fate.FAILED
        if outcome.nominated:
            return Fate.NOMINATED
    return fate


def _pending_groups(
    facts: Simulation, created: Iterable[tuple[str, simulations.WorkloadPod]], owner: str
) -> list[simulations.PendingPods]:
    groups: dict[tuple[Fate, str, tuple[str, ...], str], list[str]] = {}
    for key, pod in created:
        if pod.fate in (Fate.PLACED, Fate.REJECTED):
            continue
        outcome = facts.run.pods.get(facts.controller.latest(key))
        message, plugins = (outcome.message, outcome.plugins) if outcome is not None else ("", ())
        if pod.fate is Fate.FOREIGN_SCHEDULER:
            scheduler_name = facts.controller.foreign[facts.controller.latest(key)].pod.spec.scheduler_name
            message = f'schedulerName "{scheduler_name}" belongs to another scheduler'
        groups.setdefault((pod.fate, message, plugins, pod.node), []).append(pod.name)
    return [
        simulations.PendingPods(
            fate=fate,
            message=message,
            plugins=list(plugins),
            pods=names,
            node=node,
            hints=[_WITHOUT_NODE_NAME] if fate is Fate.ORPHANED else [],
            owners=[OwnerPods(owner, len(names))] if owner else [],
        )
        for (fate, message, plugins, node), names in groups.items()
    ]


def _rejected_groups(
    facts: Simulation, created: Iterable[tuple[str, simulations.WorkloadPod]]
) -> list[simulations.RejectedPods]:
    """Return the refused pods, those together whose refusals differ in the name of the pod and no more."""
    groups: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for key, pod in created:
        if pod.fate is Fate.REJECTED:
            rejected = facts.controller.rejected[facts.controller.latest(key)]
            without_name = rejected.message.replace(f'"{pod.name}"', "")
            groups.setdefault((rejected.plugin, without_name), (rejected.message, []))[1].append(pod.name)
    return [
        simulations.RejectedPods(plugin=plugin, message=message, pods=names)
        for (plugin, _), (message, names) in groups.items()
    ]


def _by_object(controller: RolloutController) -> dict[str, list[Effect]]:
    """Return what admission changed in each object, by its subject."""
    effects: dict[str, list[Effect]] = {}
    for effect, subjects in controller.admission.effects.items():
        for subject in subjects:
            effects.setdefault(subject, []).append(effect)
    return effects


def _effects(
    pods: Iterable[str], claims: Iterable[Any], effects: Mapping[str, Sequence[Effect]]
) -> list[simulations.AdmissionEffect]:
    subjects = [f"Pod {key}" for key in pods]
    subjects += [f"PersistentVolumeClaim {claim.metadata.namespace}/{claim.metadata.name}" for claim in claims]
    counts: Counter[Effect] = Counter()
    for subject in subjects:
        counts.update(effects.get(subject, ()))
    return [
        simulations.AdmissionEffect(plugin=effect.plugin, text=effect.text, objects=number)
        for effect, number in counts.items()
    ]


# -- other pods -------------------------------------------------------------------


def _preemption(facts: Simulation, eviction: Eviction) -> simulations.Preempted:
    key = eviction.pod.key
    successor = facts.controller.latest_successor(key)
    fate, outcome = _fate(facts, successor) if successor else (None, None)
    message = outcome.message if outcome is not None else ""
    if fate is Fate.REJECTED:
        message = facts.controller.rejected[successor].message
    return simulations.Preempted(
        pod=key,
        priority=eviction.pod.priority,
        node=eviction.node,
        by=eviction.by,
        at=eviction.at,
        successor=successor,
        fate=fate,
        successor_node=_node_of_outcome(outcome) if outcome is not None else "",
        message=message,
    )


def _others(facts: Simulation, results: Sequence[simulations.WorkloadResult]) -> list[simulations.OtherPod]:
    """Return the pods that were in the queue and are neither of the workloads nor in the place of evicted ones."""
    ours = {f"{result.namespace}/{pod.name}" for result in results for pod in result.pods}
    ours |= {info.key for rollout in facts.controller.rollouts for info in rollout.removed}
    ours |= {*facts.controller.successors, *facts.controller.successors.values()}
    return [
        simulations.OtherPod(
            pod=key,
            fate=fate_of(outcome),
            node=outcome.node if outcome.state is PodState.BOUND else outcome.nominated,
            message=outcome.message,
        )
        for key, outcome in facts.run.pods.items()
        if key not in ours
    ]


# -- nodes ------------------------------------------------------------------------


def _utilisation(facts: Simulation) -> simulations.Utilisation:
    before, after = facts.before, facts.after
    names = sorted({*before.groups.values(), *after.groups.values()})
    resources = list(dict.fromkeys((*before.allocatable, *after.allocatable)))
    offered_before, offered = _by_group(before, before.allocatable), _by_group(after, after.allocatable)
    used_before, used = _by_group(before, before.requested), _by_group(after, after.requested)
    nodes = Counter(after.groups.values())
    groups = []
    for name in names:
        uses = [
            simulations.Use(
                resource=resource,
                allocatable_before=offered_before[resource, name],
                allocatable=offered[resource, name],
                before=used_before[resource, name],
                after=used[resource, name],
            )
            for resource in resources
            if offered_before[resource, name] or offered[resource, name]
        ]
        groups.append(simulations.GroupUse(name=name, nodes=nodes[name], uses=uses))
    return simulations.Utilisation(label=before.label, groups=groups)


def _by_group(taken: Measure, amounts: Mapping[str, Mapping[str, int]]) -> Counter[tuple[str, str]]:
    """Return the sums of amounts, by resource and node, over the nodes of each group, by resource and group."""
    sums = Counter[tuple[str, str]]()
    for resource, by_node in amounts.items():
        for node, amount in by_node.items():
            sums[resource, taken.groups[node]] += amount
    return sums


def _balance(facts: Simulation, resource: str) -> simulations.Balance:
    return simulations.Balance(
        resource=resource,
        before=utilisation.evenness(facts.before, resource),
        after=utilisation.evenness(facts.after, resource),
    )


def _mistake(problem: Problem) -> simulations.Mistake:
    return simulations.Mistake(
        subject=problem.subject,
        source=problem.source,
        line=problem.line,
        column=problem.column,
        path=problem.path,
        message=problem.message,
        hint=problem.hint,
    )
