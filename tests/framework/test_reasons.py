"""Evidence by row: columns, scalars, and what is found out on demand."""

import numpy as np
import pytest

from schedctl.errors import PluginError
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import ACCEPT, Lookup, Reason


class Doubled:
    """Evidence that needs no base class, only `at`."""

    def at(self, row: int) -> int:
        return 2 * row


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("x", "x", id="a scalar is the same for each row"),
        pytest.param(np.array([5, 6, 7]), 6, id="a column has a value for each"),
        pytest.param(np.array(5), 5, id="an array without a dimension is a scalar"),
        pytest.param(Lookup(("a", "b"), np.array([0, 1, 0])), "b", id="a lookup finds it by its code"),
        pytest.param(Lookup(np.array([1.5, 2.5]), np.array([0, 1, 0])), 2.5, id="as a plain value"),
        pytest.param(Doubled(), 2, id="anything with `at` is asked"),
        pytest.param(Doubled, Doubled, id="but its class is a value"),
    ],
)
def test_the_evidence_of_a_row_is_a_plain_value(value, expected):
    (part,) = Reason("because of {it}").where(np.ones(3, bool), it=value).parts
    found = part.at(1)["it"]
    assert found == expected
    assert not isinstance(found, np.generic)


def test_rows_are_counted_together_where_the_words_are_the_same():
    (part,) = Reason("because of {it}").where(np.ones(4, bool), it=Lookup(("a", "b"), np.array([0, 1, 0, 0]))).parts
    assert part.count(np.array([True, True, True, False])) == {"because of a": 2, "because of b": 1}


def test_the_name_of_a_plugin_is_the_name_of_its_reasons():
    class Odd(FilterPlugin):
        name = "TeamFence"
        not_theirs = Reason("no")

        def filter(self, cycle, nodes):
            return ACCEPT

    assert Odd.not_theirs.reference == "team-fence/not-theirs"


def test_evidence_that_fails_when_it_is_read_is_the_fault_of_whoever_gave_it():
    class Missing:
        def at(self, row):
            raise KeyError("team")

    verdicts = Reason("no {team}").where(np.ones(1, np.bool_), team=Missing())
    with pytest.raises(
        PluginError, match=r"the evidence of no \{team\} fails: KeyError: 'team' \(test_reasons.py:\d+\)"
    ):
        verdicts.status(0)
