"""A decision carried out: the pod is bound to its node, if all that the decision was made on is as it was.

Nothing in Kubernetes makes a bind depend on its node. The server holds a Binding to the pod's uid and resourceVersion
and refuses a pod that is bound, gated or being deleted; but the node may be full, cordoned or gone, and the bind is
done all the same. So everything is read again before anything is sent, what the server guards first and what it does
not guard last: what PreBind writes, the pod, the pods on the node, those nominated to it, the node. What has moved is
told, and nothing is sent.

Between the last of these and the Binding there is a moment, one round trip long, in which a node can still move. It
cannot be closed from outside (kube-scheduler has it too, and a longer one: its cache), so it is looked at afterwards:
`Bound.moved` says what moved in it, and whoever asked has to hear of it.

Where PreBind has work to do (`schedctl.live.prebinds`), all is looked at before it begins and, because volumes take
their time, again when it is done; and the API server is asked first, with a dry run of every write, whether it would
let us, so that a right that is missing does not show half-way. If the pod is not bound in the end, the work is taken
back (`schedctl.live.journal`). From the moment the Binding is sent that takes a proof: a refusal, or a look at the pod
that finds it gone or elsewhere. Whatever else goes wrong then, an interrupt included, leads to that look, and where it
does not settle the matter the work stays.

Claims that were bound before the decision, and their volumes, are not read again: nothing unbinds them. What happens on
other nodes after the decision is not looked at: that another node would be better by now, or that a
spread over zones has shifted, does not stop a bind, as it does not stop kube-scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from schedctl.api.pods import Pod
from schedctl.config.types import DEFAULT_SCHEDULER
from schedctl.errors import ClusterError
from schedctl.live.codes import CONFLICT, NOT_FOUND
from schedctl.live.connections import Connection
from schedctl.live.events import record_scheduled
from schedctl.live.faults import Refused
from schedctl.live.journal import Journal, fault_text, not_done
from schedctl.live.objects import NODE, POD, Head, Object, decode, get_current, path_of
from schedctl.live.observed_state import (
    ObservedState,
    list_pods_nominated_to,
    list_pods_on,
    node_change,
    nomination_changes,
    pod_change,
    pod_changes,
)
from schedctl.live.plans import BindPlan, Refusal, Step
from schedctl.live.prebind_volumes import wait_for_volumes
from schedctl.live.prebinds import changes_since, steps

RETRY = "the decision is out of date; run it again"
Wait = Callable[[Connection, BindPlan], None]


@dataclass(frozen=True, slots=True)
class Bound:
    """What came of a bind that was sent.

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
    observed: ObservedState,
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
    written = steps(plan)
    before = observed.get(POD, plan.pod.key)
    seen: Pod = decode(before, Pod) if before is not None else plan.pod
    changes = changes_since(connection, observed, plan, written)
    observation = _observe(connection, plan, observed, seen, changes)
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
            observation = _observe(connection, plan, observed, seen, [], status_written=bool(plan.mappings))
        try:
            sent = not dry_run
            _send(journal, plan, observation.version)
        except BaseException as fault:
            if not sent or _is_proof(fault):
                raise
            unclear = _resolve_outcome(connection, plan, fault)
    except BaseException as fault:
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
    observed: ObservedState,
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
    pod = get_current(connection, POD, plan.pod.key)
    changes += _pod_changes(seen, pod, status_written)
    pods = list_pods_on(connection, name)
    changes += pod_changes(observed.pods_on(name), pods)
    changes += nomination_changes(seen, observed.pods_nominated_to(name), list_pods_nominated_to(connection, name))
    before, node = observed.get(NODE, name), get_current(connection, NODE, name)
    if before is None or node is None:
        changes.append(f"node {name} is gone")
    else:
        one, other = decode(before, Head).metadata.resource_version, decode(node, Head).metadata.resource_version
        same = f"node {name} was written again (resourceVersion {one}, now {other}), though scheduling reads the same"
        changes += [node_change(name, before, node) or same] if one != other else []
    if changes or pod is None or node is None:
        raise Refusal(f"pod {plan.pod.key} is not bound to {name}: {'; '.join(changes)}", RETRY)
    return _Observation(decode(pod, Head).metadata.resource_version, pods, node)


