"""The report of a simulated release: counts, groups, and how full and even the nodes are."""

from __future__ import annotations

import json
import random

import jsonschema
import msgspec
import pytest

from schedctl.reports.schemas import schema_of
from schedctl.reports.simulations import EndReason, Fate, SimulationReport
from schedctl.simulation import utilisation
from schedctl.simulation.runs import Progress
from schedctl.testing.builders import cluster, node, pod

NODES = """
---
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {topology.kubernetes.io/zone: z1, pool: big}},
 status: {allocatable: {cpu: '4', memory: 8Gi, pods: '20', example.com/gpu: '1'}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {topology.kubernetes.io/zone: z2, pool: small}},
 status: {allocatable: {cpu: '2', memory: 4Gi, pods: '20'}}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 10}
---
{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: shop, uid: o},
 spec: {nodeName: b, containers: [{name: a, resources: {requests: {cpu: '2'}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: waits, namespace: shop, uid: w},
 spec: {containers: [{name: a, resources: {requests: {cpu: '9'}}}]}}
"""


def deployment(name="web", replicas=2, cpu="1", more=""):
    return f"""
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{{more} containers: [{{name: app, image: app, resources: {{requests: {{cpu: '{cpu}'}}}}}}]}}
"""


@pytest.fixture
def full(simulate):
    """A release that has something of everything."""
    state = NODES + deployment("kept").replace("metadata: {name: kept", "metadata: {uid: k, name: kept") + QUOTA
    manifests = (
        deployment(replicas=3)
        + deployment("big", replicas=2, cpu="3")
        + deployment("top", replicas=1, cpu="2", more="priorityClassName: high, nodeSelector: {pool: small},")
        + deployment("kept", replicas=3)
        + deployment("other", more="schedulerName: mine,")
        + deployment("refused").replace("namespace: shop", "namespace: few")
        + CLAIM
        + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
        + "\n---\n{apiVersion: v1, kind: Pod, metadata: {name: wrong, namespace: shop}, spec: {containers: 3}}"
    )
    return simulate(state, manifests)


QUOTA = """
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: one, namespace: few},
 spec: {hard: {pods: '1', persistentvolumeclaims: '0'}}}
"""
CLAIM = """
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: few},
 spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
"""


def test_the_numbers_add_up(full):
    summary = full.report.summary
    assert summary.workloads == len(full.report.results)
    assert summary.pods == sum(result.wanted for result in full.report.results)
    assert full.report.rejected, "a claim, which counts as rejected though it is no pod"
    apart = (
        summary.rejected
        - len(full.report.rejected)
        + summary.not_created
        + summary.inconclusive
        + summary.foreign_scheduler
    )
    assert summary.placed + summary.pending + apart == summary.pods
    for result in full.report.results:
        assert sum(result.zones.values()) == sum(place.pods for place in result.nodes) == result.placed
        assert len(result.pods) + result.kept == result.wanted
    assert (summary.mistakes, summary.exit_code) == (len(full.report.mistakes), 3)


def test_every_pending_pod_is_in_one_group(full):
    for result in full.report.results:
        grouped = [name for pending in result.pending for name in pending.pods]
        grouped += [name for rejected in result.rejected for name in rejected.pods] + result.not_created
        assert sorted(grouped) == sorted(each.name for each in result.pods if each.fate is not Fate.PLACED)


def test_what_is_no_pod_and_is_refused_is_listed(full):
    assert full.report.rejected == [
        'persistentvolumeclaims "data" is forbidden: exceeded quota: one, requested: persistentvolumeclaims=1, '
        "used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0"
    ]
    mistake = full.report.mistakes[0]
    assert (mistake.source, mistake.path, mistake.subject) == ("release.yaml", "spec.containers", "Pod shop/wrong")
    assert mistake.line > 1
    assert full.report.passed == {"v1 ConfigMap": 1}


def test_admission_is_told_for_each_workload(full):
    effects = {
        result.name: {effect.plugin: effect.objects for effect in result.effects} for result in full.report.results
    }
    assert effects["top"] == {"Priority": 1, "DefaultTolerationSeconds": 1}
    assert effects["web"] == {"DefaultTolerationSeconds": 3}


def test_it_is_known_who_had_to_go(full):
    (preempted,) = full.report.preemptions
    assert (preempted.pod, preempted.node, preempted.successor) == ("shop/old", "b", "")
    assert full.report.summary.preempted == 1


def test_pods_that_wait_as_before_are_others(full):
    assert [(other.pod, other.fate) for other in full.report.others] == [("shop/waits", Fate.UNSCHEDULABLE)]


