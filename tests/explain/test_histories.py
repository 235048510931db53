"""What was recorded of a pod next to what we say: who said it, when, whether it agrees, and what has changed since."""

import msgspec
import pytest

from schedctl.api.events import Event
from schedctl.explain.explanations import explain
from schedctl.explain.histories import with_history
from schedctl.reports.explanations import Agreement
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod

THEN, LATER = "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z"
LINE = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for"
    " scheduling."
)


def refused(message: str = LINE, reason: str = "Unschedulable", **more):
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    status = {"phase": "Pending", "conditions": [{**condition, "lastTransitionTime": THEN}]}
    return pod("big", cpu="9", status=status, metadata={"uid": "big-1"}, **more)


def event(message: str = LINE, **more) -> Event:
    fields = {"reason": "FailedScheduling", "message": message, "eventTime": "2026-11-20T09:00:00.000001Z"}
    return msgspec.convert({**fields, "reportingComponent": "default-scheduler", **more}, Event)


def history(state, subject, *events, **options):
    answer = explain(Scheduler(state), subject)
    return with_history(answer, subject.pod, state, events, **options).history


def two_nodes(*more):
    return cluster(node("a"), node("b"), *more)


def test_the_condition_agrees_byte_for_byte():
    (record,) = history(two_nodes(), refused())
    assert (record.source, record.agreement, record.first) == ("Condition", Agreement.AGREES, THEN)
    assert record.text == f"its condition, rejected since {THEN}: agrees"
    assert record.differences == record.circumstances == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "event at 2026-11-20T09:00:00.000001Z by default-scheduler: agrees"),
        (
            {"series": {"count": 7, "lastObservedTime": "2026-11-20T10:00:00.000002Z"}},
            "event 7 times from 2026-11-20T09:00:00.000001Z to 2026-11-20T10:00:00.000002Z"
            " by default-scheduler: agrees",
        ),
        (
            {
                "eventTime": None,
                "reportingComponent": "",
                "source": {"component": "my-scheduler"},
                "count": 3,
                "firstTimestamp": THEN,
                "lastTimestamp": LATER,
            },
            f"event 3 times from {THEN} to {LATER} by my-scheduler: agrees",
        ),
        ({"eventTime": None, "reportingComponent": ""}, "event: agrees"),
    ],
    ids=["once", "in a series", "of an older recorder", "with next to nothing in it"],
)
def test_an_event_tells_who_said_it_when(fields, text):
    (record,) = history(two_nodes(), pod("big", cpu="9", metadata={"uid": "big-1"}), event(**fields))
    assert record.text == text


def test_what_came_into_the_cluster_since_is_named_and_not_said_to_be_the_cause():
    young = msgspec.structs.replace(
        node("c"), metadata=msgspec.structs.replace(node("c").metadata, creation_timestamp=LATER)
    )
    bound = {
        "phase": "Running",
        "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": LATER}],
    }
    (record,) = history(two_nodes(young, pod("late", on="a", status=bound)), refused())
    assert record.agreement is Agreement.DIFFERS
    assert [each.text for each in record.differences] == [
        "2 nodes then, 3 now",
        "Insufficient cpu: 2 nodes then, 3 now  [NodeResourcesFit]",
        "preemption ended differently  [DefaultPreemption]",
    ]
    assert record.circumstances == ["1 node created since: c", "1 pod bound since: default/late"]


def test_a_pod_that_would_fit_by_now_is_told_where():
    (record,) = history(cluster(node("a", cpu="16")), refused())
    assert [each.text for each in record.differences] == ["it would be placed on a now"]
    assert record.circumstances == ["objects deleted or changed since then leave no trace in the state"]


def test_a_gated_pod_agrees_with_the_api_server_that_it_is_gated():
    message = "Scheduling is blocked due to non-empty scheduling gates"
    subject = refused(message, "SchedulingGated", schedulingGates=[{"name": "quota"}])
    assert [record.text for record in history(two_nodes(), subject)] == [f"its condition, gated since {THEN}: agrees"]


def test_another_scheduler_and_what_ifs_are_circumstances():
    (_, record) = history(
        two_nodes(),
        refused(),
        event("0/1 nodes are available: 1 Too many pods.", reportingComponent="x"),
        supposed=True,
    )
    assert record.circumstances == [
        "the what-ifs changed the cluster",
        "x recorded it, but the pod belongs to default-scheduler",
    ]


def test_a_pod_that_was_never_refused_has_no_history():
    assert history(two_nodes(), pod("small", cpu="1")) == []


def test_a_condition_and_an_event_of_the_same_words_are_one_with_the_times_of_the_event():
    (record,) = history(two_nodes(), refused(), event(eventTime=THEN.replace("09:", "10:")))
    assert record.source == "Condition"
    assert record.first == THEN.replace("09:", "10:")
    assert (
        record.text
        == f"its condition, rejected since {THEN}, and an event at {record.first} by default-scheduler: agrees"
    )


def test_an_event_of_other_words_stays_apart():
    assert [record.source for record in history(two_nodes(), refused(), event("0/1 nodes are available."))] == [
        "Condition",
        "Event",
    ]
