"""What differs between two configurations in effect."""

from __future__ import annotations

import copy

import pytest

from schedctl.config.differences import Difference, differences

PROFILE = {
    "schedulerName": "default-scheduler",
    "plugins": {
        "filter": {"enabled": [{"name": "A"}, {"name": "B"}, {"name": "C"}]},
        "score": {"enabled": [{"name": "A", "weight": 1}, {"name": "B", "weight": 2}]},
        "multiPoint": {"disabled": [{"name": "*"}]},
    },
    "pluginConfig": [{"name": "A", "args": {"x": 1, "deep": {"y": [1, 2], "z": "w"}}}],
}
WHOLE = {"percentageOfNodesToScore": 0, "parallelism": 16, "extenders": {}, "profiles": [PROFILE]}
NAME = "default-scheduler"


def changed(*steps, **fields):
    """The configuration with fields changed at a place."""
    whole = copy.deepcopy(WHOLE)
    at = whole
    for step in steps:
        at = at[step]
    at.update(fields)
    return whole


FIRST = ("profiles", 0)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(WHOLE, [], id="nothing"),
        pytest.param(
            changed(*FIRST, "plugins", "filter", enabled=[{"name": "A"}, {"name": "C"}, {"name": "D"}]),
            [
                Difference(NAME, ("plugins", "filter", "B"), True, None),
                Difference(NAME, ("plugins", "filter", "D"), None, True),
            ],
            id="a plugin goes and another comes, which leaves the order of the rest",
        ),
        pytest.param(
            changed(*FIRST, "plugins", "filter", enabled=[{"name": "B"}, {"name": "A"}, {"name": "C"}]),
            [Difference(NAME, ("plugins", "filter", "order"), ["A", "B", "C"], ["B", "A", "C"])],
            id="the order",
        ),
        pytest.param(
            changed(*FIRST, "plugins", "score", enabled=[{"name": "B", "weight": 3}, {"name": "A", "weight": 1}]),
            [Difference(NAME, ("plugins", "score", "B"), 2, 3)],
            id="a weight, the order of scores being none",
        ),
        pytest.param(
            changed(*FIRST, "pluginConfig", 0, "args", "deep", y=[1]),
            [Difference(NAME, ("pluginConfig", "A", "deep", "y"), [1, 2], [1])],
            id="an argument, by its innermost field",
        ),
        pytest.param(
            changed(percentageOfNodesToScore=50),
            [Difference(NAME, ("percentageOfNodesToScore",), 0, 50)],
            id="how many nodes are scored, where the profile does not say",
        ),
        pytest.param(changed(*FIRST, percentageOfNodesToScore=0), [], id="the same written elsewhere"),
        pytest.param(
            changed(*FIRST, schedulerName="mine"),
            [Difference(NAME, ("schedulerName",), NAME, "mine")],
            id="the name of the only profile",
        ),
        pytest.param(changed(parallelism=4), [Difference("", ("parallelism",), 16, 4)], id="beside the profiles"),
        pytest.param(
            changed(extenders={"http://x": {"weight": 1}}),
            [Difference("", ("extenders", "http://x"), None, {"weight": 1})],
            id="an extender",
        ),
    ],
)
def test_a_difference_is_a_field_with_the_value_of_either_side(other, expected):
    assert differences(WHOLE, other) == expected


def test_profiles_of_one_name_belong_together_whatever_their_order():
    second = {**PROFILE, "schedulerName": "second"}
    one = {**WHOLE, "profiles": [PROFILE, second]}
    assert differences(one, {**WHOLE, "profiles": [second, PROFILE]}) == []
    assert differences(one, WHOLE) == [Difference("second", (), "second", None)]
