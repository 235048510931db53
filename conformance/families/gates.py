"""Families that lean on what a feature gate switches on, which no case of the corpus has.

`prove_gates.py` asks about them with the gate on and off.
"""

from __future__ import annotations

from collections.abc import Callable

from families.cases import EFFECTS, Case, Manifest
from families.placement import image_volumes

NUMBERS = ["0", "7", "-3", "950", "9223372036854775807"]
NEARLY_NUMBERS = ["", "007", "+7", "-0", "-", "7.5", "9223372036854775808", "many"]
"""What Go or a person would read as a number, and kube-scheduler does not."""


def taint_numbers(c: Case) -> None:
    """Taints with numbers for values, tolerations with Lt and Gt, spreading that honours taints."""
    c.cluster(3, 12, taints=0.2)
    for node in c.nodes:
        if c.p(0.7):
            taints = node["spec"].setdefault("taints", [])
            taints += [
                {"key": key, "effect": c.pick(EFFECTS), "value": _value(c)} for key in c.some(["sla", "cost"], 1)
            ]
    c.existing(0, 12)
    for name, ns in c.pending(3):
        spec = {"tolerations": [_bound(c) for _ in range(c.r.randint(1, 4))]}
        if c.p(0.4):
            spec["topologySpreadConstraints"] = [c.spread() | {"nodeTaintsPolicy": "Honor"}]
        c.pod(name, ns=ns, **spec)


def _value(c: Case) -> str:
    return c.pick(NUMBERS if c.p(0.8) else NEARLY_NUMBERS)


def _bound(c: Case) -> Manifest:
    toleration = {"operator": c.pick(["Lt", "Gt", "Gt", "Lt", "Equal", "Exists"])}
    if toleration["operator"] != "Exists":
        toleration["value"] = _value(c)
    if c.p(0.85):
        toleration["key"] = c.pick(["sla", "cost"])
    if c.p(0.5):
        toleration["effect"] = c.pick(EFFECTS)
    return toleration


GATE_FAMILIES: dict[str, Callable[[Case], None]] = {
    family.__name__: family for family in (image_volumes, taint_numbers)
}
"""Those that say more with a gate set than by default, or of an older release."""

FAMILIES_OF_GATES: dict[str, tuple[str, ...]] = {
    "DRAAdminAccess": ("devices_advanced",),
    "DRAConsumableCapacity": ("devices_advanced", "devices_refused"),
    "DRADerivedAttributes": ("devices_derived",),
    "DRADeviceBindingConditions": ("devices_advanced", "devices_claims"),
    "DRADeviceCompatibilityGroups": ("devices_grouped",),
    "DRADeviceTaintRules": ("devices_advanced", "devices_refused"),
    "DRADeviceTaints": ("devices_advanced", "devices_refused"),
    "DRAExtendedResource": ("devices_extended",),
    "DRAFractionalCapacityRange": ("devices_fractional",),
    "DRAListTypeAttributes": ("devices_lists",),
    "DRANodeAllocatableResources": ("devices_charging", "devices"),
    "DRAOptionalNodeOperations": ("devices_unprepared",),
    "DRAPartitionableDevices": ("devices_advanced", "devices_refused"),
    "DRAPrioritizedList": ("devices", "devices_choices"),
    "DRAResourceClaimDeviceStatus": ("devices_advanced", "devices_claims"),
    "DRASchedulerFilterTimeout": ("devices_choices",),
    "DynamicResourceAllocation": ("devices", "devices_claims", "preemption"),
    "InPlacePodLevelResourcesVerticalScaling": ("pod_level",),
    "InPlacePodVerticalScaling": ("pod_level",),
    "InPlacePodVerticalScalingSchedulerPreemption": ("deferred_resizes", "pod_level"),
    "InterPodAffinityHostnameFastPath": ("podaffinity", "preemption"),
    "MatchLabelKeysInPodTopologySpread": ("spread",),
    "NodeDeclaredFeatures": ("declared_features",),
    "PodLevelResources": ("pod_level",),
    "StorageCapacityScoring": ("storage_scores",),
    "TaintTolerationComparisonOperators": ("taint_numbers",),
    "VolumeAttributesClass": ("volumes", "volume_states"),
    "VolumeLimitScaling": ("csi_limits",),
}
"""By gate the families whose answers it changes, or that at least go where it is read."""
