"""The status that Cluster Autoscaler writes into its ConfigMap: how large each of its node groups may be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from schedctl.documents.decoding import Decoder
from schedctl.documents.heads import read_tree
from schedctl.errors import ConfigError

_OLD_NAME = re.compile(r"^\s*Name:\s*(?P<name>\S+)\s*$", re.MULTILINE)
_OLD_SIZES = re.compile(r"minSize=(?P<min>\d+),\s*maxSize=(?P<max>\d+)")
_BACKOFF = "Backoff"


class ReportedGroup(msgspec.Struct, frozen=True):
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


def read_status(text: str) -> list[ReportedGroup]:
    """Return the node groups that a status names with their sizes; none of a text that is no status."""
    try:
        return list(_structured(text)) or list(_plain(text))
    except ConfigError:
        return list(_plain(text))


def write_status(groups: Iterable[ReportedGroup]) -> str:
    """Return a status with what is read of these groups and nothing else, as JSON."""
    written = [
        {
            "name": each.name,
            "health": {"minSize": each.min_size, "maxSize": each.max_size},
            **({"scaleUp": {"status": _BACKOFF}} if each.backoff else {}),
        }
        for each in groups
    ]
    return json.dumps({"nodeGroups": written}, separators=(",", ":"), ensure_ascii=False)


def _structured(text: str) -> Iterator[ReportedGroup]:
    """Yield the groups of a status in YAML, as Cluster Autoscaler writes it since 1.30."""
    node = read_tree(text, "status")
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
