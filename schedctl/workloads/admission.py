"""What the API server makes of a pod when it is created, beyond the defaults of its fields.

Admission plugins and the pod strategy complete it; a pod that came out of a cluster (it has a uid) has been through all
that and is left alone. What a plugin changes is an `Effect`, why it would refuse it a `Refusal`; quotas, which need
to know what went before, are asked by ``api_server``; webhooks, admission policies and pod security are not consulted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from schedctl.api import defaults, priorities
from schedctl.api.devices import ResourceClaim
from schedctl.api.field_errors import aggregate, quote
from schedctl.api.meta import Namespace, Quantity
from schedctl.api.pods import Container, Pod, PodSpec, Toleration
from schedctl.api.policies import PriorityClass, RuntimeClass
from schedctl.api.quantities import stored_amount
from schedctl.api.storage import CLASS_ANNOTATION, PersistentVolumeClaim, StorageClass, default_class
from schedctl.api.tolerations import COMPARISONS
from schedctl.cache.cluster import Cluster
from schedctl.workloads import limit_ranges, pod_claims, pod_validation
from schedctl.workloads.match_keys import merge_match_label_keys
from schedctl.workloads.pod_resources import complete_pod_resources
from schedctl.workloads.tolerations import covers, merge_tolerations

_replace = msgspec.structs.replace

DEFAULTING = "Defaulting"
LIMIT_RANGER, POD_NODE_SELECTOR, PRIORITY = "LimitRanger", "PodNodeSelector", "Priority"
DEFAULT_TOLERATION_SECONDS, POD_TOLERATION_RESTRICTION = "DefaultTolerationSeconds", "PodTolerationRestriction"
DEFAULT_STORAGE_CLASS, RUNTIME_CLASS, RESOURCE_QUOTA = "DefaultStorageClass", "RuntimeClass", "ResourceQuota"
VALIDATION = "Validation"
"""What refuses a pod that is not valid once it is filled in; it cannot be switched off."""
PLUGINS = (
    DEFAULTING,
    LIMIT_RANGER,
    POD_NODE_SELECTOR,
    PRIORITY,
    DEFAULT_TOLERATION_SECONDS,
    POD_TOLERATION_RESTRICTION,
    DEFAULT_STORAGE_CLASS,
    RUNTIME_CLASS,
    RESOURCE_QUOTA,
)
"""What can be switched off: kube-apiserver's own names, in the order in which it asks them, and the API's defaults."""

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
TOLERATION_SECONDS = 300
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
_NODE_SELECTOR_ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_TOLERATIONS_ANNOTATION = "scheduler.alpha.kubernetes.io/defaultTolerations"
_ALLOWED_TOLERATIONS_ANNOTATION = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_MEMORY_PRESSURE = Toleration(key="node.kubernetes.io/memory-pressure", operator="Exists", effect="NoSchedule")
_WOULD_REFUSE = "the API server would refuse the pod"
_tolerations = msgspec.json.Decoder(list[Toleration])


class Effect(NamedTuple):
    """Something that admission changed in an object.

    Attributes:
        plugin: which plugin did, one of `PLUGINS`.
        text: what, e.g. ``cpu, memory request for container app``.
    """

    plugin: str
    text: str


class Refusal(NamedTuple):
    """A reason why the API server refuses an object.

    Attributes:
        plugin: which plugin refuses, one of `PLUGINS`, or `VALIDATION`.
        message: the API server's words, behind ``pods "web-0" is forbidden:``, or behind ``Pod "web-0" is invalid:``.
        warning: our words, with what is assumed if one goes on all the same; "" where there is nothing to say.
    """

    plugin: str
    message: str
    warning: str


class _Notes(msgspec.Struct):
    """What the plugins have to say about one object, and which of them are off."""

    disabled: Collection[str]
    effects: list[Effect]
    refusals: list[Refusal]

    def on(self, plugin: str) -> bool:
        return plugin not in self.disabled

    def note_change(self, plugin: str, text: str) -> None:
        self.effects.append(Effect(plugin, text))

    def refuse(self, plugin: str, message: str, warning: str | None = None) -> None:
        self.refusals.append(Refusal(plugin, message, f"{message}: {_WOULD_REFUSE}" if warning is None else warning))


class Admitted(msgspec.Struct, frozen=True):
    """A pod as the API server would store it.

    Attributes:
        pod: the completed pod.
        claims: those of its ephemeral volumes that do not exist yet, and its resource claims from templates.
        effects: what admission changed, in order.
        refusals: why the API server would refuse it, or what could not be looked up; in the order of the plugins.
    """

    pod: Pod
    claims: tuple[PersistentVolumeClaim | ResourceClaim, ...] = ()
    effects: tuple[Effect, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The refusals as warnings; sentences without a full stop."""
        return tuple(refusal.warning for refusal in self.refusals if refusal.warning)


