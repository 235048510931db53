"""Feature gates as kube-scheduler of a version registers them, and what may be set of them.

The tables (``v1.37.json`` and its like) are the oracle's own, written by ``conformance/record_gates.py``. Which gates
change a decision, and which of these are reproduced both ways, is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

Stage = Literal["ALPHA", "BETA", "GA", "DEPRECATED"]

GENERIC_WORKLOAD: Final = "GenericWorkload"
"""The gate of pod groups: while it is off, each pod is scheduled by itself."""

OF_GROUPS: Final = frozenset(
    {
        GENERIC_WORKLOAD,
        "DRAWorkloadResourceClaims",
        "PodGroupPreemptionPolicy",
        "TopologyAwareWorkloadScheduling",
    }
)
"""Gates of pod groups, which are modelled in v1.37: earlier versions have other APIs of the same names."""

MODELLED: Final = OF_GROUPS | frozenset(
    {
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADerivedAttributes",
        "DRADeviceBindingConditions",
        "DRADeviceCompatibilityGroups",
        "DRADeviceTaintRules",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAFractionalCapacityRange",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAOptionalNodeOperations",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DRASchedulerFilterTimeout",
        "DynamicResourceAllocation",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScaling",
        "InPlacePodVerticalScalingSchedulerPreemption",
        "InterPodAffinityHostnameFastPath",
        "MatchLabelKeysInPodTopologySpread",
        "MatchLabelKeysInPodTopologySpreadSelectorMerge",
        "NodeDeclaredFeatures",
        "NominatedNodeNameForExpectation",
        "PodLevelResources",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "VolumeAttributesClass",
        "VolumeLimitScaling",
    }
)
"""Gates whose decisions are reproduced on and off, in every release that has them but those of `_NOT_YET`."""

_NOT_YET: Final = {
    "v1.34": OF_GROUPS,
    "v1.35": OF_GROUPS,
    "v1.36": OF_GROUPS | {"DRANodeAllocatableResources"},
}
"""Those that are reproduced only as they are by default, by minor version."""

ONLY_OFF: Final = frozenset({"OpportunisticBatching"})
"""Gates that are on by default and reproduced in every case only while they are off, so that they can be set to it."""

DECISIVE: Final = MODELLED | frozenset(
    {
        "CSIMigrationPortworx",
        "CompositePodGroup",
        "DRAWorkloadResourceClaims",
        "GangScheduling",
        GENERIC_WORKLOAD,
        "NodeInclusionPolicyInPodTopologySpread",
        "OpportunisticBatching",
        "PodGroupPreemptionPolicy",
        "SchedulerQueueingHints",
        "SidecarContainers",
        "TopologyAwareWorkloadScheduling",
        "WorkloadAwarePreemption",
    }
)
"""Gates that ``pkg/scheduler`` reads in one of the releases: one of them that is not modelled cannot be set.

Two that it reads change nothing that is decided, and are not among them: SchedulerAsyncAPICalls (when an API server
hears of a decision) and SchedulerPreQueueingHints (who is asked whether an event helps is found by an index).
"""

_CRASHES: Final = {"v1.34": (("DRAExtendedResource", "DynamicResourceAllocation"),)}
"""By minor version the gates that crash kube-scheduler while another one is off, which it does not ask for."""

_TABLES: Final = Path(__file__).parent
_SWITCH: Final = {"true": True, "false": False}
_GROUPS: Final = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}


class Gate(msgspec.Struct, frozen=True):
    """A feature gate in one version.

    Attributes:
        name: kube-scheduler's name of it.
        default: whether it is on unless set.
        stage: how far it has come.
        locked: whether it can no longer be set to anything but its default.
        requires: the gates that may not be off while it is on.
        modelled: whether its decisions are reproduced on and off.
    """

    name: str
    default: bool
    stage: Stage = "GA"
    locked: bool = False
    requires: tuple[str, ...] = ()
    modelled: bool = False

    @property
    def only_off(self) -> bool:
        """Whether nothing but off is reproduced in every case, though it is on by default."""
        return self.name in ONLY_OFF

    @property
    def decisive(self) -> bool:
        """Whether it can change a decision."""
        return self.name in DECISIVE


class GateError(ValueError):
    """A gate cannot be set; `hint` is the next step."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UnmodelledGateError(GateError):
    """The decisions of a gate, `name`, are not reproduced as it is to be set."""

    def __init__(self, name: str, value: bool) -> None:
        super().__init__(
            f"feature gate {name} is not modelled: answers with it {'on' if value else 'off'} would be guesses",
            "`schedctl version --gates` lists the gates that can be set",
        )
        self.name = name


def of_unmodelled_groups(name: str, version: str) -> str:
    """Return what of pod groups a gate of a version is about that is not modelled, "" for any other gate."""
    if name == "CompositePodGroup":
        return "CompositePodGroups"
    older = name in OF_GROUPS or name in ("GangScheduling", "WorkloadAwarePreemption")
    return "pod groups of the alpha APIs before v1.37" if older and not has_groups(version) else ""


def has_groups(version: str) -> bool:
    """Return whether kube-scheduler of a version knows the pod groups of scheduling.k8s.io/v1beta1."""
    return OF_GROUPS.isdisjoint(_NOT_YET.get(version.rpartition(".")[0], frozenset()))


