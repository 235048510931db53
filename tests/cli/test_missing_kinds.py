"""Commands over a snapshot that says what could not be listed: they go on, say so, and end with 5 where it matters."""

import json

import pytest

from schedctl.testing.builders import HOSTNAME, ZONE

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: main, image: api}]}
"""


def node(name, zone):
    labels = {HOSTNAME: name, ZONE: zone}
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


def pod(name, on="", cpu="100m", labels=None):
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels},
        "spec": {"containers": [container], "nodeName": on},
    }


@pytest.fixture
def lacking(tmp_path):
    """Write a snapshot that lacks these kinds and return its file."""

    def write(*missing, reason="Forbidden"):
        web = {"app": "web"}
        objects = {
            "Node": [node("a", "x"), node("b", "y"), node("c", "y")],
            "Pod": [
                pod("web-0", on="a", labels=web),
                pod("web-1", labels=web),
                pod("plain"),
                pod("huge", cpu="64", labels=web),
            ],
        }
        document = {
            "apiVersion": "schedctl.dev/v1alpha1",
            "kind": "Snapshot",
            "metadata": {"missing": [{"kind": kind, "reason": reason} for kind in missing]},
            "objects": objects,
        }
        path = tmp_path / "snapshot.json"
        path.write_text(json.dumps(document))
        return str(path)

    return write


EXPLAINED = {
    "default spreading counts what Services select": ("web-1", ["Service"], 5),
    "no Service selects a pod without labels": ("plain", ["Service"], 0),
    "a refusal of others stands": ("huge", ["Service"], 0),
    "pods of a cluster have been admitted": ("web-1", ["LimitRange", "PriorityClass", "ResourceQuota"], 0),
    "nothing is missing": ("web-1", [], 0),
}


@pytest.mark.parametrize(("name", "missing", "code"), EXPLAINED.values(), ids=EXPLAINED)
def test_explain_ends_with_5_where_it_matters(schedctl, lacking, name, missing, code):
    assert schedctl("explain", "pod", name, "-f", lacking(*missing)).code == code


def test_a_proven_no_wins_with_exit_code(schedctl, lacking):
    assert schedctl("explain", "--all-pending", "-f", lacking("Service")).code == 5
    assert schedctl("explain", "--all-pending", "--exit-code", "-f", lacking("Service")).code == 1


def test_the_text_says_what_is_not_known_whom_that_weakens_and_what_is_a_guess(schedctl, lacking):
    ended = schedctl("explain", "pod", "web-1", "-f", lacking("Service"))
    text = " ".join(ended.out.split())
    assert "pod default/web-1: INCONCLUSIVE (Services not known; without them: b, score" in text
    assert "guess: PodTopologySpread would also look at Services, which may not be listed:" in text
    assert "not known: Services (Forbidden): weakens PodTopologySpread" in text
    assert "b beats" in text or "the same score" in text


def test_the_machine_formats_always_say_what_is_missing(schedctl, lacking):
    for missing in ([], ["Service"]):
        ended = schedctl("explain", "pod", "plain", "-o", "json", "-f", lacking(*missing))
        assert [kind["kind"] for kind in json.loads(ended.out)["metadata"]["missing"]] == missing


COMMANDS = {
    "a drained pod comes back somewhere": (("drain", "a", "--force"), ["ReplicaSet"], 0),
    "budgets hold evictions": (("drain", "a", "--force"), ["PodDisruptionBudget"], 5),
    "more like one that default spreading spreads": (("capacity", "--like", "pod/web-1"), ["Service"], 5),
    "more like one that it does not": (("capacity", "--like", "pod/plain"), ["Service"], 0),
    "a release is spread": (("simulate", "-"), ["Service"], 5),
    "a release is admitted": (("simulate", "-"), ["LimitRange"], 5),
    "a release has no volumes": (("simulate", "-"), ["CSINode"], 0),
}


@pytest.mark.parametrize(("command", "missing", "code"), COMMANDS.values(), ids=COMMANDS)
def test_runs_end_with_5_where_it_matters(schedctl, lacking, command, missing, code):
    ended = schedctl(*command, "-f", lacking(*missing), "-o", "json", stdin=WORKLOAD)
    report = json.loads(ended.out)
    assert ended.code == report["summary"]["exitCode"] == code
    assert [kind["kind"] for kind in report["metadata"]["missing"]] == missing
    assert bool(report["guesses"]) is (code == 5)


@pytest.mark.parametrize("command", [("drain", "a", "--force"), ("capacity", "--like", "pod/web-1"), ("simulate", "-")])
def test_runs_say_in_words_what_is_not_known(schedctl, lacking, command):
    missing = lacking("Service", "PodDisruptionBudget")
    printed = schedctl(*command, "-f", missing, stdin=WORKLOAD).out
    assert "; INCONCLUSIVE" in printed.splitlines()[0]
    text = " ".join(printed.split())
    assert "not known: Services (Forbidden): weakens PodTopologySpread" in text
    assert "guess: " in text


def test_a_pod_written_by_hand_rests_on_what_admission_reads(schedctl, lacking, tmp_path):
    written = tmp_path / "new.yaml"
    written.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: default}\n"
        "spec: {containers: [{name: main, image: new}]}\n"
    )
    ended = schedctl("explain", "pod", "new", "-f", lacking("LimitRange"), "-f", str(written))
    assert ended.code == 5
    assert "guess: LimitRanger would also look at LimitRanges" in " ".join(ended.out.split())


STATE = """\
apiVersion: v1
kind: Node
metadata: {name: a, uid: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, uid: b}
spec:
  replicas: %(replicas)d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web}]}
