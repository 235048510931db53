"""The page of versions: what changed in scheduling decisions from the oldest release to the newest."""

from __future__ import annotations

from collections.abc import Iterator

from docs._reference.markdown import GENERATED, code, sentence, table
from schedctl.releases import NEWEST, OLDEST, RELEASES, Gate, Release, ReleaseChange, gates_of
from schedctl.releases.gates import DECISIVE, MODELLED

GATES: dict[str, tuple[int | None, str]] = {
    "DRAAdminAccess": (5018, "requests may name admin access; while it is off, that ends the cycle in an error"),
    "DRAConsumableCapacity": (5075, "a device can be shared, and each share takes a part of its capacity"),
    "DRADerivedAttributes": (6080, "constraints compare attributes that a request computes from those of a device"),
    "DRADeviceBindingConditions": (5007, "a pod is bound once the conditions of its devices are met"),
    "DRADeviceCompatibilityGroups": (
        5963,
        "devices that draw on the same counters need a compatibility group in common; while it is off, their pool is"
        " ignored",
    ),
    "DRADeviceTaintRules": (5055, "DeviceTaintRules taint devices"),
    "DRADeviceTaints": (5055, "a tainted device is only allocated to claims that tolerate the taint"),
    "DRAExtendedResource": (5004, "devices can answer requests for an extended resource"),
    "DRAFractionalCapacityRange": (5075, "a share of a device is rounded to thousandths, not to whole units"),
    "DRAListTypeAttributes": (
        5491,
        "constraints compare attributes that are lists by the values they have in common; in v1.36 selectors see them",
    ),
    "DRANodeAllocatableResources": (
        5517,
        "devices that stand for CPU or memory of their node, or cost some, leave less of it; while it is off, they take"
        " nothing",
    ),
    "DRAOptionalNodeOperations": (
        5945,
        "a device that needs no work on the node is given out on nodes that declare the feature",
    ),
    "DRAPartitionableDevices": (4815, "devices are partitions that draw on shared counters"),
    "DRAPrioritizedList": (4816, "requests may have alternatives; while it is off, such a pod is rejected"),
    "DRAResourceClaimDeviceStatus": (4817, "drivers report on devices in claims, which binding conditions need"),
    "DRASchedulerFilterTimeout": (
        4381,
        "the search for devices on a node ends after ten seconds; schedctl counts steps, and says so",
    ),
    "DRAWorkloadResourceClaims": (5729, "a claim may be that of a PodGroup, and is reserved for the group then"),
    "DynamicResourceAllocation": (
        4381,
        "claims of devices are looked at; while it is off, pods are placed as if without",
    ),
    "GenericWorkload": (4671, "the pods of a PodGroup are scheduled as one; while it is off, each by itself"),
    "InPlacePodLevelResourcesVerticalScaling": (5419, "resizes of the resources of a pod as a whole count"),
    "InPlacePodVerticalScaling": (1287, "what the kubelet has granted to a container that is resized counts"),
    "InPlacePodVerticalScalingSchedulerPreemption": (
        5836,
        "a running pod whose resize is deferred preempts others on its node; whole runs leave that out",
    ),
    "InterPodAffinityHostnameFastPath": (None, "affinity by host name is looked up on the node; no decision changes"),
    "MatchLabelKeysInPodTopologySpread": (3243, "topology spread counts only pods with the same values of some labels"),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": (
        3243,
        "the API server writes these values into the selector when it creates the pod",
    ),
    "NodeDeclaredFeatures": (5328, "a node without a declared feature that the pod needs is rejected"),
    "NominatedNodeNameForExpectation": (5278, "a pod is nominated to its node while Permit or PreBind take time"),
    "OpportunisticBatching": (5598, "the node order of a pod may be reused for an equal one"),
    "PodGroupPreemptionPolicy": (
        5710,
        "the preemption policy of a PodGroup is that of its PriorityClass, and its pods have to share it",
    ),
    "PodLevelResources": (2837, "requests and limits of a pod as a whole count"),
    "SchedulerAsyncPreemption": (4832, "a pod that preempts waits in PreEnqueue until its victims are told to go"),
    "SchedulerPopFromBackoffQ": (5142, "pods that back off are tried while no other pod is active"),
    "StorageCapacityScoring": (4049, "VolumeBinding scores nodes by the storage capacity they have left"),
    "TaintTolerationComparisonOperators": (5471, "tolerations with Lt and Gt cover taints with numbers beyond a bound"),
    "TopologyAwareWorkloadScheduling": (5732, "a PodGroup with a topology key goes to nodes that have one value of it"),
    "VolumeAttributesClass": (3751, "a claim may name a VolumeAttributesClass; while it is off, that is an error"),
    "VolumeLimitScaling": (5030, "a node without the CSI driver of a volume can be rejected"),
}
"""What gates do that can be set, or are on in some releases only: their KEP, if any, and what they change."""

