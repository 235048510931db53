"""kubectl's jsonpath templates; the expectations were compared with client-go's own implementation."""

import pytest

from schedctl.errors import UsageError
from schedctl.render import jsonpath

DATA = {
    "kind": "R",
    "n": 3,
    "f": 1.5,
    "million": 1e6,
    "small": 1.5e-7,
    "yes": True,
    "nothing": None,
    "users": [
        {"name": "e2e", "user": {"x": "y<&>"}, "n": 1, "tags": ["a", "b"]},
        {"name": "my self", "n": 2, "tags": []},
        {"name": "c", "n": 2, "user": None, "tags": ["z"]},
    ],
    "labels": {"kubernetes.io/host": "h1", "b": "2"},
    "nested": {"users": [{"name": "q"}]},
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{.kind}", "R"),
        ("{$.kind}", "R"),
        ("{@.kind}", "R"),
        ("kind is {.kind}!", "kind is R!"),
        ("{.missing}", ""),
        ("{.n} {.f} {.million} {.small} {.yes} {.nothing}", "3 1.5 1e+06 1.5e-07 true null"),
        ("{.users[*].name}", "e2e my self c"),
        ("{.users[0].name}", "e2e"),
        ("{.users[-1].name}", "c"),
        ("{.users[0:2].name}", "e2e my self"),
        ("{.users[::2].name}", "e2e c"),
        ("{.users[1:].n}", "2 2"),
        ("{.users[0,2].name}", "e2e c"),
        ("{.users[0]['name','n']}", "e2e 1"),
        (r"{.labels.kubernetes\.io/host}", "h1"),
        (r"{.labels['kubernetes\.io/host']}", "h1"),
        ("{..name}", "e2e my self c q"),
        ("{.users[?(@.n==2)].name}", "my self c"),
        ("{.users[?(@.n<2)].name}", "e2e"),
        ('{.users[?(@.name=="e2e")].tags[*]}', "a b"),
        ("{.users[?(@.name!='e2e')].n}", "2 2"),
        ("{.users[?(@.user.x)].name}", "e2e"),
        ('{.users[?(@.name=="a)]")].name}', ""),
        ("{.users[0].user}", r'{"x":"y\u003c\u0026\u003e"}'),
        ("{.users[0].tags}", '["a","b"]'),
        ("{.labels}", '{"b":"2","kubernetes.io/host":"h1"}'),
        ('{range .users[*]}{.name}{"\\t"}{.n}{"\\n"}{end}', "e2e\t1\nmy self\t2\nc\t2\n"),
        ("{range .users[*]}{range .tags[*]}{@}{end};{end}", "ab;;z;"),
        ("{range .missing[*]}x{end}done", "done"),
        ('{"a\\"b\\u00e9"}{\'c\'}{1}{-2.5}{true}', 'a"béc1-2.5true'),
        ("{.labels.*}", "h1 2"),
        ("}{.kind}", "}R"),
    ],
)
def test_templates(template, text):
    assert jsonpath.parse(template).render(DATA) == text


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{.kind", "} is missing"),
        ("{range .users[*]}{.name}", "{range} without {end}"),
        ("{end}", "{end} without {range}"),
        ("{.users[x]}", "[x] is not an index"),
        ("{.users[?(@.n=2)]}", 'unknown comparison "="'),
        ("{.users[?(@.n==2]}", "[?( is not closed"),
        ("{if .a}", 'unknown word "if"'),
        ('{"\\q"}', "unknown escape"),
        ("{....a}", "more than two dots"),
        ("{,}", "unexpected ','"),
    ],
)
def test_a_template_that_cannot_be_parsed_is_a_usage_error(template, message):
    with pytest.raises(UsageError) as caught:
        jsonpath.parse(template)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{.users[7]}", "index 7 is out of bounds, the list has 3"),
        ("{.users[2:1]}", "2:1 ends before it begins"),
        ("{.users[0:9]}", "0:9 is out of bounds"),
        ("{.users[0:2:0]}", "must be at least 1"),
        ("{.labels[0]}", "a map is not a list"),
        ("{.users[?(@.n=='2')]}", "cannot compare a number with a text"),
        ("{.users[?(@.tags[*]=='a')]}", "can only compare one value at a time"),
    ],
)
def test_what_does_not_go_with_the_data_is_a_usage_error(template, message):
    with pytest.raises(UsageError) as caught:
        jsonpath.parse(template).render(DATA)
    assert message in str(caught.value)


def test_a_template_without_braces_is_a_mistake_with_a_hint():
    with pytest.raises(UsageError) as caught:
        jsonpath.parse(".results[0].chosen")
    assert caught.value.hint == "did you mean `jsonpath={.results[0].chosen}`?"


def test_only_what_comes_from_the_data_is_cleaned():
    template = jsonpath.parse('{.a}{"\\n"}{range .b[*]}{@}{end}')
    assert template.render({"a": "x\ny", "b": ["\t"]}, lambda text: text.encode("unicode_escape").decode()) == (
        "x\\ny\n\\t"
    )
