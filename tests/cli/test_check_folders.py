"""What ``schedctl check`` reads of folders, and how it counts what it has not judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_check import BIG, NODE, POLICY, STATE, WEB

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
ONLY_SHOP = POLICY.replace("spec:\n", "spec:\n  match: {names: [web]}\n") + "    - {name: fits, builtin: schedulable}\n"


@pytest.fixture
def check(schedctl, tmp_path, monkeypatch):
    """``schedctl check`` beside a folder ``deploy`` with web that fits, and ``deploy/sub`` with big that does not."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"node.yaml": NODE, "deploy/web.yaml": WEB, "deploy/sub/big.yaml": BIG}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    return lambda *arguments: schedctl("check", *arguments)


@pytest.mark.parametrize("arguments", [("deploy",), ("deploy", "-R"), ("deploy", "--recursive")])
def test_folders_in_folders_are_judged(check, arguments):
    ended = check(*arguments, *STATE)
    assert (ended.code, "deploy/sub/big.yaml" in ended.out) == (1, True)


def test_what_no_recursive_leaves_out_is_counted_in_the_last_line(check):
    ended = check("deploy", "--no-recursive", *STATE)
    assert ended.code == 0
    assert "not judged: 1 file (policy built-in, kube-scheduler v1.37.1 rules)" in ended.out.splitlines()[-1]
    assert (
        "note: 1 file not judged: deploy/sub/big.yaml (--no-recursive leaves out the folders in a folder)" in ended.out
    )


def test_a_manifest_that_is_not_at_the_top_of_its_file_is_counted(check):
    Path("deploy/sub/big.yaml").write_text("big:\n" + "".join(f"  {line}" for line in BIG.splitlines(keepends=True)))
    Path("deploy/values.yaml").write_text("replicas: 3\n")
    ended = check("deploy", *STATE)
    assert ended.code == 0
    assert "not judged: 1 file (policy built-in, kube-scheduler v1.37.1 rules)" in ended.out.splitlines()[-1]
    assert "note: 1 file not judged: deploy/sub/big.yaml (no object of Kubernetes at its top level)" in ended.out


def test_the_state_may_be_in_folders_of_folders(check):
    Path("state/eu/a").mkdir(parents=True)
    Path("node.yaml").rename("state/eu/a/node.yaml")
    assert check("deploy/web.yaml", "-f", "state").code == 0


def test_a_workload_that_no_policy_is_about_is_counted(check):
    Path("policy.yaml").write_text(ONLY_SHOP)
    ended = check("deploy", *STATE, "-p", "policy.yaml")
    assert ended.code == 0
    assert "not judged: 1 workload (policy mine, kube-scheduler v1.37.1 rules)" in ended.out.splitlines()[-1]
    assert "1 workload not judged: Deployment shop/big (no check of the policies applies to it)" in ended.out


def test_the_age_of_the_state_judges_no_workload(check):
    Path("policy.yaml").write_text(POLICY + "    - {name: fresh, builtin: snapshot-fresh, with: {maxAge: 24h}}\n")
    ended = check("deploy/web.yaml", *STATE, "-p", "policy.yaml")
    assert "not judged: 1 workload" in ended.out.splitlines()[-1]


def test_objects_of_other_kinds_are_counted_and_those_with_containers_are_named(check):
    shop = "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: a}\nspec: {containers: [{name: c, image: c}]}\n"
    Path("deploy/others.yaml").write_text(f"{CONFIG_MAP}---\n{shop}")
    Path("deploy/sub/big.yaml").unlink()
    ended = check("deploy", *STATE)
    assert ended.code == 5
    assert (
        "not judged: 1 object, 1 resource (policy built-in, kube-scheduler v1.37.1 rules)" in ended.out.splitlines()[-1]
    )
    assert "1 object not judged: 1 v1 ConfigMap (scheduling does not read this kind)" in ended.out
    assert "1 resource not judged: Shop default/a (not modelled, an operator may make pods of it)" in ended.out


def test_everything_judged_is_not_mentioned(check):
    assert "not judged" not in check("deploy", *STATE).out


def test_what_is_not_judged_is_in_the_report_as_data(check):
    Path("deploy/.api.yaml").write_text(WEB)
    report = json.loads(check("deploy/", *STATE, "-o", "json").out)
    assert report["summary"]["notJudged"] == 1
    assert report["notJudged"] == [
        {
            "kind": "File",
            "name": "deploy/.api.yaml",
            "count": 1,
            "reason": "its name, or that of its folder, begins with a dot",
        }
    ]


