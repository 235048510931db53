"""What a class must be to serve as a plugin, checked when it is registered and said in full when it is not.

A plugin that lacks a method, or whose method cannot be called as the engine calls it, would otherwise fail in the
middle of somebody's cycle, and as that pod's fault. What is checked is form; that a plugin keeps the laws of its
extension points is checked by asking it (`schedctl.testing.laws`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from schedctl.api.durations import Duration
from schedctl.api.kinds import KINDS, Kind
from schedctl.api.texts import clip
from schedctl.framework.group_points import GROUP_POINTS, PlacementFeasiblePlugin
from schedctl.framework.points import POINTS, Plugin

_POINTS = (*POINTS.values(), *GROUP_POINTS.values())
_SCALARS = (bool, int, float, str, bytes, Duration)
_LONGEST_NAME = 253
# the PodGroups of scheduler-plugins and of Volcano were there first; Kubernetes' own are of another API group
_OF_KUBERNETES = frozenset(kind.name for kind in KINDS) - {"PodGroup"}
_EXPLANATIONS = ("wording", "remedies", "allocations", "notes", "explain_preemption", "preemption_notes")
_OPTIONAL = (
    "normalize",
    "normalize_placements",
    "with_pods",
    "signature",
    "events_to_register",
    "remarks",
    "warnings",
    *_EXPLANATIONS,
)
"""Methods that have a body already, and may be given another."""


def broken_rules(candidate: object) -> list[str]:
    """Return what keeps something from being a plugin, a sentence each; nothing for a plugin."""
    if not (isinstance(candidate, type) and issubclass(candidate, Plugin)):
        what = getattr(candidate, "__name__", type(candidate).__name__)
        return [f"{what} is not a plugin: it inherits none of {_bases()}"]
    points = [base for base in _POINTS if issubclass(candidate, base)]
    if not points:
        return [f"{candidate.__name__} has no extension point: it inherits none of {_bases()}"]
    return [
        *_name(candidate),
        *_methods(candidate, [*points, *_unconfigured_points(candidate)]),
        *_construction(candidate),
        *_arguments(candidate),
        *_kinds(candidate),
    ]


def _unconfigured_points(candidate: type[Plugin]) -> list[type[Plugin]]:
    """Return the point that no configuration names, if the plugin has it: whoever takes part is asked."""
    return [PlacementFeasiblePlugin] if issubclass(candidate, PlacementFeasiblePlugin) else []


def _bases() -> str:
    return ", ".join(base.__name__ for base in _POINTS)


def _name(plugin: type[Plugin]) -> Iterator[str]:
    name: object = plugin.name
    if (
        not isinstance(name, str)
        or not name
        or name != name.strip()
        or len(name) > _LONGEST_NAME
        or any(not letter.isprintable() for letter in name)
    ):
        yield f"the name of {plugin.__name__} is {clip(repr(name))}: expected a word such as {plugin.__name__}"


def _methods(plugin: type[Plugin], points: list[type[Plugin]]) -> Iterator[str]:
    for base in points:
        for name in sorted(base.__abstractmethods__):
            if name in plugin.__abstractmethods__:
                yield f"{plugin.__name__} lacks the method {_call_form(base, name)} of {base.__name__}"
            else:
                yield from _signature(plugin, base, name)
    owners: tuple[type[Plugin], ...] = (*points, Plugin)
    for name in _OPTIONAL:
        owner = next((each for each in owners if hasattr(each, name)), None)
        if owner is not None and getattr(plugin, name) is not getattr(owner, name):
            yield from _signature(plugin, owner, name)


def _signature(plugin: type[Plugin], base: type[Plugin], name: str) -> Iterator[str]:
    """Yield that a method cannot be called with the arguments of the one it stands for."""
    method = inspect.getattr_static(plugin, name)
    expected = _call_form(base, name)
    if isinstance(method, staticmethod | classmethod | property):
        yield f"{plugin.__name__}.{name} is a {type(method).__name__}: expected the method {expected}"
        return
    if not callable(method):
        yield f"{plugin.__name__}.{name} is not a method: expected {expected}"
        return
    if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
        yield f"{plugin.__name__}.{name} is a coroutine or generator: expected the plain method {expected}"
        return
    taken = inspect.signature(method)
    try:
        taken.bind(*inspect.signature(getattr(base, name)).parameters)  # as the engine calls it: all by position
    except TypeError as wrong:
        yield f"{plugin.__name__}.{name}{taken} cannot be called as {expected}: {wrong}"


def _construction(plugin: type[Plugin]) -> Iterator[str]:
    taken = inspect.signature(plugin.__init__)
    try:
        taken.bind("self", "args", "handle")
    except TypeError as wrong:
        yield f"{plugin.__name__}.__init__{taken} cannot be called with (args, handle): {wrong}"


def _arguments(plugin: type[Plugin]) -> Iterator[str]:
    kind: object = plugin.args_type
    if kind is None:
        return
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        yield f"{plugin.__name__}.args_type is {kind!r}: expected a class derived from PluginArgs"
        return
    try:
        unreadable = list(_unreadable(kind, kind.__name__))
    except (NameError, TypeError) as fault:  # annotations are looked up only now
        yield f"the fields of {plugin.__name__}.args_type cannot be read: {fault}"
        return
    for path, wrong in unreadable:
        yield f"{path} of {plugin.__name__}.args_type cannot be read from a configuration: {wrong}"


def _kinds(plugin: type[Plugin]) -> Iterator[str]:
    declared: object = plugin.kinds
    if not isinstance(declared, tuple) or not all(isinstance(kind, Kind) for kind in declared):
        yield f"{plugin.__name__}.kinds is {declared!r}: expected a tuple of Kind"
        return
    for kind in plugin.kinds:
        if kind.name in _OF_KUBERNETES:
            yield f"{plugin.__name__}.kinds has {kind}, which is the name of a built-in kind of Kubernetes"


def _unreadable(kind: type[msgspec.Struct], path: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a struct whose types a configuration cannot express."""
    for one in msgspec.structs.fields(kind):
        for bare in _bare(one.type):
            if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
                yield from _unreadable(bare, f"{path}.{one.name}")
            elif bare is not Any and bare not in _SCALARS:
                yield (
                    f"{path}.{one.name}",
                    f"{bare} is not a number, str, bool, Duration, list, mapping or struct of them",
                )


def _bare(annotation: Any) -> Iterator[Any]:
    """Yield the types that lists, mappings, optional and annotated types are made of."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _bare(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        inner = [each for each in get_args(annotation) if each is not types.NoneType]
        if len(inner) == 1:
            yield from _bare(inner[0])
        else:
            yield annotation
    elif origin in (list, tuple):
        yield from _bare(get_args(annotation)[0])
    elif origin is dict:
        yield from _bare(get_args(annotation)[1])
    else:
        yield annotation


def _call_form(base: type[Plugin], name: str) -> str:
    """Return how a method is called, e.g. ``filter(cycle, nodes)``."""
    _, *parameters = inspect.signature(getattr(base, name)).parameters
    return f"{name}({', '.join(parameters)})"
