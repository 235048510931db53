"""The example pods, answered by the real kube-scheduler plugins and by us. Needs Go; builds the oracle once."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedctl import sources
from schedctl.api import kinds
from schedctl.explain import explanations
from schedctl.reports.explanations import Verdict
from schedctl.scheduler import Scheduler
from schedctl.workloads.clusters import assemble, every_pod

ROOT = Path(__file__).parents[2]
PODS = sorted((ROOT / "fixtures/pods").rglob("*.yaml"))

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("go") is None, reason="the oracle is a Go program and Go is not here"),
]


@pytest.fixture(scope="module")
def oracle() -> str:
    build = subprocess.run([ROOT / "conformance/oracle/build"], stdout=subprocess.PIPE, text=True, check=True)
    return build.stdout.strip()


def manifest(kind: kinds.Kind, obj: Any) -> dict[str, Any]:
    return {"apiVersion": kind.api_version, "kind": kind.name, **msgspec.to_builtins(obj)}


def cluster_of(path: Path) -> str:
    """The pods of the shop lie in the folder itself, those of another cluster in one of its name."""
    return "shop" if path.parent.name == "pods" else path.parent.name


@pytest.mark.parametrize("path", PODS, ids=lambda path: path.stem)
def test_expected_verdicts_equal_kube_schedulers(path, oracle):
    read = sources.load([str(ROOT / "fixtures/clusters" / cluster_of(path)), str(path)]).objects
    pod = read[-1].object.key
    cluster = assemble(one.object for one in read).cluster
    ours = explanations.explain(Scheduler(cluster), cluster.pending[pod], hints=False)
    if ours.verdict is Verdict.INCONCLUSIVE:
        pytest.skip(ours.error)

    others = [manifest(one.kind, one.object) for one in read if one.kind.name != "Pod"]
    admitted = [manifest(kinds.kind_named("Pod"), info.pod) for info in every_pod(cluster)]
    case = json.dumps({"id": path.stem, "objects": others + admitted, "pods": [pod]})
    answered = subprocess.run([oracle], input=f"{case}\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    (theirs,) = json.loads(answered)["cycles"]
    assert ours.message == theirs.get("message", "")
    assert ours.ties == theirs.get("ties", [])
    assert {score.node: score.total for score in ours.scores} == theirs.get("totals", {})
    assert sorted(ours.preemption.victims) == theirs.get("postFilter", {}).get("victims", [])
