"""Drains: what kubectl refuses, what budgets let go, and where the pods go that have to."""

from __future__ import annotations

import msgspec
import pytest

from schedctl.api.policies import PodDisruptionBudget
from schedctl.api.selectors import compile_labels
from schedctl.api.storage import PersistentVolume, PersistentVolumeClaim
from schedctl.api.workloads import DaemonSet, Deployment, ReplicaSet
from schedctl.reports.drains import DrainFate, DrainVerdict
from schedctl.reports.simulations import Fate
from schedctl.scheduler import Scheduler
from schedctl.simulation import drain_report_builder
from schedctl.simulation.drains import DrainFlags, drain
from schedctl.simulation.outcomes import PodOutcome, PodState
from schedctl.testing.builders import cluster, node, pod
from schedctl.workloads.disruption_budgets import SEVERAL, VIOLATES, Budgets

EMPTY_DIR = [{"name": "tmp", "emptyDir": {}}]
WEB = {"app": "web"}


def owned(name: str, kind: str = "ReplicaSet", by: str = "web", metadata: dict | None = None, **more):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": by, "uid": by, "controller": True}
    return pod(name, metadata={"ownerReferences": [reference], **(metadata or {})}, **more)


def web(name: str, on: str, **more):
    return owned(name, on=on, labels=WEB, **more)


def budget(name: str = "web", selector: dict | None = None, status: dict | None = None, **spec):
    selector = {"matchLabels": WEB} if selector is None else selector
    data = {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector, **spec}}
    return msgspec.convert({**data, **({"status": status} if status else {})}, PodDisruptionBudget)


def build(kind, name: str, **spec):
    return msgspec.convert({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}, kind)


def drain_nodes(state, *names: str, flags: DrainFlags | None = None):
    return drain(Scheduler(state), names, flags)


def fates(facts) -> dict[str, DrainFate | str]:
    """What became of each pod: the node of its successor, or the fate."""
    return {
        pod.info.pod.metadata.name: pod.successor_node if pod.fate is DrainFate.MOVED else pod.fate
        for node in facts.nodes
        for pod in node.pods
    }


def drain_report(state, *names: str, fail: bool = False, flags: DrainFlags | None = None):
    facts = drain_nodes(state, *names, flags=flags)
    return drain_report_builder.report(facts, state, metadata=drain_report_builder.Metadata(), fail=fail)


# -- where pods go ---------------------------------------------------------------


def test_evicted_pods_come_back_on_the_nodes_that_are_left():
    state = cluster(node("a"), node("b"), web("web-x", "a"), owned("db-0", "StatefulSet", "db", on="a"))
    facts = drain_nodes(state, "a")
    assert fates(facts) == {"web-x": "b", "db-0": "b"}
    successors = {pod.info.pod.metadata.name: pod.successor for pod in facts.nodes[0].pods}
    assert successors["db-0"] == "default/db-0"
    assert successors["web-x"] != "default/web-x"
    assert facts.nodes[0].clock == 30.0  # the grace period
    assert object_of(state, "a").spec.unschedulable


def object_of(state, name: str):
    return state.node_table.objects[state.node_table.row_of[name]]


def test_a_pod_that_fits_nowhere_else_stays_pending_with_the_line_of_its_event():
    state = cluster(node("a", cpu="4"), node("b", cpu="1"), web("web-x", "a", cpu="2"))
    report = drain_report(state, "a", fail=True)
    (result,) = report.results
    assert (result.verdict, result.pods[0].fate) == (DrainVerdict.LEAVES_PENDING, DrainFate.PENDING)
    assert report.pending[0].message.startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."
    )
    assert report.pending[0].pods == [result.pods[0].successor]
    assert report.summary.exit_code == 1


@pytest.mark.parametrize(
    ("outcome", "fate"),
    [
        pytest.param({"state": PodState.GATED}, Fate.GATED, id="a gated pod is gated, whatever it was promised"),
        pytest.param({"state": PodState.WAITING}, Fate.WAITING, id="a pod that Permit holds back waits"),
        pytest.param({"state": PodState.UNSCHEDULABLE}, Fate.NOMINATED, id="a rejected pod may have a node promised"),
        pytest.param({"state": PodState.QUEUED, "fault": True}, Fate.FAILED, id="a fault counts for more than that"),
        pytest.param({"state": PodState.GATED, "fault": True}, Fate.GATED, id="but not for more than a gate"),
    ],
)
def test_a_pending_successor_has_the_fate_that_simulate_would_report(outcome, fate):
    state = cluster(node("a"), web("web-x", "a"))
    facts = drain_nodes(state, "a")
    (drained,) = facts.nodes[0].pods
    drained.outcome = PodOutcome(drained.info, nominated="a", **outcome)
    report = drain_report_builder.report(facts, state, metadata=drain_report_builder.Metadata())
    assert [group.fate for group in report.pending] == [fate]


