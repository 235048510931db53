import pytest

from schedctl.api.topology import BETA_REGION, BETA_ZONE, REGION, ZONE, node_tree_key, zone_of


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        pytest.param(None, "", id="no labels"),
        pytest.param({ZONE: "a", BETA_ZONE: "b"}, "a", id="the current label first"),
        pytest.param({BETA_ZONE: "b"}, "b", id="the deprecated label alone"),
        pytest.param({ZONE: "", BETA_ZONE: "b"}, "b", id="an empty current label counts for nothing"),
    ],
)
def test_reports_name_the_zone_of_the_current_label_first(labels, zone):
    assert zone_of(labels) == zone


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        pytest.param({}, ("", ""), id="no labels"),
        pytest.param({ZONE: "a", REGION: "r"}, ("r", "a"), id="the current labels alone"),
        pytest.param({ZONE: "a", BETA_ZONE: "b", REGION: "r", BETA_REGION: "s"}, ("s", "b"), id="the deprecated first"),
        pytest.param({ZONE: "a", BETA_ZONE: ""}, ("", ""), id="even when they are empty"),
    ],
)
def test_the_node_tree_reads_the_deprecated_labels_first(labels, key):
    assert node_tree_key(labels) == key
