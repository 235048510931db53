"""NodeUnschedulable."""

import pytest

from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import Code, Status
from schedctl.plugins.node_unschedulable.plugin import NodeUnschedulable
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.plugin_answers import parts_read

PLUGIN = NodeUnschedulable(None, None)
KEY = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("tolerations", "refused"),
    [
        pytest.param([], True, id="a cordoned node takes no pod"),
        pytest.param([{"key": KEY, "operator": "Exists"}], False, id="unless the pod tolerates the cordon"),
        pytest.param([{"operator": "Exists"}], False, id="or anything"),
        pytest.param([{"key": KEY, "effect": "NoSchedule"}], False, id="by value, too, which is empty"),
        pytest.param([{"key": KEY, "operator": "Exists", "effect": "NoExecute"}], True, id="but not another effect"),
    ],
)
def test_who_may_go_to_a_cordoned_node(tolerations, refused):
    verdicts = PLUGIN.filter(
        Cycle(pod(tolerations=tolerations)), cluster(node("a"), node("b", unschedulable=True)).nodes
    )
    expected = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) were unschedulable",))
    assert verdicts.status(1) == (expected if refused else Status(Code.SUCCESS))
    assert verdicts.status(0) == Status(Code.SUCCESS)


def test_the_verdict_outlives_the_cordon():
    made = cluster(node("a", unschedulable=True))
    verdicts = PLUGIN.filter(Cycle(pod()), made.nodes)
    made.add_node(node("a"))
    assert verdicts.mask.tolist() == [True]


def test_only_a_change_of_the_node_affects_its_verdict():
    assert parts_read(PLUGIN, pod(), cluster(node("a")).nodes) == {"description"}
