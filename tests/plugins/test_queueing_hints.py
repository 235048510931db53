"""Queueing hints of the in-tree plugins: which change of which object may help a pod they have refused."""

import pytest

from schedctl.api.devices import AllocationResult, DeviceClass, DeviceClassSpec, ResourceClaim, ResourceClaimStatus
from schedctl.api.meta import ObjectMeta
from schedctl.config import loading
from schedctl.framework.events import Action, ClusterEvent, Hint, Resource
from schedctl.plugins.in_tree import plugins_of
from schedctl.releases import NEWEST, RELEASES, parse_release
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import ZONE, cluster, node, pod

POD_ADD = (Resource.ASSIGNED_POD, Action.ADD)
POD_DELETE = (Resource.ASSIGNED_POD, Action.DELETE)
POD_LABEL = (Resource.ASSIGNED_POD, Action.UPDATE_POD_LABEL)
POD_SCALE_DOWN = (Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN)
OWN_LABEL = (Resource.TARGET_POD, Action.UPDATE_POD_LABEL)
OWN_TOLERATION = (Resource.TARGET_POD, Action.UPDATE_POD_TOLERATION)
OWN_UPDATE = (Resource.TARGET_POD, Action.UPDATE)
NODE_ADD = (Resource.NODE, Action.ADD)
NODE_DELETE = (Resource.NODE, Action.DELETE)
NODE_ALLOCATABLE = (Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE)
NODE_LABEL = (Resource.NODE, Action.UPDATE_NODE_LABEL)
NODE_TAINT = (Resource.NODE, Action.UPDATE_NODE_TAINT)
NODE_FEATURE = (Resource.NODE, Action.UPDATE_NODE_DECLARED_FEATURE)
CLASS_ADD = (Resource.DEVICE_CLASS, Action.ADD)
CLASS_UPDATE = (Resource.DEVICE_CLASS, Action.UPDATE)


def heard(plugin, event, refused, before=None, after=None, *, objects=(), config="", release=NEWEST):
    """What a plugin makes of an event: "queue", "skip", or "deaf" where it does not hear of it."""
    configuration = loading.load(config, "config") if config else loading.default(release)
    world = cluster(*objects, release=release)
    made = Scheduler(world, configuration, plugins_of(release)).profiles["default-scheduler"].plugins[plugin]
    happened = ClusterEvent(*event)
    listening = [r for r in made.events_to_register() if r.event.covers(happened)]
    if not listening:
        return "deaf"
    hints = [Hint.QUEUE if r.hint is None else r.hint(refused, before, after) for r in listening]
    return "queue" if Hint.QUEUE in hints else "skip"


CORDON = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
GPU = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
SOFT = {"key": "gpu", "value": "yes", "effect": "PreferNoSchedule"}