def admit(pod: Pod, cluster: Cluster, disabled: Collection[str] = ()) -> Admitted:
    """Return the pod as the API server of this cluster would store it, which for a pod with a uid is as it is.

    Args:
        pod: the pod as it was sent.
        cluster: where it is created.
        disabled: the plugins that are switched off.
    """
    if pod.metadata.uid:  # out of a cluster, so an API server has admitted it
        return Admitted(defaults.pod(pod))
    spec, effects, refusals = admit_spec(pod, cluster, disabled)
    pod = _replace(pod, metadata=defaults.with_namespace(pod.metadata), spec=spec)
    claims = tuple(
        made if DEFAULT_STORAGE_CLASS in disabled else claim(made, cluster)
        for made in pod_claims.ephemeral_claims(pod, cluster)
    )
    pod, device_claims = pod_claims.generated_claims(pod, cluster)
    return Admitted(pod, (*claims, *device_claims), effects, refusals)


def admit_spec(
    pod: Pod, cluster: Cluster, disabled: Collection[str] = ()
) -> tuple[PodSpec, tuple[Effect, ...], tuple[Refusal, ...]]:
    """Return what becomes of a pod's spec, with effects and refusals; only spec, namespace and labels matter."""
    notes = _Notes(disabled, [], [])
    pod = _apply_defaults(pod, notes)
    ranges = limit_ranges.of(cluster, pod.metadata.namespace) if notes.on(LIMIT_RANGER) else []
    for limits in ranges:
        spec, texts = limit_ranges.apply_defaults(pod.spec, limits)
        pod = _replace(pod, spec=spec)
        for text in texts:
            notes.note_change(LIMIT_RANGER, f"{text}, by LimitRange {limits.metadata.name}")
    namespace = cluster.get(Namespace, pod.metadata.namespace)
    annotations = (namespace.metadata.annotations if namespace else None) or {}
    if notes.on(POD_NODE_SELECTOR) and _NODE_SELECTOR_ANNOTATION in annotations:
        pod = _replace(pod, spec=_apply_node_selector(pod.spec, annotations[_NODE_SELECTOR_ANNOTATION], notes))
    if notes.on(PRIORITY):
        pod = _apply_priority(pod, cluster.every(PriorityClass), notes)
    spec = pod.spec
    if notes.on(DEFAULT_TOLERATION_SECONDS):
        spec = _tolerate_outages(spec, notes)
    if notes.on(POD_TOLERATION_RESTRICTION):
        spec = _restrict_tolerations(spec, annotations, notes)
    if notes.on(RUNTIME_CLASS):
        spec = _apply_runtime_class(spec, cluster, notes)
    # After the plugins, as the pod strategy of the API server does it.
    spec = merge_match_label_keys(spec, pod.metadata.labels or {}, cluster.release)
    if notes.on(DEFAULTING):
        completed = complete_pod_resources(spec)
        if completed.resources != spec.resources:
            notes.note_change(DEFAULTING, "requests and limits of the pod as a whole, from its containers")
        spec = completed
    if violations := pod_validation.violations(spec):
        notes.refuse(VALIDATION, aggregate(violations))
    if not cluster.compares_taints:
        _refuse_comparisons(spec.tolerations or (), notes)
    # Bounds come last: they see what all the others filled in.
    for limits in ranges:
        if violations := limit_ranges.pod_violations(spec, limits):
            notes.refuse(LIMIT_RANGER, aggregate(violations))
            break
    return spec, tuple(notes.effects), tuple(notes.refusals)


