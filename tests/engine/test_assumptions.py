"""What an answer rests on that could not be listed, and where that matters.

Each sentence of the tables is one pod on one cluster that lacks the kind; what the cluster holds besides is all there
is. In the first table kube-scheduler could have said something else, in the second it could not.
"""

import msgspec
import numpy as np
import pytest

from schedctl.api import kinds
from schedctl.api.gaps import Gap
from schedctl.api.workloads import Service
from schedctl.engine.assumptions import Assumption
from schedctl.engine.attempts import attempt
from schedctl.engine.certainty import assumptions_affecting_verdict
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.framework.points import ScorePlugin
from schedctl.framework.profiles import Profile
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import HOSTNAME, ZONE, cluster, node, pod

GPU = "example.com/gpu"
HARD_SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def made(kind, name, spec=None, *, namespace="default", **fields):
    """An object of a kind by its name."""
    found = kinds.kind_named(kind)
    metadata = {"name": name, "uid": f"uid-{name}", **({"namespace": namespace} if found.namespaced else {})}
    return msgspec.convert({"metadata": metadata, **({"spec": spec} if spec else {}), **fields}, found.struct)


def two_nodes(*objects, **resources):
    return cluster(node("a", zone="x", **resources), node("b", zone="y", **resources), *objects)


def owned(kind, version="apps/v1"):
    return {"ownerReferences": [{"apiVersion": version, "kind": kind, "name": "web", "uid": "u", "controller": True}]}


def claiming(name="data"):
    return [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]


def terms(namespace_selector, **more):
    return {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": HOSTNAME, **more} | (
        {"namespaceSelector": namespace_selector} if namespace_selector is not None else {}
    )


def avoiding(term):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


WEB = {"app": "web"}
TEAM = {"matchLabels": {"team": "a"}}
BOUND = made("PersistentVolumeClaim", "data", {"volumeName": "disk", "storageClassName": "ssd"})
WAITING = made("PersistentVolumeClaim", "data", {"storageClassName": "ssd"})
CSI_DISK = made("PersistentVolume", "disk", {"storageClassName": "ssd", "csi": {"driver": "d", "volumeHandle": "h"}})
HOST_DISK = made("PersistentVolume", "disk", {"storageClassName": "ssd", "hostPath": {"path": "/disk"}})
LATE = made("StorageClass", "ssd", provisioner="d", volumeBindingMode="WaitForFirstConsumer")
COMPLETED = {"pv.kubernetes.io/bind-completed": "yes"}
BOUND = msgspec.structs.replace(BOUND, metadata=msgspec.structs.replace(BOUND.metadata, annotations=COMPLETED))
CLAIM = made(
    "ResourceClaim",
    "c",
    {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 1}}]}},
)
CLASS = made("DeviceClass", "gpu", {"extendedResourceName": GPU})
DEVICES = {"resourceClaims": [{"name": "card", "resourceClaimName": "c"}]}
SLICE = made(
    "ResourceSlice",
    "s",
    {
        "driver": "d",
        "nodeName": "a",
        "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "dev"}],
    },
)
LOW = [pod(f"low-{on}", on=on, cpu="3", priority=0, labels=WEB) for on in "ab"]


def limits(on, driver="d"):
    return made("CSINode", on, {"drivers": [{"name": driver, "nodeID": on, "allocatable": {"count": 9}}]})


