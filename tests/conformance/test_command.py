"""``python -m schedctl.conformance``: who answers, and what it says to versions and gates that cannot be."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from schedctl.conformance.__main__ import main
from schedctl.conformance.differences import differences

CASE = {
    "id": "one",
    "objects": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"pods": "10"}}},
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "where"}},
        },
    ],
}


@pytest.fixture
def answered(monkeypatch):
    """What a version answers to the case on standard input."""

    def answered(*arguments):
        out = io.BytesIO()
        monkeypatch.setattr(sys, "argv", ["schedctl.conformance", "answer", *arguments])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(CASE).encode() + b"\n")))
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
        assert main() == 0
        return json.loads(out.getvalue())

    return answered


@pytest.mark.parametrize(
    ("version", "reasons"),
    [
        pytest.param("1.36", ["no new claims to deallocate", "preemption: {}"], id="v1.36 speaks of claims"),
        pytest.param("v1.36.3", ["no new claims to deallocate", "preemption: {}"], id="a patch stands for its minor"),
        pytest.param("1.37", ["preemption: {}"], id="v1.37 does not"),
    ],
)
def test_a_version_answers_in_its_own_words(answered, version, reasons):
    preemption = "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    (cycle,) = answered("--kube-version", version)["cycles"]
    assert cycle["postFilter"]["status"]["reasons"] == [reason.format(preemption) for reason in reasons]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--kube-version", "new"), "no kube-scheduler new: there are v1.34.4, ", id="no version"),
        pytest.param(("--kube-version", "1.99"), "no kube-scheduler 1.99: there are v1.34.4, ", id="none of these"),
        pytest.param(("--feature-gates", "Nope=true"), "unrecognized feature gate: Nope (", id="an unknown gate"),
        pytest.param(
            ("--kube-version", "1.36", "--feature-gates", "DRANodeAllocatableResources=true"),
            "feature gate DRANodeAllocatableResources is not modelled",
            id="a gate that is not modelled",
        ),
    ],
)
def test_a_version_or_gate_that_cannot_be_is_refused_without_a_traceback(answered, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        answered(*arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "found"),
    [
        pytest.param("all devices are asked for, on which kube-scheduler crashes", [], id="we say so"),
        pytest.param("no such class", ["wrong error"], id="we say something else"),
    ],
)
def test_a_crash_of_kube_scheduler_is_agreed_with_by_saying_so(error, found):
    theirs = {"id": "one", "error": "panic: runtime error: index out of range"}
    ours = {"id": "one", "cycles": [{"pod": "default/p", "error": error}]}
    assert [each.kind for each in differences(theirs, ours)] == found
