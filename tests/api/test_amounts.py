"""Amounts for reading and for typing."""

import pytest

from schedctl.api.amounts import amount, quantity
from schedctl.api.quantities import parse

GI = 1 << 30


@pytest.mark.parametrize(
    ("resource", "value", "text"),
    [
        ("cpu", 1850, "1850m"),
        ("cpu", 2000, "2"),
        ("cpu", 0, "0"),
        ("cpu", -500, "-500m"),
        ("memory", 1638 << 20, "1.6Gi"),
        ("memory", GI, "1Gi"),
        ("memory", -GI, "-1Gi"),
        ("memory", 1023, "1023"),
        ("ephemeral-storage", 3 << 40, "3Ti"),
        ("hugepages-2Mi", 128 << 20, "128Mi"),
        ("nvidia.com/gpu", 1500, "1500"),
        ("pods", 110, "110"),
    ],
)
def test_amounts_are_humanised(resource, value, text):
    assert amount(resource, value) == text


@pytest.mark.parametrize("value", [1, 1023, 1024, 1 << 20, (1 << 20) + 1, 1717986918, GI, 5 * GI + 7])
def test_a_quantity_is_never_more_than_there_is_and_hardly_less(value):
    typed = parse(quantity("memory", value)).value
    assert typed <= value
    assert value - typed < (1 << 20)
