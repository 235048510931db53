"""Patterns of CEL's `matches`, `find` and `findAll`: RE2 searches as Go's regexp does, and refuses in other words."""

import pytest

from schedctl.cel import patterns


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        pytest.param("(?i)^[[:upper:]]+$", "abC", ["abC"], id="a POSIX class that ignores case"),
        pytest.param(r"(?i)\w", "\u017f\u212a", ["\u017f", "\u212a"], id="a Perl class that ignores case"),
        pytest.param(r"(?i)[^\W]+", "k\u017f", ["k\u017f"], id="a negated Perl class that ignores case"),
        pytest.param(r"\p{Greek}", "a\u03c3", ["\u03c3"], id="a script"),
        pytest.param(r"(?i)\p{Lu}", "a1", ["a"], id="a category that ignores case"),
        pytest.param(r"\B", "a\u00e9a", [], id="nothing is found inside a character"),
        pytest.param(r"\B", "\u65e5\u672c", ["", "", ""], id="empty matches lie between characters"),
        pytest.param("a*", "baac", ["", "aa", ""], id="no empty match right behind another"),
        pytest.param("a|ab", "abab", ["a", "a"], id="the first alternative, not the longest"),
        pytest.param("a+?", "aaa", ["a", "a", "a"], id="as few as possible"),
        pytest.param("(?U)a+", "aaa", ["a", "a", "a"], id="greed turned around"),
        pytest.param("(?m)^.$", "a\nb", ["a", "b"], id="lines"),
        pytest.param("^a", "aa", ["a"], id="a text starts only once"),
        pytest.param(r"\Q\C+\E", r"\C+", [r"\C+"], id="a quoted escape of a byte"),
        pytest.param(r"\pL{500}", "a" * 500, ["a" * 500], id="a large class many times"),
    ],
)
def test_patterns_find_what_go_finds(pattern, text, found):
    compiled_pattern = patterns.compile_pattern(pattern)
    assert compiled_pattern.find_all(text, -1) == found
    assert compiled_pattern.find_all(text, 1) == found[:1]
    assert compiled_pattern.find(text) == (found[0] if found else "")
    assert compiled_pattern.matches(text) is bool(found)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a**", "invalid nested repetition operator: `**`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("(a", "missing closing ): `(a`"),
        ("a)b", "unexpected ): `a)b`"),
        ("a[b", "missing closing ]: `[b`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"\pX", r"invalid character class range: `\pX`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        (r"\8", r"invalid escape sequence: `\8`"),
        (r"a\C)", r"invalid escape sequence: `\C`"),
        ("(?z)", "invalid or unsupported Perl syntax: `(?z`"),
        ("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`"),
        ("(?<\u00e9>c)", "invalid named capture: `(?<\u00e9>`"),
        ("a{1001}?", "invalid repeat count: `{1001}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("x{2}{1001}", "invalid repeat count: `{1001}`"),
        ("(x{100}){100}?", "invalid repeat count: `{100}?`"),
        ("){1001}", "unexpected ): `){1001}`"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused_in_the_words_of_go(pattern, text):
    assert str(patterns.compile_pattern(pattern)) == f"error parsing regexp: {text}"


@pytest.mark.parametrize("pattern", ["(.*.*.*.*){100}b", "(a*)*b", "(a?){500}a{500}b"])
def test_no_pattern_backtracks(pattern):
    assert not patterns.compile_pattern(pattern).matches("a" * 5000)
