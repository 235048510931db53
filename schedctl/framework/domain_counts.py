"""How many pods a rule counts in each domain of a topology, as plugins tell it to whoever explains a pod."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DomainCounts:
    """The domains that a rule of a pod tells apart.

    Attributes:
        topology_key: the label whose values are the domains.
        hard: whether the rule rejects nodes; else it only scores them.
        max_skew: by how much a domain may outnumber the emptiest.
        adds: how many the pod itself would add to its domain: 1 or 0.
        minimum: what the skew is counted from.
        domains: how many there are.
        counts: the pods counted by domain; of many domains the emptiest and the fullest.
    """

    topology_key: str
    hard: bool
    max_skew: int
    adds: int
    minimum: int
    domains: int
    counts: Mapping[str, int]
