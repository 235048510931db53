"""Answers: what the scheduler says of a case, in the oracle's words and shape.

One field is ours alone: a cycle that needs what is not modelled yet carries `notModelled`, a text saying what, and no
verdict. In a simulation the cycles after it carry it too, since they depend on where its pod would have gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from schedctl.cache.pod_info import PodInfo
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.conformance.group_steps import Turns, admit_groups
from schedctl.engine.attempts import Attempt, matrix
from schedctl.engine.fit_error import message
from schedctl.errors import NotModelled, SchedctlError
from schedctl.framework.statuses import Status
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, Release, ReleaseChange
from schedctl.scheduler import Scheduler

Json = dict[str, Any]


def answer(case: Case, release: Release = NEWEST) -> Json:
    """Return the answer of a release to a case; a case that cannot be run is answered with its ``error``."""
    began = time.perf_counter()
    result: Json = {"id": case.id}
    try:
        if case.groups:
            scheduler, pods = _scheduler(case, release)
            admit_groups(scheduler.cluster, case.objects or [])
            result |= {"cycles": None} | Turns(scheduler, pods).run()
        else:
            result |= _bench(case, release) if case.bench else {"cycles": _cycles(case, release)}
    except NotModelled as missing:
        result["cycles"] = [_not_modelled(missing, "", "")]
    except (SchedctlError, msgspec.ValidationError, LookupError, ValueError) as fault:
        result |= {"error": str(fault), "cycles": None}
    result.setdefault("seconds", time.perf_counter() - began)
    return result


def answer_as_json(case: Json, release: Release = NEWEST) -> Json:
    """Return the answer to a case in JSON as JSON, read back as the oracle's answers are."""
    result: Json = msgspec.json.decode(msgspec.json.encode(answer(msgspec.convert(case, Case), release)))
    return result


def _scheduler(case: Case, release: Release) -> tuple[Scheduler, list[PodInfo]]:
    config = configuration(case, release)
    if case.percent > 0:
        config = msgspec.structs.replace(config, percentage_of_nodes_to_score=case.percent)
    cluster, pods = cluster_of(case, release)
    return Scheduler(cluster, config, plugins_of(release)), pods


def _cycles(case: Case, release: Release) -> list[Json]:
    scheduler, pods = _scheduler(case, release)
    cycles: list[Json] = []
    for number, pod in enumerate(pods):
        try:
            for outcome in _outcomes(case, scheduler, pod):
                cycles.append(_cycle(outcome, pod, lean=case.lean))  # noqa: PERF401 - the first stays if the second fails
        except NotModelled as missing:
            unanswered = pods[number:] if case.simulate else [pod]
            cycles += (_not_modelled(missing, each.key, each.pod.spec.scheduler_name) for each in unanswered)
            if case.simulate:
                break
    return cycles


def _outcomes(case: Case, scheduler: Scheduler, pod: PodInfo) -> Iterator[Attempt | None]:
    """Yield what came of the pod: one attempt; in a simulation, after preemption, a second; None without a profile."""
    outcome = _ask(scheduler, pod)
    yield outcome
    if not case.simulate or outcome is None:
        return
    if outcome.post_filter is not None:  # the oracle's API server counts no versions: its scheduler misses updates
        outcome.post_filter = replace(outcome.post_filter, objects=())
    scheduler.make_room(outcome)
    if outcome.post_filter is not None and outcome.post_filter.nominated_node:
        outcome = _ask(scheduler, pod)
        yield outcome
    if outcome is not None and outcome.chosen:
        reservation = scheduler.place(outcome)
        if not reservation.status.successful:
            raise ValueError(f"reserve: {reservation.status.message}")


def _not_modelled(missing: NotModelled, pod: str, profile: str) -> Json:
    return {"pod": pod, "profile": profile, "notModelled": str(missing)}


def _ask(scheduler: Scheduler, pod: PodInfo) -> Attempt | None:
    return scheduler.attempt(pod) if scheduler.profile_of(pod) else None


