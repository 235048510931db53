"""What a check finds of one object in one situation, before anybody has given it a place or accepted it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.autoscaling.group_files import NO_FILES, GroupFiles
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.pod_groups import group_key
from schedctl.policy.causes import Cause, Causes
from schedctl.policy.documents import Match
from schedctl.policy.facts import Facts
from schedctl.policy.fields import Path
from schedctl.policy.situations import JudgedPod, JudgedWorkload, Situation
from schedctl.reports import counts
from schedctl.reports.checks import CheckOutcome
from schedctl.reports.reasons import Hint
from schedctl.sources.manifests import Sourced

IGNORE_PENDING = "`ignorePending: true` judges without the pods that have no node"

Identity = tuple[str, str, str]
"""Kind, namespace and name of an object that is judged."""


class Judged(msgspec.Struct, frozen=True):
    """The object of one finding.

    Attributes:
        kind, namespace, name: which; kind is "" for the run as a whole.
        subject: how messages name it.
        workload: the object of the manifests it belongs to, None for a node or the run.
        pod: the pod, None for others.
        sourced: the object in the manifests, of a namespace, quota or pod group; of a group that is not there, what
            makes its pods.
    """

    kind: str = ""
    namespace: str = ""
    name: str = ""
    subject: str = "the run"
    workload: JudgedWorkload | None = None
    pod: JudgedPod | None = None
    sourced: Sourced | None = None

    @property
    def identity(self) -> Identity:
        """What is equal for the same object in every situation."""
        return self.kind, self.namespace, self.name

    @classmethod
    def of_workload(cls, judged: JudgedWorkload) -> Judged:
        """Return a workload as an object of findings."""
        return cls(*judged.key, judged.workload.subject, judged)

    @classmethod
    def of_pod(cls, pod: JudgedPod, judged: JudgedWorkload) -> Judged:
        """Return a pod as an object of findings."""
        namespace = judged.workload.namespace
        return cls("Pod", namespace, pod.name, f"Pod {namespace}/{pod.name}", judged, pod)

    @classmethod
    def of_node(cls, name: str) -> Judged:
        """Return a node as an object of findings."""
        return cls("Node", "", name, f"Node {name}")

    @classmethod
    def of_namespace(cls, name: str, situation: Situation) -> Judged:
        """Return a namespace as an object of findings."""
        sourced = situation.sourced.get(("Namespace", "default", name))
        return cls("Namespace", "", name, f"Namespace {name}", sourced=sourced)

    @classmethod
    def of_quota(cls, namespace: str, name: str, situation: Situation) -> Judged:
        """Return a ResourceQuota as an object of findings."""
        sourced = situation.sourced.get(("ResourceQuota", namespace, name))
        return cls("ResourceQuota", namespace, name, f"ResourceQuota {namespace}/{name}", sourced=sourced)

    @classmethod
    def of_group(cls, namespace: str, name: str, situation: Situation) -> Judged:
        """Return a pod group as an object of findings; one that is not in the manifests is where its pods come from."""
        sourced = situation.sourced.get(("PodGroup", namespace, name))
        if sourced is None:
            key = f"{namespace}/{name}"
            members = (
                judged for judged in situation.workloads if any(group_key(pod.info) == key for pod in judged.pods)
            )
            sourced = next((judged.sourced for judged in members if judged.sourced is not None), None)
        return cls("PodGroup", namespace, name, f"PodGroup {namespace}/{name}", sourced=sourced)

    @classmethod
    def of_nodes(cls, key: str, value: str) -> Judged:
        """Return the nodes with one value of a label, or without it, as an object of findings."""
        name = f"{key}={value}" if value else f"!{key}"
        return cls("Nodes", "", name, f"nodes with {key}={value}" if value else f"nodes without {key}")

    @classmethod
    def of_pods(cls, key: str, value: str) -> Judged:
        """Return the pods with one value of a label, or without it, as an object of findings."""
        name = f"{key}={value}" if value else f"!{key}"
        return cls("Pods", "", name, f"pods with {name}" if value else f"pods without {key}")


RUN = Judged()
"""The run as a whole."""


class Finding(msgspec.Struct, frozen=True):
    """What a check finds of one object.

    Attributes:
        outcome: passed, violated or inconclusive.
        message: in one line, without the subject.
        reasons: what stands behind it, a line each.
        hints: next steps, a line each.
        path: the deciding field in the spec of the pods, () where it is the object itself.
        about: another object than the check was asked about, None for that one.
        violates: what is violated, by names that last, and how far, so that what grows worse is recognised; of a
            violation without one only the object is known.
    """

    outcome: CheckOutcome
    message: str
    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    path: Path = ()
    about: Judged | None = None
    violates: Mapping[str, int] = msgspec.field(default_factory=dict)
    fixes: tuple[Hint, ...] = ()

    def because(self, cause: Cause) -> Finding:
        """Return the finding with what stands behind it."""
        return replace(
            self,
            reasons=(*self.reasons, *cause.reasons),
            hints=(*self.hints, *cause.hints),
            path=self.path or cause.path,
            fixes=(*self.fixes, *cause.fixes),
        )


class View(msgspec.Struct, frozen=True):
    """What a built-in check may look at.

    Attributes:
        situation: the situation it is judged in.
        facts: its objects as plain data.
        causes: what answers why pods are pending.
        workloads: those the policy is about.
        match: by what it chooses them.
        before: the pods that were on a node in the state as it was given, by key.
        state_taken: when the state was as it is, in Unix seconds, None where nobody said.
        now: Unix seconds.
        group_files: what files say of the groups of nodes that may grow.
    """

    situation: Situation
    facts: Facts
    causes: Causes
    workloads: Sequence[JudgedWorkload]
    match: Match
    before: Mapping[str, PodInfo]
    state_taken: float | None
    now: float
    group_files: GroupFiles = NO_FILES


def undecided_finding(message: str, pods: Sequence[JudgedPod], cause: Cause) -> Finding:
    """Return a finding that could turn out either way once some pods have a node, with why they have none."""
    unclear = sum(pod.is_unclear for pod in pods)
    pending = len(pods) - unclear
    parts = [f"{counts.of(pending, 'pod')} pending"] if pending else []
    parts += [f"{counts.of(unclear, 'pod')} inconclusive"] if unclear else []
    # What finds a node for the pods comes before what judges without them.
    hints = [*cause.hints, *([IGNORE_PENDING] if pending else [])]
    return replace(inconclusive(f"{message}; {', '.join(parts)}", cause.reasons, hints, cause.path), fixes=cause.fixes)


def pass_finding(message: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(CheckOutcome.PASSED, message)


def violation(
    message: str,
    reasons: Sequence[str] = (),
    hints: Sequence[str] = (),
    path: Path = (),
    *,
    violates: Mapping[str, int] | None = None,
) -> Finding:
    """Return a finding that something is wrong, with what is violated and how far."""
    return Finding(CheckOutcome.VIOLATED, message, tuple(reasons), tuple(hints), path, violates=violates or {})


def inconclusive(message: str, reasons: Sequence[str] = (), hints: Sequence[str] = (), path: Path = ()) -> Finding:
    """Return a finding that nobody can tell."""
    return Finding(CheckOutcome.INCONCLUSIVE, message, tuple(reasons), tuple(hints), path)
