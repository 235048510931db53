"""``headroom``: something is left free: so much of a resource, or room for so many more pods of a workload.

What counts is what is free on nodes that take pods (`schedctl.policy.builtins.grouping`); others have no room. Room
for more replicas is found by placing them, one after another, as `schedctl.simulation.capacities` does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from schedctl.api.defaults import with_namespace
from schedctl.api.pods import Pod
from schedctl.api.quantities import parse
from schedctl.api.workloads import DaemonSet, StatefulSet
from schedctl.errors import UsageError
from schedctl.explain import facts as read_off
from schedctl.framework.pod_edits import as_pending
from schedctl.policy import findings
from schedctl.policy.builtins import requests_headroom
from schedctl.policy.builtins.amounts_needed import compare_with_need, percent_missing
from schedctl.policy.builtins.grouping import Group, UndecidedDemand, groups, undecided_demand
from schedctl.policy.causes import lines
from schedctl.policy.documents import Headroom
from schedctl.policy.situations import JudgedWorkload
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome
from schedctl.simulation.capacities import CopiesOfPod, PodCopies, StatefulSetCopies, fill
from schedctl.simulation.what_if_syntax import subject_named
from schedctl.simulation.what_ifs import Subject
from schedctl.workloads import admission, pod_templates

_replace = msgspec.structs.replace


def judge(view: findings.View, arguments: Headroom, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge the cluster, or each group of its nodes: enough is left free."""
    if arguments.replicas_of:
        yield _more_replicas(view, arguments)
        return
    if arguments.is_of_requests:
        yield from requests_headroom.judge(view, arguments)
        return
    undecided = undecided_demand(view.situation, arguments.resource, arguments.ignore_pending)
    found = groups(view.situation.cluster, arguments.resource, arguments.by, arguments.node_selector)
    offered = any(group.allocatable or group.closed for group in found)
    for group in found:
        if offered and not (group.allocatable or group.closed):
            yield findings.Finding(CheckOutcome.PASSED, f"offers no {arguments.resource}", about=group.about)
        else:
            yield _judge(group, arguments, undecided)


def _judge(group: Group, arguments: Headroom, undecided: UndecidedDemand) -> findings.Finding:
    message, needed = compare_with_need(arguments, group.free, group.allocatable)
    if group.free < needed or not group.allocatable:
        violates = percent_missing(arguments.resource, group.free, needed)
        return findings.Finding(CheckOutcome.VIOLATED, message, about=group.about, violates=violates)
    if group.free - undecided.amount < needed:
        return undecided.finding(message, group.about)
    return findings.Finding(CheckOutcome.PASSED, message, about=group.about)


def _more_replicas(view: findings.View, arguments: Headroom) -> findings.Finding:
    replicas = parse(arguments.absolute).value
    scheduler = view.situation.scheduler
    with scheduler.fork():
        try:
            copies = _copies(view, arguments.replicas_of)
        except UsageError as missing:
            return findings.inconclusive(str(missing), hints=(missing.hint,) if missing.hint else ())
        facts = fill(
            scheduler, copies, most=replicas, read_reasons=lambda outcome: lines(read_off.reasons(outcome)), sizes=False
        )
    if facts.interrupted:
        raise KeyboardInterrupt
    subject, allowed = arguments.replicas_of, facts.within_quota
    message = f"only {facts.fits} more of {subject} would fit, needs {replicas}"
    if facts.not_modelled:
        return findings.inconclusive(message, (facts.not_modelled,))
    if facts.quota and allowed is not None and allowed < replicas:
        return findings.violation(
            f"the ResourceQuota allows {allowed} more of {subject}, needs {replicas}",
            (facts.quota,),
            violates={"replicas missing by quota": replicas - allowed},
        )
    if facts.limited:
        return _with_undecided(f"{counts.of(replicas, 'more replica')} of {subject} would fit", view, arguments)
    reasons = facts.reasons or ((facts.message,) if facts.message else ())
    return findings.violation(message, reasons, violates={"replicas missing": replicas - facts.fits})


