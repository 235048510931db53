"""The turns of a case with pod groups: who is taken from the queue, and what becomes of it, in the oracle's shape.

As the oracle does, each pod and each group has one turn, and once more after those that it preempted are gone.
`answers` has the cases of single pods, and what the two share.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.pod_groups import PodGroup
from schedctl.api.policies import PriorityClass
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.fit_error import message
from schedctl.engine.groups.cycles import GroupAttempt
from schedctl.engine.groups.trials import Trial
from schedctl.framework.pod_groups import group_key
from schedctl.framework.statuses import SUCCESS, Status
from schedctl.scheduler import Scheduler
from schedctl.workloads.pod_groups import admit_group

Json = dict[str, Any]
_MOST_ROUNDS = 3
_MOST_STEPS = 200


class _Entity(msgspec.Struct):
    """A pod, or the pods of a group, in the queue."""

    group: str
    pods: list[PodInfo]
    stamp: int
    attempts: dict[str, int] = msgspec.field(default_factory=dict)


class Turns:
    """Runs the pending pods of a cluster through their turns."""

    def __init__(self, scheduler: Scheduler, pods: list[PodInfo]) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._pods = pods
        self._stamp = 0
        self._active: dict[str, _Entity] = {}
        self._tried: set[str] = set()
        self._preempting: dict[str, _Entity] = {}
        self._conditions: dict[str, Json] = {}

    def run(self) -> Json:
        """Return the steps, and who never had a turn."""
        for pod in self._pods:
            self._enter(pod)
        steps: list[Json] = []
        for _ in range(_MOST_ROUNDS):
            while self._active:
                if len(steps) == _MOST_STEPS:
                    raise ValueError("the queue does not come to rest")
                steps.append(self._step())
            if not self._preempting:
                break
            self._active, self._preempting = self._preempting, {}
        gated = {pod.key: _status(self._gate(pod)) for pod in self._pods if pod.key not in self._tried}
        return {"steps": steps, "gated": gated}

    def _enter(self, pod: PodInfo) -> None:
        profile = self._scheduler.profile_of(pod)
        if profile is None:
            return
        key = group_key(pod) or pod.key
        if group_key(pod) and self._cluster.get(PodGroup, key) is None:
            return
        entity = self._active.setdefault(key, _Entity(group_key(pod), [], self._next()))
        entity.pods.append(pod)

    def _next(self) -> int:
        self._stamp += 1
        return self._stamp

    def _priority(self, entity: _Entity) -> int:
        group = self._cluster.get(PodGroup, entity.group) if entity.group else None
        return entity.pods[0].priority if group is None else group.priority

    def _gate(self, pod: PodInfo) -> Status:
        profile = self._scheduler.profile_of(pod)
        for plugin in profile.pre_enqueue if profile is not None else ():
            status = plugin.pre_enqueue(pod)
            if not status.successful:
                return status.by(plugin.name)
        return SUCCESS

    def _step(self) -> Json:
        for key, entity in list(self._active.items()):
            if any(not self._gate(pod).successful for pod in entity.pods):
                del self._active[key]
        if not self._active:
            return {}
        entity = min(self._active.values(), key=lambda e: (-self._priority(e), e.stamp))
        del self._active[entity.group or entity.pods[0].key]
        self._tried.update(pod.key for pod in entity.pods)
        return self._group_step(entity) if entity.group else self._pod_step(entity)

    def _pod_step(self, entity: _Entity) -> Json:
        (pod,) = entity.pods
        outcome = self._scheduler.attempt(pod)
        step: Json = {"pod": pod.key}
        if outcome.chosen:
            self._scheduler.place(outcome)
            return step | {"results": [{"pod": pod.key, "node": outcome.chosen, "code": "Success"}]}
        result: Json = {"pod": pod.key, "code": "Unschedulable", "message": message(outcome)}
        if outcome.post_filter is not None and outcome.post_filter.nominated_node:
            node = outcome.post_filter.nominated_node
            result["nominated"] = node
            step["victims"] = sorted(victim.key for victim in outcome.post_filter.victims)
            self._scheduler.make_room(outcome)
            entity.pods = [self._nominate(pod, node)]
            self._preempting[pod.key] = entity
        return step | {"results": [result]}

    def _group_step(self, entity: _Entity) -> Json:
        group = self._cluster.get(PodGroup, entity.group)
        assert group is not None
        pods = sorted(entity.pods, key=lambda pod: (-pod.priority, -entity.attempts.get(pod.key, 0)))
        outcome = self._scheduler.attempt_group(group, pods)
        step: Json = {"group": entity.group, "members": [pod.pod.metadata.name for pod in pods]}
        step |= _of_attempt(outcome)
        results: list[Json] = []
        left: list[PodInfo] = []
        members = {member.outcome.pod.key: member for member in outcome.members}
        for pod in pods:
            status = outcome.message_of(pod)
            result: Json = {"pod": pod.key, "code": status.code.label}
            if status.successful:
                member = members[pod.key]
                self._scheduler.place(member.outcome)
                result["node"] = member.node_name
            else:
                entity.attempts[pod.key] = entity.attempts.get(pod.key, 0) + 1
                result["message"] = status.message
                left.append(self._after_failure(outcome, pod, result))
            results.append(result)
        step["results"] = results
        self._carry_out(outcome, step)
        condition = self._condition(group, outcome)
        if condition:
            step["condition"] = condition
        if left:
            again = _Entity(entity.group, left, entity.stamp, entity.attempts)
            if outcome.status.successful:
                self._active[entity.group] = again
            else:
                again.stamp = self._next()
                if "victims" in step:
                    self._preempting[entity.group] = again
        return step

    def _after_failure(self, outcome: GroupAttempt, pod: PodInfo, result: Json) -> PodInfo:
        """Return a pod of a group as it comes back: nominated to a node, no longer nominated, or as it was."""
        node = outcome.nomination_after(pod)
        if node:
            result["nominated"] = node
        return pod if node is None else self._nominate(pod, node)

    def _nominate(self, pod: PodInfo, node: str) -> PodInfo:
        """Return a pod with a node written into its status, or with none."""
        status = msgspec.structs.replace(pod.pod.status, nominated_node_name=node)
        now = PodInfo(msgspec.structs.replace(pod.pod, status=status))
        self._cluster.update_pending(now)
        self._scheduler.nominator.nominate(now, node)
        return now

    def _carry_out(self, outcome: GroupAttempt, step: Json) -> None:
        """Do what PodGroupPostFilter would have done by now."""
        result = outcome.post_filter
        if result is None:
            return
        for obj in result.objects:
            self._cluster.put(obj)
        for obj in result.removed:
            self._cluster.delete(obj)
        if outcome.awaits_preemption:
            going = [victim for victim in result.victims if not victim.is_terminating]
            if going:
                step["victims"] = sorted(victim.key for victim in going)
            for victim in going:
                self._cluster.remove_pod(victim)

    def _condition(self, group: PodGroup, outcome: GroupAttempt) -> Json:
        known = self._conditions.get(group.key, {})
        if known.get("status") == "True" and not outcome.status.successful:
            return known
        written = outcome.condition
        condition = {"status": written.status, "reason": written.reason, "message": written.message}
        self._conditions[group.key] = {name: value for name, value in condition.items() if value}
        return self._conditions[group.key]


def admit_groups(cluster: Cluster, objects: list[Json]) -> None:
    """Put the pod groups of a case into the cluster, with their priorities."""
    classes = {
        o["metadata"]["name"]: msgspec.convert(o, PriorityClass) for o in objects if o["kind"] == "PriorityClass"
    }
    for written in objects:
        if written["kind"] == "PodGroup":
            group = admit_group(msgspec.convert(written, PodGroup), classes, cluster.release)
            # as the oracle does, so that claims can be reserved for groups
            uid = f"uid-group-{group.key}"
            cluster.put(msgspec.structs.replace(group, metadata=msgspec.structs.replace(group.metadata, uid=uid)))


def _of_attempt(outcome: GroupAttempt) -> Json:
    step: Json = {}
    if outcome.trials or outcome.chosen:
        step["placements"] = [_trial(trial) for trial in outcome.trials]
        step["generated"] = [trial.placement.name for trial in outcome.trials]
    elif outcome.refused is not None or outcome.status.plugin:
        step["generate"] = _status(outcome.refused or outcome.status)
    if outcome.scores:
        step["scores"] = outcome.scores
    if outcome.post_filter is not None:
        post_filter: Json = {"status": _status(outcome.post_filter.status)}
        if outcome.post_filter.nominations:
            post_filter["nominated"] = dict(outcome.post_filter.nominations)
        if outcome.retried:
            post_filter["placements"] = [_trial(trial) for trial in outcome.retried]
        step["postFilter"] = post_filter
    return step


def _trial(trial: Trial) -> Json:
    result: Json = {}
    if trial.placement.name:
        result["name"] = trial.placement.name
    pods = []
    for member in trial.members:
        tried: Json = {"pod": member.outcome.pod.key}
        if member.outcome.chosen:
            tried["node"] = member.outcome.chosen
        else:
            tried["message"] = member.status.message
        pods.append(tried)
    if pods:
        result["pods"] = pods
    result["feasible"] = _status(trial.feasible)
    return result


def _status(status: Status) -> Json:
    result: Json = {"code": status.code.label}
    if status.plugin and not status.successful:
        result["plugin"] = status.plugin
    if status.reasons:
        result["reasons"] = sorted(status.reasons)
    return result