@cache
def gates_of(version: str) -> Mapping[str, Gate]:
    """Return the gates of a version, e.g. ``v1.36.3``, by name."""
    minor = version.rpartition(".")[0]
    data = (_TABLES / f"{minor}.json").read_bytes()
    modelled = MODELLED - _NOT_YET.get(minor, frozenset())
    gates = msgspec.json.decode(data, type=list[Gate])
    return {gate.name: msgspec.structs.replace(gate, modelled=gate.name in modelled) for gate in gates}


def parse_gates(text: str) -> dict[str, bool]:
    """Return what ``A=true,B=false`` sets, as kube-scheduler's own option is written.

    Raises:
        GateError: it is not written so.
    """
    switches: dict[str, bool] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals:
            raise GateError(f"missing bool value for {name}", f"`{name}=true` or `{name}=false`")
        # Go's strconv.ParseBool
        switch = _SWITCH.get(value.lower(), {"1": True, "t": True, "0": False, "f": False}.get(value.lower()))
        if switch is None or (len(value) > 1 and value not in (value.lower(), value.upper(), value.capitalize())):
            raise GateError(f"invalid value of {part}, expected a boolean", f"`{name}=true` or `{name}=false`")
        switches[name] = switch
    return switches


def settle(version: str, switches: Mapping[str, bool]) -> frozenset[str]:
    """Return the gates that are on in a version once some are set.

    Raises:
        GateError: kube-scheduler would refuse it, or what it changes is not modelled.
    """
    gates = gates_of(version)
    state = {name: gate.default for name, gate in gates.items()}
    for name, value in _spread(gates, switches).items():
        gate = gates[name]
        if value == gate.default:
            state[name] = value
            continue
        if gate.locked:
            raise GateError(
                f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {_go(gate)}",
                f"leave {name} out: it cannot be changed in this version",
            )
        if gate.decisive and not gate.modelled and (value or not gate.only_off):
            raise _not_modelled_in(switches, gate, value)
        state[name] = value
    for name, gate in gates.items():
        for needed in gate.requires if state[name] else ():
            if not state.get(needed, True):
                raise GateError(
                    f"{name} is enabled, but depends on features that are disabled: [{needed}]",
                    _hint_of_dependency(name, needed, switches),
                )
    for name, needed in _CRASHES.get(version.rpartition(".")[0], ()):
        if state[name] and not state[needed]:
            raise GateError(
                f"kube-scheduler {version} crashes with {name} on and {needed} off",
                _hint_of_dependency(name, needed, switches),
            )
    return frozenset(name for name, value in state.items() if value)


def _spread(gates: Mapping[str, Gate], switches: Mapping[str, bool]) -> dict[str, bool]:
    """Return every gate that is set, AllAlpha and AllBeta as the gates they stand for."""
    single = {name: value for name, value in switches.items() if name not in _GROUPS}
    unknown = next((name for name in single if name not in gates), None)
    if unknown is not None:
        raise GateError(f"unrecognized feature gate: {unknown}", _where_known(gates, unknown))
    grouped = dict(_of_groups(gates, switches))
    return grouped | single


def _of_groups(gates: Mapping[str, Gate], switches: Mapping[str, bool]) -> Iterator[tuple[str, bool]]:
    for group, stage in _GROUPS.items():
        if group in switches:
            yield from (
                (name, switches[group]) for name, gate in gates.items() if gate.stage == stage and not gate.locked
            )


def _not_modelled_in(switches: Mapping[str, bool], gate: Gate, value: bool) -> GateError:
    """Return the refusal to set a gate; it names AllAlpha or AllBeta where the gate is set by one of them."""
    group = next((group for group, stage in _GROUPS.items() if stage == gate.stage), "")
    if gate.name in switches or group not in switches:
        return UnmodelledGateError(gate.name, value)
    written, usual = str(value).lower(), str(not value).lower()
    return GateError(
        f"{group}={written} includes {gate.name}, which is not modelled: answers with it {'on' if value else 'off'}"
        " would be guesses",
        f"name the gates that you mean, or add `{gate.name}={usual}`; `schedctl version --gates` lists those that can"
        " be set",
    )


def _hint_of_dependency(name: str, needed: str, switches: Mapping[str, bool]) -> str:
    """Return how to set a gate together with one that it needs."""
    if switches.get(needed) is False:
        return f"set {name}=false as well, or leave {needed} on"
    return f"set {needed}=true as well"


def _where_known(gates: Mapping[str, Gate], name: str) -> str:
    """Return which versions have a gate of a name, or one of a near name."""
    having = [
        minor for minor in sorted(path.stem for path in _TABLES.glob("v*.json")) if name in gates_of(f"{minor}.0")
    ]
    if having:
        return f"kube-scheduler {' and '.join(having)} {'have' if len(having) > 1 else 'has'} it"
    by_letters = {known.lower(): known for known in gates}
    for near in get_close_matches(name.lower(), by_letters, 1, 0.85):
        return f"did you mean {by_letters[near]}? `schedctl version --gates` lists all"
    return "`schedctl version --gates` lists them"


def _go(gate: Gate) -> str:
    return str(gate.default).lower()
