import pytest

from schedctl.api import topology


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        pytest.param(None, "", id="no labels"),
        pytest.param({topology.ZONE: "a", topology.BETA_ZONE: "b"}, "a", id="the current label first"),
        pytest.param({topology.BETA_ZONE: "b"}, "b", id="the deprecated label alone"),
        pytest.param({topology.ZONE: "", topology.BETA_ZONE: "b"}, "b", id="an empty current label counts for nothing"),
    ],
)
def test_reports_name_the_zone_of_the_current_label_first(labels, zone):
    assert topology.zone_of(labels) == zone


@pytest.mark.parametrize(
    ("labels", "key", "group"),
    [
        pytest.param({topology.BETA_ZONE: "b"}, topology.ZONE, "b", id="the deprecated zone counts as a zone"),
        pytest.param({topology.BETA_ZONE: "b"}, topology.BETA_ZONE, "b", id="and under its own name"),
        pytest.param({topology.BETA_REGION: "r"}, topology.REGION, None, id="other labels are taken by name"),
        pytest.param({"pool": ""}, "pool", "", id="a label that is empty is there"),
        pytest.param(None, "pool", None, id="no labels"),
    ],
)
def test_nodes_are_chosen_and_grouped_by(labels, key, group):
    assert topology.group_of(labels, key) == group


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        pytest.param({}, ("", ""), id="no labels"),
        pytest.param({topology.ZONE: "a", topology.REGION: "r"}, ("r", "a"), id="the current labels alone"),
        pytest.param(
            {topology.ZONE: "a", topology.BETA_ZONE: "b", topology.REGION: "r", topology.BETA_REGION: "s"},
            ("s", "b"),
            id="the deprecated first",
        ),
        pytest.param({topology.ZONE: "a", topology.BETA_ZONE: ""}, ("", ""), id="even when they are empty"),
    ],
)
def test_the_node_tree_reads_the_deprecated_labels_first(labels, key):
    assert topology.node_tree_key(labels) == key
