"""What an API server would have refused, for objects that never met one.

Objects that came from a cluster were validated when they were stored, possibly by other rules than today's, and
kube-scheduler takes them as they are; so do we. What somebody wrote by hand is held to the API server's own rules
(``pkg/apis/*/validation`` of Kubernetes v1.37), as far as breaking one would change scheduling: operators, effects and
other closed sets of words, ranges, label syntax, and fields that exclude or need each other. Whether a probe makes
sense is for other tools to say.

`WORDS`, `RANGES`, `REQUIRED`, `SYNTAX` are tables by struct and field, `RELATIONS` holds the few rules that look at
several fields at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, get_args

import msgspec

from schedctl.api import quantities, selectors
from schedctl.api.devices import (
    CELDeviceSelector,
    DeviceAttribute,
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceSliceSpec,
)
from schedctl.api.kinds import Kind
from schedctl.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta, Quantity
from schedctl.api.nodes import NodeStatus, Taint
from schedctl.api.pods import (
    Container,
    ContainerPort,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodAffinityTerm,
    PodOS,
    PodResourceClaim,
    PodSpec,
    PreferredSchedulingTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from schedctl.api.policies import (
    PodDisruptionBudgetSpec,
    PriorityClass,
    ResourceQuotaSpec,
    ScopedResourceSelectorRequirement,
)
from schedctl.api.sharing import content
from schedctl.api.storage import PersistentVolumeSpec, StorageClass, VolumeNodeResources
from schedctl.api.workloads import (
    DaemonSetSpec,
    DeploymentSpec,
    JobSpec,
    ReplicationControllerSpec,
    ServiceSpec,
    StatefulSetSpec,
    WorkloadSpec,
)
from schedctl.documents.findings import Finding, Path, quote
from schedctl.documents.spelling import CLOSE, nearest

Field = tuple[type[msgspec.Struct], str]
Rule = Callable[[str], str]
"""Returns what is wrong with a text, "" if nothing is."""


_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DEVICE_EFFECTS = ("NoSchedule", "NoExecute", "None")
_SET_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_PREEMPTION = ("PreemptLowerPriority", "Never")
_ALLOCATION = ("ExactCount", "All")
_SCOPES = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
)

WORDS: dict[Field, tuple[str, ...]] = {
    (Taint, "effect"): _EFFECTS,
    (Toleration, "effect"): ("", *_EFFECTS),
    (Toleration, "operator"): ("", "Equal", "Exists"),
    (DeviceTaint, "effect"): _DEVICE_EFFECTS,
    (DeviceToleration, "effect"): ("", *_DEVICE_EFFECTS),
    (DeviceToleration, "operator"): ("", "Equal", "Exists"),
    (ExactDeviceRequest, "allocation_mode"): ("", *_ALLOCATION),
    (DeviceSubRequest, "allocation_mode"): ("", *_ALLOCATION),
    (NodeSelectorRequirement, "operator"): (*_SET_OPERATORS, "Gt", "Lt"),
    (LabelSelectorRequirement, "operator"): _SET_OPERATORS,
    (TopologySpreadConstraint, "when_unsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    (TopologySpreadConstraint, "node_affinity_policy"): ("Honor", "Ignore"),
    (TopologySpreadConstraint, "node_taints_policy"): ("Honor", "Ignore"),
    (ContainerPort, "protocol"): ("", "TCP", "UDP", "SCTP"),
    (PodSpec, "restart_policy"): ("", "Always", "OnFailure", "Never"),
    (PodSpec, "preemption_policy"): _PREEMPTION,
    (PriorityClass, "preemption_policy"): _PREEMPTION,
    (PodOS, "name"): ("linux", "windows"),
    (StorageClass, "volume_binding_mode"): ("Immediate", "WaitForFirstConsumer"),
    (PersistentVolumeSpec, "volume_mode"): ("Filesystem", "Block"),
    (PersistentVolumeSpec, "access_modes"): _ACCESS_MODES,
    (PersistentVolumeClaimSpec, "volume_mode"): ("Filesystem", "Block"),
    (PersistentVolumeClaimSpec, "access_modes"): _ACCESS_MODES,
    (JobSpec, "completion_mode"): ("NonIndexed", "Indexed"),
    (StatefulSetSpec, "pod_management_policy"): ("", "OrderedReady", "Parallel"),
    (ResourceQuotaSpec, "scopes"): _SCOPES,
    (ScopedResourceSelectorRequirement, "scope_name"): _SCOPES,
    (ScopedResourceSelectorRequirement, "operator"): _SET_OPERATORS,
}
"""Fields that hold one of a few words (lists: each item); "" where the API server fills in a default."""

_MANY = (1 << 31) - 1
RANGES: dict[Field, tuple[int, int]] = {
    (PreferredSchedulingTerm, "weight"): (1, 100),
    (WeightedPodAffinityTerm, "weight"): (1, 100),
    (TopologySpreadConstraint, "max_skew"): (1, _MANY),
    (TopologySpreadConstraint, "min_domains"): (1, _MANY),
    (ContainerPort, "container_port"): (1, 65535),
    (ContainerPort, "host_port"): (0, 65535),
    (WorkloadSpec, "replicas"): (0, _MANY),
    (DeploymentSpec, "replicas"): (0, _MANY),
    (StatefulSetSpec, "replicas"): (0, _MANY),
    (ReplicationControllerSpec, "replicas"): (0, _MANY),
    (JobSpec, "parallelism"): (0, _MANY),
    (JobSpec, "completions"): (0, _MANY),
    (VolumeNodeResources, "count"): (0, _MANY),
}
"""Fields that hold a number from a range."""

REQUIRED: frozenset[Field] = frozenset(
    (
        (TopologySpreadConstraint, "topology_key"),
        (PodAffinityTerm, "topology_key"),
        (Taint, "key"),
        (DeviceTaint, "key"),
        (NodeSelectorRequirement, "key"),
        (LabelSelectorRequirement, "key"),
        (NodeSelector, "node_selector_terms"),
        (PersistentVolumeClaimVolumeSource, "claim_name"),
        (StorageClass, "provisioner"),
        (ExactDeviceRequest, "device_class_name"),
        (DeviceSubRequest, "device_class_name"),
        (DeviceRequest, "name"),
        (DeviceSubRequest, "name"),
        (ResourceSliceSpec, "driver"),
        (DeviceSelector, "cel"),
        (CELDeviceSelector, "expression"),
    )
)
"""Fields that must not be empty."""

_NAME_PART = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DNS_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"(?=.{{1,253}}\Z){_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_LABEL_NAME = re.compile(rf"(?=.{{1,63}}\Z){_DNS_LABEL}")
_LABEL_KEY = re.compile(rf"(?:(?=[^/]{{1,253}}/){_DNS_LABEL}(?:\.{_DNS_LABEL})*/)?{_NAME_PART}")
_LABEL_VALUE = re.compile(rf"(?:{_NAME_PART})?")

_KEY_RULE = "at most 63 letters, digits, - _ . with a letter or digit at both ends, after an optional DNS prefix and /"
_VALUE_RULE = "at most 63 letters, digits, - _ . with a letter or digit at both ends"
_NAME_RULE = "lower-case letters, digits, - and . with a letter or digit at both ends"


@lru_cache(maxsize=1 << 14)
def _label_key(text: str) -> str:
    return "" if _LABEL_KEY.fullmatch(text) else f"{quote(text)} is not a label key: {_KEY_RULE}"


@lru_cache(maxsize=1 << 14)
def _label_value(text: str) -> str:
    return "" if _LABEL_VALUE.fullmatch(text) else f"{quote(text)} is not a label value: {_VALUE_RULE}"


@lru_cache(maxsize=1 << 14)
def _name(text: str) -> str:
    return "" if _SUBDOMAIN.fullmatch(text) else f"{quote(text)} is not a name: {_NAME_RULE}"


@lru_cache(maxsize=1 << 14)
def _namespace(text: str) -> str:
    return (
        ""
        if _LABEL_NAME.fullmatch(text)
        else f"{quote(text)} is not a name: {_NAME_RULE.replace(', - and .', ' and -')}"
    )


_LONGEST_EXPRESSION = 10 << 10


def _expression(text: str) -> str:
    size = len(text.encode(errors="surrogatepass"))
    return f"a CEL expression has at most {_LONGEST_EXPRESSION} bytes, and this one {size}" * (
        size > _LONGEST_EXPRESSION
    )


_LABEL_MAP = (_label_key, _label_value)
SYNTAX: dict[Field, Rule | tuple[Rule, Rule]] = {
    (ObjectMeta, "labels"): _LABEL_MAP,
    (LabelSelector, "match_labels"): _LABEL_MAP,
    (PodSpec, "node_selector"): _LABEL_MAP,
    (ServiceSpec, "selector"): _LABEL_MAP,
    (NodeSelectorRequirement, "key"): _label_key,
    (LabelSelectorRequirement, "key"): _label_key,
    (LabelSelectorRequirement, "values"): _label_value,
    (Taint, "key"): _label_key,
    (Taint, "value"): _label_value,
    (Toleration, "key"): _label_key,
    (Toleration, "value"): _label_value,
    (PodAffinityTerm, "topology_key"): _label_key,
    (PodAffinityTerm, "namespaces"): _namespace,
    (PodAffinityTerm, "match_label_keys"): _label_key,
    (PodAffinityTerm, "mismatch_label_keys"): _label_key,
    (TopologySpreadConstraint, "match_label_keys"): _label_key,
    (PodSpec, "priority_class_name"): _name,
    (PodSpec, "runtime_class_name"): _name,
    (CELDeviceSelector, "expression"): _expression,
    (DeviceRequest, "name"): _namespace,
    (DeviceSubRequest, "name"): _namespace,
}
"""Fields whose text has a form: one rule for text and lists of text, two for keys and values of a mapping."""


def validate(
    kind: Kind, obj: msgspec.Struct, parts: Iterable[tuple[msgspec.Struct, Path]] | None = None
) -> list[Finding]:
    """Return what an API server would refuse about an object that was written by hand.

    Args:
        kind: its kind.
        obj: the object.
        parts: what to look at and where it is, if that is not the object as a whole.
    """
    out: list[Finding] = []
    metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
    rule = _namespace if kind.name in ("Namespace", "Service") else _name
    if metadata.name and (message := rule(metadata.name)):
        out.append(Finding(("metadata", "name"), message))
    if metadata.namespace:
        if not kind.namespaced:
            out.append(Finding(("metadata", "namespace"), f"a {kind} is not in a namespace"))
        elif message := _namespace(metadata.namespace):
            out.append(Finding(("metadata", "namespace"), message))
    for part, path in [(obj, ())] if parts is None else parts:
        _visit(part, path, out)
    return out


# --- The walk ----------------------------------------------------------------------------------------------------

Check = Callable[[Any, Path, str, list[Finding]], None]
"""Adds what is wrong with a value; takes the path of the struct and the field's name apart, as paths cost time."""


