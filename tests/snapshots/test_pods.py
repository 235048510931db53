"""Pods in a snapshot: tables and rows stand for the very pods that they were made of."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import Pod, PodCondition, PodSpec, PodStatus
from schedctl.snapshots import pods
from tests.snapshots.states import CORPUS, cases, keep, objects_in, objects_of, state

TIMES = st.sampled_from([None, "2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"])
NAMES = st.sampled_from(["", "a", "b"])
LABELS = st.none() | st.dictionaries(NAMES, NAMES, max_size=2)
PODS = st.builds(
    Pod,
    metadata=st.builds(ObjectMeta, name=NAMES, namespace=NAMES, uid=NAMES, labels=LABELS, creation_timestamp=TIMES),
    spec=st.builds(PodSpec, node_name=NAMES, node_selector=LABELS, priority=st.none() | st.integers(-1, 1)),
    status=st.builds(
        PodStatus,
        phase=NAMES,
        start_time=TIMES,
        conditions=st.none()
        | st.lists(st.builds(PodCondition, type=NAMES, reason=NAMES, last_transition_time=TIMES), max_size=3),
    ),
)


def round_trip(some: list[Pod]) -> list[Pod]:
    return pods.decode(msgspec.Raw(pods.encode_list(some, msgspec.json.encode)))


@given(st.lists(PODS, max_size=6))
def test_what_is_written_is_read(some):
    assert round_trip(some) == some


def test_pods_of_fixtures_and_cases_are_read_as_they_were():
    objects = keep(objects_of(state("fixtures/clusters")))
    objects += [each for family in CORPUS for case in cases(family, 5) for each in keep(objects_in(case))]
    some = [obj for _, obj in objects if isinstance(obj, Pod)]
    assert len(some) > 100
    assert round_trip(some) == some


def test_pods_of_a_template_take_a_row_each_and_share_the_rest():
    def pod(name: str, node: str, time: str) -> Pod:
        condition = PodCondition(type="Ready", status="True", last_transition_time=time)
        return Pod(
            metadata=ObjectMeta(name=name, namespace="n", labels={"app": "web"}, creation_timestamp=time),
            spec=PodSpec(node_name=node, node_selector={"disk": "fast"}),
            status=PodStatus(start_time=time, conditions=[condition]),
        )

    time = "2026-03-01T10:00:0%sZ"
    some = [pod("a", "x", time % 0), pod("b", "y", time % 1), pod("c", "", time % 2)]
    text = pods.encode_list(some, msgspec.json.encode)
    tables = msgspec.json.decode(text, type=pods.Tables)
    assert (len(tables.metadata), len(tables.specs), len(tables.statuses), len(tables.pods)) == (1, 1, 1, 3)
    a, b, _ = pods.decode(msgspec.Raw(pods.encode_list([*some[:2], some[1]], msgspec.json.encode)))
    assert a.metadata.labels is b.metadata.labels
    assert a.spec.node_selector is b.spec.node_selector


def test_pods_on_no_node_with_equal_specs_share_the_spec():
    made = [Pod(metadata=ObjectMeta(name=name), spec=PodSpec(priority=7)) for name in "ab"]
    a, b = round_trip(made)
    assert a.spec is b.spec


def test_pods_as_an_api_server_sent_them_stay_a_list():
    sent = {"metadata": {"name": "a", "uid": "1"}, "spec": {"nodeName": "x", "hostname": "h"}}
    text = pods.encode_list([sent], msgspec.json.encode)
    assert msgspec.json.decode(text) == [sent]
    assert pods.decode(msgspec.Raw(text)) == [msgspec.convert(sent, Pod)]


@pytest.mark.parametrize(
    ("row", "dated"),
    [
        ([2, 0, 0, 0, 0], [0, 0, []]),
        ([0, 2, 0, 0, 0], [0, 0, []]),
        ([0, 0, 2, 0, 0], [0, 0, []]),
        ([0, 0, 0, 2, 0], [0, 0, []]),
        ([0, 0, 0, 0, 2], [0, 0, []]),
        ([0, 0, 0, 0, 0], [2, 0, []]),
        ([0, 0, 0, 0, 0], [0, 2, []]),
        ([0, 0, 0, 0, 0], [0, 0, [2]]),
    ],
)
def test_a_place_that_is_in_no_table_is_refused(row, dated):
    text = {"times": [None], "nodes": [""], "metadata": [{}], "specs": [{}], "statuses": [{"conditions": [{}]}]}
    text |= {"dated": [dated], "pods": [["a", "", *row]]}
    with pytest.raises(msgspec.ValidationError, match="in no table"):
        pods.decode(msgspec.Raw(msgspec.json.encode(text)))


def test_times_for_conditions_that_are_not_there_are_passed_over():
    """A changed file is read as well as can be, and its digest tells."""
    text = {"times": [None, "2026-03-01T10:00:00Z"], "nodes": [""], "metadata": [{}], "specs": [{}], "statuses": [{}]}
    text |= {"dated": [[0, 0, [1, 1]]], "pods": [["a", "", 0, 0, 0, 0, 0]]}
    (pod,) = pods.decode(msgspec.Raw(msgspec.json.encode(text)))
    assert pod.status.conditions is None
