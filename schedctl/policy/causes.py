"""Why pods are on no node, or not in some domain, in the words of findings; `explain` says it of one of equal pods.

Only what is violated is asked about, and next steps are looked for only so often, because each of them is tried out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from schedctl.api import pods as api
from schedctl.api import topology
from schedctl.api.pods import Pod, PodSpec
from schedctl.cache.pod_info import PodInfo
from schedctl.explain.groups import first_details
from schedctl.explain.pending_pods import PendingPodExplainer
from schedctl.policy import fields
from schedctl.policy.fields import Path
from schedctl.policy.pod_groups import group_names
from schedctl.policy.scenario_hints import hints_after
from schedctl.policy.situations import JudgedPod, Situation
from schedctl.reports import counts
from schedctl.reports.explanations import Explanation, Verdict
from schedctl.reports.reasons import Hint, NodeGroup, Reason
from schedctl.reports.simulations import Fate
from schedctl.simulation.what_ifs import abbreviate

HINTED = 8
"""For how many groups of pods of one check in one situation next steps are looked for."""
_MOST_REASONS = 4
_MOST_HINTS = 2
_EXPLAINED = frozenset((Fate.UNSCHEDULABLE, Fate.NOMINATED, Fate.QUEUED))
_replace = msgspec.structs.replace


class Cause(msgspec.Struct, frozen=True):
    """Why something is as it is.

    Attributes:
        reasons: in words, a line each.
        hints: next steps, a line each.
        path: the deciding field in the spec of the pods, () for none.
        fixes: those of the hints that are changes, with what to type or to write.
    """

    reasons: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    path: Path = ()
    fixes: tuple[Hint, ...] = ()


@dataclass(slots=True)
class Causes:
    """What was asked of one situation, so that it is asked once.

    Attributes:
        situation: the situation; the cluster has to be as it says.
    """

    situation: Situation
    _explainer: PendingPodExplainer = field(init=False)

    def __post_init__(self) -> None:
        self._explainer = PendingPodExplainer(self.situation.scheduler, HINTED)

    def explain_pending(self, pods: Sequence[JudgedPod]) -> Cause:
        """Return why pods are on no node: those refused in the same way in one line, with what their scheduler says."""
        groups: dict[tuple[Fate, str, bool], list[JudgedPod]] = {}
        for pod in pods:
            # Messages name the pod; without its name those of equal pods are equal.
            message = pod.message.replace(f'"{pod.info.pod.metadata.name}"', "")
            groups.setdefault((pod.fate, message, pod.lost), []).append(pod)
        reasons: list[str] = []
        fixes: dict[str, Hint] = {}
        path: Path = ()
        for group in groups.values():
            first, explanation = group[0], None
            if first.fate in _EXPLAINED:
                explanation = self.explain(first.info)
            elif first.fate is Fate.GATED and first.plugins == ("SchedulingGates",):
                path = path or fields.first(first.info.pod.spec, (("schedulingGates",),))
            elif first.fate is Fate.FOREIGN_SCHEDULER:
                path = path or fields.first(first.info.pod.spec, fields.SCHEDULER)
            names = abbreviate(group_names(pod.name for pod in group))
            reasons.append(f"{names}: {_fate(first)}{_describe_refusal(first, explanation)}")
            if explanation is not None:
                reasons += (f"    {line}" for line in lines(explanation.reasons))
                fixes |= {hint.text: hint for hint in self.fixes(first.info, explanation)}
                path = path or deciding_field(explanation.reasons, first.info.pod.spec)
        return Cause(tuple(reasons), tuple(fixes), path, tuple(fixes.values()))

    def explain_group(self, key: str) -> Cause:
        """Return why a pod group does not start: what its pods lack together, and what would let it start."""
        result = self._explainer.group(key)
        if result is None:
            return Cause()
        reasons = [f"kube-scheduler: {result.message}"] if result.message else []
        reasons += [f"missing: {each.text}" for each in result.missing]
        for cause in result.causes:
            reasons += [f"{counts.of(len(cause.pods), 'pod')}: {line}" for line in lines(cause.reasons)]
        fixes = [hint for hint in result.hints if hint.tried][:_MOST_HINTS]
        return Cause(tuple(dict.fromkeys(reasons)), tuple(hint.text for hint in fixes), fixes=tuple(fixes))

    def explain_absence(self, pod: JudgedPod, tied: str, key: str, value: str) -> Cause:
        """Return why a pod like this one is in no node of a domain, and what would let it in.

        Args:
            pod: the pod, which stays where it is; another like it is tried.
            tied: the node that its template names, "" for none; its pods are placed without a scheduler.
            key: the label that makes the domains.
            value: the domain.
        """
        name = value or f"no {key}"
        if tied:
            return Cause(
                (f"{name}: nodeName ties its pods to {tied}; no scheduler chooses a node",), path=("nodeName",)
            )
        nodes = nodes_with(self.situation, key, value)
        keys = self._keys_of_domain(nodes, key) if value else (key,)
        explanation = self.explain(_restrict_to_domain(pod.info.pod, keys, value))
        if explanation.verdict is Verdict.SCHEDULED:
            why = (
                "other nodes scored higher"
                if _spreads(pod.info.pod.spec, key)
                else f"nothing spreads its pods over {key}"
            )
            return Cause((f"{name}: {explanation.chosen} would take one more pod; {why}",))
        reasons = [each for each in explanation.reasons if each.whole_pod or _among(each, nodes)]
        fixes = tuple(
            _replace(hint, text=f"fits in {name} if {hint.text.partition(' if ')[2]}")
            for hint in explanation.hints
            if hint.tried and hint.fits and " if " in hint.text and _stays_in_domain(hint)
        )
        refused = ", ".join(lines(reasons, nodes)) or explanation.message or explanation.error
        line = f"{name}: {counts.of(len(nodes), 'node')} rejected: {refused}"
        fixes = fixes[:_MOST_HINTS]
        return Cause((line,), tuple(fix.text for fix in fixes), deciding_field(reasons, pod.info.pod.spec), fixes)

    def _keys_of_domain(self, nodes: Iterable[str], key: str) -> tuple[str, ...]:
        """Return the labels by which some nodes are in their domain: those of old nodes may be deprecated."""
        table = self.situation.cluster.node_table
        labels = [table.objects[table.row_of[name]].metadata.labels or {} for name in nodes]
        deprecated = next((old for old, current in topology.CURRENT_LABELS.items() if current == key), key)
        keys = (key, *((deprecated,) if any(not each.get(key) for each in labels) else ()))
        return tuple(each for each in keys if any(each in one for one in labels))

    def begin_check(self) -> None:
        """Begin with a check, which may have next steps looked for as often as any other."""
        self._explainer.renew_hints()

    def explain(self, pod: PodInfo | Pod, *, hints: bool = True) -> Explanation:
        """Return the explanation of a pod, or of one that is rejected for the same reasons."""
        return self._explainer.explain(pod if isinstance(pod, PodInfo) else PodInfo(pod), hints=hints)

    def fixes(self, pod: PodInfo, explanation: Explanation) -> list[Hint]:
        """Return the next steps to suggest for a pod, those that were tried and help first."""
        useful = hints_after(self.situation, pod, explanation.hints)
        helpful = [hint for hint in useful if hint.type != "nothing-helps"]
        return sorted(helpful, key=lambda hint: not hint.fits)[:_MOST_HINTS]


def lines(reasons: Sequence[Reason], nodes: Collection[str] | None = None) -> list[str]:
    """Return reasons in words, the most frequent first: how many nodes, why, and the numbers behind it.

    Args:
        reasons: the reasons.
        nodes: those of which is told, None for all; where they are given, the sentence around says that it is nodes.
    """
    texts = []
    for reason in reasons[:_MOST_REASONS]:
        numbers = reason.detail if nodes is None else first_details(_groups_within(reason, nodes))
        text = f"{reason.text} ({numbers})" if numbers else reason.text
        if nodes is not None and not reason.whole_pod:
            text = f"{_among(reason, nodes)} {text}"
        elif reason.count:
            text = f"{counts.of(reason.count, 'node')}: {text}"
        texts.append(text)
    if len(reasons) > _MOST_REASONS:
        texts.append(f"and {counts.of(len(reasons) - _MOST_REASONS, 'more reason')}")
    return texts


def deciding_field(reasons: Iterable[Reason], spec: PodSpec) -> Path:
    """Return the field of a pod's spec that the most frequent reason with one is about, () where none has one."""
    return next((path for reason in reasons if (path := fields.deciding_field(reason, spec))), ())


