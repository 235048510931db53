"""Devices: what nodes and the network offer (slices), what pods ask for (claims), and the classes in between.

Dynamic resource allocation (``resource.k8s.io/v1``) as far as kube-scheduler's allocator reads it; opaque driver
configuration never decides anything and is not read. Fields of features that v1.37 has off by default are kept where
their mere presence changes an answer (derived attributes, compatibility groups, node-allocatable resources).
"""

from __future__ import annotations

import msgspec

from schedctl.api.meta import Int64, ObjectMeta, Quantity, Struct
from schedctl.api.pods import NodeSelector

IN_MEMORY_NAME = "<extended-resources>"
"""What the claim for a pod's extended resources is called until it is written; no object can have this name."""


class CELDeviceSelector(Struct, frozen=True):
    """A CEL expression that must be true of a device."""

    expression: str = ""


class DeviceSelector(Struct, frozen=True):
    """One condition on a device; CEL is the only kind there is."""

    cel: CELDeviceSelector | None = None


class DeviceTaint(Struct, frozen=True):
    """A taint on a device: NoSchedule, NoExecute or, without effect on scheduling, None."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class DeviceToleration(Struct, frozen=True):
    """What a request tolerates; without an operator it is Equal, without a key and with Exists it tolerates all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


# --- What there is -----------------------------------------------------------------------------------------------


class DeviceAttribute(Struct, frozen=True):
    """A typed value: exactly one field is set. The lists are of the (alpha) list-typed attributes."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: list[Int64] | None = msgspec.field(default=None, name="ints")
    bool_values: list[bool] | None = msgspec.field(default=None, name="bools")
    string_values: list[str] | None = msgspec.field(default=None, name="strings")
    version_values: list[str] | None = msgspec.field(default=None, name="versions")


class CapacityRequestPolicyRange(Struct, frozen=True):
    """The portions of a capacity that can be asked for: from ``min`` in steps up to ``max``."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Struct, frozen=True):
    """How a request for a shared device's capacity is rounded, and what it is when nothing is asked."""

    default: Quantity | None = None
    valid_values: list[Quantity] | None = None
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Struct, frozen=True):
    """An amount a device has."""

    value: Quantity = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(Struct, frozen=True):
    """An amount of something that partitions share."""

    value: Quantity = "0"


class CounterSet(Struct, frozen=True):
    """The counters that the devices of a pool draw from."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class DeviceCounterConsumption(Struct, frozen=True):
    """What a device takes from a counter set while it is allocated."""

    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: list[str] | None = None


class NodeAllocatableMapping(Struct, frozen=True):
    """Which capacity of a device stands for the node resource, and how many units it is worth."""

    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(Struct, frozen=True):
    """What using a device costs on top, in units of the node resource."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResource(Struct, frozen=True):
    """How a device shows in a node's allocatable resources (alpha)."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class Device(Struct, frozen=True):
    """``resource.k8s.io/v1.Device``; attributes and capacity are keyed by name, with or without the driver's domain.

    It may be partitioned (it consumes counters that the devices of its pool share), shared (several claims take
    portions of its capacity), tainted, or ready only after its binding conditions hold.
    """

    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: list[DeviceCounterConsumption] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: list[DeviceTaint] | None = None
    binds_to_node: bool | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: dict[str, NodeAllocatableResource] | None = None


class ResourcePool(Struct, frozen=True):
    """Which pool a slice belongs to, in which generation, and of how many slices that one consists.

    A pool is all slices of one driver and pool name that have the newest generation.
    """

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceSliceSpec``; one of the four node fields says from where the devices are reached."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: list[Device] | None = None
    shared_counters: list[CounterSet] | None = None
    skip_node_operations: list[str] | None = None


class ResourceSlice(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceSlice``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceClassSpec(Struct, frozen=True):
    """``resource.k8s.io/v1.DeviceClassSpec``; pods may also ask for the class by its extended resource name."""

    selectors: list[DeviceSelector] | None = None
    extended_resource_name: str | None = None


class DeviceClass(Struct, frozen=True):
    """``resource.k8s.io/v1.DeviceClass``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceTaintSelector(Struct, frozen=True):
    """The devices a rule taints; what is absent is not compared. v1.34 knows a class and selectors, too."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    device_class_name: str | None = None
    selectors: list[DeviceSelector] | None = None


class DeviceTaintRuleSpec(Struct, frozen=True):
    """``resource.k8s.io/v1.DeviceTaintRuleSpec``; without a selector it taints nothing, before v1.37 all."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(Struct, frozen=True):
    """``resource.k8s.io/v1.DeviceTaintRule``: an administrator's taint on devices of any driver."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


# --- What is asked for -------------------------------------------------------------------------------------------


class CapacityRequirements(Struct, frozen=True):
    """How much of which capacity a request needs."""

    requests: dict[str, Quantity] | None = None


class DeviceDerivedAttribute(Struct, frozen=True):
    """An attribute computed from others (alpha); kube-scheduler refuses it while the feature is off."""

    name: str = ""
    expression: str = ""


class DeviceSubRequest(Struct, frozen=True):
    """One alternative of a request's ``firstAvailable``."""

    name: str = ""
    device_class_name: str = ""
    selectors: list[DeviceSelector] | None = None
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: list[DeviceToleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] | None = None


class ExactDeviceRequest(Struct, frozen=True):
    """Devices of one class: ``count`` of them (ExactCount) or every one (All)."""

    device_class_name: str = ""
    selectors: list[DeviceSelector] | None = None
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] | None = None
    capacity: CapacityRequirements | None = None
    derived_attributes: list[DeviceDerivedAttribute] | None = None


class DeviceRequest(Struct, frozen=True):
    """A named request: exactly one thing, or the first of several that is available."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: list[DeviceSubRequest] | None = None


class DeviceConstraint(Struct, frozen=True):
    """What the devices of several requests must have in common, or must not."""

    requests: list[str] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(Struct, frozen=True):
    """The requests of a claim and the constraints among them."""

    requests: list[DeviceRequest] | None = None
    constraints: list[DeviceConstraint] | None = None


class ResourceClaimSpec(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceClaimSpec``."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Struct, frozen=True):
    """A device, or a share of one, that a claim holds."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] | None = None
    skip_node_operations: list[str] | None = None


class DeviceAllocationResult(Struct, frozen=True):
    """All devices a claim holds."""

    results: list[DeviceRequestAllocationResult] | None = None


class AllocationResult(Struct, frozen=True):
    """What a claim was given, and the nodes from which it can be used."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(Struct, frozen=True):
    """Who may use a claim, usually a pod."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(Struct, frozen=True):
    """A condition that a driver reports of an allocated device; binding waits for some and gives up on others."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class AllocatedDeviceStatus(Struct, frozen=True):
    """What a driver says of a device that a claim holds."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: list[DeviceCondition] | None = None


class ResourceClaimStatus(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceClaimStatus``; a claim without an allocation is still to be satisfied."""

    allocation: AllocationResult | None = None
    reserved_for: list[ResourceClaimConsumerReference] | None = None
    devices: list[AllocatedDeviceStatus] | None = None


class ResourceClaim(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceClaim``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Struct, frozen=True):
    """The claim that is made for each pod."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Struct, frozen=True):
    """``resource.k8s.io/v1.ResourceClaimTemplate``."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
