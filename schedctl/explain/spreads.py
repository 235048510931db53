"""How the pods that a pod is to be spread among are spread now, rule by rule, from the plugins whose rules they are."""

from __future__ import annotations

from schedctl.engine.attempts import Attempt
from schedctl.framework.domain_counts import DomainCounts
from schedctl.framework.faults import ESCAPING
from schedctl.framework.points import Plugin
from schedctl.reports.explanations import DomainPods, DomainSpread


def of(outcome: Attempt) -> list[DomainSpread]:
    """Return what the plugins of an attempt's profile count by domain; empty where no search was made."""
    if outcome.evaluated_column is None:
        return []
    return [spread for plugin in outcome.profile.plugins.values() for spread in _of_plugin(plugin, outcome)]


def _of_plugin(plugin: Plugin, outcome: Attempt) -> list[DomainSpread]:
    try:
        return [_spread(plugin.name, counted) for counted in plugin.domain_counts(outcome.cycle.scratch())]
    except KeyboardInterrupt:
        raise
    except ESCAPING:  # a rule that cannot be read fails in the cycle as well, which the verdict tells
        return []


def _spread(plugin: str, counted: DomainCounts) -> DomainSpread:
    ordered = sorted(counted.counts.items(), key=lambda item: (-item[1], item[0]))
    return DomainSpread(
        plugin=plugin,
        topology_key=counted.topology_key,
        hard=counted.hard,
        max_skew=counted.max_skew,
        adds=counted.adds,
        minimum=counted.minimum,
        number=counted.domains,
        domains=[DomainPods(domain=domain, pods=pods) for domain, pods in ordered],
    )
