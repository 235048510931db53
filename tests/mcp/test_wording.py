"""What people are told to type, as what an agent would ask."""

from __future__ import annotations

import pytest

from schedctl.mcp.wording import Wording

WORDING = Wording(
    {
        "explain": ("pods", "namespace", "all_pending", "node", "what_ifs", "detail"),
        "explain_nodes": ("names", "selector", "what_ifs", "detail"),
        "drain": ("names", "ignore_daemonsets", "what_ifs", "detail"),
        "n_minus_1": ("by", "what_ifs", "detail"),
        "check": ("manifests", "files", "detail"),
    }
)


@pytest.mark.parametrize(
    ("tool", "said", "expected"),
    [
        pytest.param("explain", "add `-n shop`", "add `namespace: shop`", id="an option with another name"),
        pytest.param("drain", "add `--ignore-daemonsets`", "add `ignore_daemonsets: true`", id="a flag"),
        pytest.param("explain", "try `--node n1`", "try `node: n1`", id="an option with a value"),
        pytest.param("explain", "more: -o wide", "more: `detail: full`", id="the footer of every text"),
        pytest.param("explain", "all: `-o json`", "all: `detail: full`", id="the whole report"),
        pytest.param(
            "explain", "with `--cordon n1`", 'with `what_ifs: ["cordon n1"]`', id="a what-if, which is an argument"
        ),
        pytest.param("check", "with `--cordon n1`", "with `--cordon n1`", id="a what-if where the tool takes none"),
        pytest.param(
            "explain",
            "add `--plugin FILE`",
            "add `--plugin FILE` of `schedctl mcp`, when the server is started",
            id="an option of the server",
        ),
        pytest.param(
            "explain", "`schedctl explain --all-pending`", '`explain` with `{"all_pending": true}`', id="a call"
        ),
        pytest.param(
            "explain", "`schedctl explain node n1`", '`explain_nodes` with `{"names": ["n1"]}`', id="of nodes"
        ),
        pytest.param(
            "explain",
            "`schedctl explain pod web-0 -n shop -f x.yaml`",
            '`explain` with `{"pods": ["web-0"], "namespace": "shop"}`',
            id="of a pod, without the files of the state",
        ),
        pytest.param(
            "n_minus_1",
            "`schedctl explain --all-pending -f x.yaml --kube-version 1.36 --profile batch --scale deploy/a=3`",
            '`explain` with `{"all_pending": true, "what_ifs": ["scale deploy/a=3"]}`',
            id="without the version and the scheduler, which the server has for good",
        ),
        pytest.param("explain", "`schedctl n-1` ranks", "`n_minus_1` ranks", id="a command without arguments"),
        pytest.param(
            "explain",
            "`schedctl snapshot create x.json.gz`",
            "`schedctl snapshot create x.json.gz`",
            id="a command that is no tool stays one for a person",
        ),
        pytest.param("explain", "`kubectl taint nodes n1 a-`", "`kubectl taint nodes n1 a-`", id="another program"),
        pytest.param("explain", "`-n 'shop`", "`-n 'shop`", id="what is no command line"),
        pytest.param(
            "n_minus_1",
            "next: schedctl explain --all-pending -f a.yaml --lose\n      zone=eu-1a\nnote",
            'next: `explain` with `{"all_pending": true, "what_ifs": ["lose zone=eu-1a"]}`\nnote',
            id="the next step, folded",
        ),
    ],
)
def test_a_text_for_a_terminal_in_terms_of_tools(tool, said, expected):
    assert WORDING.text(said, tool) == expected


def test_the_commands_of_a_report_are_calls():
    report = {
        "results": [{"command": "schedctl explain --all-pending --lose zone=a", "pending": 3}],
        "notes": ["`-n a`"],
    }
    assert WORDING.report(report, "explain") == {
        "results": [{"command": '`explain` with `{"all_pending": true, "what_ifs": ["lose zone=a"]}`', "pending": 3}],
        "notes": ["`namespace: a`"],
    }
