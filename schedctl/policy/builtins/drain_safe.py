"""``drain-safe``: each of the nodes can be drained, and what it runs finds room elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schedctl.cache.pod_info import PodInfo
from schedctl.policy import findings
from schedctl.policy.builtins.no_preemption import preempted
from schedctl.policy.documents import DrainSafe
from schedctl.policy.identities import owner
from schedctl.reports import counts
from schedctl.reports.drains import DrainFate
from schedctl.simulation.drains import DrainedPod, DrainFacts, DrainFlags, Plan, drain, plan_for
from schedctl.simulation.outcomes import Eviction
from schedctl.simulation.replacement import controller_of
from schedctl.simulation.runs import Options
from schedctl.simulation.what_ifs import abbreviate
from schedctl.workloads.disruption_budgets import Budgets
from schedctl.workloads.ownership import workload_of

# What kubectl refuses is told beside what the rest of the drain comes to, so that neither hides the other.
_EVERYTHING: Final = DrainFlags(ignore_daemonsets=True, delete_emptydir_data=True, force=True)
_UNCLEAR = (DrainFate.FOREIGN_SCHEDULER, DrainFate.INCONCLUSIVE)
_WRONG = (DrainFate.PENDING, DrainFate.BLOCKED, DrainFate.LOST)
_IN_WORDS = {
    DrainFate.PENDING: "its replacement would stay pending",
    DrainFate.LOST: "lost: no controller recreates it",
    DrainFate.FOREIGN_SCHEDULER: "its replacement belongs to another scheduler",
    DrainFate.INCONCLUSIVE: "what its replacement needs is not modelled",
}


def judge(view: findings.View, arguments: DrainSafe, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a node: kubectl empties it, and every pod of it that comes back has a node again.

    It is drained by itself, with all other nodes as they are. Only pods that the policy matches count.
    """
    if about == findings.RUN:
        yield _without_nodes(view, arguments)
        return
    scheduler = view.situation.scheduler
    with scheduler.fork():
        facts = drain(scheduler, [about.name], _EVERYTHING, budgets=_budgets(view), options=Options(trace=False))
    if facts.interrupted:
        raise KeyboardInterrupt
    yield _judge(view, arguments, facts)


def _judge(view: findings.View, arguments: DrainSafe, facts: DrainFacts) -> findings.Finding:
    pods = facts.nodes[0].pods
    matched = _Matched(view)
    counted = [pod for pod in pods if matched.has(pod.info)]
    successors = {pod.successor for pod in counted}
    refusals = _refusals(view, arguments, counted)
    refused = {info.key for pods in refusals.values() for info in pods}
    wrong = [
        pod
        for pod in counted
        if pod.fate in _WRONG
        and pod.info.key not in refused
        # With force somebody has accepted that what no controller recreates is lost.
        and not (pod.fate is DrainFate.LOST and arguments.force and controller_of(pod.info.pod) is None)
    ]
    unclear = [pod for pod in counted if pod.fate in _UNCLEAR]
    evictions = [each.eviction for each in facts.displaced]
    displaced = [each for each in evictions if each.by in successors or matched.has(each.pod)]
    messages = []
    if refusals:
        messages.append(f"kubectl drain would refuse it: {_refusal(*next(iter(refusals.items())))}")
    if wrong:
        of = counts.of(len(counted), "pod")
        messages.append(f"{len(wrong)} of {of} cannot be evicted and placed elsewhere")
    if displaced:
        messages.append(f"draining it would preempt {counts.of(len(displaced), 'pod')} on other nodes")
    lines = [_refusal(why, pods) for why, pods in list(refusals.items())[1:]]
    lines += _describe(wrong)
    lines += [f"{each.pod.key} (on {each.node}) would be preempted" for each in displaced]
    if messages:
        violates = _violates(view, refusals, wrong, displaced)
        return findings.violation("; ".join(messages), lines + _describe(unclear), violates=violates)
    if unclear:
        return findings.inconclusive(f"{counts.of(len(unclear), 'pod')} inconclusive", _describe(unclear))
    moved = sum(pod.fate is DrainFate.MOVED for pod in counted)
    lost = sum(pod.fate is DrainFate.LOST for pod in counted)
    message = f"can be drained; {counts.of(moved, 'pod')} would move" + (f", {lost} would be lost" if lost else "")
    if others := len(pods) - len(counted):
        message += f"; {counts.of(others, 'pod')} not matched by the policy"
    return findings.pass_finding(message)


