"""PodDisruptionBudgets among the manifests that protect no pod, of the manifests or of the state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schedctl.api.pods import Pod
from schedctl.api.policies import PodDisruptionBudget
from schedctl.api.selectors import LabelQuery, SelectorError, compile_selector
from schedctl.api.workloads import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from schedctl.documents.spelling import nearest
from schedctl.errors import Problem
from schedctl.framework.selector_wording import describe_selector
from schedctl.framework.similar import did_you_mean
from schedctl.policy.situations import Situation
from schedctl.sources import Sourced
from schedctl.workloads.clusters import every_pod

_MAKERS: tuple[type[Any], ...] = (DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet)
_ALIKE = 0.8
"""How much a label is like the selector that may have meant it; the key is often the same."""
_Labels = Mapping[str, str]


def find(objects: Iterable[Sourced], placed: Situation) -> Iterator[Problem]:
    """Yield what is odd about budgets whose selector matches no pod and no pod template.

    Args:
        objects: of the manifests.
        placed: the state with the manifests in it.
    """
    budgets = [one for one in objects if isinstance(one.object, PodDisruptionBudget)]
    if not budgets or Pod in placed.cluster.missing:
        return
    labels = _labels_by_namespace(placed)
    for one in budgets:
        namespace = one.object.metadata.namespace or "default"
        try:
            query = compile_selector(one.object.spec.selector)
        except SelectorError:
            continue  # the manifest has a problem of its own
        there = labels.get(namespace, [])
        if not any(map(query.matches, there)):
            message = f"selects no pod in namespace {namespace}, of the manifests or of the state: {_why(query, there)}"
            yield one.problem(message, ("spec", "selector"))


def _labels_by_namespace(placed: Situation) -> dict[str, list[_Labels]]:
    """Return the labels of pods and of what makes them: a workload of 0 replicas may get some."""
    found: dict[str, list[_Labels]] = {}
    for judged in placed.workloads:
        template = judged.workload.template
        metadata = [pod.info.pod.metadata for pod in judged.pods]
        metadata += [template.metadata] if template is not None else []
        found.setdefault(judged.workload.namespace, []).extend(each.labels or {} for each in metadata)
    for info in every_pod(placed.cluster):
        found.setdefault(info.namespace, []).append(info.labels)
    for kind in _MAKERS:
        for obj in placed.cluster.every(kind).values():
            if obj.spec.template is not None:
                found.setdefault(obj.metadata.namespace, []).append(obj.spec.template.metadata.labels or {})
    return found


def _why(query: LabelQuery, labels: Iterable[_Labels]) -> str:
    """Return the selector, and the label that was probably meant where one is spelt like it."""
    selector = describe_selector(query)
    known = sorted({f"{key}={value}" for each in labels for key, value in each.items()})
    return f"selector {selector}{did_you_mean(nearest(selector, known, cutoff=_ALIKE))}"
