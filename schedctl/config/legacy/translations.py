"""Plugins that are gone, in the words of today: what a profile wanted of them, said to the plugins that took over.

Each function takes one family out of a `Draft`, puts in what stands for it, and writes down what it did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from schedctl.config.expansion import KnownPlugins
from schedctl.config.legacy.changes import ConversionLog, Outcome
from schedctl.config.legacy.plugin_sets import Plain, takes_part, weight_of
from schedctl.config.removed_plugins import VOLUME_LIMITS
from schedctl.config.types import Plugin

FIT: Final = "NodeResourcesFit"
SPREAD: Final = "PodTopologySpread"
AFFINITY: Final = "NodeAffinity"
_STRATEGIES: Final = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
_CPU_AND_MEMORY: Final = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
_SPREADERS: Final = ("SelectorSpread", "DefaultPodTopologySpread")
_FILTER, _SCORE = "filter", "score"


class Draft(msgspec.Struct):
    """A profile on its way.

    Attributes:
        path: the profile in the old file.
        plugins: by point, in order, the defaults of the old version merged in.
        args: the arguments the file gives, by plugin.
        log: where to write down what happens.
        written: where the file itself enables a plugin, by point and name.
        configured: where the file gives arguments, by plugin.
        everywhere: plugins of ``multiPoint`` that are nobody's we know.
        called: what the file calls a plugin where it has another word for it, by point and name.
        lists_by_itself: whether default constraints are of type List without saying so.
    """

    path: str
    plugins: dict[str, list[Plugin]]
    args: dict[str, Plain]
    log: ConversionLog
    written: dict[tuple[str, str], str] = msgspec.field(default_factory=dict)
    configured: dict[str, str] = msgspec.field(default_factory=dict)
    everywhere: list[Plugin] = msgspec.field(default_factory=list)
    lists_by_itself: bool = False
    called: dict[tuple[str, str], str] = msgspec.field(default_factory=dict)

    def find(self, point: str, name: str) -> Plugin | None:
        """Return a plugin at a point, None when it is not there."""
        return next((plugin for plugin in self.plugins.get(point, ()) if plugin.name == name), None)

    def take(self, point: str, name: str) -> Plugin | None:
        """Take a plugin away from a point, and return it."""
        found = self.find(point, name)
        if found is not None:
            self.plugins[point] = [plugin for plugin in self.plugins[point] if plugin.name != name]
        return found

    def put(self, point: str, plugin: Plugin) -> None:
        """Enable a plugin at a point, behind the others, unless it is there."""
        if self.find(point, plugin.name) is None:
            self.plugins.setdefault(point, []).append(plugin)

    def name(self, point: str, name: str) -> str:
        """Return what the file calls a plugin."""
        return self.called.get((point, name), name)

    def where(self, point: str, name: str) -> str:
        """Return the field that enables a plugin, the profile's where it is a default."""
        return self.written.get((point, name), self.path)


def translate(draft: Draft, known: KnownPlugins) -> None:
    """Take everything out of a draft that kube-scheduler does not have any more."""
    for step in (_strategies, _spreaders, _limits, _node_labels, _service_affinity, _without_successor, _constraints):
        step(draft)
    _points_left(draft, known)


