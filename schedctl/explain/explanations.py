"""Builds the `Explanation` of a pod from an engine attempt, and the report of several.

What the command line calls::

    explanation = explain(scheduler, pod, matrix=True, node="node-3", sampling=False)
    document = report([explanation], configuration="profiles/default.yaml", inputs=digests, fail=args.exit_code)

and ``schedctl.render.outputs.write(document, output, stream, terminal)`` prints it. Everything is asked in a fork of the
cluster: evidence is read before anything else is tried, and the cluster is as before when the answer is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import msgspec

from schedctl.api.pods import Pod, PodStatus
from schedctl.api.resources import CPU, MEMORY, PODS
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import NodeInfo
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import attempts
from schedctl.engine.attempts import Attempt
from schedctl.errors import NotModelled, UsageError
from schedctl.explain import evidence, fit_error, groups, hints, scores, wording
from schedctl.explain.evidence import Refused
from schedctl.explain.reports import (
    CurrentNode,
    Explanation,
    ExplainReport,
    InputDigest,
    Matrix,
    Metadata,
    NodeCounts,
    NodeDetail,
    NodeScore,
    PluginRefusals,
    PodReference,
    Preemption,
    PreFilter,
    Reason,
    ResourceUse,
    Summary,
    Verdict,
)
from schedctl.framework.reasons import kebab
from schedctl.framework.statuses import Code
from schedctl.scheduler.schedulers import Scheduler

ZONE = "topology.kubernetes.io/zone"
NODE_SET = "pre-filter/node-set"
"""The reference of the reason for nodes that PreFilter left out."""


def explain(
    scheduler: Scheduler,
    pod: PodInfo | Pod,
    *,
    matrix: bool = False,
    node: str = "",
    sampling: bool = False,
    hints: bool = True,
) -> Explanation:
    """Return why a pod goes where it goes, or nowhere; the cluster is as before.

    Args:
        scheduler: the profiles and the cluster.
        pod: a pod of the cluster or a new one, defaulted and with its priority resolved. A pod that is bound already
            is explained as if it were pending again, its own usage removed first, and its node is compared.
        matrix: whether to ask every filter about every node as well.
        node: a node to go into in depth, "" for none.
        sampling: look at as many nodes as kube-scheduler would, instead of all.
        hints: whether to look for next steps, which tries changed pods and clusters.

    Raises:
        UsageError: there is no node of the name asked for.
    """
    cluster = scheduler.cluster
    info = pod if isinstance(pod, PodInfo) else PodInfo(pod)
    if node and node not in cluster.node_table.row_of:
        raise UsageError(f'there is no node "{node}"', _did_you_mean(node, list(cluster.node_table.row_of)))
    with cluster.fork():
        running = _running(cluster, info)
        if running is not None:
            cluster.remove_pod(running)
        bound_to = running.pod.spec.node_name if running is not None else info.pod.spec.node_name
        asked = PodInfo(as_pending(info.pod)) if bound_to else info
        return _Question(scheduler, asked, bound_to, matrix, node, sampling, hints).answer()


def report(
    explanations: Sequence[Explanation],
    *,
    configuration: str = "built-in defaults",
    inputs: Sequence[InputDigest] = (),
    sampling: bool = False,
    fail: bool = False,
) -> ExplainReport:
    """Return the report of these explanations.

    Args:
        explanations: in the order of the output.
        configuration: where the scheduler configuration came from.
        inputs: digests of everything that was read.
        sampling: as given to `explain`.
        fail: whether a pod that is not scheduled makes the exit code 1 (``--exit-code``); 5 where only inconclusive
            answers are in the way.
    """
    verdicts = Counter(explanation.verdict for explanation in explanations)
    inconclusive = verdicts[Verdict.INCONCLUSIVE]
    refused = len(explanations) - verdicts[Verdict.SCHEDULED] - inconclusive
    exit_code = 5 if inconclusive and not (fail and refused) else int(fail and refused > 0)
    return ExplainReport(
        metadata=Metadata(configuration=configuration, sampling=sampling, inputs=list(inputs)),
        summary=Summary(
            exit_code=exit_code,
            pods=len(explanations),
            scheduled=verdicts[Verdict.SCHEDULED],
            unschedulable=verdicts[Verdict.UNSCHEDULABLE],
            gated=verdicts[Verdict.GATED],
            deleting=verdicts[Verdict.DELETING],
            foreign_scheduler=verdicts[Verdict.FOREIGN_SCHEDULER],
            error=verdicts[Verdict.ERROR],
            inconclusive=inconclusive,
        ),
        results=list(explanations),
    )


def as_pending(pod: Pod) -> Pod:
    """Return a pod as it was before it was bound: on no node, and with nothing in its status but its claims' names."""
    status = PodStatus(
        phase="Pending",
        resource_claim_statuses=pod.status.resource_claim_statuses,
        extended_resource_claim_status=pod.status.extended_resource_claim_status,
    )
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""), status=status)
