"""What kube-scheduler writes before it binds a pod, made of what the dry run has changed in memory.

The dry run carries a cycle to its end: it leaves volumes bound, volumes provisioned and devices allocated, the work of
controllers included. `steps` takes from that the part that kube-scheduler itself writes, in its order:

- a volume that is there already gets the reference to its claim; the volume controller binds the two;
- a claim whose volume is to be made gets the chosen node as an annotation; a provisioner makes the volume;
- a resource claim gets a finalizer, then its allocation and the pod among its users;
- for extended resources that are devices, such a claim is made first, and the pod's status says which it is.

`settled` waits for the controllers, as kube-scheduler does. What cannot be done from outside is refused by `steps`,
before anything is written: devices that become ready only after their driver has said so are waited for by nobody here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from schedctl.api.annotation_keys import BIND_COMPLETED, EXTENDED_RESOURCE_CLAIM
from schedctl.api.devices import DeviceRequestAllocationResult, ResourceClaim
from schedctl.api.kinds import Kind, named
from schedctl.api.meta import ObjectMeta, key_of
from schedctl.api.node_selectors import compile_node_selector
from schedctl.api.nodes import Node
from schedctl.api.pods import ContainerExtendedResourceRequest, Pod
from schedctl.api.storage import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim
from schedctl.errors import ClusterError
from schedctl.live.codes import INVALID
from schedctl.live.connections import Connection
from schedctl.live.device_configurations import configurations
from schedctl.live.faults import Refused
from schedctl.live.journal import Journal
from schedctl.live.paths import collection, path_of
from schedctl.live.sightings import NODE, POD, Head, Object, Sightings, all_current, current, read, whole

VOLUME, CLAIM = named("PersistentVolume"), named("PersistentVolumeClaim")
RESOURCE_CLAIM, DEVICE_CLASS, SLICE = named("ResourceClaim"), named("DeviceClass"), named("ResourceSlice")
_LASTING = "the API server lets nobody clear it, and the next bind overwrites it"
_MISSPELT = (
    "{} cannot be written: the parameters for its drivers were stored with spaces or signs that the API server does not"
    " show as they are, so that it takes them for changed"
)
PAUSE = 1.0
"""Seconds between two looks at what a controller has to do."""


@dataclass(frozen=True, slots=True)
class Changed:
    """An object that the dry run of PreBind has changed.

    Attributes:
        before: as it was listed, None for one that was made.
        after: as the dry run left it.
    """

    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """A decision that can be carried out.

    Attributes:
        pod: the pod, as the decision was made on it.
        node: the name of the node.
        changed: the objects that PreBind has changed, in order.
        mappings: which container gets which extended resource from which request, where devices stand in for them.
        patience: how many seconds volumes may take to be bound.
    """

    pod: Pod
    node: str
    changed: tuple[Changed, ...] = ()
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    patience: float = 600.0


@dataclass(frozen=True, slots=True)
class Step:
    """A change that is to be written.

    Attributes:
        kind: of the object.
        key: ``namespace/name`` of the object, or its name; "" for one that is made.
        text: what is done, in words.
        write: writes it.
    """

    kind: Kind
    key: str
    text: str
    write: Callable[[Connection, Journal], None]


class Refusal(ClusterError):
    """A bind that is not carried out, because something is not as the decision found it or cannot be done."""


def steps(plan: Plan) -> list[Step]:
    """Return what is to be written before the pod is bound, in order.

    Raises:
        Refusal: something of it cannot be done from outside.
    """
    devices = (
        _devices(plan, changed.before, changed.after)
        for changed in plan.changed
        if isinstance(changed.after, ResourceClaim)
    )
    return [*_volumes(plan), *_claims(plan), *devices]


def _volumes(plan: Plan) -> Iterable[Step]:
    for changed in plan.changed:
        volume, before = changed.after, changed.before
        if isinstance(volume, PersistentVolume) and before is not None and volume.spec.claim_ref is not None:
            reference = volume.spec.claim_ref
            claim = f"{reference.namespace}/{reference.name}"
            yield Step(VOLUME, key_of(volume), f"keep volume {key_of(volume)} for claim {claim}", _keep(before, volume))


def _claims(plan: Plan) -> Iterable[Step]:
    for claim, provisioned in _waiting(plan):
        if provisioned:
            text = f"have a volume for claim {key_of(claim)} made where {plan.node} is"
            yield Step(CLAIM, key_of(claim), text, _select(claim, plan.node))


def _waiting(plan: Plan) -> Iterable[tuple[PersistentVolumeClaim, bool]]:
    """Yield the claims that are bound on the way, and whether their volume is made for them."""
    made = {each.after.metadata.name for each in plan.changed if each.before is None}
    for changed in plan.changed:
        if isinstance(changed.after, PersistentVolumeClaim):
            yield changed.before, changed.after.spec.volume_name in made


# -- volumes ---------------------------------------------------------------------


def _keep(before: PersistentVolume, after: PersistentVolume) -> Callable[[Connection, Journal], None]:
    """Return what writes the reference to a claim into a volume, as kube-scheduler writes it."""
    reference = after.spec.claim_ref
    assert reference is not None
    annotations = _added(before.metadata, after.metadata)

    def write(connection: Connection, journal: Journal) -> None:
        claim = _needed(connection, CLAIM, f"{reference.namespace}/{reference.name}")
        volume = _needed(connection, VOLUME, key_of(before))
        wanted = {
            "kind": "PersistentVolumeClaim",
            "namespace": reference.namespace,
            "name": reference.name,
            "uid": reference.uid,
            "apiVersion": "v1",
            "resourceVersion": claim["metadata"]["resourceVersion"],
        }
        theirs = volume["spec"].get("claimRef")
        if theirs and (theirs.get("namespace"), theirs.get("name"), theirs.get("uid")) == (
            reference.namespace,
            reference.name,
            reference.uid,
        ):
            wanted = theirs
        changed = {**_annotated(volume, annotations), "spec": {**volume["spec"], "claimRef": wanted}}
        journal.put(f"volume {key_of(before)}", path_of(VOLUME, key_of(before)), volume, changed)

    return write


def _select(claim: PersistentVolumeClaim, node: str) -> Callable[[Connection, Journal], None]:
    """Return what asks for a volume where a node is."""

    def write(connection: Connection, journal: Journal) -> None:
        stored = _needed(connection, CLAIM, key_of(claim))
        changed = _annotated(stored, {SELECTED_NODE: node})
        journal.put(f"claim {key_of(claim)}", path_of(CLAIM, key_of(claim)), stored, changed)

    return write


def settled(
    connection: Connection,
    plan: Plan,
    *,
    pause: float = PAUSE,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the volume controller and the provisioners have bound the claims.

    Raises:
        Refusal: they will not, or take too long.
    """
    waiting = list(_waiting(plan))
    if not waiting:
        return
    volumes = [each.after for each in plan.changed if isinstance(each.after, PersistentVolume) and each.before]
    until = now() + plan.patience
    while not _all_bound(connection, plan, waiting, volumes):
        if now() >= until:
            names = ", ".join(key_of(claim) for claim, _ in waiting)
            raise Refusal(f"the volumes of {names} are not bound after {plan.patience:g} s")
        sleep(pause)


