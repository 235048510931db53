"""What plugins say of all nodes alike is taken together, and taken apart as soon as one of them says something else."""

import numpy as np
import pytest

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.api.policies import PriorityClass
from schedctl.engine.attempts import attempt
from schedctl.framework.cycles import StateKey
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SKIP
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import scheduler_with
from schedctl.testing.side_by_side import differences

SEEN = StateKey[int]("Closes")


class Closes(PreFilterPlugin, FilterPlugin, ScorePlugin):
    """Gives nodes a score by how many namespaces there are; `closed` has it reject all of them, `closing` the first."""

    closed = Reason("closed")
    reads = (Namespace,)
    reads_feasible_set = False
    foreseeable = True

    def signature(self, pod):
        return ()

    def pre_filter(self, cycle, nodes):
        names = nodes.cluster.every(Namespace)
        cycle.state[SEEN] = len(names)
        return SKIP if not names else None

    def filter(self, cycle, nodes):
        names = nodes.cluster.every(Namespace)
        return self.closed.where(np.full(len(nodes), "closed" in names) | (("closing" in names) & (nodes.rows == 0)))

    def score(self, cycle, nodes):
        return np.full(len(nodes), 7 * cycle.state[SEEN], np.int64)


@pytest.fixture
def scheduler():
    return scheduler_with(
        Closes, cluster(node("a"), node("b"), node("c", taints=[{"key": "spot", "effect": "NoSchedule"}]))
    )


def ask(scheduler, number, **more):
    """The answer for a pod of a template of its own, which is what it would be without a memory."""
    incoming = pod(f"web-{number}", cpu=f"{number}m", labels={"app": f"app-{number}"}, **more)
    outcome = scheduler.attempt(incoming)
    known = outcome.equivalence_class
    anew = attempt(outcome.profile, scheduler.cluster, incoming, scheduler.nominator)
    if known is not None:
        best = known.totals[known.feasible]
        assert best.tolist() == anew.scoring.totals.tolist()
    assert not list(differences(outcome, anew))
    return outcome


def left_out(outcome):
    """The plugins that a class does not go through."""
    constants = outcome.equivalence_class._constants
    return set() if constants is None else constants.names


def test_classes_after_the_first_go_through_the_plugins_alone_that_tell_nodes_or_pods_apart(scheduler):
    assert not left_out(ask(scheduler, 1))
    second = left_out(ask(scheduler, 2))
    assert {"Closes", "NodeName", "NodePorts"} <= second
    assert not second & {"TaintToleration", "NodeResourcesFit", "InterPodAffinity"}
    assert left_out(ask(scheduler, 3)) == second


def test_a_plugin_that_reads_a_pod_otherwise_is_gone_through_for_it(scheduler):
    for number in (1, 2):
        ask(scheduler, number)
    selective = ask(scheduler, 3, nodeSelector={"kubernetes.io/hostname": "b"})
    assert selective.chosen == "b"
    assert "NodeAffinity" not in left_out(selective)
    assert "NodeAffinity" not in left_out(ask(scheduler, 4)), "which reads it otherwise than the one before"
    assert "NodeAffinity" in left_out(ask(scheduler, 5))


def test_all_of_them_are_gone_through_again_when_one_says_something_else_of_all_nodes(scheduler):
    for number in (1, 2, 3):
        ask(scheduler, number)
    scheduler.cluster.put(Namespace(metadata=ObjectMeta(name="open")))
    for number in (2, 3):
        assert not left_out(ask(scheduler, number))
    assert "Closes" in left_out(ask(scheduler, 4)), "to a new class it has always said so"
    scheduler.cluster.put(Namespace(metadata=ObjectMeta(name="closed")))
    for number in (2, 3, 4, 5):
        assert not ask(scheduler, number).chosen


def test_a_class_that_takes_fewer_of_them_together_hears_of_what_has_changed_since_they_were_asked(scheduler):
    for number in (1, 2, 3):
        ask(scheduler, number)
    scheduler.cluster.put(Namespace(metadata=ObjectMeta(name="closed")))
    assert not ask(scheduler, 4, nodeSelector={"kubernetes.io/hostname": "b"}).chosen


def test_one_that_a_cycle_in_full_has_heard_reject_a_node_is_not_constant_to_a_class_made_later(scheduler):
    for number in (1, 2, 3):
        ask(scheduler, number)
    scheduler.cluster.put(Namespace(metadata=ObjectMeta(name="closing")))
    in_full = ask(scheduler, 2, status={"nominatedNodeName": "elsewhere"})
    assert in_full.equivalence_class is None
    anywhere = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["elsewhere"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [anywhere]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert ask(scheduler, 4, affinity=affinity).chosen == "b"


def test_they_stay_together_when_what_has_changed_is_nothing_to_them(scheduler):
    for number in (1, 2):
        ask(scheduler, number)
    before = left_out(ask(scheduler, 2))
    scheduler.cluster.put(PriorityClass(metadata=ObjectMeta(name="high"), value=1000))
    assert left_out(ask(scheduler, 2)) == before
    assert left_out(ask(scheduler, 3)) == before


def test_a_node_that_one_of_them_comes_to_reject_is_rejected_for_all(scheduler):
    scheduler.cluster.add_node(node("c"))
    for number in (1, 2, 3):
        ask(scheduler, number)
    assert "TaintToleration" in left_out(ask(scheduler, 3))
    scheduler.cluster.add_node(node("b", taints=[{"key": "spot", "effect": "NoSchedule"}]))
    for number in (3, 2, 1, 4):
        assert ask(scheduler, number).feasible == 2
