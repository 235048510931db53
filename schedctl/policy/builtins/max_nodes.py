"""``max-nodes``: the pods of each workload keep to so many nodes."""

from __future__ import annotations

from collections.abc import Iterable

from schedctl.policy import fields, findings
from schedctl.policy.documents import MaxNodes
from schedctl.reports import counts
from schedctl.simulation.what_ifs import abbreviate


def judge(view: findings.View, arguments: MaxNodes, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: its pods are on no more nodes than it may use."""
    judged = about.workload
    assert judged is not None
    nodes = sorted({pod.node for pod in judged.placed_pods})
    message = f"on {counts.of(len(nodes), 'node')}, at most {arguments.count} allowed"
    if len(nodes) > arguments.count:
        path = fields.first(judged.pods[0].info.pod.spec, fields.SPREADING)
        yield findings.violation(message, [f"nodes: {abbreviate(nodes)}"], path=path, violates={"nodes": len(nodes)})
    elif len(nodes) + len(judged.unclear_pods) > arguments.count:
        unclear = counts.of(len(judged.unclear_pods), "pod")
        yield findings.inconclusive(f"{message}; {unclear} inconclusive").because(
            view.causes.explain_pending(judged.unclear_pods)
        )
    else:
        yield findings.pass_finding(message)
