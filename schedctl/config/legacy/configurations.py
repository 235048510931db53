"""KubeSchedulerConfigurations of other times: their fields, and their profiles as drafts.

What means today what it meant is copied. v1beta3 already speaks of ``multiPoint`` (`recent_profiles`); in all older
versions each point had defaults of its own, and their profiles are worked out point by point and written down anew.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from schedctl.config import types
from schedctl.config.expansion import KnownPlugins
from schedctl.config.legacy import documents, plugin_sets, recent_profiles, releases
from schedctl.config.legacy.changes import ConversionLog
from schedctl.config.legacy.plugin_sets import POINTS, Plain, ProfilePlugins
from schedctl.config.legacy.policy_sources import REFERENCE
from schedctl.config.legacy.translations import Draft, args_of, translate
from schedctl.documents.decoding import Decoder, describe
from schedctl.documents.heads import HEAD
from schedctl.documents.trees import Node
from schedctl.errors import Problem

_DOCUMENTS: Final[Mapping[str, tuple[type[msgspec.Struct], type[msgspec.Struct]]]] = {
    releases.V1ALPHA1.api_version: (documents.ConfigurationV1Alpha1, documents.PluginsV1Alpha1),
    releases.V1ALPHA2.api_version: (documents.ConfigurationV1Alpha2, documents.PluginsV1Alpha2),
    releases.V1BETA1.api_version: (documents.ConfigurationV1Beta1, documents.PluginsV1Beta1),
    releases.V1BETA2.api_version: (documents.ConfigurationV1Beta1, documents.PluginsV1Beta2),
    releases.V1BETA3.api_version: (documents.ConfigurationV1Beta3, documents.PluginsV1Beta3),
}
_ALPHA: Final = (releases.V1ALPHA1, releases.V1ALPHA2)
_TEMPLATE: Final[tuple[str, ...]] = ("schedulerName", "plugins", "pluginConfig")
"""The fields of a profile, which v1alpha1 has at the top."""
_COPIED: Final = (
    "parallelism",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "extenders",
)
_SCORE: Final = "score"
_BINDING: Final = "VolumeBinding"


def check(node: Node, decoder: Decoder, version: releases.LegacyVersion) -> None:
    """Report what a document may not say in its version."""
    configuration, plugins = _DOCUMENTS[version.api_version]
    decoded: Any = decoder.struct(node, configuration, also=HEAD)
    profiles = [("", decoded)] if version is releases.V1ALPHA1 else list(_enumerate("profiles", decoded.profiles))
    for path, profile in profiles:
        before = f"{path}." if path else ""
        if profile.plugins is not None:
            _check_names(decoder.struct(profile.plugins, plugins, f"{before}plugins"), decoder, f"{before}plugins")
        one: types.PluginConfig
        for where, one in _enumerate(f"{before}pluginConfig", profile.plugin_config):
            _check_name(one.name, decoder, where)
            if isinstance(one.args, Node):
                _check_args(one.args, decoder, one.name, f"{where}.args", version)


def _check_names(plugins: msgspec.Struct, decoder: Decoder, path: str) -> None:
    """Report plugins that are enabled or disabled without a name."""
    for field in msgspec.structs.fields(type(plugins)):
        chosen: types.PluginSet = getattr(plugins, field.name)
        for verb, named in (("enabled", chosen.enabled), ("disabled", chosen.disabled)):
            for where, one in _enumerate(f"{path}.{field.encode_name}.{verb}", named):
                _check_name(one.name, decoder, where)


def _check_name(name: str, decoder: Decoder, path: str) -> None:
    """Report an entry that names no plugin, unless what its name is has been objected to before."""
    where = f"{path}.name"
    if not name and not decoder.spoilt & {path, where}:
        line, column = decoder.places.get(where) or decoder.places.get(path) or _around(decoder, path)
        decoder.problems.append(
            Problem("name is required", line=line, column=column, path=where, hint="write the name of a plugin")
        )


def _around(decoder: Decoder, path: str) -> tuple[int, int]:
    """Return where the list of an entry stands that is null itself."""
    return decoder.places.get(path.rpartition("[")[0], (0, 0))


def _check_args(node: Node, decoder: Decoder, name: str, path: str, version: releases.LegacyVersion) -> None:
    if name not in documents.OLD_ARGS:
        decoder.free(node, path)
        return
    decoder.struct(node, documents.OLD_ARGS[name], path, also=HEAD)
    for key, value in node.value if node.is_mapping else ():
        expected = {"kind": f"{name}Args", "apiVersion": version.api_version}.get(key.value)
        if expected is not None and value.value not in (None, "", expected):
            decoder.report(value, f"{path}.{key.value}", f'expected "{expected}", got {describe(value)}')


def policy_reference(document: Plain, version: releases.LegacyVersion) -> Plain:
    """Return the reference of a document to a Policy, {} where it has none."""
    source: Plain = (document.get("algorithmSource") or {}) if version is releases.V1ALPHA1 else {}
    reference: Plain = source.get("policy") or {}
    return reference


def convert(
    document: Plain,
    version: releases.LegacyVersion,
    log: ConversionLog,
    known: KnownPlugins,
    policy: Plain | None = None,
) -> Plain:
    """Return the document in today's version.

    Args:
        document: plain values of a document that `check` has not objected to.
        version: its version.
        log: where to write down what becomes of things.
        known: the plugins there are today.
        policy: the Policy that it refers to in today's version, whose profile and extenders are its own then.
    """
    converted: Plain = {"apiVersion": types.API_VERSION, "kind": types.KIND}
    converted |= {name: document[name] for name in _COPIED if name in document}
    if "leaderElection" in document:
        converted["leaderElection"] = _leader_election(document["leaderElection"], log)
    for name in ("healthzBindAddress", "metricsBindAddress"):
        if name in document:
            why = "the flags --bind-address and --secure-port replace it since v1.23"
            log.add_dropped(name, name, why, "give kube-scheduler these flags if the address is not the default")
    if policy is not None:
        named = {"schedulerName": document["schedulerName"]} if "schedulerName" in document else {}
        converted |= {"extenders": policy["extenders"]} if "extenders" in policy else {}
        converted["profiles"] = [{**policy["profiles"][0], **named}]
        return converted
    if version is releases.V1ALPHA1:
        profiles = [("", {name: document[name] for name in _TEMPLATE if name in document})]
    else:
        profiles = list(_enumerate("profiles", document.get("profiles") or [{}]))
    if version is releases.V1BETA3:
        converted["profiles"] = [recent_profiles.convert(one, path, log, known) for path, one in profiles]
    else:
        converted["profiles"] = [_profile(one, path, document, version, log, known) for path, one in profiles]
    return converted


def _leader_election(document: Plain, log: ConversionLog) -> Plain:
    """Return leader election with a lease for a lock, under today's names."""
    converted = dict(document)
    for old, new in (("lockObjectName", "resourceName"), ("lockObjectNamespace", "resourceNamespace")):
        value = converted.pop(old, "")
        if value:
            converted[new] = converted.get(new) or value
            log.add_carried(f"leaderElection.{old}", old, new, "it is an alias of that field since v1.18")
    lock = converted.get("resourceLock")
    if lock and lock != "leases":
        converted["resourceLock"] = "leases"
        why = "leader election uses leases only"
        log.add_carried("leaderElection.resourceLock", f"resourceLock {lock}", "leases", why)
    return converted