CASES = {
    ReleaseChange.SCORED_DEVICES: "devices-0",
    ReleaseChange.UNNAMED_FEATURES: "declared_features-0",
    ReleaseChange.HOST_USER_NAMESPACES: "declared_features-1",
    ReleaseChange.BIND_MOUNT_OPTIONS: "declared_features-0",
    ReleaseChange.OPT_IN_DRIVERS: "csi_limits-0",
    ReleaseChange.SILENT_DEVICES: "resources-1",
    ReleaseChange.RESIZED_SUMS: "pod_level-2",
    ReleaseChange.PREEMPTION_MESSAGE: "preemption-0",
    ReleaseChange.DEVICE_ERRORS: "devices_claims-0",
    ReleaseChange.COUNTERS_BY_NODE: "devices_advanced-0",
    ReleaseChange.WHOLE_POOLS: "devices_advanced-0",
    ReleaseChange.WHOLE_REQUESTS: "devices_advanced-69",
    ReleaseChange.BALANCE_IMPROVEMENT: "resources-0",
    ReleaseChange.CAPITAL_POD: "devices_claims-48",
    ReleaseChange.PAIRED_ALLOCATIONS: "devices-3",
    ReleaseChange.SPARED_VICTIMS: "preemption_pdb-0",
    ReleaseChange.DISTINCT_VALUES: "devices_advanced-1",
    ReleaseChange.KNOWN_TAINT_EFFECTS: "devices_advanced-8",
    ReleaseChange.SELECTED_TAINTS: "devices_advanced-37",
}
"""Recorded cases, of ``conformance/corpus/v1.37.1``, that show a change: without it alone the answer is another one."""

_SHARED = "DRAConsumableCapacity=true,DRADeviceTaints=true,DRAPartitionableDevices=true"
ANSWERS: dict[ReleaseChange, tuple[str, str, str]] = {
    ReleaseChange.COUNTERS_BY_DRIVER: ("devices_namesakes-1", "1.36", ""),
    ReleaseChange.OWN_ALTERNATIVES: ("devices_choices-4", "1.34", ""),
    ReleaseChange.DERIVED_ATTRIBUTES: ("devices_derived-0", "1.34", ""),
    ReleaseChange.LIST_ATTRIBUTES: ("devices_derived-0", "1.34", ""),
    ReleaseChange.PLAIN_ALLOCATOR: ("devices_derived-0", "1.34", ""),
    ReleaseChange.EVERY_VALUE: ("devices_derived-1", "1.37", "DRADerivedAttributes=true,DRAListTypeAttributes=true"),
    ReleaseChange.PLAIN_TAINT_RULES: ("devices_ruled-0", "1.34", "DRADeviceTaints=true"),
    ReleaseChange.SHARED_EXTENDED_RESOURCES: ("devices_extended-0", "1.34", "DRAExtendedResource=true"),
    ReleaseChange.OWN_CAPACITY: ("devices_fractional-3", "1.36", ""),
    ReleaseChange.COMPATIBILITY_GROUPS: ("devices_grouped-0", "1.34", ""),
    ReleaseChange.CLEAN_REFUSALS: ("devices_grouped-0", "1.36", ""),
    ReleaseChange.COUNTERS_BY_POOL: ("devices_grouped-0", "1.36", ""),
    ReleaseChange.FIRST_SHARE_DRAWS: ("devices_grouped-1", "1.36", ""),
    ReleaseChange.ALL_SHARES: ("devices_grouped-3", "1.37", "DRADeviceCompatibilityGroups=true"),
    ReleaseChange.COUNTED_SHARES: ("devices_grouped-9", "1.36", ""),
    ReleaseChange.GATED_TAINT_RULES: ("devices_refused-0", "1.34", _SHARED),
    ReleaseChange.ONE_ORDER: ("devices_refused-13", "1.34", _SHARED),
    ReleaseChange.NODE_OPERATIONS: ("devices_unprepared-0", "1.34", ""),
    ReleaseChange.IMAGE_VOLUMES: ("image_volumes-0", "1.36", ""),
    ReleaseChange.IMAGES_OF_ALL: ("image_volumes-0", "1.37", ""),
}
"""Of ``conformance/corpus/gates`` a case, a version and its gates for changes that no case there shows: the answer of
that version is another one with this one change made or unmade."""