def claim(obj: PersistentVolumeClaim, cluster: Cluster) -> PersistentVolumeClaim:
    """Return a new claim as stored: one that names no class gets the cluster's default (DefaultStorageClass)."""
    return claim_with_class(obj, cluster)[0]


def claim_with_class(obj: PersistentVolumeClaim, cluster: Cluster) -> tuple[PersistentVolumeClaim, tuple[Effect, ...]]:
    """Return a new claim with the cluster's default class where it names none, and what that changed."""
    if obj.spec.storage_class_name is not None or CLASS_ANNOTATION in (obj.metadata.annotations or {}):
        return obj, ()
    name = default_storage_class(cluster)
    if not name:
        return obj, ()
    effect = Effect(DEFAULT_STORAGE_CLASS, f"storageClassName {name}, the default")
    return _replace(obj, spec=_replace(obj.spec, storage_class_name=name)), (effect,)


def default_storage_class(cluster: Cluster) -> str:
    """Return the class that claims get which name none: the newest default, the first by name; "" for none."""
    return default_class(cluster.every(StorageClass).values())


def _apply_defaults(pod: Pod, notes: _Notes) -> Pod:
    """Fill in the defaults of fields, requests from limits among them."""
    filled = defaults.pod(pod)
    if not notes.on(DEFAULTING):
        before = pod.spec
        # All defaults of fields stay but those of containers, where requests follow from limits.
        spec = _replace(filled.spec, containers=before.containers, init_containers=before.init_containers)
        return _replace(filled, spec=spec)
    for written, stored in zip(_containers_of(pod.spec), _containers_of(filled.spec), strict=True):
        stated = (written.resources.requests if written.resources else None) or {}
        added = [name for name in (stored.resources and stored.resources.requests) or () if name not in stated]
        if added:
            names = ", ".join(sorted(added))
            notes.note_change(DEFAULTING, f"{names} request for container {stored.name} from its limits")
    return filled


def _containers_of(spec: PodSpec) -> Iterator[Container]:
    yield from spec.init_containers or ()
    yield from spec.containers or ()


def _refuse_comparisons(tolerations: Iterable[Toleration], notes: _Notes) -> None:
    """Refuse tolerations that compare numbers, which only a feature gate lets in."""
    for position, toleration in enumerate(tolerations):
        if toleration.operator in COMPARISONS:
            field = f"spec.tolerations[{position}].operator"
            notes.refuse(
                VALIDATION,
                f'{field}: Unsupported value: "{toleration.operator}"',
                f"{field} is {toleration.operator}, which needs the feature gate TaintTolerationComparisonOperators:"
                f" {_WOULD_REFUSE}; the toleration is assumed to cover no taint",
            )


def _apply_node_selector(spec: PodSpec, written: str, notes: _Notes) -> PodSpec:
    """Add the node selector of the namespace (PodNodeSelector)."""
    selector = {}
    for part in written.split(",") if written else ():
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            notes.refuse(POD_NODE_SELECTOR, f"invalid selector: {part}")
            return spec
        selector[key.strip()] = value.strip()
    stated = spec.node_selector or {}
    if any(stated.get(key, value) != value for key, value in selector.items()):
        notes.refuse(POD_NODE_SELECTOR, "pod node label selector conflicts with its namespace node label selector")
        return spec
    added = {key: value for key, value in selector.items() if key not in stated}
    if not added:
        return spec
    terms = ", ".join(f"{key}={value}" for key, value in sorted(added.items()))
    notes.note_change(POD_NODE_SELECTOR, f"nodeSelector {terms}, of the namespace")
    return _replace(spec, node_selector={**selector, **stated})


