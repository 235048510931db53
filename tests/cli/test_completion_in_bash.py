"""The completion script in a real bash: what stands in COMPREPLY after a line and a tab."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures/clusters/shop"
BINARIES = Path(sys.executable).parent
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: one
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: u}}]
"""


@pytest.fixture(scope="module")
def completion(tmp_path_factory):
    """The script that a shell is told to source, which is the same for all of its lines."""
    file = tmp_path_factory.mktemp("completion") / "schedctl.bash"
    ended = subprocess.run([BINARIES / "schedctl", "completion", "bash"], capture_output=True, check=True)
    file.write_bytes(ended.stdout)
    return file


@pytest.fixture
def complete(completion, tmp_path):
    """Return what bash is offered for the last word of a line."""
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)

    def complete(*words):
        line = shlex.join(each.format(shop=SHOP, kubeconfig=tmp_path / "kubeconfig") for each in words)
        script = f"""
            export PATH={shlex.quote(str(BINARIES))}:$PATH
            source {shlex.quote(str(completion))}
            COMP_WORDS=(schedctl {line}); COMP_CWORD={len(words)}
            _schedctl_completion schedctl
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        return ended.stdout.split()

    return complete


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param(("explain", "-o", "js"), ["json", "jsonpath="], id="outputs"),
        pytest.param(("explain", "-f", "{shop}", "-n", "s"), ["shop"], id="namespaces"),
        pytest.param(("explain", "--kubeconfig", "{kubeconfig}", "--context", ""), ["one", "two"], id="contexts"),
        pytest.param(("drain", "-f", "{shop}", "gpu"), ["gpu-a-1", "gpu-b-1"], id="nodes"),
        pytest.param(("schema", "Drain"), ["DrainReport"], id="kinds of documents"),
        pytest.param(("explain", "-f", "{shop}", "-n", "ml", "pod", "tr"), ["train-zkdlf"], id="pods"),
        pytest.param(("explain", "-f", "{shop}", "-n", "ml", "pod/tr"), ["pod/train-zkdlf"], id="pods behind a slash"),
        pytest.param(("explain", "-f", "{shop}", "node/gpu-a"), ["node/gpu-a-1"], id="nodes behind a slash"),
    ],
)
def test_bash_is_offered(complete, words, offered):
    assert complete(*words) == offered


def test_kubectl_is_offered_the_same_and_that_files_are_not_meant():
    command = [BINARIES / "kubectl_complete-schedctl", "drain", "-f", SHOP, "gpu"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["gpu-a-1", "gpu-b-1", ":4"]
