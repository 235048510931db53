"""Amounts that are added up and shown as the API server shows them.

``api.resources`` adds up for the scheduler, which counts in int64 and shows no sums. Refusals show theirs, and a sum is
written in the form of its first part that is not 0: ``1Gi`` and ``1024M`` are ``2047000Ki`` in all, ``1024M`` and
``1Gi`` are ``2097741824``. So an amount keeps its form here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from schedctl.api.meta import Quantity
from schedctl.api.pods import Container, PodSpec, ResourceList
from schedctl.api.quantities import Amount, Form, canonical, form_of, stored_amount

Side = Literal["requests", "limits"]


class Written(NamedTuple):
    """An amount, and the form in which it is written."""

    amount: Amount
    form: Form = "DecimalSI"

    @property
    def is_zero(self) -> bool:
        """Whether it is nothing."""
        return not self.amount.unscaled

    def plus(self, other: Written) -> Written:
        """Return the sum."""
        return Written(self.amount.plus(other.amount), other.form if self.is_zero else self.form)

    def minus(self, other: Written) -> Written:
        """Return the difference."""
        return Written(self.amount.minus(other.amount), other.form if self.is_zero else self.form)

    def more_than(self, other: Written) -> bool:
        """Return whether it is more."""
        return self.amount.compare(other.amount) > 0

    def __str__(self) -> str:
        return canonical(self.amount, self.form)


WrittenList = dict[str, Written]
"""Resource name to amount."""
ZERO, ONE = Written(Amount(0, 0)), Written(Amount(1, 0))


def amount_of(quantity: Quantity) -> Written:
    """Return a quantity as it is stored."""
    return Written(stored_amount(quantity), form_of(quantity))


def amounts_of(resources: ResourceList | None) -> WrittenList:
    """Return the amounts of a resource list."""
    return {name: amount_of(quantity) for name, quantity in (resources or {}).items()}


def container_totals(spec: PodSpec, side: Side) -> WrittenList:
    """Return what the containers of a pod ask for, or may use at most, at the same time; overhead does not count."""
    total: WrittenList = {}
    for container in spec.containers or ():
        _add(total, _of(container, side))
    sidecars: WrittenList = {}
    starting: WrittenList = {}
    for container in spec.init_containers or ():
        own = _of(container, side)
        if container.restart_policy == "Always":
            _add(total, own)
            _add(sidecars, own)
            own = sidecars
        else:
            own = dict(own)
            _add(own, sidecars)
        _raise(starting, own)
    _raise(total, starting)
    return total


def _of(container: Container, side: Side) -> WrittenList:
    resources = container.resources
    if resources is None:
        return {}
    return amounts_of(resources.requests if side == "requests" else resources.limits)


def _add(total: WrittenList, more: WrittenList) -> None:
    for name, amount in more.items():
        total[name] = total[name].plus(amount) if name in total else amount


def _raise(total: WrittenList, other: WrittenList) -> None:
    for name, amount in other.items():
        if name not in total or amount.more_than(total[name]):
            total[name] = amount
