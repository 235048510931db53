"""What may be called what: label keys, label values and extended resources, with apimachinery's own complaints.

The rules are those of ``k8s.io/apimachinery/pkg/api/validate/content`` and the texts are the ones a user of
kube-scheduler knows, byte for byte. Lengths count bytes of UTF-8.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_NAME})?"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    f" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME}')"
)
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character"
    f" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    f" end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)


def label_key(key: str) -> list[str]:
    """Return what is wrong with a label key (a *qualified name*: resources are named alike); [] when it is one."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    wrong: list[str] = []
    if slash and not prefix:
        wrong.append("prefix part must be non-empty")
    elif slash:
        wrong += [f"prefix part {complaint}" for complaint in _subdomain(prefix)]
    if not name:
        wrong.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        wrong.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_NAME, name):
        wrong.append(f"name part {_NAME_RULE}")
    return wrong


def label_value(value: str) -> list[str]:
    """Return what is wrong with a label value; [] when it is one."""
    wrong = ["must be no more than 63 bytes"] if len(value.encode()) > 63 else []
    return wrong if re.fullmatch(_VALUE, value) else [*wrong, _VALUE_RULE]


def extended_resource(name: str) -> list[str]:
    """Return what is wrong with the name of an extended resource; [] when it is one."""
    wrong = label_key(name)
    native = "/" not in name or "kubernetes.io/" in name
    if not wrong and (native or name.startswith("requests.") or label_key(f"requests.{name}")):
        wrong.append("is an invalid extended resource name")
    return wrong


def _subdomain(name: str) -> list[str]:
    wrong = ["must be no more than 253 bytes"] if len(name.encode()) > 253 else []
    return wrong if re.fullmatch(_SUBDOMAIN, name) else [*wrong, _SUBDOMAIN_RULE]