def _profile(
    profile: Plain, path: str, document: Plain, version: releases.LegacyVersion, log: ConversionLog, known: KnownPlugins
) -> Plain:
    """Return a profile of a version in which each point had its own defaults."""
    draft = _draft(profile, path, version, log, known)
    order = list(draft.args)
    ran = {point: list(plugins) for point, plugins in version.plugins.items()}
    if version in _ALPHA:
        settle(draft, document)
        # preemption was no plugin then, and happened after every cycle that found no node
        ran.setdefault("postFilter", [types.Plugin("DefaultPreemption")])
    translate(draft, known)
    converted: Plain = {}
    if "schedulerName" in profile:
        converted["schedulerName"] = profile["schedulerName"]
    return converted | profile_of(draft, ran, order, known)


def profile_of(
    draft: Draft, ran: Mapping[str, Iterable[types.Plugin]], order: Iterable[str], known: KnownPlugins
) -> Plain:
    """Return the plugins and arguments of a profile from its translated draft.

    Args:
        draft: the draft.
        ran: the defaults of its time.
        order: the plugins the file configures, in its order.
        known: the plugins there are today.
    """
    covered: dict[str, set[str]] = {}
    for point, plugins in ran.items():
        for plugin in plugins:
            covered.setdefault(plugin.name, set()).add(point)
    covered.setdefault("NodeResourcesFit", set()).add(_SCORE)  # in the name of another, or in its own
    if draft.args.get(_BINDING, {}).get("shape"):
        draft.put(_SCORE, types.Plugin(_BINDING, 1))  # a shape was refused where the feature gate was off
    elif draft.find("filter", _BINDING) is not None and draft.find(_SCORE, _BINDING) is None:
        why = "it scores storage by default only since v1.37"
        draft.log.add_carried(draft.path, f"{_BINDING}, which did not score,", "disabled at score", why)
    covered.setdefault(_BINDING, set()).add(_SCORE)  # so that it is not put back as a default of today
    _log_weights(draft)
    converted: Plain = {}
    plugins_now = plugin_sets.plugins_section(ProfilePlugins(draft.plugins, covered, draft.everywhere), known)
    if plugins_now:
        converted["plugins"] = plugins_now
    args = args_of(draft, list(order))
    if args:
        converted["pluginConfig"] = args
    return converted


