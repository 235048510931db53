"""What the arguments of built-in checks must be, beyond what their types say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from schedctl.api.field_errors import label_key_problems, label_value_problems
from schedctl.api.meta import Quantity
from schedctl.api.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from schedctl.documents.spelling import did_you_mean
from schedctl.errors import UsageError
from schedctl.policy import documents
from schedctl.policy.references import Taint
from schedctl.simulation.what_if_syntax import subject_named

_QUANTITY: Final = re.compile(next(meta.pattern for meta in Quantity.__args__[0].__metadata__))


def is_quantity(text: str) -> bool:
    """Return whether a text is a quantity."""
    return _QUANTITY.fullmatch(text) is not None


Mistake = tuple[str, str, str]
"""The field, what is wrong with it, and a hint."""


def argument_mistakes(arguments: documents.Arguments, scenarios: Sequence[str]) -> Iterable[Mistake]:
    """Return what is wrong with the arguments of a built-in, of a policy with these scenarios."""
    match arguments:
        case documents.Schedulable():
            return [*_percentage("minPercent", arguments.min_percent), *_of_scale_up(arguments)]
        case documents.Spread():
            return _of_spread(arguments)
        case documents.Survives():
            return _of_survives(arguments, scenarios)
        case documents.Headroom():
            return [*_of_headroom(arguments), *_labels("nodeSelector", arguments.node_selector)]
        case documents.Placement():
            return _of_placement(arguments)
        case documents.DrainSafe(node_selector=labels):
            return _labels("nodeSelector", labels)
        case documents.MaxNodes(count=count):
            return () if count else [("count", "max-nodes needs a count of at least 1", "e.g. with: {count: 3}")]
        case documents.MaxUtilization(resource=resource, percent=percent, by=by, node_selector=labels):
            mistakes = [*_require("resource", resource), *_percentage("percent", percent), *_label("by", by)]
            return [*mistakes, *_labels("nodeSelector", labels)]
        case documents.SnapshotFresh(max_age=age) if age <= 0:
            return [("maxAge", "maxAge must be above 0", 'e.g. with: {maxAge: "24h"}')]
    return ()


def _of_scale_up(arguments: documents.Schedulable) -> Iterable[Mistake]:
    most = arguments.max_new_nodes
    if most is not None and most < 0:
        yield "maxNewNodes", f"{most} is not a number of nodes", "0 or more"
    if arguments.after not in ("", "scaleUp"):
        yield "after", f'unknown value "{arguments.after}"', did_you_mean(arguments.after, ["scaleUp"])
    if not arguments.after:
        for name, value in (("groups", arguments.groups), ("maxNewNodes", most)):
            if value or value == 0:
                yield name, f"{name} has no meaning without after", "add `after: scaleUp`"


def _require(name: str, value: str) -> list[Mistake]:
    return [] if value else [(name, f"{name} is required", "")]


def _percentage(name: str, value: float) -> list[Mistake]:
    return [] if 0 < value <= 100 else [(name, f"{value:g} is not a percentage", "above 0 and up to 100")]


def _label(name: str, key: str) -> list[Mistake]:
    wrong = label_key_problems(key) if key else []
    return [(name, f'"{key}" is not a label key: {"; ".join(wrong)}', "")] if wrong else []


def _labels(name: str, labels: Mapping[str, str]) -> Iterator[Mistake]:
    for key, value in labels.items():
        yield from _label(name, key)
        if wrong := label_value_problems(value):
            yield name, f'"{value}" is not a label value: {"; ".join(wrong)}', ""


def _of_spread(arguments: documents.Spread) -> Iterator[Mistake]:
    yield from _require("topologyKey", arguments.topology_key)
    yield from _label("topologyKey", arguments.topology_key)
    if arguments.min_domains < 1:
        yield "minDomains", "minDomains must be at least 1", ""
    elif arguments.min_domains == 1 and arguments.max_skew is None:  # which all pods meet that run
        yield "", "spread needs minDomains of 2 or more, or maxSkew", "e.g. minDomains: 3; all pods may be in 1 domain"
    if arguments.max_skew is not None and arguments.max_skew < 1:
        yield "maxSkew", "maxSkew must be at least 1", ""
    if arguments.per != "workload":
        yield "per", f'pods cannot be counted per "{arguments.per}"', 'did you mean "workload"?'


def _of_survives(arguments: documents.Survives, scenarios: Sequence[str]) -> Iterator[Mistake]:
    names = [name for name in scenarios if name and name != documents.BASELINE]
    if not arguments.scenario:
        hint = f"one of {', '.join(names)}" if names else "add one under spec.scenarios"
        yield "scenario", "survives needs a scenario", hint
    elif arguments.scenario not in names:
        yield "scenario", f'unknown scenario "{arguments.scenario}"', did_you_mean(arguments.scenario, names)
    allowed = arguments.allow_pending
    if not (re.fullmatch("[0-9]{1,9}", allowed) or documents.PRIORITY_BELOW.fullmatch(allowed)):
        yield (
            "allowPending",
            f'"{allowed}" is neither a number of pods nor a priority limit',
            'e.g. allowPending: 2, or "priority < 1000"',
        )


def _of_headroom(arguments: documents.Headroom) -> Iterator[Mistake]:
    yield from _label("by", arguments.by)
    if arguments.replicas_of:
        if arguments.resource:
            yield "resource", "replicasOf and resource exclude each other", ""
        if arguments.percent is not None or not arguments.absolute:
            yield "", "replicasOf needs `absolute:`, the number of replicas that must fit", "e.g. absolute: 5"
        elif not re.fullmatch("[0-9]{1,9}", arguments.absolute):
            yield "absolute", f'"{arguments.absolute}" is not a number of replicas', "e.g. absolute: 5"
        try:
            subject_named(arguments.replicas_of)
        except UsageError as error:
            yield "replicasOf", str(error), error.hint
        return
    yield from _require("resource", arguments.resource)
    if (arguments.percent is None) == (not arguments.absolute):
        yield "", "headroom needs one of percent, absolute and replicasOf with absolute", "e.g. percent: 20"
    if arguments.percent is not None:
        yield from _percentage("percent", arguments.percent)
    if arguments.absolute and not is_quantity(arguments.absolute):
        yield "absolute", f'"{arguments.absolute}" is not a quantity', "e.g. 500m or 2Gi"
    yield from _of_requests(arguments)


def _of_requests(arguments: documents.Headroom) -> Iterator[Mistake]:
    """Yield what is wrong with a limit of what pods request."""
    yield from _label("byPodLabel", arguments.by_pod_label)
    groupings = [name for name in ("by", "by_namespace", "by_pod_label") if getattr(arguments, name)]
    if len(groupings) > 1:
        yield "", "by, byNamespace and byPodLabel exclude each other", ""
    if arguments.is_of_requests and arguments.node_selector:
        yield "nodeSelector", "nodeSelector is about nodes, byNamespace and byPodLabel about what pods request", ""
    if bool(arguments.by_pod_label) != bool(arguments.limits):
        yield "limits", "byPodLabel and limits need each other", "e.g. {byPodLabel: team, limits: {shop: 40}}"
    for value, limit in arguments.limits.items():
        if not is_quantity(limit):
            yield f"limits.{value}", f'"{limit}" is not a quantity', "e.g. 500m or 2Gi"


def _of_placement(arguments: documents.Placement) -> Iterator[Mistake]:
    if arguments.must is None and arguments.must_not is None:
        yield "", "placement needs must or mustNot", "e.g. mustNot: {taint: spot}"
    for name, demand in (("must", arguments.must), ("mustNot", arguments.must_not)):
        if demand is not None:
            yield from _of_nodes(name, demand)


def _of_nodes(name: str, demand: documents.NodeDemand) -> Iterator[Mistake]:
    if not (demand.node_selector or demand.taint):
        yield name, f"{name} needs a nodeSelector or a taint", "e.g. nodeSelector: {pool: general}"
    yield from _labels(f"{name}.nodeSelector", demand.node_selector)
    if demand.taint:
        key, _, effect = Taint.parse(demand.taint)
        effects = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
        yield from _label(f"{name}.taint", key)
        if effect and effect not in effects:
            yield f"{name}.taint", f'unknown taint effect "{effect}"', did_you_mean(effect, effects)
