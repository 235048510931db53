"""What Cluster Autoscaler reports of its node groups in its ConfigMap: how large each may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schedctl.api.autoscalers import ConfigMap
from schedctl.autoscaling.groups import Autoscaler, NodeGroup
from schedctl.cache.cluster import Cluster
from schedctl.documents.decoding import Decoder
from schedctl.documents.heads import read_tree
from schedctl.errors import ConfigError

STATUS = "cluster-autoscaler-status"
"""The name of the ConfigMap, in the namespace of the autoscaler."""
_OLD_NAME = re.compile(r"^\s*Name:\s*(?P<name>\S+)\s*$", re.MULTILINE)
_OLD_SIZES = re.compile(r"minSize=(?P<min>\d+),\s*maxSize=(?P<max>\d+)")
_BACKOFF = "Backoff"


@dataclass(frozen=True, slots=True)
class ReportedGroup:
    """A node group as the autoscaler reports it.

    Attributes:
        name: what the cloud calls it.
        min_size, max_size: how large it may be.
        backoff: whether the autoscaler waits after it failed to grow.
    """

    name: str
    min_size: int
    max_size: int
    backoff: bool = False


def reported_groups(cluster: Cluster) -> tuple[list[ReportedGroup], list[str]]:
    """Return the node groups of the status of Cluster Autoscaler, and what is wrong with that status."""
    for key, config_map in sorted(cluster.every(ConfigMap).items()):
        if config_map.metadata.name == STATUS:
            text = (config_map.data or {}).get("status", "")
            try:
                found = list(_structured(text)) or list(_plain(text))
            except ConfigError:
                found = list(_plain(text))
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


def _structured(text: str) -> Iterator[ReportedGroup]:
    """Yield the groups of a status in YAML, as Cluster Autoscaler writes it since 1.30."""
    node = read_tree(text, STATUS)
    status: Any = Decoder().free(node, "")
    node_groups = status.get("nodeGroups") if isinstance(status, dict) else None
    for each in node_groups if isinstance(node_groups, list) else ():
        if not isinstance(each, dict):
            continue
        health = each.get("health")
        sizes = (health.get("minSize"), health.get("maxSize")) if isinstance(health, dict) else (None, None)
        if isinstance(each.get("name"), str) and isinstance(sizes[0], int) and isinstance(sizes[1], int):
            scale_up = each.get("scaleUp")
            backoff = isinstance(scale_up, dict) and scale_up.get("status") == _BACKOFF
            yield ReportedGroup(each["name"], sizes[0], sizes[1], backoff)


def _plain(text: str) -> Iterator[ReportedGroup]:
    """Yield the groups of a status as it was written before."""
    names = list(_OLD_NAME.finditer(text))
    ends = [match.start() for match in names[1:]] + [len(text)]
    for match, end in zip(names, ends, strict=False):
        part = text[match.end() : end]
        sizes = _OLD_SIZES.search(part)
        if sizes is not None:
            yield ReportedGroup(match["name"], int(sizes["min"]), int(sizes["max"]), _BACKOFF in part)
