"""Who says that a finding does not count: exemptions of the policy, annotations of the object, a baseline.

None of them drops anything: the finding stays in the report, and beside it who accepted it and why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.pods import PodTemplate
from schedctl.api.workloads import CronJob
from schedctl.documents.spelling import nearest
from schedctl.policy.baselines import Baseline
from schedctl.policy.documents import CheckPolicy, Exemption
from schedctl.reports.checks import Acceptance, CheckResult
from schedctl.simulation.what_ifs import abbreviate

PREFIX = "schedctl.dev/ignore."
"""What the annotation begins with that accepts a finding; the name of the check follows."""

_Object = tuple[str, str, str]


class Acceptances(msgspec.Struct):
    """Accepts findings.

    Attributes:
        today: what expiry dates are compared with.
        policies: whose exemptions are noted that have expired or accept nothing.
        inline: whether annotations of objects accept anything.
        baseline: what is old, None for nothing.
        left_out: the names of checks that are not judged, whose annotations nobody needs to hear of.
    """

    today: date
    policies: Sequence[CheckPolicy] = ()
    inline: bool = True
    baseline: Baseline | None = None
    left_out: Collection[str] = ()
    _notes: dict[str, None] = msgspec.field(default_factory=dict)
    _used: set[int] = msgspec.field(default_factory=set)
    _used_annotations: set[tuple[str, _Object]] = msgspec.field(default_factory=set)

    def acceptance(self, policy: CheckPolicy, result: CheckResult, objects: Sequence[Any]) -> Acceptance | None:
        """Return why a violated or inconclusive result does not count, None where it does.

        Args:
            policy: whose check it is.
            result: the result, with its fingerprint.
            objects: the API objects whose annotations may accept it: the object itself; for a pod its workload too.
        """
        # The policy goes before the object, and both before the baseline: who gives a reason is named.
        for exemption in policy.exemptions:
            if exemption.names(result.check) and self._holds(exemption) and _selects(exemption, result, objects):
                self._used.add(id(exemption))
                expires = exemption.expires.isoformat() if exemption.expires else ""
                return Acceptance(by="policy", reason=exemption.reason, expires=expires)
        if self.inline and (reason := self._ignore_reason(result, objects)):
            return Acceptance(by="object", reason=reason)
        if self.baseline is not None and self.baseline.accepts(result):
            return Acceptance(by="baseline")
        return None

    def notes(self) -> list[str]:
        """Return what was meant to accept and does not, e.g. an exemption of yesterday, once all has been asked."""
        exemptions = [(policy, exemption) for policy in self.policies for exemption in policy.exemptions]
        expired = [_expiry_note(*each) for each in exemptions if not self._holds(each[1])]
        unused = [
            f"{_words(policy, exemption)} accepts nothing: {exemption.reason}"
            for policy, exemption in exemptions
            if self._holds(exemption) and id(exemption) not in self._used
        ]
        return [*expired, *unused, *self._notes, *(self.baseline.notes() if self.baseline is not None else ())]

    def _holds(self, exemption: Exemption) -> bool:
        return exemption.expires is None or self.today <= exemption.expires

    def _ignore_reason(self, result: CheckResult, objects: Sequence[Any]) -> str:
        """Return the reason in an annotation of an object or of its pod template, "" where there is none."""
        key = f"{PREFIX}{result.check}"
        for written in (each for obj in objects for each in _annotations(obj)):
            if key in written:
                if reason := written[key].strip():
                    self._used_annotations.update((key, _identity(obj)) for obj in objects)
                    return reason
                self._notes.setdefault(f"the annotation {key} of {result.subject} has no reason and is ignored")
        return ""

    def annotation_notes(self, objects: Iterable[Any]) -> Iterator[str]:
        """Yield a note for each annotation of objects that is meant to accept findings and does not.

        It names no check of the run, or none of its findings is left to accept.
        """
        names = sorted({check.name for policy in self.policies for check in policy.checks})
        known = {f"{PREFIX}{name}" for name in names}
        subjects: dict[str, dict[str, None]] = {}
        for obj in objects:
            for key, reason in (item for written in _annotations(obj) for item in written.items()):
                if key.startswith(PREFIX) and reason.strip() and (key, _identity(obj)) not in self._used_annotations:
                    subjects.setdefault(key, {})[_subject(obj)] = None
        for key, found in subjects.items():
            if key.removeprefix(PREFIX) in self.left_out:
                continue
            of = f"the annotation {key} of {abbreviate(list(found))}"
            if key in known:
                yield f"{of} accepts nothing"
                continue
            close = nearest(key.removeprefix(PREFIX), names)
            yield f"{of} does not name a check of this run{f'; did you mean {PREFIX}{close}?' if close else ''}"


def _expiry_note(policy: CheckPolicy, exemption: Exemption) -> str:
    return f"{_words(policy, exemption)} expired on {exemption.expires} and is ignored: {exemption.reason}"


def _words(policy: CheckPolicy, exemption: Exemption) -> str:
    place = exemption.location
    where = f" ({place.file}:{place.line})" if place.file else ""
    return f"the exemption of {', '.join(exemption.checks)} in policy {policy.name}{where}"


def templates(obj: Any) -> Iterator[Any]:
    """Yield the pod templates of an object; none for a pod or a node."""
    match obj:
        case CronJob():
            yield obj.spec.job_template.spec.template
        case PodTemplate():
            yield obj.template
        case CustomWorkload():
            yield from (group.template for group in obj.replicas)
            yield from (template for made in obj.made or () for template in templates(made))
        case _:
            template = getattr(getattr(obj, "spec", None), "template", None)
            if template is not None:
                yield template


def _annotations(obj: Any) -> Iterator[Mapping[str, str]]:
    yield obj.metadata.annotations or {}
    yield from (template.metadata.annotations or {} for template in templates(obj))


def _selects(exemption: Exemption, result: CheckResult, objects: Iterable[Any]) -> bool:
    """Return whether an exemption is of an object: the one of the result, or for a pod its workload."""
    match, named = exemption.match, list(objects)
    labels = [each for obj in named for each in _labels(obj)] or [{}]
    names = [(result.kind, result.namespace, result.name)]
    names += [(_kind(obj), obj.metadata.namespace or result.namespace, obj.metadata.name) for obj in named]
    return any(match.selects(*name, each) for name in names for each in labels)


def _labels(obj: Any) -> Iterator[Mapping[str, str]]:
    """Yield the labels of the pods of a workload, or those of the object itself."""
    found = [template.metadata.labels or {} for template in templates(obj)]
    yield from found or [obj.metadata.labels or {}]


def _identity(obj: Any) -> _Object:
    """Return kind, namespace and name; a manifest need not write the namespace that kubectl would fill in."""
    return _kind(obj), obj.metadata.namespace or DEFAULT_NAMESPACE, obj.metadata.name


def _subject(obj: Any) -> str:
    metadata = obj.metadata
    name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
    return f"{_kind(obj)} {name}"


def _kind(obj: Any) -> str:
    return obj.kind if isinstance(obj, CustomWorkload) else type(obj).__name__
