"""All functions of Kubernetes' CEL, by name; the order of overloads is kube-scheduler's, for it shows in errors."""

from __future__ import annotations

from functools import cache

from schedctl.cel import (
    conversions,
    formats,
    lists,
    networks,
    operators,
    patterns,
    quantities,
    semvers,
    strings,
    times,
    urls,
)
from schedctl.cel.declarations import Overload, declare

_AUTHORIZATION = """\
.allowed decision_allowed (authorization.Decision) bool
.check pathcheck_check (authorization.PathCheck, string) authorization.Decision
.check resourcecheck_check (authorization.ResourceCheck, string) authorization.Decision
.error decision_error (authorization.Decision) string
.errored decision_errored (authorization.Decision) bool
.fieldSelector authorizer_fieldselector (authorization.ResourceCheck, string) authorization.ResourceCheck
.group authorizer_group (authorization.Authorizer, string) authorization.GroupCheck
.labelSelector authorizer_labelselector (authorization.ResourceCheck, string) authorization.ResourceCheck
.name resourcecheck_name (authorization.ResourceCheck, string) authorization.ResourceCheck
.namespace resourcecheck_namespace (authorization.ResourceCheck, string) authorization.ResourceCheck
.path authorizer_path (authorization.Authorizer, string) authorization.PathCheck
.reason decision_reason (authorization.Decision) string
.resource groupcheck_resource (authorization.GroupCheck, string) authorization.ResourceCheck
.serviceAccount authorizer_serviceaccount (authorization.Authorizer, string, string) authorization.Authorizer
.subresource resourcecheck_subresource (authorization.ResourceCheck, string) authorization.ResourceCheck"""
"""Declared, and so they show in errors; without an authorizer, which a selector has not, nothing fits them."""


@cache
def functions() -> dict[str, list[Overload]]:
    """Return the overloads of every function."""
    overloads: dict[str, list[Overload]] = {}
    libraries = (
        *(operators.LIBRARY, conversions.LIBRARY, strings.LIBRARY, times.LIBRARY, patterns.LIBRARY),
        *(lists.LIBRARY, quantities.LIBRARY, semvers.LIBRARY, networks.LIBRARY, urls.LIBRARY, formats.LIBRARY),
        [declare(line, _unreachable) for line in _AUTHORIZATION.splitlines()],
    )
    for library in libraries:
        for overload in library:
            overloads.setdefault(overload.function, []).append(overload)
    return overloads


def _unreachable(*_: object) -> object:
    raise AssertionError("there is no authorizer in a device selector")