def test_pods_that_were_pending_before_take_part_as_they_would():
    state = cluster(
        node("a", cpu="2"), node("b", cpu="2"), web("web-x", "a", cpu="2"), pod("first", cpu="2", priority=9)
    )
    facts = drain_nodes(state, "a")
    assert fates(facts) == {"web-x": DrainFate.PENDING}
    assert facts.arrived == {"default/first": "b"}


def test_whoever_has_to_make_room_comes_back_too():
    low = owned("low", by="low", on="b", cpu="2")
    state = cluster(
        node("a", cpu="2"),
        node("b", cpu="2"),
        node("c", cpu="2"),
        web("web-x", "a", cpu="2", priority=9),
        low,
        owned("lower", by="lower", on="c", cpu="2", priority=-1),
    )
    facts = drain_nodes(state, "a")
    assert fates(facts) == {"web-x": "c"}
    (displaced,) = facts.displaced
    assert (displaced.eviction.pod.key, displaced.eviction.node, displaced.successor_node) == ("default/lower", "c", "")
    assert displaced.successor.startswith("default/lower-")


def test_nodes_are_all_cordoned_before_the_first_is_emptied_so_nobody_moves_twice():
    state = cluster(node("a"), node("b"), node("c"), web("web-x", "a"), web("web-y", "b"))
    assert fates(drain_nodes(state, "a", "b")) == {"web-x": "c", "web-y": "c"}


