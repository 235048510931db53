"""How new pods take the place of those that run, step by step."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_values
from hypothesis import strategies as st

from schedctl.cache.pod_info import PodInfo
from schedctl.workloads.expansion import expand
from schedctl.workloads.rollouts import dispensable, plan

LABELS = "labels: {app: web, pod-template-hash: abc12}"


def deployment(spec: str = "", image: str = "app:1", kind: str = "Deployment", meta: str = "name: web") -> str:
    return f"""
---
apiVersion: apps/v1
kind: {kind}
metadata: {{{meta}, namespace: shop}}
spec:
  {spec}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: app, image: "{image}"}}]}}
"""


def owned(name: str, kind: str, owner: str, node: str = "a", more: str = "") -> str:
    reference = f"{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: '1', controller: true}}"
    node = f"nodeName: {node}" if node else ""
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, uid: {name}, {LABELS}, ownerReferences: [{reference}]}}
spec: {{{node}}}
"""


def running(count: int, image: str = "app:1", *, idle: int = 0) -> str:
    """A Deployment with its ReplicaSet and so many pods, some of which are on no node."""
    meta = (
        "name: web-abc12, uid: r, ownerReferences: "
        "[{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]"
    )
    return (
        NODES
        + deployment(f"replicas: {count}", image, meta="name: web, uid: d")
        + deployment(f"replicas: {count}", image, "ReplicaSet", meta)
        + "".join(owned(f"old-{i}", "ReplicaSet", "web-abc12", "" if i < idle else "a") for i in range(count))
    )


NODES = "".join(f"\n---\n{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}" for name in ("a", "b", "c"))


@pytest.fixture
def updates(manifests_of, cluster_of):
    def make(text: str, state: str, strategy: str):
        cluster = cluster_of(state)
        manifests = manifests_of(text)
        assert manifests.problems == []
        return plan(expand(manifests.objects, cluster).groups, cluster, strategy)

    return make


def next_step(update, runs=lambda key: True):
    update.count(runs)
    return update.next()


def run_to_end(update, runs=lambda key: True, most: int = 50) -> list[str]:
    """The steps an update takes, in short: `-2+1` removes two pods and creates one."""
    steps = []
    while (step := next_step(update, runs)) and len(steps) < most:
        steps.append("".join(f"{sign}{len(part)}" for sign, part in (("-", step.remove), ("+", step.create)) if part))
    return steps


def facts(update) -> list[str]:
    return [change.text for change in update.changes]


# -- replace and add ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state", "strategy", "steps"),
    [
        pytest.param(deployment("replicas: 3"), "", "replace", ["+3"], id="what is new comes"),
        pytest.param(
            deployment("replicas: 3", "app:2"), running(2), "replace", ["-2+3"], id="old pods leave, new ones come"
        ),
        pytest.param(deployment("replicas: 2"), running(2), "replace", ["-2+2"], id="also where nothing has changed"),
        pytest.param(deployment("replicas: 3"), running(2), "add", ["+3"], id="added pods leave the old ones alone"),
        pytest.param(
            deployment("replicas: 2", kind="StatefulSet"), "", "replace", ["+1", "+1"], id="ordered pods come in turn"
        ),
        pytest.param(
            deployment("replicas: 2\n  podManagementPolicy: Parallel", kind="StatefulSet"),
            "",
            "replace",
            ["+2"],
            id="parallel ones at once",
        ),
    ],
)
def test_steps_of_replace_and_add(updates, text, state, strategy, steps):
    (update,) = updates(text, state, strategy)
    assert run_to_end(update) == steps
    assert update.is_finished


def test_an_ordered_pod_waits_for_the_one_before_it(updates):
    (update,) = updates(deployment("replicas: 3", kind="StatefulSet"), "", "replace")
    assert run_to_end(update, lambda key: key != "shop/web-1") == ["+1", "+1"]
    assert [replica.pod.metadata.name for replica in update.unsent.values()] == ["web-2"]
    assert not update.is_finished


