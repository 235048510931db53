"""Broken pull requests over a repository of sixty Deployments: each is red for the right reason or noted, none green.

The gate is the one of docs/ci.md: policies and baseline come from the base branch, annotations accept nothing, and the
configuration of the pull request is not read. The last table has the policies of the pull request itself.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from schedctl.cli.running import run
from tests.policy import repository

Edit = Callable[[], object]
WEB = "deploy/shop/shop-07.yaml"
RULES = "policies/availability.yaml"


class Verdict(NamedTuple):
    """What a gate came to: its exit code, its findings, and what it noted or said of its fault."""

    code: int
    findings: list[str]
    notes: list[str]


def gate(*files: str, rules: str = "base/policies", baseline: str = "base/baseline.yaml") -> Verdict:
    """Check the repository in the current folder, as the action does it."""
    options = ["--no-config", "--no-inline-ignores", "--jobs=1", "--report=json=report.json"]
    arguments = ["check", *(files or ["deploy"]), "-f", "state", "-p", rules, "--baseline", baseline, *options]
    output = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in output)
    try:
        code = run(arguments)
    finally:
        sys.stdout, sys.stderr = output
    report = json.loads(Path("report.json").read_text())
    found = [each for each in report["results"] if each["outcome"] in ("Violated", "Inconclusive")]
    return Verdict(code, [f"[{each['check']}] {each['subject']}: {each['message']}" for each in found], report["notes"])


@pytest.fixture(scope="module")
def main_branch(tmp_path_factory):
    """The repository, with a baseline that accepts what its policies violate."""
    folder = tmp_path_factory.mktemp("main")
    repository.write(folder)
    options = ["-p", str(folder / "policies"), "-f", str(folder / "state"), "--no-config"]
    for name in ("baseline.yaml", "base/baseline.yaml"):
        assert run(["check", str(folder / "deploy"), *options, "--write-baseline", str(folder / name)]) == 0
    return folder


@pytest.fixture
def branch(main_branch, tmp_path, monkeypatch):
    """A branch of it, where the current folder is."""
    shutil.copytree(main_branch, tmp_path / "branch")
    monkeypatch.chdir(tmp_path / "branch")
    return tmp_path / "branch"


# -- edits -------------------------------------------------------------------------


def replace(old: str, new: str, file: str = WEB) -> Edit:
    def edit() -> None:
        text = Path(file).read_text()
        assert old in text
        Path(file).write_text(text.replace(old, new, 1))

    return edit


def append(text: str, file: str = WEB) -> Edit:
    return lambda: Path(file).write_text(Path(file).read_text() + text)


def write(file: str, text: str) -> Edit:
    def edit() -> None:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text)

    return edit


def move(source: str, target: str) -> Edit:
    def edit() -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(source).rename(target)

    return edit


def link(file: str, target: str) -> Edit:
    def edit() -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(file).rename(target)
        Path(file).symlink_to(Path(target).absolute())

    return edit


def encode(encoding: str, newline: str = "\n") -> Edit:
    return lambda: Path(WEB).write_bytes(Path(WEB).read_text().replace("\n", newline).encode(encoding))


def comment_out(file: str) -> Edit:
    return lambda: Path(file).write_text("".join(f"# {line}\n" for line in Path(file).read_text().splitlines()))


def wrap(kind: str, items: str = "items") -> Edit:
    """Put the Deployment into a list."""

    def edit() -> None:
        deployment = yaml.safe_load(Path(WEB).read_text())
        Path(WEB).write_text(json.dumps({"apiVersion": "v1", "kind": kind, items: [deployment]}))

    return edit


def add_pod(**more: Any) -> Edit:
    """Add a pod without a controller that asks for what no node has."""

    def edit() -> None:
        spec = yaml.safe_load(Path(WEB).read_text())["spec"]["template"]["spec"]
        spec["containers"][0]["resources"]["requests"]["cpu"] = "90"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "job", "namespace": "shop"}, "spec": spec}
        append(f"---\n{json.dumps(pod | more)}\n")()

    return edit


HUNGRY = replace("cpu: 100m", "cpu: 90")
"""More than any node has."""
IGNORES = ", ".join(f"schedctl.dev/ignore.{name}: mine" for name in ("fits", "shop-fits", "zones", "zone-loss", "room"))
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: none, namespace: shop}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: shop-06}}}
"""
SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: more, namespace: shop}
spec: {minReplicas: 400, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop-07}}
"""
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {name: big, labels: {pool: general, kubernetes.io/hostname: big, topology.kubernetes.io/zone: eu-1a}}
status: {allocatable: {cpu: "900", memory: 900Gi, pods: "110"}}
"""
DEVICES = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: gpus}
spec: {driver: gpu.example.com, nodeName: eu-1a-0, pool: {name: a, generation: 1, resourceSliceCount: 1}}
"""
LIMITS = """\
---
apiVersion: v1
kind: LimitRange
metadata: {name: most, namespace: shop}
spec: {limits: [{type: Container, max: {cpu: 10m}}]}
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [shop-07.yaml]
replicas: [{name: shop-07, count: 500}]
"""
CLAIMED = [
    replace("          resources:", "          volumeMounts: [{name: data, mountPath: /data}]\n          resources:"),
    append("      volumes: [{name: data, persistentVolumeClaim: {claimName: ledger}}]\n"),
]
UNFIT = "[fits] Deployment shop/shop-07: 0 of 2 pods can be scheduled"
TOO_MANY = "[fits] Deployment shop/shop-07: only "

# -- broken manifests --------------------------------------------------------------

RED = [
    ("replicas are scaled beyond what the cluster holds", [replace("replicas: 2", "replicas: 500")], TOO_MANY),
    ("an autoscaler's minimum does what replicas do not", [write("deploy/shop/hpa.yaml", SCALER)], TOO_MANY),
    ("a folder is moved deeper, and a file in it broken", [HUNGRY, move("deploy/shop", "deploy/a/b/shop")], UNFIT),
    (
        "a pull request ignores its own findings",
        [HUNGRY, replace("  namespace: shop", f"  namespace: shop\n  annotations: {{{IGNORES}}}")],
        UNFIT,
    ),
    (
        "a pull request loosens the budget that it exceeds",
        [HUNGRY, replace("builtin: schedulable", "builtin: schedulable, with: {minPercent: 1}", RULES)],
        UNFIT,
    ),
    (
        "a pull request grants itself an exemption",
        [
            HUNGRY,
            append("  exemptions: [{checks: ['*'], match: {namespace: shop}, reason: mine}]\n", RULES),
        ],
        UNFIT,
    ),
    ("a pull request deletes the policy that it violates", [HUNGRY, lambda: Path(RULES).unlink()], UNFIT),
    (
        "a pull request writes its own baseline",
        [HUNGRY, replace("entries:", "entries: []\n#", "baseline.yaml")],
        UNFIT,
    ),
    (
        "a pull request brings a configuration that fails on nothing",
        [HUNGRY, write(".schedctl.yaml", "apiVersion: schedctl.dev/v1alpha1\nkind: Config\ncheck: {failOn: never}\n")],
        UNFIT,
    ),
    ("requests are dropped", [replace("            requests: {cpu: 100m, memory: 128Mi}\n", "")], "[requests] Pod"),
    ("requests are misspelt", [replace("requests:", "request:")], "[requests] Pod shop/shop-07[0..1]"),
    ("the nodeSelector is misspelt", [replace("pool: general", "pool: genral")], UNFIT),
    (
        "the nodeSelector is left out",
        [
            replace("nodeSelector: {pool: general}", "tolerations: [{operator: Exists}]"),
            replace("replicas: 2", "replicas: 20"),
        ],
        "[pool] Deployment shop/shop-07",
    ),
    ("the PriorityClass does not exist", [replace("standard", "standrad")], UNFIT),
    ("the PersistentVolumeClaim is gone", CLAIMED, UNFIT),
    (
        "the quota is lowered",
        [replace('"60"', '"10"', "deploy/shop/quota.yaml")],
        "[fits] Deployment shop/shop-00: 0 of 2",
    ),
    ("a LimitRange refuses the pods of all", [append(LIMITS)], "[fits] Deployment shop/shop-00: 0 of 2"),
    ("a budget lets nothing be drained", [write("deploy/shop/pdb.yaml", BUDGET)], "[drains] Node eu-1b-0: 1 of"),
    (
        "a port of the host is taken",
        [
            replace(
                "          resources:", "          ports: [{containerPort: 80, hostPort: 80}]\n          resources:"
            ),
            replace("replicas: 2", "replicas: 9"),
        ],
        TOO_MANY,
    ),
    (
        "all replicas are in one zone",
        [replace("nodeSelector: {pool: general}", "nodeSelector: {pool: general, topology.kubernetes.io/zone: eu-1a}")],
        "[zones] Deployment shop/shop-07: 1 zone, needs 2",
    ),
    (
        "pods take a node past the scheduler",
        [replace("      containers:", "      nodeName: gpu-0\n      containers:")],
        "[pool] Deployment shop/shop-07: 2 of 2 pods on a node that is not allowed",
    ),
    (
        "pods are held back by a scheduling gate",
        [replace("      containers:", "      schedulingGates: [{name: example.com/wait}]\n      containers:")],
        UNFIT,
    ),
    (
        "a node that fits comes along in the manifests",
        [HUNGRY, append(NODE)],
        "Node big: not checked: is made by kubelets and drivers",
    ),
    (
        "devices come along in the manifests",
        [append(DEVICES)],
        "ResourceSlice gpus: not checked: is made by kubelets and drivers",
    ),
    (
        "an owner that never made it is named",
        [
            HUNGRY,
            replace(
                "  namespace: shop",
                "  namespace: shop\n  ownerReferences: [{apiVersion: apps/v1, kind: Deployment,"
                " name: shop-06, uid: a, controller: true}]",
            ),
        ],
        UNFIT,
    ),
    ("the kind is misspelt", [replace("kind: Deployment", "kind: Deploymnt")], 'unknown kind "Deploymnt" in apps/v1'),
    ("the apiVersion is one of long ago", [replace("apps/v1", "apps/v1beta1")], 'no matches for kind "Deployment"'),
    ("lines end as on Windows", [HUNGRY, encode("utf-8", "\r\n")], UNFIT),
    ("lines end as on an old Mac", [HUNGRY, encode("utf-8", "\r")], UNFIT),
    ("the file is UTF-16", [HUNGRY, encode("utf-16")], UNFIT),
    ("a key is written twice, the bad one last", [replace("replicas: 2", "replicas: 2\n  replicas: 500")], TOO_MANY),
    (
        "an anchor brings the replicas",
        [replace("metadata:", "x: &more {replicas: 500}\nmetadata:"), replace("  replicas: 2", "  <<: *more")],
        TOO_MANY,
    ),
    (
        "a second document follows",
        [lambda: append("---\n" + Path(WEB).read_text().replace("shop-07", "more").replace("100m", "90"))()],
        "[fits] Deployment shop/more: 0 of 2",
    ),
    ("it hides in a list", [HUNGRY, wrap("List")], UNFIT),
    ("it hides in a list that is misspelt", [HUNGRY, wrap("List", "Items")], 'Items: unknown field "Items"'),
    ("replicas are a number nobody can place", [replace("replicas: 2", "replicas: 2000000000")], "at most 100000 pods"),
    ("a template is not rendered", [replace("replicas: 2", "replicas: {{ .Values.replicas }}")], "a key must be text"),
]


@pytest.mark.parametrize(("edits", "finding"), [pytest.param(*more, id=name) for name, *more in RED])
def test_a_broken_pull_request_is_red_for_the_right_reason(branch, edits, finding):
    for edit in edits:
        edit()
    verdict = gate()
    assert verdict.code == 1
    assert any(finding in each for each in verdict.findings), verdict


NOTED = [
    ("a file gets another extension", [HUNGRY, move(WEB, f"{WEB}.off")], 0, f"1 file not judged: {WEB}.off"),
    ("a file is hidden", [HUNGRY, move(WEB, "deploy/shop/.web.yaml")], 0, "1 file not judged: deploy/shop/.web.yaml"),
    ("a file becomes a link that leads out", [HUNGRY, link(WEB, "elsewhere/web.yaml")], 0, f"{WEB} (a link to outside"),
    ("all of a file is a comment", [comment_out(WEB)], 0, f"{WEB}: is empty"),
    (
        "a workload becomes an object of another kind",
        [replace("kind: Deployment", "kind: ConfigMap"), replace("apps/v1", "v1")],
        0,
        "1 object not judged: 1 v1 ConfigMap",
    ),
    (
        "a workload moves to a namespace of no policy",
        [replace("namespace: shop", "namespace: sandbox")],
        0,
        "1 workload not judged: Deployment sandbox/shop-07",
    ),
    (
        "the namespace is left out",
        [replace("  namespace: shop\n", "")],
        0,
        "1 workload not judged: Deployment default/shop-07",
    ),
    (
        "a workload has no replicas",
        [HUNGRY, replace("replicas: 2", "replicas: 0")],
        0,
        "Deployment shop/shop-07: it has 0",
    ),
    ("a rollout is paused", [HUNGRY, replace("replicas: 2", "paused: true")], 0, "Deployment shop/shop-07: is paused"),
    (
        "a field is misspelt that nobody misses",
        [replace("topologySpreadConstraints", "topologySpreadConstraint")],
        0,
        'did you mean "topologySpreadConstraints"?',
    ),
    (
        "a key is written twice, the good one last",
        [replace("replicas: 2", "replicas: 500\n  replicas: 2")],
        0,
        'the key "replicas" is written twice',
    ),
    (
        "a key of JSON is written twice",
        [write(WEB.replace("yaml", "json"), '{"kind": "ConfigMap", "apiVersion": "v1", "data": {}, "data": {}}')],
        0,
        'deploy/shop/shop-07.json:1:1: the key "data" is written twice; the last one counts',
    ),
    (
        "a good one of the same name follows",
        [lambda: append("---\n" + Path(WEB).read_text())(), HUNGRY],
        0,
        "Deployment shop/shop-07: metadata.name: replaces",
    ),
    (
        "what follows the end of the document is not read",
        [lambda: append("...\n" + Path(WEB).read_text().replace("100m", "90"))()],
        0,
        'document end marker "..." is not read',
    ),
    (
        "a pod says that it has ended",
        [add_pod(status={"phase": "Succeeded"})],
        0,
        "Pod shop/job (its status says that it has",
    ),
    (
        "a kustomization changes what is judged",
        [write("deploy/shop/kustomization.yaml", KUSTOMIZATION)],
        5,
        "kustomize may change the objects beside it",
    ),
    (
        "another scheduler is named",
        [replace("      containers:", "      schedulerName: volcano\n      containers:")],
        5,
        "",
    ),
    ("an operator makes the pods", [replace("apps/v1", "acme.example/v1")], 5, "an operator may make pods of it"),
]


@pytest.mark.parametrize(("edits", "code", "note"), [pytest.param(*more, id=name) for name, *more in NOTED])
def test_what_cannot_be_judged_is_noted(branch, edits, code, note):
    for edit in edits:
        edit()
    verdict = gate()
    assert verdict.code == code
    assert any(note in each for each in verdict.notes) or (code == 5 and verdict.findings), verdict


REFUSED = [
    ("a folder leaves what is checked", [move("deploy/shop", "shop")], (), 2, "policy shop matches nothing"),
    ("a folder that is checked by name is gone", [move("deploy/shop", "shop")], ("deploy/shop",), 3, "no such file"),
    ("a folder is hidden", [move("deploy/shop", "deploy/.shop")], (), 2, "policy shop matches nothing"),
    (
        "a folder becomes a link that leads out",
        [link("deploy/shop", "elsewhere")],
        (),
        2,
        "policy shop matches nothing",
    ),
    (
        "a link leads nowhere",
        [lambda: Path(WEB).unlink(), lambda: Path(WEB).symlink_to("nowhere.yaml")],
        (),
        3,
        "no such file",
    ),
    ("the encoding cannot be told", [encode("utf-16-be")], (), 3, "UTF-16 without a byte order mark"),
]


@pytest.mark.parametrize(("edits", "files", "code", "fault"), [pytest.param(*more, id=name) for name, *more in REFUSED])
def test_what_cannot_be_read_is_no_pass(branch, edits, files, code, fault):
    for edit in edits:
        edit()
    verdict = gate(*files)
    assert verdict.code == code
    assert any(fault in each for each in verdict.findings), verdict


# -- broken policies, where those of the pull request count ------------------------

ZONE = "      forEach: {topologyKey: topology.kubernetes.io/zone}\n"
LOST = "      remove: {nodeSelector: {topology.kubernetes.io/zone: $value}}\n"
OWN = [
    (
        "a built-in is misspelt",
        [replace("schedulable", "schedulabel", RULES)],
        2,
        'unknown built-in check "schedulabel"',
    ),
    ("a field is misspelt", [replace("namespaces:", "namespace:", RULES)], 2, 'unknown field "namespace"'),
    ("an argument is written twice", [replace("minDomains: 2", "minDomains: 2, minDomains: 1", RULES)], 2, "duplicate"),
    (
        "a check is written twice",
        [
            replace(
                "    - {name: fits, builtin: schedulable}\n", "    - {name: fits, builtin: schedulable}\n" * 2, RULES
            )
        ],
        2,
        'duplicate check "fits"',
    ),
    ("all policies are deleted", [lambda: shutil.rmtree("policies")], 2, "no such file or folder"),
    (
        "no policy is left in the folder",
        [lambda: shutil.rmtree("policies"), lambda: Path("policies").mkdir()],
        2,
        "no manifests in the folder",
    ),
    ("a policy gets another extension", [move(RULES, f"{RULES}.off")], 0, f"{RULES}.off: is not read"),
    ("a policy is hidden", [move(RULES, "policies/.a.yaml")], 0, "policies/.a.yaml: is not read"),
    ("all of a policy is a comment", [comment_out(RULES)], 0, f"{RULES}: is empty"),
    ("a policy gets another kind", [replace("CheckPolicy", "ConfigMap", RULES)], 2, 'unknown kind "ConfigMap"'),
    (
        "a policy selects nothing",
        [replace("[data, pay, shop]", "[nowhere]", "policies/hygiene.yaml")],
        0,
        "policy hygiene matches nothing",
    ),
    (
        "a policy that has to selects nothing",
        [replace("[data, pay, shop]", "[nowhere]", RULES)],
        2,
        "policy availability matches nothing",
    ),
    (
        "a namespace is misspelt",
        [replace("[data,", "[dta,", RULES)],
        0,
        "namespace dta, which has no pods; did you mean data?",
    ),
    (
        "a condition is never true",
        [
            replace(
                "{name: zones,",
                "{name: zones, matchConditions: [{name: big, expression: workload.replicas > 1000}],",
                RULES,
            )
        ],
        0,
        "check zones of policy availability applied to nothing",
    ),
    (
        "a scenario loses a zone that is not there",
        [replace(ZONE + LOST, LOST.replace("$value", "eu-1d"), RULES)],
        5,
        "no node has topology.kubernetes.io/zone=eu-1d",
    ),
    (
        "a scenario loses the values of a label of no node",
        [replace("topologyKey: topology.kubernetes.io/zone", "topologyKey: topology.kubernetes.io/zon", RULES)],
        5,
        'no node has a label "topology.kubernetes.io/zon"',
    ),
    ("a scenario loses nothing", [replace(LOST, "", RULES)], 2, "the scenario changes nothing"),
    ("the baseline is empty", [write("baseline.yaml", "")], 2, "expected `object`, got `null`"),
    ("the baseline is {}", [write("baseline.yaml", "{}\n")], 2, "missing required field"),
]


@pytest.mark.parametrize(("edits", "code", "text"), [pytest.param(*more, id=name) for name, *more in OWN])
def test_a_broken_policy_is_refused_or_noted(branch, edits, code, text):
    for edit in edits:
        edit()
    verdict = gate(rules="policies", baseline="baseline.yaml")
    assert verdict.code == code
    assert any(text in each for each in [*verdict.findings, *verdict.notes]), verdict


# -- the repository itself ---------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "baseline"), [("base/policies", "base/baseline.yaml"), ("policies", "baseline.yaml")]
)
def test_the_main_branch_is_green_and_nothing_is_noted_of_it(branch, rules, baseline):
    assert gate(rules=rules, baseline=baseline) == Verdict(0, [], [])


def test_a_pull_request_that_breaks_nothing_is_green(branch):
    replace("cpu: 100m", "cpu: 200m")()
    replace("replicas: 2", "replicas: 3")()
    assert gate() == Verdict(0, [], [])
