"""Releases in a run: what comes when, whom it replaces, what the API server refuses, and who comes back."""

from __future__ import annotations

import pytest

from schedctl.errors import InputError
from schedctl.reports.simulations import Fate
from schedctl.simulation.outcomes import PodState
from schedctl.simulation.rollout_controller import RolloutController
from schedctl.simulation.runs import Options
from schedctl.simulation.tie_breaking import draw_ties
from schedctl.simulation.timeline import Bound, Evicted, Gone
from schedctl.workloads.api_server import Admission


def node(name: str, cpu: str = "4", zone: str = "", labels: str = "") -> str:
    zoned = f"topology.kubernetes.io/zone: {zone}, " if zone else ""
    return (
        f"\n---\n{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{{zoned}{labels}}}}},"
        f" status: {{allocatable: {{cpu: '{cpu}', memory: 8Gi, pods: '20'}}}}}}"
    )


def template(cpu: str, more: str = "", app: str = "web") -> str:
    resources = f"resources: {{requests: {{cpu: '{cpu}'}}}}" if cpu else ""
    return (
        f"{{metadata: {{labels: {{app: {app}}}}},"
        f" spec: {{{more}{', ' if more else ''}containers: [{{name: app, image: 'app:1', {resources}}}]}}}}"
    )


def workload(kind: str = "Deployment", cpu: str = "1", spec: str = "replicas: 2", more: str = "", **meta: str) -> str:
    metadata = ", ".join(f"{key}: {value}" for key, value in {"name": "web", "namespace": "shop", **meta}.items())
    return (
        f"\n---\n{{apiVersion: apps/v1, kind: {kind}, metadata: {{{metadata}}},"
        f" spec: {{{spec}, selector: {{matchLabels: {{app: web}}}}, template: {template(cpu, more)}}}}}"
    )


def running(
    name: str, owner: str = "", on: str = "a", cpu: str = "1", kind: str = "ReplicaSet", more: str = "", grace: str = ""
) -> str:
    """A pod of the cluster, on a node unless that is ""."""
    reference = f"{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: o, controller: true}}"
    owners = f", ownerReferences: [{reference}]" if owner else ""
    place = f"nodeName: {on}, " if on else ""
    waits = f"terminationGracePeriodSeconds: {grace}, " if grace else ""
    return (
        f"\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop, uid: {name},"
        f" labels: {{app: web}}{owners}}},"
        f" spec: {{{place}{waits}{more}{', ' if more else ''}"
        f"containers: [{{name: app, image: 'app:1', resources: {{requests: {{cpu: '{cpu}'}}}}}}]}}}}"
    )


def priority_class(name: str, value: int) -> str:
    return (
        f"\n---\n{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, value: {value}}}"
    )


def quota(hard: str) -> str:
    metadata = "{name: few, namespace: shop}"
    return f"\n---\n{{apiVersion: v1, kind: ResourceQuota, metadata: {metadata}, spec: {{hard: {hard}}}}}"


def replica_set(name: str = "web-1", of: str = "web", replicas: int = 2, cpu: str = "1") -> str:
    owner = f"ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: {of}, uid: d, controller: true}}]"
    return (
        f"\n---\n{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: {name}, namespace: shop, uid: o, {owner}}},"
        f" spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, template: {template(cpu)}}}}}"
    )


TWO = node("a") + node("b")
GOING = "deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5"


def nodes(release):
    """Where the pods of each workload are, by the workload's name."""
    return {result.name: {place.name: place.pods for place in result.nodes} for result in release.report.results}


def steps(release, *kinds):
    """What was bound, told to go and gone, with its time."""
    return [
        (type(record).__name__, record.at, record.pod.removeprefix("shop/"))
        for record in release.facts.run.timeline
        if isinstance(record, kinds or (Bound, Evicted, Gone))
    ]


def test_a_new_deployment_is_placed(simulate):
    release = simulate(TWO, workload())
    assert nodes(release) == {"web": {"a": 1, "b": 1}}
    assert [change.what for change in release.report.results[0].changes] == ["new"]
    assert release.report.summary.placed == release.report.summary.pods == 2


# -- what runs already -------------------------------------------------------------

