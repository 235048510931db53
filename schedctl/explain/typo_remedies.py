"""A `Typo`: a pod, or a claim of it, names what is nowhere; and the remedies where something similar is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from schedctl.api import pods, priorities
from schedctl.api.devices import DeviceClass, DeviceConstraint, DeviceSelector
from schedctl.api.meta import LabelSelector
from schedctl.api.policies import PriorityClass
from schedctl.cache.cluster import Cluster
from schedctl.devices.selector_names import Named
from schedctl.framework.claim_remedies import edit_devices, edit_request, request_of
from schedctl.framework.pod_edits import map_requests
from schedctl.framework.remedies import Remedy, edit_object, edit_pod
from schedctl.framework.similar import did_you_mean
from schedctl.framework.wording import FEW, name_of
from schedctl.workloads import admission
from schedctl.workloads.pod_claims import generated_claims

RENAME_LABEL, REPLACE_VALUE, RENAME_RESOURCE = "rename-label", "replace-label-value", "rename-resource"
RENAME_NODE = "rename-node"
RENAME_POD_AFFINITY_LABEL, REPLACE_POD_AFFINITY_LABEL = "rename-pod-affinity-label", "replace-company"
USE_PRIORITY_CLASS = "use-priority-class"
USE_RUNTIME_CLASS = "use-runtime-class"
RENAME_CLAIM, USE_STORAGE_CLASS = "rename-claim", "use-storage-class"
RENAME_RESOURCE_CLAIM, RENAME_TEMPLATE = "rename-resource-claim", "rename-resource-claim-template"
MAKE_CLAIMS, USE_DEVICE_CLASS = "make-resource-claims", "use-device-class"
RENAME_ATTRIBUTE, RENAME_CONSTRAINT = "rename-device-attribute", "rename-device-constraint"
_REQUIRED = "required_during_scheduling_ignored_during_execution"
_replace = msgspec.structs.replace


class Typo(msgspec.Struct, frozen=True):
    """A name that is nowhere.

    Attributes:
        fact: what is not there, and what may have been meant.
        remedy: to use what may have been meant, None where nothing is similar.
        kind: the situation, as hints carry it.
        choices: where several names are equally similar, each with its remedy, `remedy` being the first.
    """

    fact: str
    remedy: Remedy | None
    kind: str
    choices: tuple[tuple[str, Remedy], ...] = ()


def misspelling(kind: str, fact: str, names: Sequence[str], use: Callable[[str], Remedy]) -> Typo:
    """Return a name that is nowhere, with a remedy for each of the names that may have been meant.

    Args:
        kind: the situation, as hints carry it.
        fact: what is not there.
        names: what may have been meant, none if nothing is similar.
        use: returns the remedy that uses a name.
    """
    choices = tuple((name, use(name)) for name in names[:FEW])
    first = choices[0][1] if choices else None
    return Typo(f"{fact}{did_you_mean(*names)}", first, kind, choices if len(choices) > 1 else ())


# -- labels and resources --------------------------------------------------------


def rename_label(key: str, other: str) -> Remedy:
    """Return that a label of nodes is called otherwise in node selector, node affinity and every topology key."""

    def rename(written: str) -> str:
        return other if written == key else written

    def edit(pod: pods.Pod) -> pods.Pod:
        selector = pod.spec.node_selector or {}
        constraints = [
            _replace(each, topology_key=rename(each.topology_key))
            for each in pod.spec.topology_spread_constraints or ()
        ]
        spec = _replace(
            pod.spec,
            node_selector={rename(name): value for name, value in selector.items()} or None,
            topology_spread_constraints=constraints or None,
        )
        pod = _map_node_requirements(_replace(pod, spec=spec), lambda each: _replace(each, key=rename(each.key)))
        return _map_pod_terms(pod, lambda term: _replace(term, topology_key=rename(term.topology_key)))

    return _typo(RENAME_LABEL, f"label {key} is called {other}", edit_pod(edit), key)


def replace_value(key: str, value: str, other: str) -> Remedy:
    """Return that the pod asks a label of nodes for another value, in its node selector and node affinity."""

    def replace(requirement: pods.NodeSelectorRequirement) -> pods.NodeSelectorRequirement:
        if requirement.key != key or not requirement.values:
            return requirement
        return _replace(requirement, values=[other if each == value else each for each in requirement.values])

    def edit(pod: pods.Pod) -> pods.Pod:
        selector = {
            name: other if (name, each) == (key, value) else each
            for name, each in (pod.spec.node_selector or {}).items()
        }
        return _map_node_requirements(_replace(pod, spec=_replace(pod.spec, node_selector=selector or None)), replace)

    return _typo(REPLACE_VALUE, f"it asks for {key}={other}", edit_pod(edit), (key, value))


def rename_resource(resource: str, other: str) -> Remedy:
    """Return that the pod asks for another resource."""

    def rename(requests: dict[str, Any]) -> dict[str, Any]:
        return {other if name == resource else name: requests[name] for name in requests}

    return _typo(RENAME_RESOURCE, f"it asks for {other}", edit_pod(lambda pod: map_requests(pod, rename)), resource)


def rename_node(name: str, other: str) -> Remedy:
    """Return that the node affinity asks for a node by another name."""

    def rename(written: pods.NodeSelectorRequirement) -> pods.NodeSelectorRequirement:
        return _replace(written, values=[other if each == name else each for each in written.values or ()] or None)

    def edit(pod: pods.Pod) -> pods.Pod:
        return _map_node_requirements(pod, rename, "match_fields")

    return _typo(RENAME_NODE, f"it asks for node {other}", edit_pod(edit), name)


def rename_pod_affinity_label(key: str, other: str) -> Remedy:
    """Return that the selectors of required pod affinity ask for another label."""

    def rename(selector: LabelSelector) -> LabelSelector:
        expressions = [
            _replace(each, key=other) if each.key == key else each for each in selector.match_expressions or ()
        ]
        labels = {other if name == key else name: value for name, value in (selector.match_labels or {}).items()}
        return _replace(selector, match_labels=labels or None, match_expressions=expressions or None)

    edit = edit_pod(lambda pod: _map_pod_selectors(pod, rename))
    return _typo(RENAME_POD_AFFINITY_LABEL, f"its pod affinity asks for label {other}", edit, key)


def replace_pod_affinity_label(key: str, value: str, other: str) -> Remedy:
    """Return that the selectors of required pod affinity ask for another value of a label."""

    def replace(written: str) -> str:
        return other if written == value else written

    def select(selector: LabelSelector) -> LabelSelector:
        labels = selector.match_labels or {}
        expressions = [
            _replace(each, values=[replace(value) for value in each.values])
            if each.key == key and each.values
            else each
            for each in selector.match_expressions or ()
        ]
        return _replace(
            selector,
            match_labels={name: replace(labels[name]) if name == key else labels[name] for name in labels} or None,
            match_expressions=expressions or None,
        )

    edit = edit_pod(lambda pod: _map_pod_selectors(pod, select))
    return _typo(REPLACE_POD_AFFINITY_LABEL, f"its pod affinity asks for {key}={other}", edit, (key, value))


def use_priority_class(name: str) -> Remedy:
    """Return that the pod is of another priority class, as admission resolves it."""

    def edit(pod: pods.Pod, cluster: Cluster) -> pods.Pod:
        spec = _replace(pod.spec, priority_class_name=name, priority=None, preemption_policy=None)
        return priorities.resolve(_replace(pod, spec=spec), cluster.every(PriorityClass))

    return _typo(USE_PRIORITY_CLASS, f"its priorityClassName is {name}", edit, name)


def use_runtime_class(name: str) -> Remedy:
    """Return that the pod is of another runtime class, with what admission adds for it."""

    def edit(pod: pods.Pod, cluster: Cluster) -> pods.Pod:
        spec = _replace(pod.spec, runtime_class_name=name)
        return _replace(pod, spec=admission.admit_spec(_replace(pod, spec=spec), cluster)[0])

    return _typo(USE_RUNTIME_CLASS, f"its runtimeClassName is {name}", edit, name)


# -- claims ----------------------------------------------------------------------


def rename_claim(name: str, other: str) -> Remedy:
    """Return that the pod mounts another claim."""

    def rename(volume: pods.Volume) -> pods.Volume:
        source = volume.persistent_volume_claim
        if source is None or source.claim_name != name:
            return volume
        return _replace(volume, persistent_volume_claim=_replace(source, claim_name=other))

    def edit(pod: pods.Pod) -> pods.Pod:
        volumes = [rename(volume) for volume in pod.spec.volumes or ()]
        return _replace(pod, spec=_replace(pod.spec, volumes=volumes or None))

    return _typo(RENAME_CLAIM, f"it mounts claim {other}", edit_pod(edit), name)


def rename_resource_claim(name: str, other: str) -> Remedy:
    """Return that the pod names another resource claim."""
    return _typo(
        RENAME_RESOURCE_CLAIM,
        f"it names resource claim {other}",
        edit_pod(lambda pod: _map_references(pod, "resource_claim_name", name, other)),
        name,
    )


def rename_template(name: str, other: str) -> Remedy:
    """Return that the pod names another claim template, of which the claims are then made."""

    def edit(pod: pods.Pod, cluster: Cluster) -> pods.Pod:
        return _make_claims(_map_references(pod, "resource_claim_template_name", name, other), cluster)

    return _typo(RENAME_TEMPLATE, f"it names claim template {other}", edit, name)


def make_claims() -> Remedy:
    """Return that the claim controller has made the pod's claims from their templates."""
    return _typo(MAKE_CLAIMS, "its claims are made", _make_claims, None)


