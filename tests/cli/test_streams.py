"""What goes to which stream, and in which characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
RUN = "from schedctl.cli import main; main()"
DEPLOYMENT = ("deploy", "assistant", "-n", "shop", "-f", "fixtures/workloads/assistant.yaml")
POD = """
apiVersion: v1
kind: Pod
metadata: {name: lonely, namespace: shop}
spec:
  nodeSelektor: {a: b}
  priorityClassName: gone
  containers: [{name: main, image: main}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: settings}
"""


def test_warnings_about_the_input_go_to_standard_error(shop):
    ended = shop("pod", "shop/lonely", "-f", "-", "--stdin-filename", "pods/lonely.yaml", "-o", "name", stdin=POD)
    assert ended.code == 0
    assert ended.err.splitlines()[0].startswith("warning: pods/lonely.yaml:6:3: Pod shop/lonely: spec.nodeSelektor: ")
    assert 'warning: pods/lonely.yaml:2:1: Pod shop/lonely: PriorityClass "gone" not found' in ended.err
    assert "ignored 1 object that scheduling does not read: 1 v1 ServiceAccount" in ended.err.splitlines()


def test_quiet_leaves_warnings_out(shop):
    ended = shop("pod", "shop/lonely", "-q", "-f", "-", "-o", "name", stdin=POD)
    assert (ended.code, ended.err) == (0, "")


def test_a_duplicate_object_is_reported(shop):
    ended = shop("pod", "shop/fits", "-f", "fixtures/pods/fits.yaml", "-f", "-", "-o", "name", stdin=fits_again())
    assert ended.err.startswith("warning: <stdin>:")
    assert "Pod shop/fits: metadata.name: replaces the one at fixtures/pods/fits.yaml:" in ended.err


def fits_again() -> str:
    return (ROOT / "fixtures/pods/fits.yaml").read_text()


def test_a_pod_from_one_file_and_the_cluster_from_another(schedctl):
    files = ("-f", "fixtures/clusters/shop/nodes.yaml", "-f", "-")
    assert (
        schedctl("explain", "shop/fits", *files, "-o", "name", stdin=fits_again()).out == "pod/fits node/general-b-1\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "--all-pending", "--matrix", "--node", "gpu-a-1", "-f", "fixtures/clusters/shop"),
        ("plugins", "list"),
        ("profiles", "list"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_json_is_described_by_the_schema_of_its_kind(arguments, schedctl):
    document = json.loads(schedctl(*arguments, "-o", "json").out)
    schema = json.loads(schedctl("schema", document["kind"]).out)
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)


def test_the_same_input_gives_the_same_bytes(shop):
    assert len({shop("--all-pending", "-o", "json").out for _ in range(2)}) == 1


def output(*arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", RUN, "explain", *arguments, "-f", "fixtures/clusters/shop"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, env={**os.environ, **environ})


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_stream_that_takes_ascii_gets_ascii(encoding):
    ended = output(*DEPLOYMENT, PYTHONIOENCODING=encoding)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.splitlines()[0].startswith(b"pod shop/assistant-... -> general-a-1")


@pytest.mark.parametrize("form", ["name", "json", "yaml", "jsonpath={.results[0].pod.name}"])
def test_what_programs_read_is_utf8_everywhere(form):
    ended = output(*DEPLOYMENT, "-o", form, PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "assistant-…" in ended.stdout.decode()


def test_colour_is_for_terminals_and_for_those_who_ask():
    quiet, forced = output(*DEPLOYMENT), output(*DEPLOYMENT, FORCE_COLOR="1")
    assert b"\x1b" not in quiet.stdout
    assert b"\x1b" in forced.stdout
    assert b"\x1b" not in output(*DEPLOYMENT, "-o", "json", FORCE_COLOR="1").stdout
    assert b"\x1b" not in output(*DEPLOYMENT, NO_COLOR="1", FORCE_COLOR="1").stdout


def test_extenders_that_nobody_may_ask_make_an_answer_inconclusive(shop, tmp_path):
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
    one = tmp_path / "one.yaml"
    one.write_text(f"{head}- {{urlPrefix: 'http://x', filterVerb: filter}}\n")
    arguments = ("pod", "shop/fits", "-f", "fixtures/pods/fits.yaml", "-o", "name", "--scheduler-config", str(one))
    assert (shop(*arguments).code, shop(*arguments).err) == (5, "")
