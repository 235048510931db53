"""What is asked about: the ways in which kubectl's users name objects, and the search for what they name.

``pod web-0``, ``pod/web-0``, ``shop/web-0``, ``pod shop/web-0``, ``deploy web``, ``web-0``, several of these, all that
match a selector, or all pending pods. A name without a namespace is looked for in the one of ``-n``, else in
``default``; under ``-A`` in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from schedctl.api import label_selectors
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.meta import ObjectMeta
from schedctl.api.selectors import LabelQuery
from schedctl.api.workloads import Service
from schedctl.documents.spelling import nearest, similar, suggest_names
from schedctl.errors import UsageError
from schedctl.framework.pod_groups import group_key
from schedctl.reports import counts
from schedctl.session.names import Names
from schedctl.session.subject_kinds import (
    BY_NAME,
    KINDS,
    POD,
    POD_GROUP,
    SHORT_NAMES,
    SubjectKind,
    kind_named,
    kind_without_pods,
)
from schedctl.workloads.clusters import AssembledCluster, every_pod

_SHOWN = 8


class ObjectName(msgspec.Struct, frozen=True):
    """One object as it was named; without a namespace that of ``-n`` is meant, without a kind the only one there is."""

    kind: SubjectKind | None
    name: str
    namespace: str = ""

    def under(self, names: Names) -> ObjectName:
        """Return the same object as a state names it."""
        return ObjectName(self.kind, names.name(self.name), names.namespace(self.namespace))


class Scope(msgspec.Struct, frozen=True):
    """Which namespaces are looked into: one, or all where `namespace` is "".

    Attributes:
        namespace: the namespace.
        assumed: whether the user did not say so, so that a bare name may also be the one object of another namespace.
    """

    namespace: str
    assumed: bool = False

    def under(self, names: Names) -> Scope:
        """Return the same namespaces as a state names them."""
        return replace(self, namespace=names.namespace(self.namespace))

    def __contains__(self, namespace: str) -> bool:
        return self.namespace in ("", namespace)

    def __str__(self) -> str:
        return f"namespace {self.namespace}" if self.namespace else "any namespace"


class Question(msgspec.Struct, frozen=True):
    """Which objects are to be explained.

    Attributes:
        kind: the kind that stood alone in front, None where every name has its own.
        names: the objects named.
        query: ``-l``, None where it was not given.
        all_pending: whether it is all pending pods.
        scope: the namespaces of names without one, and of selections.
    """

    kind: SubjectKind | None
    names: tuple[ObjectName, ...]
    query: LabelQuery | None
    all_pending: bool
    scope: Scope

    def objects(self, state: AssembledCluster) -> list[Any]:
        """Return the objects in a state, each once, in the order in which they were asked for.

        Raises:
            UsageError: one is not there, or nothing was named; with the nearest names.
        """
        if self.all_pending:
            return pending_pods(state, self.scope)
        if self.query is not None:
            return self._matching(self.kind or POD, self.query, state)
        if not self.names:
            return self._all_of_kind(self.kind or POD, state)
        found = [obj for name in self.names for obj in find(name, state, self.scope)]
        return list({id(obj): obj for obj in found}.values())  # by identity: structs that hold dicts have no hash

    def _matching(self, kind: SubjectKind, query: LabelQuery, state: AssembledCluster) -> list[Any]:
        """Return the objects of a kind in the scope that a selector matches."""
        there = select(kind, query, state, Scope(""))
        found = [obj for obj in there if obj.metadata.namespace in self.scope]
        if not found:
            hint = _elsewhere(there) or f"`kubectl get {kind.names[-1]} -A --show-labels` shows the labels there are"
            raise UsageError(f"no {kind.names[-1]} with these labels in {self.scope}", hint)
        return with_pods(found, state)

    def _all_of_kind(self, kind: SubjectKind, state: AssembledCluster) -> list[Any]:
        """Return every object of a kind in the scope."""
        there = everything(kind, state)
        found = _select(there, self.scope, lambda metadata: True)
        if not found:
            raise UsageError(f"no {kind.names[-1]} in {self.scope}", _elsewhere(there))
        return with_pods(found, state)

    def may_be_about(self, kind: str, key: str) -> bool:
        """Return whether the object of a kind and key may be asked about; without names every object may."""
        return not self.names or named_among(self.names, self.scope, kind, key)

    def under(self, names: Names) -> Question:
        """Return the same question with the names that a state has."""
        query = None if self.query is None else names.query(self.query)
        named = tuple(each.under(names) for each in self.names)
        return replace(self, names=named, query=query, scope=self.scope.under(names))

    def with_successors(self, successors: Mapping[str, str]) -> Question:
        """Return the question about the pods that have taken the place of those named, by key of the one before."""

        def now(name: ObjectName) -> ObjectName:
            key = f"{name.namespace or self.scope.namespace}/{name.name}"
            if name.kind is not POD or key not in successors:
                return name
            namespace, _, other = successors[key].partition("/")
            return ObjectName(POD, other, namespace)

        return replace(self, names=tuple(map(now, self.names)))


def question(
    arguments: Sequence[str],
    *,
    namespace: str,
    all_namespaces: bool,
    selector: str,
    all_pending: bool,
    assumed_namespace: str = "",
) -> Question:
    """Return what the command line asks about.

    Args:
        arguments: kinds and names.
        namespace: ``-n``.
        all_namespaces: ``-A``.
        selector: ``-l``.
        all_pending: ``--all-pending``.
        assumed_namespace: that of the context, for a user who names none; "" for the usual one.

    Raises:
        UsageError: it asks for two things at once, or for what cannot be.
    """
    kind, names = parse_names(arguments)
    if names and (selector or all_pending):
        raise UsageError(f"names and {'-l' if selector else '--all-pending'} were both given", "give one of them")
    if all_pending and (selector or kind not in (None, POD)):
        raise UsageError("--all-pending cannot be combined with -l or with a kind other than pod", "give one of them")
    everywhere = all_namespaces or (all_pending and not namespace)
    query = label_selectors.parse(selector) if selector else None
    within = scope(namespace, everywhere, assumed_namespace or DEFAULT_NAMESPACE)
    return Question(kind, tuple(names), query, all_pending, within)


def require_subject(arguments: Sequence[str], selector: str, *, all_pending: bool) -> None:
    """Hold up a question about nothing.

    Raises:
        UsageError: nothing is named or selected.
    """
    if not (arguments or selector or all_pending):
        raise UsageError(
            "no pod or workload given", "e.g. `schedctl explain pod NAME -n NAMESPACE`, or `--all-pending`"
        )


def named_among(names: Iterable[ObjectName], scope: Scope, kind: str, key: str) -> bool:
    """Return whether the object of a kind and key, or a workload whose pod it may be, is among those named.

    Args:
        names: the objects named.
        scope: the namespaces of names without one.
        kind: the object's kind, e.g. ``Pod``.
        key: the object's ``namespace/name``.
    """
    namespace, _, name = key.partition("/")
    within = Scope("") if scope.assumed else scope

    def is_named(each: ObjectName) -> bool:
        if kind == POD.name and each.kind not in (POD, None):  # which pods a workload has is not known yet
            return namespace == each.namespace if each.namespace else namespace in within
        same_kind = each.kind is None or each.kind.name == kind
        return same_kind and each.name == name and namespace in (Scope(each.namespace) if each.namespace else within)

    return any(map(is_named, names))


@contextmanager
def hint_at_files(arguments: Sequence[str]) -> Iterator[None]:
    """Say of a mistake on the command line that it comes from a file that was taken for a name, where there is one.

    Raises:
        UsageError: the mistake.
    """
    try:
        yield
    except UsageError as mistake:
        file = next((argument for argument in arguments if Path(argument).is_file()), "")
        if not file:
            raise
        hint = f"{file} is a file: quote a pattern (`-f '*.yaml'`) or repeat -f (`-f {file}`)"
        raise UsageError(str(mistake), hint) from None


NODE_NAMES = ("no", "node", "nodes")
"""What kubectl calls nodes, which are no objects that make pods and are asked about by themselves."""


def node_names(arguments: Sequence[str]) -> list[str] | None:
    """Return the names of the nodes that are asked about, none for nodes without a name; None if pods are.

    Raises:
        UsageError: an argument is about something else than a node, or has no name.
    """
    if not arguments or not (_is_node(arguments[0]) or _is_node(arguments[0].partition("/")[0])):
        return None
    names = []
    for argument in arguments[1:] if _is_node(arguments[0]) else arguments:
        prefix, slash, name = argument.partition("/")
        if slash and not _is_node(prefix):
            raise UsageError(f'"{argument}" is not a node', "explain pods and nodes in two commands")
        name = name if slash else argument
        if not slash and not _is_node(arguments[0]):
            raise UsageError(f'"{argument}" is not a node', f"e.g. `node/{argument}`, or `node` in front of all names")
        if not name or "/" in name:
            raise UsageError(f'invalid node name "{argument}"', "e.g. `node NAME` or `node/NAME`")
        names.append(name)
    return names


def reject_with_nodes(*options: tuple[str, object]) -> None:
    """Hold up a question about nodes with an option that is about pods.

    Raises:
        UsageError: there is such an option.
    """
    for option, value in options:
        if value:
            raise UsageError(f"{option} is about pods and was given with a node", "leave it out")


def _is_node(text: str) -> bool:
    return text.lower() in NODE_NAMES


def parse_names(arguments: Sequence[str]) -> tuple[SubjectKind | None, list[ObjectName]]:
    """Return the kind that stands alone in front, if any, and the objects named.

    Raises:
        UsageError: an argument is neither of the forms.
    """
    if not arguments:
        return None, []
    kind = kind_named(arguments[0])
    rest = arguments[1:] if kind else arguments
    close = nearest(arguments[0], BY_NAME) if kind is None and len(arguments) > 1 else None
    if close and "/" not in arguments[0]:
        raise UsageError(f'unknown kind "{arguments[0]}"', f"did you mean `{close}`?")
    return kind, [_parse_name(argument, kind) for argument in rest]


def find(name: ObjectName, state: AssembledCluster, scope: Scope) -> list[Any]:
    """Return the objects of that name: one, or under ``-A`` one for each namespace that has it.

    Raises:
        UsageError: there is none, with the nearest names; or a name without a kind is that of several objects.
    """
    if name.kind is None:
        return [_find_any_kind(name, state, scope)]
    inside = Scope(name.namespace) if name.namespace else scope
    objects = everything(name.kind, state)
    found = [obj for obj in objects if obj.metadata.name == name.name and obj.metadata.namespace in inside]
    if not found:
        kind = name.kind.names[0] if name.kind is POD else name.kind.name
        hint = _nearest(name, [obj.metadata for obj in objects], inside)
        if name.kind is POD_GROUP and (members := _naming_group(name.name, state, inside)):
            wait = "names it and waits" if len(members) == 1 else "name it and wait"
            hint = f"{counts.of(len(members), 'pod')} ({enumeration(members)}) {wait} for it: create it, or correct "
            hint += "spec.schedulingGroup.podGroupName"
        if not any(obj.metadata.namespace in inside for obj in objects):
            _refuse_kind_without_pods(name.namespace)
        raise UsageError(f'no {kind} "{name.name}" in {inside}', hint)
    return with_pods(found, state)


def _naming_group(name: str, state: AssembledCluster, scope: Scope) -> list[str]:
    """Return the pods without a node that say they are of a group, by key."""
    pending = state.cluster.pending.values()
    keys = (info.key for info in pending if info.namespace in scope and group_key(info).rpartition("/")[2] == name)
    return sorted(keys)


def _elsewhere(objects: Iterable[Any]) -> str:
    """Return in which namespaces objects are, as a next step; "" for no objects."""
    namespaces = list(dict.fromkeys(obj.metadata.namespace for obj in objects))
    return f"there are some in namespace {enumeration(namespaces)}; -A explains all of them" if namespaces else ""


def with_pods(objects: Iterable[Any], state: AssembledCluster) -> list[Any]:
    """Return objects, the pods that a Service selects in its place.

    Raises:
        UsageError: none of the Services selects a pod.
    """
    found: list[Any] = []
    idle: list[str] = []
    for obj in objects:
        if not isinstance(obj, Service):
            found.append(obj)
            continue
        metadata, labels = obj.metadata, obj.spec.selector or {}
        selected = [
            pod
            for pod in (everything(POD, state) if labels else ())
            if pod.metadata.namespace == metadata.namespace and labels.items() <= (pod.metadata.labels or {}).items()
        ]
        found += selected
        if not selected:
            pairs = ",".join(f"{key}={value}" for key, value in labels.items())
            why = f"no pod there has the labels {pairs}" if labels else "it has no selector"
            idle.append(f"Service {metadata.namespace}/{metadata.name} selects no pods: {why}")
    if idle and not found:
        raise UsageError(idle[0], "name the workload instead, e.g. `deploy/NAME`")
    return list({id(obj): obj for obj in found}.values())


def _refuse_kind_without_pods(text: str) -> None:
    """Hold up a question about a kind that schedctl does not explain.

    Raises:
        UsageError: the text is the name of such a kind.
    """
    if kind := kind_without_pods(text):
        raise UsageError(
            f"{kind} objects have no pods to explain",
            f"kinds with pods: {SHORT_NAMES}; svc stands for the pods that it selects, node for what is free there",
        )


def _find_any_kind(name: ObjectName, state: AssembledCluster, scope: Scope) -> Any:
    """Return the only object of that name, of whatever kind; in other namespaces where none was chosen.

    Raises:
        UsageError: there is none, or there are several.
    """
    named = [(kind, obj) for kind in KINDS for obj in everything(kind, state) if obj.metadata.name == name.name]
    here = [(kind, obj) for kind, obj in named if obj.metadata.namespace in scope]
    found = here or (named if scope.assumed else [])
    if len(found) == 1:
        return found[0][1]
    if not found:
        _refuse_kind_without_pods(name.name)
        close = nearest(name.name, BY_NAME)
        within = Scope("") if scope.assumed else scope
        hint = _nearest(name, [obj.metadata for kind in KINDS for obj in everything(kind, state)], within)
        raise UsageError(
            f'no pod or workload "{name.name}" in {within}', f"did you mean the kind `{close}`?" if close else hint
        )
    candidates = [f"`{kind.names[0]} {obj.metadata.namespace}/{obj.metadata.name}`" for kind, obj in found]
    raise UsageError(f'"{name.name}" is the name of {len(found)} objects', f"choose one: {enumeration(candidates)}")


def select(kind: SubjectKind, query: LabelQuery, state: AssembledCluster, scope: Scope) -> list[Any]:
    """Return the objects of a kind that a selector matches."""
    return _select(everything(kind, state), scope, lambda metadata: query.matches(metadata.labels))


def pending_pods(state: AssembledCluster, scope: Scope) -> list[Any]:
    """Return the pods without a node."""
    return _select((info.pod for info in state.cluster.pending.values()), scope, lambda metadata: True)


def nothing_pending(scope: Scope, state: AssembledCluster, *, of_files: bool) -> tuple[str, str]:
    """Return that no pod is pending, and a hint where there is none at all, or none in a namespace maybe misspelt."""
    namespace = scope.namespace
    text = f"no pending pods in {scope}" if namespace else "no pending pods"
    there = {pod.metadata.namespace for pod in everything(POD, state)}
    if not there and of_files:
        return f"{text}: there are no pods at all", "is the input complete?"
    if not namespace or not there or namespace in there:
        return text, ""
    return f"{text}, which has no pods at all", suggest_names(namespace, sorted(there), "namespaces with pods")


def everything(kind: SubjectKind, state: AssembledCluster) -> list[Any]:
    """Return all objects of a kind, finished pods included."""
    if kind is POD:
        return [*(info.pod for info in every_pod(state.cluster)), *state.finished.values()]
    return list(state.cluster.every(kind.struct).values())


def enumeration(names: Sequence[str]) -> str:
    """Return names in a sentence, the first few of many."""
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _select(objects: Iterable[Any], scope: Scope, chosen: Callable[[ObjectMeta], bool]) -> list[Any]:
    return [obj for obj in objects if obj.metadata.namespace in scope and chosen(obj.metadata)]


def _parse_name(argument: str, kind: SubjectKind | None) -> ObjectName:
    first, slash, rest = argument.partition("/")
    of_argument = kind_named(first) if slash else None
    if kind is not None and of_argument is not None and of_argument is not kind:
        raise UsageError(
            f'"{argument}" names another kind than "{kind.names[0]}"', "give every name its kind, e.g. `deploy/web`"
        )
    if of_argument is not None:
        namespace, slash, name = rest.partition("/")
        parsed = ObjectName(of_argument, name, namespace) if slash else ObjectName(of_argument, rest)
    elif slash:
        parsed = ObjectName(kind or POD, rest, first)
    elif kind is not None:
        parsed = ObjectName(kind, argument)
    elif kind_named(argument):
        raise UsageError(f'no name given for kind "{argument}"', f"e.g. `{argument}/NAME`")
    else:
        parsed = ObjectName(None, argument)
    if not parsed.name or "/" in parsed.name:
        raise UsageError(
            f'invalid name "{argument}"', "e.g. `pod web-0`, `pod/web-0`, `shop/web-0` or `pod shop/web-0`"
        )
    return parsed


def _nearest(name: ObjectName, existing: Sequence[ObjectMeta], scope: Scope) -> str:
    """The next step: the namespace that has the name, else the nearest name, else the names there are."""
    elsewhere = [metadata.namespace for metadata in existing if metadata.name == name.name]
    if elsewhere:
        return f"there is one in namespace {enumeration(elsewhere)}: add `-n {elsewhere[0]}`"
    here = [metadata.name for metadata in existing if metadata.namespace in scope]
    close = similar(name.name, here) or [each for each in here if each.startswith(name.name)]
    if close:
        return f"did you mean {enumeration(close)}?"
    if here:
        return f"choose one of {enumeration(here)}"
    namespaces = list(dict.fromkeys(metadata.namespace for metadata in existing))
    return f"there are some in namespace {enumeration(namespaces)}" if namespaces else ""


def scope(namespace: str, everywhere: bool, default: str = DEFAULT_NAMESPACE) -> Scope:
    """Return the namespaces that ``-n`` and ``-A`` stand for.

    Raises:
        UsageError: both were given.
    """
    if namespace and everywhere:
        raise UsageError("-n and -A were both given", "-A looks in all namespaces: leave one out")
    return Scope("" if everywhere else namespace or default, assumed=not (everywhere or namespace))