AFFECTING = {
    "Service: default spreading picks among several nodes": (two_nodes(), pod(labels=WEB), {"PodTopologySpread"}),
    "ReplicaSet: a ReplicaSet says which pods default spreading counts": (
        two_nodes(),
        pod(metadata=owned("ReplicaSet")),
        {"PodTopologySpread"},
    ),
    "StatefulSet: so does a StatefulSet": (two_nodes(), pod(metadata=owned("StatefulSet")), {"PodTopologySpread"}),
    "ReplicationController: and a ReplicationController": (
        two_nodes(),
        pod(metadata=owned("ReplicationController", "v1")),
        {"PodTopologySpread"},
    ),
    "Namespace: the pod's own term selects namespaces by label": (
        two_nodes(),
        pod(affinity=avoiding(terms(TEAM))),
        {"InterPodAffinity"},
    ),
    "Namespace: a running pod's term does, and would keep this pod away": (
        two_nodes(pod("other", namespace="x", on="a", affinity=avoiding(terms(TEAM)))),
        pod(labels=WEB),
        {"InterPodAffinity"},
    ),
    "PersistentVolumeClaim: the pod names a claim": (
        two_nodes(),
        pod(volumes=claiming()),
        {"VolumeRestrictions"},
    ),
    "PersistentVolume: the claim is bound to one": (
        two_nodes(BOUND, LATE),
        pod(volumes=claiming()),
        {"NodeVolumeLimits", "VolumeZone"},
    ),
    "PersistentVolume: the claim waits for one": (two_nodes(WAITING, LATE), pod(volumes=claiming()), {"VolumeBinding"}),
    "StorageClass: the claim has no volume yet": (
        two_nodes(WAITING),
        pod(volumes=claiming()),
        {"NodeVolumeLimits", "VolumeBinding"},
    ),
    "CSINode: volumes of a driver are limited there": (
        two_nodes(BOUND, CSI_DISK, LATE),
        pod(volumes=claiming()),
        {"NodeVolumeLimits"},
    ),
    "CSIDriver: the driver is not on every node": (
        two_nodes(BOUND, CSI_DISK, LATE, limits("a")),
        pod(volumes=claiming()),
        {"NodeVolumeLimits"},
    ),
    "CSIStorageCapacity: the driver counts what is left": (
        two_nodes(WAITING, LATE, made("CSIDriver", "d", {"storageCapacity": True})),
        pod(volumes=claiming()),
        {"VolumeBinding"},
    ),
    "VolumeAttachment: volumes count against a limit": (
        two_nodes(BOUND, CSI_DISK, LATE, limits("a"), limits("b")),
        pod(volumes=claiming()),
        {"NodeVolumeLimits"},
    ),
    "ResourceClaim: the pod names one": (two_nodes(CLASS, SLICE), pod(**DEVICES), {"DynamicResources"}),
    "ResourceSlice: a claim has no devices yet": (two_nodes(CLAIM, CLASS), pod(**DEVICES), {"DynamicResources"}),
    "DeviceClass: a claim asks for devices of one": (two_nodes(CLAIM, SLICE), pod(**DEVICES), {"DynamicResources"}),
    "DeviceClass: one could stand in for a resource no node offers": (
        two_nodes(),
        pod(requests={GPU: "1"}),
        {"DynamicResources", "NodeResourcesFit"},
    ),
    "DeviceTaintRule: devices may be tainted": (two_nodes(CLAIM, CLASS, SLICE), pod(**DEVICES), {"DynamicResources"}),
    "PodDisruptionBudget: somebody has to go": (
        two_nodes(*LOW),
        pod(cpu="3", priority=10),
        {"DefaultPreemption"},
    ),
    "Node: there may be others": (two_nodes(), pod(), {""}),
    "Pod: others may have taken the room": (two_nodes(), pod(), {""}),
}
"""By a sentence that begins with the missing kind: the cluster, the pod, and whose guesses decide; who refuses a pod as
a whole is the last that is asked."""