def _fate(pod: JudgedPod) -> str:
    if pod.lost:
        return "lost: no controller recreates it"
    return {
        Fate.UNSCHEDULABLE: "unschedulable",
        Fate.NOMINATED: "nominated to a node, not bound yet",
        Fate.GATED: "gated",
        Fate.WAITING: "waiting for Permit",
        Fate.QUEUED: "still in the queue",
        Fate.FAILED: "its attempt ended in an error",
        Fate.EVICTED: "evicted",
        Fate.ORPHANED: "never scheduled",
        Fate.FOREIGN_SCHEDULER: "SKIPPED",
        Fate.INCONCLUSIVE: "not modelled",
        Fate.REJECTED: "rejected by the API server",
        Fate.NOT_CREATED: "not created",
    }.get(pod.fate, pod.fate.value)


def _stays_in_domain(hint: Hint) -> bool:
    """Return whether a fix leaves as it is the domain that the pod was restricted to, and the nodes that are in it."""
    return not {"drop-node-affinity", "label-node"} & set(hint.type.split("+"))


def _describe_refusal(pod: JudgedPod, explanation: Explanation | None) -> str:
    if explanation is not None and explanation.nodes.total and explanation.reasons:
        return f", {explanation.nodes.feasible}/{explanation.nodes.total} nodes feasible"
    return f": {pod.message}" if pod.message and not pod.lost else ""  # that it is lost is said already


