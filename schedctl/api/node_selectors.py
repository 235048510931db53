"""Node selectors: conditions on a node's labels and its name, in terms of which one must hold.

Compiled as ``component-helpers/scheduling/corev1/nodeaffinity`` does: a term without conditions matches no node and is
left out; a term that cannot be parsed matches none either, and what is wrong with it is kept for callers to whom that
is an error. The one field there is to select by is ``metadata.name``; any other is the empty text on every node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from schedctl.api import pods, selectors
from schedctl.api.field_errors import invalid, not_supported

NAME_FIELD = "metadata.name"
LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
FIELD_OPERATORS = ("In", "NotIn")


class FieldRequirement(msgspec.Struct, frozen=True):
    """A field that must have a value, or must not.

    Attributes:
        field: ``metadata.name``, or one that is empty on every node.
        value: the one value.
        equal: whether it must or must not have it.
    """

    field: str
    value: str
    equal: bool

    def matches(self, name: str) -> bool:
        """Return whether a node of that name meets it."""
        return ((name if self.field == NAME_FIELD else "") == self.value) is self.equal


class NodeTerm(msgspec.Struct, frozen=True):
    """One term: labels and fields must both match."""

    labels: selectors.LabelQuery
    fields: tuple[FieldRequirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether a node matches."""
        return self.labels.matches(labels) and all(field.matches(name) for field in self.fields)


class NodeQuery(msgspec.Struct, frozen=True):
    """A compiled node selector: one of the terms must match; without any, nothing does.

    Attributes:
        terms: those that can match something.
        problems: what is wrong with the terms that could not be parsed.
    """

    terms: tuple[NodeTerm, ...]
    problems: tuple[str, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether a node matches."""
        return any(term.matches(name, labels) for term in self.terms)

    def require_valid(self) -> NodeQuery:
        """Return the query.

        Raises:
            SelectorError: a term could not be parsed.
        """
        if self.problems:
            raise selectors.SelectorError(self.problems)
        return self


class RequiredNodeAffinity(msgspec.Struct, frozen=True):
    """What a pod demands of its node: ``nodeSelector`` and required node affinity, both.

    Attributes:
        labels: the node selector.
        terms: the affinity, None where the pod has none; one without terms matches nothing.
    """

    labels: selectors.LabelQuery = selectors.EVERYTHING
    terms: NodeQuery | None = None

    @property
    def everywhere(self) -> bool:
        """Whether any node is feasible."""
        return self.terms is None and self.labels.everything

    def matches(self, name: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether a node will do."""
        return self.labels.matches(labels) and (self.terms is None or self.terms.matches(name, labels))


class PreferredTerm(msgspec.Struct, frozen=True):
    """A term and what meeting it is worth."""

    term: NodeTerm
    weight: int


def required_node_affinity(pod: pods.Pod) -> RequiredNodeAffinity:
    """Return what a pod demands of its node; terms that cannot be parsed match nothing."""
    spec = pod.spec
    affinity = spec.affinity and spec.affinity.node_affinity
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    terms = compile_node_selector(required) if required is not None else None
    return RequiredNodeAffinity(selectors.compile_labels(spec.node_selector), terms)


def compile_node_selector(selector: pods.NodeSelector, path: str = "") -> NodeQuery:
    """Return the query of a node selector written in the field `path`."""
    parent = f"{path}." if path else ""
    terms: list[NodeTerm] = []
    problems: list[str] = []
    for index, term in enumerate(selector.node_selector_terms or ()):
        if term.match_expressions or term.match_fields:
            try:
                terms.append(_term(term, f"{parent}nodeSelectorTerms[{index}]"))
            except selectors.SelectorError as error:
                problems += error.problems
    return NodeQuery(tuple(terms), tuple(problems))


def compile_preferred(preferred: Sequence[pods.PreferredSchedulingTerm], path: str = "") -> tuple[PreferredTerm, ...]:
    """Return the preferred terms that can add to a score: those with a weight and a condition.

    Raises:
        SelectorError: one of them cannot be parsed.
    """
    terms: list[PreferredTerm] = []
    problems: list[str] = []
    for index, each in enumerate(preferred):
        term = each.preference
        if each.weight and (term.match_expressions or term.match_fields):
            try:
                terms.append(PreferredTerm(_term(term, f"{path}[{index}]"), each.weight))
            except selectors.SelectorError as error:
                problems += error.problems
    if problems:
        raise selectors.SelectorError(problems)
    return tuple(terms)


def _term(term: pods.NodeSelectorTerm, path: str) -> NodeTerm:
    labels: list[selectors.Requirement] = []
    fields: list[FieldRequirement] = []
    problems: list[str] = []
    for index, each in enumerate(term.match_expressions or ()):
        try:
            labels.append(_label_requirement(each, f"{path}.matchExpressions[{index}]"))
        except selectors.SelectorError as error:
            problems += error.problems
    for index, each in enumerate(term.match_fields or ()):
        try:
            fields.append(_field_requirement(each, f"{path}.matchFields[{index}]"))
        except selectors.SelectorError as error:
            problems += error.problems
    if problems:
        raise selectors.SelectorError(problems)
    return NodeTerm(selectors.LabelQuery(tuple(labels)), tuple(fields))


def _label_requirement(written: pods.NodeSelectorRequirement, path: str) -> selectors.Requirement:
    if written.operator not in LABEL_OPERATORS:
        raise selectors.SelectorError([not_supported(f"{path}.operator", written.operator, LABEL_OPERATORS)])
    return selectors.requirement(written.key, written.operator, written.values, path)


def _field_requirement(written: pods.NodeSelectorRequirement, path: str) -> FieldRequirement:
    if written.operator not in FIELD_OPERATORS:
        raise selectors.SelectorError([not_supported(f"{path}.operator", written.operator, FIELD_OPERATORS)])
    if len(written.values or ()) != 1:
        raise selectors.SelectorError([invalid(f"{path}.values", written.values, "must have one element")])
    assert written.values is not None
    return FieldRequirement(written.key, written.values[0], written.operator == "In")
