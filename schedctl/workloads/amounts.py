"""Amounts that are added up and shown as the API server shows them, for quotas, LimitRanges and pod-level resources.

``api.resources`` adds up for the scheduler, which counts in int64 and shows no sums.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from schedctl.api import quantities
from schedctl.api.meta import Quantity
from schedctl.api.pods import Container, PodSpec, ResourceList

Side = Literal["requests", "limits"]


class FormattedAmount(NamedTuple):
    """An amount, and the form in which it is written.

    A sum is written in the form of its first part that is not 0: ``1Gi`` and ``1024M`` are ``2047000Ki`` in all,
    ``1024M`` and ``1Gi`` are ``2097741824``.
    """

    amount: quantities.Amount
    form: quantities.Form = "DecimalSI"

    @property
    def is_zero(self) -> bool:
        """Whether it is nothing."""
        return not self.amount.unscaled

    def plus(self, other: FormattedAmount) -> FormattedAmount:
        """Return the sum."""
        return FormattedAmount(self.amount.plus(other.amount), other.form if self.is_zero else self.form)

    def minus(self, other: FormattedAmount) -> FormattedAmount:
        """Return the difference."""
        return FormattedAmount(self.amount.minus(other.amount), other.form if self.is_zero else self.form)

    def more_than(self, other: FormattedAmount) -> bool:
        """Return whether it is more."""
        return self.amount.compare(other.amount) > 0

    def __str__(self) -> str:
        return quantities.canonical(self.amount, self.form)


AmountList = dict[str, FormattedAmount]
"""Resource name to amount."""
ZERO, ONE = FormattedAmount(quantities.Amount(0, 0)), FormattedAmount(quantities.Amount(1, 0))


def amount_of(quantity: Quantity) -> FormattedAmount:
    """Return a quantity as it is stored."""
    return FormattedAmount(quantities.stored_amount(quantity), quantities.form_of(quantity))


def amounts_of(resources: ResourceList | None) -> AmountList:
    """Return the amounts of a resource list."""
    return {name: amount_of(quantity) for name, quantity in (resources or {}).items()}


def container_totals(spec: PodSpec, side: Side) -> AmountList:
    """Return what the containers of a pod ask for, or may use at most, at the same time; overhead does not count."""
    total: AmountList = {}
    for container in spec.containers or ():
        _add(total, _of(container, side))
    sidecars: AmountList = {}
    starting: AmountList = {}
    for container in spec.init_containers or ():
        needed = _of(container, side)
        # A sidecar runs on beside all that start after it and beside the containers; others run with the sidecars
        # before them, and are done when the containers start (KEP-753).
        if container.restart_policy == "Always":
            _add(total, needed)
            _add(sidecars, needed)
            needed = sidecars
        else:
            _add(needed, sidecars)
        _raise(starting, needed)
    _raise(total, starting)
    return total


def _of(container: Container, side: Side) -> AmountList:
    resources = container.resources
    if resources is None:
        return {}
    return amounts_of(resources.requests if side == "requests" else resources.limits)


def _add(total: AmountList, more: AmountList) -> None:
    for name, amount in more.items():
        total[name] = total[name].plus(amount) if name in total else amount


def _raise(total: AmountList, other: AmountList) -> None:
    for name, amount in other.items():
        if name not in total or amount.more_than(total[name]):
            total[name] = amount
