"""What extenders make of the candidates for preemption: they may drop nodes, and choose other victims.

Each is given what the one before it left. Nobody checks what they choose but for two things: victims stand on their
node, which the extender itself sees to, and there is at least one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.extenders import ExtenderError, NodeVictims, Unanswered
from schedctl.framework.handles import Handle
from schedctl.plugins.default_preemption.candidates import Candidates


@dataclass(frozen=True, slots=True)
class ExtenderAnswer:
    """What extenders leave.

    Attributes:
        candidates: the candidates, in order of their names.
        fault: what one of them failed with that is not ignorable, "" for nothing.
        passed_over: the names of those that failed and are ignorable, and what went wrong.
    """

    candidates: Candidates
    fault: str = ""
    passed_over: tuple[tuple[str, str], ...] = ()


def ask_extenders(handle: Handle, pod: PodInfo, candidates: Candidates, nodes: Nodes) -> ExtenderAnswer:
    """Ask the extenders that have a say in preemption and are interested in the pod, one after another.

    Args:
        handle: knows the extenders.
        pod: the pod that needs room.
        candidates: at least one.
        nodes: every node of the cluster.
    """
    before = victims = _by_name(candidates)
    passed_over: list[tuple[str, str]] = []
    for extender in handle.extenders:
        if not extender.preempts or not extender.is_interested(pod):
            continue
        try:
            answer = dict(extender.preempt(pod, victims, nodes))
        except Unanswered as why:
            handle.note_silence(extender, why)
            continue
        except ExtenderError as fault:
            if not extender.ignorable:
                return ExtenderAnswer(candidates, str(fault), tuple(passed_over))
            passed_over.append((extender.name, str(fault)))
            continue
        # kube-scheduler goes over a map, in no order; here the first by name is the one that fails
        for name in sorted(name for name, chosen in answer.items() if not chosen.pods):
            if not extender.ignorable:
                return ExtenderAnswer(
                    candidates, f'expected at least one victim pod on node "{name}"', tuple(passed_over)
                )
            del answer[name]
        victims = answer
        if not victims:
            break
    left = candidates if victims is before else _candidates(victims, candidates)
    return ExtenderAnswer(left, "", tuple(passed_over))


def _by_name(candidates: Candidates) -> dict[str, NodeVictims]:
    violations = candidates.violations.tolist()
    return {
        name: NodeVictims(tuple(pods), broken)
        for name, pods, broken in zip(candidates.nodes.names, candidates.every_victim(), violations, strict=True)
    }


def _candidates(victims: Mapping[str, NodeVictims], before: Candidates) -> Candidates:
    """Return what an extender left as candidates; which victims break a budget is known of those there were before."""
    cluster = before.nodes.cluster
    names = sorted(victims)
    counts = [len(victims[name].pods) for name in names]
    pods = np.array([cluster.pod_table.row_of[pod.key] for name in names for pod in victims[name].pods], np.intp)
    return Candidates(
        cluster.nodes_named(names),
        np.concatenate((np.zeros(1, np.intp), np.cumsum(counts, dtype=np.intp))),
        pods,
        np.isin(pods, before.pods[before.violating]),
        np.array([victims[name].violations for name in names], np.int64),
    )
