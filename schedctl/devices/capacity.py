"""How much of a device's capacity a request takes (KEP-5075): rounding, policies, and what cannot be taken at all.

All of this holds for devices that are not shared, too. `eligibility` asks for the portions, `search` adds them up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schedctl.api import quantities
from schedctl.api.devices import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from schedctl.api.meta import Quantity
from schedctl.api.quantities import MAX_INT64, Amount, parse

_NOT_REPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"
_MAX = Amount(MAX_INT64, 0)


class CapacityError(Exception):
    """A request that cannot be worked out for a device, which ends the cycle; the text is kube-scheduler's."""


class Portion(NamedTuple):
    """What a request takes of one capacity, and what the device has, both in nano-units.

    Attributes:
        name: of the capacity, as the device writes it.
        taken: what is taken.
        available: what the device has.
        quantity: what is taken, as text.
    """

    name: str
    taken: int
    available: int
    quantity: Quantity


class Misfit(NamedTuple):
    """Why a device cannot give what is asked, whatever of it is in use.

    Attributes:
        name: of the capacity.
        missing: the device has no such capacity; otherwise its policy forbids the amount.
    """

    name: str
    missing: bool


class _Taken(NamedTuple):
    """An amount on its way, with what Go would keep of how it was written."""

    amount: Amount
    text: Quantity
    representation: object


def portions(
    requested: Mapping[str, Quantity] | None, offered: Mapping[str, DeviceCapacity] | None
) -> tuple[Portion, ...] | Misfit:
    """Return what a request takes of each capacity of a device, in order of name.

    Args:
        requested: the amounts asked for.
        offered: what the device has.

    Raises:
        CapacityError: an amount leaves int64 on the way, or is negative. Of several the first by name is told, where
            kube-scheduler tells any.
    """
    requests, capacities = requested or {}, offered or {}
    for name in requests:
        if name not in capacities:
            return Misfit(name, missing=True)
    # All are worked out before any is judged: an error of one capacity counts, even where another is a misfit.
    taken = {name: _take(name, requests.get(name), capacities[name]) for name in sorted(capacities)}
    for name, each in taken.items():
        if _violates(each, capacities[name].request_policy):
            return Misfit(name, missing=False)
    return tuple(
        Portion(name, each.amount.nano_units, parse(capacities[name].value).nano_units, each.text)
        for name, each in taken.items()
    )


def _take(name: str, requested: Quantity | None, capacity: DeviceCapacity) -> _Taken:
    try:
        taken = _round_up(requested, capacity)
    except CapacityError as error:
        raise CapacityError(f'capacity "{name}": {error}') from None
    if taken.amount.unscaled < 0:
        raise CapacityError(f'capacity "{name}": capacity value is negative')
    return taken


def _round_up(requested: Quantity | None, capacity: DeviceCapacity) -> _Taken:
    """Return what a request for an amount takes; without one that is the default, or all there is."""
    policy = capacity.request_policy
    if requested is None:
        return _amount_written(policy.default if policy is not None and policy.default is not None else capacity.value)
    if policy is None:
        return _amount_written(requested)
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _in_range(requested, policy.valid_range, policy.valid_range.min)
    for value in policy.valid_values or ():
        if parse(requested).compare(parse(value)) <= 0:
            return _amount_written(value)
    return _amount_written(requested)


def _in_range(requested: Quantity, limits: CapacityRequestPolicyRange, minimum: Quantity) -> _Taken:
    """Round up to the next step from the minimum."""
    amount = parse(requested)
    if amount.compare(parse(minimum)) < 0:
        return _amount_written(minimum)
    if limits.step is None:
        return _amount_written(requested)
    if amount.compare(_MAX) > 0:
        raise CapacityError(f"{_NOT_REPRESENTABLE}: request {_canonical_text(requested)} exceeds MaxInt64")
    # In whole units, fractions of a minimum or step rounded up: kube-scheduler 1.37 runs at a compatibility version
    # without DRAFractionalCapacityRange.
    start, step = parse(minimum).value, _step(limits.step)
    steps = _steps(amount.value, start, step)
    count = steps[0] + (steps[1] != 0)
    if start >= 0 and count > (MAX_INT64 - start) // step:
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: rounding request {_canonical_text(requested)} up to the next step passes MaxInt64"
        )
    # A negative start is not checked for overflow, so the sum wraps around as int64 does in Go.
    rounded, form = Amount(quantities.wrap_int64(start + step * count), 0), quantities.form_of(limits.step)
    return _Taken(rounded, quantities.canonical(rounded, form), (rounded.unscaled, 0, form, ""))


def _violates(taken: _Taken, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None:
        return False
    if policy.default is not None:
        # Only as written: kube-scheduler compares the structs, so 1000m is not the default 1.
        default = quantities.representation(policy.default)
        if default is not None and default == taken.representation:
            return False
    limits = policy.valid_range
    if limits is None:
        values = policy.valid_values or ()
        return bool(values) and all(taken.amount.compare(parse(value)) for value in values)
    if limits.max is not None and taken.amount.compare(parse(limits.max)) > 0:
        return True
    if limits.step is None:
        return False
    start = parse(limits.min).value if limits.min is not None else 0
    return _steps(taken.amount.value, start, _step(limits.step))[1] != 0


def _steps(value: int, start: int, step: int) -> tuple[int, int]:
    """Quotient and remainder of the way from start to value, as Go divides int64."""
    distance = quantities.wrap_int64(value - start)
    quotient = abs(distance) // abs(step)  # Go truncates towards 0, Python's // towards minus infinity
    if (distance < 0) != (step < 0):
        quotient = -quotient
    return quotient, distance - quotient * step


def _step(step: Quantity) -> int:
    """A step in whole units.

    Raises:
        CapacityError: it is 0, by which kube-scheduler would divide and crash.
    """
    value = parse(step).value
    if value == 0:
        raise CapacityError("the step of the request policy is 0, on which kube-scheduler crashes")
    return value


def _amount_written(quantity: Quantity) -> _Taken:
    return _Taken(parse(quantity), quantity, quantities.representation(quantity))


def _canonical_text(quantity: Quantity) -> str:
    # Go prints the text that it kept of a quantity, if any, and makes the canonical one only where it did not.
    kept = quantities.representation(quantity)
    text = kept[3] if isinstance(kept, tuple) else ""
    return text or quantities.canonical(parse(quantity), quantities.form_of(quantity))
