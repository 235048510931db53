"""The topology key that was probably meant where no node has the one that is written: by its role, then by spelling."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from schedctl.api.topology import BETA_REGION, BETA_ZONE, HOSTNAME, REGION, ZONE
from schedctl.cache.cluster import Cluster
from schedctl.documents.spelling import CLOSE, nearest
from schedctl.framework.similar import closest_name

_HOSTS = ("hostname", "host", "node", "nodename", "instance", "machine", "server", "vm")
_ZONES = ("zone", "az", "availability-zone", "availabilityzone", "datacenter", "dc")
_REGIONS = ("region", "geo", "geography")
_RACKS = ("rack", "row", "room", "block", "cabinet", "chassis", "cell", "fault-domain", "failure-domain", "domain")
_ROLES = {
    **dict.fromkeys(_HOSTS, (HOSTNAME,)),
    **dict.fromkeys(_REGIONS, (REGION, BETA_REGION)),
    # a group of nodes that fail together is a zone where nodes tell of no smaller one
    **dict.fromkeys((*_ZONES, *_RACKS), (ZONE, BETA_ZONE)),
}
"""The well-known keys by the words that people call their roles."""
_MOST_NODES = 0.9
"""The share of nodes that must have a label for it to be a topology key."""


def label_values(cluster: Cluster) -> Mapping[str, Mapping[str, int]]:
    """Return how many nodes have which value of each label."""
    maps = cluster.node_table.labels.maps
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in cluster.rows.tolist():
        for key, value in maps[row].items():
            values[key][value] += 1
    return values


def closest_topology_key(key: str, values: Mapping[str, Mapping[str, int]], nodes: int) -> str:
    """Return the key of nodes that plays the role of one that no node has, "" where none does.

    Args:
        key: as it is written.
        values: how many nodes have which value of each label.
        nodes: how many there are.
    """
    domains = [other for other in values if _divides(other, values[other], nodes)]
    word = _last(key)
    same = [other for other in domains if _last(other) == word]
    if same:
        return nearest(key, same, cutoff=0)
    role = word if word in _ROLES else nearest(word, _ROLES, cutoff=CLOSE)
    if not role:
        return closest_name(key, domains)
    if role in _RACKS:
        racks = [other for other in domains if _last(other) in _RACKS]
        if racks:
            return nearest(key, racks, cutoff=0)
    return next((other for other in _ROLES[role] if other in domains), "")


def _divides(key: str, values: Mapping[str, int], nodes: int) -> bool:
    """Return whether a label divides the nodes: most have it, and unless it is a well-known key, some share a value."""
    if sum(values.values()) < nodes * _MOST_NODES:
        return False
    return key in (HOSTNAME, ZONE, REGION, BETA_ZONE, BETA_REGION) or 1 < len(values) < nodes


def _last(key: str) -> str:
    return key.rpartition("/")[2].lower()
