"""From the evidence of a refusal to the changes that would undo it on that node, the most likely one first.

One entry for each in-tree reason; a reason without an entry has no remedy that is known. Nothing is tried here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from schedctl.api.devices import DeviceClass, ResourceClaim
from schedctl.api.nodes import Taint
from schedctl.api.resources import is_scalar
from schedctl.api.storage import WAIT_FOR_FIRST_CONSUMER, PersistentVolume, PersistentVolumeClaim, StorageClass
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.shortages import Why
from schedctl.explain.changes import Change
from schedctl.explain.cluster_changes import UNSCHEDULABLE_TAINT, ClearTaint, DeclareFeatures, RemovePods, Uncordon
from schedctl.explain.device_changes import (
    CompletePools,
    DropConstraint,
    DropSelector,
    FreeClaims,
    LowerCount,
    LowerDeviceCapacity,
    TolerateDevice,
    UseDeviceClass,
)
from schedctl.explain.evidence import Evidence, Refused
from schedctl.explain.pod_changes import (
    DropHostPorts,
    DropNodeAffinity,
    DropNodeSelector,
    DropPodAffinity,
    DropPodAntiAffinity,
    DropRequest,
    LowerRequest,
    RaiseMaxSkew,
    SoftenSpread,
    Tolerate,
)
from schedctl.explain.similar import meant
from schedctl.explain.storage_changes import (
    AskAccessModes,
    ClearClaimRef,
    DetachVolumes,
    ForgetSelectedNode,
    ForgetVolumeName,
    GiveStorageClass,
    InstallDriver,
    LowerClaim,
    MoveVolume,
    UseStorageClass,
)
from schedctl.framework import wording
from schedctl.framework.device_classes import IMPLICIT_PREFIX
from schedctl.plugins.dynamic_resources.claims import users_of
from schedctl.plugins.volume_binding.claims import Because
from schedctl.plugins.volume_binding.volumes import Unfit
from schedctl.reports.reasons import Reason
from schedctl.workloads.admission import default_storage_class

Remedy = tuple[Change, ...]
"""Changes that only together might undo a refusal."""

_KUBERNETES_TAINTS = "node.kubernetes.io/"
_COPIED_ACROSS = ("/zone", "/region")
"""How the labels end of places between which a volume can be copied, by a snapshot say."""
_ON_ONE_NODE = ("ReadWriteOnce", "ReadWriteOncePod")
_MOST_CHOICES = 6
"""More ways than this to win a device are not looked at."""
_MOST_PODS = 3
"""More running pods than this are not advised to be removed."""


def remedies(refused: Refused, cluster: Cluster) -> list[Remedy]:
    """Return what might undo a refusal on its node, the best choice first; empty where nothing is known."""
    remedy = _REMEDIES.get(refused.reference)
    return remedy(refused.node, refused.evidence, cluster) if remedy else []


def whole_pod_remedy(pod: PodInfo, reason: Reason, cluster: Cluster) -> Remedy:
    """Return the changes that might undo a refusal of the pod as a whole by PreFilter."""
    remedy = _REMEDIES.get(reason.reference)
    if remedy:
        return next(iter(remedy("", reason.evidence, cluster)), ())
    if "NodeAffinity" not in reason.plugin:
        return ()
    affinity = pod.pod.spec.affinity and pod.pod.spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = (required.node_selector_terms if required else None) or ()
    written = [
        wording.requirement(msgspec.to_builtins(each))
        for term in terms
        for each in (*(term.match_expressions or ()), *(term.match_fields or ()))
    ]
    return (DropNodeAffinity(", ".join(written)),) if required is not None else ()


def _room(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    resource, free = evidence["resource"], evidence["capacity"] - evidence["used"]
    if free > 0:
        return [(LowerRequest.to(resource, free),)]
    return [] if is_scalar(resource) else [(DropRequest(resource),)]


def _taint(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    taint = msgspec.convert(evidence["taint"], Taint)
    if taint.key == UNSCHEDULABLE_TAINT:
        return [(Uncordon(node),)]
    if taint.key.startswith(_KUBERNETES_TAINTS):
        return [(ClearTaint(node, taint.key),)]
    return [(Tolerate(taint),)]


def _labels(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    selector, *terms = evidence["unmet"]
    found: list[Change] = []
    if selector:
        written = ", ".join(map(wording.requirement, selector))
        found.append(DropNodeSelector(tuple(each["key"] for each in selector), written))
    if all(terms) and (terms or not selector):
        nearest = min(terms, key=len, default=())
        found.append(DropNodeAffinity(", ".join(map(wording.requirement, nearest))))
    return [tuple(found)]


def _ports(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    ports = (f"{port['port']}/{port['protocol']}" for port, _ in evidence["collisions"])
    return [(DropHostPorts(tuple(ports)),)]


def _company(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    return [(DropPodAffinity(evidence["cause"]["topologyKey"]),)]


def _unwanted(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    cause = evidence["cause"]
    return [*_without(cause), (DropPodAntiAffinity(cause["topologyKey"]),)]


def _without(cause: Evidence) -> list[Remedy]:
    pods = cause["pods"]
    return [(RemovePods(tuple(pods)),)] if 0 < len(pods) <= _MOST_PODS else []


def _skewed(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    skew = evidence["count"] + evidence["selfMatch"] - evidence["minimum"]
    return [(RaiseMaxSkew(evidence["topologyKey"], skew),)]


# -- storage ---------------------------------------------------------------------


def _in_use(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    taken = evidence.get("claims") or evidence.get("disks") or ()
    return _without({"pods": sorted({pod for each in taken for pod in each["pods"]})})


def _attached(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Detach what no pod uses, or let pods go whose volumes make room: one if one is enough, else the largest."""
    excess = evidence["used"] + evidence["new"] - evidence["limit"]
    unused = [each for each in evidence["attached"] if not each["pods"]]
    idle = [_detached(node, (), unused[:excess])] if len(unused) >= excess else []
    holders = sorted(evidence["holders"].items(), key=lambda holder: (holder[1], holder[0]))
    enough = [pod for pod, volumes in holders if volumes >= excess]
    if enough:
        return idle + [_detached(node, (pod,), evidence["attached"]) for pod in enough[:_MOST_PODS]]
    pods: list[str] = []
    for pod, volumes in reversed(holders):
        pods.append(pod)
        excess -= volumes
        if excess <= 0:
            break
    fits = excess <= 0 and len(pods) <= _MOST_PODS
    return [*idle, _detached(node, tuple(sorted(pods)), evidence["attached"])] if fits else idle


