"""Rules of an API server that look at several fields of one struct at once, in `RELATIONS` by struct.

`validation` applies them; rules about one field are its tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

from schedctl.api import devices, pod_groups, pods, policies, selectors, workloads
from schedctl.api.meta import LabelSelectorRequirement
from schedctl.api.nodes import NodeStatus
from schedctl.api.tolerations import COMPARISONS, comparable_number
from schedctl.documents.findings import Finding, Path, quote
from schedctl.documents.spelling import CLOSE, did_you_mean
from schedctl.sources import resource_rules, syntax

REFUSED = "an API server would refuse it"
"""The hint of warnings about objects that scheduling can still make sense of, e.g. in a simplified state."""


def _label_requirement(obj: LabelSelectorRequirement | pods.NodeSelectorRequirement, path: Path) -> Iterator[Finding]:
    count = len(obj.values or ())
    if obj.operator in ("In", "NotIn") and not count:
        yield Finding((*path, "values"), f"{obj.operator} needs at least one value")
    elif obj.operator in ("Exists", "DoesNotExist") and count:
        yield Finding((*path, "values"), f"{obj.operator} takes no values")
    elif obj.operator in ("Gt", "Lt"):
        if count != 1:
            yield Finding((*path, "values"), f"{obj.operator} needs exactly one value")
        elif obj.values and selectors.parse_int64(obj.values[0]) is None:
            message = f"{obj.operator} needs an integer, got {quote(obj.values[0])}: it never matches"
            yield Finding((*path, "values", 0), message, warning=True)


def _node_term(obj: pods.NodeSelectorTerm, path: Path) -> Iterator[Finding]:
    for index, one in enumerate(obj.match_fields or ()):
        where = (*path, "matchFields", index)
        if one.key != "metadata.name":
            yield Finding((*where, "key"), f'expected "metadata.name", the only supported field, got {quote(one.key)}')
        if one.operator not in ("In", "NotIn"):
            yield Finding((*where, "operator"), f"expected one of In, NotIn for a field, got {quote(one.operator)}")
        elif len(one.values or ()) != 1:
            yield Finding((*where, "values"), f"{one.operator} needs exactly one value for a field")


def _toleration(obj: pods.Toleration, path: Path) -> Iterator[Finding]:
    if not obj.key and obj.operator != "Exists":
        yield Finding((*path, "operator"), 'expected "Exists", because there is no key', "add a key, or tolerate all")
    yield from _exists(obj, path)
    if obj.operator in COMPARISONS and comparable_number(obj.value) is None:
        yield Finding((*path, "value"), f"expected a whole number to compare with, got {quote(obj.value)}")
    if obj.toleration_seconds is not None and obj.effect != "NoExecute":
        yield Finding((*path, "effect"), 'expected "NoExecute", because tolerationSeconds is set')


def _exists(obj: pods.Toleration | devices.DeviceToleration, path: Path) -> Iterator[Finding]:
    if obj.operator == "Exists" and obj.value:
        yield Finding((*path, "value"), "Exists takes no value")


def _spread(obj: pods.TopologySpreadConstraint, path: Path) -> Iterator[Finding]:
    if obj.min_domains is not None and obj.when_unsatisfiable != "DoNotSchedule":
        yield Finding((*path, "minDomains"), "minDomains needs whenUnsatisfiable: DoNotSchedule")
    if obj.match_label_keys and obj.label_selector is None:
        yield Finding((*path, "matchLabelKeys"), "matchLabelKeys needs a labelSelector")


def _affinity_term(obj: pods.PodAffinityTerm, path: Path) -> Iterator[Finding]:
    for name, keys in (("matchLabelKeys", obj.match_label_keys), ("mismatchLabelKeys", obj.mismatch_label_keys)):
        if keys and obj.label_selector is None:
            yield Finding((*path, name), f"{name} needs a labelSelector")


def _pod_spec(obj: pods.PodSpec, path: Path) -> Iterator[Finding]:
    if not obj.containers:
        message = "a pod needs containers" if obj.resources else "without containers a pod requests nothing"
        yield Finding((*path, "containers"), message, REFUSED, warning=True)
    spread = [(one.topology_key, one.when_unsatisfiable) for one in obj.topology_spread_constraints or ()]
    for index, pair in enumerate(spread):
        if pair in spread[:index]:
            message = f"duplicate constraint {quote(pair[0])} with {pair[1]}"
            yield Finding((*path, "topologySpreadConstraints", index), message)
    gates = [gate.name for gate in obj.scheduling_gates or ()]
    for index, gate in enumerate(gates):
        if gate in gates[:index]:
            yield Finding((*path, "schedulingGates", index, "name"), f"duplicate gate {quote(gate)}")
    for field, named in (("volumes", obj.volumes), ("resourceClaims", obj.resource_claims)):
        yield from _twice(named, (*path, field))
    claims = [claim.name for claim in obj.resource_claims or ()]
    if obj.resources is not None:
        yield from resource_rules.pod_level(obj.resources, (*path, "resources"))
    for where, container in _containers(obj, path):
        for index, use in enumerate((container.resources and container.resources.claims) or ()):
            if use.name not in claims:
                message = f"the pod has no resource claim {quote(use.name)}"
                hint = did_you_mean(use.name, claims, "", cutoff=CLOSE)
                yield Finding((*where, "resources", "claims", index, "name"), message, hint)
        for index, port in enumerate((obj.host_network and container.ports) or ()):
            if port.host_port not in (0, port.container_port):
                message = f"expected {port.container_port}, the containerPort, because the pod uses the host network"
                yield Finding((*where, "ports", index, "hostPort"), message)


def _containers(obj: pods.PodSpec, path: Path) -> Iterator[tuple[Path, pods.Container]]:
    for name, containers in (("initContainers", obj.init_containers), ("containers", obj.containers)):
        for index, container in enumerate(containers or ()):
            yield (*path, name, index), container


def _pod_claim(obj: pods.PodResourceClaim, path: Path) -> Iterator[Finding]:
    if (obj.resource_claim_name is None) == (obj.resource_claim_template_name is None):
        yield Finding(path, "expected one of resourceClaimName and resourceClaimTemplateName")


def _budget(obj: policies.PodDisruptionBudgetSpec, path: Path) -> Iterator[Finding]:
    if obj.min_available is not None and obj.max_unavailable is not None:
        yield Finding((*path, "maxUnavailable"), "minAvailable and maxUnavailable exclude each other")
    for name, value in (("minAvailable", obj.min_available), ("maxUnavailable", obj.max_unavailable)):
        if isinstance(value, str) and not re.fullmatch(r"0*(100|[0-9]{1,2})%", value):
            yield Finding((*path, name), f"expected a number or a percentage up to 100%, got {quote(value)}")
        elif isinstance(value, int) and value < 0:
            yield Finding((*path, name), f"expected a number at least 0, got {value}")


def _workload(obj: workloads.WorkloadSpec, path: Path) -> Iterator[Finding]:
    if obj.selector is None or not (obj.selector.match_labels or obj.selector.match_expressions):
        message = "without a selector the workload selects no pods"
        yield Finding((*path, "selector"), message, REFUSED, warning=True)
        return
    try:
        matches = selectors.compile_selector(obj.selector).matches(obj.template.metadata.labels)
    except ValueError:
        return  # the selector's own rules say what is wrong with it
    if not matches:
        where = (*path, "template", "metadata", "labels")
        yield Finding(where, "the workload's selector does not select these labels", REFUSED, warning=True)


def _priority_class(obj: policies.PriorityClass, path: Path) -> Iterator[Finding]:
    if obj.value > 1_000_000_000 and not obj.metadata.name.startswith("system-"):
        yield Finding((*path, "value"), f"expected a number up to 1000000000, got {obj.value}")


def _device_request(obj: devices.DeviceRequest, path: Path) -> Iterator[Finding]:
    if (obj.exactly is None) == (not obj.first_available):
        yield Finding(path, "expected one of exactly and firstAvailable")


def _twice(named: Iterable[Any] | None, path: Path) -> Iterator[Finding]:
    """Yield the items of a list that have the name of one before them."""
    seen: set[str] = set()
    for index, one in enumerate(named or ()):
        if one.name and one.name in seen:
            yield Finding((*path, index, "name"), f"duplicate name {quote(one.name)}")
        seen.add(one.name)


def _device_claim(obj: devices.DeviceClaim, path: Path) -> Iterator[Finding]:
    yield from _twice(obj.requests, (*path, "requests"))
    names = dict.fromkeys(request.name for request in obj.requests or ())
    for index, request in enumerate(obj.requests or ()):
        yield from _twice(request.first_available, (*path, "requests", index, "firstAvailable"))
        names |= dict.fromkeys(f"{request.name}/{alternative.name}" for alternative in request.first_available or ())
    for index, constraint in enumerate(obj.constraints or ()):
        where = (*path, "constraints", index, "requests")
        for at, name in enumerate(constraint.requests or ()):
            if name not in names:
                hint = did_you_mean(name, names, "", cutoff=CLOSE)
                yield Finding((*where, at), f"the claim has no request {quote(name)}", hint)


_IDENTIFIER = re.compile(r"(?=.{1,32}\Z)[A-Za-z_][A-Za-z0-9_]*")
_DOMAIN = re.compile(rf"(?=.{{1,63}}\Z){syntax.DNS_LABEL}(?:\.{syntax.DNS_LABEL})*")


def _device_constraint(obj: devices.DeviceConstraint, path: Path) -> Iterator[Finding]:
    if (obj.match_attribute is None) == (obj.distinct_attribute is None):
        yield Finding(path, "expected one of matchAttribute and distinctAttribute")
    for field, name in (("matchAttribute", obj.match_attribute), ("distinctAttribute", obj.distinct_attribute)):
        if name is None:
            continue
        domain, slash, identifier = name.partition("/")
        if not slash:
            hint = "write the driver's name before it, unless the attribute has another domain"
            yield Finding((*path, field), f"expected a domain, a slash and a name, got {quote(name)}", hint)
        elif "/" not in identifier and not (_DOMAIN.fullmatch(domain) and _IDENTIFIER.fullmatch(identifier)):
            yield Finding((*path, field), f"{quote(name)} is not the name of an attribute with its domain")


def _device_count(obj: devices.ExactDeviceRequest | devices.DeviceSubRequest, path: Path) -> Iterator[Finding]:
    if obj.allocation_mode == "All" and obj.count:
        yield Finding((*path, "count"), "count is not allowed with allocationMode: All")
    elif obj.count < 0:
        yield Finding((*path, "count"), f"expected a number at least 1, got {obj.count}")


def _slice(obj: devices.ResourceSliceSpec, path: Path) -> Iterator[Finding]:
    places = (obj.node_name, obj.node_selector, obj.all_nodes, obj.per_device_node_selection)
    if sum(bool(place) for place in places) != 1:
        yield Finding(path, "expected exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection")
    if not obj.pool.name:
        yield Finding((*path, "pool", "name"), 'the field "name" is required')
    yield from _twice(obj.devices, (*path, "devices"))
    for index, device in enumerate(obj.devices or ()):
        for name, attribute in (device.attributes or {}).items():
            if sum(value is not None for value in _attribute_values(attribute)) != 1:
                yield Finding((*path, "devices", index, "attributes", name), "expected exactly one value")


_attribute_values = attrgetter(*devices.DeviceAttribute.__struct_fields__)


def _pod(obj: pods.Pod, path: Path) -> Iterator[Finding]:
    if obj.spec.node_name and (message := syntax.object_name(obj.spec.node_name)):
        yield Finding((*path, "spec", "nodeName"), message)


def _group_policy(
    obj: pod_groups.PodGroupSchedulingPolicy | workloads.JobSchedulingPolicy, path: Path
) -> Iterator[Finding]:
    if obj.basic is None and obj.gang is None:
        yield Finding(path, "a group needs a policy, basic or gang")
    elif obj.basic is not None and obj.gang is not None:
        yield Finding((*path, "gang"), "basic and gang exclude each other")


def _group_constraints(obj: pod_groups.PodGroupSchedulingConstraints, path: Path) -> Iterator[Finding]:
    if len(obj.topology or ()) > 1:
        yield Finding((*path, "topology", 1), "a group takes one topology constraint at most")


def _disruption(obj: pod_groups.DisruptionMode, path: Path) -> Iterator[Finding]:
    if obj.single is not None and obj.all is not None:
        yield Finding((*path, "all"), "single and all exclude each other")
    elif obj.single is None and obj.all is None:
        yield Finding(path, "expected one of single and all")


def _group_claim(obj: pod_groups.PodGroupResourceClaim, path: Path) -> Iterator[Finding]:
    if (obj.resource_claim_name is None) == (obj.resource_claim_template_name is None):
        yield Finding(path, "expected exactly one of resourceClaimName and resourceClaimTemplateName")


def _job_scheduling(obj: workloads.JobScheduling, path: Path) -> Iterator[Finding]:
    policy, mode = obj.scheduling_policy, obj.disruption_mode
    if mode is not None and mode.all is not None and (policy is None or policy.gang is None):
        message = "the disruptionMode `all` is not supported with the Basic scheduling policy"
        yield Finding((*path, "disruptionMode"), message)


RELATIONS: dict[type, Callable[[Any, Path], Iterator[Finding]]] = {
    LabelSelectorRequirement: _label_requirement,
    pods.NodeSelectorRequirement: _label_requirement,
    pods.NodeSelectorTerm: _node_term,
    pods.Toleration: _toleration,
    devices.DeviceToleration: _exists,
    pods.TopologySpreadConstraint: _spread,
    pods.PodAffinityTerm: _affinity_term,
    pods.Pod: _pod,
    pods.PodSpec: _pod_spec,
    pods.Container: resource_rules.container,
    NodeStatus: resource_rules.node_status,
    policies.ResourceQuotaSpec: resource_rules.quota,
    policies.LimitRangeItem: resource_rules.limit_range_item,
    pods.PodResourceClaim: _pod_claim,
    policies.PodDisruptionBudgetSpec: _budget,
    workloads.WorkloadSpec: _workload,
    workloads.DeploymentSpec: _workload,
    workloads.DaemonSetSpec: _workload,
    workloads.StatefulSetSpec: _workload,
    policies.PriorityClass: _priority_class,
    devices.DeviceRequest: _device_request,
    devices.DeviceClaim: _device_claim,
    devices.DeviceConstraint: _device_constraint,
    devices.ExactDeviceRequest: _device_count,
    devices.DeviceSubRequest: _device_count,
    devices.ResourceSliceSpec: _slice,
    workloads.JobScheduling: _job_scheduling,
    pod_groups.PodGroupSchedulingPolicy: _group_policy,
    workloads.JobSchedulingPolicy: _group_policy,
    pod_groups.PodGroupSchedulingConstraints: _group_constraints,
    pod_groups.PodGroupResourceClaim: _group_claim,
    pod_groups.DisruptionMode: _disruption,
}
"""By struct, the rules that look at several fields."""
