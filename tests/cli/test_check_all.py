"""``schedctl check --all``: the workloads of the cluster itself, as they run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.test_check import POLICY
from tests.render.checks.test_open_reports import ingest

ROOT = Path(__file__).parents[2]
ZONES = POLICY + "    - {name: zones, builtin: spread, with: {minDomains: 2}}\n"
AUDIT = {each["kind"]: each for each in yaml.safe_load_all((ROOT / "deploy/audit.yaml").read_text())}


def node(name, zone):
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def spec(cpu="1"):
    return {"containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": cpu}}}]}


def made(kind, name, *, owner="", on="", phase="Running", **more):
    """An object of the cluster; `owner` is KIND/NAME, `on` the node of a pod."""
    version = {"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}.get(kind, "apps/v1")
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": f"uid-{kind}-{name}",
        "labels": {"app": name.partition("-")[0]},
    }
    if owner:
        of, _, called = owner.partition("/")
        reference = {
            "apiVersion": "apps/v1",
            "kind": of,
            "name": called,
            "uid": f"uid-{of}-{called}",
            "controller": True,
        }
        metadata["ownerReferences"] = [reference]
    if kind == "Pod":
        more = {"spec": spec() | ({"nodeName": on} if on else {}), "status": {"phase": phase if on else "Pending"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def workload(name, replicas, pods):
    """A Deployment, its ReplicaSet and its pods, each on a node or on none."""
    template = {"metadata": {"labels": {"app": name}}, "spec": spec()}
    selected = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return [
        made("Deployment", name, spec=selected),
        made("ReplicaSet", f"{name}-1", owner=f"Deployment/{name}", spec=selected),
        *(made("Pod", f"{name}-1-{n}", owner=f"ReplicaSet/{name}-1", on=on) for n, on in enumerate(pods)),
    ]


NODES = [node("a", "eu-1a"), node("b", "eu-1b")]


@pytest.fixture
def audit(schedctl, tmp_path, monkeypatch):
    """``schedctl check --all`` on objects, as its exit code and report."""
    monkeypatch.chdir(tmp_path)
    Path("zones.yaml").write_text(ZONES)

    def audit(*objects, arguments=()):
        Path("state.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*NODES, *objects]}))
        ended = schedctl("check", "--all", "-f", "state.json", "-o", "json", *arguments)
        return ended.code, json.loads(ended.out) if ended.out else ended.err

    return audit


def findings(report):
    return {each["subject"]: (each["outcome"], each["message"]) for each in report["results"]}


def test_pods_are_judged_where_they_run_though_they_would_be_placed_elsewhere_today(audit):
    code, report = audit(*workload("web", 2, ["a", "a"]), arguments=["-p", "zones.yaml"])
    assert code == 1
    assert findings(report) == {"Deployment shop/web": ("Violated", "1 zone, needs 2 (eu-1a 2, eu-1b 0)")}


def test_pods_that_wait_are_pending_where_nothing_has_room(audit):
    code, report = audit(*workload("web", 9, [*"aaaabbbb", ""]))
    assert (code, findings(report)) == (1, {"Deployment shop/web": ("Violated", "only 8 of 9 pods can be scheduled")})


def test_replicas_that_are_missing_are_made(audit):
    code, report = audit(*workload("web", 9, ["a"]))
    assert (code, findings(report)) == (1, {"Deployment shop/web": ("Violated", "only 8 of 9 pods can be scheduled")})


def test_what_a_controller_of_the_cluster_has_made_is_judged_once(audit):
    code, report = audit(*workload("web", 1, ["a"]), *workload("api", 1, ["b"]))
    assert (code, list(findings(report))) == (0, ["Deployment shop/web", "Deployment shop/api"])
    assert report["notJudged"] == []


def test_jobs_count_while_they_have_pods(audit):
    template = {"template": {"spec": spec() | {"restartPolicy": "Never"}}}
    job, old = made("Job", "busy", spec=template), made("Job", "old", spec=template)
    nightly = made("CronJob", "nightly", spec={"schedule": "0 1 * * *", "jobTemplate": {"spec": template}})
    runs = made("Pod", "busy-1", owner="Job/busy", on="a")
    ended = made("Pod", "old-1", owner="Job/old", on="a", phase="Succeeded")
    code, report = audit(job, old, nightly, runs, ended)
    assert (code, list(findings(report))) == (0, ["Job shop/busy"])


def test_pods_of_nobody_are_counted_as_not_judged(audit):
    code, report = audit(*workload("web", 1, ["a"]), made("Pod", "alone", on="b"))
    assert code == 0
    assert [(each["kind"], each["name"]) for each in report["notJudged"]] == [("Workload", "Pod shop/alone")]


def test_what_is_found_in_a_cluster_is_in_no_file_and_is_mended_by_a_command(audit):
    code, report = audit(*workload("web", 9, ["a"]))
    (found,) = report["results"]
    assert (code, found["location"]["file"]) == (1, "")
    assert not any(fix["edits"] for fix in found["fixes"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deploy"], "--all checks what the cluster has; manifests are checked without it"),
        (["-k", "deploy"], "--all checks what the cluster has; manifests are checked without it"),
        (["--rollout", "rolling"], "--rollout is about manifests; --all has none"),
    ],
)
def test_what_goes_with_manifests_only_is_refused(audit, arguments, message):
    code, err = audit(arguments=arguments)
    assert (code, err.splitlines()[0]) == (2, f"error: {message}")


def test_a_cluster_without_workloads_is_no_pass(audit):
    code, err = audit()
    assert code == 3
    assert "nothing to check" in err


def test_the_audit_that_ships_writes_what_kubectl_applies(schedctl, tmp_path):
    """The arguments of the CronJob, on an example cluster in place of the live one."""
    pod = AUDIT["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (check,), (write,) = pod["initContainers"], pod["containers"]
    for name, text in AUDIT["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(text)
    arguments = [
        each.replace("=/policies", f"={tmp_path}").replace("=/reports", f"={tmp_path}") for each in check["args"]
    ]
    arguments[arguments.index("--live")] = "--filename=fixtures/clusters/shop"
    ended = schedctl(*arguments)
    assert ended.code == 0, ended.err
    (file,) = (each.removeprefix("--filename=") for each in write["args"] if each.startswith("--filename="))
    found = ingest((tmp_path / Path(file).name).read_text())
    assert {"", "shop", "ml"} <= set(found)
    assert found["shop"]["summary"]["fail"] > 0


def test_the_audit_that_ships_could_run(schedctl):
    """Its own manifests pass a check: images, mounts and names are what an API server takes."""
    ended = schedctl("check", "deploy/audit.yaml", "-f", "fixtures/clusters/shop")
    assert ended.code == 0, ended.out


def test_the_audit_that_ships_reads_by_one_role_and_writes_by_another():
    documents = list(yaml.safe_load_all((ROOT / "deploy/audit.yaml").read_text()))
    bound = {each["roleRef"]["name"] for each in documents if each["kind"] == "ClusterRoleBinding"}
    assert bound == {"schedctl-reader", "schedctl-reports"}
    accounts = {
        (subject["name"], subject["namespace"])
        for each in documents
        if each["kind"] == "ClusterRoleBinding"
        for subject in each["subjects"]
    }
    pod = AUDIT["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert accounts == {(pod["serviceAccountName"], AUDIT["CronJob"]["metadata"]["namespace"])}
