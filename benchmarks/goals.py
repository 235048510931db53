"""What we mean to reach on each shape, as a ratio to kube-scheduler's own plugins on the same machine.

The goals are for the published numbers of nodes, with every node judged by us and the same decisions.
"""

from typing import Any

from benchmarks import workloads
from benchmarks.mixes import Mix

MEDIAN_EXHAUSTIVE = 100
MEDIAN_SAMPLED = 10
MEDIAN_MIXES = 60
NO_SLOWER = {"SchedulingDaemonset", "PreemptionBasic"}
"""PreFilter leaves kube-scheduler a single node; and pods that fit nowhere are refused by the first plugin."""
BETWEEN_PODS = {
    *("anti", "green", "affinity", "prefer", "avoid", "anti-ns", "avoid-ns", "affinity-ns", "prefer-ns"),
    *("spread", "spread-soft", "service", "inclusion"),
}
"""The templates of pods that other pods attract, repel, or are spread among."""


def least(shape: str) -> int:
    """How many times kube-scheduler's rate, judging every node, a shape is to reach at least."""
    template = workloads.SHAPES[shape][7]
    if shape in NO_SLOWER:
        return 1
    if shape in workloads.VOLUMES or template == "claim":
        return 10
    return 50 if template in BETWEEN_PODS else 20


def least_of_mix(mix: Mix) -> int:
    """The same of a mix of templates."""
    return 15 if mix.claims or mix.devices else 40


def verdict(reached: float, goal: float) -> str:
    """Whether a ratio is as large as it was to be."""
    return f"≥ {goal:g}x {'reached' if reached >= goal else 'missed'}"


def limit(found: float, most: float, unit: str = "") -> str:
    """Whether a number is as small as it was to be."""
    return f"≤ {most:g}{unit} {'reached' if found <= most else 'missed'}"


def misses(rows: list[dict[str, Any]]) -> list[str]:
    """The shapes that are short of their goals."""
    return [row["shape"] for row in rows if row["ratios"]["exhaustive"] < row["goal"]]