def _apply_priority(pod: Pod, classes: Mapping[str, PriorityClass], notes: _Notes) -> Pod:
    """Look up the priority (Priority); of several default classes the one of least value counts."""
    spec = pod.spec
    name = priorities.class_name(spec.priority_class_name, classes)
    # A stated priority is taken out before the class is asked: the plugin computes it anew, and then compares the two.
    stated, unknown = spec.priority, bool(name) and name not in classes and name not in priorities.SYSTEM_CLASSES
    pod = priorities.resolve(_replace(pod, spec=_replace(spec, priority_class_name=name, priority=None)), classes)
    computed = pod.spec.priority
    if unknown:
        warning = f'PriorityClass "{name}" not found: {_WOULD_REFUSE}; priority 0 is assumed'
        message = f"no PriorityClass with name {name} was found"
        # A priority that is stated is assumed, so the warning that 0 is would be wrong.
        notes.refuse(PRIORITY, message, warning if stated is None else "")
    elif stated not in (None, computed):
        origin = "its PriorityClass gives" if name else "a pod without a PriorityClass gets"
        notes.refuse(
            PRIORITY,
            f"the integer value of priority ({stated}) must not be provided in pod spec; priority admission controller"
            f" computed {computed} from the given PriorityClass name",
            f"spec.priority is {stated} but {origin} {computed}: {_WOULD_REFUSE}; {stated} is assumed",
        )
    elif name:
        default = "" if spec.priority_class_name else ", the global default"
        notes.note_change(PRIORITY, f"priority {computed} of PriorityClass {name}{default}")
    policy = pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
    if spec.preemption_policy not in (None, policy):
        notes.refuse(
            PRIORITY,
            f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec;"
            f" priority admission controller computed {policy} from the given PriorityClass name",
            f"spec.preemptionPolicy is {spec.preemption_policy} but its PriorityClass has {policy}:"
            f" {_WOULD_REFUSE}; {policy} is assumed",
        )
    priority = computed if stated is None else stated
    return _replace(pod, spec=_replace(pod.spec, priority=priority, preemption_policy=policy))


def _tolerate_outages(spec: PodSpec, notes: _Notes) -> PodSpec:
    """Let the pod stay on a lost node for five minutes (DefaultTolerationSeconds); scheduling does not change."""
    stated = spec.tolerations or []
    added = [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=TOLERATION_SECONDS)
        for key in (NOT_READY, UNREACHABLE)
        if not any(t.key in ("", key) and t.effect in ("", "NoExecute") for t in stated)
    ]
    if not added:
        return spec
    keys = ", ".join(toleration.key.rpartition("/")[2] for toleration in added)
    notes.note_change(DEFAULT_TOLERATION_SECONDS, f"toleration of {keys} for {TOLERATION_SECONDS} s")
    return _replace(spec, tolerations=[*stated, *added])