@pytest.mark.parametrize("form", ["text", "json", "yaml", "junit", "sarif", "github", "gitlab", "tap", "markdown"])
def test_every_format_counts_what_was_not_judged(check, form):
    Path("deploy/.api.yaml").write_text(WEB)
    out = check("deploy", *STATE, "-o", form).out
    assert "not judged: 1 file" in out or "1 file not judged: deploy/.api.yaml" in out


# -- what belongs to other tools -----------------------------------------------------

CHART = "apiVersion: v2\nname: web\nversion: 0.1.0\n"
TEMPLATE = "kind: Deployment\nmetadata: {name: {{ .Release.Name }}}\n"
NOT_RENDERED = {
    "a chart": (
        {
            "deploy/chart/Chart.yaml": CHART,
            "deploy/chart/values.yaml": "a: 1\n",
            "deploy/chart/templates/d.yaml": TEMPLATE,
        },
        "Chart deploy/chart",
        "Chart.helm.sh",
    ),
    "a chart in a chart is a part of it": (
        {"deploy/chart/Chart.yaml": CHART, "deploy/chart/charts/db/Chart.yaml": CHART},
        "Chart deploy/chart",
        "Chart.helm.sh",
    ),
    "a kustomization": (
        {"deploy/kust/kustomization.yaml": "resources: []\n"},
        "Kustomization deploy/kust",
        "Kustomization.kustomize.config.k8s.io",
    ),
    "a kustomization that says what it is": (
        {"deploy/kust/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"},
        "Kustomization deploy/kust",
        "Kustomization.kustomize.config.k8s.io",
    ),
}


@pytest.mark.parametrize(("files", "subject", "kind"), NOT_RENDERED.values(), ids=NOT_RENDERED)
def test_what_was_not_rendered_is_inconclusive_and_counted_in_every_report(check, files, subject, kind):
    Path("deploy/sub/big.yaml").unlink()
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    ended = check("deploy", *STATE, "--report", "json=report.json", "--report", "markdown=report.md")
    assert ended.code == 5
    assert "not judged: 1 resource" in ended.out.splitlines()[-1]
    report = json.loads(Path("report.json").read_text())
    assert [(each["kind"], each["name"]) for each in report["notJudged"]] == [("Resource", subject)]
    assert [each["subject"] for each in report["results"] if each["outcome"] == "Inconclusive"] == [subject]
    assert "not judged: 1 resource" in Path("report.md").read_text()
    Path("policy.yaml").write_text(
        POLICY.replace("spec:\n", f"spec:\n  allowUnmodelledKinds: [{kind}]\n")
        + "    - {name: f, builtin: schedulable}\n"
    )
    accepted = check("deploy", *STATE, "-p", "policy.yaml")
    assert (accepted.code, "not judged: 1 resource" in accepted.out) == (0, True)


def test_manifests_beside_the_templates_of_a_chart_are_judged(check):
    Path("deploy/Chart.yaml").write_text(CHART)
    Path("deploy/templates").mkdir()
    Path("deploy/templates/d.yaml").write_text(TEMPLATE)
    ended = check("deploy", *STATE)
    assert (ended.code, "Deployment shop/big" in ended.out) == (1, True)


def test_a_file_that_holds_nothing_of_kubernetes_is_named_and_left_out(check):
    Path("deploy/sub/big.yaml").unlink()
    Path("deploy/values-prod.yaml").write_text("replicas: 3\n")
    ended = check("deploy", *STATE)
    assert ended.code == 0
    assert "note: deploy/values-prod.yaml: is left out: it holds no object of Kubernetes" in ended.out
    assert check("deploy", *STATE, "--strict").code == 3
    assert check("deploy/values-prod.yaml", "deploy/web.yaml", *STATE).code == 1


def test_half_a_manifest_is_not_left_out(check):
    Path("deploy/sub/big.yaml").unlink()
    Path("deploy/half.yaml").write_text("kind: Deployment\nspec: {replicas: 3}\n")
    ended = check("deploy", *STATE)
    assert (ended.code, "deploy/half.yaml" in ended.out) == (1, True)


def test_simulate_names_the_files_that_look_like_manifests_and_are_not_read(check, schedctl):
    Path("deploy/sub/big.yaml").rename("deploy/.big.yaml")
    ended = schedctl("simulate", "deploy", *STATE)
    assert "warning: deploy/.big.yaml: looks like a manifest and is not read: its name" in ended.err
