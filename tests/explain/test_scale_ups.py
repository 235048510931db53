"""What new nodes would change for a pending pod, as the end of its explanation."""

from __future__ import annotations

from schedctl.autoscaling.detection import detect
from schedctl.explain.explanations import explain
from schedctl.explain.scale_ups import with_scale_up
from schedctl.reports.explanations import Outlook
from schedctl.reports.nodes import ScaleUpObstacle
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

TAINT = {"key": "gpu", "value": "", "effect": "NoSchedule"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
GROUPS = (node("a", cpu="2", labels={"pool": "general"}), node("g", cpu="2", labels={"pool": "gpu"}, taints=[TAINT]))


def answered(state, key: str):
    scheduler, info = Scheduler(state), state.pending[key]
    before = (list(state.node_table.row_of), list(state.pending))
    found = with_scale_up(scheduler, info, explain(scheduler, info, hints=False), detect(state))
    assert (list(state.node_table.row_of), list(state.pending)) == before
    return found


def waiting(name: str, **more):
    return pod(name, metadata={"ownerReferences": [OWNER]}, **more)


def test_the_group_that_helps_is_named_and_why_others_do_not():
    found = answered(cluster(*GROUPS, pod("busy", on="a", cpu="2"), pod("p", cpu="1")), "default/p")
    assert found.outlook is Outlook.FITS_AFTER_SCALE_UP
    assert (found.scale_up.group, found.scale_up.new_nodes) == ("general", 1)
    assert found.scale_up.text == "1 new node of group general would take the pod"
    others = {each.group: (each.helps, each.obstacle, each.text) for each in found.scale_up.groups}
    assert others["gpu"] == (False, ScaleUpObstacle.TAINT, "taint gpu:NoSchedule is not tolerated")


def test_waiting_companions_are_counted():
    pods = [waiting(f"web-{number}", cpu="1") for number in range(5)]
    found = answered(cluster(*GROUPS, pod("busy", on="a", cpu="2"), *pods), "default/web-0")
    assert (found.scale_up.new_nodes, found.scale_up.companions, found.scale_up.left) == (3, 4, 0)
    assert found.scale_up.text == "3 new nodes of group general would take the pod and 4 waiting companions"


def test_where_no_group_helps_it_is_said():
    found = answered(cluster(*GROUPS, pod("p", cpu="3")), "default/p")
    assert found.scale_up.text == "no new node of any group would take the pod"
    assert found.outlook is Outlook.FITS_NOWHERE


def test_preemption_comes_before_scale_up():
    state = cluster(*GROUPS, pod("low", on="a", cpu="2", priority=-1), pod("p", cpu="1", priority=1))
    assert answered(state, "default/p").outlook is Outlook.FITS_AFTER_PREEMPTION


def test_a_pod_that_fits_needs_no_scale_up():
    found = answered(cluster(*GROUPS, pod("p", cpu="1")), "default/p")
    assert (found.scale_up, found.outlook) == (None, Outlook.FITS)
