"""What would undo a rejection of VolumeBinding: claims that ask for less, another class or another place.

A claim is changed in the fork as if somebody had written it so in the first place: what was promised to it, or made
for it, is not undone. Moving a volume stands for whatever gets the data there, a snapshot that is restored, say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from schedctl.api import amounts, pods, storage
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.claim_remedies import move_volume, recreate, use_storage_class, with_storage_class
from schedctl.framework.commands import kubectl
from schedctl.framework.remedies import Advice, Evidence, Rejection, Remedies, Remedy, Together, edit_object
from schedctl.framework.similar import closest_name, did_you_mean
from schedctl.framework.volume_matching import Mismatch
from schedctl.framework.wording import FEW, name_of, name_with_verb
from schedctl.plugins.volume_binding.claims import UnboundReason, mounted_claims

_REMOVE_CLAIM_REF = '[{"op":"remove","path":"/spec/claimRef"}]'
_RETAIN = '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'
_ON_ONE_NODE = ("ReadWriteOnce", "ReadWriteOncePod")
_replace = msgspec.structs.replace


def remedies(pod: PodInfo, rejection: Rejection, cluster: Cluster) -> Remedies:
    """Return what the claims, or their volumes, would have to be like."""
    evidence = rejection.evidence
    match rejection.reference:
        case "volume-binding/deleting":
            return [_replace_deleted(pod.namespace, evidence["claim"], cluster)]
        case "volume-binding/elsewhere":
            return [_forget_selected_node(evidence["claim"])]
        case "volume-binding/full" | "volume-binding/outside":
            return _provision_elsewhere(evidence, cluster)
        case "volume-binding/immediate":
            return [*_bind_late(evidence, cluster), *_bind_by_hand(evidence, cluster)]
        case "volume-binding/out-of-reach":
            keys = {each["key"] for term in evidence["unmet"] for each in term}
            return move_volume(evidence["volume"], evidence["claim"], rejection.node, keys, cluster)
        case "volume-binding/unmatched":
            return _match(evidence, cluster)
    return []


def _match(evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Ask for what the nearest volume has, or free it of its former claim; else another class."""
    claim, miss = evidence["claim"], evidence.get("nearest") or {}
    found = [] if "volumes" in evidence else [_forget_selected_node(claim)]
    match [Mismatch(each) for each in miss.get("objections", ())]:
        case [Mismatch.SMALL] if miss["capacity"] > 0:
            found.append(_lower_claim(claim, miss["capacity"]))
        case [Mismatch.RELEASED]:
            found.append(_clear_claim_ref(miss["volume"]))
        case [Mismatch.ACCESS] if miss["accessModes"]:
            found.append(_ask_access_modes(claim, miss["accessModes"]))
    return found + _provision_elsewhere(evidence, cluster)


def _provision_elsewhere(evidence: Evidence, cluster: Cluster) -> list[Remedy]:
    """Ask for what is left where most is, or for another class."""
    claim, largest = evidence["claim"], evidence.get("largest")
    lowered = [_lower_claim(claim, largest)] if largest else []
    return lowered + [use_storage_class(claim, name) for name in _classes(claim, evidence["storageClass"], cluster)]


def _bind_late(evidence: Evidence, cluster: Cluster) -> list[Together]:
    """Change every claim that should be bound already so that it waits for the pod, if that can be done to all."""
    changes = [_wait_for_pod(each, cluster) for each in evidence["unbound"]]
    known = tuple(change for change in changes if change is not None)
    return [known] if len(known) == len(changes) else []


def _wait_for_pod(unbound: Evidence, cluster: Cluster) -> Remedy | None:
    key, because, named = unbound["claim"], UnboundReason(unbound["because"]), unbound["storageClass"]
    claim, others = cluster.every(storage.PersistentVolumeClaim)[key], _classes(key, named, cluster)
    if because in (UnboundReason.NO_VOLUME, UnboundReason.KEPT):
        return _forget_volume_name(key)
    if because is UnboundReason.CLASSLESS and others:
        classless = claim.spec.storage_class_name is None
        return _set_storage_class(key, others[0]) if classless else use_storage_class(key, others[0])
    if because is UnboundReason.NO_CLASS and others and not closest_name(named, cluster.every(storage.StorageClass)):
        return use_storage_class(key, others[0])
    return None


