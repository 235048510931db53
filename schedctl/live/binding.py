"""A decision carried out: the pod is bound to its node, if all that the decision was made on is as it was.

Nothing in Kubernetes makes a bind depend on its node, so everything is read again before anything is sent, and a change
is a `Refusal`. What PreBind writes on the way is the business of `schedctl.live.prebinds`; `schedctl.live.journal`
takes it back where the pod is not bound in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.live import observed_state
from schedctl.live.codes import CONFLICT, NOT_FOUND
from schedctl.live.connections import Connection
from schedctl.live.events import record_scheduled
from schedctl.live.faults import Refused
from schedctl.live.journal import Journal, fault_text, not_done
from schedctl.live.objects import NODE, POD, Head, Object, decode, get_current, path_of
from schedctl.live.plans import BindPlan, Refusal, Step
from schedctl.live.prebind_volumes import wait_for_volumes
from schedctl.live.prebinds import changes_since, steps

RETRY = "the cluster changed since the decision; run the command again"
Wait = Callable[[Connection, BindPlan], None]


@dataclass(frozen=True, slots=True)
class Bound:
    """What came of a bind that was sent.

    One round trip lies between the last look at the node and the Binding, and nothing closes it from outside:
    kube-scheduler has such a gap too, and a longer one, its cache. So it is looked at afterwards.

    Attributes:
        dry_run: whether the API server was asked to change nothing.
        moved: what moved in the moment between the last look and the bind, in words; the bind may be wrong then.
        warnings: what else went wrong.
    """

    dry_run: bool = False
    moved: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class _Observation(NamedTuple):
    """What was found when everything was read again."""

    version: str
    pods: dict[str, Pod]
    node: bytes


def binding_of(pod: Pod, node: str, resource_version: str = "") -> Object:
    """Return the Binding of a pod to a node, held to the pod's uid and, where it is known, its resourceVersion."""
    metadata = {"name": pod.metadata.name, "namespace": pod.metadata.namespace}
    metadata |= {"uid": pod.metadata.uid} if pod.metadata.uid else {}
    metadata |= {"resourceVersion": resource_version} if resource_version else {}
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def bind(
    connection: Connection,
    plan: BindPlan,
    observed: observed_state.ObservedState,
    *,
    dry_run: bool = False,
    wait: Wait = wait_for_volumes,
) -> Bound:
    """Bind a pod as planned, or have the API server say whether it would.

    Args:
        connection: the cluster that the decision was made about.
        plan: the decision.
        observed: what it was made on.
        dry_run: whether the API server is to change nothing.
        wait: waits for the controllers that bind volumes.

    Raises:
        Refusal: something has moved since the decision, or cannot be done from outside; nothing is left changed but
            what the message names.
        ClusterError: the API server refuses, or nobody knows whether the pod is bound.
    """
    # Claims that were bound before the decision, and their volumes, are not read again: nothing unbinds them. Nor are
    # other nodes: one that would be better by now does not stop kube-scheduler's bind either.
    written = steps(plan)
    before = observed.get(POD, plan.pod.key)
    seen: Pod = decode(before, Pod) if before is not None else plan.pod
    changes = changes_since(connection, observed, plan, written)
    observation = _observe(connection, plan, observed, seen, changes)
    # A right that we lack is to show before the first write, not half-way. In a dry run the writes are the rehearsal.
    if written and not dry_run:
        _rehearse(connection, plan, observation, written)
    journal = Journal(connection, dry_run=dry_run)
    sent, unclear = False, ""
    try:
        for step in written:
            step.write(connection, journal)
        if written:
            if not dry_run:
                wait(connection, plan)
            # Volumes take their time, so all is looked at again.
            observation = _observe(connection, plan, observed, seen, [], status_written=bool(plan.mappings))
        try:
            sent = not dry_run  # before the request: an interrupt within it leaves the outcome open
            _send(journal, plan, observation.version)
        except BaseException as fault:
            if not sent or _is_proof(fault):
                raise
            unclear = _resolve_outcome(connection, plan, fault)
    except BaseException as fault:
        # Once the Binding was sent, PreBind's work is taken back only on proof that the pod is not bound: a bound pod
        # needs its volumes and devices.
        if sent and not _is_proof(fault):
            raise
        left = journal.take_back()
        if left:
            kind = Refusal if isinstance(fault, Refusal) else ClusterError
            raise kind("; ".join((fault_text(fault), *left)), getattr(fault, "hint", "")) from fault
        raise
    warnings = [*filter(None, (unclear,)), *_record_event(journal, plan)]
    return Bound(
        dry_run, () if dry_run else tuple(_changes_during_bind(connection, plan, observation)), tuple(warnings)
    )


