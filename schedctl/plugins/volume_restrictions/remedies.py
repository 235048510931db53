"""What would undo a rejection of VolumeRestrictions: that the pods go which use the disk or the claim."""

from __future__ import annotations

from schedctl.framework.remedies import MOST_REMOVED_PODS, Rejection, Remedies, remove_pods


def remedies(rejection: Rejection) -> Remedies:
    """Return that the pods go, if they are few."""
    if rejection.reference not in ("volume-restrictions/conflict", "volume-restrictions/occupied"):
        return []
    evidence = rejection.evidence
    in_use = evidence.get("claims") or evidence.get("disks") or ()
    pods = sorted({pod for each in in_use for pod in each["pods"]})
    return [remove_pods(pods)] if 0 < len(pods) <= MOST_REMOVED_PODS else []
