"""The pod groups that a policy is about, and what checks and expressions see of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedctl.api.pod_groups import PodGroup
from schedctl.framework.pod_groups import group_key
from schedctl.policy.findings import View
from schedctl.policy.situations import Situation
from schedctl.reports.pod_groups import PodGroupResult
from schedctl.scheduler import group_reports


def judged_groups(view: View) -> list[str]:
    """Return the keys of the groups that a policy is about: those in the manifests, and those of their pods."""
    found = {
        f"{namespace}/{name}"
        for (kind, namespace, name), sourced in view.situation.sourced.items()
        if kind == "PodGroup" and view.match.selects(kind, namespace, name, sourced.object.metadata.labels)
    }
    pods = (pod for judged in view.workloads for pod in judged.pods)
    return sorted(found | {key for pod in pods if (key := group_key(pod.info))})


def result_of(situation: Situation, key: str) -> PodGroupResult | None:
    """Return what has become of a group in a situation, None where the group is not there."""
    cluster = situation.cluster
    group = cluster.get(PodGroup, key)
    if group is None:
        return None
    facts = situation.run.groups.get(key)
    return group_reports.after_run(
        group,
        cluster,
        facts.attempt if facts is not None else None,
        "",
        facts.attempts if facts is not None else 0,
        facts.condition if facts is not None else None,
    )


def group_data(situation: Situation, key: str) -> Mapping[str, Any]:
    """Return a group as plain data, with the fields of `schedctl.policy.variables`."""
    result, group = result_of(situation, key), situation.cluster.get(PodGroup, key)
    namespace, _, name = key.partition("/")
    if result is None or group is None:
        return {"namespace": namespace, "name": name, "starts": False}
    return {
        "namespace": namespace,
        "name": name,
        "labels": dict(group.metadata.labels or {}),
        "annotations": dict(group.metadata.annotations or {}),
        "policy": result.policy,
        "minCount": result.min_count,
        "topologyKey": result.topology_key,
        "priority": result.priority,
        "pods": {
            "total": result.pods,
            "scheduled": result.scheduled,
            "pending": result.pods - result.scheduled,
        },
        "starts": starts(result),
        "nodes": dict(result.nodes),
    }


def starts(result: PodGroupResult) -> bool:
    """Return whether enough pods of a group have a node."""
    return result.scheduled >= max(1, result.min_count)
