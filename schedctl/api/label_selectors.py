"""The selectors of ``-l`` as kubectl takes them: ``app=web,tier!=cache,zone in (a, b),!spot``."""

from __future__ import annotations

import re

from schedctl.api.selectors import LabelQuery, Requirement, SelectorError, requirement
from schedctl.errors import UsageError

_KEY = r"\s*(?P<key>[^\s=!<>,()]+)\s*"
_FORMS = tuple(
    (re.compile(form), operator)
    for form, operator in (
        (rf"{_KEY}(?:==?)(?P<value>[^=!<>,()]*)", "In"),
        (rf"{_KEY}!=(?P<value>[^=!<>,()]*)", "NotIn"),
        (rf"{_KEY}>(?P<value>[^=!<>,()]*)", "Gt"),
        (rf"{_KEY}<(?P<value>[^=!<>,()]*)", "Lt"),
        (rf"{_KEY}(?<=\s)in\s*\((?P<values>[^()]*)\)\s*", "In"),
        (rf"{_KEY}(?<=\s)notin\s*\((?P<values>[^()]*)\)\s*", "NotIn"),
        (r"\s*!" + _KEY, "DoesNotExist"),
        (_KEY, "Exists"),
    )
)


def parse(text: str) -> LabelQuery:
    """Return the selector.

    Raises:
        UsageError: it is none.
    """
    parts = re.split(r",(?![^()]*\))", text)  # not at the commas of a list in brackets
    return LabelQuery(tuple(_requirement(part) for part in parts if part.strip()))


def _requirement(text: str) -> Requirement:
    for form, operator in _FORMS:
        match = form.fullmatch(text)
        if match is None:
            continue
        found = match.groupdict()
        values = None
        if found.get("values") is not None:
            values = [value.strip() for value in found["values"].split(",")]
        elif found.get("value") is not None:
            values = [found["value"].strip()]
        try:
            return requirement(found["key"], operator, values)
        except SelectorError as error:
            raise UsageError(f'cannot read the selector "{text.strip()}": {error}') from None
    raise UsageError(f'cannot read the selector "{text.strip()}"', "e.g. `-l app=web`, `-l 'zone in (a, b),!spot'`")
