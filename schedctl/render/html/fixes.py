"""Next steps on a page: what was tried and works, with what to type, and what else is known to help."""

from __future__ import annotations

import json
from collections.abc import Sequence

from schedctl.render.html.markup import Content, Markup, element, whole_words
from schedctl.render.html.tables import remainder
from schedctl.reports.reasons import Hint, ManifestEdit

_SHOWN = 8


def first(hints: Sequence[Hint]) -> Hint | None:
    """Return the first next step that works as simulated, None where there is none."""
    return next((hint for hint in hints if hint.fits), None)


def text(hint: Hint) -> str:
    """Return a next step in words, with the size of a cut."""
    return f"{hint.text} (−{hint.cut} %)" if hint.cut else hint.text


def fixes(hints: Sequence[Hint]) -> Content:
    """Return a list of next steps, those that were tried and work first; nothing where there is none."""
    if not hints:
        return None
    ordered = sorted(hints, key=lambda hint: not hint.fits)
    more = remainder(len(ordered) - _SHOWN)
    return [element("ol", [_fix(hint) for hint in ordered[:_SHOWN]], class_="fixes"), more]


def best(hints: Sequence[Hint]) -> Content:
    """Return the first next step that was tried and works, in a box; nothing where there is none."""
    found = first(hints)
    if found is None:
        return None
    return element("div", element("h2", "What would help, as simulated"), _body(found), class_="best")


def command(line: str) -> Markup:
    """Return something to be pasted."""
    return element("pre", element("code", whole_words(line)), class_="command", tabindex="0")


def _fix(hint: Hint) -> Markup:
    works = element("span", "simulated: would work", class_="tag good") if hint.fits else None
    return element("li", works, _body(hint))


def _body(hint: Hint) -> Content:
    return [
        element("p", whole_words(text(hint)), class_="fix-text"),
        command(hint.command) if hint.command else None,
        [_edit(edit) for edit in hint.edits],
        [element("p", f"Then: {each}", class_="then") for each in dict.fromkeys(hint.consequences)],
    ]


def _edit(edit: ManifestEdit) -> Markup:
    place = f"{edit.source}:{edit.line}" if edit.line else edit.source
    verb = {"set": "set", "append": "append to", "remove": "remove"}[edit.action]
    value = "" if edit.action == "remove" else f": {json.dumps(edit.value, ensure_ascii=False)}"
    return element("p", f"{place}: {verb} ", element("code", f"{edit.field}{value}"), class_="edit")
