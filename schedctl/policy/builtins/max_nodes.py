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
    undecided = judged.undecided_pods(arguments.ignore_pending)
    message = f"on {counts.of(len(nodes), 'node')}, at most {arguments.count} allowed"
    if len(nodes) > arguments.count:
        path = fields.first(judged.pods[0].info.pod.spec, fields.SPREADING)
        yield findings.violation(message, [f"nodes: {abbreviate(nodes)}"], path=path, violates={"nodes": len(nodes)})
    elif undecided and (not nodes or len(nodes) + len(undecided) > arguments.count):
        yield findings.undecided_finding(message, undecided, view.causes.explain_pending(undecided))
    else:
        yield findings.pass_finding(message)