def _bind_by_hand(evidence: Evidence, cluster: Cluster) -> Iterator[Advice]:
    """Yield what to do for claims that the pod waits for though the scheduler has no part in it."""
    for unbound in evidence["unbound"]:
        claim, volume = unbound["claim"], unbound["volume"]
        namespace, _, name = claim.partition("/")
        command = kubectl("describe", "pvc", name, namespace=namespace)
        match UnboundReason(unbound["because"]):
            case UnboundReason.NO_VOLUME:
                other = did_you_mean(closest_name(volume, cluster.every(storage.PersistentVolume)))
                yield Advice("create-volume", f"create volume {volume} for claim {name}{other}")
            case UnboundReason.UNFINISHED:
                text = f"the volume controller should complete the binding of claim {name} to volume {volume}"
                yield Advice("wait-for-binding", f"{text}; `{command}` shows what it says", command)
            case UnboundReason.IMMEDIATE if not unbound["provisioner"]:
                text = f"create a volume of class {unbound['storageClass']} for claim {name}"
                yield Advice("create-volume", text)
            case UnboundReason.SELECTIVE:
                text = f"create a volume of class {unbound['storageClass']} with the labels that claim {name} selects"
                yield Advice("create-volume", text)
            case UnboundReason.IMMEDIATE:
                maker = unbound["provisioner"]
                text = f"find out why {maker} has not made a volume for claim {name}: `{command}` shows its events"
                yield Advice("ask-provisioner", text, command)


def _replace_deleted(namespace: str, claim: str, cluster: Cluster) -> Advice:
    """Return what to do about a claim that is being deleted, which cannot be undone; its volume would go with it."""
    volume = cluster.every(storage.PersistentVolumeClaim)[f"{namespace}/{claim}"].spec.volume_name
    users = [
        info.key
        for info in cluster.pod_table
        if info.namespace == namespace and any(each.name == claim for each in mounted_claims(info.pod))
    ]
    gone = name_with_verb("pod", users[:FEW]) if users else "it is"
    again = f"create claim {claim} again once {gone} gone"
    if not volume:
        command = kubectl("describe", "pvc", claim, namespace=namespace)
        return Advice("recreate-claim", f"a deletion cannot be undone: {again}", command)
    text = (
        f"a deletion cannot be undone: to keep the data, set the reclaim policy of volume {volume} to Retain; {again}"
    )
    return Advice("keep-volume", text, kubectl("patch", "pv", volume, options=("-p", _RETAIN)))


# -- claims and volumes ----------------------------------------------------------


def _lower_claim(claim: str, left: int) -> Remedy:
    """Ask for at most what is left, as a quantity one can type."""
    most = amounts.quantity(amounts.STORAGE, left)

    def lower(written: storage.PersistentVolumeClaim) -> storage.PersistentVolumeClaim:
        resources = written.spec.resources or pods.ResourceRequirements()
        lowered = _replace(resources, requests={**(resources.requests or {}), amounts.STORAGE: most})
        return _replace(written, spec=_replace(written.spec, resources=lowered))

    return Remedy(
        "lower-claim",
        f"claim {name_of(claim)} is recreated with at most {most}",
        edit_object(storage.PersistentVolumeClaim, claim, lower),
        effort=2,
        subject=claim,
        command=recreate(claim, resources={"requests": {amounts.STORAGE: most}}),
    )


def _set_storage_class(claim: str, storage_class: str) -> Remedy:
    """Give a class to a claim that names none, which is the one time that its class may still be set."""
    namespace, _, name = claim.partition("/")
    patch = json.dumps({"spec": {"storageClassName": storage_class}}, separators=(",", ":"))
    return Remedy(
        "give-storage-class",
        f"claim {name} is of class {storage_class}",
        edit_object(storage.PersistentVolumeClaim, claim, lambda written: with_storage_class(written, storage_class)),
        effort=2,
        subject=(claim, storage_class),
        command=kubectl("patch", "pvc", name, namespace=namespace, options=("-p", patch)),
    )


