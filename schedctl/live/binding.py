"""A decision carried out: the pod is bound to its node, if all that the decision was made on is as it was.

Nothing in Kubernetes makes a bind depend on its node, so everything is read again before anything is sent, and a change
is a `Refusal`. The order of plugins is the engine's; what PreBind writes on the way is the business of
`schedctl.live.prebinds`, and `schedctl.live.journal` takes it back where the pod is not bound in the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Set
from typing import Any, NamedTuple

from msgspec.structs import replace

from schedctl.api.defaults import DEFAULT_SCHEDULER
from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.framework.statuses import SUCCESS, Status
from schedctl.live import observed_state
from schedctl.live.codes import CONFLICT, NOT_FOUND
from schedctl.live.connections import Connection
from schedctl.live.events import record_scheduled
from schedctl.live.faults import Refused
from schedctl.live.journal import Journal, fault_text, not_done
from schedctl.live.objects import NODE, POD, Head, Object, decode, get_current, path_of
from schedctl.live.plans import BindPlan, Refusal, existing_object
from schedctl.live.plugin_journals import PluginJournal
from schedctl.live.prebind_volumes import wait_for_volumes
from schedctl.live.prebinds import changes_since, steps

RETRY = "the cluster changed since the decision; run the command again"
Wait = Callable[[Connection, BindPlan], None]
_LOOKS, _PAUSE = 15, 0.2
"""How often a pod is looked at that somebody else says to have bound, and the seconds between."""
_SENDS = 5
"""How often a Binding is sent whose pod is written to in between, but not in a way that matters."""


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


class PodBind:
    """The bind of one pod in a live cluster; implements `schedctl.framework.live_binds.LiveBind`.

    One round trip lies between the last look at the node and the Binding, and nothing closes it from outside:
    kube-scheduler has such a gap too, and a longer one, its cache. So it is looked at afterwards.

    Attributes:
        moved: what moved in the moment between the last look and the bind, in words; the bind may be wrong then.
        warnings: what else went wrong.
        left: what could not be taken back, in words.
    """

    def __init__(
        self,
        connection: Connection,
        plan: BindPlan,
        observed: observed_state.ObservedState,
        *,
        companions: Set[str] = frozenset(),
        journal: Journal | None = None,
        wait: Wait = wait_for_volumes,
    ) -> None:
        """Prepare the bind.

        Args:
            connection: the cluster that the decision was made about.
            plan: the decision.
            observed: what it was made on.
            companions: the uids of pods that are bound together with this one, and are no surprise on its node.
            journal: where they write, too: one takes back what is written for all of them, the last write first.
            wait: waits for the controllers that bind volumes.

        Raises:
            Refusal: something cannot be done from outside.
        """
        self.moved: list[str] = []
        self.warnings: list[str] = []
        self.left: list[str] = []
        self._connection, self._plan, self._observed, self._wait = connection, plan, observed, wait
        self._companions = companions
        before = observed.get(POD, plan.pod.key)
        self._seen: Pod = decode(before, Pod) if before is not None else plan.pod
        self._steps = steps(plan)
        self._uid = plan.pod.metadata.uid
        self._journal = Journal(connection) if journal is None else journal
        self._plugin_journal = PluginJournal(connection, self._journal, self._uid)
        self._observation: _Observation | None = None
        self._stale = bool(companions)
        self._nominated = False
        self._binding = self._refused = self._sent = False

    @property
    def client(self) -> Any:
        """A ``kubernetes.client.ApiClient`` with the credentials of the command."""
        return self._connection.client

    @property
    def journal(self) -> PluginJournal:
        """Where PreBind plugins write."""
        return self._plugin_journal

    def rehearse(self) -> None:
        """Have the API server say whether it would bind the pod; nothing is changed.

        Raises:
            Refusal: something has moved since the decision.
            ClusterError: the API server would refuse.
        """
        rehearsal = Journal(self._connection, dry_run=True)
        self._rehearse(rehearsal, self._look())
        self._record_event(rehearsal)

    def check(self) -> None:
        """See whether all is as the decision found it and every planned write would be accepted; once.

        Raises:
            Refusal: something has moved since the decision.
            ClusterError: the API server would refuse.
        """
        if self._observation is not None:
            return
        observation = self._look()
        # A right that we lack is to show before the first write, not half-way.
        if self._steps or self._companions:
            self._rehearse(Journal(self._connection, dry_run=True), observation)
        self._observation = observation

    def nominate(self) -> None:
        """Write the node into the pod's status while Permit holds the pod back, so that others leave the room to it.

        As in kube-scheduler, a write that fails is a warning. It is taken back if the pod is not bound.
        """
        key, node = self._plan.pod.key, self._plan.node
        self._journal.owner = self._uid
        try:
            pod = existing_object(self._connection, POD, key)
            if pod["metadata"]["uid"] == self._uid and not pod["spec"].get("nodeName"):
                self._nominated = True  # before the request: it may be done although nobody answers
                self._journal.put(
                    f"nominatedNodeName in the status of pod {key}",
                    path_of(POD, key),
                    pod,
                    _with_nomination(pod, node),
                    part="status",
                    repair=lambda now: _with_nomination(now, (pod.get("status") or {}).get("nominatedNodeName", "")),
                )
        except ClusterError as fault:
            self.warnings.append(f"the node could not be written into the status of pod {key}: {fault}")

    def write(self, plugin: str, *, memory_only: bool) -> None:
        """Write what PreBind of a plugin has changed in memory, and wait for the controllers that follow it up.

        Raises:
            Refusal: it cannot be done, or the controllers do not do their part.
            ClusterError: the API server refuses, or nobody knows whether it was done.
        """
        planned = [step for step in self._steps if step.plugin == plugin]
        self._journal.owner = self._uid
        for step in planned:
            step.write(self._connection, self._journal)
        if planned:
            self._wait(self._connection, self._plan)
        # Volumes take their time, and who knows what another plugin does: then all is looked at again.
        self._stale |= bool(planned) or not memory_only

    def check_again(self) -> None:
        """See whether all is still as it was, if time has passed since the last look.

        Raises:
            Refusal: something has moved.
        """
        if self._stale or self._observation is None:
            self._observation = self._observe([], status_written=bool(self._plan.mappings))
            self._stale = False
        self._binding = True

    def send(self) -> Status:
        """Send the Binding.

        Raises:
            Refusal: the API server says that the pod has moved.
            ClusterError: it refuses, or nobody knows whether the pod is bound.
        """
        if self._sent:  # a plugin has had it sent, and left the rest to the next
            return SUCCESS
        if not self._binding or self._observation is None:
            raise ClusterError("a plugin wants a Binding sent before Bind", "`handle.bind` is for Bind plugins")
        self._sent = True  # before the request: an interrupt within it leaves the outcome open
        try:
            try:
                self._send_until_accepted(self._observation.version)
            except BaseException as fault:
                if _is_proof(fault):
                    raise
                self.warnings.append(_resolve_outcome(self._connection, self._plan, fault))
        except BaseException as fault:
            if _is_proof(fault):
                self._sent, self._refused = False, True
            raise
        return SUCCESS

    def _send_until_accepted(self, version: str) -> None:
        """Send the Binding, and again while only what does not matter of the pod is written, a nomination say.

        Raises:
            Refusal: the pod has moved.
            ClusterError: the API server refuses, or nobody knows whether the pod is bound.
        """
        for left in reversed(range(_SENDS)):
            try:
                _send(self._journal, self._plan, version)
                break
            except Refusal:
                if not left:
                    raise
            # The API server holds the Binding to every write; only this tells which of them are a reason to stop.
            version = self._observe([], status_written=bool(self._plan.mappings)).version

    def record(self, binder: str) -> None:
        """Look at the pod that somebody says to have bound, and record an event about it."""
        self._journal.keep(self._uid)
        try:
            if not self._sent:
                self._await_bound()
        except ClusterError as fault:
            self.warnings.append(f"the outcome could not be read: {fault}")
        self.moved += self._changes_during_bind(binder)
        self._sent = True
        self.warnings += self._record_event(self._journal)

    def take_back(self) -> None:
        """Undo what was written, the last first, unless the pod is bound or may be; nothing is raised.

        What companions wrote is undone with it, unless they are bound.
        """
        # A bound pod needs its volumes and devices: once it may be bound, only proof that it is not lets them go.
        if self._sent:
            self._journal.keep(self._uid)
            return
        if self._binding and (why := self._reason_to_keep()):
            self._journal.keep(self._uid)
            self.left.append(f"{why}; what PreBind wrote stays")
            return
        self.left += self._journal.take_back()

    def _look(self) -> _Observation:
        # Claims that were bound before the decision, and their volumes, are not read again: nothing unbinds them. Nor
        # are other nodes: one that would be better by now does not stop kube-scheduler's bind either.
        return self._observe(changes_since(self._connection, self._observed, self._plan, self._steps))

    def _observe(self, changes: list[str], *, status_written: bool = False) -> _Observation:
        """Read again what the decision was made on, what the API server does not guard last.

        Args:
            changes: what is known to have moved.
            status_written: whether we have written into the pod's status where its extended resources come from.

        Raises:
            Refusal: something has moved.
        """
        connection, plan, observed = self._connection, self._plan, self._observed
        changes, name = list(changes), plan.node
        # What the server guards is read first (it holds the Binding to the pod's uid and resourceVersion), the node,
        # which it does not guard at all, last: so the gap that remains is as short as it can be.
        pod = get_current(connection, POD, plan.pod.key)
        changes += _pod_changes(self._seen, pod, status_written, self._nominated)
        pods = self._others_on_node()
        changes += observed_state.pod_changes(observed.pods_on(name), pods)
        nominated = observed_state.list_pods_nominated_to(connection, name)
        changes += observed_state.nomination_changes(
            self._seen, observed.pods_nominated_to(name), self._not_companions(nominated)
        )
        before, node = observed.get(NODE, name), get_current(connection, NODE, name)
        if before is None or node is None:
            changes.append(f"node {name} is gone")
        else:
            was, now = decode(before, Head).metadata.resource_version, decode(node, Head).metadata.resource_version
            same = f"node {name} was updated (resourceVersion {was}, now {now}), but no field that scheduling reads"
            ours = self._journal.version_of(path_of(NODE, name))
            # Permit and volumes may take minutes, in which every kubelet shows that it is alive.
            if now not in (was, ours) and not observed_state.only_heartbeat(before, node):
                changes.append(observed_state.node_change(name, before, node) or same)
        if changes or pod is None or node is None:
            raise Refusal(f"pod {plan.pod.key} is not bound to {name}: {'; '.join(changes)}", RETRY)
        return _Observation(decode(pod, Head).metadata.resource_version, pods, node)

    def _others_on_node(self) -> dict[str, Pod]:
        """Return the pods on the node that are not bound together with this one, by uid."""
        return self._not_companions(observed_state.list_pods_on(self._connection, self._plan.node))

    def _not_companions(self, pods: Mapping[str, Pod]) -> dict[str, Pod]:
        return {uid: pod for uid, pod in pods.items() if uid not in self._companions}

    def _rehearse(self, rehearsal: Journal, observation: _Observation) -> None:
        """Have the API server say whether it would take every write.

        Raises:
            ClusterError: it would not.
        """
        for step in self._steps:
            step.write(self._connection, rehearsal)
        _send(rehearsal, self._plan, observation.version)

    def _record_event(self, journal: Journal) -> list[str]:
        try:
            record_scheduled(journal, self._plan.pod, self._plan.node)
        except ClusterError as fault:
            hint = f" ({fault.hint})" if fault.hint else ""
            return [f"the event could not be recorded: {fault}{hint}"]
        return []

    def _await_bound(self) -> None:
        """Give a pod a moment to be bound that somebody says to have bound."""
        for _ in range(_LOOKS):
            pod = _current_pod(self._connection, self._plan)
            if pod is None or pod.spec.node_name:
                return
            time.sleep(_PAUSE)

    def _reason_to_keep(self) -> str:
        """Return that the pod is on its node after all, or may be, in words; "" where it is not."""
        plan = self._plan
        try:
            pod = _current_pod(self._connection, plan)
        except BaseException as fault:  # an interrupt is no answer either
            return "" if self._refused else f"it is unknown whether pod {plan.pod.key} is bound ({fault_text(fault)})"
        bound = pod is not None and pod.spec.node_name == plan.node
        return f"pod {plan.pod.key} is bound to {plan.node} all the same" if bound else ""

    def _changes_during_bind(self, binder: str) -> list[str]:
        """Return what moved between the last look and the bind, by looking once more."""
        plan, observation = self._plan, self._observation
        assert observation is not None
        try:
            pod = _current_pod(self._connection, plan)
            node = get_current(self._connection, NODE, plan.node)
            pods = self._others_on_node()
        except ClusterError as fault:
            return [f"the outcome could not be read: {fault}"]
        changes = []
        if pod is None:
            changes.append(f"pod {plan.pod.key} is gone")
        elif pod.spec.node_name != plan.node:
            by = "" if self._sent else f", which {binder} says to have bound,"
            changes.append(f"pod {plan.pod.key}{by} is on {pod.spec.node_name or 'no node'}")
        others = {uid: each for uid, each in pods.items() if uid != plan.pod.metadata.uid}  # ours is there now, rightly
        node_changes = observed_state.node_change(plan.node, observation.node, node)
        changes += [node_changes] if node_changes else []
        return [*changes, *observed_state.pod_changes(observation.pods, others)]


def _current_pod(connection: Connection, plan: BindPlan) -> Pod | None:
    """Return the pod as it is now, None where it is gone."""
    body = get_current(connection, POD, plan.pod.key)
    pod: Pod | None = decode(body, Pod) if body is not None else None
    return pod if pod is not None and pod.metadata.uid == plan.pod.metadata.uid else None


def _with_nomination(pod: Object, node: str) -> Object:
    """Return a pod with a node in its status that it is nominated to, or with none."""
    status = {name: value for name, value in (pod.get("status") or {}).items() if name != "nominatedNodeName"}
    return {**pod, "status": status | ({"nominatedNodeName": node} if node else {})}


def _pod_changes(seen: Pod, body: bytes | None, status_written: bool, nominated: bool) -> list[str]:
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
    if nominated:
        pod = replace(pod, status=replace(pod.status, nominated_node_name=seen.status.nominated_node_name))
    how = observed_state.pod_change(seen, pod)
    return [f"it has changed: {how}"] if how else []


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
        _UnknownOutcome: it is not bound, which may only be so yet, or it cannot be read.
    """
    hint, why = getattr(fault, "hint", "") or "check the pod before you try again", fault_text(fault)
    try:
        pod = _current_pod(connection, plan)
    except BaseException:  # a second interrupt is no answer either
        raise _UnknownOutcome(f"{why}; it is unknown whether pod {plan.pod.key} is bound", hint) from None
    if pod is None:
        raise Refusal(f"{why}; pod {plan.pod.key} is gone", RETRY)
    if pod.spec.node_name == plan.node:
        return f"{why}; but pod {plan.pod.key} is bound to {plan.node}"
    if pod.spec.node_name:
        raise Refusal(f"{why}; pod {plan.pod.key} is bound to {pod.spec.node_name}", RETRY)
    raise _UnknownOutcome(
        f"{why}; pod {plan.pod.key} is not bound yet, but may still become bound", "check the pod again in a minute"
    )


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
