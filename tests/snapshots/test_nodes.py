"""Nodes in a snapshot: tables and rows stand for the very nodes that they were made of."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import ContainerImage, Node, NodeCondition, NodeSpec, NodeStatus, Taint
from schedctl.api.topology import HOSTNAME
from schedctl.snapshots import nodes
from tests.snapshots.states import CORPUS, cases, keep, objects_in, objects_of, state

NAMES = st.sampled_from(["", "a", "b"])
LABELS = st.none() | st.dictionaries(st.sampled_from(["a", HOSTNAME, "z"]), NAMES, max_size=3)
IMAGES = st.builds(ContainerImage, names=st.none() | st.lists(NAMES, max_size=2), size_bytes=st.integers(0, 2))
NODES = st.builds(
    Node,
    metadata=st.builds(
        ObjectMeta,
        name=NAMES,
        uid=NAMES,
        labels=LABELS,
        creation_timestamp=st.sampled_from([None, "2026-03-01T10:00:00Z"]),
    ),
    spec=st.builds(
        NodeSpec,
        unschedulable=st.booleans(),
        taints=st.none() | st.lists(st.builds(Taint, key=NAMES), max_size=2),
        provider_id=NAMES,
    ),
    status=st.builds(
        NodeStatus,
        allocatable=LABELS.map(lambda labels: labels and dict.fromkeys(labels, "1")),
        images=st.none() | st.lists(IMAGES, max_size=3),
        conditions=st.none() | st.lists(st.builds(NodeCondition, type=NAMES), max_size=2),
    ),
)


def round_trip(some: list[Node]) -> list[Node]:
    return nodes.decode(msgspec.Raw(nodes.encode_list(some, msgspec.json.encode)))


@given(st.lists(NODES, max_size=6))
def test_what_is_written_is_read(some):
    read = round_trip(some)
    assert read == some
    assert [[*(node.metadata.labels or {})] for node in read] == [[*(node.metadata.labels or {})] for node in some]


def test_nodes_of_fixtures_and_cases_are_read_as_they_were():
    objects = keep(objects_of(state("fixtures/clusters")))
    objects += [each for family in CORPUS for case in cases(family, 5) for each in keep(objects_in(case))]
    some = [obj for _, obj in objects if isinstance(obj, Node)]
    assert len(some) > 100
    assert round_trip(some) == some


def test_nodes_that_differ_in_what_they_are_called_share_all_else():
    def node(name: str) -> Node:
        return Node(
            metadata=ObjectMeta(name=name, uid=f"uid of {name}", labels={"zone": "z", HOSTNAME: name}),
            spec=NodeSpec(provider_id=f"cloud://{name}"),
            status=NodeStatus(allocatable={"cpu": "4"}, images=[ContainerImage(names=["web:1"], size_bytes=7)]),
        )

    some = [node("a"), node("b")]
    tables = msgspec.json.decode(nodes.encode_list(some, msgspec.json.encode), type=nodes.Tables)
    assert [len(each) for each in (tables.metadata, tables.specs, tables.statuses, tables.images)] == [1, 1, 1, 1]
    a, b = round_trip(some)
    assert a.status is b.status
    assert [a, b] == some


def test_an_image_on_many_nodes_is_written_once():
    images = [ContainerImage(names=[f"app:{number}"]) for number in range(3)]
    some = [Node(status=NodeStatus(images=[each for each in images if each is not left])) for left in images]
    text = nodes.encode_list(some, msgspec.json.encode)
    assert [text.count(b"app:%d" % number) for number in range(3)] == [1, 1, 1]
    assert nodes.decode(msgspec.Raw(text)) == some


def test_nodes_as_an_api_server_sent_them_stay_a_list():
    sent = {"metadata": {"name": "a", "uid": "1"}, "spec": {"podCIDR": "10.0.0.0/24"}}
    text = nodes.encode_list([sent], msgspec.json.encode)
    assert msgspec.json.decode(text) == [sent]
    assert nodes.decode(msgspec.Raw(text)) == [msgspec.convert(sent, Node)]


@pytest.mark.parametrize(
    ("row", "pulled"),
    [
        (["a", "", 2, 0, "", 0, "", 0, 0], []),
        (["a", "", 0, 2, "", 0, "", 0, 0], []),
        (["a", "", 0, 0, "", 2, "", 0, 0], []),
        (["a", "", 0, 0, "", 0, "", 2, 0], []),
        (["a", "", 0, 0, "", 0, "", 0, 2], []),
        (["a", "", 0, 0, "", 0, "", 0, 0], [1]),
    ],
)
def test_a_place_that_is_in_no_table_is_refused(row, pulled):
    text = {"times": [None], "images": [{}], "pulled": [None, pulled], "metadata": [{}], "specs": [{}]}
    text |= {"statuses": [{}], "nodes": [row]}
    with pytest.raises(msgspec.ValidationError, match="in no table"):
        nodes.decode(msgspec.Raw(msgspec.json.encode(text)))