OF_RUNS = frozenset(
    {
        ReleaseChange.ACTIVATED_PREEMPTORS,
        ReleaseChange.ADMITTED_ACTIVATIONS,
        ReleaseChange.ANY_ANTI_AFFINITY_TERM,
        ReleaseChange.CLASS_EVENTS,
        ReleaseChange.CLEARED_NOMINATIONS,
        ReleaseChange.DELETED_CLAIMS,
        ReleaseChange.GATES_ASKED_AGAIN,
        ReleaseChange.MUTUAL_ANTI_AFFINITY,
        ReleaseChange.NOMINATED_PODS,
        ReleaseChange.OWN_LABELS,
        ReleaseChange.REGISTERED_TAINTS,
        ReleaseChange.SILENT_BINDINGS,
        ReleaseChange.SPARED_WAITING_PODS,
        ReleaseChange.TARGET_POD_EVENTS,
    }
)
"""Changes of the queue, which no single cycle shows."""

UNSEEN = frozenset({ReleaseChange.NODE_NAME_FIRST})
"""Changes that no cycle of kube-scheduler shows: it never tries a pod that names its node."""


def page() -> str:
    """Return the page."""
    versions = [release.version for release in RELEASES]
    others = sorted(MODELLED - set(differing_gates()))
    heads = ["Gate", *versions, "Can be set", "While it is on", "KEP"]
    rules = sorted(ReleaseChange, key=lambda change: change.since)
    return f"""{GENERATED}

# What changed between versions

What does kube-scheduler {NEWEST.version} decide otherwise than {OLDEST.version}? schedctl follows
{", ".join(versions)}; [versions](../kube-versions.md) says which of them judges your cluster.

## Rules

No feature gate switches these. A version has all changes up to its own. *By* is the enhancement proposal or the pull
request of kubernetes/kubernetes that made the change, where it is known. *Case* is a recorded case that is answered
otherwise without this one change, in the file of its family in `conformance/corpus/{NEWEST.version}`; one with a
version is in `conformance/corpus/gates`, and that version's answer there, with gates set where it says so, is another
with this one change made or unmade. *Runs*: it shows in whole runs only, and is held to tests of those. *None*: no case
can show it, since kube-scheduler never tries a pod that names its node.

{table(["Since", "What changed", "By", "Case"], map(_change, rules))}
## Feature gates that change decisions by default

Off in some of these versions and on in others. *Can be set* with `--feature-gates` holds for {NEWEST.version};
`schedctl version --gates --kube-version 1.36` lists the gates of another version.

{table(heads, map(_row, differing_gates()))}
## Other feature gates that can be set

{table(heads, map(_row, others))}
## Gates that are not modelled

These can change decisions too, and can only be set to their default: anything else is refused, so that no answer is a
guess.

{table(["Gate", *versions], ([code(name), *_states(name)] for name in _not_modelled()))}
Next: [which version judges my cluster?](../kube-versions.md)
"""


def differing_gates() -> list[str]:
    """Return the gates that change decisions and are not by default the same in all releases, by name."""
    return [name for name in sorted(DECISIVE) if len(set(_effects(name))) > 1]


def _effects(name: str) -> Iterator[bool]:
    """Yield whether a gate is on by default in each release; one that is no longer there stays as it was."""
    effect = False
    for release in RELEASES:
        gate = gates_of(release.version).get(name)
        effect = gate.default if gate is not None else effect
        yield effect


def _not_modelled() -> list[str]:
    """Return the gates that cannot be set and are the same by default in all releases."""
    return sorted(DECISIVE - MODELLED - set(differing_gates()))


def _change(change: ReleaseChange) -> list[str]:
    return [_minor(change.since), sentence(change.text), change.source or "–", _case(change)]


def _case(change: ReleaseChange) -> str:
    if change in CASES:
        return code(CASES[change])
    if change in ANSWERS:
        case, version, gates = ANSWERS[change]
        return f"{code(case)} (v{version}{', gates' if gates else ''})"
    return "runs" if change in OF_RUNS else "none"


def _row(name: str) -> list[str]:
    kep, text = GATES[name]
    return [code(name), *_states(name), _can_be_set(gates_of(NEWEST.version)[name]), sentence(text), f"{kep or '–'}"]


def _states(name: str) -> list[str]:
    return [_state(release, name) for release in RELEASES]


def _state(release: Release, name: str) -> str:
    gate = gates_of(release.version).get(name)
    return f"{'on' if gate.default else 'off'} ({gate.stage.lower()})".replace("(ga)", "(GA)") if gate else "–"


def _can_be_set(gate: Gate) -> str:
    return "locked" if gate.locked else "yes" if gate.modelled else "to off" if gate.only_off else "no"


def _minor(minor: tuple[int, int]) -> str:
    return f"v{minor[0]}.{minor[1]}"
