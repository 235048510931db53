"""Answers that classes share are brought up to date for all of them, whoever made a plugin read what."""

import numpy as np

from schedctl.engine.attempts import attempt
from schedctl.framework.points import FilterPlugin
from schedctl.framework.reasons import Reason
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import scheduler_with
from schedctl.testing.side_by_side import differences


class LooksLater(FilterPlugin):
    """Looks at the pods of one node alone, about which it is asked only once another filter lets it stand."""

    crowded = Reason("there is a pod")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        rejected = np.zeros(len(nodes), np.bool_)
        for position, name in enumerate(nodes.names):
            if name == "b":
                rejected[position] = bool(nodes.pods_on(position))
        return self.crowded.where(rejected)


def test_a_node_that_another_class_had_judged_first_is_judged_again_for_all():
    taint = [{"key": "spot", "effect": "NoSchedule"}]
    scheduler = scheduler_with(LooksLater, cluster(node("a"), node("b", taints=taint), node("c")))
    tolerant = [{"key": "spot", "operator": "Exists"}]

    def ask(name, **more):
        outcome = scheduler.attempt(pod(name, **more))
        anew = attempt(outcome.profile, scheduler.cluster, pod(name, **more), scheduler.nominator)
        assert not list(differences(outcome, anew))
        return outcome

    assert ask("strict").feasible == 2
    assert ask("tolerant", tolerations=tolerant).feasible == 3
    scheduler.cluster.assume(pod("first"), "b")
    assert ask("strict-again").feasible == 2
    assert ask("tolerant-again", tolerations=tolerant).feasible == 2
    scheduler.cluster.add_node(node("b"))
    assert ask("strict-once-more").feasible == 2