OLD = workload(uid="d") + replica_set() + running("web-1-x", "web-1") + running("web-1-y", "web-1")


def test_all_old_pods_make_room_before_any_new_one_comes(simulate):
    release = simulate(node("a", cpu="2") + OLD, workload(cpu="900m"))
    assert nodes(release) == {"web": {"a": 2}}
    assert release.report.results[0].removed == 2
    assert release.report.preemptions == []
    assert release.facts.run.clock == 0


def test_new_pods_beside_the_old_ones_find_less_room(simulate):
    release = simulate(node("a", cpu="3") + OLD, workload(cpu="900m"), strategy="add")
    assert nodes(release) == {"web": {"a": 1}}
    assert release.report.results[0].removed == 0
    assert [pending.fate for pending in release.report.results[0].pending] == [Fate.UNSCHEDULABLE]


def test_a_rolling_deployment_waits_for_its_pods_to_run_and_to_go(simulate):
    spec = "replicas: 2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"
    release = simulate(node("a", cpu="2") + OLD, workload(cpu="900m", spec=spec), strategy="rolling")
    new = [pod.name for pod in release.report.results[0].pods]
    old = [pod for kind, _, pod in steps(release, Evicted)]
    assert sorted(old) == ["web-1-x", "web-1-y"]
    assert steps(release) == [
        ("Evicted", 0, old[0]),
        ("Gone", 30, old[0]),
        ("Bound", 30, new[0]),
        ("Evicted", 30, old[1]),
        ("Gone", 60, old[1]),
        ("Bound", 60, new[1]),
    ]


def test_a_rolling_deployment_whose_pods_do_not_run_gets_stuck(simulate):
    release = simulate(node("a", cpu="2") + OLD, workload(cpu="3"), strategy="rolling")
    (result,) = release.report.results
    assert (result.placed, result.left, len(result.pods)) == (0, 2, 2)
    assert [pod.fate for pod in result.pods] == [Fate.UNSCHEDULABLE, Fate.NOT_CREATED]
    assert release.scheduler.cluster.pod_table.row_of.keys() == {"shop/web-1-x", "shop/web-1-y"}


def test_recreate_waits_until_all_old_pods_are_gone(simulate):
    spec = "replicas: 2, strategy: {type: Recreate}"
    release = simulate(node("a") + OLD, workload(cpu="900m", spec=spec), strategy="rolling")
    assert [(kind, at) for kind, at, _ in steps(release)] == [
        ("Evicted", 0),
        ("Evicted", 0),
        ("Gone", 30),
        ("Gone", 30),
        ("Bound", 30),
        ("Bound", 30),
    ]


def test_nothing_moves_in_a_rolling_update_where_nothing_changes(simulate):
    release = simulate(node("a") + OLD, workload(), strategy="rolling")
    (result,) = release.report.results
    assert (result.wanted, result.placed, result.kept, result.pods) == (2, 2, 2, [])
    assert release.report.summary.placed == 2
    assert steps(release) == []


STATEFUL = workload("StatefulSet", uid="d") + "".join(
    running(f"web-{i}", "web", kind="StatefulSet", grace="10") for i in range(2)
)


def test_the_pods_of_a_stateful_set_are_replaced_under_their_names(simulate):
    release = simulate(node("a", cpu="2") + STATEFUL, workload("StatefulSet", cpu="900m"))
    assert nodes(release) == {"web": {"a": 2}}
    assert [pod.name for pod in release.report.results[0].pods] == ["web-0", "web-1"]
    assert [(kind, at) for kind, at, _ in steps(release, Bound)] == [("Bound", 0), ("Bound", 0)]


def test_a_rolling_stateful_set_goes_down_from_the_last_and_waits_until_each_is_gone(simulate):
    release = simulate(node("a", cpu="2") + STATEFUL, workload("StatefulSet", cpu="900m"), strategy="rolling")
    assert steps(release) == [
        ("Evicted", 0, "web-1"),
        ("Gone", 10, "web-1"),
        ("Bound", 10, "web-1"),
        ("Evicted", 10, "web-0"),
        ("Gone", 20, "web-0"),
        ("Bound", 20, "web-0"),
    ]