@pytest.mark.parametrize(
    ("plugin", "event", "refused", "before", "after", "answer"),
    [
        pytest.param("NodeName", NODE_ADD, pod(), None, node("a"), "queue", id="any new node may be the one"),
        pytest.param("NodeName", NODE_LABEL, pod(), node("a"), node("a"), "deaf", id="names do not change"),
        pytest.param("NodeUnschedulable", NODE_ADD, pod(), None, node("a"), "queue", id="a new node is open"),
        pytest.param(
            "NodeUnschedulable", NODE_ADD, pod(), None, node("a", unschedulable=True), "skip",
            id="a new node is cordoned",
        ),
        pytest.param(
            "NodeUnschedulable", NODE_TAINT, pod(), node("a", unschedulable=True), node("a"), "queue",
            id="a cordon is lifted",
        ),
        pytest.param(
            "NodeUnschedulable", NODE_TAINT, pod(), node("a"), node("a"), "skip", id="an open node loses a taint"
        ),
        pytest.param(
            "NodeUnschedulable", OWN_TOLERATION, pod(), pod(), pod(tolerations=[CORDON]), "queue",
            id="the pod tolerates the cordon now",
        ),
        pytest.param(
            "NodeUnschedulable", OWN_TOLERATION, pod(), pod(), pod(tolerations=[{"key": "x", "operator": "Exists"}]),
            "skip", id="the pod tolerates something else",
        ),
        pytest.param(
            "TaintToleration", NODE_TAINT, pod(), node("a", taints=[GPU]), node("a"), "queue", id="the taint is gone"
        ),
        pytest.param(
            "TaintToleration", NODE_TAINT, pod(), node("a", taints=[GPU]), node("a", taints=[SOFT]), "queue",
            id="the taint is only a preference now",
        ),
        pytest.param(
            "TaintToleration", NODE_TAINT, pod(), node("a"), node("a", taints=[SOFT]), "skip",
            id="the node had nothing against the pod before",
        ),
        pytest.param(
            "TaintToleration", NODE_ADD, pod(), None, node("a", taints=[GPU]), "skip", id="a new node is tainted"
        ),
        pytest.param(
            "TaintToleration", NODE_ADD, pod(tolerations=[{"key": "gpu", "operator": "Exists"}]), None,
            node("a", taints=[GPU]), "queue", id="a new node has a taint that is tolerated",
        ),
        pytest.param("TaintToleration", OWN_TOLERATION, pod(), pod(), pod(), "queue", id="any new toleration may do"),
        pytest.param(
            "NodeAffinity", NODE_ADD, pod(nodeSelector={"disk": "ssd"}), None, node("a", labels={"disk": "ssd"}),
            "queue", id="a new node matches the selector",
        ),
        pytest.param(
            "NodeAffinity", NODE_LABEL, pod(nodeSelector={"disk": "ssd"}), node("a"), node("a", labels={"disk": "ssd"}),
            "queue", id="a node matches now",
        ),
        pytest.param(
            "NodeAffinity", NODE_LABEL, pod(nodeSelector={"disk": "ssd"}), node("a", labels={"disk": "ssd"}),
            node("a", labels={"disk": "ssd", "x": "y"}), "skip", id="a node matched before",
        ),
        pytest.param(
            "NodeAffinity", NODE_LABEL, pod(nodeSelector={"disk": "ssd"}), node("a"), node("a", labels={"x": "y"}),
            "skip", id="a node matches no more than before",
        ),
        pytest.param(
            "NodePorts", POD_DELETE, pod(ports=[{"containerPort": 80, "hostPort": 80}]),
            pod("x", on="a", ports=[{"containerPort": 80, "hostPort": 80}]), None, "queue", id="the port is free",
        ),
        pytest.param(
            "NodePorts", POD_DELETE, pod(ports=[{"containerPort": 80, "hostPort": 80}]),
            pod("x", on="a", ports=[{"containerPort": 80, "hostPort": 80, "protocol": "UDP"}]), None, "skip",
            id="the port of another protocol is free",
        ),
        pytest.param(
            "NodePorts", POD_DELETE, pod(ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}]),
            pod("x", on="a", ports=[{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.2"}]), None, "skip",
            id="the port of another address is free",
        ),
        pytest.param(
            "NodePorts", POD_DELETE, pod(ports=[{"containerPort": 80, "hostPort": 80}]),
            pod("x", ports=[{"containerPort": 80, "hostPort": 80}]), None, "skip", id="a pod that ran nowhere is gone",
        ),
        pytest.param("NodePorts", NODE_ADD, pod(), None, node("a"), "queue", id="all ports of a new node are free"),
        pytest.param("NodeResourcesFit", POD_DELETE, pod(), pod("x", on="a"), None, "queue", id="a pod has gone"),
        pytest.param("NodeResourcesFit", POD_DELETE, pod(), pod("x"), None, "skip", id="a pending pod is gone"),
        pytest.param(
            "NodeResourcesFit", POD_DELETE, pod(), pod("x", status={"nominatedNodeName": "a"}), None, "queue",
            id="a pod that was promised a node is gone",
        ),
        pytest.param("NodeResourcesFit", POD_ADD, pod(), None, pod("x", on="a"), "deaf", id="a pod makes no room"),
        pytest.param("NodeResourcesFit", NODE_ADD, pod(cpu="4"), None, node("a", cpu="4"), "queue", id="a node is new"),
        pytest.param(
            "NodeResourcesFit", NODE_ADD, pod(cpu="5"), None, node("a", cpu="4"), "skip", id="a new node is too small"
        ),
        pytest.param(
            "NodeResourcesFit", NODE_ADD, pod(), None, node("a", pods="0"), "skip", id="a new node takes no pods"
        ),
        pytest.param(
            "NodeResourcesFit", NODE_ALLOCATABLE, pod(cpu="1"), node("a", cpu="2"), node("a", cpu="4"), "queue",
            id="a node offers more of what is asked for",
        ),
        pytest.param(
            "NodeResourcesFit", NODE_ALLOCATABLE, pod(cpu="1"), node("a", memory="1Gi"), node("a", memory="2Gi"),
            "skip", id="a node offers more of something else",
        ),
        pytest.param(
            "NodeResourcesFit", NODE_ALLOCATABLE, pod(), node("a", pods="1"), node("a", pods="2"), "queue",
            id="a node takes more pods",
        ),
        pytest.param(
            "NodeResourcesFit", POD_SCALE_DOWN, pod(cpu="1"), pod("x", on="a", cpu="2"), pod("x", on="a", cpu="1"),
            "queue", id="a running pod takes less of what is asked for",
        ),
        pytest.param(
            "NodeResourcesFit", POD_SCALE_DOWN, pod(cpu="1"), pod("x", on="a", memory="2Gi"),
            pod("x", on="a", memory="1Gi"), "skip", id="a running pod takes less of something else",
        ),
        pytest.param(
            "NodeResourcesFit", (Resource.TARGET_POD, Action.UPDATE_POD_SCALE_DOWN), pod(), pod(), pod(), "queue",
            id="the pod itself asks for less",
        ),
        pytest.param(
            "NodeResourcesFit", (Resource.TARGET_POD, Action.UPDATE_POD_SCALE_UP), pod(), pod(), pod(), "deaf",
            id="the pod itself asks for more",
        ),
        pytest.param(
            "NodeDeclaredFeatures", NODE_FEATURE, pod(), node("a"), node("a", declared_features=["F"]), "queue",
            id="a node declares more",
        ),
        pytest.param("NodeDeclaredFeatures", NODE_ADD, pod(), None, node("a"), "queue", id="a new node may declare it"),
        pytest.param(
            "NodeDeclaredFeatures", OWN_UPDATE, pod(), pod(), pod(), "skip", id="the pod needs the same features"
        ),
        pytest.param(
            "NodeDeclaredFeatures", OWN_UPDATE, pod(), pod(hostNetwork=True, hostUsers=False), pod(hostNetwork=True),
            "queue", id="the pod needs fewer features",
        ),
        pytest.param(
            "SchedulingGates", (Resource.TARGET_POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED), pod(), pod(),
            pod(), "queue", id="no gate is left",
        ),
        pytest.param("SchedulingGates", POD_DELETE, pod(), pod("x", on="a"), None, "deaf", id="gates are its own"),
        pytest.param(
            "DefaultPreemption", POD_DELETE, pod(), pod("x", on="a"), None, "skip",
            id="preemption hears of a victim gone and leaves the rest to others",
        ),
    ],
)  # fmt: skip
def test_hints_of_plugins(plugin, event, refused, before, after, answer):
    assert heard(plugin, event, refused, before, after) == answer


def test_the_hint_of_node_affinity_reads_the_added_affinity_first():
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions: [{key: pool, operator: In, values: [batch]}]
"""
    assert heard("NodeAffinity", NODE_ADD, pod(), None, node("a"), config=config) == "skip"
    assert heard("NodeAffinity", NODE_ADD, pod(), None, node("a", labels={"pool": "batch"}), config=config) == "queue"


def test_terms_that_do_not_parse_queue_the_pod():
    bad = [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": bad}}
    unread = pod(affinity={"nodeAffinity": required})
    assert heard("NodeAffinity", NODE_ADD, unread, None, node("a")) == "queue"
    selected = pod(affinity={"nodeAffinity": required}, nodeSelector={"disk": "ssd"})
    assert heard("NodeAffinity", NODE_ADD, selected, None, node("a")) == "skip"


def device_class(name, extended=None):
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(extended_resource_name=extended))


@pytest.mark.parametrize(
    ("event", "before", "after", "answer"),
    [
        pytest.param(CLASS_ADD, None, device_class("gpu", "example.com/gpu"), "queue", id="a class has the resource"),
        pytest.param(CLASS_ADD, None, device_class("gpu"), "skip", id="a class has no resource"),
        pytest.param(CLASS_ADD, None, device_class("implicit"), "queue", id="a class is asked for by its name"),
        pytest.param(
            CLASS_UPDATE, device_class("gpu"), device_class("gpu", "example.com/gpu"), "queue",
            id="a class has the resource now",
        ),
        pytest.param(
            CLASS_UPDATE, device_class("gpu", "example.com/gpu"), device_class("gpu", "example.com/gpu"), "skip",
            id="a class had it before",
        ),
    ],
)  # fmt: skip
def test_hints_about_device_classes_for_a_pod_with_extended_resources(event, before, after, answer):
    requests = {"example.com/gpu": "1", "deviceclass.resource.kubernetes.io/implicit": "1"}
    assert heard("NodeResourcesFit", event, pod(requests=requests), before, after) == answer


def test_a_node_without_a_resource_that_a_class_backs_queues_the_pod():
    incoming = pod(requests={"example.com/gpu": "1"})
    assert heard("NodeResourcesFit", NODE_ADD, incoming, None, node("a")) == "skip"
    stand_in = device_class("gpu", "example.com/gpu")
    assert heard("NodeResourcesFit", NODE_ADD, incoming, None, node("a"), objects=(stand_in,)) == "queue"


WEB = {"app": "web"}


def spread(**more):
    constraint = {
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": WEB}, **more,
    }  # fmt: skip
    return pod(labels=WEB, topologySpreadConstraints=[constraint])


@pytest.mark.parametrize(
    ("event", "refused", "before", "after", "answer"),
    [
        pytest.param(POD_ADD, spread(), None, pod("x", on="a", labels=WEB), "queue", id="a counted pod came"),
        pytest.param(POD_ADD, spread(), None, pod("x", on="a"), "skip", id="another pod came"),
        pytest.param(
            POD_ADD, spread(), None, pod("x", on="a", labels=WEB, namespace="else"), "skip",
            id="a pod came to another namespace",
        ),
        pytest.param(POD_DELETE, spread(), pod("x", on="a", labels=WEB), None, "queue", id="a counted pod is gone"),
        pytest.param(POD_DELETE, spread(), pod("x", labels=WEB), None, "skip", id="a pending pod is gone"),
        pytest.param(
            POD_LABEL, spread(), pod("x", on="a", labels=WEB), pod("x", on="a"), "queue", id="a pod counts no more"
        ),
        pytest.param(
            POD_LABEL, spread(), pod("x", on="a", labels=WEB), pod("x", on="a", labels={**WEB, "v": "2"}), "skip",
            id="a pod counts as before",
        ),
        pytest.param(OWN_LABEL, spread(), pod(labels=WEB), pod(), "queue", id="the pod itself counts no more"),
        pytest.param(
            OWN_TOLERATION, spread(nodeTaintsPolicy="Honor"), pod(), pod(tolerations=[CORDON]), "queue",
            id="the pod tolerates more, and taints matter",
        ),
        pytest.param(
            OWN_TOLERATION, spread(), pod(), pod(tolerations=[CORDON]), "skip",
            id="the pod tolerates more, and taints do not matter",
        ),
        pytest.param(NODE_ADD, spread(), None, node("a", zone="z"), "queue", id="a new node is in a zone"),
        pytest.param(NODE_ADD, spread(), None, node("a"), "skip", id="a new node is in no zone"),
        pytest.param(NODE_DELETE, spread(), node("a", zone="z"), None, "queue", id="a node of a zone is gone"),
        pytest.param(NODE_DELETE, spread(), node("a"), None, "skip", id="a node of no zone is gone"),
        pytest.param(NODE_LABEL, spread(), node("a"), node("a", zone="z"), "queue", id="a node joins a zone"),
        pytest.param(NODE_LABEL, spread(), node("a", zone="y"), node("a", zone="z"), "queue", id="a node moves"),
        pytest.param(
            NODE_LABEL, spread(), node("a", zone="z"), node("a", zone="z", labels={"x": "y"}), "skip",
            id="a node stays in its zone",
        ),
        pytest.param(
            NODE_TAINT, spread(), node("a", zone="z", taints=[GPU]), node("a", zone="z"), "queue",
            id="a node of a zone is tainted otherwise",
        ),
    ],
)  # fmt: skip
def test_hints_of_pod_topology_spread(event, refused, before, after, answer):
    assert heard("PodTopologySpread", event, refused, before, after) == answer


def required(kind, labels=WEB, key=ZONE, **more):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


SEEKS = pod(affinity=required("podAffinity"))
SHUNS = pod(affinity=required("podAntiAffinity"))


@pytest.mark.parametrize(
    ("event", "refused", "before", "after", "answer"),
    [
        pytest.param(POD_ADD, SEEKS, None, pod("x", on="a", labels=WEB), "queue", id="the company missed came"),
        pytest.param(POD_ADD, SEEKS, None, pod("x", on="a"), "skip", id="other company came"),
        pytest.param(POD_ADD, SHUNS, None, pod("x", on="a"), "skip", id="a pod that shuns others misses nobody"),
        pytest.param(POD_ADD, SEEKS, None, pod("x", labels=WEB), "skip", id="the company missed is on no node yet"),
        pytest.param(
            POD_ADD, pod(affinity=required("podAffinity", namespaceSelector={})), None,
            pod("x", on="a", labels=WEB, namespace="else"), "queue", id="company of any namespace came from elsewhere",
        ),
        pytest.param(POD_DELETE, SHUNS, pod("x", on="a", labels=WEB), None, "queue", id="a shunned pod is gone"),
        pytest.param(POD_DELETE, SHUNS, pod("x", on="a"), None, "skip", id="another pod is gone"),
        pytest.param(
            POD_DELETE, pod(labels=WEB), pod("x", on="a", affinity=required("podAntiAffinity")), None, "queue",
            id="a pod that shunned this one is gone",
        ),
        pytest.param(
            POD_LABEL, SEEKS, pod("x", on="a"), pod("x", on="a", labels=WEB), "queue", id="a pod is company now"
        ),
        pytest.param(
            POD_LABEL, SHUNS, pod("x", on="a", labels=WEB), pod("x", on="a"), "queue", id="a pod is shunned no more"
        ),
        pytest.param(
            POD_LABEL, SHUNS, pod("x", on="a"), pod("x", on="a", labels=WEB), "skip", id="a pod is shunned now"
        ),
        pytest.param(OWN_LABEL, SEEKS, pod(), pod(labels=WEB), "queue", id="the pod's own labels changed"),
        pytest.param(NODE_ADD, SEEKS, None, node("a", zone="z"), "queue", id="a new node is in a zone"),
        pytest.param(NODE_ADD, SEEKS, None, node("a"), "skip", id="a new node is in no zone"),
        pytest.param(NODE_ADD, SHUNS, None, node("a"), "queue", id="nobody shunned can share no zone"),
        pytest.param(NODE_ADD, pod(), None, node("a", zone="z"), "skip", id="a pod without terms gains nothing"),
        pytest.param(NODE_LABEL, SEEKS, node("a"), node("a", zone="z"), "queue", id="a node joins a zone"),
        pytest.param(NODE_LABEL, SEEKS, node("a", zone="z"), node("a"), "skip", id="a node leaves its zone"),
        pytest.param(NODE_LABEL, SHUNS, node("a", zone="z"), node("a"), "queue", id="a node leaves a shunned zone"),
        pytest.param(NODE_LABEL, SHUNS, node("a"), node("a", zone="z"), "skip", id="a node joins what may be shunned"),
        pytest.param(NODE_LABEL, SHUNS, node("a", zone="y"), node("a", zone="z"), "queue", id="a node moves"),
    ],
)  # fmt: skip
def test_hints_of_inter_pod_affinity(event, refused, before, after, answer):
    assert heard("InterPodAffinity", event, refused, before, after) == answer


TWO_TERMS = pod(
    affinity={
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": labels}} for labels in (WEB, {"tier": "db"})
            ]
        }
    }
)
PROMISED = {"nominatedNodeName": "a"}
ALLOCATED = ResourceClaim(ObjectMeta(name="x"), status=ResourceClaimStatus(allocation=AllocationResult()))


@pytest.mark.parametrize(
    ("plugin", "event", "refused", "before", "after", "since", "earlier"),
    [
        pytest.param(
            "InterPodAffinity", POD_DELETE, TWO_TERMS, pod("x", on="a", labels=WEB), None, "1.37", "skip",
            id="one of two anti-affinity terms was about the pod that left",
        ),
        pytest.param(
            "InterPodAffinity", POD_DELETE, pod(labels=WEB), pod("x", on="a", affinity=required("podAntiAffinity")),
            None, "1.36", "skip", id="the anti-affinity of the pod that left was about this one",
        ),
        pytest.param(
            "InterPodAffinity", POD_DELETE, SHUNS, pod("x", labels=WEB, status=PROMISED), None, "1.36", "skip",
            id="a shunned pod that was only nominated is gone",
        ),
        pytest.param(
            "InterPodAffinity", OWN_LABEL, SHUNS, SHUNS, SHUNS, "1.36", "deaf", id="the pod's own labels change"
        ),
        pytest.param(
            "PodTopologySpread", POD_DELETE, spread(),
            pod("x", labels=WEB, status=PROMISED), None, "1.36", "skip",
            id="a counted pod that was only nominated is gone",
        ),
        pytest.param(
            "DynamicResources", (Resource.RESOURCE_CLAIM, Action.DELETE), pod(), ALLOCATED, None, "1.37", "deaf",
            id="an allocated claim is deleted",
        ),
        pytest.param(
            "NodeResourcesFit", CLASS_ADD, pod(), None, DeviceClass(ObjectMeta(name="gpu")), "1.36", "deaf",
            id="a class is added, with DRAExtendedResource at its default",
        ),
    ],
)  # fmt: skip
def test_hints_that_changed_between_releases(plugin, event, refused, before, after, since, earlier):
    changed = parse_release(since)
    for release in RELEASES:
        answer = heard(plugin, event, refused, before, after, release=release)
        assert (answer == earlier) == (release.minor < changed.minor), (release.version, answer)


RESIZES = NEWEST.with_gates({"InPlacePodVerticalScalingSchedulerPreemption": True})
WAITS = {"phase": "Running", "conditions": [{"type": "PodResizePending", "reason": "Deferred"}]}
SCALE_UP = (Resource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_UP)
OWN_SCALE_UP = (Resource.TARGET_POD, Action.UPDATE_POD_SCALE_UP)


@pytest.mark.parametrize(
    ("event", "before", "after", "of_resize", "of_other"),
    [
        pytest.param(POD_DELETE, pod("x", on="a"), None, "queue", "queue", id="a pod of its node goes"),
        pytest.param(POD_DELETE, pod("x", on="b"), None, "skip", "queue", id="a pod of another node goes"),
        pytest.param(NODE_ADD, None, node("b"), "skip", "queue", id="another node comes"),
        pytest.param(NODE_ALLOCATABLE, node("a", cpu="2"), node("a"), "queue", "queue", id="its node grows"),
        pytest.param(
            POD_SCALE_DOWN, pod("x", on="b", cpu="1"), pod("x", on="b", cpu="100m"), "skip", "queue",
            id="a pod of another node asks for less",
        ),
        pytest.param(
            SCALE_UP, pod("x", on="a", cpu="1"), pod("x", on="a", cpu="2"), "queue", "skip",
            id="a pod of its node asks for more, so that eviction may be needed now",
        ),
        pytest.param(SCALE_UP, pod("x", on="b", cpu="1"), pod("x", on="b", cpu="2"), "skip", "skip", id="elsewhere"),
        pytest.param(OWN_SCALE_UP, pod(cpu="1"), pod(cpu="2"), "queue", "skip", id="it asks for more itself"),
    ],
)  # fmt: skip
def test_a_resize_hears_of_its_own_node_alone(event, before, after, of_resize, of_other):
    waits, other = pod(on="a", cpu="1", status=WAITS), pod(cpu="1")
    assert heard("NodeResourcesFit", event, waits, before, after, release=RESIZES) == of_resize
    assert heard("NodeResourcesFit", event, other, before, after, release=RESIZES) == of_other