def rename_attribute(claim: str, request: str, device_class: str, named: Named, other: Named) -> Remedy:
    """Return that selectors ask for another attribute or capacity of devices.

    They are those of a request of a claim, or with both "" those of a device class.
    """

    def rename(selector: DeviceSelector) -> DeviceSelector:
        if selector.cel is None:
            return selector
        text = re.sub(rf"(?<!\w){re.escape(named.name)}(?!\w)", other.name, selector.cel.expression)
        text = re.sub(rf"""(["']){re.escape(named.domain)}\1""", rf"\g<1>{other.domain}\g<1>", text)
        return _replace(selector, cel=_replace(selector.cel, expression=text))

    def edit(written: Any) -> Any:
        return _replace(written, selectors=[rename(each) for each in written.selectors or ()])

    def edit_class(written: DeviceClass) -> DeviceClass:
        return _replace(written, spec=edit(written.spec))

    whose = request_of(claim, request) if claim else f"class {device_class}"
    return _typo(
        RENAME_ATTRIBUTE,
        f"{whose} asks for {other.domain}/{other.name}",
        edit_object(DeviceClass, device_class, edit_class) if device_class else edit_request(claim, request, edit),
        (claim, request, device_class, named),
    )


def rename_constraint(claim: str, attribute: str, other: str) -> Remedy:
    """Return that a constraint of a claim is on another attribute of devices."""

    def rename(constraint: DeviceConstraint) -> DeviceConstraint:
        if constraint.match_attribute == attribute:
            return _replace(constraint, match_attribute=other)
        wrong = constraint.distinct_attribute == attribute
        return _replace(constraint, distinct_attribute=other) if wrong else constraint

    return _typo(
        RENAME_CONSTRAINT,
        f"claim {name_of(claim)} has its constraint on {other}",
        edit_devices(
            claim,
            lambda devices: _replace(devices, constraints=[rename(each) for each in devices.constraints or ()]),
        ),
        (claim, attribute),
    )


