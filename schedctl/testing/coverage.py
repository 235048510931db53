"""What a law was tried on: a law that saw nothing happen has not been put to the test, and says so.

`Coverage` collects what a plugin did over all clusters and pods; `LawResult` is what became of one law.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from schedctl.framework.points import (
    FilterPlugin,
    NodeSet,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from schedctl.testing.plugin_answers import PluginAnswers

_ASKED = (PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin)
NOT_DECLARED = "nothing declared"


@dataclass(slots=True)
class Coverage:
    """What a plugin did while it was held to the laws.

    Attributes:
        asked: whether it was asked about a node at all.
        rejected: whether PreFilter or Filter rejected one.
        accepted: whether one was left.
        scored: whether Score was asked about one.
        ranked: whether Score preferred one node to another.
        reserved: whether a pod was reserved a node.
        placed: whether a pod was placed on a node.
    """

    asked: bool = False
    rejected: bool = False
    accepted: bool = False
    scored: bool = False
    ranked: bool = False
    reserved: bool = False
    placed: bool = False

    def add(self, answers: PluginAnswers, names: Collection[str]) -> None:
        """Take note of what a plugin says of the nodes of some names."""
        self.asked = True
        narrowed = answers.pre_filter.names if isinstance(answers.pre_filter, NodeSet) else names
        fits = [not answers.is_rejected and name in narrowed and answers.accepts(name) for name in names]
        self.rejected |= not all(fits)
        self.accepted |= any(fits)
        self.scored |= bool(answers.scores)
        self.ranked |= len(set(answers.scores.values())) > 1

    def split(self, plugin: type[Plugin], law: str) -> tuple[list[str], list[str]]:
        """Return what of a law is put to the test, and what of it is not, in words."""
        if law == "purity":
            return _split([(self.asked, "no pod and node to ask about")])
        if law == "reserve":
            return _split([(self.reserved, "no pod was reserved a node")])
        if law == "state":
            return _split([(self.placed, "no pod was placed on a node")])
        points: list[tuple[bool, str]] = []
        if law not in ("range", "extremes") and issubclass(plugin, FilterPlugin | PreFilterPlugin):
            name = "Filter" if issubclass(plugin, FilterPlugin) else "PreFilter"
            points.append((self.rejected and self.accepted, f"{name} {self._untried_verdict()}"))
        if issubclass(plugin, ScorePlugin):
            text = "was the same for every node" if self.scored else "was asked about no node"
            points.append((self.ranked, f"Score {text}"))
        return _split(points)

    def _untried_verdict(self) -> str:
        if not self.asked:
            return "was asked about no node"
        return "accepted no node" if self.rejected else "rejected no node"


@dataclass(frozen=True, slots=True)
class LawResult:
    """What became of a law.

    Attributes:
        law: its name.
        violation: how it is broken, "" where it is not.
        exempt: why it does not apply to the plugin, "" where it does.
        untried: what did not happen, so that it proves nothing; in words.
        proves_nothing: whether nothing happened that the law is about.
    """

    law: str
    violation: str = ""
    exempt: str = ""
    untried: tuple[str, ...] = ()
    proves_nothing: bool = False

    def __str__(self) -> str:
        if self.violation or self.exempt:
            return self.violation or self.exempt
        missing = "; ".join(self.untried)
        if self.proves_nothing:
            return f"saw nothing happen: {missing}"
        return f"holds, but {missing}" if missing else "holds"


def exemption(plugin: type[Plugin], law: str) -> str:
    """Return why a law is not about a plugin, "" where it is; what is about promises is not looked at."""
    if law == "reserve" and not issubclass(plugin, ReservePlugin):
        return "no Reserve"
    if law in ("range", "extremes") and not issubclass(plugin, ScorePlugin):
        return "no Score"
    if not issubclass(plugin, _ASKED):
        return "" if law == "reserve" else "no Filter and no Score"
    return ""


def _split(points: list[tuple[bool, str]]) -> tuple[list[str], list[str]]:
    return [text for seen, text in points if seen], [text for seen, text in points if not seen]
