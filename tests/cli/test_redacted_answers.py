"""``--redact strict`` of an answer: no name, label, image or annotation of the cluster is in it, and it is the same."""

from __future__ import annotations

import json
import re

import pytest

from schedctl.cli.running import run
from schedctl.session.notifiers import SILENT
from schedctl.session.redactions import RedactionOptions, redact_state
from schedctl.session.states import StateSource
from schedctl.snapshots.tokens import WELL_KNOWN, is_token

STATE = """
apiVersion: v1
kind: List
items:
- &node
  apiVersion: v1
  kind: Node
  metadata:
    name: acme-node-1
    labels: {topology.kubernetes.io/zone: acme-zone-a, pool: acme-pool, kubernetes.io/hostname: acme-node-1}
    annotations: {note: acme-annotation}
  spec:
    taints: [{key: dedicated, value: acme-taint, effect: NoSchedule}]
  status:
    allocatable: {cpu: "2", memory: 4Gi, pods: "10"}
    images: [{names: ["registry.acme.example/acme-image:1"], sizeBytes: 50000000}]
- <<: *node
  metadata:
    name: acme-node-2
    labels: {topology.kubernetes.io/zone: acme-zone-b, pool: acme-pool, kubernetes.io/hostname: acme-node-2}
  spec: {}
- apiVersion: v1
  kind: Namespace
  metadata: {name: acme-shop}
- apiVersion: scheduling.k8s.io/v1
  kind: PriorityClass
  metadata: {name: acme-urgent}
  value: 1000
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: acme-budget, namespace: acme-shop}
  spec: {minAvailable: 1, selector: {matchLabels: {app: acme-web}}}
- &web
  apiVersion: apps/v1
  kind: ReplicaSet
  metadata: {name: acme-web, namespace: acme-shop, uid: acme-uid}
  spec:
    replicas: 2
    selector: {matchLabels: {app: acme-web}}
    template: &template
      metadata:
        labels: {app: acme-web}
        annotations: {secret: acme-annotation}
      spec:
        nodeSelector: {pool: acme-pool}
        containers:
        - name: acme-container
          image: registry.acme.example/acme-image:1
          resources: {requests: {cpu: "1"}}
- &pod
  apiVersion: v1
  kind: Pod
  metadata:
    name: acme-web-1
    namespace: acme-shop
    labels: {app: acme-web}
    ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: acme-web, uid: acme-uid, controller: true}]
  spec:
    nodeName: acme-node-2
    containers: [{name: acme-container, image: "registry.acme.example/acme-image:1", resources: {requests: {cpu: "1"}}}]
- <<: *pod
  metadata: {name: acme-web-2, namespace: acme-shop, labels: {app: acme-web}}
  spec:
    nodeSelector: {pool: acme-pool}
    containers: [{name: acme-container, image: "registry.acme.example/acme-image:1", resources: {requests: {cpu: "3"}}}]
"""
RELEASE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: acme-api, namespace: acme-shop, annotations: {owner: acme-team}}
spec:
  replicas: 9
  selector: {matchLabels: {app: acme-api}}
  template:
    metadata: {labels: {app: acme-api}}
    spec:
      priorityClassName: acme-urgent
      containers: [{name: acme, image: "acme.example/api:2", resources: {requests: {cpu: 500m}}}]
"""
PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
ADDED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [acme-pool]}]}]
"""


@pytest.fixture
def acme(tmp_path):
    """The names of the files of a cluster and of a release of which every text is the company's."""
    files = {"state": STATE, "release": RELEASE, "packing": PACKING, "added": ADDED}
    for name, text in files.items():
        (tmp_path / f"acme-{name}.yaml").write_text(text.strip())
    return {name: str(tmp_path / f"acme-{name}.yaml") for name in files}


