"""`math` and `reverse`, which policies have beyond the functions of Kubernetes."""

import pytest

from schedctl.cel import extensions, library
from schedctl.cel.declarations import Environment
from schedctl.cel.errors import CompileError
from schedctl.cel.programs import Program, check_text
from schedctl.cel.syntax import Source
from schedctl.cel.values import Failure


def environment():
    functions = {name: list(overloads) for name, overloads in library.functions().items()}
    for overload in extensions.LIBRARY:
        functions.setdefault(overload.function, []).append(overload)
    return Environment({}, functions)


ENVIRONMENT = environment()


def evaluate(expression):
    return Program(check_text(Source(expression), ENVIRONMENT), ENVIRONMENT).evaluate()


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("math.greatest(1, 3, 2) == 3", id="the greatest of several"),
        pytest.param("math.greatest([-1.5, 2.5]) == 2.5", id="the greatest of a list"),
        pytest.param("math.greatest(1, 2.5) == 2.5", id="the greatest of two types"),
        pytest.param("math.least(2u, 1u) == 1u", id="the least of unsigned numbers"),
        pytest.param("math.least(7) == 7", id="the least of one"),
        pytest.param("math.ceil(1.2) == 2.0 && math.ceil(-1.2) == -1.0", id="rounded up"),
        pytest.param("math.floor(1.8) == 1.0 && math.floor(-1.2) == -2.0", id="rounded down"),
        pytest.param("math.trunc(1.8) == 1.0 && math.trunc(-1.8) == -1.0", id="rounded toward zero"),
        pytest.param("math.round(2.5) == 3.0 && math.round(-2.5) == -3.0", id="halves go away from zero"),
        pytest.param("math.round(4503599627370497.0) == 4503599627370497.0", id="a double without room for a half"),
        pytest.param("math.isNaN(0.0 / 0.0) && !math.isNaN(1.0)", id="not a number"),
        pytest.param("math.isInf(1.0 / 0.0) && !math.isFinite(-1.0 / 0.0)", id="infinite"),
        pytest.param("math.isInf(math.ceil(1.0 / 0.0))", id="infinity is left as it is"),
        pytest.param("math.abs(-3) == 3 && math.abs(-1.5) == 1.5 && math.abs(2u) == 2u", id="absolute"),
        pytest.param("math.sign(-3) == -1 && math.sign(0u) == 0u && math.sign(2.5) == 1.0", id="signs"),
        pytest.param("math.sqrt(9) == 3.0 && math.isNaN(math.sqrt(-1.0))", id="square roots"),
        pytest.param("math.bitAnd(6, 3) == 2 && math.bitOr(6u, 3u) == 7u && math.bitXor(6, 3) == 5", id="bits"),
        pytest.param("math.bitNot(0) == -1 && math.bitNot(0u) == 18446744073709551615u", id="all bits turned"),
        pytest.param("math.bitShiftLeft(1, 63) == -9223372036854775808", id="a shift into the sign"),
        pytest.param(
            "math.bitShiftLeft(1, 64) == 0 && math.bitShiftLeft(1u, 4) == 16u", id="a shift out of the number"
        ),
        pytest.param("math.bitShiftRight(-1, 63) == 1", id="a shift to the right fills in zeros"),
        pytest.param("'abc'.reverse() == 'cba' && ''.reverse() == ''", id="a text backwards"),
        pytest.param("[1, 2].reverse() == [2, 1]", id="a list backwards, which Kubernetes has"),
    ],
)
def test_an_extension_answers(expression):
    assert evaluate(expression) is True


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param("math.abs(-9223372036854775808)", "integer overflow", id="the least integer has no absolute"),
        pytest.param("math.greatest([1].filter(x, x > 1))", "an empty list has no extreme", id="none has no greatest"),
        pytest.param("math.bitShiftLeft(1, -1)", "math.bitShiftLeft() negative offset: -1", id="a shift backwards"),
        pytest.param("math.bitShiftRight(1u, -2)", "math.bitShiftRight() negative offset: -2", id="a shift forwards"),
    ],
)
def test_an_extension_fails(expression, text):
    value = evaluate(expression)
    assert isinstance(value, Failure)
    assert value.text == text


def test_kubernetes_has_no_extensions():
    kubernetes = Environment({}, library.functions())
    for expression in ("math.abs(1) == 1", "'abc'.reverse() == 'cba'"):
        with pytest.raises(CompileError):
            check_text(Source(expression), kubernetes)
