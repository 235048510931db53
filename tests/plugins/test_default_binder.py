"""DefaultBinder."""

from types import SimpleNamespace

from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.framework.cycles import Cycle
from schedctl.framework.statuses import SUCCESS, error
from schedctl.plugins.default_binder import DefaultBinder
from schedctl.testing.builders import cluster, node, pod


def test_a_dry_run_binds_without_effect():
    made = cluster(node("a"))
    assert DefaultBinder(None, ProfileHandle(made, Nominator())).bind(Cycle(pod()), "a") == SUCCESS
    assert not len(made.pod_table)


def test_a_binding_is_passed_on_and_its_answer_returned():
    bound = []

    def bind(pod, node_name):
        bound.append((pod.key, node_name))
        return error("no")

    assert DefaultBinder(None, SimpleNamespace(bind=bind)).bind(Cycle(pod("web")), "a") == error("no")
    assert bound == [("default/web", "a")]
