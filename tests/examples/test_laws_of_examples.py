"""The examples keep the laws in clusters in which what they look at occurs; in drawn ones next to nothing does."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from schedctl.framework.points import ReservePlugin
from schedctl.scheduler import discovery
from schedctl.testing import cluster, node, pod
from schedctl.testing.law_tests import try_laws
from tests.examples.conftest import PLUGINS

SLOTS, WANTED, USED = (f"fpga.example.com/{name}" for name in ("slots", "slots-wanted", "slots-used"))
LICENCE, SEAT = "license.example.com/name", "license.example.com/seat"
LICENCES = {"licenses": {"solver": ["s-1", "s-2"]}}


def with_annotations(obj, **annotations):
    """A node with annotations."""
    return replace(obj, metadata=replace(obj.metadata, annotations=annotations))


def annotated(name, on=None, labels=None, **annotations):
    """A pod with annotations."""
    return pod(name, on=on, labels=labels, metadata={"annotations": annotations})


FPGAS = cluster(
    with_annotations(node("a"), **{SLOTS: "0,1,2"}),
    with_annotations(node("b"), **{SLOTS: "0"}),
    node("c"),
    annotated("holds", on="a", **{WANTED: "1", USED: "0"}),
    annotated("one", **{WANTED: "1"}),
    annotated("two", **{WANTED: "2"}),
    annotated("none"),
    annotated("odd", **{WANTED: "many"}),
)
SEATS = cluster(
    node("a"), node("b"),
    annotated("holds", on="a", **{LICENCE: "solver", SEAT: "s-1"}),
    annotated("asks", **{LICENCE: "solver"}),
    annotated("unknown", **{LICENCE: "other"}),
    annotated("none"),
)  # fmt: skip
PRICES = cluster(
    node("cheap", labels={"power.example.com/price": "0.1"}),
    node("dear", labels={"power.example.com/price": "0.9"}),
    node("silent"),
    pod("p"),
)
ORDER = cluster(
    node("a"), node("b"), annotated("db", on="a", labels={"app": "db"}),
    annotated("web", **{"order.example.com/after": "db"}), annotated("early", **{"order.example.com/after": "cache"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("file", "args", "own"),
    [
        pytest.param("fpga_slots", None, FPGAS, id="FpgaSlots"),
        pytest.param("license_seats", LICENCES, SEATS, id="LicenseSeats"),
        pytest.param("power_price", None, PRICES, id="PowerPrice"),
        pytest.param("start_after", None, ORDER, id="StartAfter"),
        pytest.param("team_fence", None, cluster(), id="TeamFence"),
    ],
)
def test_example_keeps_the_laws_where_something_happens(file, args, own):
    found = discovery.find([str(PLUGINS / f"{file}.py")])
    plugin = found.registry[found.named[0]]
    results = try_laws(plugin, args, seeds=range(20), clusters={"own": own})
    assert [result for result in results.values() if result.violation] == []
    assert [str(result) for result in results.values() if result.untried and not result.exempt] == []
    assert (str(results["reserve"]) == "holds") == issubclass(plugin, ReservePlugin)
