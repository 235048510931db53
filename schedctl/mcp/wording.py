"""Words of the command line as words about tools: an agent has no options, and types no commands.

Texts, hints and reports are written for people at a terminal, with code in backquotes; only that code is translated.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from schedctl.simulation.what_if_syntax import WORDS

_COMMANDS = {
    "capacity": ("capacity", "like"),
    "check": ("check", "files"),
    "drain": ("drain", "names"),
    "explain": ("explain", "pods"),
    "explain node": ("explain_nodes", "names"),
    "explain pod": ("explain", "pods"),
    "n-1": ("n_minus_1", ""),
    "nodes": ("nodes", ""),
    "simulate": ("simulate", "files"),
}
"""Of a command its tool, and the argument that the names behind it are."""
_ARGUMENTS = {"-n": "namespace", "-l": "selector", "--for": "files", "--max": "most"}
"""Options that are called otherwise, where the tool has such an argument."""
_DETAIL = frozenset(("-o wide", "-o json", "--limit"))
_OF_THE_SERVER = frozenset(
    (
        *("-f", "--filename", "--no-recursive", "--live", "--context", "--kubeconfig", "--as", "--as-group"),
        *("--feature-gates", "--kube-version", "--plugin", "--profile"),
        *("--scheduler-config", "--scheduler-config-from-cluster"),
    )
)
"""Options by which commands of an answer ask about the same: a server has them for good."""
_AT_START = _OF_THE_SERVER | {"--root", "--timeout"}
"""Options of ``schedctl mcp`` itself."""
_CODE = re.compile(r"`([^`]+)`")
_NEXT = re.compile(r"^next: (schedctl .+(?:\n {6}\S.*)*)$", re.MULTILINE)
_FULL = "`detail: full`"


class Wording(msgspec.Struct, frozen=True):
    """Translates what is said about a tool's answer.

    Attributes:
        arguments: of each tool, the names of its arguments.
    """

    arguments: Mapping[str, Collection[str]]

    def text(self, text: str, tool: str) -> str:
        """Return a text with the code in it in terms of tools, where there are such terms."""
        text = text.replace("more: -o wide", f"more: {_FULL}")
        text = _NEXT.sub(lambda found: f"next: {self._call(' '.join(found[1].split())) or found[1]}", text)
        return _CODE.sub(lambda found: self._code(" ".join(found[1].split()), tool) or found[0], text)

    def report(self, value: Any, tool: str) -> Any:
        """Return plain values with their texts in terms of tools."""
        if isinstance(value, dict):
            return {name: self.report(each, tool) for name, each in value.items()}
        if isinstance(value, list):
            return [self.report(each, tool) for each in value]
        if not isinstance(value, str):
            return value
        return self._call(value) or value if value.startswith("schedctl ") else self.text(value, tool)

    def _code(self, code: str, tool: str) -> str | None:
        if code.startswith("schedctl "):
            return self._call(code)
        if code in _DETAIL:
            return _FULL
        words = _words(code)
        if not words or not words[0].startswith("-"):
            return None
        option, value = _split(words)
        name = _ARGUMENTS.get(option) or option.lstrip("-").replace("-", "_")
        if name in self.arguments[tool]:
            return f"`{name}: {value or 'true'}`" if value or name not in ("namespace", "selector") else f"`{name}`"
        if option.removeprefix("--") in WORDS and "what_ifs" in self.arguments[tool]:
            return f'`what_ifs: ["{option.removeprefix("--")} {value}"]`'
        return f"`{code}` of `schedctl mcp`, when the server is started" if option in _AT_START else None

    def _call(self, code: str) -> str | None:
        """Return what a command is as the call of a tool, None where it is none."""
        words = _words(code)[1:]
        command = next((name for name in (" ".join(words[:2]), *words[:1]) if name in _COMMANDS), None)
        if command is None:
            return None
        tool, subject = _COMMANDS[command]
        values: dict[str, Any] = {}
        rest = words[len(command.split()) :]
        while rest:
            word = rest.pop(0)
            if not word.startswith("-"):
                if not subject:
                    return None
                values.setdefault(subject, []).append(word)
                continue
            option, value = _split([word])
            name = _ARGUMENTS.get(option) or option.lstrip("-").replace("-", "_")
            takes_value = bool(rest) and not rest[0].startswith("-") and option != "--all-pending"
            if takes_value and not value:
                value = rest.pop(0)
            if option in _OF_THE_SERVER:
                continue
            if option.removeprefix("--") in WORDS:
                values.setdefault("what_ifs", []).append(f"{option.removeprefix('--')} {value}")
            elif name in self.arguments[tool]:
                values[name] = value or True
            else:
                return None
        return f"`{tool}` with `{json.dumps(values, ensure_ascii=False)}`" if values else f"`{tool}`"


def _words(code: str) -> list[str]:
    try:
        return shlex.split(code)
    except ValueError:
        return []


def _split(words: list[str]) -> tuple[str, str]:
    """Return an option and its value, "" for none."""
    option, equals, value = words[0].partition("=")
    return (option, value) if equals and option.startswith("--") else (words[0], " ".join(words[1:]))
