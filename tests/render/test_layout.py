"""Lines and columns."""

import io

import pytest

from schedctl.render import layout
from schedctl.render.layout import Line, Span, Table
from schedctl.render.terminals import Terminal


def laid_out(*blocks, width=None):
    stream = io.StringIO()
    layout.write(blocks, stream, Terminal(width))
    return stream.getvalue()


def cells(*texts):
    return [(Span(text),) for text in texts]


@pytest.mark.parametrize(
    ("block", "width", "text"),
    [
        pytest.param(layout.line("one two three"), None, "one two three\n", id="without a width nothing is folded"),
        pytest.param(
            layout.line("one two three four five six"),
            26,
            "one two three four five\n  six\n",
            id="folds at spaces, indented",
        ),
        pytest.param(layout.line("x" * 12), 8, "x" * 12 + "\n", id="a long word is left whole"),
        pytest.param(
            Line((Span("one two three"),), whole=True), 8, "one two three\n", id="a whole line is never folded"
        ),
        pytest.param(layout.line(""), 8, "\n", id="an empty line stays"),
        pytest.param(layout.line("trailing   "), None, "trailing\n", id="trailing spaces go"),
        pytest.param(
            layout.line("日本 語文"),
            6,
            "日本\n語文\n",
            id="wide characters count twice, and a narrow line has no indent",
        ),
    ],
)
def test_lines(block, width, text):
    assert laid_out(block, width=width) == text


@pytest.mark.parametrize(
    ("table", "width", "text"),
    [
        pytest.param(
            Table([cells("a", "one"), cells("bcd", "two")]), None, "a    one\nbcd  two\n", id="columns line up"
        ),
        pytest.param(
            Table([cells("a", "1"), cells("b", "20")], 2, ("N", "SUM"), frozenset((1,))),
            None,
            "  N  SUM\n  a    1\n  b   20\n",
            id="numbers are aligned to the right",
        ),
        pytest.param(
            Table([cells("a", "1", "2")], 2, ("N", "SUM", "OTHER"), frozenset((1, 2)), optional=1),
            40,
            "  N  SUM  OTHER\n  a    1      2\n",
            id="a column that may be left out stays where it fits",
        ),
        pytest.param(
            Table([cells("a", "one", "stopped after so many pods")], 2, ("N", "WHAT", "")),
            20,
            "  a\n    WHAT: one\n    stopped after so\n    many pods\n",
            id="a row that does not fit is stacked, and a column without a title has none there",
        ),
        pytest.param(
            Table([cells("a", "1", "x" * 40)], 2, ("N", "SUM", "OTHER"), frozenset((1,)), optional=1),
            40,
            "  N  SUM\n  a    1\n  too wide for this terminal: OTHER\n",
            id="and is named where it does not",
        ),
        pytest.param(
            Table([cells("a", "one two three four five six")]),
            28,
            "a  one two three four five\n   six\n",
            id="the last column folds under itself",
        ),
        pytest.param(
            Table([cells("a" * 20, "one two")]), 26, "a" * 20 + "\n  one two\n", id="or goes below if there is no room"
        ),
        pytest.param(
            Table([cells("a", "1", "2"), cells("b", "3", "")], 0, ("N", "FIRST", "SECOND")),
            12,
            "a\n  FIRST: 1\n  SECOND: 2\nb\n  FIRST: 3\n",
            id="a table with heads is told row by row",
        ),
        pytest.param(
            Table([cells("a", "1", "a remark")], 0, ("N", "FIRST", "")),
            12,
            "a\n  FIRST: 1\n  a remark\n",
            id="and what has no head without one",
        ),
        pytest.param(
            Table(
                [cells("1", "one two " * 9, "six ten " * 9)], 0, ("N", "FIRST", "SECOND"), frozenset((0,)), folding=2
            ),
            78,
            "N  FIRST                                 SECOND\n"
            "1  one two one two one two one two one   six ten six ten six ten six ten six\n"
            "   two one two one two one two one two   ten six ten six ten six ten six ten\n",
            id="columns fold side by side where there is room for both",
        ),
        pytest.param(
            Table(
                [cells("1", "one two " * 9, "six ten " * 9)], 0, ("N", "FIRST", "SECOND"), frozenset((0,)), folding=2
            ),
            60,
            "N  FIRST\n"
            "1  one two one two one two one two one two one two one two\n"
            "   one two one two\n"
            "   SECOND: six ten six ten six ten six ten six ten six ten\n"
            "     six ten six ten six ten\n",
            id="and go below each other where there is not",
        ),
        pytest.param(Table([cells("a", "x"), cells("only")]), None, "a     x\nonly\n", id="rows may be short"),
        pytest.param(Table([]), None, "", id="an empty table is nothing"),
    ],
)
def test_tables(table, width, text):
    assert laid_out(table, width=width) == text


def test_what_has_longer_signs_on_a_terminal_without_utf_8_lines_up_there():
    stream = io.StringIO()
    table = Table([cells("a", "1% → 2%", "x"), cells("b", "3%", "é")], 0, ("N", "≤", "LAST"))
    layout.write([table, layout.line("one → two → three four five six")], stream, Terminal(26, encoding="ascii"))
    assert stream.getvalue() == (
        "N  <=        LAST\na  1% -> 2%  x\nb  3%        \\xe9\none -> two -> three four\n  five six\n"
    )


@pytest.mark.parametrize(
    ("heights", "taken"),
    [
        pytest.param((30, 24, 10), 24, id="the first that fits"),
        pytest.param((30, 28), 28, id="the last where none does"),
    ],
)
def test_of_texts_from_much_to_little_the_screen_shows(heights, taken):
    assert len(layout.fit_screen(([layout.BLANK] * height for height in heights), 24)) == taken


@pytest.mark.parametrize(("rows", "lines"), [pytest.param(0, 24, id="none known"), (24, 22), (40, 38)])
def test_an_answer_leaves_room_for_the_prompts_of_a_terminal_with_rows(rows, lines):
    stream = io.StringIO()
    levels = [[layout.BLANK] * height for height in range(60, 0, -1)]
    layout.write([layout.ScreenText(levels)], stream, Terminal(80, rows=rows))
    assert stream.getvalue().count("\n") == lines
