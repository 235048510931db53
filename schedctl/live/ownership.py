"""Whose pods may be bound.

A pod says by ``schedulerName`` who is to find it a node, and two that bind the same pods race: the loser's reservations
are wrong from then on. Pods of ``default-scheduler`` belong to the kube-scheduler that every cluster runs, so they are
not ours. Any other name is ours if a configuration that was given has a profile of that name: whoever gives it says
that schedctl stands in for that scheduler. The configuration that a cluster keeps for its own scheduler says the
opposite, so its profiles do not count. ``--force-scheduler`` overrides all this.
"""

from __future__ import annotations

from collections.abc import Container

from schedctl.api.defaults import DEFAULT_SCHEDULER


def not_ours(scheduler_name: str, profiles: Container[str]) -> str:
    """Return why the pods of a scheduler are not ours to bind, "" where they are.

    Args:
        scheduler_name: the ``schedulerName`` of the pod.
        profiles: the scheduler names of the configuration that was given.
    """
    if scheduler_name == DEFAULT_SCHEDULER:
        return "pods of default-scheduler are bound by the cluster's own kube-scheduler"
    if scheduler_name not in profiles:
        return f"the pod is left to scheduler {scheduler_name}, and no profile of that name was given"
    return ""
