"""The part of PreBind that is about devices: resource claims allocated to the pod and reserved for it.

A claim gets a finalizer, then its allocation and the pod among its users. For extended resources that are devices such
a claim is made first, and the pod's status says which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from schedctl.api.annotation_keys import EXTENDED_RESOURCE_CLAIM
from schedctl.api.devices import ResourceClaim
from schedctl.api.meta import ObjectMeta, key_of
from schedctl.live.codes import INVALID
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused
from schedctl.live.journal import Journal
from schedctl.live.objects import DEVICE_CLASS, POD, RESOURCE_CLAIM, Object, collection, path_of
from schedctl.live.plans import BindPlan, ChangedObject, Refusal, Step, existing_object

_LASTING = "the API server does not allow to clear it; the next bind overwrites it"


_MISSPELT = (
    "{} cannot be written: the parameters for its drivers are stored with spaces or characters that the API server"
    " returns differently, so that every write looks like a change"
)


def device_step(plan: BindPlan, changed: ChangedObject) -> Step:
    """Return what allocates a claim or reserves it for the pod.

    Raises:
        Refusal: a device of it is ready only after its driver has said so.
    """
    before: ResourceClaim | None = changed.before
    after: ResourceClaim = changed.after
    allocation = after.status.allocation
    assert allocation is not None
    results = allocation.devices.results or ()
    for result in results:
        if result.binding_conditions:
            device = f"{result.driver}/{result.pool}/{result.device}"
            raise Refusal(
                f"device {device} must be prepared by its driver before the bind, and schedctl does not wait for that",
                "leave the pod to kube-scheduler",
            )
    names = ", ".join(dict.fromkeys(f"{each.driver}/{each.pool}/{each.device}" for each in results))
    if before is None:
        text = f"make a resource claim for the extended resources of {plan.pod.key}, with {names}"
        return Step(RESOURCE_CLAIM, "", text, changed.plugin, _create_claim(plan, after))
    if before.status.allocation is not None:
        text = f"reserve resource claim {key_of(after)} for {plan.pod.key}"
        return Step(RESOURCE_CLAIM, key_of(after), text, changed.plugin, _write_allocation(plan, after, None))
    text = f"allocate {names} to resource claim {key_of(after)} and reserve it for {plan.pod.key}"
    write = _write_allocation(plan, after, msgspec.to_builtins(allocation))
    return Step(RESOURCE_CLAIM, key_of(after), text, changed.plugin, write)


def _write_allocation(
    plan: BindPlan, claim: ResourceClaim, allocation: Object | None
) -> Callable[[Connection, Journal], None]:
    def write(connection: Connection, journal: Journal) -> None:
        stored = existing_object(connection, RESOURCE_CLAIM, key_of(claim), verbatim="spec")
        _write_claim_status(connection, journal, plan, stored, claim, allocation)
        if EXTENDED_RESOURCE_CLAIM in (claim.metadata.annotations or {}):
            _write_pod_status(connection, journal, plan, claim.metadata.name)

    return write


def _create_claim(plan: BindPlan, claim: ResourceClaim) -> Callable[[Connection, Journal], None]:
    """Return what makes the claim for extended resources; a dry run ends there, for nothing can be done to it."""

    def write(connection: Connection, journal: Journal) -> None:
        metadata = claim.metadata
        kept = ObjectMeta(
            generate_name=metadata.generate_name,
            namespace=metadata.namespace,
            annotations=metadata.annotations,
            owner_references=metadata.owner_references,
        )
        body = {
            "apiVersion": RESOURCE_CLAIM.api_version,
            "kind": RESOURCE_CLAIM.name,
            "metadata": msgspec.to_builtins(kept),
            "spec": msgspec.to_builtins(claim.spec),
        }
        what = f"the resource claim for the extended resources of {plan.pod.key}"
        stored = journal.create(what, collection(RESOURCE_CLAIM, metadata.namespace), body)
        if journal.dry_run:
            return
        _write_claim_status(connection, journal, plan, stored, claim, msgspec.to_builtins(claim.status.allocation))
        _write_pod_status(connection, journal, plan, stored["metadata"]["name"])

    return write


def _write_pod_status(connection: Connection, journal: Journal, plan: BindPlan, claim: str) -> None:
    """Write into the pod's status which claim its extended resources come from."""
    pod = existing_object(connection, POD, plan.pod.key)
    claim_status = {"resourceClaimName": claim, "requestMappings": msgspec.to_builtins(plan.mappings)}
    changed = {**pod, "status": {**(pod.get("status") or {}), "extendedResourceClaimStatus": claim_status}}
    what = f"resource claim {claim} in the status of pod {plan.pod.key}"
    journal.put(what, path_of(POD, plan.pod.key), pod, changed, part="status", lasting=_LASTING)


