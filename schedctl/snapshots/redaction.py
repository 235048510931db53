"""Strict redaction: every text of an object is replaced by a token, unless its field is known to hold no name.

It fails closed: what is listed here is what *stays*, and a field that is added to a struct is replaced until somebody
lists it. `schedctl.snapshots.tokens` makes the tokens, `schedctl.snapshots.rewriters` applies the rules.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

import msgspec
from msgspec.structs import replace

from schedctl.api import (
    annotation_keys,
    autoscalers,
    devices,
    meta,
    node_labels,
    nodes,
    pod_groups,
    pods,
    policies,
    storage,
    topology,
    urls,
    workloads,
)
from schedctl.api.selectors import parse_int64
from schedctl.documents.autoscaler_status import read_status, write_status
from schedctl.snapshots.documents import STORED
from schedctl.snapshots.rewriters import Rewrite, Rewriter, fields_of, holds_text, structs_in
from schedctl.snapshots.tokens import Tokens

_replace = msgspec.structs.replace

KEPT: Final[Mapping[type[msgspec.Struct], str]] = {
    meta.OwnerReference: "api_version kind",
    meta.ObjectReference: "api_version kind",
    workloads.CrossVersionObjectReference: "api_version kind",
    devices.ResourceClaimConsumerReference: "api_group resource",
    pods.PodSpec: "preemption_policy restart_policy scheduler_name",
    pods.Container: "restart_policy",
    pods.ContainerPort: "protocol",
    pods.ContainerRestartRule: "action",
    pods.VolumeMount: "bind_mount_options",
    pods.PodAffinityTerm: "topology_key match_label_keys mismatch_label_keys",
    pods.TopologySpreadConstraint: (
        "topology_key when_unsatisfiable node_affinity_policy node_taints_policy match_label_keys"
    ),
    pods.PersistentVolumeClaimSpec: "access_modes volume_mode",
    pods.AzureDiskVolumeSource: "kind",
    pods.CSIVolumeSource: "driver",
    pods.PodOS: "name",
    pods.PodStatus: "phase reason resize",
    pods.PodCondition: "type status reason",
    nodes.NodeStatus: "declared_features",
    nodes.NodeCondition: "type status reason",
    nodes.NodeSystemInfo: "kubelet_version",
    policies.LimitRangeItem: "type",
    policies.ResourceQuotaSpec: "scopes",
    policies.ScopedResourceSelectorRequirement: "scope_name operator",
    policies.PodDisruptionBudgetSpec: "min_available max_unavailable unhealthy_pod_eviction_policy",
    policies.PriorityClass: "preemption_policy",
    pod_groups.PodGroupSpec: "preemption_policy",
    pod_groups.TopologyConstraint: "key",
    pod_groups.PodGroupCondition: "type status reason",
    workloads.UpdateStrategy: "type",
    workloads.RollingUpdate: "max_surge max_unavailable",
    workloads.StatefulSetSpec: "pod_management_policy",
    workloads.JobSpec: "completion_mode",
    workloads.CronJobSpec: "schedule",
    storage.PersistentVolumeSpec: "access_modes volume_mode",
    storage.PersistentVolumeAzureDisk: "kind",
    storage.CSIPersistentVolumeSource: "driver",
    storage.PersistentVolumeStatus: "phase",
    storage.PersistentVolumeClaimStatus: "phase access_modes",
    storage.StorageClass: "provisioner volume_binding_mode",
    storage.CSINodeDriver: "name topology_keys",
    storage.VolumeAttachmentSpec: "attacher",
    devices.ResourceSliceSpec: "driver skip_node_operations",
    devices.Device: "attributes capacity binding_conditions binding_failure_conditions",
    devices.DeviceAttribute: "string_value version_value string_values version_values",
    devices.DeviceCounterConsumption: "counters",
    devices.CounterSet: "counters",
    devices.NodeAllocatableMapping: "capacity_key",
    devices.DeviceTaint: "time_added",
    devices.DeviceTaintSelector: "driver",
    devices.ExactDeviceRequest: "allocation_mode",
    devices.DeviceSubRequest: "allocation_mode",
    devices.CapacityRequirements: "requests",
    devices.CELDeviceSelector: "expression",
    devices.DeviceDerivedAttribute: "name expression",
    devices.DeviceConstraint: "match_attribute distinct_attribute",
    devices.AllocationResult: "allocation_timestamp",
    devices.DeviceRequestAllocationResult: (
        "driver binding_conditions binding_failure_conditions consumed_capacity skip_node_operations"
    ),
    devices.AllocatedDeviceStatus: "driver",
    devices.DeviceCondition: "type status reason",
    autoscalers.NodeClassReference: "group kind",
    autoscalers.DisruptionBudget: "nodes reasons schedule duration",
    autoscalers.Disruption: "consolidation_policy consolidate_after",
    autoscalers.NodePoolCondition: "type status",
    autoscalers.KubeletReservations: "eviction_hard",
}
"""The fields that stay, by struct; numbers, quantities and times, which hold no text, stay without being listed.