def test_an_ordered_workload_goes_on_once_its_last_pod_is_noted_to_run(updates):
    (update,) = updates(deployment("replicas: 9", kind="StatefulSet"), "", "replace")
    run_to_end(update, lambda key: key != "shop/web-7")
    assert not update.next()
    update.note("shop/web-7", runs=True)
    assert [replica.ordinal for replica in update.next().create] == [8]


def test_pods_added_to_a_stateful_set_begin_behind_those_that_stay(updates):
    state = NODES + owned("web-0", "StatefulSet", "web") + owned("web-1", "StatefulSet", "web")
    (update,) = updates(deployment("replicas: 2", kind="StatefulSet"), state, "add")
    assert [pod.metadata.name for pod in update.workload.pods] == ["web-2", "web-3"]


def test_pods_of_an_unread_replica_set_are_found_by_its_name(updates):
    state = NODES + owned("old", "ReplicaSet", "web-abc12")
    (update,) = updates(deployment(), state, "replace")
    assert [info.key for info in update.old] == ["shop/old"]
    assert facts(update) == ["its previous template is not known"]


def test_pods_of_other_owners_stay(updates):
    state = NODES + owned("other", "ReplicaSet", "shop-abc12") + owned("theirs", "StatefulSet", "web")
    (update,) = updates(deployment(), state, "replace")
    assert update.old == ()
    assert facts(update) == ["new"]


# -- rolling --------------------------------------------------------------------------------


def strategy(surge: str, unavailable: str) -> str:
    return f"strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}\n  replicas: 4"


@pytest.mark.parametrize(
    ("spec", "image", "state", "steps"),
    [
        pytest.param("replicas: 4", "app:1", running(4), [], id="nothing moves where nothing changes"),
        pytest.param("replicas: 6", "app:1", running(4), ["+2"], id="only the difference comes"),
        pytest.param("replicas: 1", "app:1", running(4), ["-3"], id="or goes"),
        pytest.param(
            strategy("1", "0"), "app:2", running(4), ["+1", "-1"] * 4, id="with a surge of one it is one at a time"
        ),
        pytest.param(
            strategy("0", "1"), "app:2", running(4), ["-1", "+1"] * 4, id="with one unavailable, the other way round"
        ),
        pytest.param(
            strategy("25%", "25%"),
            "app:2",
            running(4),
            ["+1", "-2", "+2", "-2", "+1"],
            id="shares of all: surge is rounded up, unavailable down",
        ),
        pytest.param(strategy("100%", "0"), "app:2", running(4), ["+4", "-4"], id="all beside all"),
        pytest.param(
            "strategy: {type: Recreate}\n  replicas: 4",
            "app:2",
            running(4),
            ["-4", "+4"],
            id="recreating is all at once",
        ),
    ],
)
def test_rolling_deployments(updates, spec, image, state, steps):
    (update,) = updates(deployment(spec, image), state, "rolling")
    assert run_to_end(update) == steps
    assert update.is_finished


def test_a_rollout_stalls_where_its_new_pods_do_not_run(updates):
    (update,) = updates(deployment(strategy("1", "1"), "app:2"), running(4), "rolling")
    assert run_to_end(update, lambda key: key.startswith("shop/old-")) == ["+1", "-1", "+1"]
    assert (len(update.unsent), len(update.leaving)) == (2, 3)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given_values(
    replicas=st.integers(1, 12),
    before=st.integers(1, 12),
    surge=st.sampled_from([0, 1, 3, "25%", "100%"]),
    unavailable=st.sampled_from([0, 1, 2, "25%", "100%"]),
    order=st.randoms(use_true_random=False),
)
def test_a_rollout_stays_within_surge_and_unavailable_and_ends(updates, replicas, before, surge, unavailable, order):
    if str(surge).strip("%") == "0" and str(unavailable).strip("%") == "0":
        unavailable = 1
    spec = strategy(str(surge), str(unavailable)).replace("replicas: 4", f"replicas: {replicas}")
    (update,) = updates(deployment(spec, "app:2"), running(before), "rolling")
    there = {info.key for info in update.old}
    starting: list[str] = []
    for _ in range(500):
        step = next_step(update, there.__contains__)
        there -= {info.key for info in step.remove}
        starting += [replica.pod.key for replica in step.create]
        if step.create and before <= replicas:
            assert len(there) + len(starting) <= replicas + update.surge
        if step.remove:
            assert len(there) >= min(replicas, before) - update.unavailable
        if not step and starting:
            there.add(starting.pop(order.randrange(len(starting))))
        if update.is_finished and not starting:
            break
    assert len(there) == replicas
    assert not there & {info.key for info in update.old}


