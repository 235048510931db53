"""The same manifests placed under several configurations, side by side: how many pods move, break and mend.

Pods of one owner are interchangeable, so that they are compared by number (`difference`): those of the workloads, and
other pods of the cluster that were pending before or are preempted under some side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import msgspec

from schedctl.reports import exit_codes, run_comparisons
from schedctl.reports.metadata import Metadata, Side
from schedctl.reports.run_comparisons import PlacementDifference, PlacementEffect
from schedctl.reports.simulations import Fate, Preempted, SimulationReport, WorkloadResult
from schedctl.simulation.simulations import Simulation

_CONCLUSIVE = (0, 1)
"""Exit codes of reports that are a verdict."""


class SideRun(msgspec.Struct, frozen=True):
    """A run under one configuration.

    Attributes:
        side: the configuration.
        report: what it came to.
        old_pods: the keys of pods of the workloads that were there before.
    """

    side: Side
    report: SimulationReport
    old_pods: frozenset[str]

    @classmethod
    def of(cls, side: Side, report: SimulationReport, facts: Simulation) -> SideRun:
        """Return a run by its report and the facts behind it."""
        return cls(
            side, report, frozenset(info.key for rollout in facts.controller.rollouts for info in rollout.update.old)
        )


def compare(
    runs: Sequence[SideRun],
    *,
    metadata: Metadata,
    zones: Mapping[str, str],
    owner_of: Callable[[str], str],
    fail: bool = False,
) -> run_comparisons.SimulationComparison:
    """Return the comparison of runs of the same manifests on the same cluster.

    Args:
        runs: under each configuration; the others are compared with the first.
        metadata: under which conditions.
        zones: the zone of each node by name, "" for none.
        owner_of: the workload of a pod of the cluster by its key, "" for a pod without a controller.
        fail: whether a pod that breaks makes the exit code 1 (``--exit-code``).
    """
    reports = [run.report for run in runs]
    results = [_workload(runs, under_each, zones) for under_each in zip(*(r.results for r in reports), strict=True)]
    others = _others(runs)
    owners = _by_owner(others, owner_of, zones)
    workload_pods = [
        _total(run.side, [result.differences[n] for result in results]) for n, run in _numbered_others(runs)
    ]
    other_pods = [_total(run.side, [owner.differences[n] for owner in owners]) for n, run in _numbered_others(runs)]
    differing = [other for other in others if any(effect is not PlacementEffect.SAME for effect in other.effects)]
    names = {other.pod for other in differing}
    broken = any(difference.breaks for difference in (*workload_pods, *other_pods))
    return run_comparisons.SimulationComparison(
        metadata=metadata,
        summary=run_comparisons.ComparisonSummary(
            exit_code=_exit_code(reports, fail and broken),
            workloads=len(results),
            pods=reports[0].summary.pods,
            workload_pods=workload_pods,
            other_pods=other_pods,
        ),
        sides=[_side(run) for run in runs],
        results=results,
        others=differing,
        owners=[owner for owner in owners if names.intersection(owner.pods)],
        assumed_volumes=reports[0].assumed_volumes,
    )


def _numbered_others(runs: Sequence[SideRun]) -> Sequence[tuple[int, SideRun]]:
    return list(enumerate(runs[1:]))


def _exit_code(reports: Sequence[SimulationReport], broken: bool) -> int:
    """Return what the command ends with: what stands in the way of a verdict comes first, as in one report."""
    codes = {report.summary.exit_code for report in reports}
    inconclusive = any(report.guesses for report in reports)
    for code in sorted(codes.difference(_CONCLUSIVE), reverse=True):
        # that a pod breaks stands although others need what is not modelled; where answers are guesses, nothing does
        if code != exit_codes.INCONCLUSIVE or inconclusive or not broken:
            return code
    return int(broken)


def _side(run: SideRun) -> run_comparisons.SideResult:
    report = run.report
    return run_comparisons.SideResult(
        side=run.side,
        summary=report.summary,
        preemptions=report.preemptions,
        utilisation=report.utilisation,
        balance=report.balance,
        ending=report.ending,
    )


# -- workloads ---------------------------------------------------------------------


def _workload(
    runs: Sequence[SideRun], results: Sequence[WorkloadResult], zones: Mapping[str, str]
) -> run_comparisons.WorkloadComparison:
    outcomes = [_outcome(run.side, result) for run, result in zip(runs, results, strict=True)]
    first = results[0]
    return run_comparisons.WorkloadComparison(
        api_version=first.api_version,
        kind=first.kind,
        namespace=first.namespace,
        name=first.name,
        source=first.source,
        wanted=first.wanted,
        outcomes=outcomes,
        differences=[difference(each.side, outcomes[0].nodes, each.nodes, zones) for each in outcomes[1:]],
    )


def _outcome(side: Side, result: WorkloadResult) -> run_comparisons.WorkloadOutcome:
    messages = [*(group.message for group in result.pending), *(group.message for group in result.rejected)]
    return run_comparisons.WorkloadOutcome(
        side=side.name,
        placed=result.placed,
        zones=result.zones,
        nodes={node.name: node.pods for node in result.nodes},
        zone_skew=result.zone_skew,
        messages=list(dict.fromkeys(filter(None, messages))),
    )


def difference(
    side: str, before: Mapping[str, int], after: Mapping[str, int], zones: Mapping[str, str]
) -> PlacementDifference:
    """Return what becomes of interchangeable pods, by how many are on which node under one side and the other.

    Of each node as many stay as it has under both sides; of the pods that are placed under both and do not stay, all
    move. Zones are compared in the same way. What one side alone places breaks or mends.
    """
    old, new = Counter(before), Counter(after)
    placed, same = min(old.total(), new.total()), (old & new).total()
    within = (_by_zone(old, zones) & _by_zone(new, zones)).total()
    return PlacementDifference(
        side=side,
        same=same,
        moves=placed - same,
        between_zones=max(placed - within, 0),
        breaks=old.total() - placed,
        mends=new.total() - placed,
    )


def _by_zone(nodes: Mapping[str, int], zones: Mapping[str, str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for node, number in nodes.items():
        counts[zones.get(node, "")] += number
    return counts


def _total(side: Side, differences: Sequence[PlacementDifference]) -> PlacementDifference:
    return PlacementDifference(
        side=side.name,
        same=sum(each.same for each in differences),
        moves=sum(each.moves for each in differences),
        between_zones=sum(each.between_zones for each in differences),
        breaks=sum(each.breaks for each in differences),
        mends=sum(each.mends for each in differences),
    )


# -- other pods --------------------------------------------------------------------


def _others(runs: Sequence[SideRun]) -> list[run_comparisons.OtherComparison]:
    """Return the pods of the cluster that had a part in some run and are not of the workloads."""
    preempted = [_preemptions(run) for run in runs]
    pending = [{other.pod: other for other in run.report.others} for run in runs]
    waited = set[str]().union(*pending)
    ran = {key: eviction.node for evictions in preempted for key, eviction in evictions.items() if key not in waited}
    comparisons = []
    for key in dict.fromkeys([*chain(*pending), *chain(*preempted)]):
        whereabouts = []
        for run, waiting, evictions in zip(runs, pending, preempted, strict=True):
            name = run.side.name
            if key in evictions:
                whereabouts.append(_whereabouts_of_evicted(name, evictions[key]))
            elif key in waiting:
                other = waiting[key]
                node = other.node if other.fate is Fate.PLACED else ""
                whereabouts.append(
                    run_comparisons.Whereabouts(side=name, node=node, fate=other.fate, message=other.message)
                )
            elif key in ran:  # preempted under another side only, so that here it still runs
                whereabouts.append(run_comparisons.Whereabouts(side=name, node=ran[key]))
            else:
                whereabouts.append(run_comparisons.Whereabouts(side=name, fate=Fate.FOREIGN_SCHEDULER))
        effects = [_effect(whereabouts[0].node, each.node) for each in whereabouts[1:]]
        comparisons.append(run_comparisons.OtherComparison(pod=key, whereabouts=whereabouts, effects=effects))
    return comparisons


def _preemptions(run: SideRun) -> dict[str, Preempted]:
    """Return who had to make room and is not of the workloads, by key; of a pod and its successors the first."""
    workload_pods = set(run.old_pods)
    for result in run.report.results:
        workload_pods |= {
            f"{result.namespace}/{name}" for pod in result.pods for name in (pod.name, pod.evicted) if name
        }
    first_evictions: dict[str, Preempted] = {}
    successors: set[str] = set()
    for eviction in run.report.preemptions:
        if eviction.pod in workload_pods or eviction.successor in workload_pods or eviction.successor in successors:
            continue
        successors.update(filter(None, (eviction.successor,)))
        first_evictions.setdefault(eviction.pod, eviction)
    return first_evictions


def _whereabouts_of_evicted(side: str, eviction: Preempted) -> run_comparisons.Whereabouts:
    fate = eviction.fate or Fate.EVICTED
    node = eviction.successor_node if fate is Fate.PLACED else ""
    return run_comparisons.Whereabouts(
        side=side, node=node, fate=fate, preempted_by=eviction.by, message=eviction.message
    )


def _effect(before: str, after: str) -> PlacementEffect:
    if before == after:
        return PlacementEffect.SAME
    if before and after:
        return PlacementEffect.MOVES
    return PlacementEffect.BREAKS if before else PlacementEffect.MENDS


def _by_owner(
    others: Sequence[run_comparisons.OtherComparison], owner_of: Callable[[str], str], zones: Mapping[str, str]
) -> list[run_comparisons.OwnerComparison]:
    """Return what becomes of other pods by their owners; one that is on no node under either side counts nowhere."""
    owned: dict[str, list[run_comparisons.OtherComparison]] = {}
    for other in others:
        owned.setdefault(owner_of(other.pod) or f"Pod {other.pod}", []).append(other)
    return [_owner(name, pods, zones) for name, pods in owned.items()]


def _owner(
    name: str, pods: Sequence[run_comparisons.OtherComparison], zones: Mapping[str, str]
) -> run_comparisons.OwnerComparison:
    outcomes = []
    for found in zip(*(pod.whereabouts for pod in pods), strict=True):
        nodes = Counter(each.node for each in found if each.node)
        preempted = sum(bool(each.preempted_by) for each in found)
        outcomes.append(
            run_comparisons.OwnerOutcome(
                side=found[0].side, placed=nodes.total(), preempted=preempted, nodes=dict(sorted(nodes.items()))
            )
        )
    return run_comparisons.OwnerComparison(
        owner=name,
        pods=[pod.pod for pod in pods],
        outcomes=outcomes,
        differences=[difference(each.side, outcomes[0].nodes, each.nodes, zones) for each in outcomes[1:]],
    )
