"""Differences are named by what an implementation gets wrong."""

import pytest

from schedctl.conformance.differences import differences, not_modelled

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
        pytest.param({"error": "x"}, {"error": "y"}, ["wrong error"], id="the same fault in other words"),
        pytest.param({"postFilter": 1}, {}, ["wrong postFilter"], id="another PostFilter"),
        pytest.param({"chosen": "a"}, {"chosen": "b"}, [], id="which of the tied nodes is taken is left to chance"),
        pytest.param({}, {"pod": "default/q"}, ["wrong cycles"], id="another pod"),
    ],
)
def test_a_difference_has_a_kind(theirs, ours, kinds):
    assert [d.kind for d in differences(answer(**theirs), answer(**ours))] == kinds


def test_seconds_are_not_compared():
    assert not list(differences(answer() | {"seconds": 1}, answer() | {"seconds": 2}))


def of_pods(*cycles):
    return {"id": "c", "cycles": [{"pod": pod, **more} for pod, more in cycles]}


OPEN = {"notModelled": "disks are not modelled yet"}


@pytest.mark.parametrize(
    ("theirs", "ours", "kinds"),
    [
        pytest.param(of_pods(("p", {"message": "x"})), of_pods(("p", OPEN)), [], id="an open cycle is no difference"),
        pytest.param(
            of_pods(("p", {}), ("q", {"message": "x"})),
            of_pods(("p", OPEN), ("q", {"message": "y"})),
            ["wrong message"],
            id="the pods beside an open cycle are compared",
        ),
        pytest.param(
            of_pods(("p", {}), ("p", {}), ("q", {})),
            of_pods(("p", OPEN), ("q", {})),
            [],
            id="an open cycle stands for both cycles of a pod that preempts",
        ),
        pytest.param(
            of_pods(("p", {}), ("q", {})),
            of_pods(("p", OPEN)),
            ["wrong cycles"],
            id="a pod left out beside an open cycle",
        ),
        pytest.param(
            {"id": "c", "error": "x", "cycles": None}, of_pods(("p", OPEN)), [], id="their fault, open for us"
        ),
        pytest.param(
            of_pods(("p", {})),
            {"id": "c", "error": "x", "cycles": None},
            ["wrong error"],
            id="a case only we cannot run",
        ),
    ],
)
def test_cycles_not_modelled_are_not_compared(theirs, ours, kinds):
    assert [d.kind for d in differences(theirs, ours)] == kinds


def test_cycles_not_modelled_are_counted_apart():
    assert not_modelled(of_pods(("p", OPEN), ("q", {}), ("r", OPEN))) == [OPEN["notModelled"]] * 2
