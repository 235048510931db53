"""The part of PreBind that is about volumes, as kube-scheduler writes it and waits for it.

A volume that is there already gets the reference to its claim, and the volume controller binds the two; a claim whose
volume is to be made gets the chosen node as an annotation, and a provisioner makes the volume.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from schedctl.api.annotation_keys import BIND_COMPLETED
from schedctl.api.meta import key_of
from schedctl.api.node_selectors import compile_node_selector
from schedctl.api.nodes import Node
from schedctl.api.storage import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim
from schedctl.live import plans
from schedctl.live.connections import Connection
from schedctl.live.journal import Journal
from schedctl.live.objects import CLAIM, NODE, POD, VOLUME, Head, decode, get_current, path_of

PAUSE = 1.0
"""Seconds between two looks at what a controller has to do."""


def volume_steps(plan: plans.BindPlan) -> Iterable[plans.Step]:
    """Yield what gives a volume that is there already to its claim."""
    for changed in plan.changed:
        volume, before = changed.after, changed.before
        if isinstance(volume, PersistentVolume) and before is not None and volume.spec.claim_ref is not None:
            reference = volume.spec.claim_ref
            claim = f"{reference.namespace}/{reference.name}"
            yield plans.Step(
                VOLUME,
                key_of(volume),
                f"reserve volume {key_of(volume)} for claim {claim}",
                changed.plugin,
                _write_claim_ref(before, volume),
            )


def claim_steps(plan: plans.BindPlan) -> Iterable[plans.Step]:
    """Yield what asks for volumes that are to be made."""
    for changed, provisioned in claims_to_bind(plan):
        claim = changed.before
        if provisioned:
            text = f"request a volume for claim {key_of(claim)} that {plan.node} can reach"
            yield plans.Step(CLAIM, key_of(claim), text, changed.plugin, _write_selected_node(claim, plan.node))


def claims_to_bind(plan: plans.BindPlan) -> Iterable[tuple[plans.ChangedObject, bool]]:
    """Yield the claims that are bound on the way, and whether their volume is made for them."""
    made = {each.after.metadata.name for each in plan.changed if each.before is None}
    for changed in plan.changed:
        if isinstance(changed.after, PersistentVolumeClaim):
            yield changed, changed.after.spec.volume_name in made


def _write_claim_ref(before: PersistentVolume, after: PersistentVolume) -> Callable[[Connection, Journal], None]:
    """Return what writes the reference to a claim into a volume, as kube-scheduler writes it."""
    reference = after.spec.claim_ref
    assert reference is not None
    annotations = plans.added_annotations(before.metadata, after.metadata)

    def write(connection: Connection, journal: Journal) -> None:
        claim = plans.existing_object(connection, CLAIM, f"{reference.namespace}/{reference.name}")
        volume = plans.existing_object(connection, VOLUME, key_of(before))
        claim_ref = {
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
            claim_ref = theirs  # reserved for this claim already: kube-scheduler keeps the reference as it is
        changed = {**plans.with_annotations(volume, annotations), "spec": {**volume["spec"], "claimRef": claim_ref}}
        journal.put(f"volume {key_of(before)}", path_of(VOLUME, key_of(before)), volume, changed)

    return write


def _write_selected_node(claim: PersistentVolumeClaim, node: str) -> Callable[[Connection, Journal], None]:
    """Return what asks for a volume where a node is."""

    def write(connection: Connection, journal: Journal) -> None:
        stored = plans.existing_object(connection, CLAIM, key_of(claim))
        changed = plans.with_annotations(stored, {SELECTED_NODE: node})
        journal.put(f"claim {key_of(claim)}", path_of(CLAIM, key_of(claim)), stored, changed)

    return write


def wait_for_volumes(
    connection: Connection,
    plan: plans.BindPlan,
    *,
    pause: float = PAUSE,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the volume controller and the provisioners have bound the claims.

    Raises:
        Refusal: they will not, or take too long.
    """
    waiting = [(changed.before, provisioned) for changed, provisioned in claims_to_bind(plan)]
    if not waiting:
        return
    volumes = [each.after for each in plan.changed if isinstance(each.after, PersistentVolume) and each.before]
    until = now() + plan.patience
    while not _are_bound(connection, plan, waiting, volumes):
        if now() >= until:
            names = ", ".join(key_of(claim) for claim, _ in waiting)
            raise plans.Refusal(f"the volumes of {names} are not bound after {plan.patience:g} s")
        sleep(pause)


def _are_bound(
    connection: Connection,
    plan: plans.BindPlan,
    waiting: Sequence[tuple[PersistentVolumeClaim, bool]],
    volumes: Sequence[PersistentVolume],
) -> bool:
    """Return whether all claims are bound.

    Raises:
        Refusal: one will not be.
    """
    node = get_current(connection, NODE, plan.node)
    pod = get_current(connection, POD, plan.pod.key)
    if node is None:
        raise plans.Refusal(f"node {plan.node} is gone")
    if pod is None or decode(pod, Head).metadata.uid != plan.pod.metadata.uid:
        raise plans.Refusal(f"pod {plan.pod.key} is gone")
    labels = decode(node, Node).metadata.labels or {}
    for volume in volumes:
        stored = decode(plans.existing_body(connection, VOLUME, key_of(volume)), PersistentVolume)
        if stored.spec.claim_ref is None or not stored.spec.claim_ref.uid:
            raise plans.Refusal(f"volume {key_of(volume)} was released from its claim")
        _check_reachable(stored, plan.node, labels)
    bound = True
    for claim, provisioned in waiting:
        stored = decode(plans.existing_body(connection, CLAIM, key_of(claim)), PersistentVolumeClaim)
        annotations = stored.metadata.annotations or {}
        # A provisioner that cannot make the volume on that node takes the annotation off again.
        if provisioned and annotations.get(SELECTED_NODE) != plan.node:
            raise plans.Refusal(f"no volume could be provisioned for claim {key_of(claim)}")
        if not stored.spec.volume_name or BIND_COMPLETED not in annotations:
            bound = False
        elif provisioned:
            _check_reachable(
                decode(plans.existing_body(connection, VOLUME, stored.spec.volume_name), PersistentVolume),
                plan.node,
                labels,
            )
    return bound


def _check_reachable(volume: PersistentVolume, node: str, labels: dict[str, str]) -> None:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return
    terms = compile_node_selector(affinity.required).terms
    if not any(term.labels.matches(labels) for term in terms):
        raise plans.Refusal(f"volume {key_of(volume)} cannot be reached from node {node}")
