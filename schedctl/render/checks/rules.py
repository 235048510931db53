"""What SARIF says of a check as a rule: what it demands, the expression, what to do, and where to read on.

GitHub shows the Markdown beside an alert, and takes so many signs and tags of a rule and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from schedctl.render import sanitise
from schedctl.render.checks import findings, markdown
from schedctl.reports.checks import Severity

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_TAGS = ("kubernetes", "scheduling")
_MOST_TAGS = 10
_MOST_SIGNS = 1024
_MOST_OF_NAME = 255
_URL = re.compile(r"https?://[!-~]+")


def rule_document(rule: findings.Rule) -> dict[str, Any]:
    """Return a rule as SARIF has it."""
    check = rule.check
    demand = _cut(sanitise.text(_demand(rule)), _MOST_SIGNS)
    document: dict[str, Any] = {
        "id": sanitise.text(rule.id),
        "name": _cut(sanitise.text(check.name), _MOST_OF_NAME),
        "shortDescription": {"text": demand},
        "fullDescription": {"text": demand},
        "help": {"text": "\n\n".join(_help(rule)), "markdown": "\n\n".join(_help_markdown(rule))},
        "defaultConfiguration": {"level": LEVELS[check.severity]},
        "properties": {
            "tags": list(dict.fromkeys((*_TAGS, *map(sanitise.text, check.tags))))[:_MOST_TAGS],
            "precision": "very-high",
            "problem.severity": _PROBLEMS[check.severity],
            "policy": sanitise.text(rule.policy.name),
            "builtin": sanitise.text(check.builtin),
        },
    }
    if url := _url(check.url):
        document["helpUri"] = url
    return document


def _demand(rule: findings.Rule) -> str:
    return rule.check.description.strip() or f"the check {rule.check.name} of the policy {rule.policy.name}"


def _statement(rule: findings.Rule) -> str:
    """Return which policy states the check, and where."""
    place = findings.place(rule.check.location) or rule.policy.source
    return f"policy {rule.policy.name}, {place}" if place else f"policy {rule.policy.name}"


def _help(rule: findings.Rule) -> Iterator[str]:
    yield sanitise.text(f"{_demand(rule)} ({_statement(rule)})")
    yield from (f"Expression: {sanitise.text(_one_line(each))}" for each in rule.check.expressions)
    if rule.check.builtin:
        yield sanitise.text(f"Built-in check: {rule.check.builtin}")
    if rule.check.remediation.strip():
        yield sanitise.text(f"What to do: {_one_line(rule.check.remediation)}")
    if url := _url(rule.check.url):
        yield f"See {url}"


def _help_markdown(rule: findings.Rule) -> Iterator[str]:
    yield f"{markdown.escape(_one_line(_demand(rule)))} ({markdown.escape(_statement(rule))})"
    yield from (f"Expression:\n\n{_code(each)}" for each in rule.check.expressions)
    if rule.check.builtin:
        yield f"Built-in check: {markdown.escape(rule.check.builtin)}"
    if rule.check.remediation.strip():
        yield f"**What to do:** {markdown.escape(_one_line(rule.check.remediation))}"
    if url := _url(rule.check.url):
        yield f"[Read more]({url})"


def _code(text: str) -> str:
    """Return an expression as a block of code, which ends where it ends and nowhere before."""
    lines = [sanitise.text(line) for line in text.strip().splitlines()]
    fence = "`" * (max((len(run) for line in lines for run in re.findall("`+", line)), default=2) + 1)
    return "\n".join((f"{fence}cel", *lines, fence))


def _url(text: str) -> str:
    """Return an address that can stand in a link and goes nowhere but to a page, "" for what is none."""
    return quote(text, safe="/:?#@!$&*+,;=%~-._") if _URL.fullmatch(text) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