def test_an_ordered_stateful_set_waits_for_a_pod_that_does_not_run(simulate):
    release = simulate(node("a", cpu="1"), workload("StatefulSet", spec="replicas: 4", cpu="500m"))
    (result,) = release.report.results
    assert [pod.fate for pod in result.pods] == [Fate.PLACED, Fate.PLACED, Fate.UNSCHEDULABLE, Fate.NOT_CREATED]
    assert result.not_created == ["web-3"]


def test_a_rolling_daemon_set_changes_node_after_node(simulate):
    old = workload("DaemonSet", spec="minReadySeconds: 0", uid="d") + "".join(
        running(f"web-{name}", "web", on=name, kind="DaemonSet") for name in "ab"
    )
    release = simulate(TWO + old, workload("DaemonSet", spec="minReadySeconds: 0", cpu="2"), strategy="rolling")
    assert nodes(release) == {"web": {"a": 1, "b": 1}}
    assert release.facts.run.clock == 60
    assert release.report.results[0].zone_skew is None


def test_an_old_pod_that_is_going_already_does_not_stand_in_the_way(simulate):
    going = STATEFUL.replace("uid: web-1,", "uid: web-1, deletionTimestamp: '2026-01-01T00:00:00Z',")
    release = simulate(node("a", cpu="2") + going, workload("StatefulSet", cpu="900m"))
    assert nodes(release) == {"web": {"a": 2}}


def test_a_pending_old_pod_is_replaced_as_well(simulate):
    release = simulate(node("a") + OLD + running("web-1-z", "web-1", on="", cpu="9"), workload(cpu="900m"))
    assert nodes(release) == {"web": {"a": 2}}
    assert release.report.results[0].removed == 3
    assert release.report.others == []


def test_pods_that_were_pending_before_take_part(simulate):
    release = simulate(node("a", cpu="2") + OLD + running("waits", on="", cpu="500m"), workload(cpu="700m"))
    assert nodes(release) == {"web": {"a": 2}}
    assert [(other.pod, other.fate, other.node) for other in release.report.others] == [
        ("shop/waits", Fate.PLACED, "a")
    ]


# -- who has to make room ----------------------------------------------------------

HIGH = priority_class("high", 100)
IMPORTANT = HIGH + workload(cpu="2", spec="replicas: 1", more="priorityClassName: high", name="important")


@pytest.mark.parametrize(
    ("owner", "successor", "when"),
    [
        pytest.param({"owner": "old-1"}, "old-", 0, id="a ReplicaSet makes another at once, under a new name"),
        pytest.param({"owner": "old", "kind": "StatefulSet"}, "old-0", 30, id="a StatefulSet waits, for the same name"),
        pytest.param({"owner": "old", "kind": "DaemonSet"}, "old-", 30, id="a DaemonSet waits too"),
        pytest.param({}, None, 0, id="a pod that nobody controls does not come back"),
        pytest.param({"owner": "a", "kind": "Node"}, None, 0, id="nor does one that a node runs"),
    ],
)
def test_an_evicted_pod(simulate, owner, successor, when):
    release = simulate(node("a", cpu="2") + node("b", cpu="1") + running("old-0", **owner), IMPORTANT)
    (preempted,) = release.report.preemptions
    assert (preempted.pod, preempted.node, release.report.summary.preempted) == ("shop/old-0", "a", 1)
    assert preempted.by == f"shop/{release.report.results[0].pods[0].name}"
    if successor is None:
        assert (preempted.successor, preempted.fate) == ("", None)
    else:
        assert preempted.successor.startswith(f"shop/{successor}")
        assert (preempted.successor == preempted.pod) == (owner["kind"] == "StatefulSet" if "kind" in owner else False)
        assert (preempted.fate, preempted.successor_node) == (Fate.PLACED, "b")
        assert release.facts.run.pods[preempted.successor].arrived == when


def test_a_pod_that_was_going_before_has_its_successor_already(simulate):
    going = running("old-0", "old-1").replace("uid: old-0,", "uid: old-0, deletionTimestamp: '2026-01-01T00:00:00Z',")
    assert set(simulate(TWO + going, workload()).facts.run.pods) == {
        f"shop/{pod.name}" for pod in simulate(TWO + going, workload()).report.results[0].pods
    }
    release = simulate(TWO + going.replace("ReplicaSet", "StatefulSet"), workload())
    assert "shop/old-0" in release.facts.run.pods


