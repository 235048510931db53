"""What the page about plugins says of columns, pods and the cluster is so: its expressions are evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from schedctl.api.storage import StorageClass
from schedctl.cache.changes import ChangeKind
from schedctl.testing import cluster, node, pod

PAGE = (Path(__file__).parents[2] / "docs/plugins.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `((?:len\(nodes|nodes|pod|cluster)\b[^`]*)` \| `([^`]+)`[^|]*\|", re.MULTILINE)
FAST = StorageClass(provisioner="example.com/disk")


def names():
    """What the expressions of the page are about: two nodes, one of them with a pod, and a pod that is pending."""
    labels = {"team": "red", "zone": "north"}
    waiting = pod("new", cpu="500m", memory="1Gi")
    state = cluster(
        node("a", cpu="2", memory="4Gi", labels=labels),
        node("b", unschedulable=True),
        pod("old", on="a", cpu="1500m", ports=[{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]),
        waiting,
    )
    generation = state.generation
    state.put(FAST)
    return {
        "nodes": state.nodes,
        "pod": waiting,
        "cluster": state,
        "generation": generation,
        "StorageClass": StorageClass,
        "make": lambda view: len(view.every(StorageClass)),
        "len": len,
    }


@pytest.mark.parametrize(("expression", "kind"), ROW.findall(PAGE))
def test_an_expression_has_the_type_that_the_page_says(expression, kind):
    found = eval(expression, names())
    column = re.fullmatch(r"(\w+) \((\w+)(?:,)?\)", kind)
    if column:
        assert (found.dtype, found.shape) == (np.dtype(column[1]), (2,))
    elif kind != "StorageClass":  # of which there is none of that name
        assert kind.partition("[")[0] in {each.__name__ for each in type(found).__mro__} | {_abstract(found)}


def _abstract(found):
    return "Mapping" if isinstance(found, Mapping) else ""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param('nodes.allocatable("cpu").tolist()', [2000, 4000], id="cpu is in millicores"),
        pytest.param('nodes.allocatable("memory").tolist()', [4 << 30, 16 << 30], id="memory is in bytes"),
        pytest.param('nodes.allocatable("nvidia.com/gpu").tolist()', [0, 0], id="a node has 0 of what it lacks"),
        pytest.param('nodes.requested("cpu").tolist()', [1500, 0], id="requested is a sum over the pods of a node"),
        pytest.param("nodes.scored_memory().tolist()", [200 << 20, 0], id="without a request, memory counts 200 MiB"),
        pytest.param('nodes.label("team").tolist()[1]', -1, id="an absent label is -1"),
        pytest.param('nodes.cluster.strings.find_code("pink")', -2, id="a value that nothing has is -2"),
        pytest.param(
            'nodes.label("team").tolist()[0] == nodes.cluster.strings.find_code("red")', True, id="codes compare"
        ),
        pytest.param('nodes.labels.domains("zone").codes.tolist()', [1, 0], id="domain 0 is that without the label"),
        pytest.param("pod.demand.fit_requests", {"cpu": 500, "memory": 1 << 30}, id="requests have the same units"),
        pytest.param('nodes.port_users("TCP", 80)', [(0, ("0.0.0.0",))], id="port users are positions and addresses"),
        pytest.param("cluster.changes_since(generation)[0].kind", ChangeKind.OBJECT, id="a new object is a change"),
        pytest.param("cluster.changes_since(-1)", None, id="before the log begins, there is None"),
    ],
)
def test_units_and_codes_are_those_of_the_page(expression, expected):
    assert eval(expression, names()) == expected


def test_generations_never_go_back():
    state = cluster(node("a"), pod("web"))
    before = state.generation
    with state.fork():
        state.assume(state.pending["default/web"], "a")
    assert [change.kind for change in state.changes_since(before)] == [ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED]
    assert state.generation == before + 2


def test_every_kind_of_change_is_on_the_page():
    following = PAGE[PAGE.index("### Following changes") :]
    assert [kind.name for kind in ChangeKind if f"`{kind.name}`" not in following] == []
