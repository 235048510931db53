"""One object: from JSON text or plain values to its struct, with everything that is wrong with it.

Right input takes the short way, in one step; an object that does not decode, or that was written by hand, takes the
long way, field by field. *Written by hand* is an object without ``metadata.uid``: it never met an API server, so the
API server's validation is made up for, and misspelt fields are looked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Any, Protocol

import msgspec

from schedctl.api.custom_kinds import CustomKind, CustomWorkload
from schedctl.api.generated_names import LONGEST_GENERATED, random_end
from schedctl.api.kinds import Conversion, Kind, kind_named
from schedctl.api.meta import ObjectMeta, Struct
from schedctl.api.pod_texts import PodTexts
from schedctl.api.pods import Pod
from schedctl.documents.findings import Finding, printable, quote
from schedctl.documents.json_values import JSONText
from schedctl.sources import relations, shapes, validation
from schedctl.sources.terms import Terms

Body = JSONText | dict[str, Any]
"""An object as it was read: JSON text, or the plain value of YAML."""

_POD = kind_named("Pod")
UNDECODABLE = (msgspec.DecodeError, RecursionError)
"""What decoding text that is JSON can still raise."""


class Object(Protocol):
    """What every kind has."""

    @property
    def metadata(self) -> ObjectMeta:
        """Name, namespace, labels."""


def decode(
    body: Body, kind: Kind, api_version: str, terms: Terms, *, spelling: bool
) -> tuple[Object | None, list[Finding]]:
    """Return the object, and everything that is wrong with it.

    With a finding that is no warning, the object is good for its name only; None when not even that can be said.

    Args:
        body: the object as it was read.
        kind: its kind.
        api_version: the version in which it is written, one of ``kind.versions``.
        terms: on what terms it is read.
        spelling: whether to look for misspelt fields if it was written by hand.
    """
    obj: Any = None
    findings: list[Finding] = []
    convert = kind.converted.get(api_version)
    if convert is None:
        try:
            obj = msgspec.convert(body, kind.struct) if isinstance(body, dict) else _decoder(kind).decode(body)
        except UNDECODABLE:
            obj = None
    if obj is None or (spelling and not obj.metadata.uid):
        obj, findings = _examine(body, kind, convert, spelling)
    if obj is not None:
        later = _name_problems(obj.metadata)
        if not obj.metadata.uid and api_version not in kind.retired:
            later += validation.validate(kind, obj)
            if terms.creating:
                from schedctl.sources import creation  # a state, which most commands read, needs nothing of it

                later = [finding for finding in later if finding.hint != relations.REFUSED]
                later += creation.refusals(obj)
        elif terms.creating and api_version in kind.retired:
            message = f"no matches for kind {quote(kind.name)} in version {quote(api_version)}"
            later.append(Finding(("apiVersion",), message, f"write apiVersion: {kind.api_version}"))
        findings += _independent_findings(later, findings) if findings else later
        _settle_namespace(kind, obj.metadata, terms.namespace)
    return obj, findings


def decode_pod(text: msgspec.Raw, texts: PodTexts, terms: Terms, *, unnamed: bool) -> Pod | None:
    """Return the pod that a text is, if it came out of a cluster and nothing is wrong with it; else None.

    Args:
        text: an item of a list.
        texts: what is known of those before it.
        terms: on what terms it is read.
        unnamed: whether the list is one of pods, so that it need not say what it is.
    """
    try:
        pod = texts.pod(text, unnamed=unnamed)
    except UNDECODABLE:
        return None
    if pod is None or _name_problems(pod.metadata):
        return None
    _settle_namespace(_POD, pod.metadata, terms.namespace)
    return pod


@lru_cache(maxsize=256)
def custom_kind(api_version: str, name: str) -> Kind:
    """Return the kind of a custom workload."""
    return Kind(api_version, name, CustomWorkload)


def decode_custom(
    body: Body,
    custom: CustomKind,
    kind: Kind,
    terms: Terms,
    taken: set[str],
    company: Sequence[dict[str, Any]] = (),
) -> tuple[CustomWorkload | None, list[Finding]]:
    """Return a custom workload with its pod templates, and everything that is wrong with it.

    Args:
        body: the object as it was read.
        custom: where its templates are.
        kind: what `custom_kind` returns for it.
        terms: on what terms it is read.
        taken: the names that were generated; its own is added.
        company: the other resources that its operator looks at.
    """
    from schedctl.sources import creation, custom_workloads

    try:
        value, findings = (body, []) if isinstance(body, dict) else _value(body)
        resource = with_name(value, terms.namespace, taken)
        obj = custom_workloads.read(resource, custom, kind, findings, company)
    except RecursionError:
        return None, [Finding((), "nested too deeply")]
    except msgspec.DecodeError as error:
        return None, [Finding((), f"cannot be read: {printable(str(error), 100)}")]
    later = _name_problems(obj.metadata)
    if not obj.metadata.uid:
        later += validation.validate(kind, obj, [(group.template, group.path) for group in obj.replicas])
        later = [finding for finding in later if finding.hint != relations.REFUSED]
        for group in obj.replicas if terms.creating and obj.made is None else ():
            later += creation.template_refusals(group.template.spec, custom_workloads.spec_path(group, custom))
    findings += _independent_findings(later, findings) if findings else later
    return obj, findings


def with_name(value: dict[str, Any], namespace: str, taken: set[str]) -> dict[str, Any]:
    """Return a custom resource with the namespace and the generated name that the server gives it."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return value
    settled = {**metadata, "namespace": metadata.get("namespace") or namespace}
    beginning = metadata.get("generateName")
    if not metadata.get("name") and isinstance(beginning, str) and beginning:
        text = json.dumps(value, sort_keys=True, default=str)
        ends = (random_end(text, *range(number)) for number in count())
        names = (beginning[:LONGEST_GENERATED] + end for end in ends)
        settled["name"] = next(name for name in names if name not in taken)
        taken.add(settled["name"])
    return {**value, "metadata": settled}


