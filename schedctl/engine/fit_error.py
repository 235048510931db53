"""The line kube-scheduler writes into a FailedScheduling event, byte for byte."""

from __future__ import annotations

from collections import Counter

from schedctl.engine.attempts import Attempt
from schedctl.framework.statuses import none_available

NO_NODES = "no nodes available to schedule pods"


def message(outcome: Attempt) -> str:
    """Return the line of a failed attempt; "" where the pod found a node, is gated, or the cycle ended in an error."""
    pod = outcome.pod.pod.metadata
    if outcome.deleted:
        return f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
    if outcome.gated is not None or outcome.error or outcome.fits:
        return ""
    if not outcome.total_nodes:
        return NO_NODES
    if outcome.pre_filter.is_rejected and outcome.pre_filter.message:
        line = f"{none_available(outcome.total_nodes, {})} {outcome.pre_filter.message}."
    else:
        line = none_available(outcome.total_nodes, reason_counts(outcome))
    after = outcome.post_filter.status.message if outcome.post_filter is not None else ""
    return f"{line} {after}" if after else line


def reason_counts(outcome: Attempt) -> Counter[str]:
    """Return how many nodes each reason stands for, nodes that PreFilter left out included."""
    if outcome.filtering is None:
        return Counter()
    counts = outcome.filtering.histogram()
    left_out = outcome.total_nodes - outcome.filtering.explained_nodes
    if left_out > 0 and outcome.pre_filter_nodes is not None:
        plugins = " ".join(sorted(outcome.narrowing_plugins))
        counts[f"node(s) didn't satisfy plugin(s) [{plugins}]"] += left_out
    return counts
