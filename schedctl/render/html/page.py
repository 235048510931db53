"""What all pages have in common: head, policy, title, sections, data, and the line about how the answer was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from schedctl.render.html import assets
from schedctl.render.html.markup import Content, Markup, element, legible, whole_words
from schedctl.render.notices import few
from schedctl.reports.metadata import BUILT_IN, Metadata, Side, describe_unknown

_INPUTS = 6
"""How many files the foot of a page names."""
_GOOD, _BAD, _UNSURE = "good", "bad", "unsure"


class Section(msgspec.Struct, frozen=True):
    """A part of a page with a heading.

    Attributes:
        title: the heading.
        content: what is below it.
        lead: one sentence below the heading, "" for none.
        folded: whether it is folded until somebody opens it; printed it is open.
    """

    title: str
    content: Content
    lead: str = ""
    folded: bool = False


class Page(msgspec.Struct, frozen=True):
    """A page before it is written.

    Attributes:
        command: the command that made it.
        subject: whom or what the answer is about.
        verdict: the answer in a few words.
        style: ``good``, ``bad``, ``unsure`` or "": how the verdict is shown.
        lead: the answer in a sentence, "" where the verdict says it all.
        metadata: the conditions of the report.
        sections: what follows.
        data: what the script shows on demand.
        sides: of a comparison, the configurations that are compared.
    """

    command: str
    subject: str
    verdict: str
    style: str
    metadata: Metadata
    lead: str = ""
    sections: Sequence[Section] = ()
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    sides: Sequence[Side] = ()


def write(page: Page) -> str:
    """Return a page as a document."""
    title = f"{page.subject}: {page.verdict}" if page.verdict else page.subject
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=assets.policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{title[:200]} · schedctl {page.command}"),
        Markup(f"<style>{assets.style()}</style>"),
    )
    body = element(
        "body",
        _header(page),
        element("main", [_section(each) for each in page.sections]),
        _footer(page),
        _data(page.data),
        Markup(f"<script>{assets.script()}</script>"),
    )
    return f'<!doctype html>\n<html lang="en">\n{head}\n{body}\n</html>\n'


def conditions(metadata: Metadata) -> Content:
    """Return what the answer rests on beside the cluster: what-ifs, and what is not known."""
    parts: list[Content] = []
    if metadata.what_if:
        items = [element("li", each) for each in metadata.what_if]
        parts.append(element("div", element("h3", "What was changed first"), element("ul", items), class_="notice"))
    if metadata.missing:
        items = [element("li", f"{each.kind}: {each.text or each.reason}") for each in metadata.missing]
        heading = element("h3", "Kinds that could not be read")
        parts.append(element("div", heading, element("ul", items), class_="notice unsure"))
    return parts


def doubt(guesses: Iterable[Any]) -> Content:
    """Return what decides and is not known, nothing where all is known."""
    unknown = describe_unknown(guesses)
    return element("p", f"Not certain: {unknown}.", class_="notice unsure") if unknown else None


def _header(page: Page) -> Markup:
    return element(
        "header",
        element("p", f"schedctl {page.command}", class_="kicker"),
        element(
            "h1",
            element("span", page.subject, class_="subject"),
            " " if page.verdict else None,
            element("span", page.verdict, class_=f"verdict {page.style}".strip()) if page.verdict else None,
        ),
        element("p", whole_words(page.lead), class_="lead") if page.lead else None,
        element("p", f"A dry run: nothing was changed. {_when(page.metadata)}", class_="dry"),
        conditions(page.metadata),
    )


def _when(metadata: Metadata) -> str:
    """Return when the state was taken that was judged."""
    return f"State of {metadata.state_taken}." if metadata.state_taken else "Nothing says when the state was taken."


def _section(section: Section) -> Markup:
    heading = element("h2", section.title)
    lead = element("p", whole_words(section.lead), class_="section-lead") if section.lead else None
    if section.folded:
        return element(
            "section",
            element("details", element("summary", heading), lead, section.content),
            class_="folded",
        )
    return element("section", heading, lead, section.content)


def _footer(page: Page) -> Markup:
    metadata = page.metadata
    facts = [
        ("Rules", "; ".join(_rules(page))),
        ("State", metadata.state_taken or few([*dict.fromkeys(each.source for each in metadata.inputs)], _INPUTS)),
        ("Made by", f"schedctl {metadata.tool_version}; the same answer as data: -o json"),
    ]
    if metadata.feature_gates:
        facts.insert(1, ("Feature gates", ", ".join(metadata.feature_gates)))
    if metadata.seed is not None:
        facts.insert(1, ("Seed", str(metadata.seed)))
    rows = [(element("dt", name), element("dd", value)) for name, value in facts if value]
    return element("footer", element("dl", rows))


def _rules(page: Page) -> Iterator[str]:
    """Yield which kube-scheduler judges, of a comparison for each side."""
    version = page.metadata.kubernetes_version
    for side in page.sides:
        configuration = side.configuration
        if side.kubernetes_version:
            configuration = configuration.removeprefix(side.kubernetes_version).strip(" ,") or BUILT_IN
        yield f"{side.name}: {_judge(side.kubernetes_version or version, configuration)}"
    if not page.sides:
        yield _judge(version, page.metadata.configuration)


def _judge(version: str, configuration: str) -> str:
    return f"kube-scheduler {version} with {configuration if configuration != BUILT_IN else 'its built-in defaults'}"


def _data(data: dict[str, Any]) -> Markup:
    if not data:
        return Markup()
    # `<` would begin what could end the element
    written = json.dumps(_legible(data), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="data">{written}</script>')


def _legible(value: Any) -> Any:
    """Return plain values whose texts show as what they are."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, list):
        return [_legible(each) for each in value] if value and not isinstance(value[0], int) else value
    return {name: _legible(each) for name, each in value.items()} if isinstance(value, dict) else value
