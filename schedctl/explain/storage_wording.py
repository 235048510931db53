"""The words for evidence of VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone.

Claims are told by name alone: they are in the namespace of the pod. See ``wording`` for how these phrases are used.
"""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.api.amounts import STORAGE, amount
from schedctl.explain.evidence import Evidence
from schedctl.framework.wording import few, name_of, requirement
from schedctl.plugins.volume_binding.claims import Because
from schedctl.plugins.volume_binding.provisioning import NO_PROVISIONER
from schedctl.plugins.volume_binding.volumes import Unfit

_KINDS = {"persistentVolumeClaim": "claim"}
_FAR, _FARTHEST = 1 << 62, 1 << 63


# -- VolumeRestrictions ----------------------------------------------------------


def in_use(evidence: Evidence) -> str:
    """``claim models is in use by shop/registry``."""
    return "; ".join(
        f"{_KINDS.get(each['kind'], each['kind'])} {each['name']} is in use by {few(each['pods'])}"
        for each in evidence.get("claims") or evidence.get("disks") or ()
    )


# -- NodeVolumeLimits ------------------------------------------------------------


def attached(evidence: Evidence) -> str:
    """``2 of at most 2 volumes attached, for lab/gitea, lab/notebook; for no pod: pv-old``."""
    holders = few(list(evidence["holders"]))
    number = f"{evidence['used']} of at most {evidence['limit']} volumes attached"
    told = f"{number}, for {holders}" if holders else number
    unused = [each["volume"] for each in evidence["attached"] if not each["pods"]]
    return f"{told}; for no pod: {few(unused)}" if unused else told


def to_attach(all_evidence: Sequence[Evidence]) -> str:
    """``cinder.csi.openstack.org: 1 more for volume results``."""
    wanted = {
        f"{evidence['driver']}: {evidence['new']} more for volume{'s' if len(evidence['volumes']) > 1 else ''}"
        f" {few(evidence['volumes'])}": None
        for evidence in all_evidence
    }
    return "; ".join(wanted)


def too_many(evidence: Evidence) -> int:
    """Return by how many volumes a limit would be exceeded."""
    return int(evidence["used"] + evidence["new"] - evidence["limit"])


def without_driver(evidence: Evidence) -> str:
    """``volume data needs it``."""
    volumes = evidence["volumes"]
    return f"volume{'s' if len(volumes) > 1 else ''} {few(volumes)} need{'' if len(volumes) > 1 else 's'} it"


def unreadable(evidence: Evidence) -> str:
    """``because of pod shop/web``."""
    return f"because of pod {evidence['pod']}" if "pod" in evidence else ""


# -- VolumeBinding ---------------------------------------------------------------


def out_of_reach(evidence: Evidence) -> str:
    """``volume pvc-1 of claim data is within reach only of topology.kubernetes.io/zone=b``."""
    only = _alternatives(evidence)
    where = f"is within reach only of {only}" if only else "is within reach of no node"
    return f"volume {evidence['volume']} of claim {name_of(evidence['claim'])} {where}"


def elsewhere(evidence: Evidence) -> str:
    """``a volume for claim data is being made for node-3``."""
    return f"a volume for claim {name_of(evidence['claim'])} is being made for {evidence['selectedNode']}"


def unmatched(evidence: Evidence) -> str:
    """``volume pv-1 is too small: 100Gi, 200Gi missing``."""
    miss = evidence.get("nearest")
    if miss is None:
        return "no volume of the class is within reach" if evidence.get("volumes") else ""
    missing = evidence["requested"] - miss["capacity"]
    told = [_objection(Unfit(each), miss, missing) for each in miss["objections"]]
    return f"volume {miss['volume']} {' and '.join(told) or 'goes to another claim of the pod'}"


def unmatched_claims(all_evidence: Sequence[Evidence]) -> str:
    """``claim data: 300Gi of class local requested, no volume will do (1 too small), and the class makes none``."""
    told: dict[str, None] = {}
    for evidence in all_evidence:
        tally = ", ".join(f"{number} {what}" for what, number in evidence.get("volumes", {}).items())
        found = f"no volume will do ({tally})" if tally else "there is no volume"
        if "volumes" not in evidence:  # a node was promised to have one made there
            found = "one is to be made"
        wanted = f"{_size(evidence['requested'])} of class {evidence['storageClass']} requested"
        told[f"claim {name_of(evidence['claim'])}: {wanted}, {found}, and the class makes none"] = None
    return "; ".join(told)


