"""Events: what an update amounts to, and who is to hear of it."""

import msgspec
import pytest

from schedctl.framework.events import (
    ASSIGNED_POD_DELETE,
    EVERY_EVENT,
    EVERY_EVENT_WITH_GROUPS,
    FORCE_ACTIVATE,
    TARGET_POD_UPDATE,
    UNSCHEDULED_POD_ADD,
    Action,
    ClusterEvent,
    Resource,
    node_changes,
    pod_changes,
)
from schedctl.releases import RELEASES
from schedctl.testing.builders import node, pod


@pytest.mark.parametrize(
    ("registered", "happened", "heard"),
    [
        pytest.param(
            (Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), (Resource.NODE, Action.UPDATE_NODE_TAINT), True,
            id="a kind of update that is registered is heard of",
        ),
        pytest.param(
            (Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT), (Resource.NODE, Action.UPDATE_NODE_LABEL), False,
            id="another kind of update is not",
        ),
        pytest.param(
            (Resource.TARGET_POD, Action.UPDATE), (Resource.TARGET_POD, Action.UPDATE_POD_LABEL), True,
            id="whoever registers updates hears of each kind",
        ),
        pytest.param(
            (Resource.TARGET_POD, Action.UPDATE_POD_LABEL), (Resource.TARGET_POD, Action.UPDATE), False,
            id="whoever registers a kind of update does not hear of one without a name",
        ),
        pytest.param(
            (Resource.POD, Action.DELETE), (Resource.ASSIGNED_POD, Action.DELETE), True,
            id="Pod stands for pods on nodes",
        ),
        pytest.param(
            (Resource.ASSIGNED_POD, Action.ALL), (Resource.TARGET_POD, Action.UPDATE), False,
            id="pods on nodes are not the pod itself",
        ),
        pytest.param(
            (Resource.EVERY, Action.ALL), (Resource.STORAGE_CLASS, Action.ADD), True, id="the wildcard hears of all"
        ),
        pytest.param(
            (Resource.NODE, Action.ALL), (Resource.EVERY, Action.ALL), False,
            id="a wildcard that happens is no event of a node",
        ),
    ],
)  # fmt: skip
def test_who_hears_of_what(registered, happened, heard):
    assert ClusterEvent(*registered).covers(ClusterEvent(*happened)) is heard


def test_events_are_called_what_kube_scheduler_calls_them():
    assert ASSIGNED_POD_DELETE.label == "AssignedPodDelete"
    assert FORCE_ACTIVATE.label == "ForceActivate"
    assert ClusterEvent(Resource.CSI_NODE, Action.UPDATE).label == "storage.k8s.io/CSINodeUpdate"
    assert ClusterEvent(Resource.NODE, Action.UPDATE_NODE_DECLARED_FEATURE).label == "NodeUpdateNodeDeclaredFeature"


@pytest.mark.parametrize(
    ("event", "names"),
    [
        pytest.param(UNSCHEDULED_POD_ADD, ("UnschedulablePodAdd", "UnscheduledPodAdd"), id="another pending pod"),
        pytest.param(TARGET_POD_UPDATE, ("UnschedulablePodUpdate", "TargetPodUpdate"), id="the pod itself"),
        pytest.param(ASSIGNED_POD_DELETE, ("AssignedPodDelete",) * 2, id="a pod on a node"),
    ],
)
def test_events_of_pending_pods_have_another_name_before_v1_37(event, names):
    assert tuple(event.label_in(release) for release in RELEASES[-2:]) == names


def test_who_registers_nothing_hears_of_all_kinds_but_slices_and_attachments():
    kinds = {registration.event.resource for registration in EVERY_EVENT}
    assert set(Resource) - kinds == {
        Resource.EVERY, Resource.POD, Resource.POD_GROUP, Resource.RESOURCE_SLICE, Resource.VOLUME_ATTACHMENT,
    }  # fmt: skip
    with_groups = {registration.event.resource for registration in EVERY_EVENT_WITH_GROUPS}
    assert with_groups - kinds == {Resource.POD_GROUP}


A_CLAIM = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "gpu-x"}]}


