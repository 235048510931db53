"""Gives groups the sizes that Cluster Autoscaler reports in its ConfigMap."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from schedctl.api.autoscalers import STATUS_NAME, ConfigMap
from schedctl.autoscaling.groups import Autoscaler, NodeGroup
from schedctl.cache.cluster import Cluster
from schedctl.documents.autoscaler_status import ReportedGroup, read_status


def reported_groups(cluster: Cluster) -> tuple[list[ReportedGroup], list[str]]:
    """Return the node groups of the status of Cluster Autoscaler, and what is wrong with that status."""
    for key, config_map in sorted(cluster.every(ConfigMap).items()):
        if config_map.metadata.name == STATUS_NAME:
            found = read_status((config_map.data or {}).get("status", ""))
            problem = f"the status in ConfigMap {key} names no node group with its sizes"
            return found, [] if found else [problem]
    return [], []


def with_sizes(groups: Sequence[NodeGroup], reported: Sequence[ReportedGroup]) -> tuple[list[NodeGroup], list[str]]:
    """Return groups with the sizes that the autoscaler reports, and what it reports of none of them.

    A cloud's name of a group holds the cluster's name of it: ``eks-general-1ec0…``, ``…/gke-prod-general-9f1b-grp``.
    """
    sized = {group.name: group for group in groups}
    unmatched = []
    for each in sorted(reported, key=lambda each: each.name):
        words = re.split(r"[^A-Za-z0-9]+", each.name)
        names = [name for name in sized if _holds(words, re.split(r"[^A-Za-z0-9]+", name))]
        if not names:
            unmatched.append(
                f"node group {each.name} of Cluster Autoscaler has no node, and nothing says what one is like"
            )
            continue
        name = max(names, key=len)
        group = sized[name]
        notes = (
            (*group.notes, "Cluster Autoscaler backs off after it failed to add a node")
            if each.backoff
            else group.notes
        )
        if group.max_size is not None and group.origin.startswith("Cluster API"):
            sized[name] = replace(group, notes=notes)
            continue
        # a group in several zones may be several groups of the cloud
        min_size, max_size = each.min_size, each.max_size
        if group.autoscaler is Autoscaler.CLUSTER_AUTOSCALER and group.max_size is not None:
            min_size, max_size = group.min_size + min_size, group.max_size + max_size
        sized[name] = replace(
            group, autoscaler=Autoscaler.CLUSTER_AUTOSCALER, min_size=min_size, max_size=max_size, notes=notes
        )
    return list(sized.values()), unmatched


def _holds(words: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether the words of a name stand together among others."""
    return any(list(words[at : at + len(name)]) == list(name) for at in range(len(words) - len(name) + 1))
