"""How deep an expression is nested beyond doubt, for the two limits of kube-scheduler's parser.

The engine that parses for us stops earlier than kube-scheduler's does. Between the two there is nothing to say; but
what is certainly deeper than kube-scheduler allows does not compile there, whatever else is in it.
"""

from __future__ import annotations

import re

_DEEPEST = 250
_STRING = r"""'''(?:\\.|.)*?'''|\"\"\"(?:\\.|.)*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\""""
_RAW_STRING = r"""'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|"[^"\n]*\""""
_TOKEN = re.compile(
    rf"(?P<blank>\s+|//[^\n]*)|(?P<operand>[bB]?[rR][bB]?(?:{_RAW_STRING})|[bB]?(?:{_STRING})"
    r"|[0-9]+(?:\.[0-9]+)?|in\b(?P<relation>)|\w+|[(\[{]\s*[)\]}])"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<dot>\.)|(?P<add>[+-])|(?P<multiply>[*/%])|(?P<other>.)",
    re.DOTALL,
)
"""Words of CEL; brackets with nothing inside are one word."""


def excess(text: str) -> str | None:
    """Return what kube-scheduler says of an expression that is certainly nested too deep, None if it may not be."""
    adds, dots = [0], [0]
    after_operand, chained = False, False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "blank":
            continue
        if kind == "open":
            adds.append(0)
            dots.append(0)
        elif kind == "close" and len(adds) > 1:
            adds.pop()
            dots.pop()
        # A dot or a sign counts only behind an operand: before one it begins a number, or negates.
        elif kind == "dot":
            dots[-1] += after_operand
        elif kind == "add":
            adds[-1] += after_operand
            dots[-1] = 0
        elif kind == "multiply":
            dots[-1] = 0
        elif kind in ("relation", "other"):
            adds[-1] = dots[-1] = 0
        after_operand = kind in ("operand", "close")
        chained = chained or max(adds[-1], dots[-1]) > _DEEPEST
        if len(adds) > _DEEPEST:
            return f"expression recursion limit exceeded: {_DEEPEST}"
    return "max recursion depth exceeded" if chained else None