def _pod_changes(seen: Pod, body: bytes | None, status_written: bool) -> list[str]:
    """Return why a pod cannot be bound any more as it was decided."""
    if body is None:
        return ["it is gone"]
    pod: Pod = decode(body, Pod)
    if pod.metadata.uid != seen.metadata.uid:
        return [f"it is another pod of that name now (uid {pod.metadata.uid}, was {seen.metadata.uid})"]
    if pod.spec.node_name:
        return [f"it is bound to {pod.spec.node_name} already"]
    if pod.metadata.deletion_timestamp is not None:
        return ["it is being deleted"]
    if pod.spec.scheduling_gates:
        return [f"it has scheduling gates: {', '.join(gate.name for gate in pod.spec.scheduling_gates)}"]
    if status_written:
        was = seen.status.extended_resource_claim_status
        pod = replace(pod, status=replace(pod.status, extended_resource_claim_status=was))
    how = pod_change(seen, pod)
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


class _Unknown(ClusterError):
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
    return isinstance(fault, ClusterError) and not isinstance(fault, _Unknown) and not_done(fault)


def _resolve_outcome(connection: Connection, plan: BindPlan, fault: BaseException) -> str:
    """Find out whether a Binding was done that nobody answered, and return what was unclear about one that was.

    Raises:
        Refusal: the pod is bound elsewhere, or gone.
        _Unknown: it is not bound, which may only be so yet, or it cannot be read.
    """
    hint, why = getattr(fault, "hint", "") or "look at the pod before you try again", fault_text(fault)
    try:
        body = get_current(connection, POD, plan.pod.key)
        pod: Pod | None = decode(body, Pod) if body is not None else None
    except BaseException:  # a second interrupt is no answer either
        raise _Unknown(f"{why}; nobody knows whether pod {plan.pod.key} is bound", hint) from None
    if pod is None or pod.metadata.uid != plan.pod.metadata.uid:
        raise Refusal(f"{why}; pod {plan.pod.key} is gone", RETRY)
    if pod.spec.node_name == plan.node:
        return f"{why}; but pod {plan.pod.key} is bound to {plan.node}"
    if pod.spec.node_name:
        raise Refusal(f"{why}; pod {plan.pod.key} is bound to {pod.spec.node_name}", RETRY)
    raise _Unknown(f"{why}; pod {plan.pod.key} is not bound, and may still come to be", "look again in a minute")


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
        pods = list_pods_on(connection, plan.node)
    except ClusterError as fault:
        return [f"what became of it could not be read: {fault}"]
    changes = []
    if pod is None or pod.metadata.uid != plan.pod.metadata.uid:
        changes.append(f"pod {plan.pod.key} is gone")
    elif pod.spec.node_name != plan.node:
        changes.append(f"pod {plan.pod.key} is on {pod.spec.node_name or 'no node'}")
    others = {uid: each for uid, each in pods.items() if uid != plan.pod.metadata.uid}
    node_changes = node_change(plan.node, observation.node, node)
    return [*changes, *([node_changes] if node_changes else []), *pod_changes(observation.pods, others)]


def ownership_problem(scheduler_name: str, profiles: Container[str]) -> str:
    """Return why the pods of a scheduler are not ours to bind, "" where they are.

    Args:
        scheduler_name: the ``schedulerName`` of the pod.
        profiles: the scheduler names of the configuration that was given.
    """
    if scheduler_name == DEFAULT_SCHEDULER:
        return "pods of default-scheduler are bound by the cluster's own kube-scheduler"
    if scheduler_name not in profiles:
        return f"the pod is left to scheduler {scheduler_name}, and no profile of that name was given"
    return ""