def _log_weights(draft: Draft) -> None:
    """Write down which weights are in the file because they are not the defaults of today."""
    for plugin in draft.plugins.get(_SCORE, ()):
        today, then = plugin_sets.default_weight(plugin.name), plugin_sets.weight_of(plugin)
        if (_SCORE, plugin.name) not in draft.written and plugin.name != "NodeResourcesFit" and today != then:
            was = f"{plugin.name}, weight {then} by default,"
            draft.log.add_carried(draft.path, was, f"weight {then}, explicit", f"the default is {today} since v1beta3")


def _draft(
    profile: Plain, path: str, version: releases.LegacyVersion, log: ConversionLog, known: KnownPlugins
) -> Draft:
    """Return the plugins a profile wants, in names of its time."""
    before = f"{path}." if path else ""
    draft = Draft(path, {}, {}, log, lists_by_itself=version in (*_ALPHA, releases.V1BETA1))
    for where, one in _enumerate(f"{before}pluginConfig", profile.get("pluginConfig") or ()):
        args = one.get("args") or {}
        if one["name"] in documents.OLD_ARGS:
            args = {key: copy.deepcopy(value) for key, value in args.items() if key not in HEAD}
            args |= _texts(args, documents.OLD_ARGS[one["name"]])
        draft.args[one["name"]] = args
        draft.configured[one["name"]] = where
    sets: Plain = profile.get("plugins") or {}
    renamed = {"preScore": "postFilter"} if version is releases.V1ALPHA1 else {}
    for point in POINTS:
        name = renamed.get(point, point)
        if version is releases.V1ALPHA1 and point == "postFilter":
            continue  # its postFilter is today's preScore, and today's did not exist
        changes = _decode(sets.get(name) or {})
        where = f"{before}plugins.{name}"
        draft.plugins[point] = _merge(version.plugins.get(point, ()), changes, point, where, draft, version)
        if name != point and changes.enabled:
            log.add_carried(where, name, point, "postFilter runs when no node is feasible since v1.19")
    _unreserve(_decode(sets.get("unreserve") or {}), f"{before}plugins.unreserve", draft)
    _multi_point(_decode(sets.get(types.MULTI_POINT) or {}), f"{before}plugins.{types.MULTI_POINT}", draft, known)
    return draft


def _texts(args: Plain, kind: type[msgspec.Struct]) -> Plain:
    """Return the lists of texts among arguments; an empty element, which nothing tells apart, is a text here."""
    names = [field.encode_name for field in msgspec.structs.fields(kind) if field.type == tuple[str, ...]]
    return {name: ["" if one == {} else one for one in args[name]] for name in names if name in args}


def _decode(document: Plain) -> types.PluginSet:
    return msgspec.convert(document, types.PluginSet)


