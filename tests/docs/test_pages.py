"""Each page of the site begins with the question that brings a reader there, and ends with the next one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.name != "index.md")  # where all questions are
COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_begins_with_a_question_and_ends_with_the_next(page):
    title, question, *_, last = COMMENT.sub("", page.read_text(encoding="utf-8")).strip().split("\n\n")
    assert title.startswith("# ")
    assert "?" in question
    assert re.fullmatch(r"Next: .*\]\([\w/.#-]+\)\.?", " ".join(last.split()))
