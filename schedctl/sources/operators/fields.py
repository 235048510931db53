"""The fields of a custom resource, taken by their type; and the parts that operators put objects together from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from schedctl.documents.findings import Finding, Path, describe_value

Manifest = dict[str, Any]
"""An object as its fields are written in YAML."""
IMAGE = "image-of-the-operator"
"""Stands for the image that an operator fills in; no node has it, so it scores no node."""
_Value = TypeVar("_Value")


class FieldError(Exception):
    """A field of a custom resource has another type than its operator expects."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Fields:
    """A mapping in a custom resource.

    Attributes:
        value: the mapping.
        path: where it is.
        company: of a resource, the others that its operator looks at.
    """

    def __init__(self, value: dict[str, Any], path: Path = (), company: Sequence[Fields] = ()) -> None:
        self.value, self.path, self.company = value, path, company

    def __contains__(self, name: str) -> bool:
        return self.value.get(name) is not None

    def at(self, *names: str) -> Fields:
        """Return the mapping below, an empty one where there is none."""
        found = self
        for name in names:
            found = Fields(found._take(name, dict, {}, "a mapping"), (*found.path, name))
        return found

    def text(self, name: str, default: str = "") -> str:
        """Return a text, the default where there is none or an empty one."""
        return self._take(name, str, default, "text") or default

    def required(self, name: str) -> str:
        """Return a text that has to be there."""
        found = self.text(name)
        if not found:
            raise FieldError(Finding((*self.path, name), f'the field "{name}" is required'))
        return found

    def truth(self, name: str, default: bool = False) -> bool:
        """Return true or false."""
        return self._take(name, bool, default, "true or false")

    def number(self, name: str, default: int) -> int:
        """Return a number of things, at least 0."""
        found = self._take(name, int, default, "a number")
        if isinstance(found, bool) or not 0 <= found < 1 << 31:
            raise FieldError(Finding((*self.path, name), f"expected a number, got {describe_value(found)}"))
        return found

    def each(self, name: str) -> list[Fields]:
        """Return the mappings of a list."""
        found = self.items(name)
        for index, item in enumerate(found):
            if not isinstance(item, dict):
                where = (*self.path, name, index)
                raise FieldError(Finding(where, f"expected a mapping, got {describe_value(item)}"))
        return [Fields(item, (*self.path, name, index)) for index, item in enumerate(found)]

    def items(self, name: str) -> list[Any]:
        """Return a list, an empty one where there is none."""
        return self._take(name, list, [], "a list")

    def copied(self, *names: str) -> Manifest:
        """Return those of these fields that are given, as they are: whoever reads the object checks them."""
        return {name: self.value[name] for name in names if self.value.get(name) is not None}

    def _take(self, name: str, kind: type[_Value], default: _Value, expected: str) -> _Value:
        found = self.value.get(name)
        if found is None:
            return default
        if not isinstance(found, kind):
            raise FieldError(Finding((*self.path, name), f"expected {expected}, got {describe_value(found)}"))
        return found


def name_of(resource: Fields) -> str:
    """Return the name of a custom resource; of one with ``generateName``, its beginning without the hyphen."""
    metadata = resource.at("metadata")
    return metadata.text("name") or metadata.text("generateName").rstrip("-")


