"""How kube-scheduler counts in one line why no node will do: ``0/3 nodes are available: 1 this, 2 that.``."""

from __future__ import annotations

from collections.abc import Mapping


def none_available(nodes: int, reasons: Mapping[str, int]) -> str:
    """Return the line for a cluster of so many nodes, from how many of them each reason stands for."""
    counted = ", ".join(sorted(f"{number} {text}" for text, number in reasons.items()))
    return f"0/{nodes} nodes are available:" + (f" {counted}." if counted else "")
