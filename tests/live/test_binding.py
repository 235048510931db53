"""A bind is sent if everything is as the decision found it, and otherwise says what has moved."""

from __future__ import annotations

from typing import Any

import pytest

from schedctl.api.pods import Pod
from schedctl.errors import ClusterError
from schedctl.live.binding import binding_of, ownership_problem
from schedctl.live.connections import Answer
from schedctl.live.faults import Refused, Unanswered
from schedctl.live.journal import not_done
from schedctl.live.objects import POD, decode
from schedctl.live.observed_state import ObservedState
from schedctl.live.plans import BindPlan, Refusal
from tests.live.binds import bind
from tests.live.pretend_servers import Object, PretendServer

WEB, NODE = "/api/v1/namespaces/shop/pods/web", "/api/v1/nodes/node-1"
BINDING = f"{WEB}/binding"


def pod(name: str, node: str = "", **spec: Any) -> Object:
    containers = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    placed = {"nodeName": node} if node else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "labels": {"app": name}},
        "spec": {"schedulerName": "ours", "containers": containers, **placed, **spec},
        "status": {"phase": "Pending"},
    }


def node(name: str) -> Object:
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "conditions": [ready]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}, "status": status}


@pytest.fixture
def server() -> PretendServer:
    return PretendServer(node("node-1"), node("node-2"), pod("web"), pod("db", "node-1"))


def plan_of(server: PretendServer) -> tuple[BindPlan, ObservedState]:
    observed = ObservedState(server.list_objects())
    body = observed.get(POD, "shop/web")
    assert body is not None
    found: Pod = decode(body, Pod)
    return BindPlan(found, "node-1"), observed


def test_unchanged_pod_is_bound_and_an_event_is_recorded(server):
    plan, observed = plan_of(server)
    bound = bind(server, plan, observed)
    assert (bound.moved, bound.warnings) == ((), ())
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"
    (event,) = server.events
    assert event["note"] == "Successfully assigned shop/web to node-1"
    assert (event["reason"], event["action"], event["reportingController"]) == ("Scheduled", "Binding", "schedctl")
    assert event["regarding"]["uid"] == plan.pod.metadata.uid


def test_the_pod_is_read_again_first_and_the_node_last_right_before_the_binding(server):
    bind(server, *plan_of(server))
    assert [path for _, path, _ in server.requests[:5]] == [WEB, "/api/v1/pods", "/api/v1/pods", NODE, BINDING]


def test_a_dry_run_of_the_server_changes_nothing(server):
    before = dict(server.objects)
    bound = bind(server, *plan_of(server), dry_run=True)
    assert bound == ((), ())
    assert server.writes() == []
    assert server.objects == before
    assert (BINDING, True) in [(path, dry) for _, path, dry in server.requests]


def _another(server: PretendServer) -> None:
    server.delete(WEB)
    server.put(pod("web"))


def _on_pod(**changes: Any):
    return lambda server: server.change(WEB, lambda obj: obj["spec"].update(changes))


def _on_node(part: str, **changes: Any):
    return lambda server: server.change(NODE, lambda obj: obj[part].update(changes))


def _of_pods(server: PretendServer) -> None:
    server.change("/api/v1/namespaces/shop/pods/db", lambda obj: obj["metadata"].update(labels={"app": "other"}))