def _write_claim_status(
    connection: Connection,
    journal: Journal,
    plan: BindPlan,
    stored: Object,
    claim: ResourceClaim,
    allocation: Object | None,
) -> None:
    """Write a claim's finalizer, then its allocation and user."""
    key = f"{stored['metadata']['namespace']}/{stored['metadata']['name']}"
    path, what = path_of(RESOURCE_CLAIM, key), f"resource claim {key}"
    status = dict(stored.get("status") or {})
    if allocation is not None:
        present = stored["metadata"].get("finalizers") or []
        finalizers = [*present, *(each for each in claim.metadata.finalizers or () if each not in present)]
        # kube-scheduler's order: the finalizer keeps a claim to which devices are allocated from being deleted.
        if finalizers != present:
            changed = {**stored, "metadata": {**stored["metadata"], "finalizers": finalizers}}
            try:
                stored = journal.put(what, path, stored, changed)
            except Refused as fault:
                if fault.code == INVALID and b'"parameters"' in msgspec.json.encode(stored["spec"]):
                    hint = "recreate it with kubectl, or leave the pod to kube-scheduler"
                    raise Refusal(_MISSPELT.format(what), hint) from fault
                raise
        spec = msgspec.json.decode(msgspec.json.encode(stored["spec"]))  # it may be Raw, see `existing_object`
        configurations = device_configurations(
            spec, allocation, lambda name: existing_object(connection, DEVICE_CLASS, name)
        )
        devices = {**allocation["devices"], **({"config": configurations} if configurations else {})}
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status["allocation"] = {**allocation, "devices": devices, "allocationTimestamp": at}
    metadata = plan.pod.metadata
    user = {"resource": "pods", "name": metadata.name, "uid": metadata.uid}
    status["reservedFor"] = [*(status.get("reservedFor") or ()), user]
    journal.put(what, path, stored, {**stored, "status": status}, part="status", repair=_remove_user(metadata.uid))


def _remove_user(uid: str) -> Callable[[Object], Object | None]:
    """Return what takes a pod off the users of a claim that has moved on; its devices stay with it."""

    def repair(claim: Object) -> Object | None:
        status = claim.get("status") or {}
        users = [each for each in status.get("reservedFor") or () if each.get("uid") != uid]
        return {**claim, "status": {**status, "reservedFor": users}}

    return repair


def device_configurations(spec: Object, allocation: Object, device_class: Callable[[str], Object]) -> list[Any]:
    """Return the configuration of an allocation.

    Args:
        spec: the claim's.
        allocation: the devices it is given.
        device_class: finds a class by its name.
    """
    devices = spec.get("devices") or {}
    served = [_allocated_request(request, allocation) for request in devices.get("requests") or ()]
    found: list[dict[str, Any]] = []
    of_class: dict[str, list[dict[str, Any]]] = {}
    for _, name, class_name in served:
        if class_name in of_class:
            for entry in of_class[class_name]:
                entry["requests"].append(name)
            continue
        configs = device_class(class_name)["spec"].get("config") or ()
        of_class[class_name] = [{"source": "FromClass", "requests": [name], **each} for each in configs]
        found += of_class[class_name]
    for each in devices.get("config") or ():
        about = each.get("requests") or []
        if not about or any(request in about or name in about for request, name, _ in served):
            found.append({**each, "source": "FromClaim", "requests": list(about)})
    # None stands for all requests; empty fields are left out below.
    for entry in found:
        if all(request in entry["requests"] or name in entry["requests"] for request, name, _ in served):
            entry["requests"] = []
    return [{key: value for key, value in entry.items() if value != []} for entry in found]


def _allocated_request(request: Object, allocation: Object) -> tuple[str, str, str]:
    """Return a request, the alternative of it that was served (itself where it has none), and its class."""
    name = request["name"]
    if "exactly" in request:
        return name, name, request["exactly"]["deviceClassName"]
    results = {result["request"] for result in allocation["devices"].get("results") or ()}
    chosen = next(each for each in request["firstAvailable"] if f"{name}/{each['name']}" in results)
    return name, f"{name}/{chosen['name']}", chosen["deviceClassName"]
