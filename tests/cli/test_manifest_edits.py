"""The fix of a workload that is being released names file, line and field, for no kubectl command could change it."""

import json

import pytest
import yaml

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"disk": "ssd"}},
    "spec": {"taints": [{"key": "team", "value": "db", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
HEAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
"""
CONTAINER = """\
      containers:
      - name: side
        image: s
      - name: web
        image: w
"""
TOLERATED = """\
      tolerations:
      - {key: team, operator: Exists}
"""
CPU = """\
        resources:
          requests:
            cpu: "9"
"""


CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM = """\
accessModes: [ReadWriteOnce]
storageClassName: fasst
resources: {requests: {storage: 1Gi}}
"""


@pytest.fixture
def simulate(schedctl, tmp_path, monkeypatch):
    """Release a manifest into a cluster of one node and return the command's output."""

    def simulate(manifest, *arguments, node=NODE):
        items = {"apiVersion": "v1", "kind": "List", "items": [node, CLASS]}
        (tmp_path / "cluster.json").write_text(json.dumps(items))
        path = tmp_path / "web.yaml"
        path.write_text(manifest)
        out = schedctl("simulate", str(path), "-f", str(tmp_path / "cluster.json"), *arguments).out
        return out.replace(str(path), "web.yaml")

    return simulate


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        pytest.param(
            HEAD + TOLERATED + CONTAINER + CPU,
            'web.yaml:20: containers[1].resources.requests.cpu: "4"',
            id="a request that is there",
        ),
        pytest.param(
            HEAD + TOLERATED + "      nodeSelector: {disk: hdd}\n" + CONTAINER,
            "web.yaml:13: remove nodeSelector",
            id="a node selector that nothing has",
        ),
        pytest.param(
            HEAD + CONTAINER,
            "web.yaml:11: tolerations: [",
            id="a toleration where there is none, at the pod spec",
        ),
        pytest.param(
            HEAD + "      tolerations:\n      - {key: other, operator: Exists}\n" + CONTAINER,
            "web.yaml:12: add to tolerations: {",
            id="one more toleration, at the list",
        ),
    ],
)
def test_the_first_fix_names_the_line_of_the_manifest(simulate, manifest, line):
    printed = simulate(manifest)
    assert f"      {line}" in printed
    assert "kubectl" not in printed


def test_as_data_the_field_is_whole_and_there_is_no_command(simulate):
    report = json.loads(simulate(HEAD + TOLERATED + CONTAINER + CPU, "-o", "json"))
    hint = report["results"][0]["pending"][0]["hints"][0]
    (edit,) = hint["edits"]
    assert hint["command"] == ""
    assert (edit["line"], edit["action"], edit["value"]) == (20, "set", "4")
    assert edit["field"] == "spec.template.spec.containers[1].resources.requests.cpu"


def test_the_manifest_with_the_line_changed_is_placed(simulate):
    manifest = HEAD + TOLERATED + CONTAINER + CPU
    (line,) = [each.strip() for each in simulate(manifest).splitlines() if each.strip().startswith("web.yaml:20")]
    field, _, value = line.removeprefix("web.yaml:20: ").partition(": ")
    lines = manifest.splitlines()
    lines[19] = f"            {field.rpartition('.')[2]}: {value}"
    assert yaml.safe_load("\n".join(lines))
    assert simulate("\n".join(lines)).startswith("1 of 1 pod would be placed")


def test_a_fix_of_a_node_is_a_command(simulate):
    printed = simulate(HEAD + TOLERATED + CONTAINER, node={**NODE, "spec": {"unschedulable": True}})
    assert "kubectl uncordon a" in printed


def test_a_template_of_helm_is_named_without_a_line(simulate):
    source = "# Source: web/templates/deployment.yaml\n"
    printed = simulate("---\n" + source + HEAD + TOLERATED + CONTAINER + CPU)
    assert '      web/templates/deployment.yaml: containers[1].resources.requests.cpu: "4"' in printed


def indent(text, by):
    return "".join(f"{' ' * by}{line}" for line in text.splitlines(keepends=True))


def test_the_fix_of_a_claim_that_is_being_released_names_its_line(simulate):
    claim = "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec:\n"
    volumes = "      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n"
    printed = simulate(HEAD + TOLERATED + CONTAINER + volumes + claim + indent(CLAIM, 2))
    assert '      web.yaml:25: spec.storageClassName: "fast"' in printed


def test_the_fix_of_a_claim_that_a_stateful_set_makes_names_the_line_of_its_template(simulate):
    kind = HEAD.replace("Deployment", "StatefulSet").replace("replicas: 1", "replicas: 1\n  serviceName: web")
    claims = "  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec:\n" + indent(CLAIM, 6)
    printed = simulate(kind + TOLERATED + CONTAINER + claims)
    assert '      web.yaml:23: spec.volumeClaimTemplates[0].spec.storageClassName: "fast"' in printed
