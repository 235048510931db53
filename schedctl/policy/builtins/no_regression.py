"""``no-regression``: nothing that ran before is pending or evicted.

What ran before is every pod on a node in the state as it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedctl.policy import findings
from schedctl.policy.causes import Cause
from schedctl.policy.documents import NoRegression
from schedctl.policy.situations import JudgedPod
from schedctl.reports import counts
from schedctl.reports.simulations import Fate
from schedctl.simulation import report_builder
from schedctl.simulation.what_ifs import abbreviate, stays

_SHOWN = 10
_UNCLEAR = (Fate.INCONCLUSIVE, Fate.FOREIGN_SCHEDULER)


def judge(view: findings.View, arguments: NoRegression, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge the run: all that ran before runs, and nobody had to make room."""
    wrong = [*_evictions(view), *_missing_pods(view), *_fewer(view), *_guests(view)]
    unclear = [line for line, known in wrong if not known]
    proved = [line for line, known in wrong if known]
    message = f"{counts.of(len(proved), 'regression')} among {counts.of(len(view.before), 'pod')} that ran before"
    if proved:
        finding = findings.violation(message, _few(proved))
        yield finding.because(_why(view))
    elif unclear:
        yield findings.inconclusive(f"{message}; {len(unclear)} inconclusive", _few(unclear))
    else:
        yield findings.pass_finding(f"all {counts.of(len(view.before), 'pod')} that ran before run")


def _evictions(view: findings.View) -> Iterator[tuple[str, bool]]:
    for eviction in view.situation.evictions:
        if eviction.pod.key in view.before:
            yield f"{eviction.pod.key} (on {eviction.node}) would be preempted by {eviction.by}", True


def _missing_pods(view: findings.View) -> Iterator[tuple[str, bool]]:
    situation = view.situation
    evicted = {eviction.pod.key for eviction in situation.evictions}
    replaced = {info.key for judged in situation.workloads for info in judged.removed}
    on_nodes = situation.cluster.pod_table.row_of
    for key, info in view.before.items():
        if key in on_nodes or key in evicted or key in replaced:
            continue
        now = situation.latest_key(key)
        # A pod on its way out is not missed, nor is one of a DaemonSet, which goes with its node.
        if (now and now in on_nodes) or info.is_terminating or stays(info.pod):
            continue
        if not now or now == key:
            yield f"{key} is lost: no controller recreates it", True
            continue
        outcome = situation.run.pods.get(now)
        pending = situation.cluster.pending.get(now)
        if pending is not None and situation.scheduler.profile_of(pending) is None:
            yield f"{now}, which replaces {key}, belongs to another scheduler", False
        elif outcome is not None and report_builder.fate_of(outcome) in _UNCLEAR:
            yield f"{now}, which replaces {key}: {outcome.message}", False
        else:
            why = f": {outcome.message}" if outcome is not None and outcome.message else ""
            yield f"{now}, which replaces {key}, would stay pending{why}", True


def _fewer(view: findings.View) -> Iterator[tuple[str, bool]]:
    for judged in view.situation.workloads:
        # Pods that a release replaces come back under other names: as many have to run as before, or as are wanted now.
        fresh = [pod for pod in judged.pods if not pod.keys or pod.keys[0] not in view.before]
        ran = min(len(judged.removed), len(fresh))
        run = sum(pod.is_placed for pod in fresh)
        if run < ran:
            unclear = sum(pod.is_unclear for pod in fresh)
            text = f"{judged.workload.subject}: {len(judged.removed)} pods ran before, {run} of the new ones run"
            yield text, run + unclear < ran


def _guests(view: findings.View) -> Iterator[tuple[str, bool]]:
    for judged in view.situation.workloads:
        if judged.unclear_pods:
            pods = abbreviate([pod.name for pod in judged.unclear_pods])
            yield (
                f"{judged.workload.subject}: unknown where {pods} would go and which pods would be preempted",
                False,
            )


def _why(view: findings.View) -> Cause:
    """Return why pods of the manifests are pending that took the place of others."""
    pending: list[JudgedPod] = []
    for judged in view.situation.workloads:
        if judged.removed:
            pending += judged.pending_pods
    return view.causes.explain_pending(pending[:1]) if pending else Cause()


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more"]
