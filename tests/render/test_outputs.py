"""The values of ``-o``, and what a stream can show."""

import io

import pytest

from schedctl.errors import UsageError
from schedctl.render import outputs, sanitise, terminals
from schedctl.testing.builders import cluster, node, pod


@pytest.mark.parametrize("name", ["text", "wide", "json", "yaml", "name"])
def test_outputs_by_name(name):
    assert outputs.parse(name).format == name


def test_no_name_is_the_text_for_people():
    assert outputs.parse("") == outputs.parse("text")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xml", 'unknown output "xml"'),
        ("json=x", 'unknown output "json=x"'),
        ("jsonpath", "-o jsonpath needs a template"),
        ("jsonpath=", "-o jsonpath needs a template"),
        ("jsonpath={.a", "} is missing"),
        ("\x1b[31m", r'unknown output "\x1b[31m"'),
    ],
)
def test_outputs_that_do_not_exist(text, message):
    with pytest.raises(UsageError) as caught:
        outputs.parse(text)
    assert message in str(caught.value)


def test_jsonpath_ends_where_the_template_ends(show):
    template = "jsonpath={range .results[*]}{.pod.name}={.chosen}{end}"
    assert show(cluster(node("a")), pod(), output=template) == "web=a"


class Screen(io.TextIOWrapper):
    """A terminal, as far as it says."""

    def __init__(self, encoding="utf-8"):
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "color", "environ", "colored"),
    [
        pytest.param(io.StringIO(), "auto", {}, False, id="a pipe has no colour"),
        pytest.param(Screen(), "auto", {}, True, id="a terminal has"),
        pytest.param(Screen(), "auto", {"TERM": "dumb"}, False, id="a dumb one has not"),
        pytest.param(Screen(), "auto", {"NO_COLOR": "1"}, False, id="NO_COLOR switches it off"),
        pytest.param(Screen(), "auto", {"NO_COLOR": ""}, True, id="an empty NO_COLOR does not"),
        pytest.param(io.StringIO(), "auto", {"FORCE_COLOR": "1"}, True, id="FORCE_COLOR switches it on"),
        pytest.param(io.StringIO(), "auto", {"CLICOLOR_FORCE": "1"}, True, id="CLICOLOR_FORCE as well"),
        pytest.param(io.StringIO(), "auto", {"FORCE_COLOR": "0"}, False, id="FORCE_COLOR=0 does not"),
        pytest.param(io.StringIO(), "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="NO_COLOR wins"),
        pytest.param(Screen(), "never", {"FORCE_COLOR": "1"}, False, id="--color=never wins over all"),
        pytest.param(io.StringIO(), "always", {"NO_COLOR": "1"}, True, id="--color=always wins over all"),
    ],
)
def test_colour(stream, color, environ, colored):
    assert terminals.of(stream, color=color, environ=environ).color is colored


@pytest.mark.parametrize(
    ("stream", "environ", "width"),
    [
        pytest.param(io.StringIO(), {}, None, id="a pipe has no width"),
        pytest.param(io.StringIO(), {"COLUMNS": "72"}, 72, id="COLUMNS gives one"),
        pytest.param(io.StringIO(), {"COLUMNS": "wide"}, None, id="if it is a number"),
        pytest.param(io.StringIO(), {"COLUMNS": "0"}, None, id="of at least 1"),
        pytest.param(Screen(), {}, None, id="a terminal that does not know its width has none"),
    ],
)
def test_width(stream, environ, width):
    assert terminals.of(stream, environ=environ).width == width


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("", "a → é"), ("utf-8", "a → é"), ("UTF8", "a → é"), ("ascii", r"a -> \xe9"), ("latin-1", "a -> é")],
)
def test_characters(encoding, text):
    assert terminals.Terminal(encoding=encoding).printable("a → é") == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\nb\tc", r"a\x0ab\x09c"),
        ("\x9b1m", r"\x9b1m"),
        ("\u202eexe.txt", r"\u202eexe.txt"),
        ("a\u200bb\u2066c", r"a\u200bb\u2066c"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("日本 é →", "日本 é →"),
    ],
)
def test_sanitised(raw, shown):
    assert sanitise.text(raw) == shown