def _all_bound(
    connection: Connection,
    plan: Plan,
    waiting: Sequence[tuple[PersistentVolumeClaim, bool]],
    volumes: Sequence[PersistentVolume],
) -> bool:
    """Return whether all claims are bound.

    Raises:
        Refusal: one will not be.
    """
    node = current(connection, NODE, plan.node)
    pod = current(connection, POD, plan.pod.key)
    if node is None:
        raise Refusal(f"node {plan.node} is gone")
    if pod is None or read(pod, Head).metadata.uid != plan.pod.metadata.uid:
        raise Refusal(f"pod {plan.pod.key} is gone")
    labels = read(node, Node).metadata.labels or {}
    for volume in volumes:
        stored = read(_body(connection, VOLUME, key_of(volume)), PersistentVolume)
        if stored.spec.claim_ref is None or not stored.spec.claim_ref.uid:
            raise Refusal(f"volume {key_of(volume)} was taken back from its claim")
        _reached(stored, plan.node, labels)
    bound = True
    for claim, provisioned in waiting:
        stored = read(_body(connection, CLAIM, key_of(claim)), PersistentVolumeClaim)
        annotations = stored.metadata.annotations or {}
        if provisioned and annotations.get(SELECTED_NODE) != plan.node:
            raise Refusal(f"no volume could be made for claim {key_of(claim)}")
        if not stored.spec.volume_name or BIND_COMPLETED not in annotations:
            bound = False
        elif provisioned:
            _reached(read(_body(connection, VOLUME, stored.spec.volume_name), PersistentVolume), plan.node, labels)
    return bound


