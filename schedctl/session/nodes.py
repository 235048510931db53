"""How many nodes of which group would place the pending pods, or a release; and which nodes can go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api import topology
from schedctl.api.node_labels import instance_type_of, is_spot
from schedctl.autoscaling.detection import NodeGroups
from schedctl.autoscaling.judgements import GroupJudgement, judge_groups
from schedctl.autoscaling.templates import node_of
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import nearest
from schedctl.errors import UsageError
from schedctl.reports import counts
from schedctl.reports.nodes import KarpenterAnswer, NodesReport, ScaleUpObstacle
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import AssumptionLog, log_assumptions
from schedctl.session import karpenter, node_maps
from schedctl.session.node_inventories import Inventory, inventory
from schedctl.session.sessions import Session
from schedctl.simulation import created_objects, node_report_builder, utilisation
from schedctl.simulation.node_maps import node_map
from schedctl.simulation.node_report_builder import Conditions
from schedctl.simulation.scale_downs.removals import apply_removals
from schedctl.simulation.scale_downs.removals import shrink as run_shrink
from schedctl.simulation.scale_downs.rules import RemovalRules
from schedctl.simulation.scale_ups.bounds import solver_installed
from schedctl.simulation.scale_ups.expanders import EXPANDERS, Expander
from schedctl.simulation.scale_ups.options import OBJECTIVES, Objective, limit_reached, options_of, with_more
from schedctl.simulation.scale_ups.planning import ScaleUp, apply_plan, use_of_nodes
from schedctl.simulation.scale_ups.planning import plan as run_plan
from schedctl.sources import Manifests

BEST = "best"
"""Stands for no expander in particular."""
_EXPLAINED = 20
"""Of how many pods that stay pending it is asked why no group helps."""


class NodesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How nodes are added or given back.

    Attributes:
        node_groups: the file that describes groups, "" for those that are detected.
        instance_types: the file of instance types and prices, "" for none.
        minimize: what is to be little.
        expander: whose choice is shown, None for the best plan that is found.
        effort: how many plans, or removals, are tried; 0 for what suits.
        rules: what may be done to remove nodes.
        fail: whether pods that stay pending, or that no node can go, makes the exit code 1.
        node_map: whether the report has the nodes that pictures show.
        as_karpenter: whether it is said as well what Karpenter would do.
    """

    node_groups: str = ""
    instance_types: str = ""
    minimize: Objective = "count"
    expander: Expander | None = None
    effort: int = 0
    rules: RemovalRules = msgspec.field(default_factory=RemovalRules)
    fail: bool = False
    node_map: bool = False
    as_karpenter: bool = False


def objective(name: str) -> Objective:
    """Return what ``--minimize`` stands for.

    Raises:
        UsageError: there is no such objective.
    """
    for known in OBJECTIVES:
        if known == name:
            return known
    raise UsageError(f'unknown --minimize "{name}"', f"--minimize takes {', '.join(OBJECTIVES)}")


def expander(name: str, minimize: Objective) -> Expander | None:
    """Return what ``--expander`` stands for, None for the best plan.

    Raises:
        UsageError: there is no such expander, or it goes by prices and the objective does not.
    """
    if name == "price" and minimize != "cost":
        raise UsageError(f"--expander price chooses by price, and --minimize {minimize} knows none", "--minimize cost")
    for known in EXPANDERS:
        if known == name:
            return known
    if name in ("", BEST):
        return None
    close = nearest(name, EXPANDERS)
    others = f"the expanders are {', '.join(EXPANDERS)}"
    raise UsageError(f'unknown expander "{name}"', f"did you mean {close}?" if close else others)


