"""Hypothesis strategies for nodes, pods and clusters, for tests of plugins; Hypothesis is yours to install.

What they draw can be narrowed by keyword, as the builders take them: ``nodes(cpu=just("4"))``.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from schedctl.api.nodes import Node
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.testing import builders, examples


def nodes(name: st.SearchStrategy[str] | None = None, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Node]:
    """Return a strategy for nodes.

    Args:
        name: of their names.
        **fields: of what `schedctl.testing.builders.node` takes.
    """
    usual: dict[str, st.SearchStrategy[Any]] = {
        "cpu": st.sampled_from(examples.CPUS),
        "memory": st.sampled_from(examples.MEMORIES),
        "zone": st.sampled_from(examples.ZONES),
        "labels": st.sampled_from(examples.TEAMS).map(examples.labels),
        "taints": st.sampled_from((None, [examples.TAINT])),
        "unschedulable": st.booleans(),
    }
    return st.builds(builders.node, _numbered_names("node") if name is None else name, **{**usual, **fields})


def pods(name: st.SearchStrategy[str] | None = None, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[PodInfo]:
    """Return a strategy for pods that want a node.

    Args:
        name: of their names.
        **fields: of what `schedctl.testing.builders.pod` takes.
    """
    usual: dict[str, st.SearchStrategy[Any]] = {
        "namespace": st.sampled_from(("default", "shop")),
        "cpu": st.sampled_from(examples.REQUESTS),
        "memory": st.sampled_from((None, *examples.MEMORIES)),
        "labels": st.sampled_from(examples.TEAMS).map(examples.labels),
        "priority": st.sampled_from(examples.PRIORITIES),
        "tolerations": st.sampled_from((None, [examples.TOLERATION])),
    }
    return st.builds(builders.pod, _numbered_names("pending") if name is None else name, **{**usual, **fields})


@st.composite
def clusters(draw: st.DrawFn, *, min_nodes: int = 0, max_nodes: int = 8, max_pods: int = 12) -> Cluster:
    """Return a strategy for clusters with pods running on them."""
    made = [
        draw(nodes(st.just(f"node-{number}")))
        for number in range(draw(st.integers(min_value=min_nodes, max_value=max_nodes)))
    ]
    names = [node.metadata.name for node in made]
    running = [
        draw(pods(st.just(f"running-{number}"), on=st.sampled_from(names)))
        for number in range(draw(st.integers(min_value=0, max_value=max_pods)) if names else 0)
    ]
    return builders.cluster(*made, *running)


def _numbered_names(word: str) -> st.SearchStrategy[str]:
    return st.integers(min_value=0, max_value=99).map(lambda number: f"{word}-{number}")