class _Plan:
    """What to look at in one struct type.

    Attributes:
        checks: attribute, name and check of fields; the last says whether an empty value is checked too.
        inner: attribute and name of the fields with structs inside that have checks of their own.
        relations: the rule about several fields.
    """

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        fields = msgspec.structs.fields(struct)
        self.checks = [
            (one.name, one.encode_name, check, always)
            for one in fields
            for check, always in _checks((struct, one.name))
        ]
        self.inner = [
            (one.name, one.encode_name)
            for one in fields
            if any(_plan(inner).matters for inner in _structs_in(one.type))
        ]
        self.relations = RELATIONS.get(struct)

    @property
    def matters(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self.checks or self.inner or self.relations)


@cache
def _plan(struct: type[msgspec.Struct]) -> _Plan:
    return _Plan(struct)


def _structs_in(annotation: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
    for part in get_args(annotation):
        yield from _structs_in(part)


_CLEAN: set[bytes] = set()
"""Pod specs in which nothing was found; pods come by the thousand from few templates, so each is judged once."""
_MOST_CLEAN = 1 << 14


def _visit(obj: msgspec.Struct, path: Path, out: list[Finding]) -> None:
    if isinstance(obj, PodSpec):
        likeness = content(msgspec.structs.replace(obj, node_name="") if obj.node_name else obj)
        if likeness is None or likeness not in _CLEAN:
            before = len(out)
            _look(obj, path, out)
            if likeness is not None and len(out) == before and len(_CLEAN) < _MOST_CLEAN:
                _CLEAN.add(likeness)
    else:
        _look(obj, path, out)


def _look(obj: msgspec.Struct, path: Path, out: list[Finding]) -> None:
    plan = _plan(type(obj))
    for attribute, name, check, always in plan.checks:
        value = getattr(obj, attribute)
        if value or always:
            check(value, path, name, out)
    if plan.relations is not None:
        out.extend(plan.relations(obj, path))
    for attribute, name in plan.inner:
        value = getattr(obj, attribute)
        if value is None:
            continue
        if isinstance(value, list):
            for index, item in enumerate(value):
                _visit(item, (*path, name, index), out)
        elif isinstance(value, dict):
            for key, item in value.items():
                _visit(item, (*path, name, key), out)
        else:
            _visit(value, (*path, name), out)


def _checks(field: Field) -> Iterator[tuple[Check, bool]]:
    """Yield the checks of a field, and whether each wants to see an empty value."""
    if field in REQUIRED:
        yield _check_required, True
    if field in WORDS:
        yield _check_words(WORDS[field]), "" not in WORDS[field]
    if field in RANGES:
        yield _check_range(*RANGES[field]), RANGES[field][0] > 0
    if field in SYNTAX:
        yield _check_syntax(SYNTAX[field]), False


def _check_required(value: Any, path: Path, name: str, out: list[Finding]) -> None:
    if not value:
        out.append(Finding((*path, name), f"the field {quote(name)} is required"))


def _check_words(words: tuple[str, ...]) -> Check:
    choices = ", ".join(word for word in words if word)

    def check(value: Any, path: Path, name: str, out: list[Finding]) -> None:
        if isinstance(value, list):
            for index, word in enumerate(value):
                check(word, (*path, name), index, out)  # type: ignore[arg-type]  # a path's last step may be an index
        elif value is not None and value not in words:
            meant = nearest(value, words, cutoff=CLOSE)
            message = f"expected one of {choices}" + (f", got {quote(value)}" if value else "")
            out.append(Finding((*path, name), message, f'did you mean "{meant}"?' if meant else ""))

    return check


def _check_range(least: int, most: int) -> Check:
    expected = f"at least {least}" if most == _MANY else f"from {least} to {most}"

    def check(value: Any, path: Path, name: str, out: list[Finding]) -> None:
        if value is not None and not least <= value <= most:
            out.append(Finding((*path, name), f"expected a number {expected}, got {value}"))

    return check


def _check_syntax(rule: Rule | tuple[Rule, Rule]) -> Check:
    def check_pairs(value: dict[str, str], path: Path, name: str, out: list[Finding]) -> None:
        assert isinstance(rule, tuple)
        for key, text in value.items():
            for message, at_key in ((rule[0](key), True), (rule[1](text), False)):
                if message:
                    out.append(Finding((*path, name, key), message, at_key=at_key))

    def check(value: Any, path: Path, name: str, out: list[Finding]) -> None:
        assert not isinstance(rule, tuple)
        if isinstance(value, str):
            if message := rule(value):
                out.append(Finding((*path, name), message))
            return
        for index, text in enumerate(value):
            if message := rule(text):
                out.append(Finding((*path, name, index), message))

    return check_pairs if isinstance(rule, tuple) else check


REFUSED = "an API server would refuse it"
"""The hint of warnings about objects that scheduling can still make sense of, e.g. in a simplified state."""


# --- Rules about several fields ----------------------------------------------------------------------------------


def _label_requirement(obj: LabelSelectorRequirement | NodeSelectorRequirement, path: Path) -> Iterator[Finding]:
    count = len(obj.values or ())
    if obj.operator in ("In", "NotIn") and not count:
        yield Finding((*path, "values"), f"{obj.operator} needs at least one value")
    elif obj.operator in ("Exists", "DoesNotExist") and count:
        yield Finding((*path, "values"), f"{obj.operator} takes no values")
    elif obj.operator in ("Gt", "Lt"):
        if count != 1:
            yield Finding((*path, "values"), f"{obj.operator} needs exactly one value")
        elif obj.values and selectors.parse_int64(obj.values[0]) is None:
            message = f"{obj.operator} compares integers, and {quote(obj.values[0])} is none: it never holds"
            yield Finding((*path, "values", 0), message, warning=True)


def _node_term(obj: NodeSelectorTerm, path: Path) -> Iterator[Finding]:
    for index, one in enumerate(obj.match_fields or ()):
        where = (*path, "matchFields", index)
        if one.key != "metadata.name":
            yield Finding((*where, "key"), f'expected "metadata.name", the only field there is, got {quote(one.key)}')
        if one.operator not in ("In", "NotIn"):
            yield Finding((*where, "operator"), f"expected one of In, NotIn for a field, got {quote(one.operator)}")
        elif len(one.values or ()) != 1:
            yield Finding((*where, "values"), f"{one.operator} needs exactly one value for a field")


def _toleration(obj: Toleration, path: Path) -> Iterator[Finding]:
    if not obj.key and obj.operator != "Exists":
        yield Finding((*path, "operator"), 'expected "Exists", because there is no key', "add a key, or tolerate all")
    yield from _exists(obj, path)
    if obj.toleration_seconds is not None and obj.effect != "NoExecute":
        yield Finding((*path, "effect"), 'expected "NoExecute", because tolerationSeconds is set')


def _exists(obj: Toleration | DeviceToleration, path: Path) -> Iterator[Finding]:
    if obj.operator == "Exists" and obj.value:
        yield Finding((*path, "value"), "Exists takes no value")


def _spread(obj: TopologySpreadConstraint, path: Path) -> Iterator[Finding]:
    if obj.min_domains is not None and obj.when_unsatisfiable != "DoNotSchedule":
        yield Finding((*path, "minDomains"), "minDomains goes with whenUnsatisfiable: DoNotSchedule only")
    if obj.match_label_keys and obj.label_selector is None:
        yield Finding((*path, "matchLabelKeys"), "matchLabelKeys needs a labelSelector")


def _affinity_term(obj: PodAffinityTerm, path: Path) -> Iterator[Finding]:
    for name, keys in (("matchLabelKeys", obj.match_label_keys), ("mismatchLabelKeys", obj.mismatch_label_keys)):
        if keys and obj.label_selector is None:
            yield Finding((*path, name), f"{name} needs a labelSelector")


def _pod_spec(obj: PodSpec, path: Path) -> Iterator[Finding]:
    if not obj.containers:
        yield Finding((*path, "containers"), "without containers a pod asks for nothing", REFUSED, warning=True)
    spread = [(one.topology_key, one.when_unsatisfiable) for one in obj.topology_spread_constraints or ()]
    for index, pair in enumerate(spread):
        if pair in spread[:index]:
            message = f"{quote(pair[0])} with {pair[1]} is constrained twice"
            yield Finding((*path, "topologySpreadConstraints", index), message)
    gates = [gate.name for gate in obj.scheduling_gates or ()]
    for index, gate in enumerate(gates):
        if gate in gates[:index]:
            yield Finding((*path, "schedulingGates", index, "name"), f"the gate {quote(gate)} is there twice")
    for field, named in (("volumes", obj.volumes), ("resourceClaims", obj.resource_claims)):
        yield from _twice(named, (*path, field))
    claims = {claim.name for claim in obj.resource_claims or ()}
    for where, container in _containers(obj, path):
        for index, use in enumerate((container.resources and container.resources.claims) or ()):
            if use.name not in claims:
                close = nearest(use.name, claims, cutoff=CLOSE)
                message = f"the pod has no resource claim {quote(use.name)}"
                hint = f'did you mean "{close}"?' if close else ""
                yield Finding((*where, "resources", "claims", index, "name"), message, hint)
        for index, port in enumerate((obj.host_network and container.ports) or ()):
            if port.host_port not in (0, port.container_port):
                message = f"expected {port.container_port} like containerPort, because the pod uses the host network"
                yield Finding((*where, "ports", index, "hostPort"), message)


def _containers(obj: PodSpec, path: Path) -> Iterator[tuple[Path, Container]]:
    for name, containers in (("initContainers", obj.init_containers), ("containers", obj.containers)):
        for index, container in enumerate(containers or ()):
            yield (*path, name, index), container


def _container(obj: Container, path: Path) -> Iterator[Finding]:
    if obj.resources is None:
        return
    limits, requests = obj.resources.limits or {}, obj.resources.requests or {}
    yield from _amounts(limits, (*path, "resources", "limits"))
    yield from _amounts(requests, (*path, "resources", "requests"))
    for name, request in requests.items():
        limit = limits.get(name)
        if _whole_units(name) or name.startswith("hugepages-"):
            if limit is None or _compare(request, limit):
                message = f"{name} cannot be overcommitted: the limit must be there and equal the request"
                yield Finding((*path, "resources", "requests", name), message)
        elif limit is not None and _compare(request, limit) > 0:
            message = f"the request ({request}) is more than the limit ({limit})"
            yield Finding((*path, "resources", "requests", name), message)


@lru_cache(maxsize=1 << 14)
def _compare(request: Quantity, limit: Quantity) -> int:
    return quantities.parse(request).compare(quantities.parse(limit))


def _node_status(obj: NodeStatus, path: Path) -> Iterator[Finding]:
    yield from _amounts(obj.capacity or {}, (*path, "capacity"))
    yield from _amounts(obj.allocatable or {}, (*path, "allocatable"))


def _amounts(resources: dict[str, Quantity], path: Path) -> Iterator[Finding]:
    for name, quantity in resources.items():
        amount = quantities.parse(quantity)
        if amount.unscaled < 0:
            yield Finding((*path, name), f"expected an amount that is not negative, got {quantity}")
        elif (name == "pods" or _whole_units(name)) and amount.milli_value % 1000:
            yield Finding((*path, name), f"{name} comes in whole units, got {quantity}")


def _whole_units(name: str) -> bool:
    """Whether it is an extended resource: one with a domain of its own."""
    return "/" in name and "kubernetes.io/" not in name


def _pod_claim(obj: PodResourceClaim, path: Path) -> Iterator[Finding]:
    if (obj.resource_claim_name is None) == (obj.resource_claim_template_name is None):
        yield Finding(path, "expected one of resourceClaimName and resourceClaimTemplateName")


def _budget(obj: PodDisruptionBudgetSpec, path: Path) -> Iterator[Finding]:
    if obj.min_available is not None and obj.max_unavailable is not None:
        yield Finding((*path, "maxUnavailable"), "minAvailable and maxUnavailable exclude each other")
    for name, value in (("minAvailable", obj.min_available), ("maxUnavailable", obj.max_unavailable)):
        if isinstance(value, str) and not re.fullmatch(r"0*(100|[0-9]{1,2})%", value):
            yield Finding((*path, name), f"expected a number or a percentage up to 100%, got {quote(value)}")
        elif isinstance(value, int) and value < 0:
            yield Finding((*path, name), f"expected a number at least 0, got {value}")


def _workload(obj: WorkloadSpec, path: Path) -> Iterator[Finding]:
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


def _priority_class(obj: PriorityClass, path: Path) -> Iterator[Finding]:
    if obj.value > 1_000_000_000 and not obj.metadata.name.startswith("system-"):
        yield Finding((*path, "value"), f"expected a number up to 1000000000, got {obj.value}")


def _device_request(obj: DeviceRequest, path: Path) -> Iterator[Finding]:
    if (obj.exactly is None) == (not obj.first_available):
        yield Finding(path, "expected one of exactly and firstAvailable")


def _twice(named: Iterable[Any] | None, path: Path) -> Iterator[Finding]:
    """Yield the items of a list that have the name of one before them."""
    seen: set[str] = set()
    for index, one in enumerate(named or ()):
        if one.name and one.name in seen:
            yield Finding((*path, index, "name"), f"the name {quote(one.name)} is there twice")
        seen.add(one.name)


def _device_claim(obj: DeviceClaim, path: Path) -> Iterator[Finding]:
    yield from _twice(obj.requests, (*path, "requests"))
    names = {request.name for request in obj.requests or ()}
    for index, request in enumerate(obj.requests or ()):
        yield from _twice(request.first_available, (*path, "requests", index, "firstAvailable"))
        names.update(f"{request.name}/{alternative.name}" for alternative in request.first_available or ())
    for index, constraint in enumerate(obj.constraints or ()):
        where = (*path, "constraints", index, "requests")
        for at, name in enumerate(constraint.requests or ()):
            if name not in names:
                close = nearest(name, names, cutoff=CLOSE)
                hint = f'did you mean "{close}"?' if close else ""
                yield Finding((*where, at), f"the claim has no request {quote(name)}", hint)


_IDENTIFIER = re.compile(r"(?=.{1,32}\Z)[A-Za-z_][A-Za-z0-9_]*")
_DOMAIN = re.compile(rf"(?=.{{1,63}}\Z){_DNS_LABEL}(?:\.{_DNS_LABEL})*")


def _device_constraint(obj: DeviceConstraint, path: Path) -> Iterator[Finding]:
    if (obj.match_attribute is None) == (obj.distinct_attribute is None):
        yield Finding(path, "expected one of matchAttribute and distinctAttribute")
    for field, name in (("matchAttribute", obj.match_attribute), ("distinctAttribute", obj.distinct_attribute)):
        if name is None:
            continue
        domain, slash, identifier = name.partition("/")
        if not slash:
            hint = "put the driver's name in front, unless the attribute has a domain of its own"
            yield Finding((*path, field), f"expected a domain, a slash and a name, got {quote(name)}", hint)
        elif "/" not in identifier and not (_DOMAIN.fullmatch(domain) and _IDENTIFIER.fullmatch(identifier)):
            yield Finding((*path, field), f"{quote(name)} is not the name of an attribute with its domain")


def _device_count(obj: ExactDeviceRequest | DeviceSubRequest, path: Path) -> Iterator[Finding]:
    if obj.allocation_mode == "All" and obj.count:
        yield Finding((*path, "count"), "count does not go with allocationMode: All")
    elif obj.count < 0:
        yield Finding((*path, "count"), f"expected a number at least 1, got {obj.count}")


def _slice(obj: ResourceSliceSpec, path: Path) -> Iterator[Finding]:
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


_attribute_values = attrgetter(*DeviceAttribute.__struct_fields__)


def _pod(obj: Pod, path: Path) -> Iterator[Finding]:
    if obj.spec.node_name and (message := _name(obj.spec.node_name)):
        yield Finding((*path, "spec", "nodeName"), message)


RELATIONS: dict[type, Callable[[Any, Path], Iterator[Finding]]] = {
    LabelSelectorRequirement: _label_requirement,
    NodeSelectorRequirement: _label_requirement,
    NodeSelectorTerm: _node_term,
    Toleration: _toleration,
    DeviceToleration: _exists,
    TopologySpreadConstraint: _spread,
    PodAffinityTerm: _affinity_term,
    Pod: _pod,
    PodSpec: _pod_spec,
    Container: _container,
    NodeStatus: _node_status,
    PodResourceClaim: _pod_claim,
    PodDisruptionBudgetSpec: _budget,
    WorkloadSpec: _workload,
    DeploymentSpec: _workload,
    DaemonSetSpec: _workload,
    StatefulSetSpec: _workload,
    PriorityClass: _priority_class,
    DeviceRequest: _device_request,
    DeviceClaim: _device_claim,
    DeviceConstraint: _device_constraint,
    ExactDeviceRequest: _device_count,
    DeviceSubRequest: _device_count,
    ResourceSliceSpec: _slice,
}
"""By struct, the rules that look at several fields."""