@pytest.mark.parametrize(
    ("before", "after", "actions"),
    [
        pytest.param({}, {}, [Action.UPDATE], id="nothing that has a name"),
        pytest.param({"labels": {"a": "1"}}, {"labels": {"a": "2"}}, [Action.UPDATE_POD_LABEL], id="a label"),
        pytest.param({"cpu": "2"}, {"cpu": "1500m"}, [Action.UPDATE_POD_SCALE_DOWN], id="less cpu"),
        pytest.param({"cpu": "1"}, {"cpu": "1", "memory": "1Gi"}, [Action.UPDATE_POD_SCALE_UP], id="a new resource"),
        pytest.param(
            {"cpu": "1", "memory": "1Gi"}, {"cpu": "2"},
            [Action.UPDATE_POD_SCALE_DOWN, Action.UPDATE_POD_SCALE_UP], id="more of one and none of the other",
        ),
        pytest.param({"cpu": "1"}, {"cpu": "1000m"}, [Action.UPDATE], id="the same amount written otherwise"),
        pytest.param(
            {"schedulingGates": [{"name": "a"}]}, {}, [Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED],
            id="the last gate removed",
        ),
        pytest.param(
            {"schedulingGates": [{"name": "a"}, {"name": "b"}]}, {"schedulingGates": [{"name": "a"}]}, [Action.UPDATE],
            id="a gate left",
        ),
        pytest.param(
            {}, {"tolerations": [{"operator": "Exists"}]}, [Action.UPDATE_POD_TOLERATION], id="a new toleration"
        ),
        pytest.param({}, {"status": A_CLAIM}, [Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM], id="a generated claim"),
    ],
)  # fmt: skip
def test_what_the_update_of_a_pod_amounts_to(before, after, actions):
    events = pod_changes(pod(**before), pod(**after), target=True)
    assert events == tuple(ClusterEvent(Resource.TARGET_POD, action) for action in actions)


def test_an_update_is_of_the_pod_itself_of_one_beside_it_or_of_one_on_a_node():
    resources = [
        pod_changes(pod(), pod(), target=True)[0].resource,
        pod_changes(pod(), pod(), target=False)[0].resource,
        pod_changes(pod(on="a"), pod(on="a"), target=True)[0].resource,
    ]
    assert resources == [Resource.TARGET_POD, Resource.UNSCHEDULED_POD, Resource.ASSIGNED_POD]


def with_status(obj, **status):
    return msgspec.structs.replace(
        obj, status=msgspec.convert({**msgspec.to_builtins(obj.status), **status}, type(obj.status))
    )


@pytest.mark.parametrize(
    ("before", "after", "actions"),
    [
        pytest.param(node("a"), node("a"), [], id="nothing"),
        pytest.param(node("a"), node("a", cpu="8"), [Action.UPDATE_NODE_ALLOCATABLE], id="more cpu"),
        pytest.param(node("a", cpu="4"), node("a", cpu="4000m"), [], id="the same cpu written otherwise"),
        pytest.param(node("a", unschedulable=True), node("a"), [Action.UPDATE_NODE_TAINT], id="a cordon lifted"),
        pytest.param(node("a"), node("a", unschedulable=True), [], id="a cordon, which helps nobody"),
        pytest.param(node("a"), node("a", labels={"x": "y"}), [Action.UPDATE_NODE_LABEL], id="a label"),
        pytest.param(
            node("a", taints=[{"key": "x", "effect": "NoSchedule"}]), node("a"), [Action.UPDATE_NODE_TAINT],
            id="a taint gone",
        ),
        pytest.param(
            node("a"), with_status(node("a"), conditions=[{"type": "Ready", "status": "True"}]),
            [Action.UPDATE_NODE_CONDITION], id="a condition",
        ),
        pytest.param(
            node("a"), node("a", declared_features=["F"]), [Action.UPDATE_NODE_DECLARED_FEATURE], id="a feature"
        ),
    ],
)  # fmt: skip
def test_what_the_update_of_a_node_amounts_to(before, after, actions):
    assert node_changes(before, after) == tuple(ClusterEvent(Resource.NODE, action) for action in actions)
