"""Every link of a page leads to a file that is there and, behind a `#`, to one of its headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs._reference.markdown import anchor

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/**/*.md"))
ELSEWHERE = ("http://", "https://", "mailto:")


@cache
def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that code hosts, and the site, give to the headings of a page."""
    parsed = tokens(page)
    headings = [parsed[number + 1] for number, token in enumerate(parsed) if token.type == "heading_open"]
    seen: Counter[str] = Counter()
    found = set()
    for heading in headings:
        text = "".join(each.content for each in heading.children or () if each.type in ("text", "code_inline"))
        name = anchor(text)
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


def targets(page: Path) -> Iterator[str]:
    """What the links and images of a page lead to."""
    for token in tokens(page):
        for each in token.children or ():
            if each.type in ("link_open", "image"):
                yield str(each.attrs["href" if each.type == "link_open" else "src"])


def problem(page: Path, target: str) -> str:
    """What is wrong with a link, "" for nothing."""
    path, _, heading = target.partition("#")
    file = page.parent / path if path else page
    if not file.exists():
        return f"{target}: there is no such file"
    if heading and heading not in anchors(file.resolve()):
        return f"{target}: there is no such heading"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    inside = [target for target in targets(page) if not target.startswith(ELSEWHERE)]
    assert [wrong for target in inside if (wrong := problem(page, target))] == []


@pytest.mark.parametrize(
    ("target", "wrong"),
    [
        pytest.param("other.md#a-heading", "", id="a heading of another page"),
        pytest.param("#here", "", id="a heading of the page itself"),
        pytest.param("#here-1", "", id="the second of two equal headings"),
        pytest.param("gone.md", "gone.md: there is no such file", id="a page that is gone"),
        pytest.param("other.md#gone", "other.md#gone: there is no such heading", id="a heading that is gone"),
    ],
)
def test_a_broken_link_is_found(target, wrong, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Here\n\n[there]({target})\n\n# Here\n")
    (tmp_path / "other.md").write_text("## A `heading`\n")
    assert [problem(page, target) for target in targets(page)] == [wrong]
