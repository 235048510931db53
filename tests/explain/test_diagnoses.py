"""What is likely to be wrong with a pod: said in one line below the cause, and the correction tried."""

import pytest

from schedctl.testing.builders import cluster, node, pod


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


SPOT = node("spot-1", taints=[taint("spot", "true")])


def diagnosis(found, reference):
    """Return what is diagnosed below a cause, and the best fix that was tried."""
    (reason,) = [reason for reason in found.reasons if reason.reference == reference]
    return reason.diagnosis, [hint.text for hint in found.hints if hint.fits][:1]


# -- tolerations -----------------------------------------------------------------

UNTOLERATED = "taint-toleration/untolerated"


@pytest.mark.parametrize(
    ("toleration", "sentence", "fix"),
    [
        pytest.param(
            {"key": "spot", "value": "yes", "effect": "NoSchedule"},
            'taint spot=true:NoSchedule, toleration spot=yes:NoSchedule: value "yes", not "true"',
            'would fit on spot-1 if toleration spot=yes:NoSchedule had value: "true"',
            id="another value",
        ),
        pytest.param(
            {"key": "spot", "operator": "Exists", "effect": "NoExecute"},
            'taint spot=true:NoSchedule, toleration spot:NoExecute op=Exists: effect "NoExecute", not "NoSchedule"',
            'would fit on spot-1 if toleration spot:NoExecute op=Exists had effect: "NoSchedule"',
            id="another effect",
        ),
        pytest.param(
            {"key": "spto", "value": "true"},
            'taint spot=true:NoSchedule, toleration spto=true: key "spto", not "spot"',
            'would fit on spot-1 if toleration spto=true had key: "spot"',
            id="a misspelt key",
        ),
        pytest.param(
            {"key": "example.com/spot", "value": "true"},
            'taint spot=true:NoSchedule, toleration example.com/spot=true: key "example.com/spot", not "spot"',
            'would fit on spot-1 if toleration example.com/spot=true had key: "spot"',
            id="a key with a prefix that the taint does not have",
        ),
        pytest.param(
            {"key": "spot", "effect": "NoSchedule"},
            'taint spot=true:NoSchedule, toleration spot:NoSchedule: operator "Equal" without a value, not "Exists"',
            'would fit on spot-1 if toleration spot:NoSchedule had operator: "Exists"',
            id="no operator and no value, where any value was meant",
        ),
        pytest.param(
            {"key": "spot", "value": "yes", "effect": "NoExecute"},
            "taint spot=true:NoSchedule, toleration spot=yes:NoExecute:"
            ' value "yes", not "true" and effect "NoExecute", not "NoSchedule"',
            'would fit on spot-1 if toleration spot=yes:NoExecute had value: "true" and effect: "NoSchedule"',
            id="two words at once",
        ),
    ],
)
def test_a_toleration_that_misses_a_taint_by_a_word_stands_beside_it(ask, toleration, sentence, fix):
    found = ask(cluster(SPOT), pod(tolerations=[toleration]))
    assert diagnosis(found, UNTOLERATED) == ([sentence], [fix])


@pytest.mark.parametrize(
    ("nodes", "tolerations"),
    [
        pytest.param([], [], id="a pod without tolerations"),
        pytest.param([], [{"key": "dedicated", "value": "true"}], id="a toleration of something else"),
        pytest.param([], [{"key": "spto", "value": "yes"}], id="another key and another value"),
        pytest.param(
            [node("full", pods="0", taints=[taint("spot", "gpu")])],
            [{"key": "spot", "value": "gpu"}],
            id="a toleration that tolerates another node's taint is as it was meant",
        ),
    ],
)
def test_a_toleration_that_was_not_meant_for_the_taint_is_left_alone(ask, nodes, tolerations):
    found = ask(cluster(SPOT, *nodes), pod(tolerations=tolerations))
    assert diagnosis(found, UNTOLERATED) == ([], ["would fit on spot-1 if it tolerated spot=true:NoSchedule"])


def test_a_condition_of_the_node_is_nothing_to_tolerate_better(ask):
    not_ready = node("a", taints=[taint("node.kubernetes.io/not-ready")])
    subject = pod(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}])
    sentences, (fix,) = diagnosis(ask(cluster(not_ready), subject), UNTOLERATED)
    assert sentences == []
    assert "lost its taint" in fix


def test_of_several_taints_a_misspelt_value_is_meant_for_the_one_it_is_like(ask):
    nodes = [node(name, taints=[taint("dedicated", name)]) for name in ("database", "frontend")]
    found = ask(cluster(*nodes), pod(tolerations=[{"key": "dedicated", "value": "databse"}]))
    sentences, (fix,) = diagnosis(found, UNTOLERATED)
    assert sentences == [
        'taint dedicated=database:NoSchedule, toleration dedicated=databse: value "databse", not "database"'
    ]
    assert fix == 'would fit on database if toleration dedicated=databse had value: "database"'
