"""``placement``: the pods of each workload run on the nodes they may run on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from schedctl.api.nodes import Node
from schedctl.policy import fields, findings
from schedctl.policy.documents import NodeDemand, Placement
from schedctl.policy.identities import node_class
from schedctl.policy.references import Taint
from schedctl.reports import counts

_SHOWN = 5


def judge(view: findings.View, arguments: Placement, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: every node with one of its pods has what it must have, and nothing that it must not."""
    judged = about.workload
    assert judged is not None
    table = view.situation.cluster.node_table
    wrong: dict[str, list[str]] = {}
    violates: Counter[str] = Counter()
    for pod in judged.placed_pods:
        node = table.objects[table.row_of[pod.node]]
        why = _objection(node, arguments)
        if why:
            wrong.setdefault(f"{pod.node} {why}", []).append(pod.name)
            violates[f"{node_class(node)} {why}"] += 1
    outside = sum(map(len, wrong.values()))
    placed = counts.of(len(judged.placed_pods), "pod")
    message = f"{outside} of {placed} on a node that is not allowed" if judged.placed_pods else "no pod has a node"
    if wrong:
        reasons = [f"{where}: {', '.join(names[:_SHOWN])}" for where, names in list(wrong.items())[:_SHOWN]]
        if len(wrong) > _SHOWN:
            reasons.append(f"and on {counts.of(len(wrong) - _SHOWN, 'more node')}")
        path = fields.first(judged.pods[0].info.pod.spec, fields.PLACING)
        yield findings.violation(message, reasons, path=path, violates=violates)
    elif undecided := judged.undecided_pods(arguments.ignore_pending):
        yield findings.undecided_finding(message, undecided, view.causes.explain_pending(undecided))
    else:
        yield findings.pass_finding(f"{placed} on allowed nodes")


def _objection(node: Node, arguments: Placement) -> str:
    """Return what is wrong with a node, "" for nothing."""
    if arguments.must is not None and not _has(node, arguments.must):
        return f"lacks {_describe(arguments.must)}"
    if arguments.must_not is not None and _has(node, arguments.must_not):
        return f"has {_describe(arguments.must_not)}"
    return ""


def _has(node: Node, demand: NodeDemand) -> bool:
    """Return whether a node has all that is said."""
    labels = node.metadata.labels or {}
    if any(labels.get(key) != value for key, value in demand.node_selector.items()):
        return False
    if not demand.taint:
        return True
    named = Taint.parse(demand.taint)
    return any(named.matches(taint.key, taint.value, taint.effect) for taint in node.spec.taints or ())


def _describe(demand: NodeDemand) -> str:
    parts = [f"{key}={value}" for key, value in demand.node_selector.items()]
    return " and ".join([*parts, *([f"taint {demand.taint}"] if demand.taint else [])])
