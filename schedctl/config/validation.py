"""What kube-scheduler refuses in a configuration that decodes, with its own rules, paths and words.

The rules are those of ``pkg/scheduler/apis/config/validation`` and, where a plugin or an extender is checked only when
it is made, of the place that makes it; problems are in kube-scheduler's order. What needs to know the plugins there are
is found by `expansion`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from schedctl.api.durations import SECOND
from schedctl.api.field_errors import label_key_problems
from schedctl.api.node_selectors import FIELD_OPERATORS, LABEL_OPERATORS
from schedctl.api.pods import NodeSelectorRequirement, NodeSelectorTerm
from schedctl.api.resources import extended_resource_problems
from schedctl.api.selectors import requirement_faults
from schedctl.config import types
from schedctl.config.args import (
    ARGS,
    DEFAULT_STORAGE_SHAPE,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from schedctl.config.defaults import WITHOUT_DEFAULT_ARGS
from schedctl.config.removed_plugins import REFUSED
from schedctl.errors import Problem
from schedctl.releases import NEWEST, Release

# kube-scheduler does not look for them at the points of placements
_REMOVED_IS_CHECKED_AT: Final = tuple(point for point in types.POINTS if not point.startswith("placement"))
_FIT: Final = "NodeResourcesFit"
_STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def validate(config: types.SchedulerConfiguration, release: Release = NEWEST) -> list[Problem]:
    """Return everything wrong with a completed configuration, as a release sees it."""
    return [
        *_client_connection_problems(config.client_connection),
        *_leader_election_problems(config.leader_election),
        *_when(
            config.parallelism <= 0, "parallelism", config.parallelism, "should be an integer value greater than zero"
        ),
        *_profile_problems(config, release),
        *_percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score),
        *_backoff_problems(config),
        *_extender_problems(config.extenders),
    ]


def _client_connection_problems(connection: types.ClientConnection) -> list[Problem]:
    """Return what is wrong with the connection to the API server."""
    return _when(connection.burst < 0, "clientConnection.burst", connection.burst, "must be non-negative")


def _leader_election_problems(election: types.LeaderElection) -> list[Problem]:
    """Return what is wrong with leader election; nothing can be when it is off."""
    if not election.leader_elect:
        return []
    lease, renew = election.lease_duration, election.renew_deadline
    lengths = {"leaseDuration": lease, "renewDeadline": renew, "retryPeriod": election.retry_period}
    found: list[Problem] = []
    for name, length in lengths.items():
        found += _when(length <= 0, f"leaderElection.{name}", length, "must be greater than zero")
    # kube-scheduler prints the deadline at the path of the lease
    found += _when(lease <= renew, "leaderElection.leaseDuration", renew, "must be greater than `RenewDeadline`")
    lock = election.resource_lock
    return found + _when(lock != "leases", "leaderElection.resourceLock", lock, 'resourceLock value must be "leases"')


def _backoff_problems(config: types.SchedulerConfiguration) -> list[Problem]:
    """Return what is wrong with the back-off of the queue."""
    initial, longest = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    return [
        *_when(initial <= 0, "podInitialBackoffSeconds", initial, "must be greater than 0"),
        *_when(
            longest < initial,
            "podMaxBackoffSeconds",
            longest,
            "must be greater than or equal to PodInitialBackoffSeconds",
        ),
    ]


def _profile_problems(config: types.SchedulerConfiguration, release: Release) -> list[Problem]:
    """Return what is wrong with the profiles, each by itself and beside the others."""
    found: list[Problem] = []
    first: dict[str, int] = {}
    ignored = any(resource.ignored_by_scheduler for one in config.extenders for resource in one.managed_resources)
    for index, profile in enumerate(config.profiles):
        path = f"profiles[{index}]"
        name = profile.scheduler_name
        if not name:
            found.append(_require(f"{path}.schedulerName"))
        found += _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        found += _removed_plugin_problems(profile, f"{path}.plugins")
        found += _args_problems(profile, path, release)
        if ignored and not any(one.name == _FIT for one in profile.plugin_config):
            hint = f"enable {_FIT}, or ignore no resource in extenders"
            found.append(Problem("can't find NodeResourcesFitArgs in plugin config", path=path, hint=hint))
        if name in first:
            hint = f"it is the name of profiles[{first[name]}] already"
            found.append(Problem(f"Duplicate value: {_go_text(name)}", path=f"{path}.schedulerName", hint=hint))
        first[name] = index
    return found + _queue_sort_problems(config.profiles)


def _removed_plugin_problems(profile: types.ProfileConfig, path: str) -> list[Problem]:
    """Return the uses of plugins kube-scheduler has removed."""
    return [
        _removed_plugin(f"{path}.{point}.enabled[{index}]", plugin.name)
        for point in _REMOVED_IS_CHECKED_AT
        for index, plugin in enumerate(profile.plugins.at(point).enabled)
        if plugin.name in REFUSED
    ]


def _args_problems(profile: types.ProfileConfig, path: str, release: Release) -> list[Problem]:
    """Return what is wrong with the arguments of plugins.

    Those of NodeResourcesFit count only where the plugin is made, all others always.
    """
    found: list[Problem] = []
    made = profile.plugins.enabled_names()
    seen: set[str] = set()
    for index, one in enumerate(profile.plugin_config):
        where = f"{path}.pluginConfig[{index}]"
        if one.name in seen:
            found.append(_duplicate(where, one.name))
        seen.add(one.name)
        if one.name in REFUSED:
            found.append(_removed_plugin(where, one.name))
        elif one.name in _CHECKS and (one.name != _FIT or _FIT in made):
            found += _CHECKS[one.name](one.args, f"{where}.args")
            found += _gate_problems(one.args, f"{where}.args", release)
    for index, plugin in enumerate(profile.plugins.at(WITHOUT_DEFAULT_ARGS).enabled):
        if plugin.name in ARGS and plugin.name not in seen:
            found.append(
                Problem(
                    f"got args of type <nil>, want *{plugin.name}Args",
                    path=f"{path}.plugins.{WITHOUT_DEFAULT_ARGS}.enabled[{index}]",
                    hint=f"kube-scheduler has no default arguments at this point: add {plugin.name} to pluginConfig",
                )
            )
    return found


def _queue_sort_problems(profiles: Sequence[types.ProfileConfig]) -> list[Problem]:
    """Return where profiles sort the one queue they share in different ways."""
    found: list[Problem] = []
    canon = profiles[0].plugins.queue_sort
    name = canon.enabled[0].name if canon.enabled else ""
    if len(canon.enabled) > 1:
        where = "profiles[0].plugins.queueSort.Enabled"
        found.append(_invalid(where, len(canon.enabled), "only one queue sort plugin can be enabled"))
    args = [one.args for one in profiles[0].plugin_config if name and one.name == name]
    for index, profile in enumerate(profiles[1:], start=1):
        path, chosen = f"profiles[{index}]", profile.plugins.queue_sort
        if chosen != canon:
            found.append(_invalid(f"{path}.plugins.queueSort", chosen, "must be the same for all profiles"))
        found += (
            _invalid(f"{path}.pluginConfig.args", one.args, "queueSort must be the same for all profiles")
            for one in profile.plugin_config
            if one.name == name and one.args != (args[-1] if args else None)  # of a plugin given twice the last counts
        )
    return found


def _extender_problems(extenders: Sequence[types.Extender]) -> list[Problem]:
    """Return what is wrong with the extenders. Certificates are not looked at: nothing is called here."""
    found: list[Problem] = []
    seen: set[str] = set()
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        if extender.prioritize_verb and extender.weight <= 0:
            found.append(_invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it"))
        for number, resource in enumerate(extender.managed_resources):
            where = f"{path}.managedResources[{number}].name"
            found += (_invalid(where, resource.name, wrong) for wrong in extended_resource_problems(resource.name))
            if resource.name in seen:
                found.append(_invalid(where, resource.name, "duplicate extender managed resource name"))
            seen.add(resource.name)
        tls = extender.tls_config
        # kube-scheduler finds this when it makes the client of the extender
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):
            message = "specifying a root certificates file with the insecure flag is not allowed"
            found.append(Problem(message, path=f"{path}.tlsConfig.insecure"))
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        shown = f"found {binders} extenders implementing bind"
        found.append(_invalid("extenders", shown, "only one extender can implement bind"))
    return found


# Arguments of plugins


def _default_preemption_problems(args: DefaultPreemptionArgs, path: str) -> list[Problem]:
    """Return what is wrong with how preemption counts candidates."""
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    relative_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    both = percentage == absolute == 0
    together = "cannot be zero at the same time as"
    return [
        *_when(not 0 <= percentage <= 100, relative_path, percentage, "not in valid range [0, 100]"),
        *_when(absolute < 0, absolute_path, absolute, "not in valid range [0, inf)"),
        *_when(both, relative_path, 0, f"{together} minCandidateNodesAbsolute"),
        *_when(both, absolute_path, 0, f"{together} minCandidateNodesPercentage"),
    ]


def _inter_pod_affinity_problems(args: InterPodAffinityArgs, path: str) -> list[Problem]:
    """Return what is wrong with the weight of required affinity."""
    weight = args.hard_pod_affinity_weight
    return _when(not 0 <= weight <= 100, f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")


def _node_affinity_problems(args: NodeAffinityArgs, path: str) -> list[Problem]:
    """Return what is wrong with the added affinity; empty terms and preferences of no weight are not looked at."""
    if args.added_affinity is None:
        return []
    path = f"{path}.addedAffinity"
    required = args.added_affinity.required_during_scheduling_ignored_during_execution
    preferred = args.added_affinity.preferred_during_scheduling_ignored_during_execution
    terms: list[tuple[NodeSelectorTerm, str]] = []
    for index, term in enumerate((required and required.node_selector_terms) or ()):
        terms.append((term, f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}]"))
    for index, preference in enumerate(preferred or ()):
        if preference.weight != 0:
            where = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
            terms.append((preference.preference, where))
    found: list[Problem] = []
    for term, where in terms:
        for index, requirement in enumerate(term.match_expressions or ()):
            found += _label_requirement(requirement, f"{where}.matchExpressions[{index}]")
        for index, requirement in enumerate(term.match_fields or ()):
            found += _field_requirement(requirement, f"{where}.matchFields[{index}]")
    return found


def _balanced_allocation_problems(args: NodeResourcesBalancedAllocationArgs, path: str) -> list[Problem]:
    """Return what is wrong with the resources to balance."""
    found: list[Problem] = []
    seen: set[str] = set()
    for index, resource in enumerate(args.resources):
        where = f"{path}.resources[{index}]"
        if resource.name in seen:
            found.append(_duplicate(f"{where}.name", resource.name))
        seen.add(resource.name)
        found += _when(resource.weight != 1, f"{where}.weight", resource.weight, "must be 1")
    return found


def _node_resources_fit_problems(args: NodeResourcesFitArgs, path: str) -> list[Problem]:
    """Return what is wrong with ignored resources and the scoring strategy."""
    found: list[Problem] = []
    for index, resource in enumerate(args.ignored_resources):
        found += _label_key(resource, f"{path}.ignoredResources[{index}]")
    for index, group in enumerate(args.ignored_resource_groups):
        where = f"{path}.ignoredResourceGroups[{index}]"
        found += _when("/" in group, where, group, "resource group name can't contain '/'")
        found += _label_key(group, where)
    strategy, path = args.scoring_strategy, f"{path}.scoringStrategy"
    if strategy.type not in _STRATEGIES:
        found.append(_unsupported_value(f"{path}.type", strategy.type, _STRATEGIES))
    for index, spec in enumerate(strategy.resources):
        detail = f"resource weight of {spec.name} not in valid range (0, 100]"
        found += _when(not 0 < spec.weight <= 100, f"{path}.resources[{index}].weight", spec.weight, detail)
    ratio, path = strategy.requested_to_capacity_ratio, f"{path}.requestedToCapacityRatio"
    if strategy.type == "RequestedToCapacityRatio":
        if ratio is None:
            found.append(_require(path, "must be specified when type is RequestedToCapacityRatio"))
        else:
            found += _shape(ratio.shape, f"{path}.shape")
    elif ratio is not None:
        found.append(Problem("Forbidden: must be nil when type is not RequestedToCapacityRatio", path=path))
    return found


def _pod_topology_spread_problems(args: PodTopologySpreadArgs, path: str) -> list[Problem]:
    """Return what is wrong with the default constraints."""
    found: list[Problem] = []
    if args.defaulting_type not in ("System", "List"):
        found.append(_unsupported_value(f"{path}.defaultingType", args.defaulting_type, ("System", "List")))
    elif args.defaulting_type == "System" and args.default_constraints:
        found.append(_invalid(f"{path}.defaultingType", "System", "when .defaultConstraints are not empty"))
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(args.default_constraints):
        where = f"{path}.defaultConstraints[{index}]"
        key, action = constraint.topology_key, constraint.when_unsatisfiable
        found += _when(constraint.max_skew <= 0, f"{where}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
        found += _label_key(key, f"{where}.topologyKey") if key else [_require(f"{where}.topologyKey", _EMPTY)]
        if not action:
            found.append(_require(f"{where}.whenUnsatisfiable", _EMPTY))
        elif action not in _ACTIONS:
            found.append(_unsupported_value(f"{where}.whenUnsatisfiable", action, _ACTIONS))
        if constraint.label_selector is not None:
            message = "Forbidden: constraint must not define a selector, as they deduced for each pod"
            found.append(Problem(message, path=f"{where}.labelSelector"))
        if (key, action) in seen:
            found.append(_duplicate(where, f"{{{key}, {action}}}"))
        seen.add((key, action))
    return found


_FOR_CONDITIONS: Final = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
"""The gates without which devices have no binding conditions to wait for."""
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_EMPTY: Final = "can not be empty"


def _volume_binding_problems(args: VolumeBindingArgs, path: str) -> list[Problem]:
    """Return what is wrong with the timeout and the shape."""
    seconds = args.bind_timeout_seconds
    detail = "invalid BindTimeoutSeconds, should not be a negative value"
    return _when(seconds < 0, f"{path}.bindTimeoutSeconds", seconds, detail) + _shape(args.shape, f"{path}.shape")


def _dynamic_resources_problems(args: DynamicResourcesArgs, path: str) -> list[Problem]:
    """Return what is wrong with the timeouts."""
    search, ready = args.filter_timeout, args.binding_timeout
    return [
        *_when(search < 0, f"{path}.filterTimeout", search, "must be zero or positive"),
        *_when(ready < SECOND, f"{path}.bindingTimeout", ready, "must be at least 1 second"),
    ]


_CHECKS: Final[dict[str, Callable[[Any, str], list[Problem]]]] = {
    "DefaultPreemption": _default_preemption_problems,
    "DynamicResources": _dynamic_resources_problems,
    "InterPodAffinity": _inter_pod_affinity_problems,
    "NodeAffinity": _node_affinity_problems,
    "NodeResourcesBalancedAllocation": _balanced_allocation_problems,
    _FIT: _node_resources_fit_problems,
    "PodTopologySpread": _pod_topology_spread_problems,
    "VolumeBinding": _volume_binding_problems,
}


def gated_fields(release: Release) -> dict[str, frozenset[str]]:
    """Return the arguments that a release refuses to see set, as its feature gates are, by plugin and field."""
    fields = {
        "filterTimeout": release.enabled("DRASchedulerFilterTimeout"),
        "bindingTimeout": all(map(release.enabled, _FOR_CONDITIONS)),
    }
    gated = {"DynamicResources": frozenset(name for name, is_known in fields.items() if not is_known)}
    if not release.enabled("StorageCapacityScoring"):
        gated["VolumeBinding"] = frozenset({"shape"})
    return gated


def _gate_problems(args: Any, path: str, release: Release) -> list[Problem]:
    """Return the use of fields that a feature gate of the release leaves out."""
    gated = gated_fields(release)
    if isinstance(args, DynamicResourcesArgs):
        return _timeout_problems(args, path, gated["DynamicResources"])
    if not isinstance(args, VolumeBindingArgs) or "VolumeBinding" not in gated:
        return []
    if args.shape is DEFAULT_STORAGE_SHAPE:
        return []
    points = [{"Utilization": point.utilization, "Score": point.score} for point in args.shape]
    detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
    return [_invalid(f"{path}.shape", points, detail)]


def _timeout_problems(args: DynamicResourcesArgs, path: str, gated: Collection[str]) -> list[Problem]:
    """Return the timeouts that are set although a gate is off; what is left out is the default itself."""
    default = DynamicResourcesArgs()
    found = []
    if args.filter_timeout is not default.filter_timeout and "filterTimeout" in gated:
        message = "Forbidden: DRASchedulingFilterTimeout feature gate is disabled"
        found.append(Problem(message, path=f"{path}.filterTimeout"))
    if args.binding_timeout is not default.binding_timeout and "bindingTimeout" in gated:
        message = f"Forbidden: {' or '.join(_FOR_CONDITIONS)} feature gate is disabled"
        found.append(Problem(message, path=f"{path}.bindingTimeout"))
    return found


def _shape(points: Sequence[UtilizationShapePoint], path: str) -> list[Problem]:
    if not points:
        return [_require(path, "at least one point must be specified")]
    found: list[Problem] = []
    for index in range(1, len(points)):
        if points[index - 1].utilization >= points[index].utilization:
            where = f"{path}[{index}].utilization"
            found.append(_invalid(where, points[index].utilization, "values must be sorted in increasing order"))
            break  # the first pair out of order is the one that is reported
    for index, point in enumerate(points):
        for name, value, top in (("utilization", point.utilization, 100), ("score", point.score, 10)):
            found += _when(not 0 <= value <= top, f"{path}[{index}].{name}", value, f"not in valid range [0, {top}]")
    return found


def _label_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Problem]:
    if requirement.operator not in LABEL_OPERATORS:
        yield _unsupported_value(f"{path}.operator", requirement.operator, LABEL_OPERATORS)
        return
    for field, value, detail in requirement_faults(requirement.key, requirement.operator, requirement.values):
        yield _invalid(f"{path}.{field}", value, detail)


def _field_requirement(requirement: NodeSelectorRequirement, path: str) -> Iterator[Problem]:
    if requirement.operator not in FIELD_OPERATORS:
        yield _unsupported_value(f"{path}.operator", requirement.operator, FIELD_OPERATORS)
    elif len(requirement.values or ()) != 1:
        yield _invalid(f"{path}.values", requirement.values, "must have one element")


# Wording


def _percentage(path: str, percentage: int | None) -> list[Problem]:
    return _when(not 0 <= (percentage or 0) <= 100, path, percentage, "not in valid range [0-100]")


def _label_key(key: str, path: str) -> list[Problem]:
    return [_invalid(path, key, wrong) for wrong in label_key_problems(key)]


def _when(condition: bool, path: str, value: object, detail: str) -> list[Problem]:
    return [_invalid(path, value, detail)] if condition else []


def _invalid(path: str, value: object, detail: str) -> Problem:
    return Problem(f"Invalid value: {_go_text(value)}: {detail}", path=path)


def _require(path: str, detail: str = "") -> Problem:
    return Problem(f"Required value: {detail}" if detail else "Required value", path=path)


def _duplicate(path: str, value: str) -> Problem:
    return Problem(f"Duplicate value: {_go_text(value)}", path=path)


def _unsupported_value(path: str, value: str, supported: Iterable[str]) -> Problem:
    choice = ", ".join(f'"{one}"' for one in supported)
    return Problem(f"Unsupported value: {_go_text(value)}: supported values: {choice}", path=path)


def _removed_plugin(path: str, name: str) -> Problem:
    detail = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{types.API_VERSION}")'
    return Problem(f"Invalid value: {_go_text(name)}: {detail}", path=path, hint=REFUSED[name])


def _go_text(value: object) -> str:
    """Return a value as kube-scheduler puts it into a message: JSON, with Go's names of its own structs."""
    if isinstance(value, types.PluginSet):
        sets = {"Enabled": value.enabled, "Disabled": value.disabled}
        return _go_text({name: [_as_go(plugin) for plugin in plugins] or None for name, plugins in sets.items()})
    return msgspec.json.encode(value, enc_hook=str).decode()


def _as_go(plugin: types.Plugin) -> dict[str, Any]:
    return {"Name": plugin.name, "Weight": plugin.weight}