def test_pods_on_their_way_out_are_waited_for_and_replaced_by_nobody_again():
    leaving = web("web-x", "a")
    going = msgspec.structs.replace(leaving.pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    state = cluster(node("a"), node("b"), leaving.as_now(msgspec.structs.replace(leaving.pod, metadata=going)))
    assert fates(drain_nodes(state, "a")) == {"web-x": DrainFate.TERMINATING}
    assert (list(state.pod_table), dict(state.pending)) == ([], {})


def test_a_successor_of_another_scheduler_is_left_to_it():
    state = cluster(node("a"), node("b"), web("web-x", "a", schedulerName="other"))
    report = drain_report(state, "a")
    assert (report.results[0].pods[0].fate, report.results[0].verdict) == (
        DrainFate.FOREIGN_SCHEDULER,
        DrainVerdict.LEAVES_PENDING,
    )


def test_volumes_keep_their_reach():
    at = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-1"]}]}
        ]
    }
    spec = {
        "nodeAffinity": {"required": at},
        "accessModes": ["ReadWriteOnce"],
        "claimRef": {"namespace": "default", "name": "data-db-0"},
    }
    volume = msgspec.convert({"metadata": {"name": "v"}, "spec": spec}, PersistentVolume)
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    claim = msgspec.convert(
        {"metadata": {"name": "data-db-0", "namespace": "default", "annotations": bound}, "spec": {"volumeName": "v"}},
        PersistentVolumeClaim,
    )
    uses = [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
    db = owned("db-0", "StatefulSet", "db", on="a", volumes=uses)

    def drained_beside(zone: str):
        state = cluster(node("a", zone="eu-1"), node("b", zone=zone), volume, claim, db)
        return drain_report(state, "a").results[0].pods[0]

    assert drained_beside("eu-1").node == "b"
    assert "didn't match PersistentVolume's node affinity" in drained_beside("eu-2").message


def test_a_grace_period_of_ones_own():
    state = cluster(node("a"), node("b"), web("web-x", "a"))
    assert drain_nodes(state, "a", flags=DrainFlags(grace_period=5)).nodes[0].clock == 5.0


def test_a_drain_in_a_fork_leaves_everything_as_it_was():
    state = cluster(node("a"), node("b"), web("web-x", "a"), budget(maxUnavailable=1))
    scheduler = Scheduler(state)
    with scheduler.fork():
        drain(scheduler, ["a"])
    assert list(state.pod_table.row_of) == ["default/web-x"]
    assert (object_of(state, "a").spec.unschedulable, dict(state.pending)) == (False, {})


# -- what kubectl refuses --------------------------------------------------------

DAEMON = owned("d", "DaemonSet", "logs", on="a")
MIRROR = owned("static", "Node", "a", on="a", metadata={"annotations": {"kubernetes.io/config.mirror": "x"}})
LOGS = build(DaemonSet, "logs")
OTHER = build(DaemonSet, "other")


@pytest.mark.parametrize(
    ("objects", "flags", "refusals"),
    [
        pytest.param(
            [DAEMON, LOGS],
            DrainFlags(),
            ["cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/d"],
            id="pods of DaemonSets",
        ),
        pytest.param([DAEMON, LOGS], DrainFlags(ignore_daemonsets=True), [], id="unless they are to be ignored"),
        pytest.param(
            [DAEMON], DrainFlags(ignore_daemonsets=True), [], id="also where nobody has listed the DaemonSets"
        ),
        pytest.param(
            [DAEMON, OTHER],
            DrainFlags(ignore_daemonsets=True),
            ['cannot delete daemonsets.apps "logs" not found: default/d'],
            id="orphans of a DaemonSet, even so",
        ),
        pytest.param([DAEMON, OTHER], DrainFlags(force=True), [], id="unless by force"),
        pytest.param(
            [web("w", "a", volumes=EMPTY_DIR)],
            DrainFlags(),
            ["cannot delete Pods with local storage (use --delete-emptydir-data to override): default/w"],
            id="pods with emptyDir volumes",
        ),
        pytest.param(
            [web("w", "a", volumes=EMPTY_DIR)], DrainFlags(delete_emptydir_data=True), [], id="unless their data may go"
        ),
        pytest.param(
            [pod("bare", on="a")],
            DrainFlags(),
            ["cannot delete Pods that declare no controller (use --force to override): default/bare"],
            id="pods that nobody controls",
        ),
        pytest.param(
            [pod("bare", on="a", volumes=EMPTY_DIR)],
            DrainFlags(),
            ["cannot delete Pods with local storage (use --delete-emptydir-data to override): default/bare"],
            id="of two reasons, the first it looks at",
        ),
        pytest.param([MIRROR], DrainFlags(), [], id="static pods are no reason"),
        pytest.param(
            [pod("one", on="a"), pod("two", on="a")],
            DrainFlags(),
            ["cannot delete Pods that declare no controller (use --force to override): default/one, default/two"],
            id="pods with the same reason stand in one line",
        ),
        pytest.param(
            [pod("bare", on="a")],
            DrainFlags(pod_selector=compile_labels(WEB)),
            [],
            id="pods that are not selected are no reason",
        ),
    ],
)
def test_kubectl_refuses_a_node_because_of(objects, flags, refusals):
    assert drain_nodes(cluster(node("a"), node("b"), *objects), "a", flags=flags).nodes[0].refusals == refusals


def test_of_a_node_that_is_refused_nothing_is_evicted_and_the_next_has_its_turn():
    state = cluster(node("a"), node("b"), node("c"), web("web-x", "a"), pod("bare", on="a"), web("web-y", "b"))
    report = drain_report(state, "a", "b", fail=True)
    assert [result.verdict for result in report.results] == [DrainVerdict.REFUSED, DrainVerdict.DRAINED]
    assert [pod.fate for pod in report.results[0].pods] == [DrainFate.REFUSED, DrainFate.KEPT]
    assert "default/web-x" in state.pod_table.row_of
    assert (report.summary.drained, report.summary.refused, report.summary.exit_code) == (1, 1, 1)


def test_daemons_and_static_pods_stay_and_bare_pods_are_lost():
    state = cluster(node("a"), node("b"), DAEMON, MIRROR, LOGS, pod("bare", on="a"))
    flags = DrainFlags(ignore_daemonsets=True, force=True)
    report = drain_report(state, "a", fail=True, flags=flags)
    assert {pod.pod: pod.fate for pod in report.results[0].pods} == {
        "default/bare": DrainFate.LOST,
        "default/d": DrainFate.IGNORED,
        "default/static": DrainFate.MIRROR,
    }
    assert report.results[0].verdict is DrainVerdict.DRAINED
    assert (report.summary.staying, report.summary.lost, report.summary.exit_code) == (2, 1, 0)


# -- budgets ---------------------------------------------------------------------


def three_pods(*more, **spec):
    """Three pods of web on node a, and room for them on b."""
    return cluster(node("a"), node("b"), *(web(f"web-{name}", "a") for name in "xyz"), budget(**spec), *more)


def test_a_budget_lets_pods_go_one_after_another_as_their_successors_run():
    facts = drain_nodes(three_pods(minAvailable=2), "a")
    assert fates(facts) == dict.fromkeys(("web-x", "web-y", "web-z"), "b")
    assert sorted(pod.at for pod in facts.nodes[0].pods) == [0.0, 5.0, 10.0]  # kubectl asks every five seconds
    assert facts.allowed == {"default/web": 1}
    book = facts.budgets.books["default/web"]
    assert (book.spent, book.desired, book.margin) == (3, 2, 1)


def test_a_budget_that_never_lets_a_pod_go_blocks_the_node_with_the_answer_of_the_api_server():
    report = drain_report(three_pods(minAvailable=3), "a", fail=True)
    assert report.results[0].verdict is DrainVerdict.BLOCKED
    assert {(pod.fate, pod.message) for pod in report.results[0].pods} == {(DrainFate.BLOCKED, VIOLATES)}
    assert report.results[0].pods[0].cause == "The disruption budget web needs 3 healthy pods and has 3 currently"
    (use,) = report.budgets
    assert (use.allowed, use.blocked, use.evictions) == (0, 3, 0)
    assert report.summary.exit_code == 1


def test_a_pending_successor_holds_up_the_pods_of_its_budget():
    state = cluster(
        node("a"), node("b", cpu="1"), *(web(f"web-{name}", "a", cpu="1") for name in "xyz"), budget(maxUnavailable=1)
    )
    facts = drain_nodes(state, "a")
    assert sorted(map(str, fates(facts).values())) == ["Blocked", "Pending", "b"]


def test_deleting_asks_no_budget():
    assert set(
        fates(drain_nodes(three_pods(minAvailable=3), "a", flags=DrainFlags(disable_eviction=True))).values()
    ) == {"b"}


def test_two_budgets_over_a_pod_are_an_error_that_does_not_pass():
    report = drain_report(three_pods(budget("other", maxUnavailable=1), maxUnavailable=1), "a")
    assert {pod.message for pod in report.results[0].pods} == {SEVERAL}
    assert report.results[0].verdict is DrainVerdict.BLOCKED


def disruptions_allowed(*objects, **spec) -> int:
    return Budgets.of(cluster(node("a"), *objects, budget(**spec))).books["default/web"].disruptions_allowed


RUNNING = [web(f"web-{name}", "a") for name in "xyz"]
UNREADY = web("web-u", "a", status={"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]})
SCALE = build(ReplicaSet, "web", replicas=4)


@pytest.mark.parametrize(
    ("objects", "spec", "number"),
    [
        pytest.param(RUNNING, {"minAvailable": 2}, 1, id="what is more than the minimum"),
        pytest.param(RUNNING, {"minAvailable": 5}, 0, id="nothing below it"),
        pytest.param([*RUNNING, UNREADY], {"minAvailable": 2}, 1, id="pods that are not ready do not count as healthy"),
        pytest.param(RUNNING, {"maxUnavailable": 2}, 2, id="the maximum, where all are healthy"),
        pytest.param([*RUNNING, SCALE], {"maxUnavailable": 2}, 1, id="less what the controller is still to make"),
        pytest.param(RUNNING, {"minAvailable": "50%"}, 1, id="a percentage is rounded up: two of three must stay"),
        pytest.param(RUNNING, {"maxUnavailable": "50%"}, 2, id="and so is that of those that may go"),
        pytest.param(
            RUNNING,
            {
                "minAvailable": 1,
                "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 3},
            },
            0,
            id="what the controller has written counts",
        ),
        pytest.param([], {"maxUnavailable": 1}, 0, id="nothing where there are no pods"),
        pytest.param(
            RUNNING, {"minAvailable": 1, "selector": {}}, 2, id="an empty selector selects all of the namespace"
        ),
    ],
)
def test_a_budget_allows(objects, spec, number):
    assert disruptions_allowed(*objects, **spec) == number


def test_percentages_are_of_the_scale_of_the_deployment_above():
    above = {
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": "s", "controller": True}
        ]
    }
    replicas = msgspec.convert(
        {"metadata": {"name": "web", "namespace": "default", **above}, "spec": {"replicas": 3}}, ReplicaSet
    )
    assert disruptions_allowed(*RUNNING, replicas, build(Deployment, "shop", replicas=4), maxUnavailable="50%") == 1


@pytest.mark.parametrize(
    ("spec", "goes"),
    [
        pytest.param({"minAvailable": 3}, True, id="goes while enough others are healthy"),
        pytest.param({"minAvailable": 4}, False, id="stays while too few are"),
        pytest.param(
            {"minAvailable": 4, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
            True,
            id="goes where the budget says always",
        ),
    ],
)
def test_a_pod_that_is_not_ready(spec, goes):
    budgets = Budgets.of(cluster(node("a"), *RUNNING, UNREADY, budget(**spec)))
    assert (budgets.evict(UNREADY) is None) is goes
    assert budgets.books["default/web"].spent == 0


def test_the_books_take_note_of_pods_that_are_gone_otherwise():
    state = three_pods(minAvailable=1)
    budgets = Budgets.of(state)
    state.remove_pod(state.pod_table.infos[state.pod_table.row_of["default/web-x"]])
    budgets.recount(state)
    assert budgets.books["default/web"].disruptions_allowed == 1