NOT_AFFECTING = {
    "PodGroup: groups are off": (two_nodes(), pod(schedulingGroup={"podGroupName": "train"})),
    "Service: no Service selects a pod without labels": (two_nodes(), pod()),
    "Service: the pod has constraints of its own": (
        two_nodes(),
        pod(labels=WEB, topologySpreadConstraints=[HARD_SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]),
    ),
    "Service: one node is left, which nobody scores": (
        two_nodes(),
        pod(labels=WEB, nodeSelector={HOSTNAME: "a"}),
    ),
    "Service: no node is left": (two_nodes(), pod(labels=WEB, cpu="64")),
    "ReplicaSet: a StatefulSet owns the pod": (
        two_nodes(made("StatefulSet", "web", {"selector": {"matchLabels": WEB}, "template": {}, "serviceName": ""})),
        pod(metadata=owned("StatefulSet")),
    ),
    "StatefulSet: the one that owns the pod is known after all": (
        two_nodes(made("StatefulSet", "web", {"selector": {"matchLabels": WEB}, "template": {}, "serviceName": ""})),
        pod(metadata=owned("StatefulSet")),
    ),
    "ReplicationController: nobody owns the pod": (two_nodes(), pod()),
    "Namespace: terms name their namespaces": (
        two_nodes(),
        pod(affinity=avoiding(terms(None, namespaces=["x"]))),
    ),
    "Namespace: a term is about pods of all namespaces": (two_nodes(), pod(affinity=avoiding(terms({})))),
    "Namespace: a running pod's term is about other pods": (
        two_nodes(pod("other", on="a", affinity=avoiding(terms(TEAM)))),
        pod(labels={"app": "db"}),
    ),
    "PersistentVolumeClaim: the pod has no volumes": (two_nodes(), pod()),
    "PersistentVolumeClaim: its volumes are no claims": (two_nodes(), pod(volumes=[{"name": "v", "emptyDir": {}}])),
    "PersistentVolume: the pod has no claims": (two_nodes(), pod()),
    "StorageClass: the claim is bound": (two_nodes(BOUND, CSI_DISK), pod(volumes=claiming())),
    "CSINode: the volume is no driver's": (two_nodes(BOUND, HOST_DISK, LATE), pod(volumes=claiming())),
    "CSIDriver: the driver is on every node": (
        two_nodes(BOUND, CSI_DISK, LATE, limits("a"), limits("b")),
        pod(volumes=claiming()),
    ),
    "CSIStorageCapacity: the claim is bound": (two_nodes(BOUND, CSI_DISK, LATE), pod(volumes=claiming())),
    "VolumeAttachment: nothing has a limit": (two_nodes(BOUND, CSI_DISK, LATE), pod(volumes=claiming())),
    "ResourceClaim: the pod has no claims": (two_nodes(CLASS, SLICE), pod()),
    "ResourceSlice: the pod has no claims": (two_nodes(CLASS), pod()),
    "DeviceClass: the pod asks for cpu and memory": (two_nodes(), pod(cpu="1", memory="1Gi")),
    "DeviceTaintRule: the pod has no claims": (two_nodes(CLASS, SLICE), pod()),
    "PodDisruptionBudget: the pod fits": (two_nodes(*LOW), pod(priority=10)),
    "PodDisruptionBudget: nobody ranks lower": (two_nodes(*LOW), pod(cpu="3")),
    "PodDisruptionBudget: evictions would not help": (two_nodes(*LOW), pod(cpu="64", priority=10)),
    "CSINode: another plugin keeps the pod from every node before": (
        cluster(node("a", unschedulable=True), BOUND, CSI_DISK, LATE),
        pod(volumes=claiming()),
    ),
    "LimitRange: it is read when pods are made": (two_nodes(), pod()),
    "ResourceQuota: so is this": (two_nodes(), pod()),
    "PriorityClass: and this": (two_nodes(), pod()),
    "RuntimeClass: and this": (two_nodes(), pod()),
    "ResourceClaimTemplate: and this": (two_nodes(CLAIM, CLASS, SLICE), pod(**DEVICES)),
    "HorizontalPodAutoscaler: controllers read it": (two_nodes(), pod()),
    "Deployment: a controller reads it": (two_nodes(), pod(metadata=owned("Deployment"))),
    "DaemonSet: likewise": (two_nodes(), pod(metadata=owned("DaemonSet"))),
    "Job: likewise": (two_nodes(), pod(metadata=owned("Job", "batch/v1"))),
    "CronJob: likewise": (two_nodes(), pod()),
    "PodTemplate: nobody reads it": (two_nodes(), pod()),
}
"""By a sentence that begins with the missing kind: the cluster and the pod."""


def lacking(sentence, made, reason="Forbidden"):
    """The cluster, lacking the kind with which the sentence begins."""
    made.lack([Gap(sentence.partition(":")[0], reason)])
    return made


@pytest.mark.parametrize("sentence", AFFECTING)
def test_missing_kind_affects_the_verdict(sentence):
    made, incoming, plugins = AFFECTING[sentence]
    found = assumptions_affecting_verdict(Scheduler(lacking(sentence, made)).attempt(incoming))
    assert {assumption.plugin for assumption in found} == plugins
    assert {assumption.kind.__name__ for assumption in found} == {sentence.partition(":")[0]}