def test_use_is_told_by_pool_before_and_after(simulate):
    release = simulate(NODES, deployment())
    groups = {
        group.name: {use.resource: (use.before, use.after) for use in group.uses}
        for group in release.report.utilisation.groups
    }
    assert release.report.utilisation.label == "pool"
    assert groups["big"]["cpu"] == (0, 2000)
    assert groups["small"]["cpu"] == (2000, 2000)
    assert groups["big"]["pods"] == (0, 2)
    assert ("example.com/gpu" in groups["big"], "example.com/gpu" in groups["small"]) == (True, False)
    cpu = release.report.balance[0]
    assert (cpu.before.mean, cpu.before.lowest, cpu.before.highest) == (50.0, 0.0, 100.0)
    assert (cpu.after.mean, cpu.after.deviation) == (75.0, 25.0)


def test_the_zone_skew_counts_all_zones(simulate):
    assert simulate(NODES, deployment(replicas=3)).report.results[0].zone_skew == 3
    assert (
        simulate("{apiVersion: v1, kind: Node, metadata: {name: a}}", deployment()).report.results[0].zone_skew is None
    )


@pytest.mark.parametrize(
    ("labels", "grouping"),
    [
        pytest.param([{"pool": "a"}, {"pool": "b"}], "pool", id="a pool"),
        pytest.param([{"pool": "a", "agentpool": "x"}, {"pool": "b"}], "pool", id="the label most nodes have"),
        pytest.param([{"node.kubernetes.io/instance-type": "m"}] * 2, "node.kubernetes.io/instance-type", id="a type"),
        pytest.param([{"topology.kubernetes.io/zone": "a"}] * 2, "topology.kubernetes.io/zone", id="a zone"),
        pytest.param([{}, {}], "", id="nothing"),
        pytest.param([{"pool": str(i)} for i in range(50)], "", id="a label of its own for each node groups nothing"),
    ],
)
def test_nodes_are_put_together_by(labels, grouping):
    assert (
        utilisation.grouping_label(cluster(*(node(str(i), labels=each) for i, each in enumerate(labels)))) == grouping
    )


def test_nodes_without_the_label_are_in_no_group():
    made = cluster(
        node("a", labels={"pool": "x"}), node("b", labels={"pool": "x"}), node("c"), pod("p", on="c", cpu="1")
    )
    taken = utilisation.measure(made, "pool")
    assert taken.groups == {"a": "x", "b": "x", "c": ""}
    assert taken.requested["cpu"] == {"a": 0, "b": 0, "c": 1000}


def test_a_cluster_without_nodes_is_even():
    even = utilisation.evenness(utilisation.measure(cluster(), ""), "cpu")
    assert (even.mean, even.highest) == (0.0, 0.0)


# -- exit codes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manifests", "fail", "code"),
    [
        pytest.param(deployment(), True, 0, id="all are placed"),
        pytest.param(deployment(cpu="9"), False, 0, id="pending pods are an answer"),
        pytest.param(deployment(cpu="9"), True, 1, id="pending pods, asked for a verdict"),
        pytest.param(deployment(more="schedulerName: mine,"), True, 1, id="pods of another scheduler are not placed"),
        pytest.param(deployment(replicas=0), True, 0, id="no pods"),
    ],
)
def test_the_exit_code(simulate, manifests, fail, code):
    assert simulate(NODES, manifests, fail=fail).report.summary.exit_code == code


def test_an_interrupted_run_tells_what_is_known(simulate):
    class Impatient(Progress):
        def on_attempt(self, run, queued):
            if run.attempts == 3:
                raise KeyboardInterrupt

    release = simulate(NODES, deployment(replicas=6, cpu="100m"), progress=Impatient())
    assert release.report.ending.reason is EndReason.INTERRUPTED
    assert release.report.summary.exit_code == 130
    fates = [each.fate for each in release.report.results[0].pods]
    assert 0 < fates.count(Fate.PLACED) < 6
    assert fates.count(Fate.PLACED) + fates.count(Fate.QUEUED) == 6


# -- the document -----------------------------------------------------------------


def test_a_report_is_valid_by_its_schema(full):
    schema = schema_of(SimulationReport)
    jsonschema.Draft202012Validator.check_schema(schema)
    for definition in schema["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    jsonschema.Draft202012Validator(schema).validate(json.loads(msgspec.json.encode(full.report)))


def test_every_part_is_described():
    for name, definition in schema_of(SimulationReport)["$defs"].items():
        assert definition.get("description"), name


def test_a_report_is_read_back_as_it_was(full):
    assert msgspec.json.decode(msgspec.json.encode(full.report), type=SimulationReport) == full.report


def test_the_same_input_has_the_same_bytes_whatever_the_state_of_chance(simulate):
    written = set()
    for seed in range(3):
        random.seed(seed)
        release = simulate(NODES, deployment(replicas=3) + deployment("b", cpu="3"))
        written.add((msgspec.json.encode(release.report), msgspec.json.encode(release.facts.run.timeline)))
    assert len(written) == 1
