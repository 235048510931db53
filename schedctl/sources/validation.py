"""What an API server would refuse, for objects that never met one: a closed word, a range, the syntax of a field.

Objects of a cluster were validated when they were stored, so only what somebody wrote by hand is held to the rules of
``pkg/apis/*/validation`` (Kubernetes v1.37), as far as breaking one would change scheduling. `syntax` has the rules for
texts, `relations` those that look at several fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, get_args

import msgspec

from schedctl.api import devices, pod_groups, pods, policies, storage, workloads
from schedctl.api.kinds import Kind
from schedctl.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from schedctl.api.nodes import Taint
from schedctl.api.sharing import content
from schedctl.documents.findings import TEMPLATE, Finding, Path, quote
from schedctl.documents.spelling import CLOSE, did_you_mean
from schedctl.sources import relations, syntax

Field = tuple[type[msgspec.Struct], str]


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
    (pods.Toleration, "effect"): ("", *_EFFECTS),
    (pods.Toleration, "operator"): ("", "Equal", "Exists", "Lt", "Gt"),
    (devices.DeviceTaint, "effect"): _DEVICE_EFFECTS,
    (devices.DeviceToleration, "effect"): ("", *_DEVICE_EFFECTS),
    (devices.DeviceToleration, "operator"): ("", "Equal", "Exists"),
    (devices.ExactDeviceRequest, "allocation_mode"): ("", *_ALLOCATION),
    (devices.DeviceSubRequest, "allocation_mode"): ("", *_ALLOCATION),
    (pods.NodeSelectorRequirement, "operator"): (*_SET_OPERATORS, "Gt", "Lt"),
    (LabelSelectorRequirement, "operator"): _SET_OPERATORS,
    (pods.TopologySpreadConstraint, "when_unsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    (pods.TopologySpreadConstraint, "node_affinity_policy"): ("Honor", "Ignore"),
    (pods.TopologySpreadConstraint, "node_taints_policy"): ("Honor", "Ignore"),
    (pods.ContainerPort, "protocol"): ("", "TCP", "UDP", "SCTP"),
    (pods.PodSpec, "restart_policy"): ("", "Always", "OnFailure", "Never"),
    (pods.PodSpec, "preemption_policy"): _PREEMPTION,
    (policies.PriorityClass, "preemption_policy"): _PREEMPTION,
    (pod_groups.PodGroupSpec, "preemption_policy"): _PREEMPTION,
    (pods.PodOS, "name"): ("linux", "windows"),
    (storage.StorageClass, "volume_binding_mode"): ("Immediate", "WaitForFirstConsumer"),
    (storage.PersistentVolumeSpec, "volume_mode"): ("Filesystem", "Block"),
    (storage.PersistentVolumeSpec, "access_modes"): _ACCESS_MODES,
    (pods.PersistentVolumeClaimSpec, "volume_mode"): ("Filesystem", "Block"),
    (pods.PersistentVolumeClaimSpec, "access_modes"): _ACCESS_MODES,
    (workloads.JobSpec, "completion_mode"): ("NonIndexed", "Indexed"),
    (workloads.StatefulSetSpec, "pod_management_policy"): ("", "OrderedReady", "Parallel"),
    (policies.ResourceQuotaSpec, "scopes"): _SCOPES,
    (policies.ScopedResourceSelectorRequirement, "scope_name"): _SCOPES,
    (policies.ScopedResourceSelectorRequirement, "operator"): _SET_OPERATORS,
}
"""Fields that hold one of a few words (lists: each item); "" where the API server fills in a default."""

_MANY = (1 << 31) - 1
RANGES: dict[Field, tuple[int, int]] = {
    (pods.PreferredSchedulingTerm, "weight"): (1, 100),
    (pods.WeightedPodAffinityTerm, "weight"): (1, 100),
    (pods.TopologySpreadConstraint, "max_skew"): (1, _MANY),
    (pods.TopologySpreadConstraint, "min_domains"): (1, _MANY),
    (pods.ContainerPort, "container_port"): (1, 65535),
    (pods.ContainerPort, "host_port"): (0, 65535),
    (workloads.WorkloadSpec, "replicas"): (0, _MANY),
    (workloads.DeploymentSpec, "replicas"): (0, _MANY),
    (workloads.StatefulSetSpec, "replicas"): (0, _MANY),
    (workloads.ReplicationControllerSpec, "replicas"): (0, _MANY),
    (workloads.JobSpec, "parallelism"): (0, _MANY),
    (workloads.JobSpec, "completions"): (0, _MANY),
    (storage.VolumeNodeResources, "count"): (0, _MANY),
    (pod_groups.GangSchedulingPolicy, "min_count"): (1, _MANY),
    (workloads.JobGangPolicy, "min_count"): (1, _MANY),
}
"""Fields that hold a number from a range."""

REQUIRED: frozenset[Field] = frozenset(
    (
        (pods.TopologySpreadConstraint, "topology_key"),
        (pods.PodAffinityTerm, "topology_key"),
        (Taint, "key"),
        (devices.DeviceTaint, "key"),
        (pods.NodeSelectorRequirement, "key"),
        (LabelSelectorRequirement, "key"),
        (pods.NodeSelector, "node_selector_terms"),
        (pods.PersistentVolumeClaimVolumeSource, "claim_name"),
        (storage.StorageClass, "provisioner"),
        (devices.ExactDeviceRequest, "device_class_name"),
        (devices.DeviceSubRequest, "device_class_name"),
        (devices.DeviceRequest, "name"),
        (devices.DeviceSubRequest, "name"),
        (devices.ResourceSliceSpec, "driver"),
        (devices.DeviceSelector, "cel"),
        (devices.CELDeviceSelector, "expression"),
        (pod_groups.TopologyConstraint, "key"),
    )
)
"""Fields that must not be empty."""

_LABEL_MAP = (syntax.label_key, syntax.label_value)
SYNTAX: dict[Field, syntax.Rule | tuple[syntax.Rule, syntax.Rule]] = {
    (ObjectMeta, "labels"): _LABEL_MAP,
    (LabelSelector, "match_labels"): _LABEL_MAP,
    (pods.PodSpec, "node_selector"): _LABEL_MAP,
    (workloads.ServiceSpec, "selector"): _LABEL_MAP,
    (pods.NodeSelectorRequirement, "key"): syntax.label_key,
    (LabelSelectorRequirement, "key"): syntax.label_key,
    (LabelSelectorRequirement, "values"): syntax.label_value,
    (Taint, "key"): syntax.label_key,
    (Taint, "value"): syntax.label_value,
    (pods.Toleration, "key"): syntax.label_key,
    (pods.Toleration, "value"): syntax.label_value,
    (pods.PodAffinityTerm, "topology_key"): syntax.label_key,
    (pods.PodAffinityTerm, "namespaces"): syntax.dns_label,
    (pods.PodAffinityTerm, "match_label_keys"): syntax.label_key,
    (pods.PodAffinityTerm, "mismatch_label_keys"): syntax.label_key,
    (pods.TopologySpreadConstraint, "match_label_keys"): syntax.label_key,
    (pods.PodSpec, "priority_class_name"): syntax.object_name,
    (pods.PodSpec, "runtime_class_name"): syntax.object_name,
    (devices.CELDeviceSelector, "expression"): syntax.cel_expression,
    (devices.DeviceRequest, "name"): syntax.dns_label,
    (devices.DeviceSubRequest, "name"): syntax.dns_label,
    (pod_groups.TopologyConstraint, "key"): syntax.label_key,
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
    rule = syntax.dns_label if kind.name in ("Namespace", "Service") else syntax.object_name
    if metadata.name and (message := rule(metadata.name)):
        out.append(_flaw(("metadata", "name"), message, metadata.name))
    if metadata.namespace:
        if not kind.namespaced:
            out.append(Finding(("metadata", "namespace"), f"a {kind} has no namespace"))
        elif message := syntax.dns_label(metadata.namespace):
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
        self.relations = relations.RELATIONS.get(struct)

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
    if isinstance(obj, pods.PodSpec):
        # The node is the pod's own; all else is the template's.
        spec_key = content(msgspec.structs.replace(obj, node_name="") if obj.node_name else obj)
        if spec_key is None or spec_key not in _CLEAN:
            before = len(out)
            _visit_fields(obj, path, out)
            if spec_key is not None and len(out) == before and len(_CLEAN) < _MOST_CLEAN:
                _CLEAN.add(spec_key)
    else:
        _visit_fields(obj, path, out)


def _visit_fields(obj: msgspec.Struct, path: Path, out: list[Finding]) -> None:
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
            message = f"expected one of {choices}" + (f", got {quote(value)}" if value else "")
            out.append(Finding((*path, name), message, did_you_mean(value, words, "", cutoff=CLOSE)))

    return check


def _check_range(least: int, most: int) -> Check:
    expected = f"at least {least}" if most == _MANY else f"from {least} to {most}"

    def check(value: Any, path: Path, name: str, out: list[Finding]) -> None:
        if value is not None and not least <= value <= most:
            out.append(Finding((*path, name), f"expected a number {expected}, got {value}"))

    return check


def _check_syntax(rule: syntax.Rule | tuple[syntax.Rule, syntax.Rule]) -> Check:
    def check_pairs(value: dict[str, str], path: Path, name: str, out: list[Finding]) -> None:
        assert isinstance(rule, tuple)
        for key, text in value.items():
            for message, at_key in ((rule[0](key), True), (rule[1](text), False)):
                if message:
                    out.append(_flaw((*path, name, key), message, key if at_key else text, at_key=at_key))

    def check(value: Any, path: Path, name: str, out: list[Finding]) -> None:
        assert not isinstance(rule, tuple)
        if isinstance(value, str):
            if message := rule(value):
                out.append(_flaw((*path, name), message, value))
            return
        for index, text in enumerate(value):
            if message := rule(text):
                out.append(_flaw((*path, name, index), message, text))

    return check_pairs if isinstance(rule, tuple) else check


def _flaw(path: Path, message: str, text: str, *, at_key: bool = False) -> Finding:
    """Return what is wrong with a text; one with braces was to be rendered before, though it can be read as YAML."""
    return Finding(path, message, TEMPLATE if "{{" in text else "", at_key=at_key)