def _bench(case: Case, release: Release) -> Json:
    """Place all pending pods in queue order; only filter, score, assume and reserve are on the clock."""
    scheduler, pods = _scheduler(case, release)
    sort = next(iter(scheduler.profiles.values())).queue_sort[0]
    queue = sorted(pods, key=lambda pod: sort.sort_key(pod, 0.0))
    placements: list[tuple[str, str]] = []
    began = time.perf_counter()
    for pod in queue:
        outcome = scheduler.attempt(pod, sampling=case.percent not in (0, 100), make_room=False)
        scheduler.rotate(outcome)
        if outcome.chosen:
            scheduler.place(outcome)
        placements.append((pod.key, outcome.chosen))
    seconds = time.perf_counter() - began
    placed = sum(node != "" for _, node in placements)
    cycle = {"pod": "", "profile": "", "preFilter": {"code": ""}, "message": f"scheduled {placed} of {len(queue)}"}
    return {"cycles": [cycle], "seconds": seconds, "placements": placements}


def _cycle(outcome: Attempt | None, pod: PodInfo, *, lean: bool) -> Json:
    profile = pod.pod.spec.scheduler_name
    result: Json = {"pod": pod.key, "profile": profile, "preFilter": {"code": ""}}
    if outcome is None:
        return result | {"error": f"no profile for scheduler name {profile}"}
    line = message(outcome)
    if outcome.gated is not None:
        return result | {"preEnqueue": _status(outcome.gated)}
    if outcome.deleted or not outcome.total_nodes:
        return result | {"message": line}
    result["preFilter"] = _status(outcome.pre_filter)
    if outcome.pre_filter_nodes and outcome.pre_filter.successful:
        result["preFilterNodes"] = sorted(outcome.pre_filter_nodes)
    if outcome.filtering is not None and not (lean and outcome.chosen):
        names = enumerate(outcome.filtering.nodes.names)
        reached = ((i, name) for i, name in names if not outcome.failed_on or name < outcome.failed_on)
        result["nodes"] = {name: _status(outcome.filtering.status(i)) for i, name in reached}
    if outcome.error:
        return {key: value for key, value in (result | {"error": outcome.error}).items() if value != {}}
    if not outcome.chosen:
        result["unschedulablePlugins"] = sorted(outcome.unschedulable_plugins)
        result["message"] = line
        if outcome.post_filter is not None:
            result["postFilter"] = _post_filter(outcome)
    if outcome.chosen:
        result |= {"chosen": outcome.chosen, "ties": outcome.ties}
    if outcome.scoring is not None and not lean:
        result |= _scores(outcome)
    if not lean and outcome.pre_filter.successful:
        result["matrix"] = _matrix(outcome)
    return {key: value for key, value in result.items() if value not in (None, [], {}, "")}


def _status(status: Status) -> Json:
    result: Json = {"code": status.code.label}
    if status.plugin:
        result["plugin"] = status.plugin
    if status.reasons:
        result["reasons"] = sorted(status.reasons)
    return result


def _post_filter(outcome: Attempt) -> Json:
    assert outcome.post_filter is not None
    result: Json = {"status": _status(outcome.post_filter.status)}
    if outcome.post_filter.nominated_node:
        result["nominatedNode"] = outcome.post_filter.nominated_node
    spares = outcome.cluster.release.includes(ReleaseChange.SPARED_VICTIMS)
    running = [info for info in outcome.post_filter.victims if not (spares and info.is_terminating)]
    if running:
        result["victims"] = sorted(info.key for info in running)
    return result


def _scores(outcome: Attempt) -> Json:
    scoring = outcome.scoring
    assert scoring is not None
    names = scoring.nodes.names
    scores: dict[str, Json] = {name: {} for name in names}
    for plugin in scoring.plugins:
        columns = zip(names, plugin.raw.tolist(), plugin.normalized.tolist(), plugin.weighted.tolist(), strict=True)
        for name, raw, normalized, weighted in columns:
            scores[name][plugin.plugin] = {"raw": raw, "normalized": normalized, "weighted": weighted}
    return {"scores": scores, "totals": dict(zip(names, scoring.totals.tolist(), strict=True))}


def _matrix(outcome: Attempt) -> Json:
    result: Json = {}
    for plugin, verdicts in matrix(outcome).items():
        assert outcome.evaluated_column is not None
        refused = np.flatnonzero(verdicts.mask).tolist()
        if refused:
            names = outcome.evaluated_column.names
            result[plugin] = {names[i]: _status(verdicts.status(i)) for i in refused}
    return result