def test_pods_on_no_node_go_first(updates):
    (update,) = updates(deployment(strategy("0", "1"), "app:2"), running(4, idle=1), "rolling")
    step = next_step(update, lambda key: key != "shop/old-0")
    assert [info.key for info in step.remove] == ["shop/old-0"]


def test_dispensable_pods_are_in_the_order_of_a_replica_set(manifests_of):
    def pod(
        name: str, node: str = "a", phase: str = "Running", ready: str = "True", cost: str = "", age: int = 1
    ) -> str:
        meta = f"annotations: {{controller.kubernetes.io/pod-deletion-cost: '{cost}'}}, " if cost else ""
        meta += f"creationTimestamp: '2026-01-0{age}T00:00:00Z'"
        return (
            f"\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, {meta}}}, "
            f"spec: {{nodeName: '{node}', containers: [{{name: app, image: i}}]}}, "
            f"status: {{phase: {phase}, conditions: [{{type: Ready, status: '{ready}'}}]}}}}"
        )

    pods = (
        pod("dear", cost="100", age=9),
        pod("alone", node="b", age=9),
        pod("old"),
        pod("young", age=2),
        pod("of-no-valid-cost", cost="+7", age=3),
        pod("cheap", node="b", cost="-5"),
        pod("not-ready", ready="False", cost="9"),
        pod("starting", phase="Pending", ready="False", cost="99"),
        pod("on-no-node", node="", phase="Pending", ready="False", cost="999"),
    )
    infos = [PodInfo(one.object) for one in manifests_of("".join(pods)).objects]
    assert [info.pod.metadata.name for info in dispensable(infos)] == [
        "on-no-node",
        "starting",
        "not-ready",
        "cheap",
        "of-no-valid-cost",
        "young",
        "old",
        "alone",
        "dear",
    ]


STATEFUL = (
    NODES
    + deployment("replicas: 3", kind="StatefulSet", meta="name: web, uid: s")
    + "".join(owned(f"web-{i}", "StatefulSet", "web") for i in range(3))
)


@pytest.mark.parametrize(
    ("spec", "image", "order"),
    [
        pytest.param("replicas: 3", "app:1", [], id="nothing moves where nothing changes"),
        pytest.param("replicas: 3", "app:2", ["-2+2", "-1+1", "-0+0"], id="one by one from above"),
        pytest.param(
            "replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 2}}",
            "app:2",
            ["-2+2"],
            id="down to the partition",
        ),
        pytest.param("replicas: 3\n  updateStrategy: {type: OnDelete}", "app:2", [], id="not by itself"),
        pytest.param("replicas: 5", "app:1", ["+3", "+4"], id="new ordinals come from below"),
        pytest.param("replicas: 1", "app:1", ["-2", "-1"], id="surplus ones go from above"),
        pytest.param("replicas: 4", "app:2", ["+3", "-2+2", "-1+1", "-0+0"], id="first filled, then replaced"),
        pytest.param(
            "replicas: 3\n  updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
            "app:2",
            ["-2-1+2+1", "-0+0"],
            id="several at a time where that is allowed",
        ),
    ],
)
def test_rolling_stateful_sets(updates, spec, image, order):
    (update,) = updates(deployment(spec, image, "StatefulSet"), STATEFUL, "rolling")
    steps = []
    while step := next_step(update):
        removed = "".join(f"-{info.key[-1]}" for info in step.remove)
        steps.append(removed + "".join(f"+{replica.ordinal}" for replica in step.create))
    assert steps == order
    assert update.is_finished


