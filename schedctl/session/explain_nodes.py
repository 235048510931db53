"""What is free on a node, which of the pending pods fit there now, and why the others do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from schedctl.api import label_selectors
from schedctl.api.node_labels import POOL_LABELS
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.selectors import LabelQuery
from schedctl.cache.pod_info import PodInfo
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.explain import node_explanations
from schedctl.explain.fitting_together import fitting_together
from schedctl.framework.pod_edits import with_scheduler
from schedctl.reports import exit_codes
from schedctl.reports.explanations import Explanation
from schedctl.reports.node_explanations import NodeExplainReport, NodeExplainSummary, NodeExplanation
from schedctl.reports.reasons import Hint
from schedctl.session import what_ifs
from schedctl.session.explain import ExplainOptions, explain_objects, owner_names
from schedctl.session.sessions import Session
from schedctl.session.subjects import Scope, enumeration, pending_pods

_FIXED_GROUPS = 10
"""For how many groups of pods that a node rejects fixes are tried, which takes much longer than finding the reasons."""
_FIXES = 40
"""For how many groups in all, so that a question about many nodes tells their reasons alone."""


def explain_nodes(
    session: Session, names: Sequence[str], *, selector: str = "", namespace: str = ""
) -> NodeExplainReport:
    """Return the explanations of nodes; the cluster is as before.

    Args:
        session: with its state loaded and its what-ifs made.
        names: of the nodes, none where `selector` is given.
        selector: the labels of the nodes.
        namespace: of the pending pods that are looked at, "" for all.

    Raises:
        UsageError: a node is not there, none was named, or names and a selector were both given.
    """
    if names and selector:
        raise UsageError("names and -l were both given", "give one of them")
    known = session.names
    if selector:
        nodes = _nodes_by_label(session, known.query(label_selectors.parse(selector)))
    else:
        nodes = _nodes_by_name(session, [*map(known.name, names)])
    pods = pending_pods(session.state.assembled, Scope(namespace).under(known))
    pending = _PendingPods(session, pods, min(_FIXED_GROUPS, _FIXES // len(nodes)))
    results = [pending.explain(name) for name in nodes]
    inconclusive = any(each.verdict == "Inconclusive" for result in results for each in result.not_judged)
    exit_code = exit_codes.of_answer(failed=False, inconclusive=inconclusive)
    return NodeExplainReport(
        metadata=session.metadata(),
        summary=NodeExplainSummary(exit_code=exit_code, nodes=len(results), pending=len(pods)),
        results=results,
    )


def _nodes_by_name(session: Session, names: Sequence[str]) -> list[str]:
    known = list(session.cluster.nodes_by_name.names)
    if not names:
        raise UsageError(
            "no node given", f"the nodes are {enumeration(known)}; `-l LABEL=VALUE` selects some" if known else ""
        )
    for name in names:
        if name not in known:
            raise UsageError(f'node "{name}" not found', suggest_names(name, sorted(known), "nodes"))
    return list(dict.fromkeys(names))


def _nodes_by_label(session: Session, query: LabelQuery) -> list[str]:
    table = session.cluster.node_table
    nodes: list[Node] = [table.objects[row] for row in table.row_of.values()]
    found = sorted(node.metadata.name for node in nodes if query.matches(node.metadata.labels))
    if not found:
        raise UsageError("no nodes have these labels", "`kubectl get nodes --show-labels` shows the labels there are")
    return found


class _PendingPods:
    """Explains the pending pods with one node in depth after the other."""

    def __init__(self, session: Session, pods: Sequence[Pod], fixed_groups: int) -> None:
        self._session = session
        self._scheduler = session.scheduler()
        self._pods = pods
        self._by_key = {f"{pod.metadata.namespace}/{pod.metadata.name}": pod for pod in pods}
        self._fixed_groups = fixed_groups
        self._owner_of = owner_names(session.cluster)

    def explain(self, name: str) -> NodeExplanation:
        """Return the explanation of a node."""
        with self._session.notifier.progress(f"explaining {name}") as progress:
            answers = self._answers(name, self._pods, progress.advance, hints=False)
            found = node_explanations.sort_out(name, answers, self._owner_of)
            hints: list[Sequence[Hint] | None] = [None] * len(found.rejected)
            for number, group in enumerate(found.rejected[: self._fixed_groups]):
                example = group.answers[0].pod
                pod = self._by_key[f"{example.namespace}/{example.name}"]
                hints[number] = self._answers(name, [pod], None, hints=True)[0].hints
        explained = node_explanations.explain_node(
            self._session.cluster, name, found, hints, owner_of=self._owner_of, pool_labels=POOL_LABELS
        )
        fitting = [key for each in explained.fitting for key in each.pods]
        return replace(explained, together=self._fitting_together(name, fitting))

    def _fitting_together(self, name: str, keys: Sequence[str]) -> list[str]:
        """Return which of the pods that fit on a node fit there together."""
        profile = self._session.choice.profile
        pods = [PodInfo(with_scheduler(self._by_key[key], profile)) for key in keys]
        return fitting_together(self._scheduler, name, pods) if len(pods) > 1 else list(keys)

    def _answers(
        self, name: str, pods: Sequence[Pod], advance: Callable[[int, int, str], None] | None, *, hints: bool
    ) -> list[Explanation]:
        answers = explain_objects(
            self._scheduler,
            pods,
            profile=self._session.choice.profile,
            options=ExplainOptions(node=name, hypothetical_nodes=what_ifs.hypothetical_nodes(self._session.changes)),
            advance=advance,
            unknown=self._session.state.assembled.unknown,
            hints=hints,
            notifier=self._session.notifier,
        )
        return list(answers)
