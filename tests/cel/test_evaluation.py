"""Expressions without a variable, as Kubernetes' CEL answers them: every answer here is the oracle's."""

import pytest

from schedctl.cel import library
from schedctl.cel.declarations import Environment
from schedctl.cel.programs import Program, check_text
from schedctl.cel.syntax import Source

ENVIRONMENT = Environment({}, library.functions())


def evaluate(expression):
    return Program(check_text(Source(expression), ENVIRONMENT), ENVIRONMENT).evaluate()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        pytest.param("cel.bind(x, 1/0, true)", True, id="a binding is not computed unless it is used"),
        pytest.param("[1, 2, 3].all(x, x > 0)", True, id="all of a list"),
        pytest.param("[0, 1].exists(x, 1 / x == 1)", True, id="some of a list, an error notwithstanding"),
        pytest.param("[1, 2, 2].exists_one(x, x == 1)", True, id="exactly one of a list"),
        pytest.param("[1, 2, 3].filter(x, x > 1).map(x, x * 2) == [4, 6]", True, id="a list is filtered and mapped"),
        pytest.param("[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]", True, id="a map takes three arguments"),
        pytest.param("[1, 2, 3].all(i, v, v == i + 1)", True, id="all of a list with two variables"),
        pytest.param('{"a": 1, "b": 2}.existsOne(k, v, v > 1)', True, id="exactly one with two variables"),
        pytest.param("[5, 6].transformList(i, v, v - i) == [5, 5]", True, id="a list is transformed with its index"),
        pytest.param('{"a": 1}.transformMap(k, v, v + 1) == {"a": 2}', True, id="a map is transformed"),
        pytest.param(
            '{"a": 1}.transformMapEntry(k, v, {v: k}) == {1: "a"}', True, id="entries of a map are transformed"
        ),
        pytest.param("[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", True, id="a list is sorted by a key"),
        pytest.param('["b", "a"].sort() == ["a", "b"]', True, id="a list is sorted"),
        pytest.param("[[1], [2, 3]].flatten() == [1, 2, 3]", True, id="nested lists become one"),
        pytest.param("lists.range(3) == [0, 1, 2]", True, id="a range of numbers"),
        pytest.param("[1, 2, 3, 4].slice(1, 3) == [2, 3]", True, id="a part of a list"),
        pytest.param("[1, 2].reverse() == [2, 1]", True, id="a list backwards"),
        pytest.param(
            "[1, 2, 3].sum() == 6 && [2, 1].min() == 1 && [2, 1].max() == 2", True, id="sum, least and greatest"
        ),
        pytest.param("[1, 2, 2].isSorted()", True, id="a list is in order"),
        pytest.param("[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2", True, id="the place of an element"),
        pytest.param('[1, 2].includes(2) && "a".includes("a")', True, id="a list includes a value, a text is one"),
        pytest.param("sets.intersects([1], [2, 1])", True, id="sets that have something in common"),
        pytest.param(
            "[1, 2].first().value() == 1 && [].last().orValue(5) == 5", True, id="the first and the last of a list"
        ),
        pytest.param("[1, ?optional.none(), ?optional.of(2)] == [1, 2]", True, id="absent values drop out of a list"),
        pytest.param('{?"a": optional.none(), "b": 1} == {"b": 1}', True, id="absent values drop out of a map"),
        pytest.param("optional.of(1).optMap(x, x + 1).value() == 2", True, id="an optional is mapped"),
        pytest.param("optional.none().optMap(x, x + 1).hasValue()", False, id="an absent optional is not mapped"),
        pytest.param(
            'optional.of({"a": 1}).optFlatMap(x, x.?b).hasValue()', False, id="an optional is mapped to an optional"
        ),
        pytest.param('optional.ofNonZeroValue("").hasValue()', False, id="zero values count as absent"),
        pytest.param(
            "[optional.of(1), optional.none()].unwrapOpt() == [1]", True, id="optionals of a list are unwrapped"
        ),
        pytest.param(
            '"hello".contains("ell") && "hello".startsWith("he") && "hello".endsWith("lo")',
            True,
            id="a text contains another",
        ),
        pytest.param(
            '"日本".size() == 2 && "日本".charAt(1) == "本"', True, id="a text is cut into characters, not bytes"
        ),
        pytest.param('"a,b,,c".split(",").join("-") == "a-b--c"', True, id="a text is split and joined"),
        pytest.param('"a,b,c".split(",", 2) == ["a", "b,c"]', True, id="a text is split a few times"),
        pytest.param('"aaa".replace("a", "b", 2) == "bba"', True, id="a text is replaced"),
        pytest.param(
            '"hello".indexOf("l") == 2 && "hello".lastIndexOf("l") == 3 && "hello".indexOf("z") == -1',
            True,
            id="a text's place in another",
        ),
        pytest.param('"hello".substring(1, 3) == "el"', True, id="a part of a text"),
        pytest.param(
            '"AÉ".lowerAscii() == "aÉ" && "aé".upperAscii() == "Aé"',
            True,
            id="letters change case, other than ASCII do not",
        ),
        pytest.param('" \\t a \\n".trim() == "a"', True, id="white space is trimmed"),
        pytest.param('strings.quote("a\\"b\\n") == "\\"a\\\\\\"b\\\\n\\""', True, id="a text is quoted"),
        pytest.param('"%s-%d-%x".format(["a", 5, 255]) == "a-5-ff"', True, id="a format with texts and numbers"),
        pytest.param('"%.2f".format([1234.5]) == "1,234.50"', True, id="a format groups digits"),
        pytest.param('"%e".format([1500.0]) == "1.500000×10⁰³"', True, id="a format in powers of ten"),
        pytest.param(
            '"%s %s".format([[1, "a"], {"k": 1.5}]) == "[1, \\"a\\"] {\\"k\\":1.500000}"',
            True,
            id="a format of a list and a map",
        ),
        pytest.param('"a100".matches("[0-9]+")', True, id="a pattern is searched for, not matched whole"),
        pytest.param('"a100".matches("^[0-9]+$")', False, id="a pattern is anchored"),
        pytest.param('"١".matches("\\\\d")', False, id="digits are those of ASCII"),
        pytest.param('"a\\n".matches("a$")', False, id="the end is the very end"),
        pytest.param('"abc 123".find("[0-9]+") == "123"', True, id="the first match"),
        pytest.param(
            '"a1b22".findAll("[0-9]+") == ["1", "22"] && "aaa".findAll("a", 2) == ["a", "a"]', True, id="all matches"
        ),
        pytest.param('"baac".findAll("a*") == ["", "aa", ""]', True, id="an empty match beside another is none"),
        pytest.param('quantity("1Gi").add(quantity("1Gi")) == quantity("2Gi")', True, id="quantities add up"),
        pytest.param('quantity("1500m").compareTo(quantity("1.5")) == 0', True, id="a quantity of mixed suffixes"),
        pytest.param(
            'quantity("2k").asInteger() == 2000 && !quantity("1500m").isInteger()', True, id="a quantity as an integer"
        ),
        pytest.param('quantity("1500m").asApproximateFloat() == 1.5', True, id="a quantity as a double"),
        pytest.param('sign(quantity("-1")) == -1', True, id="the sign of a quantity"),
        pytest.param(
            'isQuantity(".") && quantity("k") == quantity("0")', True, id="a quantity without digits is nothing"
        ),
        pytest.param('isQuantity("1 Gi")', False, id="what is no quantity"),
        pytest.param('semver("v01.2", true) == semver("1.2.0")', True, id="a lenient version"),
        pytest.param('isSemver("v1.2.3")', False, id="what is no version"),
        pytest.param(
            'semver("1.2.3-rc.1").major() == 1 && semver("1.2.3").patch() == 3', True, id="parts of a version"
        ),
        pytest.param(
            'semver("1.0.0-alpha.2").isLessThan(semver("1.0.0-alpha.10"))'
            ' && semver("1.0.0-9").isLessThan(semver("1.0.0-a"))',
            True,
            id="pre-releases before the release",
        ),
        pytest.param('ip("127.0.0.1").isLoopback() && ip("::1").isLoopback()', True, id="an address is loopback"),
        pytest.param('ip("10.0.0.1").family() == 4 && ip("fe80::1").family() == 6', True, id="an address has a family"),
        pytest.param(
            'ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::1")', True, id="an address in canonical form"
        ),
        pytest.param('isIP("::ffff:1.2.3.4")', False, id="a mapped address is refused"),
        pytest.param(
            'cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("::1"))',
            True,
            id="a network contains an address",
        ),
        pytest.param('cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', True, id="a network contains another"),
        pytest.param(
            'string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8" && cidr("10.1.2.3/8").prefixLength() == 8',
            True,
            id="a network is masked",
        ),
        pytest.param(
            'url("https://h:8080/p?a=1").getHost() == "h:8080" && url("https://h:8080/p?a=1").getPort() == "8080"',
            True,
            id="parts of a URL",
        ),
        pytest.param('url("http://h/?k=a&k=b").getQuery() == {"k": ["a", "b"]}', True, id="the query of a URL"),
        pytest.param('url("http://h/a b").getEscapedPath() == "/a%20b"', True, id="a URL escapes its path"),
        pytest.param('isURL("path")', False, id="what is no URL"),
        pytest.param('format.dns1123Label().validate("a_b").hasValue()', True, id="a named format finds fault"),
        pytest.param(
            'format.named("uuid").value().validate("12345678-1234-1234-1234-123456789abc").hasValue()',
            False,
            id="a named format finds none",
        ),
        pytest.param('format.named("nope").hasValue()', False, id="a format that nobody knows"),
        pytest.param(
            'duration("90m").getHours() == 1 && duration("1.5s").getMilliseconds() == 1500',
            True,
            id="a duration in hours",
        ),
        pytest.param(
            'timestamp("2020-02-28T23:00:00Z") + duration("1h") == timestamp("2020-02-29T00:00:00Z")',
            True,
            id="durations and timestamps",
        ),
        pytest.param(
            'timestamp("2020-06-15T12:00:00Z").getHours("Europe/Berlin") == 14', True, id="the hour in a time zone"
        ),
        pytest.param('timestamp("2020-06-15T12:00:00Z").getDayOfWeek() == 1', True, id="the day of the week"),
        pytest.param("dyn(1) == 1.0 && dyn(1u) == 1", True, id="numbers are equal across types"),
        pytest.param('dyn("1") == 1', False, id="values of different types are not equal"),
        pytest.param('{1: "a"}[dyn(1.0)] == "a"', True, id="a key is found whatever its number type"),
        pytest.param("dyn(1.0) in [1, 2]", True, id="a membership in a constant list"),
        pytest.param("dyn(null) == null && dyn(1) != null", True, id="null equals null only"),
        pytest.param("1 / 0 == 1 || true", True, id="or is decided by either side"),
        pytest.param("!(1 / 0 == 1 && false)", True, id="and is decided by either side"),
        pytest.param("-7 / 2 == -3 && -7 % 2 == -1", True, id="integers divide toward zero"),
        pytest.param('b"a" < b"ab" && bytes("é").size() == 2', True, id="bytes have an order"),
        pytest.param("true // nothing", True, id="a comment is no matter"),
        pytest.param('"""a\nb""".size() == 3', True, id="a text over lines"),
        pytest.param(
            'int("12") == 12 && string(1.5e6) == "1.5e+06" && double("0x1p4") == 16.0 && bool("t")',
            True,
            id="conversions",
        ),
        pytest.param("[1, 2, 1].distinct() == [1, 2]", True, id="a list without its duplicates"),
        pytest.param("sets.contains([1, 2, 3], [2, 3])", True, id="a set contains another"),
        pytest.param("sets.equivalent([1, 2, 2], [2, 1])", True, id="sets that are equivalent"),
    ],
)
def test_an_expression_without_variables(expression, value):
    assert evaluate(expression) is value