def _merge(
    default: Iterable[types.Plugin],
    changes: types.PluginSet,
    point: str,
    where: str,
    draft: Draft,
    version: releases.LegacyVersion,
) -> list[types.Plugin]:
    """Return the plugins of a point with those of a file; a default that is enabled again takes the file's weight."""
    off = {plugin.name for plugin in changes.disabled}
    again = {plugin.name: plugin for plugin in changes.enabled}
    kept = [again.get(one.name, one) for one in default if not {one.name, "*"} & off]
    names = {plugin.name for plugin in kept}
    for index, plugin in enumerate(changes.enabled):
        path = f"{where}.enabled[{index}]"
        draft.written.setdefault((point, plugin.name), path)
        if plugin.name in names and version in (*_ALPHA, releases.V1BETA1):
            why = f"{version.api_version} refused a default plugin that is enabled twice; the explicit entry wins"
            draft.log.add_approximated(path, plugin.name, "enabled once", why)
        if plugin.name not in names:
            kept.append(plugin)
            names.add(plugin.name)
    return kept


def _unreserve(chosen: types.PluginSet, where: str, draft: Draft) -> None:
    """Undoing a reservation is up to the plugin that made it."""
    for index, plugin in enumerate(chosen.enabled):
        path = f"{where}.enabled[{index}]"
        draft.put("reserve", types.Plugin(plugin.name))
        draft.written.setdefault(("reserve", plugin.name), path)
        why = "a Reserve plugin undoes its own reservation since v1.19"
        draft.log.add_carried(path, f"{plugin.name} at unreserve", "enabled at reserve", why)


def _multi_point(chosen: types.PluginSet, where: str, draft: Draft, known: KnownPlugins) -> None:
    """Plugins for every point they implement, in a version whose own defaults stand at each point."""
    for index, plugin in enumerate(chosen.enabled):
        path = f"{where}.enabled[{index}]"
        if plugin.name in known:
            for point in POINTS:
                if known.implements(plugin.name, point):
                    draft.put(point, plugin if point == _SCORE else types.Plugin(plugin.name))
                    draft.written.setdefault((point, plugin.name), path)
        else:
            draft.everywhere.append(plugin)
    if chosen.disabled:
        why = "it disabled nothing in v1beta2, where the defaults were listed per extension point"
        draft.log.add_dropped(f"{where}.disabled", "disabled at multiPoint", why)


def settle(draft: Draft, document: Plain, *, with_policy: bool = False) -> None:
    """Put what stood at the top of v1alpha1 and v1alpha2 into the plugins it is about."""
    draft.put("postFilter", types.Plugin("DefaultPreemption"))
    if document.get("disablePreemption"):
        draft.take("postFilter", "DefaultPreemption")
        now, why = "DefaultPreemption, disabled", "preemption is a plugin since v1.19"
        draft.log.add_carried("disablePreemption", "disablePreemption", now, why)
    weight, name = document.get("hardPodAffinitySymmetricWeight"), "hardPodAffinitySymmetricWeight"
    if weight is not None:
        draft.args.setdefault("InterPodAffinity", {}).setdefault("hardPodAffinityWeight", weight)
        draft.log.add_carried(
            name, name, "hardPodAffinityWeight of InterPodAffinity", "it is an argument since v1alpha2"
        )
    seconds, name = document.get("bindTimeoutSeconds"), "bindTimeoutSeconds"
    if seconds is not None:
        draft.args.setdefault("VolumeBinding", {}).setdefault(name, seconds)
        draft.log.add_carried(name, name, f"{name} of VolumeBinding", "it is an argument since v1beta1")
    source: Plain = document.get("algorithmSource") or {}
    provider, path = source.get("provider"), "algorithmSource.provider"
    if provider == "ClusterAutoscalerProvider":
        least = draft.take(_SCORE, "NodeResourcesLeastAllocated")
        if least is not None:
            draft.put(_SCORE, types.Plugin("NodeResourcesMostAllocated", least.weight))
            draft.written[(_SCORE, "NodeResourcesMostAllocated")] = path
    elif provider in (None, "", "DefaultProvider"):
        if provider:
            draft.log.add_dropped(path, f"algorithmSource of {provider}", "it meant the defaults")
    else:
        hint = "write the plugins it meant"
        draft.log.add_lost(path, f"algorithmSource of {provider}", "kube-scheduler never had this provider", hint)
    if source.get("policy") and not with_policy:
        why = "a Policy is a separate file"
        hint = "name it as well, and it is folded in: `schedctl profiles convert FILE POLICY`"
        draft.log.add_lost(REFERENCE, "algorithmSource with a Policy", why, hint)


def _enumerate(path: str, values: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    return ((f"{path}[{index}]", value) for index, value in enumerate(values))
