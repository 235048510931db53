"""HTML and SVG elements whose texts and attributes are always escaped: nothing else makes `Markup`.

Names from a cluster are texts like any other. What could show as other than it is (`schedctl.render.sanitise`) is
written out before it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from schedctl.render import sanitise

_VOID = frozenset(("meta", "input", "br", "rect", "line", "path", "circle", "col"))
_SELF_CLOSED = frozenset(("rect", "line", "path", "circle"))
_SPACES = re.compile(r"(\s+)")
_WORD = 60
"""A longer word may be broken anywhere."""
_LONGEST = 2_000
"""A text of more characters than this is cut; no message of kube-scheduler's is as long."""


class Markup(str):
    """A piece of a page that is well-formed and escaped."""

    __slots__ = ()


Content = str | int | None | Iterable["Content"]
"""What an element holds: texts, which are escaped, markup, nothing, or several of these."""


def text(value: str) -> Markup:
    """Return a text as markup."""
    return Markup(escape(legible(value)))


def legible(value: str) -> str:
    """Return a text that shows as what it is, and is not endless."""
    cut = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value):,} characters)"
    return sanitise.text(cut)


def element(name: str, /, *content: Content, **attributes: str | int | bool | None) -> Markup:
    """Return an element.

    Args:
        name: of the element.
        content: what is in it.
        attributes: by name: `_` stands for a dash, one at the end for nothing (``class_``). False and None leave an
            attribute out, True writes its name alone.
    """
    written = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{written}{'/' if name in _SELF_CLOSED else ''}>")
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def whole_words(value: str, longest: int = _WORD) -> Content:
    """Return a text in which names with hyphens are not broken at these, unless they are longer than that."""
    if len(value) > _LONGEST:
        return value
    words = _SPACES.split(value)
    return [element("span", word, class_="whole") if "-" in word and len(word) <= longest else word for word in words]


def join(content: Content) -> Markup:
    """Return several pieces as one."""
    if content is None:
        return Markup()
    if isinstance(content, Markup):
        return content
    if isinstance(content, str | int):
        return text(str(content))
    return Markup("".join(map(join, content)))


def _attribute(name: str, value: str | int | bool) -> str:
    if value is True:
        return f" {name}"
    return f' {name}="{text(str(value))}"'
