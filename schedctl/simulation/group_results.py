"""What has become of pod groups at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.cluster import Cluster
from schedctl.framework.pod_groups import group_key
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.scheduler import group_reports
from schedctl.simulation.outcomes import PodState, Run


def of_run(run: Run, cluster: Cluster, created: Iterable[Any] = ()) -> list[PodGroupResult]:
    """Return what has become of each group that was created or of which pods took part, none where groups are off.

    Args:
        run: what became of the pods.
        cluster: as the run left it.
        created: what joined the cluster for the run.
    """
    if not cluster.release.enabled("GenericWorkload"):
        return []
    keys = dict.fromkeys(group.key for group in cluster.every(PodGroup).values() if group.key in run.groups)
    keys |= dict.fromkeys(f"{each.metadata.namespace}/{each.metadata.name}" for each in created if _is_group(each))
    gates: dict[str, str] = {}
    for outcome in run.pods.values():
        key = group_key(outcome.pod)
        if key:
            keys[key] = None
            if outcome.state is PodState.GATED:
                gates.setdefault(key, outcome.message)
    results = []
    for key in keys:
        group = cluster.get(PodGroup, key)
        if group is not None:
            facts = run.groups.get(key)
            attempt, attempts = (facts.attempt, facts.attempts) if facts is not None else (None, 0)
            condition = facts.condition if facts is not None else None
            results.append(group_reports.after_run(group, cluster, attempt, gates.get(key, ""), attempts, condition))
    return results


def _is_group(obj: Any) -> bool:
    return isinstance(obj, PodGroup)