def _observe(
    connection: Connection,
    plan: BindPlan,
    observed: observed_state.ObservedState,
    seen: Pod,
    changes: list[str],
    *,
    status_written: bool = False,
) -> _Observation:
    """Read again what the decision was made on, what the API server does not guard last.

    Args:
        connection: the cluster.
        plan: the decision.
        observed: what it was made on.
        seen: the pod then.
        changes: what is known to have moved.
        status_written: whether we have written into the pod's status where its extended resources come from.

    Raises:
        Refusal: something has moved.
    """
    changes, name = list(changes), plan.node
    # What the server guards is read first (it holds the Binding to the pod's uid and resourceVersion), the node, which
    # it does not guard at all, last: so the gap that remains is as short as it can be.
    pod = get_current(connection, POD, plan.pod.key)
    changes += _pod_changes(seen, pod, status_written)
    pods = observed_state.list_pods_on(connection, name)
    changes += observed_state.pod_changes(observed.pods_on(name), pods)
    changes += observed_state.nomination_changes(
        seen, observed.pods_nominated_to(name), observed_state.list_pods_nominated_to(connection, name)
    )
    before, node = observed.get(NODE, name), get_current(connection, NODE, name)
    if before is None or node is None:
        changes.append(f"node {name} is gone")
    else:
        was, now = decode(before, Head).metadata.resource_version, decode(node, Head).metadata.resource_version
        same = f"node {name} was updated (resourceVersion {was}, now {now}), but no field that scheduling reads"
        changes += [observed_state.node_change(name, before, node) or same] if was != now else []
    if changes or pod is None or node is None:
        raise Refusal(f"pod {plan.pod.key} is not bound to {name}: {'; '.join(changes)}", RETRY)
    return _Observation(decode(pod, Head).metadata.resource_version, pods, node)


def _pod_changes(seen: Pod, body: bytes | None, status_written: bool) -> list[str]:
    """Return why a pod cannot be bound any more as it was decided."""
    if body is None:
        return ["it is gone"]
    pod: Pod = decode(body, Pod)
    if pod.metadata.uid != seen.metadata.uid:
        return [f"another pod has its name now (uid {pod.metadata.uid}, was {seen.metadata.uid})"]
    if pod.spec.node_name:
        return [f"it is already bound to {pod.spec.node_name}"]
    if pod.metadata.deletion_timestamp is not None:
        return ["it is being deleted"]
    if pod.spec.scheduling_gates:
        return [f"it has scheduling gates: {', '.join(gate.name for gate in pod.spec.scheduling_gates)}"]
    if status_written:  # by us, and nothing else of the pod: it is no change
        was = seen.status.extended_resource_claim_status
        pod = replace(pod, status=replace(pod.status, extended_resource_claim_status=was))
    how = observed_state.pod_change(seen, pod)
    return [f"it has changed: {how}"] if how else []


def _rehearse(connection: Connection, plan: BindPlan, observation: _Observation, written: Sequence[Step]) -> None:
    """Have the API server say whether it would take every write.

    Raises:
        ClusterError: it would not.
    """
    rehearsal = Journal(connection, dry_run=True)
    for step in written:
        step.write(connection, rehearsal)
    _send(rehearsal, plan, observation.version)


class _UnknownOutcome(ClusterError):
    """Nobody knows whether the pod is bound; what PreBind wrote stays, for the pod may need it."""


