"""``drain-safe``: each of the nodes can be drained, and what it runs finds room elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedctl.policy import findings
from schedctl.policy.documents import DrainSafe
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate
from schedctl.simulation.budgets import Budgets
from schedctl.simulation.drains import DrainedPod, DrainFlags, drain
from schedctl.simulation.runs import Options
from schedctl.simulation.what_ifs import abbreviate

# Without --force: a pod that no controller recreates stands in the way.
_FLAGS: Final = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True)
_UNCLEAR = (DrainFate.FOREIGN_SCHEDULER, DrainFate.INCONCLUSIVE)
_WRONG = (DrainFate.PENDING, DrainFate.BLOCKED, DrainFate.REFUSED, DrainFate.LOST)
_IN_WORDS = {
    DrainFate.PENDING: "its replacement would stay pending",
    DrainFate.LOST: "lost: no controller recreates it",
    DrainFate.FOREIGN_SCHEDULER: "its replacement belongs to another scheduler",
    DrainFate.INCONCLUSIVE: "what its replacement needs is not modelled",
}
_SHOWN = 8


def judge(view: findings.View, arguments: DrainSafe, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a node: kubectl empties it, and every pod of it that comes back has a node again.

    It is drained by itself, with all other nodes as they are.
    """
    if about == findings.RUN:
        yield _without_nodes(view, arguments)
        return
    scheduler = view.situation.scheduler
    with scheduler.fork():
        facts = drain(scheduler, [about.name], _FLAGS, budgets=_budgets(view), options=Options(trace=False))
    if facts.interrupted:
        raise KeyboardInterrupt
    node = facts.nodes[0]
    wrong = [pod for pod in node.pods if pod.fate in _WRONG]
    unclear = [pod for pod in node.pods if pod.fate in _UNCLEAR]
    moved = sum(pod.fate is DrainFate.MOVED for pod in node.pods)
    if node.refusals:
        refused = [pod for pod in node.pods if pod.fate is DrainFate.REFUSED]
        names = abbreviate([pod.info.key for pod in refused if pod.refusal == refused[0].refusal])
        first = f"cannot delete {refused[0].refusal}: {names}"
        yield findings.violation(
            f"kubectl drain would refuse it: {first}", [line for line in node.refusals if line != first]
        )
    elif wrong or facts.displaced:
        message = f"{len(wrong)} of {counts.of(len(node.pods), 'pod')} cannot be evicted and placed elsewhere"
        if not wrong:
            message = f"draining it would preempt {counts.of(len(facts.displaced), 'pod')} on other nodes"
        lines = [_describe(pod) for pod in wrong]
        lines += [f"{each.eviction.pod.key} (on {each.eviction.node}) would be preempted" for each in facts.displaced]
        yield findings.violation(
            message, lines[:_SHOWN] + ([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])
        )
    elif unclear:
        yield findings.inconclusive(
            f"{counts.of(len(unclear), 'pod')} inconclusive", [_describe(pod) for pod in unclear[:_SHOWN]]
        )
    else:
        yield findings.pass_finding(f"can be drained; {counts.of(moved, 'pod')} would move")


def objects(view: findings.View, arguments: DrainSafe) -> list[findings.Judged]:
    """Return what is judged: nodes by name; the run, too, where nobody can tell which nodes those are."""
    if not arguments.node_selector:
        names = {pod.node for judged in view.workloads for pod in judged.placed_pods}
        elsewhere = any(judged.unclear_pods for judged in view.workloads)
        return [*map(findings.Judged.of_node, sorted(names)), *([findings.RUN] if elsewhere else [])]
    table = view.situation.cluster.node_table
    names = {
        name
        for name, row in table.row_of.items()
        if arguments.node_selector.items() <= (table.objects[row].metadata.labels or {}).items()
    }
    return [findings.Judged.of_node(name) for name in sorted(names)] or [findings.RUN]


def _without_nodes(view: findings.View, arguments: DrainSafe) -> findings.Finding:
    if arguments.node_selector:
        labels = ", ".join(f"{key}={value}" for key, value in arguments.node_selector.items())
        return findings.inconclusive(
            f"no node has {labels}", hints=["compare `nodeSelector` with the labels of the nodes"]
        )
    unclear = [pod for judged in view.workloads for pod in judged.unclear_pods]
    message = f"schedctl cannot tell which nodes would run {counts.of(len(unclear), 'pod')}"
    return findings.inconclusive(message).because(view.causes.explain_pending(unclear))


def _budgets(view: findings.View) -> Budgets:
    """Return the books of the disruption budgets; a pod that the run has placed counts as running and ready."""
    budgets = Budgets.of(view.situation.cluster)
    if budgets.books:
        for info in view.situation.cluster.pod_table:
            if not info.pod.spec.node_name:
                budgets.note_running(info)
    return budgets


def _describe(pod: DrainedPod) -> str:
    name = pod.info.key
    if pod.blocked is not None:
        cause = f" {pod.blocked.cause}." if pod.blocked.cause else ""
        return f"{name}: eviction refused: {pod.blocked.message}{cause}"
    if pod.fate is DrainFate.REFUSED:
        return f"{name}: {pod.refusal}"
    why = f": {pod.outcome.message}" if pod.outcome is not None and pod.outcome.message else ""
    return f"{name}: {_IN_WORDS[pod.fate]}{why}"
