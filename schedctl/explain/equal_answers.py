"""Pods that one answer holds for: a class of equal pods is judged once, and equal answers are told once.

Three hundred pods of one ReplicaSet are one question to the scheduler and one answer to a reader. `session` asks here
which pods need no judgement of their own and who owns them; `explanations` makes the answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from schedctl.api.pods import FINISHED, Pod
from schedctl.api.sharing import content
from schedctl.cache.pod_info import PodInfo
from schedctl.explain import explanations
from schedctl.reports.bound_pods import BoundPod
from schedctl.reports.explanations import Explanation, OwnerPods, PodReference
from schedctl.reports.reasons import Hint
from schedctl.scheduler.schedulers import Scheduler

_replace = msgspec.structs.replace
_MOST_COMMANDS = 5
"""Of more workloads than this the commands are not put into one; the patches are there."""
_NO_POD = PodReference("", "")


class JudgedClasses:
    """The explanations of the classes of equal pods that were judged already, on one cluster."""

    def __init__(self, scheduler: Scheduler, *, one_name_for_all: bool = True) -> None:
        """Begin with none.

        Args:
            scheduler: who judges.
            one_name_for_all: whether an answer in which the name of its pod occurs, as in a command to paste, may stand
                for pods of other names.
        """
        self._scheduler = scheduler
        self._one_name_for_all = one_name_for_all
        self._answers: dict[Hashable, Explanation] = {}

    def class_key(self, pod: Pod, unknown_kinds: frozenset[type] = frozenset()) -> Hashable | None:
        """Return what is equal for pending pods that have the same explanation on the same cluster.

        None for a pod that has to be judged by itself: it is bound or has ended, or a plugin or an extender may tell it
        from pods that look the same (`Scheduler.equivalence_key`).
        """
        if pod.spec.node_name or pod.status.phase in FINISHED:
            return None
        info = PodInfo(pod)
        signatures = self._scheduler.equivalence_key(info) if self._scheduler.profile_of(info) is not None else None
        # Fixes and remarks read more of a pod than its plugins do, such as labels that no selector matches.
        metadata = pod.metadata
        read = metadata.namespace, metadata.labels, metadata.annotations, metadata.owner_references, pod.spec
        written = content(read)
        return None if signatures is None or written is None else (signatures, written, unknown_kinds)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether a class was judged."""
        return key in self._answers

    def answer(self, key: Hashable, pod: Pod) -> Explanation:
        """Return the explanation of a class, as that of one of its pods."""
        return _replace(self._answers[key], pod=explanations.reference(PodInfo(pod)))

    def add(self, key: Hashable | None, explanation: Explanation) -> None:
        """Keep the explanation of a class, if it holds for all pods of it."""
        if key is not None and (self._one_name_for_all or not _names_its_pod(explanation)):
            self._answers[key] = explanation


def _names_its_pod(explanation: Explanation) -> bool:
    return explanation.pod.name.encode() in msgspec.json.encode(_replace(explanation, pod=_NO_POD))


def merge(answers: Iterable[Explanation], owner_of: Callable[[PodReference], str]) -> list[Explanation]:
    """Return each distinct answer once, with the pods that it holds for; that of most pods first, of running ones last.

    Args:
        answers: one for each pod.
        owner_of: the workload of a pod, such as ``Deployment shop/web``; "" for a pod without a controller.
    """
    distinct: dict[bytes, list[Explanation]] = {}
    for explanation in answers:
        # What sets pods of one answer apart is who they are; priority and node are part of the answer. The same fix is
        # another command for each workload.
        identity = _replace(explanation.pod, namespace="", name="", uid="")
        hints = [_replace(hint, command="", patches=[]) for hint in explanation.hints]
        answer = _replace(explanation, pod=identity, hints=hints)
        if answer.bound is not None:
            answer = _without_identity(answer, answer.bound)
        distinct.setdefault(msgspec.json.encode(answer), []).append(explanation)
    merged = [_with_pods(equal, owner_of) for equal in distinct.values()]
    return sorted(merged, key=lambda explanation: (_is_running(explanation), -len(explanation.pods)))


def _is_running(explanation: Explanation) -> bool:
    return explanation.bound is not None and explanation.bound.running


def _without_identity(answer: Explanation, bound: BoundPod) -> Explanation:
    """Return an answer about a bound pod without what is the pod's own: node, times, restarts, texts that name it.

    Of containers that all run, as those of most pods, it does not matter which they are.
    """
    containers = [_replace(each, message="", restarts=min(each.restarts, 1)) for each in bound.containers]
    if bound.running and all(each.state == "Running" and not each.restarts for each in containers):
        containers = []
    hints = [Hint(hint.type, "") for hint in answer.hints]
    common = _replace(bound, node="", since="", message="", containers=containers)
    return _replace(answer, pod=_NO_POD, hints=hints, bound=common)


def separate(answers: Iterable[Explanation], owner_of: Callable[[PodReference], str]) -> list[Explanation]:
    """Return an answer for each pod, equal or not."""
    return [_with_pods([explanation], owner_of) for explanation in answers]


def _with_pods(equal: list[Explanation], owner_of: Callable[[PodReference], str]) -> Explanation:
    owners = Counter(owner_of(explanation.pod) for explanation in equal)
    fixes = zip(*(explanation.hints for explanation in equal), strict=True)
    return _replace(
        equal[0],
        bound=_for_all_nodes([each.bound for each in equal if each.bound is not None]),
        hints=[_for_all(hints) for hints in fixes],
        pods=[f"{explanation.pod.namespace}/{explanation.pod.name}" for explanation in equal],
        owners=[OwnerPods(name, pods) for name, pods in owners.most_common()],
    )


def _for_all_nodes(bound: Sequence[BoundPod]) -> BoundPod | None:
    """Return where pods are of which the kubelets say the same, None for pods that are pending."""
    if not bound:
        return None
    since = {each.since for each in bound}
    return _replace(bound[0], nodes=[each.node for each in bound], since=bound[0].since if len(since) == 1 else "")


def _for_all(hints: Sequence[Hint]) -> Hint:
    """Return a fix with the commands and patches of every workload that it is for."""
    first, *others = hints
    if all(hint.patches == first.patches for hint in others):
        return first
    commands = dict.fromkeys(hint.command for hint in hints)
    patches = {msgspec.json.encode(patch): patch for hint in hints for patch in hint.patches}
    pasted = " && ".join(commands) if all(commands) and len(commands) <= _MOST_COMMANDS else ""
    return _replace(first, command=pasted, patches=list(patches.values()))