The scheduler compares them with names of its own (drivers, schedulers, features, operating systems), they are one of a
few words (kinds, phases, policies, reasons), they are keys (of labels, taints, topologies, resources), or a token would
change what they mean: CEL expressions compare the attributes of devices with constants of their own.
"""

NAME_LABEL = "kubernetes.io/metadata.name"
"""The label of a namespace that holds its name."""
_PLACES = frozenset(topology.LABELS)
_ORDINALS = frozenset(
    (
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "controller.kubernetes.io/pod-deletion-cost",
        "deployment.kubernetes.io/revision",
    )
)
_UIDS = frozenset(("batch.kubernetes.io/controller-uid", "controller-uid"))
_IN_TREE = re.compile(r"kubernetes\.io/[a-z-]+")
_CLASS_IN_RESOURCE = re.compile(
    r"(?P<before>(?:requests\.)?deviceclass\.resource\.kubernetes\.io/)(?P<device>.+)"
    r"|(?P<storage>.+)(?P<after>\.storageclass\.storage\.k8s\.io/.+)"
    r"|(?P<owned>.+)(?P<end>\.deviceclass\.resource\.k8s\.io/.+)"
)
_GCE_HANDLE = re.compile(r"projects/([^/]+)/(zones|regions)/([^/]+)/disks/([^/]+)")
_EBS_ID = re.compile(r"vol-[^/]*")
_GENERATED_REQUEST = re.compile(r"container-\d+-request-\d+")
_AMOUNT = re.compile(r"[0-9]+(\.[0-9]+)?[A-Za-z]{0,2}")
_ORDINAL_END = re.compile(r"(.+)-(\d+)")
_tolerations = msgspec.json.Decoder(list[pods.Toleration])

_RESOURCE_LIST = fields_of(policies.ResourceQuotaSpec)["hard"]

Objects = Mapping[str, Sequence[Any]]
"""Objects by name of a kind."""


def redact(objects: Objects, key: bytes) -> dict[str, list[Any]]:
    """Return objects in which tokens stand for every name and value.

    Args:
        objects: what a snapshot keeps of them, see `schedctl.snapshots.allow_list`.
        key: of the hashes.
    """
    redaction = Redaction.of(objects, key)
    return {kind: [redaction(obj) for obj in found] for kind, found in objects.items()}


class LabelValues(msgspec.Struct, frozen=True):
    """What stands for the value of a label or taint, which depends on what the key is for.

    Attributes:
        tokens: what stands for what.
        compared: the label keys whose values are compared as integers.
    """

    tokens: Tokens
    compared: frozenset[str]

    def __call__(self, key: str, value: str) -> str:
        """Return what stands for a value."""
        if key == NAME_LABEL:
            return self.tokens.namespace(value)
        # Gt and Lt compare integers; ordinals are counted on, and made into names of pods and claims.
        if (key in self.compared and parse_int64(value) is not None) or (key in _ORDINALS and _is_integer(value)):
            return value
        if key in _UIDS:
            return self.tokens.uid(value)
        if key in _PLACES:
            return topology.ZONE_SEPARATOR.join(map(self.tokens.name, value.split(topology.ZONE_SEPARATOR)))
        return self.tokens.name(value)


class Redaction:
    """The rules, as a function of objects.

    Attributes:
        tokens: what stands for what.
        value: what stands for the value of a label or taint, by its key.

    Args:
        tokens: what stands for what.
        compared: the label keys whose values are compared as integers.
        groups: the names of groups of nodes, the longest first.
    """

    def __init__(self, tokens: Tokens, compared: frozenset[str], groups: Sequence[str] = ()) -> None:
        self.tokens, self.value = tokens, LabelValues(tokens, compared)
        names = "|".join(rf"(?<![A-Za-z0-9]){re.escape(each)}(?![A-Za-z0-9])" for each in groups)
        self._groups = re.compile(f"({names})") if names else None
        self._rewriting = Rewriter(self._fields(), self._structs())

    @classmethod
    def of(cls, objects: Objects, key: bytes) -> Self:
        """Return the rules for the objects of a snapshot, all of whose names have tokens."""
        tokens = Tokens(key, _composed_names(objects), _regional_zones(objects))
        redaction = cls(tokens, _compared_keys(objects), _names_of_groups(objects))
        # The rules go over everything twice: first only to collect the names, whose ranks are known when all are.
        for found in objects.values():
            for obj in found:
                redaction(obj)
        redaction.tokens.settle()
        return redaction

    def __call__(self, obj: Any) -> Any:
        """Return an object with every text replaced that is not known to be fit to be seen."""
        return self._rewriting(obj)

    # -- rules -------------------------------------------------------------------

    def _fields(self) -> dict[tuple[type[msgspec.Struct], str], Rewrite]:
        name = self.tokens.name
        particular: dict[tuple[type[msgspec.Struct], str], Rewrite] = {
            (meta.ObjectMeta, "namespace"): self.tokens.namespace,
            (meta.ObjectMeta, "generate_name"): self._prefix,
            (meta.ObjectMeta, "uid"): self.tokens.uid,
            (meta.ObjectMeta, "labels"): self._labels,
            (meta.ObjectMeta, "annotations"): self._annotations,
            (meta.OwnerReference, "uid"): self.tokens.uid,
            (meta.ObjectReference, "uid"): self.tokens.uid,
            (meta.ObjectReference, "namespace"): self.tokens.namespace,
            (devices.ResourceClaimConsumerReference, "uid"): self.tokens.uid,
            (meta.LabelSelector, "match_labels"): self._labels,
            (pods.PodSpec, "node_selector"): self._labels,
            (workloads.ServiceSpec, "selector"): self._labels,
            (workloads.ReplicationControllerSpec, "selector"): self._labels,
            (policies.RuntimeClassScheduling, "node_selector"): self._labels,
            (pods.PodAffinityTerm, "namespaces"): lambda texts: [*map(self.tokens.namespace, texts)],
            (pods.Container, "image"): self._image,
            (pods.ImageVolumeSource, "reference"): self._image,
            (nodes.ContainerImage, "names"): lambda texts: [*map(self._image, texts)],
            (pods.ContainerPort, "host_ip"): self._address,
            (pods.Volume, "name"): self._volume,
            (pods.VolumeMount, "name"): self._volume,
            (pods.PodCondition, "message"): lambda text: "",
            (pods.AWSElasticBlockStoreVolumeSource, "volume_id"): self._handle,
            (storage.PersistentVolumeDisk, "volume_id"): self._handle,
            (storage.CSIPersistentVolumeSource, "volume_handle"): self._handle,
            (pods.ContainerResourceClaim, "request"): self._request,
            (pods.ContainerExtendedResourceRequest, "request_name"): self._request,
            (pods.ContainerExtendedResourceRequest, "resource_name"): self._resource,
            (pods.NodeAllocatableMappedResources, "name"): self._resource,
            (pods.NodeAllocatableOverheadResources, "name"): self._resource,
            (devices.DeviceClassSpec, "extended_resource_name"): self._resource,
            (devices.DeviceRequest, "name"): self._request,
            (devices.DeviceSubRequest, "name"): self._request,
            (devices.DeviceConstraint, "requests"): lambda texts: [*map(self._request, texts)],
            (devices.DeviceRequestAllocationResult, "request"): self._request,
            (devices.Device, "node_allocatable_resources"): self._by_resource,
            (policies.PodDisruptionBudgetStatus, "disrupted_pods"): lambda pod_names: dict.fromkeys(
                map(name, pod_names)
            ),
            (autoscalers.Subnet, "zone"): lambda zone: self.value(topology.ZONE, zone),
            (autoscalers.ConfigMap, "data"): self._status,
        }
        kept = {(struct, field) for struct, fields in KEPT.items() for field in fields.split()}
        rules: dict[tuple[type[msgspec.Struct], str], Rewrite] = {}
        for struct in structs_in(*(kind.struct for kind in STORED)):
            for field, hint in fields_of(struct).items():
                if (struct, field) in particular:
                    rules[struct, field] = particular[struct, field]
                elif (struct, field) in kept:
                    continue
                elif hint == _RESOURCE_LIST:
                    rules[struct, field] = self._by_resource
                elif holds_text(hint):
                    rules[struct, field] = self._anything
        return rules

    def _structs(self) -> dict[type[msgspec.Struct], Rewrite]:
        requirements = (
            meta.LabelSelectorRequirement,
            pods.NodeSelectorRequirement,
            storage.TopologySelectorLabelRequirement,
            autoscalers.Requirement,
        )
        whole: dict[type[msgspec.Struct], Rewrite] = dict.fromkeys(requirements, self._requirement)
        whole |= {
            each: lambda one: _replace(one, value=self.value(one.key, one.value))
            for each in (nodes.Taint, pods.Toleration, devices.DeviceTaint, devices.DeviceToleration)
        }
        whole[meta.Namespace] = self._rename_rule(meta.Namespace, self.tokens.namespace)
        whole[storage.CSIDriver] = self._rename_rule(storage.CSIDriver, lambda text: text)
        return whole

    def _rename_rule(self, struct: type[msgspec.Struct], name: Callable[[str], str]) -> Rewrite:
        """Return the rule of a kind whose names are not like others: those of namespaces, or of drivers, which stay."""

        def rewrite(obj: Any) -> Any:
            # Without its name, so that the rule for names of all kinds does not see it.
            bare = _replace(obj, metadata=_replace(obj.metadata, name=""))
            change = self._rewriting.within(struct)
            after = change(bare) if change is not None else bare
            return _replace(after, metadata=_replace(after.metadata, name=name(obj.metadata.name)))

        return rewrite

    # -- texts -------------------------------------------------------------------

    def _anything(self, value: Any) -> Any:
        """Replace every text in a value of whatever shape."""
        if isinstance(value, str):
            return self.tokens.name(value)
        if isinstance(value, list):
            return [self._anything(each) for each in value]
        if isinstance(value, dict):
            return {self._anything(key): self._anything(each) for key, each in value.items()}
        return self._rewriting(value) if isinstance(value, msgspec.Struct) else value

    def _labels(self, labels: dict[str, str]) -> dict[str, str]:
        return {key: self.value(key, value) for key, value in labels.items()}

    def _requirement(self, one: Any) -> Any:
        return one if one.values is None else _replace(one, values=[self.value(one.key, each) for each in one.values])

    def _annotations(self, values: dict[str, str]) -> dict[str, str]:
        return {key: self._annotation(key, value) for key, value in values.items()}

    def _annotation(self, key: str, value: str) -> str:
        if key in (annotation_keys.NODE_SELECTOR, annotation_keys.MACHINE_LABELS):
            pairs = (each.partition("=") for each in value.split(","))
            return ",".join(f"{label}{equals}{self.value(label.strip(), text)}" for label, equals, text in pairs)
        if key in (annotation_keys.TOLERATIONS, annotation_keys.ALLOWED_TOLERATIONS):
            try:
                found = _tolerations.decode(value or "[]")
            except msgspec.DecodeError:
                return self.tokens.name(value)
            return msgspec.json.encode([self._rewriting(each) for each in found]).decode()
        if key == annotation_keys.MIGRATED_PLUGINS:
            listed = value.split(",")
            return ",".join(each if _IN_TREE.fullmatch(each) else self.tokens.name(each) for each in listed)
        if key == annotation_keys.PROVISIONED_BY:
            return value
        return self._machine_annotation(key, value)

    def _machine_annotation(self, key: str, value: str) -> str:
        """Return what stands for an annotation that autoscalers read of machines, or of their nodes."""
        if key == annotation_keys.MACHINE:  # namespace/name, which begins with that of the MachineSet
            namespace, _, machine = value.rpartition("/")
            return f"{self.tokens.namespace(namespace)}/{self.tokens.name(machine.rpartition('-')[0])}-0"
        if key == annotation_keys.MACHINE_TAINTS:
            found = [each.strip().rpartition(":") for each in value.split(",")]
            taints = [(*taint.partition("="), effect) for taint, _, effect in found]
            return ",".join(
                f"{label}{equals}{self.value(label, text)}:{effect}" for label, equals, text, effect in taints
            )
        if key == annotation_keys.MACHINE_GPU_TYPE:
            return self._resource(value)
        if key in annotation_keys.MACHINE_AMOUNTS and _AMOUNT.fullmatch(value):
            return value
        return self.value(key, value)

    def _status(self, data: dict[str, str]) -> dict[str, str]:
        """Return the status of Cluster Autoscaler; in the names of its groups those of the cluster are still found."""

        def name(text: str) -> str:
            parts = self._groups.split(text) if self._groups is not None else [text]
            return "-".join(self.tokens.name(part) for part in parts if part.strip("-/"))

        return {
            key: write_status(replace(group, name=name(group.name)) for group in read_status(text))
            for key, text in data.items()
            if key == "status"
        }

    def _prefix(self, text: str) -> str:
        return f"{self.tokens.name(text[:-1])}-" if text.endswith("-") else self.tokens.name(text)

    def _image(self, text: str) -> str:
        """Return what stands for an image: with a tag where there is one, as ``:latest`` is what one without means."""
        if text.rfind(":") <= text.rfind("/"):
            return self.tokens.name(text)
        name, latest = text.removesuffix(":latest"), text.endswith(":latest")
        return f"{self.tokens.name(name)}:latest" if latest else f"{self.tokens.name(text)}:tag"

    def _volume(self, text: str) -> str:
        """Return what stands for the name of a volume: in that of a claim, numbers stay."""
        return text if text.isdecimal() else self.tokens.name(text)

    def _address(self, text: str) -> str:
        """Return what stands for an address: another one, unless it is that of every host or of the host itself."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return self.tokens.name(text)
        if address.is_unspecified or address.is_loopback:
            return text
        # An address still has to be one, so the hash becomes one of fd00::/8, which is for private networks.
        digits = self.tokens.uid(text).removeprefix("u-")
        return str(ipaddress.IPv6Address(int(digits, 16) | 0xFD << 120)) if digits != text else text

    def _handle(self, text: str) -> str:
        """Return what stands for a disk: the parts of it by which CSI migration finds it again are kept apart."""
        name = self.tokens.name
        if found := _GCE_HANDLE.fullmatch(text):
            project, level, place, disk = found.groups()
            return f"projects/{name(project)}/{level}/{name(place)}/disks/{name(disk)}"
        if not text.startswith("aws://"):
            return f"vol-{name(text)}" if _EBS_ID.fullmatch(text) else name(text)
        zone, _, _ = text.removeprefix("aws://").partition("/")
        try:
            handle = urls.path_of(text).strip("/")
        except ValueError:
            handle = text
        return f"aws://{name(zone)}/{self._handle(handle) if handle != text else name(text)}"

    def _request(self, text: str) -> str:
        """Return what stands for a request, or for an alternative in one; those the scheduler writes are numbered."""
        parts = text.split("/")
        return "/".join(each if _GENERATED_REQUEST.fullmatch(each) else self.tokens.name(each) for each in parts)

    def _resource(self, text: str) -> str:
        """Return a resource name without the name of a class that some have in them."""
        found = _CLASS_IN_RESOURCE.fullmatch(text)
        if found is None:
            return text
        if found["device"] is not None:
            return found["before"] + self.tokens.name(found["device"])
        if found["storage"] is not None:
            return self.tokens.name(found["storage"]) + found["after"]
        return self.tokens.name(found["owned"]) + found["end"]

    def _by_resource(self, amounts: dict[str, Any]) -> dict[str, Any]:
        return {self._resource(name): amount for name, amount in amounts.items()}


