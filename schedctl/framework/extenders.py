"""What an extender is to the scheduler: somebody outside who is asked over nodes, scores and victims.

``schedctl.engine.extenders`` asks, after the plugins of a profile; ``schedctl.extenders`` has those that send HTTP. The
`Extender` of this module is one that nobody may ask: each question ends in `NotAsked`, and makes the answer a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit, urlunsplit

from schedctl.api.texts import clip
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config import types as config

EXTENDER_PLUGIN = "Extender"
"""The plugin that kube-scheduler remembers with a pod which extenders refused."""
MAX_EXTENDER_PRIORITY = 10
"""The best score of an extender, by kube-scheduler's reckoning; nobody checks."""


class Unanswered(Exception):
    """An extender would have been asked here, and there is no answer.

    Attributes:
        text: why, in words that stand behind its name.
    """

    text: ClassVar[str] = "gave no answer"


class NotAsked(Unanswered):
    """Nobody allowed to ask it."""

    text = "was not called (`--allow-extenders` allows it)"


class NotRecorded(Unanswered):
    """Its answers are taken from a record, which lacks this one."""

    text = "has no recorded answer to the question"


class ExtenderError(Exception):
    """A call of an extender failed, or its answer makes no sense; the message is worded as kube-scheduler words it."""

    def __init__(self, message: str) -> None:
        super().__init__(clip(message))


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """Which nodes an extender leaves.

    Attributes:
        kept: their names, a choice of those it was asked about.
        failed: by node name, why not; evictions may help. Nothing keeps an extender from naming nodes it was not
            asked about, or leaving nodes out without a reason.
        unresolvable: by node name, why not, and no eviction helps. This counts before `failed`.
        described: whether it sent back whole nodes, not names. kube-scheduler takes those as the nodes to score, and
            there is nothing on them.
    """

    kept: tuple[str, ...]
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    described: bool = False


@dataclass(frozen=True, slots=True)
class NodeVictims:
    """The pods to evict on one node.

    Attributes:
        pods: in the order of whoever chose them.
        violations: how many evictions break a budget.
    """

    pods: tuple[PodInfo, ...]
    violations: int


class Extender:
    """An extender of a configuration, in the form that is not asked; see the module.

    Attributes:
        config: its configuration.
        name: what it is called in reports, ``Extender:<urlPrefix>``.
    """

    def __init__(self, config: config.Extender, name: str = "") -> None:
        self.config = config
        self.name = name or f"{EXTENDER_PLUGIN}:{address(config.url_prefix)}"
        self._managed = frozenset(resource.name for resource in config.managed_resources)

    @property
    def ignorable(self) -> bool:
        """Whether scheduling goes on without it when it fails."""
        return self.config.ignorable

    @property
    def filters(self) -> bool:
        """Whether it offers to filter nodes."""
        return bool(self.config.filter_verb)

    @property
    def prioritizes(self) -> bool:
        """Whether it offers to score nodes."""
        return bool(self.config.prioritize_verb)

    @property
    def preempts(self) -> bool:
        """Whether it has a say in preemption."""
        return bool(self.config.preempt_verb)

    @property
    def binds(self) -> bool:
        """Whether it binds pods in the place of the Bind plugins."""
        return bool(self.config.bind_verb)

    def is_interested(self, pod: PodInfo) -> bool:
        """Return whether it has to do with a pod: all pods, or those with a resource it manages."""
        if not self._managed:
            return True
        spec = pod.pod.spec
        for container in (*(spec.containers or ()), *(spec.init_containers or ())):
            if container.resources is not None:
                for amounts in (container.resources.requests, container.resources.limits):
                    if not self._managed.isdisjoint(amounts or ()):
                        return True
        return False

    def filter(self, pod: PodInfo, nodes: Nodes) -> FilterAnswer:
        """Return which nodes of a column it leaves, at least one of which there is.

        Raises:
            ExtenderError: it failed.
            Unanswered: there is no answer.
        """
        raise NotAsked

    def prioritize(self, pod: PodInfo, nodes: Nodes) -> Sequence[tuple[str, int]]:
        """Return (node name, score) pairs, not weighted; nodes may be missing, unknown, or there several times.

        Raises:
            ExtenderError: it failed.
            Unanswered: there is no answer.
        """
        raise NotAsked

    def preempt(self, pod: PodInfo, victims: Mapping[str, NodeVictims], nodes: Nodes) -> Mapping[str, NodeVictims]:
        """Return the candidates that it leaves, by node name, with the victims it would have.

        Args:
            pod: the pod that needs room.
            victims: the candidates so far.
            nodes: every node of the cluster, for what the answer may name.

        Raises:
            ExtenderError: it failed.
            Unanswered: there is no answer.
        """
        raise NotAsked

    def bind(self, pod: PodInfo, node_name: str) -> None:
        """Bind a pod to a node; asked in a live bind only, since to answer is to bind.

        Raises:
            ExtenderError: it failed.
            Unanswered: there is no answer.
        """
        raise NotAsked


def in_order(extenders: Iterable[config.Extender]) -> list[tuple[config.Extender, str]]:
    """Return extenders in the order in which they are asked, the ignorable ones last, each with a name of its own."""
    seen: dict[str, int] = {}
    found = []
    for each in sorted(extenders, key=lambda each: each.ignorable):
        name = f"{EXTENDER_PLUGIN}:{address(each.url_prefix)}"
        seen[name] = seen.get(name, 0) + 1
        found.append((each, name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return found


def address(url: str) -> str:
    """Return a URL without the user and password that may stand in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url