def _restrict_tolerations(spec: PodSpec, annotations: Mapping[str, str], notes: _Notes) -> PodSpec:
    """Add the tolerations of the namespace and hold the pod to those it allows (PodTolerationRestriction)."""
    if not annotations.keys() & {_TOLERATIONS_ANNOTATION, _ALLOWED_TOLERATIONS_ANNOTATION}:
        return spec
    try:
        defaulted, allowed = (
            _tolerations.decode(annotations.get(key) or "[]")
            for key in (_TOLERATIONS_ANNOTATION, _ALLOWED_TOLERATIONS_ANNOTATION)
        )
    except msgspec.DecodeError as error:
        notes.refuse(POD_TOLERATION_RESTRICTION, f"the tolerations of the namespace cannot be read: {error}")
        return spec
    # As upstream: all but best-effort pods put up with memory pressure, which is why the plugin needs the QoS class.
    extra = defaulted if limit_ranges.best_effort(spec) else [*defaulted, _MEMORY_PRESSURE]
    stated = spec.tolerations or []
    tolerations = merge_tolerations([*stated, *extra]) if extra else stated
    added = [toleration for toleration in tolerations if toleration not in stated]
    if added:
        keys = ", ".join(toleration.key or "everything" for toleration in added)
        notes.note_change(POD_TOLERATION_RESTRICTION, f"toleration of {keys}, of the namespace")
    if allowed and not all(any(covers(wide, narrow) for wide in allowed) for narrow in tolerations):
        notes.refuse(
            POD_TOLERATION_RESTRICTION,
            "pod tolerations (possibly merged with namespace default tolerations) conflict with"
            " its namespace whitelist",
        )
    return _replace(spec, tolerations=tolerations or spec.tolerations)


def _apply_runtime_class(spec: PodSpec, cluster: Cluster, notes: _Notes) -> PodSpec:
    """Add what the pod's RuntimeClass costs and where it runs (RuntimeClass)."""
    name = spec.runtime_class_name
    if name is None:
        if spec.overhead:
            notes.refuse(
                RUNTIME_CLASS,
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
                f"spec.overhead is set without a RuntimeClass: {_WOULD_REFUSE}",
            )
        return spec
    runtime = cluster.get(RuntimeClass, name)
    if runtime is None:
        message = f"pod rejected: RuntimeClass {quote(name)} not found"
        notes.refuse(RUNTIME_CLASS, message, f'RuntimeClass "{name}" not found: {_WOULD_REFUSE}')
        return spec
    overhead = runtime.overhead.pod_fixed if runtime.overhead else None
    if spec.overhead and not _same_resources(spec.overhead, overhead):
        notes.refuse(
            RUNTIME_CLASS,
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            if overhead
            else "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
            f"spec.overhead is not that of RuntimeClass {name}: {_WOULD_REFUSE}; the class's overhead is assumed",
        )
    elif overhead and not spec.overhead:
        amounts = ", ".join(f"{resource}={quantity}" for resource, quantity in sorted(overhead.items()))
        notes.note_change(RUNTIME_CLASS, f"overhead {amounts} of RuntimeClass {name}")
    spec = _replace(spec, overhead=overhead)
    where = runtime.scheduling
    if where is None:
        return spec
    selector, stated = where.node_selector or {}, spec.node_selector or {}
    for key, value in sorted(selector.items()):
        if stated.get(key, value) != value:
            notes.refuse(
                RUNTIME_CLASS,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {stated[key]}",
                f"spec.nodeSelector requires {key}={stated[key]} but RuntimeClass {name} requires {key}={value}:"
                f" {_WOULD_REFUSE}",
            )
    terms = ", ".join(f"{key}={value}" for key, value in sorted(selector.items()) if key not in stated)
    if terms:
        notes.note_change(RUNTIME_CLASS, f"nodeSelector {terms} of RuntimeClass {name}")
    tolerated = spec.tolerations or []
    tolerations = merge_tolerations([*tolerated, *(where.tolerations or ())])
    added = [toleration for toleration in tolerations if toleration not in tolerated]
    if added:
        keys = ", ".join(toleration.key or "everything" for toleration in added)
        notes.note_change(RUNTIME_CLASS, f"toleration of {keys} of RuntimeClass {name}")
    return _replace(spec, node_selector={**selector, **stated} or spec.node_selector, tolerations=tolerations)


def _same_resources(one: Mapping[str, Quantity], other: Mapping[str, Quantity] | None) -> bool:
    other = other or {}
    return one.keys() == other.keys() and all(
        stored_amount(one[name]).compare(stored_amount(other[name])) == 0 for name in one
    )