def _composed_names(objects: Objects) -> set[tuple[str, ...]]:
    """Return what names are made of: those of pods and claims of StatefulSets, of ephemeral volumes, of machines."""
    made: set[tuple[str, ...]] = set()
    for pod in objects.get("Pod", ()):
        owner, ordinal = meta.controller_of(pod), _ORDINAL_END.fullmatch(pod.metadata.name)
        if owner is not None and owner.kind == "StatefulSet" and ordinal and ordinal[1] == owner.name:
            made.add((owner.name, ordinal[2]))
        made |= {(pod.metadata.name, volume.name) for volume in pod.spec.volumes or () if volume.ephemeral is not None}
    templates = {
        (each.metadata.namespace, f"{template.metadata.name}-{each.metadata.name}"): (
            template.metadata.name,
            each.metadata.name,
        )
        for each in objects.get("StatefulSet", ())
        for template in each.spec.volume_claim_templates or ()
    }
    for claim in objects.get("PersistentVolumeClaim", ()):
        ordinal = _ORDINAL_END.fullmatch(claim.metadata.name)
        parts = templates.get((claim.metadata.namespace, ordinal[1])) if ordinal else None
        if ordinal and parts:
            made.add((*parts, ordinal[2]))
    return made | _names_of_machine_sets(objects)