def _reached(volume: PersistentVolume, node: str, labels: dict[str, str]) -> None:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return
    terms = compile_node_selector(affinity.required).terms
    if not any(term.labels.matches(labels) for term in terms):
        raise Refusal(f"volume {key_of(volume)} cannot be reached from node {node}")


# -- devices ---------------------------------------------------------------------


def _devices(plan: Plan, before: ResourceClaim | None, after: ResourceClaim) -> Step:
    """Return what allocates a claim or reserves it for the pod.

    Raises:
        Refusal: a device of it is ready only after its driver has said so.
    """
    allocation = after.status.allocation
    assert allocation is not None
    results = allocation.devices.results or ()
    for result in results:
        if result.binding_conditions:
            device = f"{result.driver}/{result.pool}/{result.device}"
            raise Refusal(
                f"device {device} is ready only after its driver has prepared it, and schedctl does not wait for that",
                "leave the pod to kube-scheduler",
            )
    names = ", ".join(dict.fromkeys(f"{each.driver}/{each.pool}/{each.device}" for each in results))
    if before is None:
        text = f"make a resource claim for the extended resources of {plan.pod.key}, with {names}"
        return Step(RESOURCE_CLAIM, "", text, _make(plan, after))
    if before.status.allocation is not None:
        text = f"reserve resource claim {key_of(after)} for {plan.pod.key}"
        return Step(RESOURCE_CLAIM, key_of(after), text, _allocate(plan, after, None))
    text = f"allocate {names} to resource claim {key_of(after)} and reserve it for {plan.pod.key}"
    return Step(RESOURCE_CLAIM, key_of(after), text, _allocate(plan, after, msgspec.to_builtins(allocation)))


def _allocate(plan: Plan, claim: ResourceClaim, allocation: Object | None) -> Callable[[Connection, Journal], None]:
    def write(connection: Connection, journal: Journal) -> None:
        stored = _needed(connection, RESOURCE_CLAIM, key_of(claim), verbatim="spec")
        _write_status(connection, journal, plan, stored, claim, allocation)
        if EXTENDED_RESOURCE_CLAIM in (claim.metadata.annotations or {}):
            _tell_pod(connection, journal, plan, claim.metadata.name)

    return write