def _strategies(draft: Draft) -> None:
    """Three plugins, and the fit itself, that scored by use: one plugin with one strategy."""
    scorers: list[tuple[Plugin, Plain]] = []
    for name in (*_STRATEGIES, FIT):
        plugin = draft.find(_SCORE, name)
        if plugin is not None:
            scorers.append((plugin, _strategy(draft, name)))
    for name in _STRATEGIES:
        draft.take(_SCORE, name)
        args = draft.args.pop(name, None)
        if args is not None and all(plugin.name != name for plugin, _ in scorers):
            draft.log.add_dropped(draft.configured[name], f"pluginConfig of {name}", "the plugin is not enabled")
    if not scorers or all(plugin.name == FIT for plugin, _ in scorers):
        return
    # one strategy must be chosen: what the file itself enables goes before a default of the same weight
    best, chosen = max(
        scorers, key=lambda one: (weight_of(one[0]), (_SCORE, one[0].name) in draft.written), default=scorers[0]
    )
    alike = [plugin for plugin, strategy in scorers if strategy == chosen]
    weight = sum(map(weight_of, alike))
    for plugin, _ in scorers:
        if plugin in alike:
            now = f"{FIT}, weight {weight}, scoringStrategy of type {chosen['type']}"
            why = "one plugin scores resource usage since v1.22, by its scoringStrategy"
            if plugin.name != FIT and not _is_default(draft, plugin, chosen):
                draft.log.add_carried(draft.where(_SCORE, plugin.name), draft.name(_SCORE, plugin.name), now, why)
        else:
            draft.log.add_lost(
                draft.where(_SCORE, plugin.name),
                f"{draft.name(_SCORE, plugin.name)}, weight {weight_of(plugin)}",
                f"{FIT} has one strategy; that of {draft.name(_SCORE, best.name)} has the highest weight",
                "decide which of the two to keep; a RequestedToCapacityRatio shape may combine them",
            )
    if FIT in draft.args and "scoringStrategy" in draft.args[FIT] and best.name != FIT:
        why = f"{FIT} did not score, but {best.name} did"
        draft.log.add_dropped(draft.configured[FIT], f"scoringStrategy of {FIT}", why)
    if chosen != {"type": "LeastAllocated", "resources": _CPU_AND_MEMORY}:
        draft.args.setdefault(FIT, {})["scoringStrategy"] = chosen
    else:
        draft.args.get(FIT, {}).pop("scoringStrategy", None)  # the default needs no writing down
    draft.take(_SCORE, FIT)
    draft.put(_SCORE, Plugin(FIT, weight))


def _strategy(draft: Draft, name: str) -> Plain:
    """Return the scoring strategy that says what a plugin did."""
    args = draft.args.get(name, {})
    if name == FIT:
        return dict(args.get("scoringStrategy") or {"type": "LeastAllocated", "resources": _CPU_AND_MEMORY})
    resources = [{"name": one.get("name", ""), "weight": one.get("weight") or 1} for one in args.get("resources") or ()]
    strategy: Plain = {"type": _STRATEGIES[name], "resources": resources or _CPU_AND_MEMORY}
    if name == "RequestedToCapacityRatio":
        strategy["requestedToCapacityRatio"] = {"shape": args.get("shape") or []}
    return strategy


def _is_default(draft: Draft, plugin: Plugin, strategy: Plain) -> bool:
    """Return whether a plugin is what runs anyway, in another name, so that nothing needs to be said."""
    asked_for = (_SCORE, plugin.name) in draft.written or plugin.name in draft.configured
    return not asked_for and strategy["type"] == "LeastAllocated"


def _spreaders(draft: Draft) -> None:
    """Spreading by Services and workloads: constraints that pods without any get."""
    for name in _SPREADERS:
        draft.take("preScore", name)
        plugin = draft.take(_SCORE, name)
        if plugin is None:
            continue
        where, spread = draft.where(_SCORE, name), draft.find(_SCORE, SPREAD)
        draft.put(_SCORE, Plugin(SPREAD, weight_of(plugin)))
        draft.put("preScore", Plugin(SPREAD))
        constraints = draft.args.get(SPREAD, {}).get("defaultConstraints")
        if constraints:
            draft.log.add_lost(
                where,
                name,
                f"{SPREAD} has its own default constraints here and can have only one list",
                f"add constraints over kubernetes.io/hostname and topology.kubernetes.io/zone to those of {SPREAD}",
            )
            continue
        draft.args.get(SPREAD, {}).pop("defaultingType", None)  # System, which is the default, has the constraints
        weight = weight_of(spread or plugin)
        draft.log.add_approximated(
            where,
            f"{name}, weight {weight_of(plugin)}",
            f"{SPREAD}, weight {weight}, defaultingType System",
            "the default constraints spread pods over nodes and zones since v1.20",
        )