def _names_of_machine_sets(objects: Objects) -> set[tuple[str, ...]]:
    """Return what the names of MachineSets are made of that nodes name, by which their MachineDeployment is known."""
    named = {
        (node.metadata.annotations or {}).get(annotation_keys.MACHINE_OWNER, "") for node in objects.get("Node", ())
    }
    deployments = [each.metadata.name for each in objects.get("MachineDeployment", ())]
    return {
        (deployment, machine_set.removeprefix(f"{deployment}-"))
        for deployment in deployments
        for machine_set in named
        if machine_set.startswith(f"{deployment}-")
    }


def _regional_zones(objects: Objects) -> set[str]:
    """Return the zones of GCE disks that are in several, from which the scheduler makes a region."""
    return {
        zone
        for volume in objects.get("PersistentVolume", ())
        if volume.spec.gce_persistent_disk is not None
        for key, value in (volume.metadata.labels or {}).items()
        if key in _PLACES and topology.ZONE_SEPARATOR in value
        for zone in value.split(topology.ZONE_SEPARATOR)
        if zone.count("-") == 2
    }


def _compared_keys(objects: Objects) -> frozenset[str]:
    """Return the label keys whose values some selector compares as integers."""
    keys: set[str] = set()

    def note(one: Any) -> Any:
        if one.operator in ("Gt", "Lt", "Gte", "Lte"):
            keys.add(one.key)
        return one

    collector = Rewriter({}, {pods.NodeSelectorRequirement: note, autoscalers.Requirement: note})
    for found in objects.values():
        for obj in found:
            collector(obj)
    return frozenset(keys)


def _names_of_groups(objects: Objects) -> list[str]:
    """Return what groups of nodes are called, the longest name first; a cloud's name of a group holds it."""
    labels = [node.metadata.labels or {} for node in objects.get("Node", ())]
    names = {found for each in labels for key in node_labels.POOL_LABELS if (found := each.get(key))}
    for kind in ("NodePool", "MachineDeployment", "MachineSet", "MachinePool"):
        names |= {obj.metadata.name for obj in objects.get(kind, ())}
    return sorted(names, key=lambda name: (-len(name), name))


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
