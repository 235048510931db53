"""Names in the arguments of built-in checks that match nothing in the cluster, so that nobody can tell what they mean.

Which arguments name something is declared in `schedctl.policy.references`; they are looked up here, for every built-in
alike, in the cluster before a scenario and in it: what a scenario removes or adds is no mistake of the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from schedctl.api import topology
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.pods import Pod
from schedctl.api.short_names import NAMES
from schedctl.documents.spelling import suggest_names
from schedctl.policy import references
from schedctl.policy.documents import BASELINE, Arguments, Check
from schedctl.policy.facts import usage
from schedctl.policy.findings import Finding, inconclusive
from schedctl.policy.references import Reference, RefersTo
from schedctl.policy.situations import Situation
from schedctl.simulation.node_choices import SHORTHANDS
from schedctl.simulation.what_if_syntax import subject_named
from schedctl.workloads.clusters import every_pod

_Labels = Mapping[str, str]
_ALLOWED: Final = "`allowUnknownNames: true` in the check accepts names that match nothing"


class UnknownName(NamedTuple):
    """A name that matches nothing.

    Attributes:
        message: what is missing.
        hint: the name that was probably meant, or those there are; "" where there are none.
    """

    message: str
    hint: str = ""


class KnownNames(msgspec.Struct, frozen=True):
    """What there is to be named.

    Attributes:
        nodes: the labels of each node.
        taints: of any node.
        resources: offered by any node.
        workloads: kind, namespace and name of the workloads and pods in the manifests and in the state.
    """

    nodes: tuple[_Labels, ...]
    taints: frozenset[tuple[str, str, str]]
    resources: frozenset[str]
    workloads: frozenset[tuple[type, str, str]]

    @classmethod
    def of(cls, situation: Situation) -> KnownNames:
        """Return the names of a situation."""
        cluster = situation.cluster
        nodes = [cluster.node_table.objects[row] for row in cluster.node_table.row_of.values()]
        workloads = {
            (type(each.workload.object), each.workload.namespace, each.workload.name) for each in situation.workloads
        }
        for kind in NAMES:
            workloads |= {(kind, *_split(key)) for key in (cluster.every(kind) if kind is not Pod else ())}
        workloads |= {(Pod, info.namespace, info.pod.metadata.name) for info in every_pod(cluster)}
        return cls(
            tuple(node.metadata.labels or {} for node in nodes),
            frozenset((each.key, each.value or "", each.effect) for node in nodes for each in node.spec.taints or ()),
            frozenset(name for name, offered in usage(cluster).allocatable.items() if any(offered)),
            frozenset(workloads),
        )

    def __or__(self, other: KnownNames) -> KnownNames:
        return KnownNames(
            self.nodes + other.nodes,
            self.taints | other.taints,
            self.resources | other.resources,
            self.workloads | other.workloads,
        )

    def unknown(self, reference: Reference) -> Iterator[UnknownName]:
        """Yield the names of a reference that match nothing."""
        match reference.to:
            case RefersTo.LABEL_KEY:
                yield from self._label_key(reference.value)
            case RefersTo.NODE_LABELS:
                yield from self._node_labels(reference.value)
            case RefersTo.TAINT:
                yield from self._taint(reference.value)
            case RefersTo.RESOURCE if reference.value not in self.resources:
                hint = suggest_names(reference.value, sorted(self.resources), "resources")
                yield UnknownName(f"no node offers {reference.value}", hint)
            case RefersTo.WORKLOAD:
                yield from self._workload(reference.value)

    def _label_key(self, written: str) -> Iterator[UnknownName]:
        key = SHORTHANDS.get(written, written)
        if not any(written in labels or topology.group_of(labels, key) is not None for labels in self.nodes):
            known = sorted({key for labels in self.nodes for key in labels})
            yield UnknownName(f'no node has a label "{key}"', suggest_names(written, [*known, *SHORTHANDS], "labels"))

    def _node_labels(self, selector: _Labels) -> Iterator[UnknownName]:
        missing = list(self._missing_labels(selector))
        yield from missing
        if not missing and not any(selector.items() <= labels.items() for labels in self.nodes):
            yield UnknownName(f"no node has {' and '.join(f'{key}={value}' for key, value in selector.items())}")

    def _missing_labels(self, selector: _Labels) -> Iterator[UnknownName]:
        for key, value in selector.items():
            values = {labels[key] for labels in self.nodes if key in labels}
            if not values:
                known = sorted({key for labels in self.nodes for key in labels})
                yield UnknownName(f'no node has a label "{key}"', suggest_names(key, known, "labels"))
            elif value not in values:
                yield UnknownName(f"no node has {key}={value}", suggest_names(value, sorted(values), "values"))

    def _taint(self, written: str) -> Iterator[UnknownName]:
        named = references.Taint.parse(written)
        if any(named.matches(*taint) for taint in self.taints):
            return
        keys = sorted({key for key, _, _ in self.taints})
        if named.key not in keys:
            yield UnknownName(f'no node has a taint "{named.key}"', suggest_names(named.key, keys, "taints"))
            return
        there = sorted(_taint_text(*taint) for taint in self.taints if taint[0] == named.key)
        yield UnknownName(f"no node has the taint {written}", suggest_names(written, there, "taints of that key"))

    def _workload(self, written: str) -> Iterator[UnknownName]:
        subject = subject_named(written, "")
        alike = [(namespace, name) for kind, namespace, name in self.workloads if kind is subject.struct]
        spaces = [subject.namespace] if subject.namespace else {namespace for namespace, _ in alike}
        if not any((namespace, subject.name) in alike for namespace in spaces):
            known = sorted({name for namespace, name in alike if namespace in spaces})
            what = f"names of kind {subject.struct.__name__}"
            message = f"{written} is neither in the manifests nor in the cluster"
            yield UnknownName(message, suggest_names(subject.name, known, what))


def find_unknown_names(check: Check, before: KnownNames, situation: Situation) -> Finding | None:
    """Return the finding about the names in a built-in check that match nothing, None where all are known.

    Args:
        check: the check.
        before: the names before the scenario.
        situation: in which it is judged.
    """
    if check.arguments is None or check.allow_unknown_names:
        return None
    found = _unknown_names(check.arguments, before)
    if found and situation.name != BASELINE:
        found = _unknown_names(check.arguments, before | KnownNames.of(situation))
    if not found:
        return None
    hints = [f"with.{field}: {name.hint}" for name, field in found.items() if name.hint]
    return inconclusive("; ".join(name.message for name in found), hints=[*hints, _ALLOWED])


def _unknown_names(arguments: Arguments, known: KnownNames) -> dict[UnknownName, str]:
    """Return the names that match nothing, with their fields."""
    found: dict[UnknownName, str] = {}
    for reference in references.references(arguments):
        for name in known.unknown(reference):
            found.setdefault(name, reference.field)
    return found


def _split(key: str) -> tuple[str, str]:
    namespace, slash, name = key.partition("/")
    return (namespace, name) if slash else (DEFAULT_NAMESPACE, key)


def _taint_text(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"
