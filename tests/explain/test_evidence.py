"""Evidence of any type becomes what JSON knows."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

from schedctl.api.nodes import Taint
from schedctl.cache.pod_info import HostPort
from schedctl.explain.evidence import plain
from schedctl.framework import wording
from schedctl.testing.builders import pod


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Cause:
    topology_key: str
    pods: frozenset[str]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.array([1, 2]), [1, 2]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (("a", None, True), ["a", None, True]),
        (HostPort("0.0.0.0", "TCP", 80), {"ip": "0.0.0.0", "protocol": "TCP", "port": 80}),
        (Taint(key="k", effect="NoSchedule"), {"key": "k", "effect": "NoSchedule"}),
        (Cause("zone", frozenset({"b", "a"})), {"topologyKey": "zone", "pods": ["a", "b"]}),
        ({1: np.float64(0.5)}, {"1": 0.5}),
        (pod("web", namespace="shop"), "shop/web"),
        (Colour.RED, "red"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ({"key": "disk", "operator": "In", "values": ["ssd"]}, "disk=ssd"),
        ({"key": "disk", "operator": "In", "values": ["hdd", "ssd"]}, "disk in (hdd,ssd)"),
        ({"key": "disk", "operator": "NotIn", "values": ["hdd"]}, "disk!=hdd"),
        ({"key": "disk", "operator": "NotIn", "values": ["hdd", "ssd"]}, "disk notin (hdd,ssd)"),
        ({"key": "disk", "operator": "Exists"}, "disk"),
        ({"key": "disk", "operator": "DoesNotExist"}, "!disk"),
        ({"key": "cores", "operator": "Gt", "values": ["8"]}, "cores>8"),
        ({"field": "metadata.name", "value": "a", "equal": True}, "metadata.name=a"),
        ({"field": "metadata.name", "value": "a", "equal": False}, "metadata.name!=a"),
    ],
)
def test_requirements_are_written_as_kubectl_writes_selectors(written, text):
    assert wording.requirement(written) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (["a", "b", "c", "d", "e"], "a, b, c and 2 more")],
)
def test_a_few_names(names, text):
    assert wording.few(names) == text
