"""How many more pods fit, where, and what stops the next."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.autoscaling import instance_types
from schedctl.autoscaling.groups import NodeTemplate
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import UsageError
from schedctl.explain import facts, remarks
from schedctl.explain.pending_pods import without_nodes
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports import counts
from schedctl.reports.capacities import CapacityReport, CapacityResult
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import log_assumptions
from schedctl.session import capacity_models, capacity_on_types, node_maps
from schedctl.session.capacity_models import Model
from schedctl.session.notifiers import Progress
from schedctl.session.sessions import Session
from schedctl.simulation import capacities, capacity_report_builder, group_capacities
from schedctl.simulation.capacities import CapacityFacts


def capacity(
    session: Session,
    like: Sequence[str],
    *,
    namespace: str,
    by: str = "",
    most: int,
    fail: bool = False,
    on: Sequence[str] = (),
    types: str = "",
    node_map: bool = False,
) -> CapacityReport:
    """Return how many more pods like some fit, counted for each alone.

    Args:
        session: with its state loaded; its what-ifs are made here.
        like: pods, workloads and files.
        namespace: of names without one.
        by: the label to count by, "" for zone and pool.
        most: how many are tried.
        fail: whether it makes the exit code 1 that not one more fits.
        on: instance types, of each of which one new node alone is filled; none for the cluster as it is.
        types: the file of instance types, "" for none.
        node_map: whether the report has the nodes that pictures show.

    Raises:
        InputError: a file cannot be understood.
        UsageError: a what-if cannot be carried out, or there is nothing of a name.
    """
    cluster, choice = session.cluster, session.choice
    with log_assumptions(cluster) as assumptions:
        session.change(namespace)
        models = [model for text in like for model in capacity_models.find(text, session.state, namespace)]
        scheduler = session.scheduler()
        settled = session.settle(scheduler)
        labels = capacity_report_builder.labels_of(cluster, by)
        results, interrupted = [], False
        with session.notifier.progress("placing") as progress:
            for model, template in _questions(session, models, on, types):
                with scheduler.fork():
                    gang = capacity_models.gang_of(model, scheduler) if template is None else None
                    if gang is not None:
                        results.append(_count_groups(scheduler, model, *gang, labels, most, progress))
                        continue
                with scheduler.fork(), _on(scheduler, template) as notes:
                    filled = _fill(scheduler, model, choice.profile, most, progress)
                    results.append(
                        capacity_report_builder.result(
                            filled,
                            cluster,
                            subject=f"{model.subject} on {template.instance_type}" if template else model.subject,
                            by=labels if template is None else (),
                            notes=[*model.notes, *filled.claim_notes, *notes],
                            # how many there are to be is the question, so that no number of them is too many
                            warnings=remarks.warnings(scheduler, filled.pod, replicas=1),
                        )
                    )
                interrupted = filled.interrupted
                if interrupted:
                    break
    assumptions.admission(session.state.assembled.unknown)
    metadata = session.metadata(settled)
    report = capacity_report_builder.report(
        results, metadata=metadata, fail=fail, interrupted=interrupted, guesses=assumptions.describe()
    )
    return node_maps.add(report, cluster) if node_map else report


def _count_groups(
    scheduler: Scheduler,
    model: Model,
    group: PodGroup,
    members: Sequence[PodInfo],
    labels: Sequence[str],
    most: int,
    progress: Progress,
) -> CapacityResult:
    """Return how many more groups like one would start.

    Raises:
        UsageError: groups are off, or it has too few pods to start.
    """
    cluster = scheduler.cluster
    if not cluster.release.enabled(GENERIC_WORKLOAD):
        raise UsageError(
            f"{model.subject} cannot be counted: {GENERIC_WORKLOAD} is off",
            f"`--feature-gates {GENERIC_WORKLOAD}=true`",
        )
    if 0 < len(members) < group.min_count:
        raise UsageError(
            f"{model.subject} cannot be counted: PodGroup {group.key} needs {counts.of(group.min_count, 'pod')} to"
            f" start, and {len(members)} of them are there",
            "all of its pods have to be in the state: add them with -f",
        )
    if not members:
        raise UsageError(
            f"{model.subject} has no pods to count by", "its pods have to be in the state: add them with -f"
        )
    filled, groups = group_capacities.fill(
        scheduler,
        group,
        members,
        most=most,
        read_reasons=lambda outcome: without_nodes(facts.reasons(outcome)),
        on_placed=lambda placed: progress.advance(placed, most, f"{placed} groups placed"),
    )
    result = capacity_report_builder.result(filled, cluster, subject=model.subject, by=labels, notes=model.notes)
    notes = result.notes
    if not isinstance(model.object, PodGroup):
        notes = [*notes, f"its pods are scheduled as PodGroup {group.key}: whole groups are counted"]
    return msgspec.structs.replace(result, fits=groups, group_size=len(members), notes=notes)


def _questions(
    session: Session, models: Sequence[Model], on: Sequence[str], types: str
) -> list[tuple[Model, NodeTemplate | None]]:
    """Return the models, each on the cluster as it is, or on a node of each type.

    Raises:
        UsageError: a group is to be counted on one node.
    """
    if not on:
        return [(model, None) for model in models]
    if group := next((model.subject for model in models if isinstance(model.object, PodGroup)), ""):
        raise UsageError(f"{group} cannot be counted on one node", "leave out --on, or name one of its pods")
    catalogue = instance_types.load(types) if types else instance_types.NO_TYPES
    templates = capacity_on_types.templates(on, catalogue, session.cluster)
    return [(model, template) for model in models for template in templates]


def _on(scheduler: Scheduler, template: NodeTemplate | None) -> AbstractContextManager[list[str]]:
    return nullcontext([]) if template is None else capacity_on_types.fresh_cluster(scheduler, template)


def _fill(scheduler: Scheduler, model: Model, profile: str, most: int, progress: Progress) -> CapacityFacts:
    """Place copies of a model until one finds no node."""
    return capacities.fill(
        scheduler,
        capacity_models.copies(model, scheduler, profile),
        most=most,
        read_reasons=lambda outcome: without_nodes(facts.reasons(outcome)),
        on_placed=lambda placed: progress.advance(placed, most, f"{placed} placed"),
    )