def _restrict_to_domain(pod: Pod, keys: Sequence[str], value: str) -> Pod:
    """Return another pod like one, which may only go to nodes of a domain; it counts as one of its workload's.

    Args:
        pod: the pod.
        keys: the labels of which one puts a node into the domain.
        value: the domain, "" for that of the nodes without the label.
    """
    spec, affinity = pod.spec, pod.spec.affinity or api.Affinity()
    operator, values = ("In", [value]) if value else ("DoesNotExist", None)
    any_of = [api.NodeSelectorRequirement(key=key, operator=operator, values=values) for key in keys]
    near = affinity.node_affinity or api.NodeAffinity()
    required = near.required_during_scheduling_ignored_during_execution
    terms = (required.node_selector_terms if required is not None else None) or [api.NodeSelectorTerm()]
    narrowed = [
        _replace(term, match_expressions=[*(term.match_expressions or ()), only])
        for term in terms
        for only in any_of
        # A term without anything matches no node; narrowed it would match some.
        if required is None or term.match_expressions or term.match_fields
    ]
    near = _replace(near, required_during_scheduling_ignored_during_execution=api.NodeSelector(narrowed))
    spec = _replace(spec, affinity=_replace(affinity, node_affinity=near), node_name="")
    metadata = _replace(pod.metadata, name=f"{pod.metadata.name}-in-{value or 'none'}", uid="", deletion_timestamp=None)
    status = _replace(pod.status, phase="Pending", nominated_node_name="")
    return _replace(pod, metadata=metadata, spec=spec, status=status)


def _among(reason: Reason, nodes: Collection[str]) -> int:
    """Return how many of some nodes a reason refuses."""
    return sum(name in nodes for group in reason.groups for name in group.nodes)


def _groups_within(reason: Reason, nodes: Collection[str]) -> list[NodeGroup]:
    """Return the groups of a reason with those of their nodes alone that are asked about."""
    within = ((group, [name for name in group.nodes if name in nodes]) for group in reason.groups)
    return [_replace(group, nodes=names) for group, names in within if names]


def _any(names: Iterable[str], nodes: Collection[str]) -> bool:
    return any(name in nodes for name in names)


def _spreads(spec: PodSpec, key: str) -> bool:
    """Return whether a pod's spec says anything about how its like spread over a domain."""
    if any(constraint.topology_key == key for constraint in spec.topology_spread_constraints or ()):
        return True
    anti = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    if anti is None:
        return False
    required = anti.required_during_scheduling_ignored_during_execution or ()
    preferred = anti.preferred_during_scheduling_ignored_during_execution or ()
    return any(term.topology_key == key for term in (*required, *(each.pod_affinity_term for each in preferred)))


def nodes_with(situation: Situation, key: str, value: str) -> frozenset[str]:
    """Return the nodes of a domain; "" is that of the nodes without the label."""
    table = situation.cluster.node_table
    return frozenset(
        name
        for name, row in table.row_of.items()
        if (topology.group_of(table.objects[row].metadata.labels, key) or "") == value
    )
