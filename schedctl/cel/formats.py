"""Named formats: ``format.dns1123Label().validate("a_b")`` gives the reasons why a text is not of that format."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from schedctl.cel import values
from schedctl.cel.declarations import declare
from schedctl.cel.times import is_date
from schedctl.cel.urls import UrlError, parse_request
from schedctl.cel.values import Failure, Value

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_NAME_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character"
)
_UUID = re.compile("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
# The dot before fractions of a second is any character upstream, too.
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))")


class Format(values.Opaque):
    """A named format as a value."""

    __slots__ = ("kind",)
    type_name = "kubernetes.NamedFormat"
    go_type = "cel.Format"
    hashable = False

    def __init__(self, kind: _Kind) -> None:
        self.kind = kind

    def equals(self, other: Value) -> bool | Failure:
        """Return whether it is the same format."""
        return self.kind.name == other.kind.name if isinstance(other, Format) else values.failure_or_no_overload(other)


class _Kind(NamedTuple):
    """A format: its name, how large its pattern is reckoned, and what finds fault with a text."""

    name: str
    pattern_size: int
    faults: Callable[[str], list[str]]


def _unlike(text: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def _bytes(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _label(text: str) -> list[str]:
    faults = ["must be no more than 63 characters"] if _bytes(text) > 63 else []
    if not re.fullmatch(_LABEL, text):
        dotted = re.fullmatch(_SUBDOMAIN, text)
        faults.append("must not contain dots" if dotted else _unlike(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return faults


def _subdomain(text: str, unit: str = "characters") -> list[str]:
    faults = [f"must be no more than 253 {unit}"] if _bytes(text) > 253 else []
    if not re.fullmatch(_SUBDOMAIN, text):
        faults.append(_unlike(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return faults


def _label_1035(text: str) -> list[str]:
    faults = ["must be no more than 63 characters"] if _bytes(text) > 63 else []
    if not re.fullmatch(_LABEL_1035, text):
        faults.append(_unlike(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return faults


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return the check of a text to which something will be appended, so that it may end with a dash."""
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _qualified_name(text: str) -> list[str]:
    *prefixes, name = text.split("/")
    unlike = _unlike(_NAME_TEXT, _NAME, "MyName", "my.name", "123-abc")
    if len(prefixes) > 1:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {unlike} {optional}"]
    faults = []
    for prefix in prefixes:
        faults += [f"prefix part {why}" for why in (_subdomain(prefix, "bytes") if prefix else ["must be non-empty"])]
    if not name:
        faults.append("name part must be non-empty")
    elif _bytes(name) > 63:
        faults.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME, name):
        faults.append(f"name part {unlike}")
    return faults


def _label_value(text: str) -> list[str]:
    faults = ["must be no more than 63 bytes"] if _bytes(text) > 63 else []
    if not re.fullmatch(_VALUE, text):
        faults.append(_unlike(_VALUE_TEXT, _VALUE, "MyValue", "my_value", "12345"))
    return faults


def _uri(text: str) -> list[str]:
    try:
        parse_request(text)
    except UrlError as error:
        return [str(error)]
    return []


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if _bytes(text) < 4 or len(parts) < 2 or not is_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _only(fault: str, holds: Callable[[str], object]) -> Callable[[str], list[str]]:
    return lambda text: [] if holds(text) else [fault]


FORMATS = {
    "dns1123Label": _Kind("DNS1123Label", 30, _label),
    "dns1123Subdomain": _Kind("DNS1123Subdomain", 60, _subdomain),
    "dns1035Label": _Kind("DNS1035Label", 30, _label_1035),
    "qualifiedName": _Kind("QualifiedName", 60, _qualified_name),
    "dns1123LabelPrefix": _Kind("DNS1123LabelPrefix", 30, _prefix(_label)),
    "dns1123SubdomainPrefix": _Kind("DNS1123SubdomainPrefix", 60, _prefix(_subdomain)),
    "dns1035LabelPrefix": _Kind("DNS1035LabelPrefix", 30, _prefix(_label_1035)),
    "labelValue": _Kind("LabelValue", 40, _label_value),
    "uri": _Kind("URI", 1103, _uri),
    "uuid": _Kind("uuid", 70, _only("does not match the UUID format", _UUID.fullmatch)),
    "byte": _Kind("byte", 84, _only("invalid base64", _BASE64.fullmatch)),
    "date": _Kind("date", 71, _only("invalid date", is_date)),
    "datetime": _Kind("datetime", 71, _only("invalid datetime", _is_datetime)),
}


def _format_by_name(name: str) -> values.Optional:
    kind = FORMATS.get(name)
    return values.Optional(Format(kind)) if kind else values.ABSENT


def _validate(named_format: Format, text: str) -> values.Optional:
    faults = named_format.kind.faults(text)
    return values.Optional(faults) if faults else values.ABSENT


def _constant(kind: _Kind) -> Callable[[], Format]:
    return lambda: Format(kind)


LIBRARY = [
    declare(".validate format-validate (NamedFormat, string) optional(list(string))", _validate),
    declare("format.named format-named (string) optional(NamedFormat)", _format_by_name),
    *(declare(f"format.{name} format.{name} () NamedFormat", _constant(kind)) for name, kind in FORMATS.items()),
]