def subject(kind: Kind, obj: Object | None) -> str:
    """Return how messages name an object, e.g. ``Pod shop/web-0``."""
    metadata = obj.metadata if obj is not None else ObjectMeta()
    name = metadata.name or metadata.generate_name
    full = f"{metadata.namespace}/{name}" if metadata.namespace and name else name
    return f"{kind} {printable(full)}" if full else kind.name


@cache
def _decoder(kind: Kind) -> msgspec.json.Decoder[Struct]:
    return msgspec.json.Decoder(kind.struct)


def _examine(body: Body, kind: Kind, convert: Conversion | None, spelling: bool) -> tuple[Object | None, list[Finding]]:
    """Return the object the long way, and what is wrong with its shape; wrong fields have their zero value in it."""
    try:
        value, beyond = (body, []) if isinstance(body, dict) else _value(body)
        shaped, findings = shapes.examine(convert(value) if convert else value, kind.struct, spelling=spelling)
        obj: Any = msgspec.convert(shaped, kind.struct)
    except RecursionError:
        return None, [Finding((), "nested too deeply")]
    except msgspec.DecodeError as error:  # null in place of a struct with required fields
        return None, [Finding((), f"cannot be read: {printable(str(error), 100)}")]
    if beyond and all(finding.warning for finding in findings):
        findings += beyond  # the number is in a field that nobody reads
    return obj, findings


def _value(text: JSONText) -> tuple[Any, list[Finding]]:
    """Return the plain value of JSON; a number beyond every type is infinity in it, which no field takes, and said."""
    try:
        return msgspec.json.decode(text), []
    except msgspec.DecodeError as error:
        value = json.loads(
            bytes(text), strict=False, parse_int=lambda digits: int(digits) if len(digits) < 400 else float("inf")
        )
        return value, [Finding((), f"cannot be read: {printable(str(error), 100)}")]


def _independent_findings(later: list[Finding], earlier: list[Finding]) -> list[Finding]:
    """Return the later findings that are not mere consequences of earlier ones."""
    spoilt = {finding.path for finding in earlier if not finding.warning}
    return [
        finding
        for finding in later
        if not any(path[: len(finding.path)] == finding.path or finding.path[: len(path)] == path for path in spoilt)
    ]


def _name_problems(metadata: ObjectMeta) -> list[Finding]:
    """Return what is wrong with a name whoever gave it: it is missing, or does not fit into a line or a path."""
    if not (metadata.name or metadata.generate_name):
        return [Finding(("metadata", "name"), 'the field "name" is required')]
    findings = []
    if metadata.uid:
        for field, text in (("name", metadata.name), ("namespace", metadata.namespace)):
            if "/" in text or not text.isprintable():
                findings.append(Finding(("metadata", field), f"{quote(text)} is not a name"))
    return findings


def _settle_namespace(kind: Kind, metadata: ObjectMeta, namespace: str) -> None:
    """Fill in or drop the namespace, in place, as the object is nobody else's yet."""
    if not (metadata.name or metadata.generate_name):
        return  # may be the default that all objects without metadata share
    if kind.namespaced and not metadata.namespace:
        msgspec.structs.force_setattr(metadata, "namespace", namespace)
    elif not kind.namespaced and metadata.namespace:
        msgspec.structs.force_setattr(metadata, "namespace", "")
