"""Equal pods that fit one by one: no output lets them seem to fit together."""

from __future__ import annotations

import re

import pytest

NODE = (
    "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}}\n---\n"
)
ALONE = "3 pods: 3 would be placed; each judged alone on the cluster as it is"


@pytest.fixture
def state(tmp_path):
    pods = "---\n".join(
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
        "spec: {containers: [{name: c, image: c, resources: {requests: {cpu: '3'}}}]}\n"
        for number in range(3)
    )
    (tmp_path / "state.yaml").write_text(NODE + pods)
    return "-f", str(tmp_path / "state.yaml")


@pytest.mark.parametrize("options", [(), ("--no-group",), ("-o", "wide")])
def test_the_text_says_that_each_is_judged_alone(schedctl, state, options):
    assert ALONE in schedctl("explain", "--all-pending", *state, *options).out


def test_so_does_the_page(schedctl, state):
    page = re.sub(r"<[^>]*>", "\n", schedctl("explain", "--all-pending", *state, "-o", "html").out)
    assert "Each pod is judged alone, on the cluster as it is." in page


def test_of_one_pod_there_is_nothing_to_say(schedctl, state):
    assert "alone" not in schedctl("explain", "p0", *state).out