def _make(plan: Plan, claim: ResourceClaim) -> Callable[[Connection, Journal], None]:
    """Return what makes the claim for extended resources; a dry run ends there, for nothing can be done to it."""

    def write(connection: Connection, journal: Journal) -> None:
        metadata = claim.metadata
        wanted = ObjectMeta(
            generate_name=metadata.generate_name,
            namespace=metadata.namespace,
            annotations=metadata.annotations,
            owner_references=metadata.owner_references,
        )
        body = {
            "apiVersion": RESOURCE_CLAIM.api_version,
            "kind": RESOURCE_CLAIM.name,
            "metadata": msgspec.to_builtins(wanted),
            "spec": msgspec.to_builtins(claim.spec),
        }
        what = f"the resource claim for the extended resources of {plan.pod.key}"
        stored = journal.create(what, collection(RESOURCE_CLAIM, metadata.namespace), body)
        if journal.dry_run:
            return
        _write_status(connection, journal, plan, stored, claim, msgspec.to_builtins(claim.status.allocation))
        _tell_pod(connection, journal, plan, stored["metadata"]["name"])

    return write


def _tell_pod(connection: Connection, journal: Journal, plan: Plan, claim: str) -> None:
    """Write into the pod's status which claim its extended resources come from."""
    pod = _needed(connection, POD, plan.pod.key)
    told = {"resourceClaimName": claim, "requestMappings": msgspec.to_builtins(plan.mappings)}
    changed = {**pod, "status": {**(pod.get("status") or {}), "extendedResourceClaimStatus": told}}
    what = f"what the status of pod {plan.pod.key} says of resource claim {claim}"
    journal.put(what, path_of(POD, plan.pod.key), pod, changed, part="status", lasting=_LASTING)


def _write_status(
    connection: Connection,
    journal: Journal,
    plan: Plan,
    stored: Object,
    claim: ResourceClaim,
    allocation: Object | None,
) -> None:
    """Write a claim's finalizer, then its allocation and user."""
    key = f"{stored['metadata']['namespace']}/{stored['metadata']['name']}"
    path, what = path_of(RESOURCE_CLAIM, key), f"resource claim {key}"
    status = dict(stored.get("status") or {})
    if allocation is not None:
        kept = stored["metadata"].get("finalizers") or []
        wanted = [*kept, *(each for each in claim.metadata.finalizers or () if each not in kept)]
        if wanted != kept:
            changed = {**stored, "metadata": {**stored["metadata"], "finalizers": wanted}}
            try:
                stored = journal.put(what, path, stored, changed)
            except Refused as fault:
                if fault.code == INVALID and b'"parameters"' in msgspec.json.encode(stored["spec"]):
                    hint = "make it anew with kubectl, or leave the pod to kube-scheduler"
                    raise Refusal(_MISSPELT.format(what), hint) from fault
                raise
        spec = msgspec.json.decode(msgspec.json.encode(stored["spec"]))
        given = configurations(spec, allocation, lambda name: _needed(connection, DEVICE_CLASS, name))
        devices = {**allocation["devices"], **({"config": given} if given else {})}
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        status["allocation"] = {**allocation, "devices": devices, "allocationTimestamp": at}
    metadata = plan.pod.metadata
    user = {"resource": "pods", "name": metadata.name, "uid": metadata.uid}
    status["reservedFor"] = [*(status.get("reservedFor") or ()), user]
    journal.put(what, path, stored, {**stored, "status": status}, part="status", repair=_unreserved(metadata.uid))


def _unreserved(uid: str) -> Callable[[Object], Object | None]:
    """Return what takes a pod off the users of a claim that has moved on; its devices stay with it."""

    def repair(claim: Object) -> Object | None:
        status = claim.get("status") or {}
        users = [each for each in status.get("reservedFor") or () if each.get("uid") != uid]
        return {**claim, "status": {**status, "reservedFor": users}}

    return repair


# -- whether all is as it was ----------------------------------------------------


def changes_since(connection: Connection, sightings: Sightings, plan: Plan, written: Sequence[Step]) -> list[str]:
    """Return what has moved of the objects that are to be written, and of the devices that are to be taken."""
    words = []
    for kind, key in dict.fromkeys((step.kind.name, step.key) for step in written if step.key):
        words += _unlike(connection, sightings, named(kind), key)
    for claim, _ in _waiting(plan):
        words += _unlike(connection, sightings, CLAIM, key_of(claim))
    pools = {
        (result.driver, result.pool)
        for each in plan.changed
        if isinstance(each.after, ResourceClaim) and (each.before is None or each.before.status.allocation is None)
        for result in _results(each.after)
    }
    return list(dict.fromkeys(words + (_pools_moved(connection, sightings, pools) if pools else [])))