MOVES = {
    "the pod is bound by somebody else": (_on_pod(nodeName="node-2"), "it is already bound to node-2"),
    "the pod is deleted": (lambda server: server.delete(WEB), "it is gone"),
    "the pod is made again": (_another, "another pod has its name now"),
    "the pod is being deleted": (
        lambda server: server.change(WEB, lambda obj: obj["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z")),
        "it is being deleted",
    ),
    "the pod is gated": (_on_pod(schedulingGates=[{"name": "wait"}]), "it has scheduling gates: wait"),
    "the pod is relabelled": (
        lambda server: server.change(WEB, lambda obj: obj["metadata"].update(labels={"app": "other"})),
        "it has changed: metadata.labels",
    ),
    "the pod asks for other nodes": (_on_pod(nodeSelector={"disk": "ssd"}), "it has changed: spec.nodeSelector"),
    "the node is cordoned": (_on_node("spec", unschedulable=True), "node node-1 has changed: spec.unschedulable"),
    "the node is tainted": (
        _on_node("spec", taints=[{"key": "k", "effect": "NoSchedule"}]),
        "node node-1 has changed: spec.taints",
    ),
    "the node shrinks": (_on_node("status", allocatable={"cpu": "1"}), "has changed: status.allocatable"),
    "the node is not ready any more": (
        _on_node("status", conditions=[{"type": "Ready", "status": "False"}]),
        "was updated (resourceVersion",
    ),
    "the node is annotated": (
        lambda server: server.change(NODE, lambda obj: obj["metadata"].update(annotations={"maintenance": "soon"})),
        "was updated (resourceVersion",
    ),
    "the node is written again": (_on_node("status", phase=""), "was updated (resourceVersion"),
    "the node is deleted": (lambda server: server.delete(NODE), "node node-1 is gone"),
    "the node is made again": (
        lambda server: (server.delete(NODE), server.put(node("node-1"))),
        "node node-1 was replaced by another node of that name",
    ),
    "a pod comes onto the node": (lambda server: server.put(pod("new", "node-1")), "shop/new was added to the node"),
    "a pod leaves the node": (
        lambda server: server.delete("/api/v1/namespaces/shop/pods/db"),
        "shop/db left the node",
    ),
    "a pod on the node is relabelled": (_of_pods, "shop/db (metadata.labels) on the node changed"),
    "a pod on the node grows": (
        lambda server: server.change(
            "/api/v1/namespaces/shop/pods/db",
            lambda obj: obj["spec"].update(
                containers=[{"name": "app", "image": "app", "resources": {"requests": {"cpu": "3"}}}]
            ),
        ),
        "shop/db (spec.containers) on the node changed",
    ),
}


@pytest.mark.parametrize("move", MOVES)
def test_bind_is_refused_after(server, move):
    plan, observed = plan_of(server)
    change, words = MOVES[move]
    change(server)
    with pytest.raises(Refusal) as refused:
        bind(server, plan, observed)
    assert words in str(refused.value)
    assert "shop/web is not bound to node-1" in str(refused.value)
    assert refused.value.exit_code == 4
    assert server.writes() == []


def _status(path: str, **status: Any):
    return lambda server: server.change(path, lambda obj: obj["status"].update(status))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            _status(WEB, conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]),
            id="kube-scheduler writes that the pod is unschedulable",
        ),
        pytest.param(
            _status("/api/v1/namespaces/shop/pods/db", phase="Running", containerStatuses=[{"name": "app"}]),
            id="a pod on the node starts",
        ),
        pytest.param(
            lambda server: server.change("/api/v1/nodes/node-2", lambda obj: obj["spec"].update(unschedulable=True)),
            id="another node changes",
        ),
        pytest.param(
            lambda server: server.change(
                NODE, lambda obj: obj["status"]["conditions"][0].update(lastHeartbeatTime="2026-01-01T00:05:00Z")
            ),
            id="the kubelet shows that the node is alive",
        ),
    ],
)
def test_bind_is_sent_despite(server, change):
    plan, observed = plan_of(server)
    change(server)
    bind(server, plan, observed)
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"


@pytest.mark.parametrize(
    ("move", "moved"),
    [
        ("the node is cordoned", "node node-1 has changed: spec.unschedulable"),
        ("the node is deleted", "node node-1 is gone"),
        ("a pod comes onto the node", "shop/new was added to the node"),
    ],
)
def test_changes_during_the_bind_are_reported(server, move, moved):
    plan, observed = plan_of(server)

    def before(method: str, path: str) -> None:
        if path == BINDING:
            MOVES[move][0](server)

    server.before = before
    bound = bind(server, plan, observed)
    assert bound.moved == (moved,)


@pytest.mark.parametrize(
    "move",
    [
        "the pod is bound by somebody else",
        "the pod is deleted",
        "the pod is made again",
        "the pod is gated",
        "the pod is relabelled",
    ],
)
def test_api_server_refuses_changes_of_the_pod_during_the_bind(server, move):
    plan, observed = plan_of(server)

    def before(method: str, path: str) -> None:
        if path == BINDING:
            MOVES[move][0](server)

    server.before = before
    with pytest.raises(Refusal, match="is not bound to node-1"):
        bind(server, plan, observed)


def test_an_event_that_cannot_be_recorded_is_a_warning(server):
    plan, observed = plan_of(server)

    def before(method: str, path: str) -> None:
        if path.endswith("/events"):
            raise server.forbid(method, path)

    server.before = before
    bound = bind(server, plan, observed)
    assert "the event could not be recorded" in bound.warnings[0]
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"


def _silent(server: PretendServer, *, done: bool) -> None:
    """Have nobody answer the Binding, whether it was done or not."""

    def before(method: str, path: str) -> None:
        if path == BINDING:
            if done:
                server.change(WEB, lambda obj: obj["spec"].update(nodeName="node-1"))
            raise Unanswered("the server stopped answering", "", sent=True)

    server.before = before


