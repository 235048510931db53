"""What expressions see of a situation: the fields of `schedctl.policy.variables`, with the scheduler's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from schedctl.policy import documents, situations
from schedctl.policy import facts as data
from schedctl.policy.causes import Causes
from schedctl.policy.facts import Facts
from schedctl.policy.variables import RECORDS
from schedctl.scheduler import Scheduler
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import simulate
from schedctl.testing.builders import cluster, node, pod
from tests.policy.evaluating import deployment, manifests_of, policy, priority_class, report, running, zoned

GIBI = 1 << 30


EVERY = frozenset(name for record in RECORDS.values() for name in record)


def seen(state: list[Any], *manifests: dict[str, Any]) -> tuple[Facts, dict[str, Any]]:
    """The facts of a release, and those of the state before it."""
    scheduler = Scheduler(cluster(*state))
    before = data.before(scheduler.cluster)
    read = manifests_of(*manifests)
    done = simulate(scheduler, read.objects, options=Options(trace=False))
    sourced = {(str(one.kind), one.object.metadata.namespace, one.object.metadata.name): one for one in read.objects}
    situation = situations.released_situation(done, scheduler, sourced)
    return Facts(situation, Causes(situation)), before


def fields(record: str, value: dict[str, Any]) -> None:
    """Every field of a record is there, and no other."""
    assert set(value) == set(RECORDS[record])


def test_every_record_has_the_fields_that_expressions_are_checked_against() -> None:
    facts, before = seen(zoned(1, 1), deployment(replicas=2))
    judged = facts.situation.workloads[0]
    workload = facts.workload(judged, EVERY)
    fields("Workload", workload)
    fields("Pod", workload["pods"][0])
    fields("Node", workload["pods"][0]["node"])
    fields("Source", workload["source"])
    fields("Result", facts.result())
    fields("Result", before)
    fields("Pods", before["pods"])


def test_a_placed_pod_has_its_node_and_its_requests_as_numbers() -> None:
    facts, _ = seen([node("a", cpu="4", memory="8Gi")], deployment(replicas=1, cpu="500m", memory="2Gi"))
    judged = facts.situation.workloads[0]
    seen_pod = facts.pod(judged.pods[0], judged)
    assert seen_pod["name"] == "web[0]"
    assert seen_pod["scheduled"] is True
    assert seen_pod["requests"] == {"cpu": 500, "memory": 2 * GIBI}
    assert seen_pod["workload"] == {"kind": "Deployment", "name": "web"}
    assert seen_pod["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "500m", "memory": "2Gi"}}
    assert seen_pod["reasons"] == []
    assert seen_pod["node"]["free"] == {"cpu": 3500, "memory": 6 * GIBI, "pods": 109}


def test_a_pending_pod_has_no_node_and_its_reasons() -> None:
    facts, _ = seen([node("a")], deployment(replicas=1, cpu="5"))
    judged = facts.situation.workloads[0]
    seen_pod = facts.pod(judged.pods[0], judged)
    assert seen_pod["scheduled"] is False
    assert "node" not in seen_pod
    assert seen_pod["reasons"][0].startswith("1 node: Insufficient cpu")


def test_a_pod_that_evicts_others_says_whom() -> None:
    facts, _ = seen(
        [node("a"), running("old-0", "a", cpu="4")],
        priority_class("high", 1000),
        deployment(replicas=1, cpu="4", priorityClassName="high"),
    )
    judged = facts.situation.workloads[0]
    assert facts.pod(judged.pods[0], judged)["preempts"] == [
        {"namespace": "default", "name": "old-0", "priority": 0, "node": "a"}
    ]
    assert facts.result()["preemptions"] == 1


def test_a_workload_counts_its_pods_by_zone_and_node() -> None:
    facts, _ = seen(zoned(1, 1), deployment(replicas=4, cpu="1500m"))
    workload = facts.workload(facts.situation.workloads[0], EVERY)
    assert (workload["replicas"], workload["ready"], workload["pending"]) == (4, 4, 0)
    assert workload["zones"] == {"eu-1a": 2, "eu-1b": 2}
    assert workload["nodes"] == {"a0": 2, "b0": 2}


def test_the_result_counts_all_pods_of_the_cluster_and_why_they_are_pending() -> None:
    facts, before = seen(
        [node("a", cpu="4"), running("old-0", "a", cpu="1"), pod("stuck", cpu="9")],
        deployment(replicas=4, cpu="1"),
        deployment("other", 1, schedulerName="volcano"),
    )
    assert before["pods"] == {"total": 2, "scheduled": 1, "pending": 1}
    assert before["pendingByReason"] == {"NotAsked": 1}
    assert facts.result()["pods"] == {"total": 7, "scheduled": 4, "pending": 3}
    assert facts.result()["pendingByReason"] == {"ForeignScheduler": 1, "NodeResourcesFit": 2}


def test_the_headroom_is_what_is_free_on_nodes_that_take_pods() -> None:
    facts, before = seen([node("a", cpu="4"), node("b", unschedulable=True)], deployment(replicas=1, cpu="1"))
    assert before["headroom"]["cpu"] == 4000
    assert facts.result()["headroom"]["cpu"] == 3000
    assert facts.result()["headroom"]["pods"] == 109


def test_an_object_is_made_once() -> None:
    facts, _ = seen(zoned(1), deployment(replicas=1))
    judged = facts.situation.workloads[0]
    assert facts.pod(judged.pods[0], judged) is facts.pod(judged.pods[0], judged)
    assert facts.workload(judged, EVERY) is facts.workload(judged, EVERY)


def test_a_workload_has_the_fields_that_are_read() -> None:
    facts, _ = seen(zoned(1), deployment(replicas=1))
    judged = facts.situation.workloads[0]
    assert facts.workload(judged, frozenset({"workload", "ready"})) == {"ready": 1}
    assert facts.workload(judged, frozenset({"pods", "scheduled"})) == {"pods": [{"scheduled": True}]}


UNREAD = {
    "has()": "!has(pod.spec.volumes[0].nfs)",
    "an optional field": "pod.spec.?securityContext.?runAsNonRoot.orValue(true)",
    "the operator in": "!('nfs' in pod.spec.volumes[0])",
    "an index": "pod.spec.volumes[0]['n' + 'fs'] == ''",
    "going through the fields": "pod.spec.volumes.all(v, v.all(field, field in ['name', 'emptyDir']))",
    "a comparison of the whole": "pod.spec.volumes[0] == {'name': 'logs'}",
    "what another part makes irrelevant": "!has(pod.spec.volumes[0].nfs) || true",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_a_field_of_the_spec_that_is_not_read_is_unknown_and_not_absent(text: str) -> None:
    validation = documents.Validation(documents.Expression(text))
    wanted = documents.Check("asks", scope=documents.Scope.POD, validations=(validation,))
    pods = deployment(replicas=1, volumes=[{"name": "logs", "nfs": {"server": "files", "path": "/var/log"}}])
    (result,) = report(cluster(node("a")), manifests_of(pods), policy(wanted)).results
    assert (result.outcome, "schedctl " in result.message) == ("Inconclusive", True)


def test_a_misspelt_field_of_the_spec_is_told() -> None:
    validation = documents.Validation(documents.Expression("!has(pod.spec.priorityclassName)"))
    wanted = documents.Check("asks", scope=documents.Scope.POD, validations=(validation,))
    (result,) = report(cluster(node("a")), manifests_of(deployment(replicas=1)), policy(wanted)).results
    assert result.message.endswith("the field priorityclassName of PodSpec; did you mean priorityClassName?")
