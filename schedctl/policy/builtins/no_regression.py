"""``no-regression``: nothing that ran before is pending or evicted.

What ran before is every pod on a node in the state as it was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from schedctl.policy import findings
from schedctl.policy.causes import Cause
from schedctl.policy.documents import NoRegression
from schedctl.policy.identities import owner
from schedctl.policy.pod_groups import group_names
from schedctl.policy.situations import JudgedPod
from schedctl.reports import counts
from schedctl.reports.simulations import Fate
from schedctl.simulation import report_builder
from schedctl.simulation.what_ifs import abbreviate, stays

_SHOWN = 10
_UNCLEAR = (Fate.INCONCLUSIVE, Fate.FOREIGN_SCHEDULER)


class _Regression(NamedTuple):
    """Something that ran before and would not, or of which nobody can tell; `who` is its workload."""

    line: str
    is_known: bool
    who: str
    pods: int = 1


def judge(view: findings.View, arguments: NoRegression, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge the run: all that ran before runs, and nobody had to make room."""
    wrong = [*_evictions(view), *_missing_pods(view), *_fewer(view), *_guests(view)]
    unclear = [each.line for each in wrong if not each.is_known]
    proved = [each.line for each in wrong if each.is_known]
    message = f"{counts.of(len(proved), 'regression')} among {counts.of(len(view.before), 'pod')} that ran before"
    if proved:
        violates: Counter[str] = Counter()
        for each in wrong:
            violates[each.who] += each.pods if each.is_known else 0
        finding = findings.violation(message, _few(proved), violates=+violates)
        yield finding.because(_why(view))
    elif unclear:
        yield findings.inconclusive(f"{message}; {len(unclear)} inconclusive", _few(unclear))
    else:
        yield findings.pass_finding(f"all {counts.of(len(view.before), 'pod')} that ran before run")


def _evictions(view: findings.View) -> Iterator[_Regression]:
    for eviction in view.situation.evictions:
        if eviction.pod.key in view.before:
            line = f"{eviction.pod.key} (on {eviction.node}) would be preempted by {eviction.by}"
            yield _Regression(line, True, owner(eviction.pod, view.situation.cluster))


def _missing_pods(view: findings.View) -> Iterator[_Regression]:
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
        who = owner(info, situation.cluster)
        if not now or now == key:
            yield _Regression(f"{key} is lost: no controller recreates it", True, who)
            continue
        outcome = situation.run.pods.get(now)
        pending = situation.cluster.pending.get(now)
        if pending is not None and situation.scheduler.profile_of(pending) is None:
            yield _Regression(f"{now}, which replaces {key}, belongs to another scheduler", False, who)
        elif outcome is not None and report_builder.fate_of(outcome) in _UNCLEAR:
            yield _Regression(f"{now}, which replaces {key}: {outcome.message}", False, who)
        else:
            why = f": {outcome.message}" if outcome is not None and outcome.message else ""
            yield _Regression(f"{now}, which replaces {key}, would stay pending{why}", True, who)


def _fewer(view: findings.View) -> Iterator[_Regression]:
    for judged in view.situation.workloads:
        # Pods that a release replaces come back under other names: as many have to run as before, or as are wanted now.
        fresh = [pod for pod in judged.pods if not pod.keys or pod.keys[0] not in view.before]
        ran = min(len(judged.removed), len(fresh))
        run = sum(pod.is_placed for pod in fresh)
        if run < ran:
            unclear = sum(pod.is_unclear for pod in fresh)
            subject = judged.workload.subject
            text = f"{subject}: {len(judged.removed)} pods ran before, {run} of the new ones run"
            yield _Regression(text, run + unclear < ran, subject, ran - run)


def _guests(view: findings.View) -> Iterator[_Regression]:
    for judged in view.situation.workloads:
        if judged.unclear_pods:
            pods = abbreviate(group_names(pod.name for pod in judged.unclear_pods))
            subject = judged.workload.subject
            text = f"{subject}: unknown where {pods} would go and which pods would be preempted"
            yield _Regression(text, False, subject)


def _why(view: findings.View) -> Cause:
    """Return why pods of the manifests are pending that took the place of others."""
    pending: list[JudgedPod] = []
    for judged in view.situation.workloads:
        if judged.removed:
            pending += judged.pending_pods
    return view.causes.explain_pending(pending[:1]) if pending else Cause()


def _few(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _SHOWN else [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more"]
