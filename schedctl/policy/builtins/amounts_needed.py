"""How much of a resource ``headroom`` needs, and how what is free compares with it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from schedctl.api.amounts import on_one_scale
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU
from schedctl.policy.documents import Headroom
from schedctl.simulation.utilisation import share


def compare_with_need(arguments: Headroom, free: int, total: int) -> tuple[str, float]:
    """Return in words what is free of a total and what has to be, and the latter as a number."""
    resource = arguments.resource
    if arguments.percent is not None:
        scaled = on_one_scale(resource, (free, total))
        left = f"{scaled(free)} of {scaled(total)}"
        message = f"{share(free, total):g} % of {resource} free, needs {arguments.percent:g} % ({left})"
        return message, arguments.percent * total / 100
    needed = in_units(resource, arguments.absolute)
    scaled = on_one_scale(resource, (free, needed))
    return f"{scaled(free)} of {resource} free, needs {scaled(needed)}", needed


def percent_missing(resource: str, free: int, needed: float) -> Mapping[str, int]:
    """Return what is violated where less is free than needed.

    It is in percent, and rounded: amounts change with every pod of a cluster.
    """
    short = 100 - math.floor(share(free, math.ceil(needed))) if needed else 100
    return {f"{resource}, percent missing": short}


def in_units(resource: str, quantity: str) -> int:
    """Return a quantity in millicores of cpu, in whole units of others."""
    exact = parse(quantity)
    return exact.milli_value if resource == CPU else exact.value
