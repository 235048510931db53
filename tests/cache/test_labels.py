"""Label columns: selectors over whole tables, and the domains of a topology."""

import pytest

from schedctl.api.selectors import LabelQuery, Requirement
from schedctl.cache.arrays import Interner
from schedctl.cache.labels import LabelColumns

MAPS = [{"zone": "a", "n": "5"}, {"zone": "b", "n": "x"}, {}, {"zone": "", "n": "-7"}, {"zone": "a"}]


def table(maps=MAPS):
    labels = LabelColumns(Interner())
    for row, each in enumerate(maps):
        labels.put(row, each)
    return labels


@pytest.mark.parametrize(
    ("operator", "values"),
    [
        pytest.param("In", ["a"], id="In one value"),
        pytest.param("In", ["b", ""], id="In a few values"),
        pytest.param("In", [*"bcdefghijklm"], id="In many values"),
        pytest.param("NotIn", ["a", "nowhere"], id="NotIn"),
        pytest.param("Exists", [], id="Exists"),
        pytest.param("DoesNotExist", [], id="DoesNotExist"),
        pytest.param("Gt", ["3"], id="Gt"),
        pytest.param("Lt", ["6"], id="Lt"),
    ],
)
@pytest.mark.parametrize("key", ["zone", "n", "absent"])
def test_a_selector_means_the_same_for_a_column_as_for_a_map(key, operator, values):
    query = LabelQuery((Requirement(key, operator, frozenset(values)),))
    assert table().select(query).tolist() == [query.matches(labels) for labels in MAPS]


def test_columns_follow_changes_of_a_row():
    labels = table()
    more, there = Requirement("n", "Gt", frozenset(("3",))), Requirement("n", "Exists")
    labels.meets(more), labels.meets(there)
    labels.put(2, {"n": "4"})
    labels.put(0, None)
    labels.put(5, {"n": "9"})
    assert labels.meets(more).tolist() == [False, False, True, False, False, True]
    assert labels.meets(there).tolist() == [False, True, True, True, False, True]


def test_domains_are_numbered_without_gaps_and_absent_labels_are_domain_0():
    domains = table().domains("zone")
    assert domains.codes.tolist() == [1, 2, 0, 3, 1]
    assert domains.values.values == [None, "a", "b", ""]
    assert len(domains) == 4


def test_domains_follow_changes_of_a_row():
    labels = table()
    domains = labels.domains("zone")
    labels.put(2, {"zone": "b"})
    labels.put(5, {"zone": "c"})
    labels.put(0, None)
    assert labels.domains("zone") is domains
    assert domains.codes.tolist() == [0, 2, 2, 3, 1, 4]
