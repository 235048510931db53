"""A user's own entries in the table of custom kinds (`schedctl.api.custom_kinds`), as settings write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schedctl.api import custom_kinds
from schedctl.api.kinds import KINDS
from schedctl.documents.spelling import did_you_mean
from schedctl.errors import ConfigError, Problem

_BUILT_IN = {(version.rpartition("/")[0], kind.name) for kind in KINDS for version in kind.versions}
_FIELDS = ("template", "spec", "pod", "otherwise", "replicas", "times", "less", "default", "group", "named", "perNode")


def with_custom_kinds(entries: Mapping[str, Any]) -> tuple[custom_kinds.CustomKind, ...]:
    """Return the table with a user's own entries, which replace those of the same kind and group.

    Args:
        entries: plain data, by ``Kind.group`` as kubectl writes it: one mapping or a list of them, each with one of
            ``template``, ``spec`` and ``pod`` (the path of a pod template, a pod spec or a whole pod), and optionally
            ``otherwise``, ``replicas``, ``times`` and ``named`` (paths), ``default`` and ``less`` (numbers), ``group``
            (text), ``perNode`` (true or false). An empty list takes a kind out of the table.

    Raises:
        ConfigError: an entry is not of this form; with every problem, by path.
    """
    problems: list[Problem] = []
    table = {(kind.group, kind.name): kind for kind in custom_kinds.CUSTOM_KINDS}
    for key, value in entries.items():
        name, _, group = str(key).partition(".")
        before = len(problems)
        if not name or not group:
            problems.append(Problem("expected Kind.group, e.g. Rollout.argoproj.io", path=str(key)))
            continue
        if (group, name) in _BUILT_IN:
            problems.append(Problem(f"{name}.{group} is a built-in kind of Kubernetes", path=str(key)))
            continue
        if isinstance(value, list):
            read = tuple(_pods_at(one, f"{key}[{i}]", problems) for i, one in enumerate(value))
        else:
            read = (_pods_at(value, key, problems),)
        if len(problems) == before:
            table[group, name] = custom_kinds.CustomKind(group, name, read)
    if problems:
        raise ConfigError(problems)
    return tuple(kind for kind in table.values() if kind.pods or kind.operator)


def _pods_at(value: Any, path: str, problems: list[Problem]) -> custom_kinds.PodsAt:
    def wrong(field: str, message: str, hint: str = "") -> None:
        problems.append(Problem(message, path=f"{path}.{field}" if field else path, hint=hint))

    if not isinstance(value, Mapping):
        wrong("", "expected a mapping, or a list of mappings")
        return custom_kinds.PodsAt(())
    for field in value:
        if field not in _FIELDS:
            wrong(str(field), f'unknown field "{field}"', did_you_mean(str(field), _FIELDS))
    forms = [form for form in custom_kinds.FORMS if form in value]
    if len(forms) != 1:
        wrong("", f"expected one of {', '.join(custom_kinds.FORMS)}")

    def path_at(field: str) -> custom_kinds.Steps:
        written = value.get(field, "")
        found = custom_kinds.steps(written) if isinstance(written, str) else written
        if not isinstance(found, list | tuple) or not all(isinstance(step, str) and step for step in found):
            wrong(field, "expected a path with dots, or a list of its steps")
            return ()
        if field in forms and not found:
            wrong(field, "expected a path")
        return tuple(found)

    def number(field: str, default: int) -> int:
        written = value.get(field, default)
        if isinstance(written, int) and not isinstance(written, bool) and written >= 0:
            return written
        wrong(field, "expected a number at least 0")
        return default

    group, per_node = value.get("group", ""), value.get("perNode", False)
    if not isinstance(group, str):
        wrong("group", "expected text")
    if not isinstance(per_node, bool):
        wrong("perNode", "expected true or false")
    form = forms[0] if forms else custom_kinds.FORMS[0]
    return custom_kinds.PodsAt(
        path_at(form),
        form,
        path_at("otherwise"),
        path_at("replicas"),
        path_at("times"),
        number("less", 0),
        number("default", 1),
        str(group),
        path_at("named"),
        bool(per_node),
    )