def test_unanswered_bind_is_looked_up(server):
    plan, observed = plan_of(server)
    _silent(server, done=True)
    assert bind(server, plan, observed).warnings == (
        "the server stopped answering; but pod shop/web is bound to node-1",
    )


def test_unanswered_bind_may_still_arrive(server):
    plan, observed = plan_of(server)
    _silent(server, done=False)
    with pytest.raises(ClusterError, match="is not bound yet, but may still become bound"):
        bind(server, plan, observed)


def _bound_and(server: PretendServer, after) -> None:
    """Have the Binding done, and something else come of it than an answer."""
    real = server.send

    def send(method: str, path: str, body: Any, query: Any = None, kind: str = "application/json") -> Answer:
        answer = real(method, path, body, query, kind)
        return after() if path == BINDING and not query else answer

    server.send = send


def _raise_interrupt() -> Answer:
    raise KeyboardInterrupt


@pytest.mark.parametrize("body", [b"", b"{nope", b"[1]", b"\xff"], ids=["nothing", "no JSON", "a list", "no text"])
def test_bodies_of_bind_and_event_responses_are_ignored(server, body):
    real = server.send
    server.send = lambda *arguments: (real(*arguments), Answer(body, {}))[1]
    bound = bind(server, *plan_of(server))
    assert (bound.moved, bound.warnings) == ((), ())
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"
    assert len(server.events) == 1


def test_interrupt_during_the_bind_looks_the_pod_up(server):
    _bound_and(server, _raise_interrupt)
    assert bind(server, *plan_of(server)).warnings == ("interrupted; but pod shop/web is bound to node-1",)


def test_second_interrupt_leaves_the_outcome_unknown(server):
    def raise_interrupt() -> Answer:
        server.before = lambda method, path: _raise_interrupt()
        return _raise_interrupt()

    _bound_and(server, raise_interrupt)
    with pytest.raises(ClusterError, match="interrupted; it is unknown whether pod shop/web is bound"):
        bind(server, *plan_of(server))


def test_unanswered_dry_run_needs_no_lookup(server):
    plan, observed = plan_of(server)
    _silent(server, done=False)
    with pytest.raises(Unanswered) as raised:
        bind(server, plan, observed, dry_run=True)
    assert str(raised.value) == "the server stopped answering"


@pytest.mark.parametrize(
    ("priority", "refused"), [(10, False), (20, True), (30, True)], ids=["lower", "the same", "higher"]
)
def test_higher_priority_pod_nominated_meanwhile_stops_the_bind(server, priority, refused):
    server.change(WEB, lambda obj: obj["spec"].update(priority=20))
    plan, observed = plan_of(server)
    promised = pod("promised", priority=priority)
    server.put({**promised, "status": {"phase": "Pending", "nominatedNodeName": "node-1"}})
    if refused:
        with pytest.raises(Refusal, match="shop/promised was nominated to the node"):
            bind(server, plan, observed)
    else:
        bind(server, plan, observed)
    assert bool(server.writes()) == (not refused)


def test_pod_nominated_before_the_decision_does_not_stop_the_bind(server):
    server.put({**pod("promised"), "status": {"phase": "Pending", "nominatedNodeName": "node-1"}})
    bind(server, *plan_of(server))
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"


@pytest.mark.parametrize(
    ("code", "reason", "proof"),
    [(403, "Forbidden", True), (403, "", False), (408, "", False), (429, "", True), (500, "InternalError", False)],
)
def test_only_an_api_server_refusal_proves_no_write(code, reason, proof):
    assert not_done(Refused(code, reason, "", "", "")) == proof


def test_binding_carries_uid_and_resource_version(server):
    plan, _ = plan_of(server)
    metadata = binding_of(plan.pod, "node-1", "17")["metadata"]
    assert metadata == {"name": "web", "namespace": "shop", "uid": plan.pod.metadata.uid, "resourceVersion": "17"}


@pytest.mark.parametrize(
    ("scheduler", "profiles", "why"),
    [
        ("default-scheduler", ["default-scheduler"], "the cluster's own kube-scheduler"),
        ("default-scheduler", [], "the cluster's own kube-scheduler"),
        ("volcano", ["default-scheduler"], "belongs to scheduler volcano"),
        ("ours", ["default-scheduler", "ours"], ""),
    ],
)
def test_ownership_by_scheduler_name(scheduler, profiles, why):
    assert why in ownership_problem(scheduler, profiles)
    assert bool(why) == bool(ownership_problem(scheduler, profiles))
