"""Builds the `Explanation` of a pod from an engine attempt, and the report of several.

What the command line calls::

    explanation = explain(scheduler, pod, matrix=True, node="node-3", sampling=False)
    document = report([explanation], configuration="profiles/default.yaml", inputs=digests, fail=args.exit_code)

and ``schedctl.render.outputs.write(document, output, stream, terminal)`` prints it.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.pods import Pod
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.reports import Explanation, ExplainReport, InputDigest
from schedctl.scheduler.schedulers import Scheduler


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
    raise NotImplementedError


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
        fail: whether a pod that is not scheduled makes the exit code 1 (``--exit-code``); 5 where it is inconclusive.
    """
    raise NotImplementedError
