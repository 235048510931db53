"""What PreFilter and Filter say of a pod, node by node, as plain values: the question of cluster autoscalers.

Whoever asks whether a pod would fit wants neither scores nor preemption, and asks thousands of times, about nodes that
do not exist yet: no other point is run, and no extender asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import msgspec

from schedctl.engine.attempts import Attempt
from schedctl.framework.profiles import Profile
from schedctl.framework.statuses import Code


class NodeJudgement(msgspec.Struct, frozen=True):
    """What is said of one node.

    Attributes:
        node: its name.
        code: Kubernetes' name of the answer: ``Success``, ``Unschedulable``, ``UnschedulableAndUnresolvable``,
            ``Pending`` or ``Error``.
        plugin: who was the first to refuse it, or failed on it; "" where it fits.
        reasons: why, as kube-scheduler words it.
        references: the stable names of the reasons, e.g. ``node-resources-fit/insufficient``, as far as they have any.
    """

    node: str
    code: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the pod could run there."""
        return self.code == Code.SUCCESS.label


class Judgement(msgspec.Struct, frozen=True):
    """What is said of a pod.

    Attributes:
        pod: the pod, ``namespace/name``.
        nodes: the answers, in the order in which nodes were asked for, else by name.
    """

    pod: str
    nodes: tuple[NodeJudgement, ...]

    @property
    def fits(self) -> bool:
        """Whether it could run on any of the nodes."""
        return any(node.fits for node in self.nodes)

    @property
    def feasible(self) -> tuple[str, ...]:
        """The nodes on which it could run."""
        return tuple(node.node for node in self.nodes if node.fits)

    def __iter__(self) -> Iterator[NodeJudgement]:
        return iter(self.nodes)

    def __getitem__(self, node: str) -> NodeJudgement:
        """Return what is said of a node.

        Raises:
            KeyError: it was not asked about.
        """
        for each in self.nodes:
            if each.node == node:
                return each
        raise KeyError(node)


def with_plugins_only(profile: Profile, plugins: Collection[str]) -> Profile:
    """Return a profile with only some of its plugins at PreFilter and Filter.

    Raises:
        ValueError: it has no such plugin.
    """
    unknown = sorted(set(plugins) - profile.plugins.keys())
    if unknown:
        raise ValueError(f"profile {profile.scheduler_name} has no plugin {unknown[0]}")
    return replace(
        profile,
        pre_filter=tuple(plugin for plugin in profile.pre_filter if plugin.name in plugins),
        filter=tuple(plugin for plugin in profile.filter if plugin.name in plugins),
    )


def judgement_of(outcome: Attempt, names: Iterable[str]) -> Judgement:
    """Return what an attempt that went as far as Filter says of some nodes."""
    row_of = outcome.cluster.node_table.row_of
    places = (
        {}
        if outcome.evaluated_column is None
        else {row: at for at, row in enumerate(outcome.evaluated_column.rows.tolist())}
    )
    return Judgement(outcome.pod.key, tuple(_of(outcome, name, places.get(row_of[name])) for name in names))


def _of(outcome: Attempt, name: str, position: int | None) -> NodeJudgement:
    status, narrowing = outcome.pre_filter, sorted(outcome.narrowing_plugins)
    if not status.successful:
        references = tuple(cause.reference for cause in status.causes)
        return NodeJudgement(name, status.code.label, status.plugin or " ".join(narrowing), status.reasons, references)
    # No place in the column: PreFilter named the nodes that come into question, and this is none of them.
    if position is None or outcome.filtering is None:
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(narrowing)}]"
        return NodeJudgement(name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE.label, " ".join(narrowing), (text,))
    fault = outcome.filtering.faults.get(position)
    if fault is not None:
        return NodeJudgement(name, Code.ERROR.label, fault.plugin, (fault.text,))
    for plugin, parts, code in outcome.filtering.refusal_at(position):
        texts = tuple(part.text(row) for part, row in parts)
        return NodeJudgement(name, code.label, plugin, texts, tuple(part.reason.reference for part, _ in parts))
    return NodeJudgement(name, Code.SUCCESS.label)