def plan(
    session: Session,
    manifests: Manifests | None,
    options: NodesOptions,
    *,
    namespace: str = "",
    settings: Mapping[str, str] | None = None,
) -> NodesReport:
    """Return how many nodes would have to be added so that pods are placed.

    Args:
        session: with its state loaded; its what-ifs are made here.
        manifests: what is to be created, None for the pending pods of the state alone.
        options: how.
        namespace: of pods and workloads that what-ifs name without one.
        settings: the digests of schedctl's own configuration files, by name.

    Raises:
        InputError: a file cannot be read or understood.
        UsageError: a what-if cannot be carried out, or the cheapest nodes are asked for without a price.
    """
    notifier, notes = session.notifier, list[str]()
    with log_assumptions(session.cluster) as assumptions:
        session.change(namespace)
        known = inventory(session, options.node_groups, options.instance_types)
        scheduler = session.scheduler()
        settled = session.settle(scheduler)
        sorts, unpriced = options_of(known.groups.groups, options.minimize)
        with scheduler.fork():
            if manifests is not None:
                notes += _create(session, scheduler, manifests)
            pods, left_out = _waiting(scheduler)
            with notifier.progress("planning") as progress:
                facts = run_plan(
                    scheduler,
                    pods,
                    sorts,
                    objective=options.minimize,
                    expander=options.expander,
                    effort=options.effort,
                    on_trial=lambda made, most: progress.advance(made, most, f"{counts.of(made, 'plan')} tried"),
                )
            notes += (*unpriced, *left_out, *_plan_notes(facts))
            conditions = replace(_conditions(session, known, options, settled, assumptions), notes=notes)
            report = _plan_report(scheduler, facts, conditions, options, known.groups)
            if options.as_karpenter:
                answer = karpenter.launches(scheduler, known, facts, _prices(session.cluster, known.groups))
                report = _with_karpenter(report, answer, karpenter.LAUNCH_NOTES)
    if manifests is None:
        return report
    inputs = session.inputs_with(manifests.digests, settings or {})
    return msgspec.structs.replace(report, metadata=msgspec.structs.replace(report.metadata, inputs=inputs))


def shrink(session: Session, options: NodesOptions) -> NodesReport:
    """Return which nodes can go, with every pod placed again.

    Args:
        session: with its state loaded; its what-ifs are made here.
        options: how.

    Raises:
        InputError: a file cannot be read or understood.
        UsageError: a what-if cannot be carried out.
    """
    cluster = session.cluster
    with log_assumptions(cluster) as assumptions:
        session.change()
        known = inventory(session, options.node_groups, options.instance_types)
        scheduler = session.scheduler()
        settled = session.settle(scheduler)
        with session.notifier.progress("removing") as progress:
            facts = run_shrink(
                scheduler,
                known.groups,
                options.rules,
                price=_prices(cluster, known.groups).get,
                effort=options.effort,
                on_trial=lambda made, most: progress.advance(made, most, f"{counts.of(made, 'removal')} tried"),
            )
        conditions = _conditions(session, known, options, settled, assumptions)
        report = node_report_builder.shrink_report(facts, cluster, conditions)
        if options.as_karpenter:
            answer = karpenter.consolidation(scheduler, known, _prices(cluster, known.groups))
            report = _with_karpenter(report, answer, karpenter.CONSOLIDATION_NOTES)
        if not options.node_map:
            return report
        before = utilisation.measure(cluster)
        with apply_removals(cluster, facts):
            return node_maps.add(report, cluster, before)


def _plan_report(
    scheduler: Scheduler, facts: ScaleUp, conditions: Conditions, options: NodesOptions, groups: NodeGroups
) -> NodesReport:
    cluster = scheduler.cluster
    refusals = _refusals(scheduler, facts, groups)
    before = utilisation.measure(cluster) if options.node_map else None
    with apply_plan(scheduler, facts) as new:
        use = use_of_nodes(scheduler, new) if new else {}
        nodes = node_map(cluster, before) if options.node_map else None
    report = node_report_builder.plan_report(
        facts, cluster, conditions, use=use, refusals=refusals, expander=options.expander or ""
    )
    return msgspec.structs.replace(report, node_map=nodes)


def _with_karpenter(report: NodesReport, answer: KarpenterAnswer, notes: Sequence[str]) -> NodesReport:
    return msgspec.structs.replace(report, karpenter=answer, notes=[*report.notes, *notes])


def _conditions(
    session: Session, known: Inventory, options: NodesOptions, settled: Sequence[str], log: AssumptionLog
) -> Conditions:
    log.admission(session.state.assembled.unknown)
    return Conditions(session.metadata(settled), known.groups, fail=options.fail, guesses=log.describe())


