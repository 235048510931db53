"""How rejections of VolumeBinding read, and the volumes that a pod would be given.

Claims are called by name alone: they are in the namespace of the pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api import amounts, meta, storage
from schedctl.cache.cluster import Cluster
from schedctl.framework.remedies import Evidence
from schedctl.framework.volume_matching import Mismatch, capacity, requested_storage
from schedctl.framework.wording import Allocation, Wording, few, name_of, requirement
from schedctl.plugins.volume_binding.claims import UnboundReason
from schedctl.plugins.volume_binding.search import PodVolumes

_FAR, _FARTHEST = 1 << 62, 1 << 63


def _out_of_reach(evidence: Evidence) -> str:
    """``volume pvc-1 of claim data is reachable only from topology.kubernetes.io/zone=b``."""
    only = _alternatives(evidence)
    where = f"is reachable only from {only}" if only else "is reachable from no node"
    return f"volume {evidence['volume']} of claim {name_of(evidence['claim'])} {where}"


def _selected_node(evidence: Evidence) -> str:
    """``a volume for claim data is being provisioned for node-3``."""
    return f"a volume for claim {name_of(evidence['claim'])} is being provisioned for {evidence['selectedNode']}"


def _nearest_volume(evidence: Evidence) -> str:
    """``volume pv-1 is too small: 100Gi, 200Gi missing``."""
    miss = evidence.get("nearest")
    if miss is None:
        return "no volume of the class is reachable from here" if evidence.get("volumes") else ""
    missing = evidence["requested"] - miss["capacity"]
    objections = [_objection(Mismatch(each), miss, missing) for each in miss["objections"]]
    return f"volume {miss['volume']} {' and '.join(objections) or 'goes to another claim of the pod'}"


def _unmatched_claims(all_evidence: Sequence[Evidence]) -> str:
    """``claim data: 300Gi of class local requested, no volume matches (1 too small), the class provisions none``."""
    lines: dict[str, None] = {}
    for evidence in all_evidence:
        tally = ", ".join(f"{number} {what}" for what, number in evidence.get("volumes", {}).items())
        found = f"no volume matches ({tally})" if tally else "there is no volume"
        if "volumes" not in evidence:  # a node was promised to have one made there
            found = "one is to be provisioned"
        request = f"{_size(evidence['requested'])} of class {evidence['storageClass']} requested"
        lines[f"claim {name_of(evidence['claim'])}: {request}, {found}, the class provisions none"] = None
    return "; ".join(lines)


def _distance(evidence: Evidence) -> int:
    """Return how far the nearest volume is from being the claim's: released ones first, then by what is missing."""
    miss = evidence.get("nearest")
    if miss is None:
        return _FARTHEST
    match miss["objections"]:
        case [Mismatch.RELEASED]:
            return 0
        case [Mismatch.SMALL]:
            return int(evidence["requested"] - miss["capacity"])
    return _FAR


def _objection(mismatch: Mismatch, miss: Evidence, missing: int) -> str:
    match mismatch:
        case Mismatch.RELEASED:
            return f"is {miss['phase']}: its claimRef still names claim {miss['keptFor']}"
        case Mismatch.KEPT:
            return f"is reserved for claim {miss['keptFor']}"
        case Mismatch.SMALL:
            return f"is too small: {_size(miss['capacity'])}, {_size(missing)} missing"
        case Mismatch.ACCESS:
            return f"has only access mode {' and '.join(miss['accessModes']) or 'none'}"
        case Mismatch.LABELS:
            return "does not match the selector of the claim"
        case Mismatch.PHASE:
            return f"is {miss['phase'] or 'in no phase'}, not Available"
    return f"is {mismatch.value}"


def _outside(evidence: Evidence) -> str:
    """``class ssd provisions volumes (claim data) only in topology.kubernetes.io/zone in (a,b)``."""
    where = f"only in {_alternatives(evidence) or 'places without a node'}"
    return f"class {evidence['storageClass']} provisions volumes (claim {name_of(evidence['claim'])}) {where}"


def _capacity_left(evidence: Evidence) -> str:
    """``at most 95Gi left, 105Gi missing``."""
    largest = evidence["largest"]
    if largest is None:
        return "no capacity is known here"
    return f"at most {_size(largest)} left, {_size(evidence['requested'] - largest)} missing"


