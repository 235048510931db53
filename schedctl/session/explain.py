"""From an object to its explanation: a pod as it is, a workload by the pod it would make next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from schedctl.api.pods import FINISHED, Pod
from schedctl.api.workloads import DaemonSet
from schedctl.cache.cluster import Cluster
from schedctl.cli import faults
from schedctl.explain import explanations
from schedctl.framework.pod_edits import as_pending
from schedctl.reports.explanations import Explanation
from schedctl.scheduler import Scheduler
from schedctl.scheduler.gaps import gathering
from schedctl.workloads import admission, daemon_sets, pod_templates
from schedctl.workloads.daemon_sets import Complete

_replace = msgspec.structs.replace


def answers(
    scheduler: Scheduler,
    objects: Sequence[Any],
    *,
    profile: str,
    matrix: bool,
    node: str,
    sampling: bool,
    advance: Callable[[int, int, str], None],
    unknown: Mapping[str, frozenset[type]] | None = None,
    hints: bool = True,
) -> Iterator[Explanation]:
    """Yield the explanation of each object that has a pod to explain; the cluster is as before.

    A DaemonSet with all its pods has none; that is said on standard error.

    Args:
        scheduler: the profiles and the cluster.
        objects: pods and workloads.
        profile: the scheduler name whose profile is used for every pod, "" for the one the pod asks for.
        matrix: see `schedctl.explain.explanations.explain`.
        node: likewise.
        sampling: likewise.
        advance: told how far the work is.
        unknown: by pod key, the missing kinds that admission would have looked at; see `AssembledCluster.unknown`.
        hints: see `schedctl.explain.explanations.explain`.

    Raises:
        UsageError: there is no such node.
    """
    for number, obj in enumerate(objects):
        advance(number, len(objects), obj.metadata.name)
        with scheduler.cluster.fork() as cluster:
            with gathering(cluster) as gathered:
                try:
                    pod, notes = pod_of(obj, cluster, node)
                except Complete as complete:
                    faults.say(str(complete))
                    continue
            for kind in (unknown or {}).get(pod.key, ()):
                gathered.read(kind)
            if profile:
                pod = _replace(pod, spec=_replace(pod.spec, scheduler_name=profile))
            explanation = explanations.explain(
                scheduler, pod, matrix=matrix, node=node, sampling=sampling, hints=hints, guessed=gathered.guesses
            )
        yield _replace(explanation, notes=[*notes, *explanation.notes])


def pod_of(obj: Any, cluster: Cluster, node: str) -> tuple[Pod, list[str]]:
    """Return the pod to explain and what to know about it; objects that come with it are put into the cluster."""
    if isinstance(obj, Pod):
        if obj.status.phase not in FINISHED:
            return obj, []
        return as_pending(obj), [f"the pod has ended ({obj.status.phase}): this is about another like it"]
    made = daemon_sets.pod_for(obj, cluster, node) if isinstance(obj, DaemonSet) else pod_templates.pod_of(obj, cluster)
    for companion in made.companions:
        cluster.put(companion)
    admitted = admission.admit(made.pod, cluster)
    for claim in admitted.claims:
        cluster.put(claim)
    metadata = obj.metadata
    note = f"this is the pod that {type(obj).__name__} {metadata.namespace}/{metadata.name} would make next"
    return admitted.pod, [made.note or note, *admitted.warnings]