def test_a_rolling_stateful_set_waits_for_the_new_pod(updates):
    (update,) = updates(deployment("replicas: 3", "app:2", "StatefulSet"), STATEFUL, "rolling")
    running_now = {"shop/web-0", "shop/web-1", "shop/web-2"}
    next_step(update, running_now.__contains__)
    running_now.discard("shop/web-2")
    assert not next_step(update, running_now.__contains__)
    running_now.add("shop/web-2")
    assert [replica.ordinal for replica in next_step(update, running_now.__contains__).create] == [1]


def test_an_old_pod_without_an_ordinal_blocks_no_ordinal(updates):
    state = STATEFUL + owned("web-abc", "StatefulSet", "web")
    (update,) = updates(deployment("replicas: 4", kind="StatefulSet"), state, "rolling")
    assert run_to_end(update, lambda key: True) == ["+1", "-1"]
    assert [replica.ordinal for replica in update.created.values()] == [3]


DAEMONS = (
    NODES
    + deployment("", kind="DaemonSet", meta="name: web, uid: s")
    + "".join(owned(f"web-{node}", "DaemonSet", "web", node) for node in "ab")
)


@pytest.mark.parametrize(
    ("spec", "image", "steps"),
    [
        pytest.param("", "app:1", ["+1"], id="a node without a pod gets one"),
        pytest.param("", "app:2", ["+1", "-1+1", "-1+1"], id="then one node after the other is changed"),
        pytest.param(
            "updateStrategy: {rollingUpdate: {maxUnavailable: '100%'}}", "app:2", ["+1", "-2+2"], id="or all at once"
        ),
        pytest.param(
            "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}",
            "app:2",
            ["+1", "+1", "-1", "+1", "-1"],
            id="or new beside old",
        ),
        pytest.param("updateStrategy: {type: OnDelete}", "app:2", ["+1"], id="or not by itself"),
    ],
)
def test_rolling_daemon_sets(updates, spec, image, steps):
    (update,) = updates(deployment(spec, image, "DaemonSet"), DAEMONS, "rolling")
    assert run_to_end(update) == steps
    assert update.is_finished


def test_a_replica_set_keeps_pods_of_its_old_template(updates):
    state = NODES + deployment("replicas: 1", kind="ReplicaSet") + owned("web-1", "ReplicaSet", "web")
    (update,) = updates(deployment("replicas: 2", "app:2", "ReplicaSet"), state, "rolling")
    assert run_to_end(update) == ["+1"]


# -- what changed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state", "expected"),
    [
        pytest.param(deployment(), "", ["new"], id="new"),
        pytest.param(
            deployment("replicas: 2"), running(2), ["unchanged in every field that scheduling reads"], id="unchanged"
        ),
        pytest.param(deployment("replicas: 5"), running(2), ["scaled from 2 to 5"], id="scaled"),
        pytest.param(
            deployment("replicas: 2", "app:2"),
            running(2),
            ["spec.containers[app].image: app:1 → app:2"],
            id="a changed field is named by its container",
        ),
        pytest.param(
            deployment("replicas: 2").replace('app:1"', 'app:1", resources: {requests: {cpu: 1500m}}'),
            running(2),
            ['spec.containers[app].resources: not set → {"requests":{"cpu":"1500m"}}'],
            id="an added field is shown as it was written",
        ),
    ],
)
def test_changes_against_the_cluster(updates, text, state, expected):
    (update,) = updates(text, state, "replace")
    assert facts(update) == expected