def _send(journal: Journal, plan: BindPlan, version: str) -> None:
    """Send the Binding.

    Raises:
        Refusal: the API server says that the pod has moved.
        ClusterError: it refuses, or nobody knows whether the pod is bound.
    """
    try:
        journal.send("POST", f"{path_of(POD, plan.pod.key)}/binding", binding_of(plan.pod, plan.node, version))
    except Refused as fault:
        if fault.code in (CONFLICT, NOT_FOUND):
            raise Refusal(f"pod {plan.pod.key} is not bound to {plan.node}: {fault.text}", RETRY) from None
        raise


def _is_proof(fault: BaseException) -> bool:
    """Return whether it is certain, by what went wrong, that the pod was not bound to the node."""
    return isinstance(fault, ClusterError) and not isinstance(fault, _UnknownOutcome) and not_done(fault)


def _resolve_outcome(connection: Connection, plan: BindPlan, fault: BaseException) -> str:
    """Find out whether a Binding was done that nobody answered, and return what was unclear about one that was.

    Raises:
        Refusal: the pod is bound elsewhere, or gone.
        _Unknown: it is not bound, which may only be so yet, or it cannot be read.
    """
    hint, why = getattr(fault, "hint", "") or "check the pod before you try again", fault_text(fault)
    try:
        body = get_current(connection, POD, plan.pod.key)
        pod: Pod | None = decode(body, Pod) if body is not None else None
    except BaseException:  # a second interrupt is no answer either
        raise _UnknownOutcome(f"{why}; it is unknown whether pod {plan.pod.key} is bound", hint) from None
    if pod is None or pod.metadata.uid != plan.pod.metadata.uid:
        raise Refusal(f"{why}; pod {plan.pod.key} is gone", RETRY)
    if pod.spec.node_name == plan.node:
        return f"{why}; but pod {plan.pod.key} is bound to {plan.node}"
    if pod.spec.node_name:
        raise Refusal(f"{why}; pod {plan.pod.key} is bound to {pod.spec.node_name}", RETRY)
    raise _UnknownOutcome(
        f"{why}; pod {plan.pod.key} is not bound yet, but may still become bound", "check the pod again in a minute"
    )


def _record_event(journal: Journal, plan: BindPlan) -> list[str]:
    try:
        record_scheduled(journal, plan.pod, plan.node)
    except ClusterError as fault:
        hint = f" ({fault.hint})" if fault.hint else ""
        return [f"the event could not be recorded: {fault}{hint}"]
    return []


def _changes_during_bind(connection: Connection, plan: BindPlan, observation: _Observation) -> list[str]:
    """Return what moved between the last look and the bind, by looking once more."""
    try:
        body = get_current(connection, POD, plan.pod.key)
        pod: Pod | None = decode(body, Pod) if body is not None else None
        node = get_current(connection, NODE, plan.node)
        pods = observed_state.list_pods_on(connection, plan.node)
    except ClusterError as fault:
        return [f"the outcome could not be read: {fault}"]
    changes = []
    if pod is None or pod.metadata.uid != plan.pod.metadata.uid:
        changes.append(f"pod {plan.pod.key} is gone")
    elif pod.spec.node_name != plan.node:
        changes.append(f"pod {plan.pod.key} is on {pod.spec.node_name or 'no node'}")
    others = {uid: each for uid, each in pods.items() if uid != plan.pod.metadata.uid}  # ours is there now, rightly
    node_changes = observed_state.node_change(plan.node, observation.node, node)
    return [*changes, *([node_changes] if node_changes else []), *observed_state.pod_changes(observation.pods, others)]


def ownership_problem(scheduler_name: str, profiles: Container[str]) -> str:
    """Return why the pods of a scheduler are not ours to bind, "" where they are.

    Args:
        scheduler_name: the ``schedulerName`` of the pod.
        profiles: the scheduler names of the configuration that was given.
    """
    if scheduler_name == DEFAULT_SCHEDULER:
        return "pods of default-scheduler are bound by the cluster's own kube-scheduler"
    if scheduler_name not in profiles:
        return f"the pod belongs to scheduler {scheduler_name}, and no profile of that name is configured"
    return ""