def _most_capacity(all_evidence: Sequence[Evidence]) -> str:
    """``claim data: 200Gi of class scratch requested, 180Gi at most on a node``."""
    claims: dict[str, list[Evidence]] = {}
    for evidence in all_evidence:
        claims.setdefault(evidence["claim"], []).append(evidence)
    lines = []
    for claim, found in claims.items():
        largest = max((each["largest"] for each in found if each["largest"] is not None), default=None)
        most = f"{_size(largest)} at most on a node" if largest is not None else "none left on any node"
        request = f"{_size(found[0]['requested'])} of class {found[0]['storageClass']} requested"
        lines.append(f"claim {name_of(claim)}: {request}, {most}")
    return "; ".join(lines)


def _shortfall(evidence: Evidence) -> int:
    """Return how many bytes are missing."""
    return int(evidence["requested"] - evidence["largest"]) if evidence["largest"] is not None else _FARTHEST


def _lost_volume(evidence: Evidence) -> str:
    """``volume pvc-1 of claim data does not exist``."""
    return f"volume {evidence['volume']} of claim {name_of(evidence['claim'])} does not exist"


def _immediate(evidence: Evidence) -> str:
    """``claim data is not bound yet: it names volume pv-1, which does not exist``."""
    return "; ".join(
        f"claim {name_of(each['claim'])} is not bound yet: {_unbound(each)}" for each in evidence["unbound"]
    )


def _unbound(each: Evidence) -> str:
    volume, storage_class = each["volume"], each["storageClass"]
    match UnboundReason(each["because"]):
        case UnboundReason.NO_VOLUME:
            return f"it names volume {volume}, which does not exist"
        case UnboundReason.KEPT:
            return f"it names volume {volume}, which is reserved for claim {each['keptFor']}"
        case UnboundReason.UNFINISHED:
            return f"its binding to volume {volume} is not completed"
        case UnboundReason.CLASSLESS:
            return "it has no storage class, and no volume is bound to it"
        case UnboundReason.NO_CLASS:
            return f"its class {storage_class} does not exist, and no volume of that class matches"
        case UnboundReason.SELECTIVE:
            return "no volume matches its selector, and none is provisioned for a claim with a selector"
    if not each["provisioner"]:
        return f"class {storage_class} binds immediately and provisions no volumes, and none is bound to it"
    return f"class {storage_class} binds immediately, and {each['provisioner']} has not provisioned a volume"


def _deleting(evidence: Evidence) -> str:
    """``finalizer kubernetes.io/pvc-protection keeps it``."""
    finalizers = evidence["finalizers"]
    several = len(finalizers) > 1
    return f"finalizer{'s' if several else ''} {few(finalizers)} keep{'' if several else 's'} it" if finalizers else ""


def _alternatives(evidence: Evidence) -> str:
    return " or ".join(", ".join(map(requirement, term)) for term in evidence["unmet"] if term)


def _size(value: int) -> str:
    return amounts.amount(amounts.STORAGE, value)


WORDING = {
    "volume-binding/deleting": Wording(_deleting),
    "volume-binding/elsewhere": Wording(_selected_node),
    "volume-binding/full": Wording(_capacity_left, _most_capacity, _shortfall),
    "volume-binding/immediate": Wording(_immediate),
    "volume-binding/out-of-reach": Wording(_out_of_reach),
    "volume-binding/outside": Wording(_outside),
    "volume-binding/unmatched": Wording(_nearest_volume, _unmatched_claims, _distance),
    "volume-binding/vanished": Wording(_lost_volume),
    "volume-binding": Wording(),
}


def allocations(found: PodVolumes, cluster: Cluster) -> Iterator[Allocation]:
    """Yield the volumes for the waiting claims of a pod: first those that are there, then those that are made."""
    for claim, volume in found.static:
        key, name = meta.key_of(claim), volume.metadata.name
        size, requested = capacity(volume).value, requested_storage(claim).value
        larger = "" if size == requested else f" for {_size(requested)}"
        text = f"claim {name_of(key)} is bound to volume {name} ({_size(size)}{larger})"
        yield Allocation(text, claim=key, names=(name,))
    for claim, left in found.dynamic:
        key, storage_class = meta.key_of(claim), storage.class_of(claim)
        known = cluster.get(storage.StorageClass, storage_class)
        maker = f" by {known.provisioner}" if known is not None else ""
        of = f"{_size(requested_storage(claim).value)} of class {storage_class}"
        room = f", where {left.capacity} is left" if left is not None and left.capacity else ""
        yield Allocation(f"a volume is provisioned{maker} for claim {name_of(key)}: {of}{room}", claim=key, made=True)
