"""Snapshots as bytes: the same for the same state, in an order that matters, and told from what was changed since."""

from __future__ import annotations

import gzip
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.gaps import Gap
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import Container, Pod, PodSpec, ResourceRequirements
from schedctl.reports.snapshots import Header
from schedctl.snapshots import documents
from schedctl.snapshots.documents import DamagedSnapshot
from tests.snapshots.states import keep, objects_of, state

NODES = [Node(metadata=ObjectMeta(name=name)) for name in ("c", "a", "b")]
POD = Pod(metadata=ObjectMeta(name="web", namespace="shop"))
SNAPSHOT = documents.encode(Header(tool_version="1"), {"Pod": [POD], "Node": NODES})


def test_the_same_state_gives_the_same_bytes():
    objects = documents.by_kind(keep(objects_of(state("fixtures/clusters/shop"))))
    assert documents.encode(Header(), objects) == documents.encode(Header(), objects)
    assert documents.pack(SNAPSHOT) == documents.pack(SNAPSHOT)


def test_the_time_is_in_the_header_alone():
    early = documents.encode(Header(taken="2026-11-20T08:00:00Z"), {"Node": NODES})
    late = documents.encode(Header(taken="2026-11-20T09:00:00Z"), {"Node": NODES})
    assert early != late
    assert early.partition(b'"objects"')[2] == late.partition(b'"objects"')[2]
    assert documents.header(early).digest == documents.header(late).digest


def test_packed_snapshot_has_no_timestamp():
    packed = documents.pack(SNAPSHOT)
    assert packed[4:8] == bytes(4)
    assert gzip.decompress(packed) == SNAPSHOT


def test_objects_keep_the_order_of_their_arrival():
    """Which nodes are looked at when kube-scheduler samples depends on it."""
    ((_, pods), (_, nodes)) = documents.decode(SNAPSHOT).objects
    assert [node.metadata.name for node in nodes] == ["c", "a", "b"]
    assert pods == [POD]


def test_counts_and_digest_are_those_of_the_objects():
    header = documents.decode(SNAPSHOT).header
    assert header.counts == {"Pod": 1, "Node": 3}
    assert header.digest.startswith("sha256:")


def test_every_object_has_a_known_line():
    read, line = documents.decode(SNAPSHOT), 1
    lines = SNAPSHOT.decode().splitlines()
    for kind, found in read.objects:
        line += 1 + read.opening[kind.name]
        for obj in found:
            assert f'"{obj.metadata.name}"' in lines[line - 1]
            line += 1
    assert len(lines) == line + 1


def test_changed_snapshot_is_not_intact():
    assert documents.decode(SNAPSHOT).intact
    assert not documents.decode(SNAPSHOT.replace(b'["a",', b'["d",')).intact


def test_a_quantity_beyond_64_bits_is_kept():
    pod = Pod(
        metadata=ObjectMeta(name="a", namespace="b"),
        spec=PodSpec(containers=[Container(resources=ResourceRequirements(requests={"cpu": 10**25}))]),
    )
    assert documents.decode(documents.encode(Header(), {"Pod": [pod]})).objects[0][1] == [pod]


def test_gaps_of_unknown_kinds_are_left_out():
    header = Header(missing=[Gap("Quorum", "Forbidden"), Gap("Service", "Forbidden")])
    read = documents.decode(documents.encode(header, {"Node": NODES}))
    assert [gap.kind for gap in read.header.missing] == ["Service"]


def test_objects_of_unknown_kinds_are_counted():
    text = SNAPSHOT.replace(b'"objects":{', b'"objects":{"Quorum":[{}],').replace(b'"Pod":1', b'"Pod":1,"Quorum":1')
    assert documents.decode(text).unknown == {"Quorum": 1}


@pytest.mark.parametrize(
    ("before", "after", "path", "message"),
    [
        (b'["a",', b"[5,", ("objects", "Node", "nodes", 1, 0), "expected `str`, got `int`"),
        (b'"Node":{', b'"Node":7,"x":{', ("objects", "Node"), "expected `array`, got `int`"),
        (b'["web",', b"[7,", ("objects", "Pod", "pods", 0, 0), "expected `str`, got `int`"),
        (b'"",0,0,', b'"",0,-1,', ("objects", "Pod", "pods", 0, 3), "expected `int` >= 0"),
        (b'"",0,0,', b'"",0,9,', ("objects", "Pod", "pods"), "a row has a place that is in no table"),
        (b'"",0,0,"",0,', b'"",0,0,"",8,', ("objects", "Node", "nodes"), "a row has a place that is in no table"),
        (b'"redaction":"default"', b'"redaction":"some"', ("metadata", "redaction"), "invalid enum value 'some'"),
        (b'"taken":""', b'"taken":"today"', ("metadata", "taken"), "expected `str` matching regex"),
        (b'"metadata":{"tool', b'"metadata":4,"x":{"tool', ("metadata",), "expected `object`, got `int`"),
    ],
)
def test_what_is_of_the_wrong_type_is_named(before, after, path, message):
    assert before in SNAPSHOT
    with pytest.raises(DamagedSnapshot) as caught:
        documents.decode(SNAPSHOT.replace(before, after, 1))
    assert caught.value.path == path
    assert caught.value.message.startswith(message)


def test_a_newer_version_is_named_with_what_to_do():
    with pytest.raises(DamagedSnapshot) as caught:
        documents.decode(SNAPSHOT.replace(b"schedctl.dev/v1alpha2", b"schedctl.dev/v1beta1", 1))
    assert "schedctl.dev/v1beta1" in caught.value.message
    assert "upgrade schedctl" in caught.value.hint


@given(st.binary(max_size=40), st.integers(0, len(SNAPSHOT)), st.integers(0, 60))
def test_damage_ends_in_an_error_that_is_expected(noise, at, gone):
    damaged = SNAPSHOT[:at] + noise + SNAPSHOT[at + gone :]
    with suppress(DamagedSnapshot, msgspec.DecodeError, UnicodeDecodeError):
        documents.decode(damaged)


def test_snapshots_of_the_first_version_are_read():
    """Pods and nodes stood in lists then."""
    listed = (
        b'"Pod":[\n%s\n]' % msgspec.json.encode(POD),
        b'"Node":[\n%s,\n%s,\n%s\n]' % (*map(msgspec.json.encode, NODES),),
    )
    text = b'{"apiVersion":"schedctl.dev/v1alpha1","kind":"Snapshot","objects":{%s,%s}}' % listed
    read = documents.decode(text)
    assert [found for _, found in read.objects] == [[POD], NODES]
    assert read.opening == {"Pod": 1, "Node": 1}
