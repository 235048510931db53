"""How much of a device's capacity a request takes (KEP-5075): rounding, policies, and what cannot be taken at all.

All of this holds for devices that are not shared, too. `eligibility` asks for the portions, `search` adds them up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from schedctl.api import quantities
from schedctl.api.devices import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from schedctl.api.meta import Quantity
from schedctl.api.quantities import MAX_INT64, MILLI, Amount, parse
from schedctl.devices.features import DeviceFeatures

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
    requested: Mapping[str, Quantity] | None,
    offered: Mapping[str, DeviceCapacity] | None,
    features: DeviceFeatures,
) -> tuple[Portion, ...] | Misfit:
    """Return what a request takes of each capacity of a device, in order of name.

    Args:
        requested: the amounts asked for.
        offered: what the device has.
        features: whether amounts are rounded in thousandths where a range is in thousandths, and whether those that
            leave int64 are errors.

    Raises:
        CapacityError: an amount leaves int64 on the way, or is negative. Of several the first by name is told, where
            kube-scheduler tells any.
    """
    requests, capacities = requested or {}, offered or {}
    for name in requests:
        if name not in capacities:
            return Misfit(name, missing=True)
    # All are worked out before any is judged: an error of one capacity counts, even where another is a misfit.
    taken = {name: _take(name, requests.get(name), capacities[name], features) for name in sorted(capacities)}
    for name, each in taken.items():
        if _violates(each, capacities[name].request_policy, features):
            return Misfit(name, missing=False)
    return tuple(
        Portion(name, each.amount.nano_units, parse(capacities[name].value).nano_units, each.text)
        for name, each in taken.items()
    )


def _take(name: str, requested: Quantity | None, capacity: DeviceCapacity, features: DeviceFeatures) -> _Taken:
    try:
        taken = _round_up(requested, capacity, features)
    except CapacityError as error:
        raise CapacityError(f'capacity "{name}": {error}') from None
    if features.capacity_errors and taken.amount.unscaled < 0:
        raise CapacityError(f'capacity "{name}": capacity value is negative')
    return taken


def _round_up(requested: Quantity | None, capacity: DeviceCapacity, features: DeviceFeatures) -> _Taken:
    """Return what a request for an amount takes; without one that is the default, or all there is."""
    policy = capacity.request_policy
    if requested is None:
        return _amount_written(policy.default if policy is not None and policy.default is not None else capacity.value)
    if policy is None:
        return _amount_written(requested)
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _in_range(requested, policy.valid_range, policy.valid_range.min, features)
    for value in policy.valid_values or ():
        if parse(requested).compare(parse(value)) <= 0:
            return _amount_written(value)
    return _amount_written(requested)


def _in_range(
    requested: Quantity, limits: CapacityRequestPolicyRange, minimum: Quantity, features: DeviceFeatures
) -> _Taken:
    """Round up to the next step from the minimum."""
    amount = parse(requested)
    if amount.compare(parse(minimum)) < 0:
        return _amount_written(minimum)
    if limits.step is None:
        return _amount_written(requested)
    if features.fractions and _in_thousandths(limits):
        return _in_milli_range(requested, limits.step, minimum)
    if features.capacity_errors and amount.compare(_MAX) > 0:
        raise CapacityError(f"{_NOT_REPRESENTABLE}: request {_canonical_text(requested)} exceeds MaxInt64")
    # in whole units, fractions of a minimum or step rounded up
    start, step = parse(minimum).value, _step(limits.step)
    steps = _steps(amount.value, start, step)
    count = steps[0] + (steps[1] != 0)
    if features.capacity_errors and start >= 0 and count > (MAX_INT64 - start) // step:
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: rounding request {_canonical_text(requested)} up to the next step passes MaxInt64"
        )
    # A negative start is not checked for overflow, so the sum wraps around as int64 does in Go.
    rounded = Amount(quantities.wrap_int64(start + step * count), 0)
    form = quantities.form_of(limits.step) if features.capacity_errors else "BinarySI"
    return _Taken(rounded, quantities.canonical(rounded, form), (rounded.unscaled, 0, form, ""))


def _in_milli_range(requested: Quantity, step: Quantity, minimum: Quantity) -> _Taken:
    """Round up to the next step from the minimum, in thousandths."""
    amount = _thousandths(parse(requested))
    if amount is None:
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: request {_canonical_text(requested)} is not a representable milli value"
        )
    start, width, form = parse(minimum).milli_value, parse(step).milli_value, quantities.form_of(step)
    steps = _steps(amount, start, width)
    count = steps[0] + (steps[1] != 0)
    if count > _steps(MAX_INT64, start, width)[0]:
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: rounding request {_canonical_text(requested)} up to the next step passes the"
            " milli-value range"
        )
    milli = start + width * count
    rounded = Amount(milli, MILLI) if milli % 1000 else Amount(milli // 1000, 0)
    return _Taken(rounded, quantities.canonical(rounded, form), (rounded.unscaled, rounded.exponent, form, ""))


def _in_thousandths(limits: CapacityRequestPolicyRange) -> bool:
    """Return whether all of a range can be told in thousandths, and its step is one at least."""
    bounds = [each for each in (limits.min, limits.max, limits.step) if each is not None]
    return all(_thousandths(parse(each)) is not None for each in bounds) and (
        limits.step is None or parse(limits.step).milli_value >= 1
    )


def _thousandths(amount: Amount) -> int | None:
    """Return an amount in thousandths, None if they cannot tell it."""
    milli = amount.milli_value
    return None if amount.compare(Amount(milli, MILLI)) else milli


def _violates(taken: _Taken, policy: CapacityRequestPolicy | None, features: DeviceFeatures) -> bool:
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
    if features.fractions and _in_thousandths(limits):
        milli = _thousandths(taken.amount)
        start = parse(limits.min).milli_value if limits.min is not None else 0
        return milli is None or _steps(milli, start, parse(limits.step).milli_value)[1] != 0
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
