"""Clusters and pods drawn at random, the same for the same seed, in which the things plugins look at do occur.

Few values, so that they meet: labels that some nodes have and some do not, taints that some pods tolerate, nodes that
are nearly full, empty clusters. ``strategies`` draws from the same values with Hypothesis.
"""

from __future__ import annotations

from random import Random
from typing import Any

from schedctl.api.nodes import Node
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.testing import builders

ZONES = (None, "a", "b", "c")
TEAMS = (None, "red", "blue")
CPUS = ("500m", "1", "4", "32")
MEMORIES = ("256Mi", "1Gi", "16Gi")
REQUESTS = (None, "100m", "1", "3")
PRIORITIES = (0, 0, 100, 1000)
TAINT = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
TOLERATION = {"key": "dedicated", "operator": "Exists"}


def draw_cluster(seed: int) -> tuple[Cluster, list[PodInfo]]:
    """Return a cluster of up to a dozen nodes, and a few pods that want one of them."""
    random = Random(seed)
    nodes = [_node(random, number) for number in range(random.choice((0, 1, 2, 5, 12)))]
    running = [
        _pod(random, f"running-{number}", random.choice(nodes).metadata.name)
        for number in range(random.randrange(2 * len(nodes) + 1))
    ]
    return builders.cluster(*nodes, *running), [_pod(random, f"pending-{number}", None) for number in range(3)]


def labels(team: str | None) -> dict[str, str]:
    """Return the labels of whatever belongs to a team."""
    return {"team": team} if team else {}


def _node(random: Random, number: int) -> Node:
    return builders.node(
        f"node-{number}",
        cpu=random.choice(CPUS),
        memory=random.choice(MEMORIES),
        zone=random.choice(ZONES),
        labels=labels(random.choice(TEAMS)),
        taints=[TAINT] if random.random() < 0.25 else None,
        unschedulable=random.random() < 0.1,
    )


def _pod(random: Random, name: str, on: str | None) -> PodInfo:
    more: dict[str, Any] = {"tolerations": [TOLERATION]} if random.random() < 0.5 else {}
    return builders.pod(
        name,
        namespace=random.choice(("default", "shop")),
        cpu=random.choice(REQUESTS),
        memory=random.choice((None, *MEMORIES)),
        labels=labels(random.choice(TEAMS)),
        on=on,
        priority=random.choice(PRIORITIES),
        **more,
    )
