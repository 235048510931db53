"""The ``Policy``: predicates and priorities, each of which became one plugin or several.

Nothing in it is merged with defaults: a list that is given is all there is, but for two predicates that always held and
for sorting, preempting and binding, which were never up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.api.durations import Duration
from schedctl.config.expansion import KnownPlugins
from schedctl.config.legacy.changes import ConversionLog
from schedctl.config.legacy.configurations import profile_of
from schedctl.config.legacy.documents import EXTENDER_FIELDS, Policy, Predicate, Priority
from schedctl.config.legacy.plugin_sets import Plain
from schedctl.config.legacy.releases import V1_POLICY
from schedctl.config.legacy.translations import SPREAD, Draft, translate
from schedctl.config.removed_plugins import VOLUME_LIMITS
from schedctl.config.types import API_VERSION, KIND, Plugin
from schedctl.documents.decoding import Decoder
from schedctl.documents.heads import HEAD
from schedctl.documents.trees import Node

_ALIASES: Final = {"PodFitsPorts": "PodFitsHostPorts", "ServiceSpreadingPriority": "SelectorSpreadPriority"}
_PREDICATES: Final[Mapping[str, tuple[str, ...]]] = {
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": ("NodeLabel",),
    "CheckServiceAffinity": ("ServiceAffinity",),
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": (SPREAD,),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
"""The plugins of each predicate, in the order in which predicates ran."""
_MANDATORY: Final = ("CheckNodeUnschedulable", "PodToleratesNodeTaints")
_DEFAULT_PREDICATES: Final = (
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxCSIVolumeCountPred",
    "MaxAzureDiskVolumeCount",
    "CheckVolumeBinding",
    "NoVolumeZoneConflict",
    "EvenPodsSpread",
    "MatchInterPodAffinity",
)
_TAINTS: Final = (
    "CheckNodeCondition",
    "CheckNodeDiskPressure",
    "CheckNodeMemoryPressure",
    "CheckNodePIDPressure",
)
"""Predicates that looked at what is a taint of the node today."""
_PRIORITIES: Final = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "EvenPodsSpreadPriority": SPREAD,
    "ImageLocalityPriority": "ImageLocality",
    "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated",
    "MostRequestedPriority": "NodeResourcesMostAllocated",
    "NodeAffinityPriority": "NodeAffinity",
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
    "ResourceLimitsPriority": "NodeResourceLimits",
    "SelectorSpreadPriority": "SelectorSpread",
    "TaintTolerationPriority": "TaintToleration",
}
_EQUAL: Final = "EqualPriority"
_DEFAULT_PRIORITIES: Final = {
    "BalancedResourceAllocation": 1,
    "EvenPodsSpreadPriority": 2,
    "ImageLocalityPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "NodeAffinityPriority": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "SelectorSpreadPriority": 1,
    "TaintTolerationPriority": 1,
}
_RAN: Final = {point: V1_POLICY.plugins[point] for point in ("queueSort", "filter", "postFilter", "score", "bind")}
"""Predicates and priorities, and what went without them; what prepares them goes with them."""
_MOST: Final = (1 << 31) - 1


def check(node: Node, decoder: Decoder) -> Policy:
    """Return a Policy, having reported what one may not say; the fields of extenders may be in any case."""
    policy = decoder.struct(_with_extenders(node), Policy, also=HEAD)
    for index, predicate in enumerate(policy.predicates or ()):
        name, path = _ALIASES.get(predicate.name, predicate.name), f"predicates[{index}].name"
        argument = predicate.argument
        says_what = argument is not None and (argument.service_affinity or argument.labels_presence)
        if name not in _PREDICATES and name not in _TAINTS and not says_what:
            _report(decoder, path, f'predicate type not found for "{name}"')
    for index, priority in enumerate(policy.priorities or ()):
        name, path = _ALIASES.get(priority.name, priority.name), f"priorities[{index}]"
        if not 0 < priority.weight <= _MOST:
            message = f"Priority {name} should have a positive weight applied to it or it has overflown"
            _report(decoder, f"{path}.weight" if f"{path}.weight" in decoder.places else path, message)
        known = name in _PRIORITIES or name == _EQUAL or _plugin_by_argument(priority)
        if not known:
            _report(decoder, f"{path}.name", f'priority type not found for "{name}"')
    weight = policy.hard_pod_affinity_symmetric_weight
    if not 0 <= weight <= 100:
        message = f"Invalid value: {weight}: not in valid range [0, 100]"
        _report(decoder, "hardPodAffinitySymmetricWeight", message)
    return policy


def _report(decoder: Decoder, path: str, message: str) -> None:
    line, column = decoder.places.get(path, (0, 0))
    decoder.report(Node(None, line, column), path, message)


def _with_extenders(node: Node) -> Node:
    """Return a document in which the fields of extenders have the case of their type."""
    pairs = []
    for key, value in node.value if node.is_mapping else ():
        if key.value == "extenders" and value.is_list:
            listed = [_as_typed(one) for one in value.value]
            value = Node(listed, value.line, value.column, size=value.size, depth=value.depth)
        pairs.append((key, value))
    return Node(pairs, node.line, node.column, True, node.size, node.depth) if node.is_mapping else node


def _as_typed(node: Node) -> Node:
    if not node.is_mapping:
        return node
    pairs = [
        (Node(EXTENDER_FIELDS.get(str(key.value).lower(), key.value), key.line, key.column), value)
        for key, value in node.value
    ]
    return Node(pairs, node.line, node.column, True, node.size, node.depth)


def convert(
    policy: Policy,
    extenders: Iterable[Plain],
    log: ConversionLog,
    known: KnownPlugins,
    settle: Callable[[Draft], None] = lambda _: None,
) -> Plain:
    """Return a KubeSchedulerConfiguration of the same meaning.

    Args:
        policy: one that `check` has not objected to.
        extenders: its extenders as plain values, as they are written.
        log: where to write down what becomes of things.
        known: the plugins there are today.
        settle: adds what the configuration says that refers to the Policy.
    """
    draft = Draft("", {}, {}, log)
    draft.plugins = {
        "queueSort": [Plugin("PrioritySort")],
        "postFilter": [Plugin("DefaultPreemption")],
        "bind": [Plugin("DefaultBinder")],
    }
    _predicates(policy.predicates, draft)
    _priorities(policy.priorities, draft)
    weight, name = policy.hard_pod_affinity_symmetric_weight, "hardPodAffinitySymmetricWeight"
    if weight:
        draft.args["InterPodAffinity"] = {"hardPodAffinityWeight": weight}
        log.add_carried(name, name, "hardPodAffinityWeight of InterPodAffinity", "it is an argument of the plugin")
    if policy.always_check_all_predicates:
        why = "it changed the reasons reported, not the placements"
        log.add_dropped("alwaysCheckAllPredicates", "alwaysCheckAllPredicates", why)
    settle(draft)
    translate(draft, known)
    profile = {"schedulerName": DEFAULT_SCHEDULER, **profile_of(draft, _RAN, (), known)}
    converted: Plain = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    listed = [_extender(one, f"extenders[{index}]", log) for index, one in enumerate(extenders)]
    if listed:
        converted["extenders"] = listed
    return converted


def plain_extenders(node: Node, decoder: Decoder) -> list[Plain]:
    """Return the extenders of a Policy as plain values, fields in the case of their type."""
    document = decoder.free(_with_extenders(node), "")
    return [one for one in document.get("extenders") or () if one is not None]


def _predicates(predicates: tuple[Predicate, ...] | None, draft: Draft) -> None:
    chosen: dict[str, str] = {}
    for index, predicate in enumerate(predicates or ()):
        path = f"predicates[{index}]"
        name = _ALIASES.get(predicate.name, predicate.name)
        argument = predicate.argument
        if name in _TAINTS:
            why = "conditions of a node are taints, which TaintToleration filters"
            draft.log.add_carried(path, name, "TaintToleration", why)
            continue
        if name not in _PREDICATES and argument is not None:
            if argument.service_affinity is not None:
                labels = draft.args.setdefault("ServiceAffinity", {}).setdefault("affinityLabels", [])
                labels += argument.service_affinity.labels
                name = "CheckServiceAffinity"
            if argument.labels_presence is not None:
                key = "presentLabels" if argument.labels_presence.presence else "absentLabels"
                draft.args.setdefault("NodeLabel", {}).setdefault(key, []).extend(argument.labels_presence.labels)
                name = "CheckNodeLabelPresence"
            draft.configured.update(dict.fromkeys(_PREDICATES[name], path))
        chosen.setdefault(name, path)
        if not {"NodeLabel", "ServiceAffinity"} & set(_PREDICATES[name]):
            became = ", ".join(_PREDICATES[name])
            if became not in VOLUME_LIMITS:
                draft.log.add_carried(path, predicate.name, f"{became} at filter", "predicates are plugins since v1.18")
    if predicates is None:
        chosen = dict.fromkeys(_DEFAULT_PREDICATES, "")
    for name in _MANDATORY:
        chosen.setdefault(name, "")
    for name, plugins in _PREDICATES.items():
        for plugin in plugins if name in chosen else ():
            draft.put("filter", Plugin(plugin))
            if chosen[name]:
                draft.written.setdefault(("filter", plugin), chosen[name])
                draft.called.setdefault(("filter", plugin), name)


def _priorities(priorities: tuple[Priority, ...] | None, draft: Draft) -> None:
    chosen: dict[str, tuple[int, str]] = {}
    for index, priority in enumerate(priorities or ()):
        path = f"priorities[{index}]"
        name = _ALIASES.get(priority.name, priority.name)
        if name == _EQUAL:
            draft.log.add_dropped(path, name, "it gave every node the same score")
            continue
        plugin = _PRIORITIES.get(name) or _plugin_by_argument(priority)
        _keep_argument(priority, plugin, path, draft)
        chosen[name if name in _PRIORITIES else plugin] = (priority.weight, path)
    if priorities is None:
        chosen = {name: (weight, "") for name, weight in _DEFAULT_PRIORITIES.items()}
    # without SelectorSpreadPriority pods that bring no constraints were not spread, as the default of today would
    system = "SelectorSpreadPriority" in chosen
    for name, (weight, path) in sorted(chosen.items()):
        plugin = _PRIORITIES.get(name, name)
        wishes = draft.args.get(plugin, {})
        if plugin == "NodeLabel":
            # the plugin takes the mean over its labels, each of which was a priority of this weight
            weight *= len(wishes.get("presentLabelsPreference", ())) + len(wishes.get("absentLabelsPreference", ()))
        if name == "SelectorSpreadPriority":
            if path:
                why = "it is the default constraints of that plugin since v1.20"
                draft.log.add_approximated(path, name, f"{SPREAD}, defaultingType System", why)
            plugin = SPREAD
        if plugin == SPREAD and not system:
            draft.args[SPREAD] = {"defaultingType": "List"}
        draft.put("score", Plugin(plugin, weight))
        if path:
            draft.written.setdefault(("score", plugin), path)
            draft.called.setdefault(("score", plugin), name)


def _plugin_by_argument(priority: Priority) -> str:
    """Return the plugin of a priority that has a name of its own, "" when it says nothing."""
    argument = priority.argument
    if argument is None:
        return ""
    if argument.requested_to_capacity_ratio_arguments is not None:
        return "RequestedToCapacityRatio"
    if argument.label_preference is not None:
        return "NodeLabel"
    return "ServiceAffinity" if argument.service_anti_affinity is not None else ""


def _keep_argument(priority: Priority, plugin: str, path: str, draft: Draft) -> None:
    """Keep what a priority says as arguments of its plugin, and write down what it became."""
    argument: Any = priority.argument
    if plugin == "RequestedToCapacityRatio" and argument is not None:
        ratio = argument.requested_to_capacity_ratio_arguments
        if ratio is not None:
            draft.args[plugin] = {
                "shape": [{"utilization": one.utilization, "score": one.score} for one in ratio.shape],
                "resources": [{"name": one.name, "weight": one.weight} for one in ratio.resources],
            }
            draft.configured[plugin] = path
    elif plugin == "NodeLabel":
        key = "presentLabelsPreference" if argument.label_preference.presence else "absentLabelsPreference"
        draft.args.setdefault(plugin, {}).setdefault(key, []).append(argument.label_preference.label)
        draft.configured[plugin] = path
    elif plugin == "ServiceAffinity":
        labels = draft.args.setdefault(plugin, {}).setdefault("antiAffinityLabelsPreference", [])
        labels.append(argument.service_anti_affinity.label)
        draft.configured[plugin] = path
    elif plugin in ("SelectorSpread", "NodePreferAvoidPods", "NodeResourceLimits") or "Allocated" in plugin:
        return  # what these became is written down where it is found
    else:
        why = "priorities are plugins since v1.18"
        draft.log.add_carried(path, priority.name, f"{plugin} at score, weight {priority.weight}", why)


def _extender(extender: Plain, path: str, log: ConversionLog) -> Plain:
    """Return an extender with today's names, and its timeout with a unit."""
    converted = {key: value for key, value in extender.items() if value is not None}
    if "enableHttps" in converted:
        converted["enableHTTPS"] = converted.pop("enableHttps")
        log.add_carried(f"{path}.enableHttps", "enableHttps", "enableHTTPS", "the field has another name in a Policy")
    timeout = converted.get("httpTimeout")
    if timeout is not None:
        converted["httpTimeout"] = str(Duration(timeout))
        was = f"httpTimeout {timeout}"
        log.add_carried(f"{path}.httpTimeout", was, converted["httpTimeout"], "a Policy has it in nanoseconds")
    return converted