@pytest.mark.parametrize("sentence", NOT_AFFECTING)
def test_missing_kind_does_not_affect_the_verdict(sentence):
    made, incoming = NOT_AFFECTING[sentence]
    assert assumptions_affecting_verdict(Scheduler(lacking(sentence, made)).attempt(incoming)) == frozenset()


def test_every_kind_is_in_a_table():
    named = {kind.name for kind in kinds.KINDS}
    mattering, harmless = ({each.partition(":")[0] for each in table} for table in (AFFECTING, NOT_AFFECTING))
    assert mattering | harmless == named
    assert mattering - harmless == {"Node", "Pod"}


def test_no_assumptions_when_no_kind_is_missing():
    for made, incoming, _ in AFFECTING.values():
        made.lack([])
        assert Scheduler(made).attempt(incoming).assumptions == frozenset()


def test_equal_pods_have_equal_assumptions():
    made = lacking("Service", two_nodes())
    scheduler = Scheduler(made)
    first, second = (scheduler.attempt(pod(name, labels=WEB)) for name in ("p", "q"))
    assert first.assumptions == second.assumptions != frozenset()


def test_what_a_plugin_reads_when_it_normalizes_scores_is_its_assumption():
    class CountsServices(ScorePlugin):
        def score(self, cycle, nodes):
            return np.zeros(len(nodes), np.int64)

        def normalize(self, cycle, nodes, scores):
            return scores + len(self.handle.cluster.every(Service))

    made = lacking("Service", two_nodes())
    plugin = CountsServices(None, ProfileHandle(made, Nominator()))
    profile = Profile("default-scheduler", {plugin.name: plugin}, weights={plugin.name: 1}, score=(plugin,))
    outcome = attempt(profile, made, pod(), Nominator())
    assert outcome.assumptions == {Assumption("score", "CountsServices", Service)}


def test_derived_facts_keep_their_assumptions():
    made = lacking("VolumeAttachment", two_nodes(BOUND, CSI_DISK, LATE, limits("a"), limits("b")))
    scheduler = Scheduler(made)
    for name in ("p", "q"):
        assert assumptions_affecting_verdict(scheduler.attempt(pod(name, volumes=claiming())))


def test_rejection_by_other_plugins_rests_on_no_assumption():
    made = cluster(node("a", unschedulable=True), BOUND, CSI_DISK, LATE)
    outcome = Scheduler(lacking("CSINode", made)).attempt(pod(volumes=claiming()))
    assert outcome.unschedulable_plugins == {"NodeUnschedulable"}
    assert assumptions_affecting_verdict(outcome) == frozenset()
    assert {assumption.plugin for assumption in outcome.assumptions} == {"NodeVolumeLimits"}


def test_nomination_rests_on_the_assumptions_of_filters():
    made = lacking("CSINode", two_nodes(*LOW, BOUND, CSI_DISK, LATE))
    outcome = Scheduler(made).attempt(pod(cpu="3", priority=10, volumes=claiming()))
    assert outcome.post_filter.nominated_node
    assert {"filter", "postFilter"} == {assumption.point for assumption in assumptions_affecting_verdict(outcome)}


def test_failed_preemption_rests_on_the_assumptions_of_filters():
    staying = [pod(f"high-{on}", on=on, cpu="2", priority=100) for on in "ab"]
    going = [pod(f"low-{on}", on=on, cpu="1", affinity=avoiding(terms(TEAM))) for on in "ab"]
    made = lacking("Namespace", two_nodes(*staying, *going))
    outcome = Scheduler(made).attempt(pod(cpu="3", priority=10, labels=WEB, namespace="x"))
    assert outcome.unschedulable_plugins == {"NodeResourcesFit"}
    assert not outcome.post_filter.nominated_node
    assert {assumption.point for assumption in assumptions_affecting_verdict(outcome)} == {"postFilter"}


def test_kind_in_an_unread_version_counts_as_missing():
    asking_for_a_card = Scheduler(lacking("DeviceClass", two_nodes(), "Unread")).attempt(pod(requests={GPU: "1"}))
    assert assumptions_affecting_verdict(asking_for_a_card)
