"""What is converted is taken by the real kube-scheduler, profiles and all. Needs Go; builds the oracle once."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from schedctl.config.legacy.converting import convert
from schedctl.config.legacy.releases import LEGACY_VERSIONS, V1ALPHA2

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "fixtures/configurations").iterdir())

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here"),
]

SCORE = "plugins: {score: {disabled: [{name: '*'}], enabled: [{name: %s, weight: 3}]}}"
SHAPE = "shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]"
PROFILES = {
    "nothing": "",
    "no filters": "plugins: {filter: {disabled: [{name: '*'}]}}",
    "no scores": "plugins: {score: {disabled: [{name: '*'}]}}",
    "another order": "plugins: {filter: {disabled: [{name: '*'}], enabled: [{name: NodePorts}, {name: NodeName}]}}",
    "spreading by Services": SCORE % "SelectorSpread",
    "packing": SCORE % "NodeResourcesMostAllocated",
    "a shape": SCORE % "RequestedToCapacityRatio"
    + f"\n  pluginConfig: [{{name: RequestedToCapacityRatio, args: {{{SHAPE}}}}}]",
    "labels": "plugins: {filter: {enabled: [{name: NodeLabel}]}, score: {enabled: [{name: NodeLabel, weight: 2}]}}\n"
    "  pluginConfig: [{name: NodeLabel, args: {presentLabels: [a], absentLabelsPreference: [b]}}]",
    "constraints": "pluginConfig:\n  - name: PodTopologySpread\n    args: {defaultingType: List, defaultConstraints:"
    " [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
    "limits": "plugins: {filter: {enabled: [{name: CinderLimits}]}}",
}


@pytest.fixture(scope="module")
def oracle() -> str:
    build = subprocess.run([ROOT / "conformance/oracle/build"], stdout=subprocess.PIPE, text=True, check=True)
    return build.stdout.strip()


def texts() -> dict[str, str]:
    """Old configurations by name: the fixtures, and every profile in every version that has profiles."""
    found = {path.name: path.read_text(encoding="utf-8") for path in FILES}
    for version in LEGACY_VERSIONS[1:-1]:
        for name, profile in PROFILES.items():
            head = f"apiVersion: {version.api_version}\nkind: {version.kind}\n"
            found[f"{name} in {version}"] = f"{head}profiles:\n- schedulerName: default-scheduler\n  {profile}\n"
    found["no preemption"] = f"apiVersion: {V1ALPHA2.api_version}\nkind: {V1ALPHA2.kind}\ndisablePreemption: true\n"
    for fields in ({}, {"predicates": []}, {"priorities": []}, {"predicates": [], "priorities": []}):
        found[f"a Policy with {fields}"] = json.dumps({"kind": "Policy", "apiVersion": "v1", **fields})
    return found


def test_kube_scheduler_takes_what_is_converted(oracle, kubernetes):
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "labels": {"a": "", "kubernetes.io/hostname": "a", "example.com/rack": "r"}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
    }
    cases = []
    for name, text in texts().items():
        conversion = convert(text, kubernetes, name)
        assert conversion is not None
        config = json.dumps({key: one for key, one in conversion.document.items() if key != "extenders"})
        cases.append(json.dumps({"id": name, "objects": [node, pod], "config": config}))
    lines = "\n".join(cases)
    answers = subprocess.run([oracle], input=f"{lines}\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in answers.splitlines():
        answer = json.loads(line)
        assert not answer.get("error"), answer
        (cycle,) = answer["cycles"]
        assert not cycle.get("error"), answer
        assert cycle["chosen"] == "a", answer
