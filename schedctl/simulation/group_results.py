"""What has become of pod groups at the end of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.cache.cluster import Cluster
from schedctl.framework.pod_groups import group_key
from schedctl.releases import GENERIC_WORKLOAD
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.scheduler import group_reports
from schedctl.simulation.outcomes import PodState, Run


def of_run(
    run: Run, cluster: Cluster, joined: Iterable[Any] = (), created: Collection[str] = ()
) -> tuple[list[PodGroupResult], list[PodGroupResult]]:
    """Return what has become of the groups that a run is about, and of others in it; none where groups are off.

    Args:
        run: what became of the pods.
        cluster: as the run left it.
        joined: the objects that were created for the run.
        created: the keys of the pods that were.
    """
    if not cluster.release.enabled(GENERIC_WORKLOAD):
        return [], []
    ours = {each.key for each in joined if isinstance(each, PodGroup)}
    keys = dict.fromkeys((*sorted(ours), *run.groups))
    gates: dict[str, str] = {}
    for name, outcome in run.pods.items():
        if not (key := group_key(outcome.pod)):
            continue
        keys[key] = None
        if name in created:
            ours.add(key)
        if outcome.state is PodState.GATED:
            gates.setdefault(key, outcome.message)
    results: tuple[list[PodGroupResult], list[PodGroupResult]] = [], []
    for key in keys:
        group, facts = cluster.get(PodGroup, key), run.groups.get(key)
        if group is not None:
            result = group_reports.after_run(
                group,
                cluster,
                facts.attempt if facts is not None else None,
                gates.get(key, ""),
                facts.attempts if facts is not None else 0,
                facts.condition if facts is not None else None,
            )
            results[key not in ours].append(result)
    return results