def _detached(node: str, pods: tuple[str, ...], attached: Sequence[Evidence]) -> Remedy:
    """Let pods go with those of the attached volumes that no other pod there uses."""
    theirs = [each for each in attached if set(each["pods"]) <= set(pods) and (each["pods"] or not pods)]
    if not theirs:
        return (RemovePods(pods),)
    volumes, attachments = (tuple(each[of] for each in theirs) for of in ("volume", "attachment"))
    return (DetachVolumes(node, volumes, attachments, pods),)


def _out_of_reach(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Move the volume to the zone of the node: a copy can be made there, but not of what is on another node's disks."""
    volume = cluster.get(PersistentVolume, evidence["volume"])
    keys = {each["key"] for term in evidence["unmet"] for each in term} if "unmet" in evidence else {evidence["label"]}
    if volume is None or volume.spec.local is not None or not all(key.endswith(_COPIED_ACROSS) for key in keys):
        return []
    labels = cluster.node_table.labels.maps[cluster.node_table.row_of[node]]
    place = tuple((key, labels[key]) for key in sorted(keys) if key in labels)
    return [(MoveVolume(evidence["volume"], evidence["claim"], place),)] if len(place) == len(keys) else []


def _unmade(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    claim, largest = evidence["claim"], evidence.get("largest")
    lowered: list[Remedy] = [(LowerClaim.to(claim, largest),)] if largest else []
    return lowered + [(UseStorageClass(claim, name),) for name in _classes(claim, evidence["storageClass"], cluster)]


def _unmatched(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Ask for what the nearest volume has, or free it of its former claim; else another class."""
    claim, miss = evidence["claim"], evidence.get("nearest") or {}
    found: list[Remedy] = [] if "volumes" in evidence else [(ForgetSelectedNode(claim),)]
    match [Unfit(each) for each in miss.get("objections", ())]:
        case [Unfit.SMALL] if miss["capacity"] > 0:
            found.append((LowerClaim.to(claim, miss["capacity"]),))
        case [Unfit.RELEASED]:
            found.append((ClearClaimRef(miss["volume"]),))
        case [Unfit.ACCESS] if miss["accessModes"]:
            found.append((AskAccessModes(claim, tuple(miss["accessModes"])),))
    return found + _unmade(node, evidence, cluster)


def _immediate(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Change every claim that should be bound already so that it waits for the pod, if that can be done to all."""
    changes = [_to_wait(each, cluster) for each in evidence["unbound"]]
    known = tuple(change for change in changes if change is not None)
    return [known] if len(known) == len(changes) else []


def _to_wait(unbound: Evidence, cluster: Cluster) -> Change | None:
    key, because, named = unbound["claim"], Because(unbound["because"]), unbound["storageClass"]
    claim, others = cluster.every(PersistentVolumeClaim)[key], _classes(key, named, cluster)
    if because in (Because.NO_VOLUME, Because.KEPT):
        return ForgetVolumeName(key)
    if because is Because.CLASSLESS and others:
        given = claim.spec.storage_class_name is not None
        return UseStorageClass(key, others[0]) if given else GiveStorageClass(key, others[0])
    if because is Because.NO_CLASS and others and not meant(named, cluster.every(StorageClass)):
        return UseStorageClass(key, others[0])
    return None


def _classes(key: str, but: str, cluster: Cluster) -> list[str]:
    """The other classes that wait for a pod, the default first; to be shared between nodes, only where volumes are."""
    claim, default = cluster.every(PersistentVolumeClaim)[key], default_storage_class(cluster)
    shared = {mode for mode in claim.spec.access_modes or () if mode not in _ON_ONE_NODE}
    return [
        name
        for name, each in sorted(cluster.every(StorageClass).items(), key=lambda item: (item[0] != default, item[0]))
        if name != but and each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER and shared <= _known_modes(each, cluster)
    ]


def _known_modes(storage_class: StorageClass, cluster: Cluster) -> set[str]:
    """The access modes that volumes of a class, or of its driver, have."""
    return {
        mode
        for volume in cluster.every(PersistentVolume).values()
        if volume.spec.storage_class_name == storage_class.metadata.name
        or (volume.spec.csi is not None and volume.spec.csi.driver == storage_class.provisioner)
        for mode in volume.spec.access_modes or ()
    }


# -- devices ---------------------------------------------------------------------


def _scarce(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """For each request it is stuck at: fewer devices, what would win the nearest ones, or other classes."""
    scarcity = evidence["scarcity"]
    drivers = dict.fromkeys(pool.partition("/")[0] for pool in scarcity["incomplete"])
    found: list[Remedy] = [(CompletePools(driver),) for driver in drivers]
    for lack in scarcity["lacking"]:
        claim, request, number = lack["claim"], lack["request"], lack["found"]
        written = claim in cluster.every(ResourceClaim)
        if 0 < number < lack["wanted"]:
            resource = _resource(lack["deviceClass"], cluster)
            found.append((LowerCount(claim, request, number) if written else LowerRequest.to(resource, number),))
        against = [device["refusals"] for device in (lack["closest"], *lack["others"]) if device is not None]
        for refusals in against:
            changes = [_win(lack, refusal, scarcity["users"], cluster) for refusal in _lasting(refusals)]
            if None not in changes:
                found.append(tuple(change for change in changes if change is not None))
        if written and any([Why(refusal["why"]) for refusal in refusals] == [Why.CLASS] for refusals in against):
            others = sorted(cluster.every(DeviceClass).keys() - {lack["deviceClass"]})
            found += [(UseDeviceClass(claim, request, name),) for name in others]
    return list(dict.fromkeys(found))[:_MOST_CHOICES]


def _resource(device_class: str, cluster: Cluster) -> str:
    """Return the extended resource that a class stands behind."""
    known = cluster.get(DeviceClass, device_class)
    return (known.spec.extended_resource_name if known is not None else None) or f"{IMPLICIT_PREFIX}{device_class}"


def _lasting(refusals: Sequence[Evidence]) -> Sequence[Evidence]:
    """Leave out what speaks against a device only because of the devices chosen so far, if there is more."""
    kept = [refusal for refusal in refusals if Why(refusal["why"]) not in (Why.CHOSEN, Why.CONSTRAINT)]
    return kept or refusals


def _win(lack: Evidence, refusal: Evidence, users: Evidence, cluster: Cluster) -> Change | None:
    """Return what would undo one reason against a device, None if nothing is known."""
    claim, request, subject = lack["claim"], lack["request"], refusal["subject"]
    known = cluster.every(ResourceClaim)
    why = Why(refusal["why"])
    if why is not Why.HELD and claim not in known:
        return None
    match why:
        case Why.HELD if refusal["holders"] and known.keys() >= set(refusal["holders"]):
            pods = dict.fromkeys(pod for holder in refusal["holders"] for pod in users.get(holder, ()))
            return FreeClaims(tuple(refusal["holders"]), tuple(pods))
        case Why.REQUEST:
            return DropSelector(claim, request, subject)
        case Why.CAPACITY if refusal["left"] and not refusal["left"].startswith(("0", "-")):
            return LowerDeviceCapacity(claim, request, subject, refusal["left"])
        case Why.TAINT:
            key, _, rest = subject.partition("=")
            value, _, effect = rest.rpartition(":")
            return TolerateDevice(claim, request, key, value, effect)
        case Why.CONSTRAINT | Why.ATTRIBUTE:
            return DropConstraint(claim, subject)
    return None


def _unavailable(node: str, evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    claims = tuple(each["claim"] for each in evidence["claims"])
    known = cluster.every(ResourceClaim)
    pods = dict.fromkeys(pod for key in claims if key in known for pod in users_of(known[key]))
    return [(FreeClaims(claims, tuple(pods)),)]


_REMEDIES: dict[str, Callable[[str, Evidence, Cluster], list[Remedy]]] = {
    "dynamic-resources/not-allocated": _scarce,
    "dynamic-resources/unavailable": _unavailable,
    "inter-pod-affinity/repelled": lambda node, evidence, cluster: _without(evidence["cause"]),
    "inter-pod-affinity/unmatched": _company,
    "inter-pod-affinity/unwanted": _unwanted,
    "node-affinity/unmatched": _labels,
    "node-declared-features/unmatched": lambda node, evidence, cluster: [
        (DeclareFeatures(node, tuple(evidence["missing"])),)
    ],
    "node-ports/taken": _ports,
    "node-resources-fit/insufficient": _room,
    "node-unschedulable/cordoned": lambda node, evidence, cluster: [(Uncordon(node),)],
    "node-volume-limits/driverless": lambda node, evidence, cluster: [(InstallDriver(node, evidence["driver"]),)],
    "node-volume-limits/exceeded": _attached,
    "pod-topology-spread/missing": lambda node, evidence, cluster: [(SoftenSpread(evidence["topologyKey"]),)],
    "pod-topology-spread/skewed": _skewed,
    "taint-toleration/untolerated": _taint,
    "volume-binding/elsewhere": lambda node, evidence, cluster: [(ForgetSelectedNode(evidence["claim"]),)],
    "volume-binding/full": _unmade,
    "volume-binding/immediate": _immediate,
    "volume-binding/out-of-reach": _out_of_reach,
    "volume-binding/outside": _unmade,
    "volume-binding/unmatched": _unmatched,
    "volume-restrictions/conflict": _in_use,
    "volume-restrictions/occupied": _in_use,
    "volume-zone/elsewhere": _out_of_reach,
}
