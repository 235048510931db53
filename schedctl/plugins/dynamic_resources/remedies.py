"""What would undo a rejection of DynamicResources: requests for other devices, and claims given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from schedctl.api import devices
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.devices.shortages import Why
from schedctl.framework.claim_remedies import edit_devices, edit_request, request_of, use_device_class
from schedctl.framework.commands import kubectl
from schedctl.framework.device_classes import IMPLICIT_PREFIX
from schedctl.framework.pod_remedies import lower_request
from schedctl.framework.remedies import Evidence, Reach, Rejection, Remedies, Remedy, Together
from schedctl.framework.wording import few, name_of, name_with_verb, shorten
from schedctl.plugins.dynamic_resources.claims import users_of

_MOST_CHOICES = 6
"""More ways than this to win a device are not looked at."""
_replace = msgspec.structs.replace


def remedies(rejection: Rejection, cluster: Cluster) -> Remedies:
    """Return what the claims would have to ask for, or which claims would have to be given up."""
    match rejection.reference:
        case "dynamic-resources/not-allocated":
            return _allocate(rejection.evidence["scarcity"], cluster)
        case "dynamic-resources/unavailable":
            claims = [each["claim"] for each in rejection.evidence["claims"]]
            known = cluster.every(devices.ResourceClaim)
            pods = dict.fromkeys(pod for key in claims if key in known for pod in users_of(known[key]))
            return [_free_claims(claims, tuple(pods))]
    return []


def _allocate(scarcity: Evidence, cluster: Cluster) -> list[Together]:
    """For each request it is stuck at: fewer devices, what would win the nearest ones, or other classes."""
    drivers = dict.fromkeys(pool.partition("/")[0] for pool in scarcity["incomplete"])
    found: list[Together] = [(_complete_pools(driver),) for driver in drivers]
    for lack in scarcity["lacking"]:
        claim, request, number = lack["claim"], lack["request"], lack["found"]
        written = claim in cluster.every(devices.ResourceClaim)
        if 0 < number < lack["wanted"]:
            resource = _resource(lack["deviceClass"], cluster)
            found.append((_lower_count(lack) if written else lower_request(resource, number),))
        against = [device["refusals"] for device in (lack["closest"], *lack["others"]) if device is not None]
        for objections in against:
            changes = [_win(lack, each, scarcity["users"], cluster) for each in _permanent_refusals(objections)]
            if None not in changes:
                found.append(tuple(change for change in changes if change is not None))
        if written and any([Why(each["why"]) for each in objections] == [Why.CLASS] for objections in against):
            others = sorted(cluster.every(devices.DeviceClass).keys() - {lack["deviceClass"]})
            found += [(use_device_class(claim, request, name),) for name in others]
    return list(dict.fromkeys(found))[:_MOST_CHOICES]


def _resource(device_class: str, cluster: Cluster) -> str:
    """Return the extended resource that a class stands behind."""
    known = cluster.get(devices.DeviceClass, device_class)
    return (known.spec.extended_resource_name if known is not None else None) or f"{IMPLICIT_PREFIX}{device_class}"


def _permanent_refusals(objections: Sequence[Evidence]) -> Sequence[Evidence]:
    """Leave out what speaks against a device only because of the devices chosen so far, if there is more."""
    kept = [each for each in objections if Why(each["why"]) not in (Why.CHOSEN, Why.CONSTRAINT)]
    return kept or objections


def _win(lack: Evidence, objection: Evidence, users: Evidence, cluster: Cluster) -> Remedy | None:
    """Return what would undo one reason against a device, None if nothing is known."""
    claim, request, subject = lack["claim"], lack["request"], objection["subject"]
    known = cluster.every(devices.ResourceClaim)
    why = Why(objection["why"])
    if why is not Why.HELD and claim not in known:
        return None
    match why:
        case Why.HELD if objection["holders"] and known.keys() >= set(objection["holders"]):
            pods = dict.fromkeys(pod for holder in objection["holders"] for pod in users.get(holder, ()))
            return _free_claims(objection["holders"], tuple(pods), _free_devices(lack))
        case Why.REQUEST:
            return _drop_selector(claim, request, subject)
        case Why.CAPACITY if objection["left"] and not objection["left"].startswith(("0", "-")):
            return _lower_capacity(claim, request, subject, objection["left"])
        case Why.TAINT:
            return _tolerate(claim, request, subject)
        case Why.CONSTRAINT | Why.ATTRIBUTE:
            return _drop_constraint(claim, subject)
    return None


# -- requests --------------------------------------------------------------------


def _lower_count(lack: Evidence) -> Remedy:
    claim, request, most = lack["claim"], lack["request"], lack["found"]
    return Remedy(
        "lower-device-count",
        f"{request_of(claim, request)} asks for {most} device{'' if most == 1 else 's'}{_free_devices(lack)}",
        edit_request(claim, request, lambda written: _replace(written, count=most)),
        effort=2,
        subject=(claim, request),
    )


def _free_devices(lack: Evidence) -> str:
    """Return `` (class gpu.example.com: 1 free for it, 2 requested)``: others may be free that it does not select."""
    return f" (class {lack['deviceClass']}: {lack['found']} free for it, {lack['wanted'] or 'all'} requested)"


def _drop_selector(claim: str, request: str, expression: str) -> Remedy:
    def drop(written: Any) -> Any:
        selectors = written.selectors or ()
        kept = [each for each in selectors if each.cel is None or each.cel.expression != expression]
        return _replace(written, selectors=kept or None)

    return Remedy(
        "drop-device-selector",
        f"{request_of(claim, request)} does not select on {shorten(expression)}",
        edit_request(claim, request, drop),
        effort=3,
        subject=(claim, request, expression),
        reach=Reach.RULE,
    )


def _lower_capacity(claim: str, request: str, capacity: str, most: str) -> Remedy:
    def lower(written: Any) -> Any:
        if written.capacity is None:
            return written
        amounts = {**(written.capacity.requests or {}), capacity: most}
        return _replace(written, capacity=_replace(written.capacity, requests=amounts))

    return Remedy(
        "lower-device-capacity",
        f"{request_of(claim, request)} asks for {most} of {capacity}",
        edit_request(claim, request, lower),
        effort=2,
        subject=(claim, request, capacity),
    )


def _tolerate(claim: str, request: str, taint: str) -> Remedy:
    """Tolerate just one taint of a device, ``key=value:effect``."""
    key, _, rest = taint.partition("=")
    value, _, effect = rest.rpartition(":")
    toleration = devices.DeviceToleration(key=key, operator="Equal", value=value, effect=effect)

    def add(written: Any) -> Any:
        return _replace(written, tolerations=[*(written.tolerations or ()), toleration])

    return Remedy(
        "add-device-toleration",
        f"{request_of(claim, request)} tolerates {key}={value}:{effect}",
        edit_request(claim, request, add),
        effort=2,
        subject=(claim, request, taint),
    )


# -- claims and pools ------------------------------------------------------------


def _drop_constraint(claim: str, attribute: str) -> Remedy:
    def drop(request: devices.DeviceClaim) -> devices.DeviceClaim:
        constraints = request.constraints or ()
        kept = [each for each in constraints if attribute not in (each.match_attribute, each.distinct_attribute)]
        return _replace(request, constraints=kept or None)

    return Remedy(
        "drop-device-constraint",
        f"claim {name_of(claim)} has no constraint on {attribute}",
        edit_devices(claim, drop),
        effort=3,
        subject=(claim, attribute),
        reach=Reach.RULE,
    )


def _free_claims(claims: Sequence[str], users: tuple[str, ...], devices_in_words: str = "") -> Remedy:
    """Free the devices of claims that hold them, or that are themselves what the pod needs elsewhere.

    Args:
        claims: their keys.
        users: the pods that use them, for the text; those that the claims are reserved for are removed.
        devices_in_words: which devices that is about, to stand behind the sentence.
    """

    def free(pod: Pod, cluster: Cluster) -> Pod:
        for key in claims:
            claim = cluster.every(devices.ResourceClaim)[key]
            reserved_for = {user.uid for user in claim.status.reserved_for or ()}
            for info in [info for info in cluster.pod_table if info.uid in reserved_for]:
                cluster.remove_pod(info)
            cluster.put(_replace(claim, status=devices.ResourceClaimStatus()))
        return pod

    by = f" by pod{'s' if len(users) > 1 else ''} {few(users)}" if users else ""
    condition = f"{name_with_verb('claim', claims)} no longer in use{by}{devices_in_words}"
    return Remedy("free-claims", condition, free, effort=4, subject=tuple(claims), reach=Reach.OTHER_PODS)


def _complete_pools(driver: str) -> Remedy:
    """Let the slices of a driver that are there be all of their pool: pools of which some are missing do not count."""

    def complete(pod: Pod, cluster: Cluster) -> Pod:
        slices = [each for each in cluster.every(devices.ResourceSlice).values() if each.spec.driver == driver]
        published = Counter((each.spec.pool.name, each.spec.pool.generation) for each in slices)
        for each in slices:
            pool = each.spec.pool
            whole = _replace(pool, resource_slice_count=published[pool.name, pool.generation])
            cluster.put(_replace(each, spec=_replace(each.spec, pool=whole)))
        return pod

    return Remedy(
        "complete-device-pools",
        f"the pools of driver {driver} are complete",
        complete,
        effort=3,
        subject=driver,
        command=kubectl("get", "resourceslices", options=("--field-selector", f"spec.driver={driver}")),
    )
