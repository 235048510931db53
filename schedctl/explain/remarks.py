"""What plugins say of a pod beyond their verdicts, and what comes of a pod once it has a node: Reserve and Permit.

An attempt ends with the choice of a node, which Reserve and Permit may take back; they are run in a fork, and what they
did is undone. `ForkedTrials` is the trials that a plugin may make before it says something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from schedctl.api.texts import tidy
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers, fit_error
from schedctl.engine.attempts import Attempt
from schedctl.engine.faults import describe_fault
from schedctl.errors import NotModelled
from schedctl.explain import evidence
from schedctl.framework import remarks as framework
from schedctl.framework.faults import ESCAPING
from schedctl.framework.pod_groups import group_key
from schedctl.framework.remarks import Trials, Tried
from schedctl.framework.statuses import Code
from schedctl.releases import GENERIC_WORKLOAD, Release
from schedctl.reports.explanations import Reservation
from schedctl.reports.reasons import Remark
from schedctl.scheduler.schedulers import Scheduler
from schedctl.workloads import ownership


class _NoObserver:
    """Hears of missing kinds that are read, and does nothing about it."""

    def read(self, kind: type) -> None:
        """Do nothing."""


class ForkedTrials:
    """Trials on the scheduler's cluster, each in a fork of its own; see `schedctl.framework.remarks.Trials`.

    The same pods are tried once: every member of a group asks about all of them. The cluster must not change meanwhile.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._tried: dict[tuple[str, ...], list[Tried]] = {}

    def together(self, pods: Sequence[PodInfo]) -> list[Tried]:
        """Return what would become of pods, each of which finds those before it placed."""
        keys = tuple(pod.key for pod in pods)
        if keys not in self._tried:
            with _undo(self._scheduler):
                self._tried[keys] = [self._place(pod) for pod in pods]
        return list(self._tried[keys])

    def _place(self, pod: PodInfo) -> Tried:
        scheduler = self._scheduler
        if scheduler.profile_of(pod) is None:
            return Tried(pod, message=f"no profile has schedulerName {pod.pod.spec.scheduler_name}")
        try:
            outcome = scheduler.attempt(pod, make_room=False)
            if not outcome.chosen:
                refused = outcome.unschedulable_plugins
                if outcome.gated is not None:
                    return Tried(pod, message=outcome.gated.message, plugins=(outcome.gated.plugin,))
                return Tried(pod, message=outcome.error or fit_error.message(outcome), plugins=tuple(sorted(refused)))
            placed = scheduler.place(outcome)
        except NotModelled as missing:
            return Tried(pod, message=str(missing))
        if placed.status.successful or placed.waits:
            return Tried(pod, node=outcome.chosen)
        return Tried(pod, message=placed.status.message, plugins=(placed.status.plugin,))


def of(outcome: Attempt, trials: Trials) -> list[Remark]:
    """Return what the plugins of the pod's profile say of it, plugin by plugin; a fault of one is its remark."""
    found: list[Remark] = []
    for plugin in outcome.profile.plugins.values():
        try:
            plugin_remarks = answers.remarks(plugin, plugin.remarks(outcome.cycle.scratch(), trials))
            found += [_remark(plugin.name, remark) for remark in plugin_remarks]
        except answers.AnswerError as fault:
            found.append(Remark(plugin=plugin.name, text=f"failed: {fault.text}"))
        except KeyboardInterrupt:
            raise
        except ESCAPING as fault:  # an explanation is worth more without what one plugin would have added
            found.append(Remark(plugin=plugin.name, text=f"failed in remarks: {describe_fault(plugin, fault)}"))
    return found


def warnings(scheduler: Scheduler, pod: PodInfo, replicas: int | None = None) -> list[Remark]:
    """Return what plugins find in a pod's spec that was probably not meant; nothing if no profile serves the pod.

    Args:
        scheduler: the profiles and the cluster.
        pod: the pod.
        replicas: how many pods like it its workload is to have, None to look for the workload in the cluster.
    """
    profile = scheduler.profile_of(pod)
    found: list[Remark] = []
    with scheduler.cluster.observe_reads(_NoObserver()):  # no verdict rests on what a warning reads
        number = ownership.replicas_of(pod, scheduler.cluster) if replicas is None else replicas
        for plugin in profile.plugins.values() if profile is not None else ():
            try:
                plugin_warnings = answers.remarks(plugin, plugin.warnings(pod, number), "warnings")
                found += [_remark(plugin.name, remark) for remark in plugin_warnings]
            except answers.AnswerError as fault:
                found.append(Remark(plugin=plugin.name, text=f"failed: {fault.text}"))
            except KeyboardInterrupt:
                raise
            except ESCAPING as fault:  # an explanation is worth more without what one plugin would have added
                found.append(Remark(plugin=plugin.name, text=f"failed in warnings: {describe_fault(plugin, fault)}"))
    return [*found, *_without_its_group(pod, scheduler.cluster.release)]


def _without_its_group(pod: PodInfo, release: Release) -> list[Remark]:
    """Return that a pod is scheduled without its group, because groups are off; nothing for any other pod."""
    key = group_key(pod)
    if not key or release.enabled(GENERIC_WORKLOAD):
        return []
    if not release.has_groups:
        why = f"which kube-scheduler {release.version} does not know: each of its pods is scheduled by itself"
    else:
        why = (
            f"each of whose pods kube-scheduler {release.version} schedules by itself while {GENERIC_WORKLOAD} is off"
            f" (--feature-gates {GENERIC_WORKLOAD}=true schedules the group)"
        )
    return [Remark(plugin=GENERIC_WORKLOAD, text=f"the pod is of PodGroup {key}, {why}")]


def reservation(scheduler: Scheduler, outcome: Attempt) -> Reservation | None:
    """Return what Reserve and Permit say of the chosen node, None where there is no node or nobody to ask."""
    if not outcome.chosen or not (outcome.profile.reserve or outcome.profile.permit):
        return None
    with _undo(scheduler):
        try:
            placed = scheduler.place(outcome)
        except NotModelled as missing:
            return Reservation(code=Code.ERROR.label, message=str(missing), text=f"schedctl cannot tell yet: {missing}")
        # what Reserve refused is unreserved already; the rest would stay behind in the memory of plugins
        if placed.status.successful or placed.waits:
            scheduler.release(outcome, outcome.chosen, placed.status)
    status = placed.status
    return Reservation(
        code=status.code.label,
        plugin=status.plugin,
        message=status.message,
        waits=dict(placed.waits),
        text=""
        if status.successful
        else _reservation_text(outcome.chosen, status.plugin, status.message, placed.waits),
    )


def _reservation_text(node: str, plugin: str, message: str, waits: Mapping[str, float]) -> str:
    if waits:
        each = " and ".join(f"{plugin} for at most {seconds:g}s" for plugin, seconds in waits.items())
        return f"Permit holds the pod back on {node}: {each}"
    return f"{plugin} rejects the pod on the chosen node {node}: {message}"


def _remark(name: str, remark: framework.Remark) -> Remark:
    return Remark(
        plugin=name,
        text=tidy(remark.text),
        details=list(map(tidy, remark.details)),
        evidence={str(key): evidence.tell(value) for key, value in remark.evidence.items()},
        starts=remark.starts,
    )


@contextmanager
def _undo(scheduler: Scheduler) -> Iterator[None]:
    """Undo what is done in a ``with`` block, pods that plugins wanted activated included."""
    with scheduler.fork():
        try:
            yield
        finally:
            for handle in scheduler.handles.values():
                handle.activated.clear()