status: {replicas: %(replicas)d}
"""
ITS_POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default, uid: c, labels: {app: web}}
spec: {nodeName: a, containers: [{name: main, image: web}]}
"""
REPORTED = {
    "the workload reports pods and none is there": (3, "", 5),
    "one of its pods is there": (3, ITS_POD, 0),
    "the workload has no pods": (0, "", 0),
}


@pytest.mark.parametrize("command", [("simulate",), ("check",)], ids=lambda command: command[0])
@pytest.mark.parametrize(("replicas", "pods", "code"), REPORTED.values(), ids=REPORTED)
def test_a_state_that_lacks_the_pods_its_workloads_report_is_not_an_empty_cluster(
    schedctl, tmp_path, command, replicas, pods, code
):
    state = tmp_path / "state.yaml"
    state.write_text(STATE % {"replicas": replicas} + pods)
    ended = schedctl(*command, "-", "-f", str(state), stdin=WORKLOAD)
    assert ended.code == code
    warned = "Deployment default/web: status: 1 workload reports pods, but none of them is in the input" in ended.err
    assert warned == (code == 5)


RESOURCE = """\
---
apiVersion: %s
kind: %s
metadata: {name: k8s, namespace: monitoring, uid: d}
spec: {replicas: 2}
status: {availableReplicas: %s}
"""


@pytest.mark.parametrize(
    ("api_version", "kind", "replicas", "pods", "code"),
    [
        pytest.param("monitoring.coreos.com/v1", "Prometheus", "2", "", 5, id="an operator's, without its pods"),
        pytest.param("example.com/v1", "Shop", "2", "", 5, id="one of an unknown operator"),
        pytest.param("monitoring.coreos.com/v1", "Prometheus", "2", ITS_POD, 0, id="among pods"),
        pytest.param("monitoring.coreos.com/v1", "Prometheus", "0", "", 0, id="one that has no pods"),
        pytest.param("monitoring.coreos.com/v1", "Prometheus", "many", "", 0, id="one that does not count"),
        pytest.param("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "2", "", 0, id="one of no operator of pods"),
    ],
)
def test_resources_of_operators_report_pods_as_workloads_do(
    schedctl, tmp_path, api_version, kind, replicas, pods, code
):
    state = tmp_path / "state.yaml"
    state.write_text(STATE % {"replicas": 0} + RESOURCE % (api_version, kind, replicas) + pods)
    ended = schedctl("check", "-", "-f", str(state), stdin=WORKLOAD)
    assert ended.code == code, ended.err
    text = f"{kind} monitoring/k8s: status: 1 workload reports pods, but none of them is in the input"
    assert (text in " ".join(ended.err.split())) == (code == 5)