def unmatched_by(evidence: Evidence) -> int:
    """Return how far the nearest volume is from being the claim's: released ones first, then by what is missing."""
    miss = evidence.get("nearest")
    if miss is None:
        return _FARTHEST
    match miss["objections"]:
        case [Unfit.RELEASED]:
            return 0
        case [Unfit.SMALL]:
            return int(evidence["requested"] - miss["capacity"])
    return _FAR


def _objection(unfit: Unfit, miss: Evidence, missing: int) -> str:
    match unfit:
        case Unfit.RELEASED:
            return f"is {miss['phase']}: its claimRef keeps it for claim {miss['keptFor']}"
        case Unfit.KEPT:
            return f"is kept for claim {miss['keptFor']}"
        case Unfit.SMALL:
            return f"is too small: {_size(miss['capacity'])}, {_size(missing)} missing"
        case Unfit.ACCESS:
            return f"has only access mode {' and '.join(miss['accessModes']) or 'none'}"
        case Unfit.LABELS:
            return "does not have the labels asked for"
        case Unfit.PHASE:
            return f"is {miss['phase'] or 'in no phase'}, not Available"
    return f"is {unfit.value}"


def outside(evidence: Evidence) -> str:
    """``class ssd makes volumes, here for claim data, only in topology.kubernetes.io/zone in (a,b)``."""
    where = f"only in {_alternatives(evidence) or 'places that no node is in'}"
    return f"class {evidence['storageClass']} makes volumes, here for claim {name_of(evidence['claim'])}, {where}"


def full(evidence: Evidence) -> str:
    """``at most 95Gi left, 105Gi missing``."""
    largest = evidence["largest"]
    if largest is None:
        return "no capacity is known here"
    return f"at most {_size(largest)} left, {_size(evidence['requested'] - largest)} missing"


def fullest(all_evidence: Sequence[Evidence]) -> str:
    """``claim data: 200Gi of class scratch requested, 180Gi at most on a node``."""
    claims: dict[str, list[Evidence]] = {}
    for evidence in all_evidence:
        claims.setdefault(evidence["claim"], []).append(evidence)
    told = []
    for claim, found in claims.items():
        largest = max((each["largest"] for each in found if each["largest"] is not None), default=None)
        most = f"{_size(largest)} at most on a node" if largest is not None else "none left on any node"
        requested = f"{_size(found[0]['requested'])} of class {found[0]['storageClass']} requested"
        told.append(f"claim {name_of(claim)}: {requested}, {most}")
    return "; ".join(told)


def shortfall(evidence: Evidence) -> int:
    """Return how many bytes are missing."""
    return int(evidence["requested"] - evidence["largest"]) if evidence["largest"] is not None else _FARTHEST


def vanished(evidence: Evidence) -> str:
    """``volume pvc-1 of claim data is not there``."""
    return f"volume {evidence['volume']} of claim {name_of(evidence['claim'])} is not there"


def immediate(evidence: Evidence) -> str:
    """``claim data is not bound yet: it names volume pv-1, which does not exist``."""
    return "; ".join(
        f"claim {name_of(each['claim'])} is not bound yet: {_unbound(each)}" for each in evidence["unbound"]
    )


def _unbound(each: Evidence) -> str:
    volume, storage_class = each["volume"], each["storageClass"]
    match Because(each["because"]):
        case Because.NO_VOLUME:
            return f"it names volume {volume}, which does not exist"
        case Because.KEPT:
            return f"it names volume {volume}, which is kept for claim {each['keptFor']}"
        case Because.UNFINISHED:
            return f"its binding to volume {volume} is not completed"
        case Because.CLASSLESS:
            return "it has no class, and no volume was bound to it"
        case Because.NO_CLASS:
            return f"its class {storage_class} does not exist"
    if each["provisioner"] in ("", NO_PROVISIONER):
        return f"class {storage_class} does not wait for a pod and makes no volumes, and none was bound to it"
    return f"class {storage_class} does not wait for a pod, and {each['provisioner']} has not made a volume"


# -- VolumeZone ------------------------------------------------------------------


def wrong_zone(evidence: Evidence) -> str:
    """``volume pv-1 of claim data is in topology.kubernetes.io/zone=b, the node in a``."""
    place = f"{evidence['label']}={' or '.join(evidence['wanted'])}"
    node = f"the node in {evidence['has']}" if evidence["has"] is not None else "the node has no such label"
    return f"volume {evidence['volume']} of claim {evidence['claim']} is in {place}, {node}"


def _alternatives(evidence: Evidence) -> str:
    return " or ".join(", ".join(map(requirement, term)) for term in evidence["unmet"] if term)


def _size(value: int) -> str:
    return amount(STORAGE, value)
