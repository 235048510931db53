"""Profiles of v1beta3, whose words are today's: kept as written, but for plugins that are gone and a score that is new.

kube-scheduler v1.28 had the defaults of today with the weights of today. It also had three plugins that counted the
volumes of one cloud each, and SelectorSpread for those who enabled it; and VolumeBinding did not score.
"""

from __future__ import annotations

import copy

import msgspec

from schedctl.config.defaults import complete
from schedctl.config.expansion import Expanded, KnownPlugins, expand
from schedctl.config.legacy.changes import ConversionLog
from schedctl.config.legacy.documents import OLD_ARGS
from schedctl.config.legacy.plugin_sets import Plain
from schedctl.config.legacy.translations import SPREAD
from schedctl.config.removed_plugins import GONE, VOLUME_LIMITS
from schedctl.config.types import MULTI_POINT, Plugins, ProfileConfig, SchedulerConfiguration
from schedctl.documents.heads import HEAD

_SELECTOR_SPREAD = "SelectorSpread"
_BINDING = "VolumeBinding"
_LIMITS = "NodeVolumeLimits"


def convert(profile: Plain, path: str, log: ConversionLog, known: KnownPlugins) -> Plain:
    """Return a profile of v1beta3 as it is written today.

    Args:
        profile: plain values that have been decoded before.
        path: where it stands.
        log: where to write down what becomes of things.
        known: the plugins there are today.
    """
    converted = copy.deepcopy(profile)
    sets: Plain = converted.get("plugins") or {}
    for point, chosen in sets.items():
        where = f"{path}.plugins.{point}"
        chosen["enabled"] = _replace_gone(chosen.get("enabled") or [], where, converted, log, known)
        gone = {*VOLUME_LIMITS, _SELECTOR_SPREAD}
        chosen["disabled"] = [one for one in chosen.get("disabled") or [] if one["name"] not in gone]
    args = _args(converted.get("pluginConfig") or [], path, log)
    scorers = {plugin.name for plugin in _in_effect(converted, known)["score"]}
    explicit = {one["name"] for one in (sets.get("score") or {}).get("enabled") or ()}
    shaped = any(one["name"] == _BINDING and (one.get("args") or {}).get("shape") for one in args)
    # a profile that sets a shape had it score then, too; one that enables it at score means it
    if _BINDING in scorers - explicit and not shaped:
        sets.setdefault("score", {}).setdefault("disabled", []).append({"name": _BINDING})
        why = "it scores storage by default only since v1.37"
        log.add_carried(path, f"{_BINDING}, which did not score,", "disabled at score", why)
    sets = {point: {key: value for key, value in chosen.items() if value} for point, chosen in sets.items()}
    converted["plugins"] = {point: chosen for point, chosen in sets.items() if chosen}
    converted["pluginConfig"] = args
    return {key: value for key, value in converted.items() if value}


def _replace_gone(
    entries: list[Plain], where: str, profile: Plain, log: ConversionLog, known: KnownPlugins
) -> list[Plain]:
    """Return the plugins enabled at one point, each gone one replaced by the one that took over."""
    kept: list[Plain] = []
    point = where.rpartition(".")[2]
    for index, entry in enumerate(entries):
        name, path = entry["name"], f"{where}.enabled[{index}]"
        taken = {one["name"] for one in (*entries, *kept)} | _names_at(point, profile, known)
        if name in VOLUME_LIMITS:
            if _LIMITS not in taken:
                kept.append({"name": _LIMITS})
            why = f"{VOLUME_LIMITS[name]} are volumes of a CSI driver, whose limits it counts; the plugin left in v1.32"
            log.add_carried(path, name, _LIMITS, why)
        elif name == _SELECTOR_SPREAD:
            if SPREAD not in taken:
                kept.append({**entry, "name": SPREAD})
            why = "its default constraints spread pods without constraints; the plugin left in v1.29"
            log.add_approximated(path, name, SPREAD, why)
        elif name in GONE:
            advice = GONE[name].partition(": remove this entry")[0]
            log.add_lost(path, name, "it was removed before v1beta3", advice)
        else:
            kept.append(entry)
    return kept


def _names_at(point: str, profile: Plain, known: KnownPlugins) -> set[str]:
    """Return the plugins in effect at a point; those that filter stand for ``multiPoint``."""
    chosen = _in_effect(profile, known).get("filter" if point == MULTI_POINT else point, ())
    return {plugin.name for plugin in chosen}


def _in_effect(profile: Plain, known: KnownPlugins) -> Expanded:
    """Return the plugins of each point once the defaults of today are merged in."""
    sets = msgspec.convert(profile.get("plugins") or {}, Plugins)
    completed = complete(SchedulerConfiguration(profiles=(ProfileConfig(plugins=sets),)))
    expanded, _ = expand(completed.profiles[0], known)
    return expanded


def _args(entries: list[Plain], path: str, log: ConversionLog) -> list[Plain]:
    """Return the arguments without the version of their type, and without those of plugins that are gone."""
    kept = []
    for index, entry in enumerate(entries):
        if entry["name"] in (*VOLUME_LIMITS, _SELECTOR_SPREAD):
            log.add_dropped(f"{path}.pluginConfig[{index}]", f"pluginConfig of {entry['name']}", "it took no arguments")
            continue
        if entry["name"] in OLD_ARGS:
            args = {key: value for key, value in (entry.get("args") or {}).items() if key not in HEAD}
            entry = {"name": entry["name"], "args": args}
        kept.append(entry)
    return kept
