"""Label selectors, with the exact meaning of absent keys, empty lists and numbers.

A selector is compiled once into requirements (`LabelQuery`) that can be asked of a label map here, or of a whole
column of labels by ``cache``. What apimachinery would not parse is a `SelectorError` in its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from schedctl.api import field_errors
from schedctl.api.meta import LabelSelector
from schedctl.api.quantities import MAX_INT64

_INTEGER = re.compile(r"([+-]?)0*([0-9]+)")
_MOST_DIGITS = 19
"""Decimal digits of the largest int64."""


class SelectorError(ValueError):
    """A selector that cannot be parsed; its text is what kube-scheduler prints.

    Attributes:
        problems: every single thing wrong with it.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(field_errors.aggregate(self.problems))


def parse_int64(text: str) -> int | None:
    """Return the integer a label holds as Go's ``strconv.ParseInt`` reads it, None when it is not one."""
    match = _INTEGER.fullmatch(text)
    if match is None or len(match[2]) > _MOST_DIGITS:  # also because int() refuses very long digits
        return None
    value = int(match[1] + match[2])
    return value if -MAX_INT64 - 1 <= value <= MAX_INT64 else None


class Requirement(NamedTuple):
    """One condition on one label key (``labels.Requirement``); NotIn and DoesNotExist hold for an absent key.

    Attributes:
        key: the label.
        operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
        values: for In and NotIn the set; for Gt and Lt the single bound as text.
    """

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether a label map meets the requirement."""
        value = labels.get(self.key)
        if self.operator == "In":
            return value is not None and value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        return value is not None and self.compares(value)

    def compares(self, value: str) -> bool:
        """Return whether a value is beyond the bound of Gt or Lt; text that is no integer never is."""
        mine = parse_int64(value)
        bound = parse_int64(next(iter(self.values), ""))
        if mine is None or bound is None:
            return False
        return mine > bound if self.operator == "Gt" else mine < bound


class LabelQuery(NamedTuple):
    """A compiled label selector: all requirements must hold; none at all selects everything.

    `nothing` marks the selector that was absent: it selects no object.
    """

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Return whether an object with these labels is selected."""
        if self.nothing:
            return False
        known = labels or {}
        met = [requirement.matches(known) for requirement in self.requirements]  # no generator: most have only one
        return all(met)

    @property
    def everything(self) -> bool:
        """Whether it selects every object."""
        return not self.nothing and not self.requirements

    def also(self, *requirements: Requirement) -> LabelQuery:
        """Return the selector with further requirements; nothing stays nothing."""
        return LabelQuery(self.requirements + requirements, self.nothing)


NOTHING = LabelQuery(nothing=True)
EVERYTHING = LabelQuery()


Fault = tuple[str, str | Sequence[str] | None, str]
"""What is wrong with a requirement: the field, its value, and the objection."""


def requirement_faults(key: str, operator: str, values: Sequence[str] | None) -> Iterator[Fault]:
    """Yield what ``labels.NewRequirement`` objects to; fields are named from the requirement on.

    Args:
        key: the label.
        operator: one of the six.
        values: as written; None where the field is absent.
    """
    if wrong := field_errors.label_key_problems(key):
        yield "key", key, "; ".join(wrong)
    if operator in ("In", "NotIn") and not values:
        yield "values", values, "for 'in', 'notin' operators, values set can't be empty"
    elif operator in ("Exists", "DoesNotExist") and values:
        yield "values", values, "values set must be empty for exists and does not exist"
    elif operator in ("Gt", "Lt"):
        if len(values or ()) != 1:
            yield "values", values, "for 'Gt', 'Lt' operators, exactly one value is required"
        for index, value in enumerate(values or ()):
            if parse_int64(value) is None:
                yield f"values[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer"
    for index, value in enumerate(values or ()):
        if wrong := field_errors.label_value_problems(value):
            yield f"values[{index}][{key}]", value, "; ".join(wrong)


def requirement(key: str, operator: str, values: Sequence[str] | None, path: str = "") -> Requirement:
    """Return a checked requirement; `path` is the field it was written in, for the error.

    Raises:
        SelectorError: the key or a value is no label key or value, or the values do not go with the operator.
    """
    parent = f"{path}." if path else ""
    problems = [
        field_errors.invalid(f"{parent}{field}", value, detail)
        for field, value, detail in requirement_faults(key, operator, values)
    ]
    if problems:
        raise SelectorError(problems)
    return Requirement(key, operator, frozenset(values or ()))


def compile_labels(labels: Mapping[str, str] | None) -> LabelQuery:
    """Return the query of a plain label map, as Services and node selectors write it; nothing is checked."""
    # sorted as in apimachinery, so that maps of one content make one query whatever their order
    return LabelQuery(tuple(Requirement(k, "In", frozenset((v,))) for k, v in sorted((labels or {}).items())))


def compile_selector(selector: LabelSelector | None) -> LabelQuery:
    """Return the query of a label selector (``metav1.LabelSelectorAsSelector``); an absent one selects nothing.

    Raises:
        SelectorError: a label key or value is malformed, an operator is unknown, or does not go with its values.
    """
    if selector is None:
        return NOTHING
    plain = _plain_query(tuple(sorted((selector.match_labels or {}).items())))
    if not selector.match_expressions:
        return plain
    requirements = [*plain.requirements]
    for expression in selector.match_expressions:
        if expression.operator not in ("In", "NotIn", "Exists", "DoesNotExist"):  # Gt and Lt are for nodes alone
            raise SelectorError([f"{field_errors.quote(expression.operator)} is not a valid label selector operator"])
        requirements.append(requirement(expression.key, expression.operator, expression.values or None))
    return LabelQuery(tuple(requirements))


@lru_cache(maxsize=8192)
def _plain_query(labels: tuple[tuple[str, str], ...]) -> LabelQuery:
    """Return the query of labels that an object must have; a template's selector is compiled by all who read it."""
    return LabelQuery(tuple([requirement(key, "In", (value,)) for key, value in labels]))