def _forget_volume_name(claim: str) -> Remedy:
    return Remedy(
        "forget-volume-name",
        f"claim {name_of(claim)} is recreated without a volumeName",
        edit_object(
            storage.PersistentVolumeClaim,
            claim,
            lambda written: _replace(written, spec=_replace(written.spec, volume_name="")),
        ),
        effort=2,
        subject=claim,
        command=recreate(claim, volumeName=None),
    )


def _ask_access_modes(claim: str, modes: Iterable[str]) -> Remedy:
    access_modes = list(modes)
    return Remedy(
        "ask-access-modes",
        f"claim {name_of(claim)} is recreated with access mode {' and '.join(access_modes)}",
        edit_object(
            storage.PersistentVolumeClaim,
            claim,
            lambda written: _replace(written, spec=_replace(written.spec, access_modes=access_modes)),
        ),
        effort=3,
        subject=claim,
        command=recreate(claim, accessModes=access_modes),
    )


def _clear_claim_ref(volume: str) -> Remedy:
    """Free a volume that is kept for a claim that was deleted; somebody must say that its data may go."""

    def free(written: storage.PersistentVolume) -> storage.PersistentVolume:
        freed = _replace(written, spec=_replace(written.spec, claim_ref=None))
        return _replace(freed, status=_replace(written.status, phase="Available"))

    return Remedy(
        "clear-claim-ref",
        f"the claimRef of Released volume {volume} is cleared, its data no longer needed",
        edit_object(storage.PersistentVolume, volume, free),
        effort=3,
        subject=volume,
        command=kubectl("patch", "pv", volume, options=("--type=json", "-p", _REMOVE_CLAIM_REF)),
    )


def _forget_selected_node(claim: str) -> Remedy:
    """Free a claim of the node for which a volume is being made, which will not do, or is gone."""
    namespace, _, name = claim.partition("/")

    def forget(written: storage.PersistentVolumeClaim) -> storage.PersistentVolumeClaim:
        kept = {
            key: value for key, value in (written.metadata.annotations or {}).items() if key != storage.SELECTED_NODE
        }
        return _replace(written, metadata=_replace(written.metadata, annotations=kept or None))

    return Remedy(
        "forget-selected-node",
        f"claim {name} is no longer tied to its selected node",
        edit_object(storage.PersistentVolumeClaim, claim, forget),
        effort=2,
        subject=claim,
        command=kubectl("annotate", "pvc", name, namespace=namespace, options=(f"{storage.SELECTED_NODE}-",)),
    )


def _classes(key: str, but: str, cluster: Cluster) -> list[str]:
    """Return the other classes that wait for a pod, the default first.

    A claim that is to be shared between nodes needs a class whose volumes can be.
    """
    claim, classes = cluster.every(storage.PersistentVolumeClaim)[key], cluster.every(storage.StorageClass)
    default = storage.default_class(classes.values())
    shared = {mode for mode in claim.spec.access_modes or () if mode not in _ON_ONE_NODE}
    return [
        name
        for name, each in sorted(classes.items(), key=lambda item: (item[0] != default, item[0]))
        if name != but
        and each.volume_binding_mode == storage.WAIT_FOR_FIRST_CONSUMER
        and shared <= _access_modes(each, cluster)
    ]


def _access_modes(storage_class: storage.StorageClass, cluster: Cluster) -> set[str]:
    """Return the access modes that volumes of a class, or of its driver, have."""
    return {
        mode
        for volume in cluster.every(storage.PersistentVolume).values()
        if volume.spec.storage_class_name == storage_class.metadata.name
        or (volume.spec.csi is not None and volume.spec.csi.driver == storage_class.provisioner)
        for mode in volume.spec.access_modes or ()
    }