def _with_undecided(message: str, view: findings.View, arguments: Headroom) -> findings.Finding:
    """Return a pass, unless there are pods whose node nobody knows: they may want the room as well."""
    undecided = view.situation.undecided_pods(arguments.ignore_pending)
    if not undecided:
        return findings.pass_finding(message)
    judged = [pod for each in view.situation.workloads for pod in each.undecided_pods(arguments.ignore_pending)]
    cause = view.causes.explain_pending(judged)
    hints = [*cause.hints, *([] if arguments.ignore_pending else [findings.IGNORE_PENDING])]
    message += f", apart from {counts.of(len(undecided), 'pod')} without a node"
    return replace(findings.inconclusive(message, cause.reasons, hints, cause.path), fixes=cause.fixes)


def _copies(view: findings.View, written: str) -> PodCopies:
    """Return pods that are like those of a workload of the manifests, or of the cluster.

    Raises:
        UsageError: there is no such workload, it has no pods to be like, or there is one for each node.
    """
    subject = subject_named(written, "")
    cluster = view.situation.cluster
    named = _workloads_named(view.workloads, subject) or _workloads_named(view.situation.workloads, subject)
    if len(named) > 1:
        spaces = [judged.workload.namespace for judged in named]
        hint = f"write the namespace, too: {written.replace('/', f'/{spaces[0]}/', 1)}"
        raise UsageError(f"{written} is in the namespaces {', '.join(spaces)}", hint)
    for judged in named:
        pods = [pod.info.pod for pod in judged.pods if not pod.is_unclear] or [pod.info.pod for pod in judged.pods]
        if isinstance(judged.workload.object, StatefulSet) or pods:
            return _like(judged.workload.object, pods[0] if pods else None, view, written)
    found: Any = None
    if subject.struct is Pod:
        key, table = _key(subject), cluster.pod_table
        info = table.infos[table.row_of[key]] if key in table.row_of else cluster.pending.get(key)
        found = info.pod if info is not None else None
    else:
        found = cluster.every(subject.struct).get(_key(subject))
    if found is None:
        raise UsageError(f"{written} is neither in the manifests nor in the cluster")
    return _like(found, found if isinstance(found, Pod) else None, view, written)


def _workloads_named(workloads: Iterable[JudgedWorkload], subject: Subject) -> list[JudgedWorkload]:
    """Return the workloads of a name, of every namespace where none is written."""
    return [
        judged
        for judged in workloads
        if type(judged.workload.object) is subject.struct
        and judged.workload.name == subject.name
        and subject.namespace in ("", judged.workload.namespace)
    ]


def _key(subject: Subject) -> str:
    return f"{subject.namespace or 'default'}/{subject.name}"


def _like(obj: Any, pod: Pod | None, view: findings.View, written: str) -> PodCopies:
    scheduler, cluster = view.situation.scheduler, view.situation.cluster
    if isinstance(obj, DaemonSet):
        raise UsageError(f"{written} has one pod for each node", "name another workload")
    if isinstance(obj, StatefulSet) and obj.spec.volume_claim_templates:
        return StatefulSetCopies(_replace(obj, metadata=with_namespace(obj.metadata)), cluster)
    if pod is None:
        made = pod_templates.pod_of(obj, cluster)
        pod = admission.admit(made.pod, cluster).pod
    # Without a uid it was never created: admission has not been over it.
    elif not pod.metadata.uid:
        pod = admission.admit(pod, cluster).pod
    # Gates and the node of the model are its own; a copy is asked only whether it would fit.
    pod = as_pending(pod)
    pod = _replace(pod, spec=_replace(pod.spec, scheduling_gates=None))
    if pod.spec.scheduler_name not in scheduler.profiles:
        raise UsageError(f'no profile serves schedulerName "{pod.spec.scheduler_name}" of {written}')
    return CopiesOfPod(pod, cluster)
