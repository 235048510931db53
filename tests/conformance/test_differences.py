"""Differences are named by what an implementation gets wrong."""

import pytest

from schedctl.conformance.differences import differences

REFUSED = {"code": "Unschedulable", "plugin": "NodePorts", "reasons": ["busy"]}
FINE = {"code": "Success"}


def answer(**cycle):
    return {"id": "c", "cycles": [{"pod": "default/p", "profile": "d", "preFilter": FINE, **cycle}], "seconds": 0.1}


@pytest.mark.parametrize(
    ("theirs", "ours", "kinds"),
    [
        pytest.param(
            {"nodes": {"a": FINE}}, {"nodes": {"a": REFUSED}}, ["over-filtering"], id="we refuse, they do not"
        ),
        pytest.param(
            {"nodes": {"a": REFUSED}}, {"nodes": {"a": FINE}}, ["under-filtering"], id="they refuse, we do not"
        ),
        pytest.param(
            {"nodes": {"a": REFUSED}},
            {"nodes": {"a": {**REFUSED, "reasons": ["full"]}}},
            ["wrong reason"],
            id="both refuse, in other words",
        ),
        pytest.param(
            {"matrix": {"P": {"a": REFUSED}}}, {}, ["under-filtering"], id="a refusal missing from the matrix"
        ),
        pytest.param({"totals": {"a": 3}}, {"totals": {"a": 4}}, ["wrong score"], id="another total"),
        pytest.param({"ties": ["a"]}, {"ties": ["a", "b"]}, ["wrong tie"], id="another tie set"),
        pytest.param({"message": "x"}, {"message": "y"}, ["wrong message"], id="another line"),
        pytest.param({"error": "x"}, {}, ["wrong error"], id="a fault we do not see"),
        pytest.param({"postFilter": 1}, {}, ["wrong postFilter"], id="another PostFilter"),
        pytest.param({"chosen": "a"}, {"chosen": "b"}, [], id="which of the tied nodes is taken is left to chance"),
        pytest.param({}, {"pod": "default/q"}, ["wrong cycles"], id="another pod"),
    ],
)
def test_a_difference_has_a_kind(theirs, ours, kinds):
    assert [d.kind for d in differences(answer(**theirs), answer(**ours))] == kinds


def test_the_time_taken_is_not_compared():
    assert not list(differences(answer() | {"seconds": 1}, answer() | {"seconds": 2}))
