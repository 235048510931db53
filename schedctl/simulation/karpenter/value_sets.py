"""Sets of values that labels may have, which pods, NodePools and instance types narrow down together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api.selectors import parse_int64
from schedctl.autoscaling.requirements import current_key, is_well_known

Requirements = Mapping[str, "ValueSet"]
"""What is required of a node, by label."""


class ValueSet(msgspec.Struct, frozen=True):
    """The values that a label may have: those listed, or all but those.

    Attributes:
        values: those listed.
        all_but: whether they are the ones that it may not have.
        least: the least number that it may be, None for none; other texts than numbers are not allowed then.
        most: the largest.
        min_values: how many different values have to stay possible.
    """

    values: frozenset[str] = frozenset()
    all_but: bool = False
    least: int | None = None
    most: int | None = None
    min_values: int | None = None

    @property
    def is_list(self) -> bool:
        """Whether it lists at least one value."""
        return not self.all_but and bool(self.values)

    @property
    def is_met_by_absence(self) -> bool:
        """Whether a node without the label may meet it."""
        return bool(self.values) if self.all_but else not self.values

    @property
    def only(self) -> str | None:
        """The one value that it lists, None where there are more or fewer."""
        return next(iter(self.values)) if not self.all_but and len(self.values) == 1 else None

    def allows(self, value: str) -> bool:
        """Return whether the label may have a value."""
        return (value in self.values) is not self.all_but and self._is_within(value)

    def intersect(self, other: ValueSet) -> ValueSet:
        """Return the values that both allow."""
        least, most = _larger(self.least, other.least), _smaller(self.most, other.most)
        min_values = _larger(self.min_values, other.min_values)
        if least is not None and most is not None and least > most:
            return ValueSet(min_values=min_values)
        if self.all_but and other.all_but:
            found = ValueSet(self.values | other.values, all_but=True, least=least, most=most, min_values=min_values)
            kept = frozenset(value for value in found.values if found._is_within(value))
            return replace(found, values=kept)
        if self.all_but:
            values = other.values - self.values
        elif other.all_but:
            values = self.values - other.values
        else:
            values = self.values & other.values
        bounds = ValueSet(least=least, most=most)
        return ValueSet(frozenset(value for value in values if bounds._is_within(value)), min_values=min_values)

    def overlaps(self, other: ValueSet) -> bool:
        """Return whether there is a value that both allow."""
        least, most = _larger(self.least, other.least), _smaller(self.most, other.most)
        if least is not None and most is not None and least > most:
            return False
        if self.all_but and other.all_but:
            return True
        return bool(self.intersect(other).values)

    def _is_within(self, value: str) -> bool:
        if self.least is None and self.most is None:
            return True
        number = parse_int64(value)
        if number is None:
            return False
        return (self.least is None or number >= self.least) and (self.most is None or number <= self.most)

    def __str__(self) -> str:
        values = ", ".join(sorted(self.values))
        if self.all_but:
            text = f"not in {values}" if values else "exists"
        else:
            text = f"in {values}" if values else "does not exist"
        text += f", at least {self.least}" if self.least is not None else ""
        text += f", at most {self.most}" if self.most is not None else ""
        return text + (f", {self.min_values} different values" if self.min_values is not None else "")


ANY = ValueSet(all_but=True)
"""Any value."""
NONE = ValueSet()
"""No value: the label may not be there."""


def value_set(operator: str, values: Sequence[str] | None, min_values: int | None = None) -> ValueSet:
    """Return the values that an operator allows: none where the operator is unknown, or its bound no number."""
    listed = frozenset(values or ())
    match operator:
        case "In":
            return ValueSet(listed, min_values=min_values)
        case "NotIn":
            return ValueSet(listed, all_but=True, min_values=min_values)
        case "Exists":
            return ValueSet(all_but=True, min_values=min_values)
        case "DoesNotExist":
            return ValueSet(min_values=min_values)
    bound = parse_int64(next(iter(values or ()), ""))
    if bound is None:
        return ValueSet(min_values=min_values)
    match operator:
        case "Gt":
            return ValueSet(all_but=True, least=bound + 1, min_values=min_values)
        case "Gte":
            return ValueSet(all_but=True, least=bound, min_values=min_values)
        case "Lt":
            return ValueSet(all_but=True, most=bound - 1, min_values=min_values)
        case "Lte":
            return ValueSet(all_but=True, most=bound, min_values=min_values)
    return ValueSet(min_values=min_values)


def of_labels(labels: Mapping[str, str] | None) -> dict[str, ValueSet]:
    """Return what labels come to as requirements."""
    return narrow({}, ((key, ValueSet(frozenset((value,)))) for key, value in (labels or {}).items()))


def narrow(requirements: Requirements, others: Iterable[tuple[str, ValueSet]]) -> dict[str, ValueSet]:
    """Return requirements that others narrow further."""
    found = dict(requirements)
    for written, values in others:
        key = current_key(written)
        known = found.get(key)
        found[key] = values if known is None else values.intersect(known)
    return found


def conflict(requirements: Requirements, others: Requirements, *, of_new_node: bool = False) -> str:
    """Return the label about which nodes that meet some requirements cannot meet others; "" for none.

    Args:
        requirements: what is known of a node.
        others: what is asked of it.
        of_new_node: whether labels of instance types may be missing, as the choice of the type brings them.
    """
    for key, values in others.items():
        if key in requirements or values.is_met_by_absence or (of_new_node and is_well_known(key)):
            continue
        return key
    return first_disjoint(requirements, others)


def first_disjoint(requirements: Requirements, others: Requirements) -> str:
    """Return the first label of which no value is allowed by both; "" for none."""
    fewer, more = (requirements, others) if len(requirements) <= len(others) else (others, requirements)
    for key in fewer:
        if key not in more:
            continue
        one, other = requirements[key], others[key]
        if not one.overlaps(other) and not (one.is_met_by_absence and other.is_met_by_absence):
            return key
    return ""


def texts(requirements: Requirements) -> Iterator[str]:
    """Yield requirements in words, by label."""
    for key, values in sorted(requirements.items()):
        yield f"{key} {values}"


def _larger(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _smaller(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)
