"""A small shop: three zones, one of them full, one pool of GPU nodes."""

import pytest

from schedctl.explain.explanations import explain
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}


@pytest.fixture
def shop():
    """Six nodes of 4 cpu, two in each zone, and a tainted one; a pod `fill-N` on each leaves 2, 1.5 and 0.5 cpu."""
    nodes = [node(f"node-{i}", cpu="4", zone=f"zone-{'abc'[i // 2]}") for i in range(6)]
    used = ["2", "2", "2500m", "2500m", "3500m", "3500m"]
    fill = [pod(f"fill-{i}", on=f"node-{i}", cpu=cpu, labels={"app": "fill"}) for i, cpu in enumerate(used)]
    return cluster(*nodes, node("gpu-0", cpu="16", taints=[GPU_TAINT]), *fill)


@pytest.fixture
def ask():
    """Explain a pod on a cluster with the default profile."""

    def ask(state, subject, **options):
        return explain(Scheduler(state), subject, **options)

    return ask