def objects(view: findings.View, arguments: DrainSafe) -> list[findings.Judged]:
    """Return what is judged: nodes by name; the run, too, where nobody can tell which nodes those are."""
    if not arguments.node_selector:
        names = {pod.node for judged in view.workloads for pod in judged.placed_pods}
        # Which nodes they are is not known of pods that nobody can place, nor where no pod has a node yet.
        elsewhere = any(judged.unclear_pods or (judged.pending_pods and not names) for judged in view.workloads)
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
        hints = [f"{view.situation.name} removes them"] if view.situation.changes else []
        return findings.inconclusive(f"no node has {labels}", hints=hints)
    unclear = [pod for judged in view.workloads for pod in judged.undecided_pods(ignore_pending=False)]
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


def _refusals(view: findings.View, arguments: DrainSafe, pods: Iterable[DrainedPod]) -> dict[str, list[PodInfo]]:
    """Return why kubectl would refuse the node with the flags of the policy, and because of which pods."""
    flags = DrainFlags(
        ignore_daemonsets=arguments.ignore_daemon_sets,
        delete_emptydir_data=arguments.delete_empty_dir_data,
        force=arguments.force,
    )
    refusals: dict[str, list[PodInfo]] = {}
    for pod in pods:
        plan, why = plan_for(pod.info.pod, view.situation.cluster, flags)
        if plan is Plan.REFUSE:
            refusals.setdefault(why, []).append(pod.info)
    return refusals


class _Matched:
    """The pods that the policy matches: of the manifests, and of the state by their outermost controller."""

    def __init__(self, view: findings.View) -> None:
        self._match, self._cluster = view.match, view.situation.cluster
        self._of_manifests = {key for judged in view.situation.workloads for key in judged.keys}
        self._matched = {key for judged in view.workloads for key in judged.keys}

    def has(self, info: PodInfo) -> bool:
        """Return whether a pod is one of them."""
        if info.key in self._of_manifests:
            return info.key in self._matched
        controller = workload_of(info, self._cluster) or ("Pod", info.namespace, info.pod.metadata.name)
        return self._match.selects(*controller, info.labels)


def _violates(
    view: findings.View,
    refusals: Mapping[str, Sequence[PodInfo]],
    wrong: Iterable[DrainedPod],
    displaced: Iterable[Eviction],
) -> dict[str, int]:
    """Return what keeps the node from being drained: workloads, and the budgets that protect them."""
    cluster = view.situation.cluster
    found = Counter(f"{owner(info, cluster)}: {why}" for why, pods in refusals.items() for info in pods)
    for pod in wrong:
        budget = f" by PodDisruptionBudget {pod.blocked.budget}" if pod.blocked is not None else ""
        found[f"{owner(pod.info, cluster)}: {pod.fate.value}{budget}"] += 1
    return dict(found + Counter(preempted(displaced, view.situation)))


def _refusal(why: str, pods: Sequence[PodInfo]) -> str:
    return f"cannot delete {why}: {abbreviate([info.key for info in pods])}"


def _describe(pods: Iterable[DrainedPod]) -> list[str]:
    """Return what becomes of pods, a line for each cause with all pods that have it in common."""
    keys: dict[str, list[str]] = {}
    for pod in pods:
        keys.setdefault(_cause(pod), []).append(pod.info.key)
    return [f"{abbreviate(each)}: {cause}" for cause, each in keys.items()]


def _cause(pod: DrainedPod) -> str:
    if pod.blocked is not None:
        cause = f" {pod.blocked.cause}." if pod.blocked.cause else ""
        return f"eviction refused: {pod.blocked.message}{cause}"
    why = f": {pod.outcome.message}" if pod.outcome is not None and pod.outcome.message else ""
    return f"{_IN_WORDS[pod.fate]}{why}"
