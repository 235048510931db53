"""What a pod takes along on a node: the volumes that are bound or made for its claims, the devices it gets.

Filters find it out for every node that will do, and keep it for their own later steps. A plugin that does so is told
here by name with a `Telling`, which reads the findings of one node; other plugins take nothing that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from schedctl.cache.cluster import Cluster
from schedctl.engine.attempts import Attempt
from schedctl.explain.device_takings import devices
from schedctl.explain.storage_takings import volumes
from schedctl.reports.explanations import Taking

Telling = Callable[[Any, Cluster], Iterable[Taking]]
"""From what a plugin found out about a node, never None, and the cluster, to what the pod takes there."""

_TELLINGS: dict[str, Telling] = {
    "DynamicResources": devices,
    "VolumeBinding": volumes,
}


def takings(outcome: Attempt, node: str) -> list[Taking]:
    """Return what the pod takes along on a node that will do, in the order of the profile's filters."""
    row = outcome.cluster.node_table.row_of[node]
    found: list[Taking] = []
    for plugin in outcome.profile.filter:
        findings = outcome.cycle.findings.get(plugin.name)
        tell = _TELLINGS.get(plugin.name)
        here = findings.at(row) if findings is not None and tell is not None else None
        if here is not None and tell is not None:
            found += tell(here, outcome.cluster)
    return found