QUESTIONS = [
    pytest.param("explain acme-shop/acme-web-2", id="explain a pod"),
    pytest.param("explain rs acme-web -n acme-shop --matrix --node acme-node-1", id="explain a workload, one node"),
    pytest.param("explain pods -A -l app=acme-web --reconsider", id="explain by labels"),
    pytest.param("explain node acme-node-2", id="explain a node"),
    pytest.param("explain node -l pool=acme-pool", id="explain nodes by labels"),
    pytest.param("explain --all-pending --compare {packing} --compare bin-packing", id="explain, compared"),
    pytest.param(
        "explain --all-pending --cordon acme-node-2 --taint acme-node-2:dedicated=acme-taint:NoExecute"
        " --label pool=acme-pool:pool=acme-pool --add-node like:acme-node-2=2 --lose zone=acme-zone-a"
        " --scale rs/acme-shop/acme-web=4 --priority pod/acme-shop/acme-web-2=acme-urgent",
        id="explain after what-ifs",
    ),
    pytest.param("simulate {release}", id="simulate"),
    pytest.param("simulate {release} --scheduler-config {packing}", id="simulate with a configuration"),
    pytest.param("simulate {release} --compare {packing}", id="simulate, compared"),
    pytest.param("simulate --compare-version 1.35", id="simulate under another version"),
    pytest.param("drain acme-node-2 --force", id="drain"),
    pytest.param("drain --zone acme-zone-b --force", id="drain a zone"),
    pytest.param("drain -l pool=acme-pool --force --pod-selector app=acme-web", id="drain by labels"),
    pytest.param("capacity --like rs/acme-shop/acme-web", id="capacity"),
    pytest.param("nodes", id="nodes"),
    pytest.param("nodes --for {release}", id="nodes for a release"),
    pytest.param("nodes --shrink --force", id="nodes that can go"),
    pytest.param("n-1 --jobs 1", id="n-1"),
    pytest.param("check {release} --no-inline-ignores", id="check"),
    pytest.param("check --all --no-inline-ignores", id="check the cluster"),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_page_has_no_name_of_the_cluster_on_it(schedctl, acme, question):
    words = [*question.format(**acme).split(), "-f", acme["state"], "-q", "-o"]
    plain, hidden = schedctl(*words, "html"), schedctl(*words, "html", "--redact", "strict")
    assert (hidden.code, hidden.err) == (plain.code, plain.err)
    assert "acme" in plain.out
    assert "<title>" in hidden.out
    assert "acme" not in hidden.out.lower()
    assert "acme" not in schedctl(*words, "json", "--redact", "strict").out.lower()


def test_a_page_has_no_name_of_an_example_cluster_on_it(schedctl):
    state = StateSource(("fixtures/clusters/shop",)).load(SILENT)
    _, redactor = redact_state(RedactionOptions("strict"), state.manifests, None, None, SILENT)
    tokens = redactor.labels.tokens
    # Names of one word are words of a page as well, such as the pool "memory".
    names = [each for each in {*tokens.names, *tokens.namespaces} - WELL_KNOWN if re.search(r"\w[-/:.]\w", each)]
    assert len(names) > 100
    for words in (("explain", "--all-pending"), ("drain", "--zone", "eu-west-1b", "--ignore-daemonsets", "--force")):
        page = schedctl(*words, "-f", "fixtures/clusters/shop", "-q", "-o", "html", "--redact", "strict").out
        assert [each for each in names if each in page] == []


def test_neither_a_report_of_a_check_nor_of_its_failure_has_a_name_on_it(schedctl, acme, tmp_path):
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    words = ["check", acme["release"], "-f", acme["state"], "--redact", "strict", "--no-inline-ignores"]
    reports = ["--report", f"html={page}", "--report", f"junit={junit}"]
    assert schedctl(*words, *reports).code == 1
    assert "<title>" in page.read_text()
    assert "acme" not in page.read_text() + junit.read_text()
    assert schedctl(*words, *reports, "-f", "acme-file.yaml").code == 3
    assert "could not be made" in page.read_text()
    assert "acme" not in page.read_text() + junit.read_text()


def test_a_redacted_answer_is_the_answer(schedctl, acme):
    words = ["explain", "acme-shop/acme-web-2", "-f", acme["state"], "-q", "-o", "json"]
    plain = json.loads(schedctl(*words).out)["results"][0]
    hidden = json.loads(schedctl(*words, "--redact", "strict").out)["results"][0]
    assert hidden["verdict"] == plain["verdict"] == "Unschedulable"
    assert [each["text"] for each in hidden["reasons"]] == [each["text"] for each in plain["reasons"]]
    assert is_token(hidden["pod"]["name"])


def test_a_key_gives_the_tokens_that_a_snapshot_of_the_same_key_has(schedctl, acme, tmp_path):
    key, snapshot = str(tmp_path / "key"), str(tmp_path / "hidden.json")
    assert schedctl("snapshot", "create", snapshot, "--from", acme["state"], "--redact", "strict", "--key-file", key)
    words = ["explain", "--all-pending", "-q", "-o", "text"]
    of_snapshot = schedctl(*words, "-f", snapshot).out
    assert schedctl(*words, "-f", acme["state"], "--redact", "strict", "--key-file", key).out == of_snapshot


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        pytest.param("explain acme-shop/acme-web-3", 'has the name "acme-web-3"', id="a name that is not there"),
        pytest.param("explain --all-pending --label acme-node-1:pool=new", 'value of pool "new"', id="a new value"),
        pytest.param("explain --all-pending --add-node {state}=1", "in a file of nodes", id="nodes of a file"),
        pytest.param("explain --all-pending --scheduler-config {added}", "an addedAffinity of", id="added affinity"),
        pytest.param("explain --all-pending --history", "that --history brings", id="texts of events"),
        pytest.param("simulate {release} --draws 2", "the command that repeats a draw", id="draws"),
        pytest.param("capacity --like {release}", "cannot hide the names in", id="a pod of a file"),
        pytest.param("nodes --node-groups {state}", "that --node-groups brings", id="groups of a file"),
        pytest.param("check {release}", "add --no-inline-ignores", id="annotations that accept violations"),
        pytest.param(
            "check {release} --no-inline-ignores -p fixtures/policies/zone-loss", "names in policies", id="a policy"
        ),
    ],
)
def test_what_no_token_can_stand_for_is_refused(schedctl, acme, question, refusal):
    ended = schedctl(*question.format(**acme).split(), "-f", acme["state"], "-o", "html", "--redact", "strict")
    assert ended.code == 2
    assert ended.out == ""
    assert refusal in ended.err


def test_a_redacted_state_is_not_redacted_again(schedctl):
    state = "fixtures/snapshots/monday-redacted.json.gz"
    ended = schedctl("explain", "--all-pending", "-f", state, "--redact", "strict")
    assert (ended.code, ended.out) == (2, "")
    assert "strictly redacted already" in ended.err


def test_objects_of_other_kinds_are_refused(schedctl):
    state = ("-f", "fixtures/clusters/shop", "-f", "fixtures/autoscalers/karpenter.yaml")
    ended = schedctl("nodes", *state, "-o", "html", "--redact", "strict")
    assert (ended.code, ended.out) == (2, "")
    assert "which texts of a NodePool are names" in ended.err


def test_another_level_than_strict_is_a_mistake(capsys):
    assert run(["explain", "--all-pending", "-f", "x", "--redact", "default"]) == 2
    assert 'invalid --redact "default"' in capsys.readouterr().err


def test_a_key_without_a_redaction_is_a_mistake(capsys):
    assert run(["explain", "--all-pending", "-f", "x", "--key-file", "key"]) == 2
    assert "--key-file needs --redact strict" in capsys.readouterr().err