def _create(session: Session, scheduler: Scheduler, manifests: Manifests) -> list[str]:
    """Create the objects of manifests, and say what of them is refused or replaced."""
    created = created_objects.create(
        scheduler, manifests.objects, passed=manifests.ignored, name=session.choice.profile
    )
    session.notifier.report(created.expansion.refused, "error")
    rejected = created.controller.rejected
    notes = []
    if rejected:
        first = next(iter(rejected.values()))
        notes.append(f"the API server would refuse {counts.of(len(rejected), 'pod')}: {first.message}")
    replaced = sum(len(rollout.removed) for rollout in created.controller.rollouts)
    if replaced:
        notes.append(f"{counts.of(replaced, 'running pod')} would be replaced by the manifests and take no room")
    return notes


def _waiting(scheduler: Scheduler) -> tuple[list[PodInfo], list[str]]:
    """Return the pending pods that new nodes could help, and what is said of the others."""
    pods: list[PodInfo] = []
    gated = foreign = 0
    for info in scheduler.cluster.pending.values():
        if info.is_terminating:
            continue
        if scheduler.profile_of(info) is None:
            foreign += 1
        elif info.pod.spec.scheduling_gates:
            gated += 1
        else:
            pods.append(info)
    notes = []
    if gated:
        notes.append(f"{counts.of(gated, 'pod')} with scheduling gates not considered")
    if foreign:
        notes.append(f"{counts.of(foreign, 'pod')} of another scheduler not considered")
    return pods, notes


def _plan_notes(facts: ScaleUp) -> list[str]:
    notes = []
    if facts.gated:
        example = f"for example {facts.gated[0].key}, which `schedctl explain` explains"
        notes.append(f"no new node lets {counts.of(len(facts.gated), 'gated pod')} into the queue, {example}")
    if facts.gap and not solver_installed():
        notes.append("the bound is one of sums of resources; `pip install 'schedctl[solver]'` brings a closer one")
    return notes


def _refusals(scheduler: Scheduler, facts: ScaleUp, groups: NodeGroups) -> dict[str, list[GroupJudgement]]:
    """Return why new nodes do not help the pods that stay pending; of equal pods it is asked once."""
    found: dict[str, list[GroupJudgement]] = {}
    known: dict[object, list[GroupJudgement]] = {}
    gated = {info.key for info in facts.gated}
    for info in facts.unplaced:
        if info.key in gated:  # they are not for nodes to help
            continue
        key = scheduler.equivalence_key(info) or info.key
        if key not in known:
            if len(known) >= _EXPLAINED:
                continue
            known[key] = judge_groups(scheduler, info, groups.groups)
        gang = facts.gang_of.get(info.key, "")
        found[info.key] = [_judge_beside_plan(each, facts, gang) for each in known[key]]
    return found


def _judge_beside_plan(judgement: GroupJudgement, facts: ScaleUp, gang: str) -> GroupJudgement:
    """Return why one more node of a group that would take a pod is none that could be added, or is not enough.

    Args:
        judgement: on the pod by itself and a new node.
        facts: the plan, whose nodes count for the limits of the group.
        gang: the pod group of the pod that has to start as a whole, "" for none.
    """
    if not judgement.helps:
        return judgement
    if gang:
        text = f"as many new nodes as it may have do not let PodGroup {gang} start with all of its pods"
        return replace(judgement, obstacle=ScaleUpObstacle.OTHER_PODS, text=text)
    group = judgement.group
    options = list(enumerate(facts.options))
    added = sum(facts.counts[number] for number, option in options if option.group.name == group.name)
    fitting = [number for number, option in options if any(option.template is each for each in judgement.templates)]
    limits = [limit_reached(facts.options, with_more(facts.counts, number), group) for number in fitting]
    if not added or not limits or not all(limits):
        return judgement
    text = f"limit reached with the {counts.nodes(added)} to add: {limits[0]}"
    return replace(judgement, obstacle=ScaleUpObstacle.LIMIT, text=text)


def _prices(cluster: Cluster, groups: NodeGroups) -> dict[str, float | None]:
    """Return what nodes cost: what a new node of their group, zone and type would."""
    prices: dict[str, float | None] = {}
    for group in groups.groups:
        written = {(each.zone, each.instance_type, each.spot): each.price for each in group.templates}
        for name in group.nodes:
            labels = node_of(cluster, name).metadata.labels
            prices[name] = written.get((topology.zone_of(labels), instance_type_of(labels), is_spot(labels)))
    return prices
