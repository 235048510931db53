"""News of a pod that is watched: where it has gone, against the last answer; and the schema of a line."""

import json

import jsonschema
import msgspec
import pytest

from schedctl.reports.watches import WatchEvent, WatchLine
from schedctl.session.schemas import SCHEMAS
from schedctl.session.watch import describe_binding
from schedctl.testing.builders import cluster, node, pod


def sizes():
    return cluster(node("a"), node("b"), node("large", cpu="16"), node("small", cpu="500m"))


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("large", "is bound to large, as predicted"),
        ("a", "is bound to a (score {}); predicted was large (score {})"),
        ("small", "is bound to small, which was not feasible in the last answer"),
    ],
)
def test_where_a_pod_has_gone_is_held_against_the_last_answer(ask, where, text):
    answer = ask(sizes(), pod("web", cpu="1"))
    scores = {score.node: score.total for score in answer.scores}
    assert (
        describe_binding("default/web", where, answer)
        == f"pod default/web {text.format(scores.get(where), answer.score)}"
    )


def test_ties_are_told_as_such_and_no_answer_is_none(ask):
    tied = ask(cluster(node("a"), node("b")), pod("web", cpu="1"))
    assert (
        describe_binding("default/web", "b", tied)
        == "pod default/web is bound to b, one of the 2 nodes with the highest score"
    )
    nowhere = ask(cluster(node("a")), pod("web", cpu="9"))
    assert describe_binding("x/y", "a", nowhere) == "pod x/y is bound to a; the last answer did not place it"
    assert describe_binding("x/y", "a", None) == "pod x/y is bound to a"


def test_a_line_is_what_its_schema_says(ask):
    answer = ask(cluster(node("a")), pod("web", cpu="9"))
    validator = jsonschema.Draft202012Validator(SCHEMAS["WatchLine"]())
    for line in (
        WatchLine(time="2026-11-20T09:00:00Z", event=WatchEvent.ANSWER, pod="x/y", result=answer),
        WatchLine(time="2026-11-20T09:00:00Z", event=WatchEvent.BOUND, pod="x/y", node="a", text="there"),
    ):
        validator.validate(json.loads(msgspec.json.encode(line)))