def _limits(draft: Draft) -> None:
    """Counting the volumes of one cloud: all volumes of a cloud are CSI volumes now."""
    for name, volumes in VOLUME_LIMITS.items():
        if draft.take(_FILTER, name) is None:
            continue
        why = f"{volumes} are volumes of a CSI driver, whose limits it counts; the plugin left in v1.32"
        if draft.find(_FILTER, "NodeVolumeLimits") is None:
            draft.put(_FILTER, Plugin("NodeVolumeLimits"))
            hint = "it counts the volumes of all CSI drivers"
            draft.log.add_approximated(
                draft.where(_FILTER, name), draft.name(_FILTER, name), "NodeVolumeLimits", why, hint
            )
        elif (_FILTER, name) in draft.written:
            draft.log.add_carried(draft.where(_FILTER, name), draft.name(_FILTER, name), "NodeVolumeLimits", why)


def _node_labels(draft: Draft) -> None:
    """Labels of nodes: an affinity that every pod of the profile has beside its own."""
    name = "NodeLabel"
    filters, scorer = draft.take(_FILTER, name), draft.take(_SCORE, name)
    args = draft.args.pop(name, {})
    where = draft.configured.get(name, draft.path)
    if filters is None and scorer is None:
        if args:
            draft.log.add_dropped(where, f"pluginConfig of {name}", "the plugin is not enabled")
        return
    demands = _expressions(args.get("presentLabels"), args.get("absentLabels"))
    wishes = _expressions(args.get("presentLabelsPreference"), args.get("absentLabelsPreference"))
    if not demands and not wishes:
        draft.log.add_dropped(draft.where(_FILTER if filters else _SCORE, name), name, "it names no labels")
    if filters is not None and demands:
        affinity = _added_affinity(draft)
        required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
        for term in required.get("nodeSelectorTerms") or ():
            term.setdefault("matchExpressions", []).extend(demands)
        why = "every pod of a profile can be given an affinity since v1.20; the plugin left in v1.23"
        now = f"the required addedAffinity of {AFFINITY}"
        outcome = Outcome.CARRIED if draft.find(_FILTER, AFFINITY) else Outcome.APPROXIMATED
        hint = (
            ""
            if outcome is Outcome.CARRIED
            else f"{AFFINITY}, which was disabled, is enabled and also filters by the pods' own affinity"
        )
        draft.put("preFilter", Plugin(AFFINITY))
        draft.put(_FILTER, Plugin(AFFINITY))
        draft.log.add(outcome, draft.where(_FILTER, name), f"{name} at filter", now, why, hint)
    if scorer is not None and wishes:
        weight = weight_of(scorer)
        preferred = _added_affinity(draft).setdefault("preferredDuringSchedulingIgnoredDuringExecution", [])
        each = max(1, min(100, weight // len(wishes)))  # preferences weigh 1 to 100 and share the plugin's weight
        preferred += [{"weight": each, "preference": {"matchExpressions": [wish]}} for wish in wishes]
        draft.put("preScore", Plugin(AFFINITY))
        draft.put(_SCORE, Plugin(AFFINITY, weight))
        draft.log.add_approximated(
            draft.where(_SCORE, name),
            f"{name} at score, weight {weight}",
            f"the preferred addedAffinity of {AFFINITY}",
            "it is combined with the preferences of the pods; the plugin left in v1.23",
        )


def _added_affinity(draft: Draft) -> Plain:
    affinity: Plain = draft.args.setdefault(AFFINITY, {}).setdefault("addedAffinity", {})
    return affinity


def _expressions(present: Iterable[str] | None, absent: Iterable[str] | None) -> list[Plain]:
    return [
        *({"key": label, "operator": "Exists"} for label in present or ()),
        *({"key": label, "operator": "DoesNotExist"} for label in absent or ()),
    ]


def _service_affinity(draft: Draft) -> None:
    """Keeping the pods of a Service together, or apart, by the labels of nodes: nobody does it for all pods now."""
    name = "ServiceAffinity"
    taken = [point for point in ("preFilter", _FILTER, _SCORE) if draft.take(point, name) is not None]
    args = draft.args.pop(name, {})
    where = draft.configured.get(name, draft.path)
    why = "the plugin left in v1.23"
    if _FILTER in taken and args.get("affinityLabels"):
        hint = (
            "give the pods of each Service a podAffinity over"
            f" {' and '.join(args['affinityLabels'])}, required, to their own labels"
        )
        draft.log.add_lost(draft.where(_FILTER, name), f"{name} at filter", why, hint)
    if _SCORE in taken and args.get("antiAffinityLabelsPreference"):
        keys = " and ".join(args["antiAffinityLabelsPreference"])
        hint = f"give {SPREAD} defaultingType List and a default constraint, ScheduleAnyway, over {keys}"
        draft.log.add_lost(draft.where(_SCORE, name), f"{name} at score", why, hint)
    if args and not taken:
        draft.log.add_dropped(where, f"pluginConfig of {name}", "the plugin is not enabled")
    if taken and not args:
        draft.log.add_dropped(draft.where(taken[0], name), name, "it names no labels")


_WITHOUT_SUCCESSOR: Final[Mapping[str, tuple[str, str]]] = {
    "NodePreferAvoidPods": (
        "the node annotation scheduler.alpha.kubernetes.io/preferAvoidPods is ignored since v1.23",
        "taint the nodes that pods should avoid, with effect PreferNoSchedule",
    ),
    "NodeResourceLimits": (
        "the plugin, which scored the limits of containers, left in v1.19",
        "only requests count: raise them for pods that need more",
    ),
}
"""Why a plugin left, and what to do where a file asked for it."""


def _without_successor(draft: Draft) -> None:
    """Plugins in whose place nothing has come."""
    for name, (why, hint) in _WITHOUT_SUCCESSOR.items():
        points = [point for point in list(draft.plugins) if draft.take(point, name) is not None]
        written_at = next((point for point in points if (point, name) in draft.written), "")
        if written_at:
            draft.log.add_lost(draft.where(written_at, name), draft.name(written_at, name), why, hint)
        elif points:
            draft.log.add_dropped(draft.path, f"{name}, a default then,", why, hint)


def _constraints(draft: Draft) -> None:
    """A list of default constraints, which said by itself that it is one."""
    args = draft.args.get(SPREAD, {})
    if draft.lists_by_itself and args.get("defaultConstraints") and not args.get("defaultingType"):
        args["defaultingType"] = "List"
        path = draft.configured[SPREAD]
        why = "constraints in a list need it since v1beta2"
        draft.log.add_carried(path, f"defaultConstraints of {SPREAD}", "of defaultingType List", why)


def _points_left(draft: Draft, known: KnownPlugins) -> None:
    """Plugins at points in which they take no part any more."""
    for point, plugins in draft.plugins.items():
        for plugin in [plugin for plugin in plugins if not takes_part(plugin.name, point, known)]:
            draft.take(point, plugin.name)
            if (point, plugin.name) in draft.written:
                why = f"{plugin.name} has no {point} extension any more"
                draft.log.add_dropped(draft.where(point, plugin.name), f"{plugin.name} at {point}", why)


def args_of(draft: Draft, order: Sequence[str]) -> list[Plain]:
    """Return ``pluginConfig``: what the file configures in its order, then what translation has added."""
    names: list[Any] = [*order, *(name for name in draft.args if name not in order)]
    return [{"name": name, "args": draft.args[name]} for name in names if draft.args.get(name)]