# -- edits -----------------------------------------------------------------------


def _typo(kind: str, condition: str, edit: Callable[[pods.Pod, Cluster], pods.Pod], subject: Any) -> Remedy:
    return Remedy(kind, condition, edit, effort=0, subject=subject, size=0)


def _make_claims(pod: pods.Pod, cluster: Cluster) -> pods.Pod:
    made, claims = generated_claims(pod, cluster)
    for claim in claims:
        cluster.put(claim)
    return made


def _map_references(pod: pods.Pod, field: str, name: str, other: str) -> pods.Pod:
    """Return a pod whose references to resource claims name another one in a field."""
    references = [
        _replace(each, **{field: other}) if getattr(each, field) == name else each
        for each in pod.spec.resource_claims or ()
    ]
    return _replace(pod, spec=_replace(pod.spec, resource_claims=references or None))


def _map_node_requirements(
    pod: pods.Pod,
    change: Callable[[pods.NodeSelectorRequirement], pods.NodeSelectorRequirement],
    field: str = "match_expressions",
) -> pods.Pod:
    affinity = pod.spec.affinity
    rules = affinity.node_affinity if affinity is not None else None
    required = rules.required_during_scheduling_ignored_during_execution if rules else None
    if affinity is None or rules is None or required is None:
        return pod

    def edit(term: pods.NodeSelectorTerm) -> pods.NodeSelectorTerm:
        return _replace(term, **{field: [change(each) for each in getattr(term, field) or ()] or None})

    terms = [edit(term) for term in required.node_selector_terms or ()]
    changed = _replace(rules, **{_REQUIRED: _replace(required, node_selector_terms=terms)})
    return _replace(pod, spec=_replace(pod.spec, affinity=_replace(affinity, node_affinity=changed)))


def _map_pod_selectors(pod: pods.Pod, change: Callable[[LabelSelector], LabelSelector]) -> pods.Pod:
    def edit(term: pods.PodAffinityTerm) -> pods.PodAffinityTerm:
        selector = term.label_selector
        return term if selector is None else _replace(term, label_selector=change(selector))

    return _map_pod_terms(pod, edit)


def _map_pod_terms(pod: pods.Pod, change: Callable[[pods.PodAffinityTerm], pods.PodAffinityTerm]) -> pods.Pod:
    affinity = pod.spec.affinity
    if affinity is None:
        return pod
    for field in ("pod_affinity", "pod_anti_affinity"):
        rules: pods.PodAffinity | None = getattr(affinity, field)
        terms = rules.required_during_scheduling_ignored_during_execution if rules else None
        if rules and terms:
            affinity = _replace(affinity, **{field: _replace(rules, **{_REQUIRED: [change(term) for term in terms]})})
    return _replace(pod, spec=_replace(pod.spec, affinity=affinity))