def _unlike(connection: Connection, sightings: Sightings, kind: Kind, key: str) -> list[str]:
    now, before = current(connection, kind, key), sightings.get(kind, key)
    name = f"{_SPOKEN[kind.name]} {key}"
    if now is None or before is None:
        return [f"{name} is gone"]
    one, other = read(before, Head).metadata, read(now, Head).metadata
    return [] if (one.uid, one.resource_version) == (other.uid, other.resource_version) else [f"{name} has changed"]


def _pools_moved(connection: Connection, sightings: Sightings, pools: set[tuple[str, str]]) -> list[str]:
    """Say of pools of devices whether anything was taken from them, given back, or is offered otherwise."""
    words = []
    for kind, of_pools, what in (
        (RESOURCE_CLAIM, _allocated_of, "of pool {} other devices are allocated now"),
        (SLICE, _offered_of, "the devices of pool {} have changed"),
    ):
        one, other = of_pools(sightings.every(kind).values()), of_pools(all_current(connection, kind))
        words += [what.format("/".join(pool)) for pool in sorted(pools) if one.get(pool) != other.get(pool)]
    return words


def _allocated_of(claims: Iterable[bytes]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return which claims hold which devices, by driver and pool."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for item in claims:
        claim: ResourceClaim = read(item, ResourceClaim)
        for result in _results(claim):
            found.setdefault((result.driver, result.pool), set()).add((claim.metadata.uid, result.device))
    return found


def _results(claim: ResourceClaim) -> Sequence[DeviceRequestAllocationResult]:
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results or ()


def _offered_of(slices: Iterable[bytes]) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return the slices of each driver and pool, in which state."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for item in slices:
        slice_: _Slice = read(item, _Slice)
        metadata = slice_.metadata
        pool = (slice_.spec.driver, slice_.spec.pool.name)
        found.setdefault(pool, set()).add((metadata.uid, metadata.resource_version))
    return found


class _Pool(msgspec.Struct):
    name: str = ""


class _SliceSpec(msgspec.Struct):
    driver: str = ""
    pool: _Pool = msgspec.field(default_factory=_Pool)


class _Slice(Head):
    spec: _SliceSpec = msgspec.field(default_factory=_SliceSpec)


_SPOKEN = {"PersistentVolume": "volume", "PersistentVolumeClaim": "claim", "ResourceClaim": "resource claim"}


# -- plain objects ---------------------------------------------------------------


def _body(connection: Connection, kind: Kind, key: str) -> bytes:
    found = current(connection, kind, key)
    if found is None:
        raise Refusal(f"{kind.name} {key} is gone")
    return found


def _needed(connection: Connection, kind: Kind, key: str, *, verbatim: str = "") -> Object:
    """Return an object as the API server writes it.

    Args:
        connection: the cluster.
        kind: of the object.
        key: of the object.
        verbatim: a field that goes back byte for byte. The parameters in the spec of a claim are for drivers, and the
            API server takes the same ones in another spelling for others.

    Raises:
        Refusal: there is none.
    """
    body = _body(connection, kind, key)
    found = whole(body)
    if verbatim in found:
        found[verbatim] = read(body, dict[str, msgspec.Raw])[verbatim]
    return found


def _added(before: ObjectMeta, after: ObjectMeta) -> dict[str, str]:
    known = before.annotations or {}
    return {key: value for key, value in (after.annotations or {}).items() if known.get(key) != value}


def _annotated(obj: Object, annotations: dict[str, str]) -> Object:
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **annotations}}}