def test_an_evicted_replica_of_the_release_counts_by_its_successor(simulate):
    old = workload(uid="d", more="priority: 100") + replica_set()
    old += "".join(running(f"web-1-{end}", "web-1", more="priority: 100") for end in "xy")
    spec = "replicas: 2, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"
    new = workload(cpu="1500m", spec=spec, more="priorityClassName: high")
    release = simulate(node("a", cpu="3") + HIGH + old, workload(name="low") + new, strategy="rolling")
    low, web = release.report.results
    (preempted,) = release.report.preemptions
    evicted, other = sorted(low.pods, key=lambda pod: pod.evicted, reverse=True)
    assert (web.placed, low.placed, release.report.summary.pods) == (2, 0, 4)
    assert (evicted.fate, other.fate, other.evicted) == (Fate.UNSCHEDULABLE, Fate.UNSCHEDULABLE, "")
    assert (preempted.pod, preempted.successor) == (f"shop/{evicted.evicted}", f"shop/{evicted.name}")
    assert release.report.others == []


def test_a_successor_that_a_quota_refused_is_tried_again_when_the_evicted_pod_is_gone(simulate):
    full = node("a", cpu="2") + node("b", cpu="1") + running("old-0", owner="old-1") + quota("{pods: '1'}")
    release = simulate(full, IMPORTANT.replace("namespace: shop", "namespace: other"))
    (preempted,) = release.report.preemptions
    assert (preempted.fate, preempted.successor_node) == (Fate.PLACED, "b")
    assert release.facts.run.pods[preempted.successor].arrived == 30


def test_an_evicted_pod_whose_successor_finds_no_room_is_pending(simulate):
    release = simulate(node("a", cpu="2") + running("old-0", "old-1"), IMPORTANT)
    (preempted,) = release.report.preemptions
    assert preempted.fate is Fate.UNSCHEDULABLE
    assert preempted.message.startswith("0/1 nodes are available")
    assert release.report.others == []
    assert release.report.summary.pending == 0


# -- the API server ----------------------------------------------------------------


def test_what_a_quota_refuses_is_rejected_and_not_pending(simulate):
    release = simulate(TWO + quota("{pods: '2'}"), workload(spec="replicas: 3"))
    (result,) = release.report.results
    (rejected,) = result.rejected
    assert rejected.plugin == "ResourceQuota"
    assert rejected.message == (
        f'pods "{rejected.pods[0]}" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2'
    )
    assert (result.placed, result.pending, release.report.summary.rejected) == (2, [], 1)


def test_old_pods_give_back_what_they_used_of_a_quota_before_new_ones_come(simulate):
    release = simulate(node("a") + quota("{pods: '2'}") + OLD, workload(cpu="900m"))
    assert release.report.summary.placed == 2


def test_a_pod_that_a_quota_refused_is_tried_again_when_another_is_gone(simulate):
    release = simulate(node("a") + quota("{pods: '2'}") + OLD, workload(cpu="900m"), strategy="rolling")
    assert release.report.summary.rejected == 1  # of a surge nobody goes before it runs
    spec = "replicas: 2, strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"
    release = simulate(node("a") + quota("{pods: '2'}") + OLD, workload(cpu="900m", spec=spec), strategy="rolling")
    assert (release.report.summary.rejected, release.report.summary.placed) == (0, 2)


def test_who_is_refused_by_a_quota_again_tries_no_more_until_the_next_pod_is_gone(simulate, monkeypatch):
    created = []
    create = Admission.create
    monkeypatch.setattr(Admission, "create", lambda self, one: created.append(one.pod.key) or create(self, one))
    going = "".join(running(f"old-{i}").replace(f"uid: old-{i}", f"uid: u{i}, {GOING}") for i in range(3))
    release = simulate(node("a", cpu="90") + quota("{pods: '3'}") + going, workload(spec="replicas: 50"))
    assert (release.report.summary.placed, release.report.summary.rejected) == (3, 47)
    assert len(created) == 50 + 3 * 2


