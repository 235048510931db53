"""NodeName."""

from schedctl.framework.cycles import Cycle
from schedctl.framework.points import NodeSet
from schedctl.framework.reasons import ACCEPT
from schedctl.framework.statuses import Code, Status
from schedctl.plugins.node_name.plugin import NodeName
from schedctl.testing.builders import cluster, node, pod

PLUGIN = NodeName(None, None)
NODES = cluster(node("a"), node("b")).nodes


def test_a_pod_that_names_no_node_may_go_anywhere():
    cycle = Cycle(pod())
    assert PLUGIN.pre_filter(cycle, NODES) is None
    assert PLUGIN.filter(cycle, NODES) is ACCEPT


def test_a_pod_that_names_a_node_goes_nowhere_else():
    cycle = Cycle(pod(on="b"))
    assert PLUGIN.pre_filter(cycle, NODES) == NodeSet(frozenset("b"))
    verdicts = PLUGIN.filter(cycle, NODES)
    assert verdicts.mask.tolist() == [True, False]
    assert verdicts.status(0) == Status(
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match the requested node name",)
    )


def test_a_named_node_that_is_not_there_leaves_none():
    assert PLUGIN.filter(Cycle(pod(on="ghost")), NODES).mask.all()
