"""TaintToleration."""

import pytest

from schedctl.api.nodes import Taint
from schedctl.errors import PluginError
from schedctl.framework.cycles import Cycle
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import Code, Status
from schedctl.plugins.taint_toleration.plugin import TaintToleration
from schedctl.testing.builders import cluster, node, pod

PLUGIN = TaintToleration(None, None)


def taint(key, effect="NoSchedule", value=""):
    return {"key": key, "value": value, "effect": effect}


NODES = cluster(
    node("free"),
    node("hard", taints=[taint("soft", "PreferNoSchedule"), taint("a"), taint("b", "NoExecute")]),
    node("evicting", taints=[taint("b", "NoExecute")]),
    node("soft", taints=[taint("a", "PreferNoSchedule"), taint("b", "PreferNoSchedule")]),
).nodes


def tolerating(*tolerations):
    return Cycle(pod(tolerations=list(tolerations)))


@pytest.mark.parametrize(
    ("tolerations", "refused"),
    [
        pytest.param([], ["hard", "evicting"], id="NoSchedule and NoExecute keep a pod off"),
        pytest.param([{"key": "a", "operator": "Exists"}], ["hard", "evicting"], id="every taint must be tolerated"),
        pytest.param([{"key": "b", "operator": "Exists"}], ["hard"], id="one taint tolerated, one not"),
        pytest.param([{"operator": "Exists"}], [], id="a pod that tolerates everything goes anywhere"),
    ],
)
def test_untolerated_taints_refuse_a_node(tolerations, refused):
    verdicts = PLUGIN.filter(tolerating(*tolerations), NODES)
    status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",))
    assert [name for i, name in enumerate(NODES.names) if verdicts.status(i) == status] == refused


def test_the_evidence_is_the_first_taint_that_keeps_the_pod_off():
    (part,) = PLUGIN.filter(tolerating({"key": "a", "operator": "Exists"}), NODES).parts
    assert part.at(1)["taint"] == Taint(key="b", effect="NoExecute")
    (part,) = PLUGIN.filter(tolerating(), NODES).parts
    assert part.at(1) == {"taint": Taint(key="a", effect="NoSchedule")}


def test_without_taints_there_is_nothing_to_refuse():
    assert PLUGIN.filter(tolerating(), cluster(node("a")).nodes) is ACCEPT


@pytest.mark.parametrize(
    ("tolerations", "raw", "normalized"),
    [
        pytest.param([], [0, 1, 0, 2], [100, 50, 100, 0], id="nodes lose points for taints that only discourage"),
        pytest.param(
            [{"key": "b", "operator": "Exists", "effect": "PreferNoSchedule"}],
            [0, 1, 0, 1],
            [100, 0, 100, 0],
            id="but not for tolerated ones",
        ),
        pytest.param(
            [{"operator": "Exists", "effect": "NoSchedule"}],
            [0, 1, 0, 2],
            [100, 50, 100, 0],
            id="tolerations of other effects do not count",
        ),
        pytest.param([{"operator": "Exists"}], [0] * 4, [100] * 4, id="all are equal to a pod that tolerates all"),
    ],
)
def test_untolerated_prefer_no_schedule_taints_lower_the_score(tolerations, raw, normalized):
    cycle = tolerating(*tolerations)
    assert PLUGIN.pre_score(cycle, NODES) is None
    scores = PLUGIN.score(cycle, NODES)
    assert scores.tolist() == raw
    assert PLUGIN.normalize(cycle, NODES, scores).tolist() == normalized


def test_score_without_pre_score_is_a_fault_as_in_kube_scheduler():
    with pytest.raises(PluginError, match=r'failed to read "PreScoreTaintToleration" from cycleState: not found'):
        PLUGIN.score(tolerating(), NODES)