def test_without_the_plugin_nothing_is_refused(simulate):
    release = simulate(TWO + quota("{pods: '2'}"), workload(spec="replicas: 3"), disabled=["ResourceQuota"])
    assert release.report.summary.placed == 3


def test_an_admission_plugin_that_is_none_is_an_error(simulate):
    with pytest.raises(ValueError, match="unknown admission plugin 'Quota'"):
        simulate(TWO, workload(), disabled=["Quota"])


def test_pods_of_another_scheduler_are_created_and_left_alone(simulate):
    release = simulate(TWO, workload(more="schedulerName: mine"))
    assert release.report.summary.foreign_scheduler == 2
    assert release.report.results[0].pending[0].message == 'schedulerName "mine" belongs to another scheduler'
    assert release.facts.run.pods == {}


def test_all_pods_can_be_given_to_one_profile(simulate):
    release = simulate(TWO, workload(more="schedulerName: mine"), name="default-scheduler")
    assert release.report.summary.placed == 2


def test_a_name_that_is_taken_is_refused(simulate):
    release = simulate(node("a") + running("web-0"), workload("StatefulSet"))
    (rejected,) = release.report.results[0].rejected
    assert (rejected.plugin, rejected.message) == ("AlreadyExists", 'pods "web-0" already exists')


def test_with_strict_a_refused_object_ends_everything_before_anything_changes(simulate):
    state = node("a") + workload("StatefulSet", spec="replicas: 1", uid="d")
    other = workload("StatefulSet", spec="replicas: 1, podManagementPolicy: Parallel")
    assert simulate(state, other).report.summary.mistakes == 1
    with pytest.raises(InputError, match="forbidden"):
        simulate(state, other, strict=True)


# -- all of it ---------------------------------------------------------------------


def test_a_seed_draws_among_equally_good_nodes_and_changes_nothing_else(simulate):
    alike = "".join(node(name) for name in "abcdef")
    first = simulate(alike, workload(spec="replicas: 1"))
    drawn = {
        next(iter(nodes(simulate(alike, workload(spec="replicas: 1"), options=Options(choose=draw_ties(seed))))["web"]))
        for seed in range(12)
    }
    assert nodes(first) == {"web": {"a": 1}}
    assert len(drawn) > 2
    assert first.report.results[0].pods[0].ties == 6


def test_in_a_fork_the_cluster_is_as_before(simulate):
    release = simulate(node("a", cpu="2") + OLD, workload(cpu="900m"))
    assert release.facts.before.requested["cpu"] == {"a": 2000}
    assert release.facts.after.requested["cpu"] == {"a": 1800}
    assert {outcome.state for outcome in release.facts.run.pods.values()} == {PodState.BOUND}


@pytest.mark.parametrize("strategy", ["replace", "add", "rolling"])
def test_a_new_node_gets_the_daemons_of_the_cluster_and_the_others_keep_theirs(simulate, strategy):
    daemons = workload("DaemonSet", spec="revisionHistoryLimit: 1")
    release = simulate(node("a") + daemons + running("web-a", "web", kind="DaemonSet"), node("b"), strategy=strategy)
    (result,) = release.report.results
    assert [(change.what, change.text) for change in result.changes] == [("unchanged", "unchanged; its pods stay")]
    assert [(place.name, place.pods) for place in result.nodes] == [("b", 1)]
    assert not release.facts.run.evictions
    assert "shop/web-a" in release.scheduler.cluster.pod_table.row_of


def test_a_rolling_update_asks_about_a_pod_when_it_comes_or_goes_and_not_at_every_step(simulate, monkeypatch):
    ask, asked = RolloutController._is_running, []
    monkeypatch.setattr(RolloutController, "_is_running", lambda self, key: asked.append(key) or ask(self, key))
    nodes = "".join(node(f"n{n}") for n in range(8))
    old = "".join(running(f"web-1-{n}", "web-1", on=f"n{n % 8}", cpu="100m") for n in range(60))
    state = nodes + workload(uid="d") + replica_set() + old
    release = simulate(state, workload(cpu="200m", spec="replicas: 60"), strategy="rolling")
    assert release.report.results[0].removed == 60
    assert len(asked) <= 60 * 8