def service(name: str, selector: Mapping[str, str]) -> Manifest:
    """Return a Service, of which default spreading reads the selector."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"clusterIP": "None", "selector": dict(selector)},
    }


def stateful_set(
    name: str,
    replicas: int,
    selector: Mapping[str, str],
    template: Manifest,
    claims: Iterable[Manifest] = (),
    **more: Any,
) -> Manifest:
    """Return a StatefulSet whose pods do not wait for each other; more fields of its spec may be given."""
    spec = {
        "replicas": replicas,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": dict(selector)},
        "template": template,
        "volumeClaimTemplates": list(claims),
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": {**spec, **more}}


def stateful_pod(owner: Manifest, ordinal: int, labels: Mapping[str, str], **spec: Any) -> Iterator[Manifest]:
    """Yield the claims and the pod of an ordinal, for StatefulSets whose pods a webhook tells apart.

    Args:
        owner: the StatefulSet; it makes no pods besides.
        ordinal: of the pod.
        labels: of this pod alone.
        spec: fields of its spec that are its own.
    """
    name, template = f"{owner['metadata']['name']}-{ordinal}", owner["spec"]["template"]
    identity = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
    claims = owner["spec"]["volumeClaimTemplates"]
    volumes = [claim_volume(each["metadata"]["name"], f"{each['metadata']['name']}-{name}") for each in claims]
    claimed = [volume["name"] for volume in volumes]
    volumes += [volume for volume in template["spec"].get("volumes") or () if volume.get("name") not in claimed]
    for each in claims:
        yield claim(f"{each['metadata']['name']}-{name}", each.get("spec") or {})
    metadata = {**template["metadata"], "name": name, "ownerReferences": [controlled_by(owner)]}
    metadata["labels"] = {**template["metadata"]["labels"], **identity, **labels}
    yield {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**template["spec"], "volumes": volumes, **spec},
    }


def controlled_by(owner: Manifest) -> Manifest:
    """Return the reference to the controller of an object."""
    name = owner["metadata"]["name"]
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name, "controller": True}


def claim(name: str, spec: Manifest) -> Manifest:
    """Return a PersistentVolumeClaim."""
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def claim_volume(name: str, claim_name: str) -> Manifest:
    """Return a volume of a pod that is a claim."""
    return {"name": name, "persistentVolumeClaim": {"claimName": claim_name}}


def deployment(name: str, replicas: int, selector: Mapping[str, str], template: Manifest) -> Manifest:
    """Return a Deployment."""
    spec = {"replicas": replicas, "selector": {"matchLabels": dict(selector)}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def disruption_budget(name: str, spec: Manifest) -> Manifest:
    """Return a PodDisruptionBudget."""
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}


def with_metadata(
    template: Fields, labels: Mapping[str, str], annotations: Mapping[str, str] | None = None, **spec: Any
) -> Manifest:
    """Return a pod template with more labels and annotations, which win, and with other fields of its spec."""
    metadata = template.at("metadata")
    return {
        "metadata": {
            "labels": {**metadata.at("labels").value, **labels},
            "annotations": {**metadata.at("annotations").value, **(annotations or {})},
        },
        "spec": {**template.at("spec").value, **spec},
    }


def with_containers(operator: list[Manifest], stated: list[Fields]) -> list[Any]:
    """Return the operator's containers under the stated ones of their names, and then the other stated ones."""
    by_name = {container.text("name"): container.value for container in stated}
    names = {container["name"] for container in operator}
    merged: list[Any] = [{**container, **by_name.get(container["name"], {})} for container in operator]
    return merged + [container.value for container in stated if container.text("name") not in names]


def with_node_requirement(affinity: Fields, requirement: Manifest) -> Manifest:
    """Return an affinity of nodes that fulfil a requirement in each of the terms that are given."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    node_affinity = affinity.at("nodeAffinity")
    stated = node_affinity.at(required).each("nodeSelectorTerms")
    terms = [{**term.value, "matchExpressions": [*term.items("matchExpressions"), requirement]} for term in stated]
    merged = {"nodeSelectorTerms": terms or [{"matchExpressions": [requirement]}]}
    return {**affinity.value, "nodeAffinity": {**node_affinity.value, required: merged}}


def with_exclusive_affinity(spec: Fields, key: str, value: str, topology: str, **more: Any) -> Manifest:
    """Return the affinity of a pod that shares a domain with its own group and with no other.

    Args:
        spec: of the pod.
        key: the label that tells groups apart.
        value: of the pod's own group.
        topology: the label whose values are the domains.
        more: other fields of both terms.
    """
    affinity = spec.at("affinity")
    of_group = {"key": key, "operator": "In", "values": [value]}
    other = [{"key": key, "operator": "Exists"}, {"key": key, "operator": "NotIn", "values": [value]}]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = {"podAffinity": [of_group], "podAntiAffinity": other}
    result = dict(affinity.value)
    for name, expressions in terms.items():
        stated = affinity.at(name)
        term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology, **more}
        result[name] = {**stated.value, required: [*stated.items(required), term]}
    return result
