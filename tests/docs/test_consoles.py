"""What a page shows of a console is what its commands print.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes the outputs into the pages.
"""

from __future__ import annotations

import os

import pytest

from schedctl.versions import __version__
from tests.docs.consoles import PAGES, ROOT, Reader, commands, folder_for

UPDATE = "SCHEDCTL_UPDATE_GOLDEN"
WITH_COMMANDS = [page for page in PAGES if commands(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    replayed = Reader(folder_for(text, tmp_path)).replay(text)
    if os.environ.get(UPDATE):
        page.write_text(replayed, encoding="utf-8")
    else:
        assert replayed == text


VERSIONS = f"$ schedctl --version\nschedctl {__version__}\n"
TYPO = "$ schedctl expl\nerror: no such command 'expl'. Did you mean 'explain'?\nhint: `schedctl --help`\n"


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        pytest.param("$ schedctl --version | head -1\nold\n", VERSIONS, id="an output is replaced"),
        pytest.param("$ schedctl expl\n", TYPO, id="standard error is shown"),
        pytest.param("$ schedctl expl\n$ echo $?\n0\n", f"{TYPO}$ echo $?\n2\n", id="the exit code of a command"),
        pytest.param("$ schedctl \\\n    expl\n", TYPO, id="a command of two lines"),
        pytest.param("$ schedctl --version | wc -l\n", "$ schedctl --version | wc -l\n2\n", id="what a shell does"),
        pytest.param("$ cat greeting\n", "$ cat greeting\nhello\n", id="a file of the page is in the folder"),
        pytest.param("$ ls -d fixtures\n", "$ ls -d fixtures\nfixtures\n", id="and so are the fixtures"),
    ],
)
def test_a_reader_types_what_a_page_shows(shown, printed, tmp_path):
    page = f"```text file=greeting\nhello\n```\n\n```console\n{shown}```\n"
    replayed = Reader(folder_for(page, tmp_path)).replay(page).replace(" \\\n   ", "").replace(" | head -1", "")
    assert replayed.split("```console\n")[1] == f"{printed}```\n"


def test_lines_are_folded_at_the_columns_of_a_page(tmp_path):
    page = "<!-- columns: 40 -->\n\n```console\n$ schedctl expl\n$ schedctl expl 2>&1 | cat\n```\n"
    lines = Reader(folder_for(page, tmp_path)).replay(page).splitlines()
    assert lines.count("error: no such command 'expl'. Did you") == 2
