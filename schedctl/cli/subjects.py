"""What is asked about: the ways in which kubectl's users name objects, and the search for what they name.

``pod web-0``, ``pod/web-0``, ``shop/web-0``, ``pod shop/web-0``, ``deploy web``, several of these, all that match a
selector, or all pending pods. A name without a namespace is looked for in the one of ``-n``, else in ``default``; under
``-A`` in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.meta import ObjectMeta
from schedctl.api.pods import Pod, PodTemplate
from schedctl.api.selectors import LabelQuery
from schedctl.api.workloads import CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from schedctl.errors import UsageError
from schedctl.workloads.clusters import Assembled, every_pod

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind that can be asked about.

    Attributes:
        struct: its type.
        names: what kubectl calls it, shortest first; the API group may follow after a dot.
    """

    struct: type
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The kind as manifests write it."""
        return self.struct.__name__


POD = SubjectKind(Pod, ("pod", "po", "pods"))
KINDS = (
    POD,
    SubjectKind(Deployment, ("deploy", "deployment", "deployments")),
    SubjectKind(StatefulSet, ("sts", "statefulset", "statefulsets")),
    SubjectKind(DaemonSet, ("ds", "daemonset", "daemonsets")),
    SubjectKind(ReplicaSet, ("rs", "replicaset", "replicasets")),
    SubjectKind(Job, ("job", "jobs")),
    SubjectKind(CronJob, ("cj", "cronjob", "cronjobs")),
    SubjectKind(ReplicationController, ("rc", "replicationcontroller", "replicationcontrollers")),
    SubjectKind(PodTemplate, ("podtemplate", "podtemplates")),
)
_BY_NAME = {name: kind for kind in KINDS for name in kind.names}


@dataclass(frozen=True, slots=True)
class Named:
    """One object as it was named; without a namespace, that of ``-n`` is meant."""

    kind: SubjectKind
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which namespaces are looked into: one, or all where `namespace` is ""."""

    namespace: str

    def __contains__(self, namespace: str) -> bool:
        return self.namespace in ("", namespace)

    def __str__(self) -> str:
        return f"namespace {self.namespace}" if self.namespace else "any namespace"


def named(arguments: Sequence[str]) -> tuple[SubjectKind | None, list[Named]]:
    """Return the kind that stands alone in front, if any, and the objects named.

    Raises:
        UsageError: an argument is neither of the forms.
    """
    if not arguments:
        return None, []
    kind = _kind(arguments[0])
    rest = arguments[1:] if kind else arguments
    return kind, [_named(argument, kind) for argument in rest]


def find(wanted: Named, state: Assembled, scope: Scope) -> list[Any]:
    """Return the objects of that name: one, or under ``-A`` one for each namespace that has it.

    Raises:
        UsageError: there is none; with the nearest names.
    """
    inside = Scope(wanted.namespace) if wanted.namespace else scope
    objects = everything(wanted.kind, state)
    found = [obj for obj in objects if obj.metadata.name == wanted.name and obj.metadata.namespace in inside]
    if not found:
        kind = wanted.kind.names[0] if wanted.kind is POD else wanted.kind.name
        hint = _nearest(wanted, [obj.metadata for obj in objects], inside)
        raise UsageError(f'there is no {kind} "{wanted.name}" in {inside}', hint)
    return found


def select(kind: SubjectKind, query: LabelQuery, state: Assembled, scope: Scope) -> list[Any]:
    """Return the objects of a kind that a selector matches."""
    return _within(everything(kind, state), scope, lambda metadata: query.matches(metadata.labels))


def pending(state: Assembled, scope: Scope) -> list[Any]:
    """Return the pods without a node."""
    return _within((info.pod for info in state.cluster.pending.values()), scope, lambda metadata: True)


def everything(kind: SubjectKind, state: Assembled) -> list[Any]:
    """Return all objects of a kind, finished pods included."""
    if kind is POD:
        return [*(info.pod for info in every_pod(state.cluster)), *state.finished.values()]
    return list(state.cluster.every(kind.struct).values())


def listed(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many."""
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _within(objects: Iterable[Any], scope: Scope, chosen: Callable[[ObjectMeta], bool]) -> list[Any]:
    return [obj for obj in objects if obj.metadata.namespace in scope and chosen(obj.metadata)]


def _kind(text: str) -> SubjectKind | None:
    return _BY_NAME.get(text.lower().partition(".")[0])


def _named(argument: str, kind: SubjectKind | None) -> Named:
    first, slash, rest = argument.partition("/")
    own = _kind(first) if slash else None
    if kind is not None and own is not None and own is not kind:
        raise UsageError(
            f'"{argument}" is of another kind than "{kind.names[0]}"', "name all kinds, as in `deploy/web`"
        )
    if own is not None:
        namespace, slash, name = rest.partition("/")
        wanted = Named(own, name, namespace) if slash else Named(own, rest)
    elif slash:
        wanted = Named(kind or POD, rest, first)
    elif kind is not None:
        wanted = Named(kind, argument)
    else:
        close = get_close_matches(argument.lower(), _BY_NAME, 1)
        kinds = ", ".join(kind.names[0] for kind in KINDS)
        hint = f"did you mean `{close[0]}`?" if close else f"say what it is, as in `pod {argument}`; kinds: {kinds}"
        raise UsageError(f'"{argument}" is no kind', hint)
    if not wanted.name or "/" in wanted.name:
        raise UsageError(f'"{argument}" is no name', "as in `pod web-0`, `pod/web-0`, `shop/web-0` or `pod shop/web-0`")
    return wanted


def _nearest(wanted: Named, existing: Sequence[ObjectMeta], scope: Scope) -> str:
    """The next step: the namespace that has the name, else the nearest name, else the names there are."""
    elsewhere = [metadata.namespace for metadata in existing if metadata.name == wanted.name]
    if elsewhere:
        return f"there is one in namespace {listed(elsewhere)}: add `-n {elsewhere[0]}`"
    here = [metadata.name for metadata in existing if metadata.namespace in scope]
    close = get_close_matches(wanted.name, here, 3) or [name for name in here if name.startswith(wanted.name)]
    if close:
        return f"did you mean {listed(close)}?"
    if here:
        return f"there are {listed(here)}"
    namespaces = list(dict.fromkeys(metadata.namespace for metadata in existing))
    return f"there are some in namespace {listed(namespaces)}" if namespaces else ""


def scope(namespace: str, everywhere: bool, default: str = DEFAULT_NAMESPACE) -> Scope:
    """Return the namespaces that ``-n`` and ``-A`` stand for.

    Raises:
        UsageError: both were given.
    """
    if namespace and everywhere:
        raise UsageError("-n and -A were both given", "-A means all namespaces")
    return Scope("" if everywhere else namespace or default)
