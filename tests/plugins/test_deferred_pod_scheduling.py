"""Running pods whose resize is deferred, where kube-scheduler makes room for them (KEP-5836)."""

import msgspec
import pytest

from schedctl.api.nodes import PodPreemptionPolicy
from schedctl.config import loading
from schedctl.framework.cycles import Cycle
from schedctl.framework.events import Action, Hint
from schedctl.framework.statuses import SKIP, SUCCESS, Code
from schedctl.plugins.deferred_pod_scheduling.plugin import DeferredPodScheduling
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, handle, node, pod

GATE = "InPlacePodVerticalScalingSchedulerPreemption"
ON = NEWEST.with_gates({GATE: True})
PLUGIN = DeferredPodScheduling(None, handle())


def governed(name, *owners, **more):
    """A node on which these have asked that nothing be evicted for the sake of resizes."""
    made = node(name, **more)
    policy = PodPreemptionPolicy(disable_resize_preemption=[*owners])
    return msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, pod_preemption_policy=policy))


def growing(name="grow", *, on="a", reason="Deferred", granted="500m", **more):
    """A running pod that asks for more than the kubelet has granted it, which waits."""
    status = {
        "phase": "Running",
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": reason}],
        "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": granted}}],
    }
    return pod(name, on=on, status=status, **more)


def tried(subject, *others, release=ON):
    """The attempt at a pod on a cluster of it and others."""
    world = cluster(*others, subject, release=release)
    return Scheduler(world, loading.default(release), plugins_of(release)).attempt(subject)


def test_a_resize_fits_where_the_node_has_not_given_out_more_than_it_has():
    found = tried(growing(cpu="1500m"), node("a", cpu="2"), node("b", cpu="8"), pod("low", on="a", cpu="500m"))
    assert (found.chosen, found.ties, found.scoring) == ("a", ["a"], None)
    assert found.pre_filter_nodes == {"a"}


@pytest.mark.parametrize(
    ("priority", "victims"),
    [
        pytest.param(10, ["default/low"], id="the one of lower priority that is enough"),
        pytest.param(0, [], id="none of its own priority"),
    ],
)
def test_room_for_a_resize_is_made_by_eviction(priority, victims):
    others = (
        pod("low", on="a", cpu="600m", priority=-1 if priority else 0),
        pod("high", on="a", cpu="500m", priority=20),
    )
    found = tried(growing(cpu="1500m", priority=priority), node("a", cpu="2"), node("b", cpu="8"), *others)
    assert not found.chosen
    assert [info.key for info in found.post_filter.victims] == victims


def test_what_is_judged_when_a_pod_comes_is_not_judged_again():
    settled = {
        "nodeSelector": {"disk": "ssd"},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}],
    }
    there = node("a", cpu="2", unschedulable=True, taints=[{"key": "gpu", "effect": "NoSchedule"}])
    assert tried(growing(cpu="1", **settled), there).chosen == "a"


def test_the_node_may_forbid_it():
    found = tried(growing(cpu="1"), governed("a", "admin", cpu="2"))
    assert found.filtering.status(0).reasons == ("node had resize preemption disabled",)
    assert found.filtering.status(0).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert tried(growing(cpu="1"), governed("a", cpu="2")).chosen == "a"


def test_a_node_that_is_full_of_pods_has_no_room_for_the_resize_of_one_of_them():
    found = tried(growing(cpu="1"), node("a", cpu="2", pods=1))
    assert found.filtering.status(0).reasons == ("Too many pods",)


@pytest.mark.parametrize(
    ("subject", "sees_to_it"),
    [
        pytest.param(growing(), True, id="a running pod whose resize is deferred"),
        pytest.param(growing(reason="Infeasible"), False, id="one whose resize is infeasible"),
        pytest.param(growing(on=None), False, id="one that has no node"),
        pytest.param(pod(on="a"), False, id="one that waits for nothing"),
    ],
)
def test_the_scheduler_sees_to_running_pods_that_wait(subject, sees_to_it):
    assert cluster(node("a"), release=ON).tries_resize(subject) is sees_to_it
    assert cluster(node("a")).tries_resize(subject) is False


def test_no_other_pod_is_looked_at():
    assert PLUGIN.pre_filter(Cycle(pod()), cluster(node("a")).nodes) == SKIP
    assert PLUGIN.permit(Cycle(pod()), "a") == SUCCESS


def test_a_resize_that_fits_is_left_to_the_kubelet():
    assert PLUGIN.permit(Cycle(growing()), "a").reasons == ("pod resize fits, waiting for Kubelet actuation",)


def test_a_pod_that_waits_and_one_like_it_are_not_taken_for_each_other():
    first, second = growing("first", cpu="1", priority=10), growing("second", cpu="1", priority=10, on="b")
    world = cluster(node("a", cpu="500m"), node("b", cpu="2"), first, second, release=ON)
    scheduler = Scheduler(world, loading.default(ON), plugins_of(ON))
    assert [scheduler.attempt(each).chosen for each in (first, second, first)] == ["", "b", ""]


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        pytest.param(governed("a", "admin"), node("a"), Hint.QUEUE, id="its node allows it again"),
        pytest.param(node("a"), node("a"), Hint.SKIP, id="its node has always allowed it"),
        pytest.param(governed("a", "admin"), governed("a", "admin"), Hint.SKIP, id="its node goes on forbidding it"),
        pytest.param(governed("b", "admin"), node("b"), Hint.SKIP, id="another node allows it"),
        pytest.param(None, node("a"), Hint.QUEUE, id="its node comes back"),
        pytest.param(None, governed("a", "admin"), Hint.SKIP, id="its node comes back and forbids it"),
        pytest.param(None, node("b"), Hint.SKIP, id="another node comes"),
    ],
)
def test_its_node_may_help(before, after, hint):
    policy, arrival = PLUGIN.events_to_register()
    heard = arrival if before is None else policy
    assert heard.hint(growing(), before, after) is hint
    assert policy.event.action is Action.UPDATE_NODE_PREEMPTION_POLICY


def test_it_stands_before_the_plugin_that_judges_room():
    names = [
        each.name
        for each in Scheduler(cluster(release=ON), loading.default(ON), plugins_of(ON))
        .profiles["default-scheduler"]
        .filter
    ]
    assert names.index("DeferredPodScheduling") + 1 == names.index("NodeResourcesFit")
    assert "DeferredPodScheduling" not in plugins_of(NEWEST)
