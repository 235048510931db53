"""Answers lapse with the objects that they rest on, wherever a plugin has read these, and whoever asked for it."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.api.storage import CSINode, PersistentVolume, StorageClass
from schedctl.engine.attempts import attempt
from schedctl.framework.cycles import StateKey
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import ACCEPT, Reason
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import scheduler_with

SEEN = StateKey[dict[str, int]]("Seen")
NODES = 9
POINTS = ("pre_filter", "filter", "pre_score", "score", "normalize")


class ReadsObjects(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Rejects and rates nodes by what objects say, which it reads at the points that its arguments name."""

    reads_feasible_set = False
    barred = Reason("barred")

    def signature(self, pod):
        return ()

    def _read(self, cycle, point):
        """What the objects say at a point, 0 where nothing is read there; what was read before is in the state."""
        cluster, how = self.handle.cluster, self.args.get(point)
        if how == "one":
            found = cluster.get(StorageClass, "a")
            return 0 if found is None else int(found.metadata.labels["n"])
        if how == "all":
            return sum(int(each.metadata.labels["n"]) for each in cluster.every(CSINode).values())
        if how == "derived":
            return cluster.derive(count_all, StorageClass, CSINode)
        return 0

    def pre_filter(self, cycle, nodes):
        cycle.state[SEEN] = {"pre_filter": self._read(cycle, "pre_filter")}

    def filter(self, cycle, nodes):
        number = self._read(cycle, "filter") + cycle.state[SEEN]["pre_filter"]
        rejected = ((np.ones_like(nodes.rows) if self.args["alike"] else nodes.rows) + number) % 4 == 0
        if self.args["pods"]:
            rejected = rejected | (nodes.pod_count >= 4)
        if self.args["labels"]:
            rejected = rejected | np.array([name in self._labelled(nodes) for name in nodes.names])
        return self.barred.where(rejected)

    def _labelled(self, nodes):
        return {name for position, name in enumerate(nodes.names) if "off" in nodes.object(position).metadata.labels}

    def pre_score(self, cycle, nodes):
        cycle.state[SEEN] = cycle.state[SEEN] | {"pre_score": self._read(cycle, "pre_score")}

    def score(self, cycle, nodes):
        number = self._read(cycle, "score") + cycle.state[SEEN]["pre_score"]
        return ((np.zeros_like(nodes.rows) if self.args["alike"] else nodes.rows * 7) + number) % 11


class Normalizes(ReadsObjects):
    normalizes_by_extremes = True

    def normalize(self, cycle, nodes, scores):
        return scores * 5 if self._read(cycle, "normalize") % 2 else 100 - scores * 5


class IsForeseen(ReadsObjects):
    foreseeable = True


def count_all(of):
    return len(of.every(StorageClass)) + 3 * len(of.every(CSINode))


def labelled(kind, name, number):
    spec = {StorageClass: {"provisioner": "p"}, CSINode: {"spec": {"drivers": []}}}.get(kind, {"spec": {}})
    return msgspec.convert({"metadata": {"name": name, "labels": {"n": str(number)}}, **spec}, kind)


def scheduler_over(plugin, args):
    names = [f"n{number}" for number in range(NODES)]
    made = cluster(*(node(name, cpu="64") for name in names), labelled(StorageClass, "a", 1))
    scheduler = scheduler_with(plugin, made, args)
    (profile,) = scheduler.profiles.values()
    profile.weights[plugin.name] = 1000
    return scheduler


def ask(scheduler, name, template, **more):
    """Place a pod of a template where it would go without a memory, too."""
    incoming = pod(name, cpu=f"{template + 1}m", labels={"app": f"app-{template}"}, **more)
    outcome = scheduler.attempt(incoming, make_room=False)
    anew = attempt(outcome.profile, scheduler.cluster, incoming, scheduler.nominator, make_room=False)
    assert not anew.error
    assert (outcome.feasible, outcome.ties, outcome.chosen) == (anew.feasible, anew.ties, anew.chosen)
    return outcome


how = st.sampled_from([None, "one", "all", "derived"])
more = dict.fromkeys(("pods", "labels", "alike"), st.booleans())
arguments = st.fixed_dictionaries(dict.fromkeys(POINTS, how) | more)
kinds = st.sampled_from([StorageClass, CSINode])
events = st.one_of(
    st.tuples(st.just("ask"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("ask"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("put"), kinds, st.integers(0, 5)),
    st.tuples(st.just("put other"), kinds, st.integers(0, 5)),
    st.tuples(st.just("delete"), kinds),
    st.tuples(st.just("label"), st.integers(0, NODES - 1)),
    st.tuples(st.just("fork"), kinds, st.integers(0, 2)),
)


def happen(scheduler, event, number):
    made = scheduler.cluster
    match event:
        case "ask", template, placed:
            outcome = ask(scheduler, f"p{number}", template)
            if placed and outcome.chosen:
                scheduler.place(outcome)
        case "put", kind, value:
            made.put(labelled(kind, "a", value))
        case "put other", kind, value:
            made.put(labelled(kind, "b", value))
        case "delete", kind:
            for found in [*made.every(kind).values()][:1]:
                made.delete(found)
        case "label", which:
            old = made.node_table.objects[made.node_table.row_of[f"n{which}"]]
            labels = {} if "off" in old.metadata.labels else {"off": "yes"}
            made.add_node(node(f"n{which}", cpu="64", labels=labels))
        case "fork", kind, template:
            with made.fork():
                made.put(labelled(kind, "a", 9))
                ask(scheduler, f"f{number}", template)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([ReadsObjects, Normalizes, IsForeseen]), arguments, st.lists(events, min_size=4, max_size=25))
def test_answers_are_those_of_a_full_cycle_whatever_becomes_of_objects(plugin, args, happenings):
    scheduler = scheduler_over(plugin, args)
    for number, event in enumerate(happenings):
        happen(scheduler, event, number)
    for template in range(3):
        ask(scheduler, f"last-{template}", template)


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("pods", [False, True])
@pytest.mark.parametrize("way", ["one", "all", "derived"])
def test_an_answer_lapses_with_the_objects_it_was_read_from(point, pods, way):
    scheduler = scheduler_over(Normalizes, {point: way, "pods": pods, "labels": False, "alike": False})
    for number in range(6):  # two templates share the answers; either may be the first to learn that they lapsed
        for template in (0, 1) if number % 2 else (1, 0):
            scheduler.place(ask(scheduler, f"p{number}-{template}", template))
        scheduler.cluster.put(labelled(StorageClass if way == "one" else CSINode, "a", number + 2))


class SaysTheSame(FilterPlugin):
    """Says the same of all nodes, as an object has it."""

    filters_all_nodes = True
    barred = Reason("barred")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        found = nodes.cluster.get(StorageClass, "a")
        return self.barred.where(np.full(len(nodes), found.metadata.labels["n"] == "3"))


def test_what_constant_plugins_have_read_is_looked_at_for_a_class_that_is_made_after_it_changed():
    scheduler = scheduler_over(SaysTheSame, {})
    for number in range(3):
        scheduler.place(ask(scheduler, f"p{number}", 0))
        scheduler.place(ask(scheduler, f"q{number}", 1))
    tolerations = [{"key": "spot", "operator": "Exists"}]  # another plugin says something else of these
    scheduler.cluster.put(labelled(StorageClass, "a", 3))
    assert not ask(scheduler, "new", 2, tolerations=tolerations).feasible
    scheduler.cluster.put(labelled(StorageClass, "a", 0))
    assert ask(scheduler, "newer", 3).feasible == NODES


def test_what_is_looked_ahead_lapses_with_an_object_that_changed_since_the_last_placement():
    scheduler = scheduler_over(IsForeseen, {"filter": "one", "pods": True, "labels": False, "alike": False})
    for number in range(8):
        scheduler.place(ask(scheduler, f"p{number}", 0))
        if number in (1, 2, 5):
            scheduler.cluster.put(labelled(StorageClass, "a", number + 5))


class ReadsLate(FilterPlugin):
    """Reads an object only of the node that another filter rejects until it is repaired."""

    filters_all_nodes = False
    barred = Reason("barred")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        here = np.array([name == "n1" for name in nodes.names])
        found = nodes.cluster.get(StorageClass, "a") if here.any() else None
        return self.barred.where(here & (found is not None and found.metadata.labels["n"] == "7"))


def test_a_class_learns_what_a_column_has_come_to_read_for_another():
    taint = [{"key": "spot", "effect": "NoSchedule"}]
    made = cluster(node("n0"), node("n1", taints=taint), node("n2"), labelled(StorageClass, "a", 1))
    scheduler = scheduler_with(ReadsLate, made)

    def feasible(**more):
        incoming = pod("p", **more)
        outcome = scheduler.attempt(incoming)
        assert outcome.feasible == attempt(outcome.profile, made, incoming, scheduler.nominator).feasible
        return outcome.feasible

    tolerations = [{"key": "spot", "operator": "Exists"}]
    assert feasible() == 2
    made.put(labelled(StorageClass, "a", 2))
    assert feasible() == 2
    assert feasible(tolerations=tolerations) == 3
    made.add_node(node("n1"))
    assert feasible() == 3
    made.put(labelled(StorageClass, "a", 7))
    assert feasible() == 2
    assert feasible(tolerations=tolerations) == 2


class Follows(FilterPlugin):
    """Reads an object that says of which kind the other one is that it reads."""

    filters_all_nodes = True
    barred = Reason("barred")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        first = nodes.cluster.get(StorageClass, "a")
        kind = CSINode if first.metadata.labels["n"] == "1" else PersistentVolume
        found = nodes.cluster.get(kind, "x")
        return self.barred.where(nodes.rows < (int(found.metadata.labels["n"]) if found is not None else 0))


def test_an_answer_rests_on_the_kinds_that_were_read_last():
    scheduler = scheduler_over(Follows, {})
    for change in (
        labelled(CSINode, "x", 2),
        labelled(StorageClass, "a", 2),
        labelled(PersistentVolume, "x", 3),
        labelled(PersistentVolume, "x", 4),
        labelled(StorageClass, "a", 1),
        labelled(CSINode, "x", 5),
    ):
        ask(scheduler, "p", 0)
        scheduler.cluster.put(change)
    assert ask(scheduler, "p", 0).feasible == NODES - 5


class Counts(FilterPlugin):
    """Takes down how often it is asked; it reads objects of one kind, and no pods."""

    filters_all_nodes = True

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.calls = 0

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        self.calls += 1
        nodes.cluster.get(StorageClass, "a")
        return ACCEPT


def test_a_plugin_is_not_asked_again_for_objects_of_kinds_that_it_has_not_read():
    scheduler = scheduler_over(Counts, {})
    (profile,) = scheduler.profiles.values()
    plugin = profile.plugins["Counts"]
    for number in range(4):
        scheduler.place(scheduler.attempt(pod(f"p{number}")))
        scheduler.cluster.put(labelled(CSINode, f"c{number}", number))
    assert plugin.calls == 1
    scheduler.cluster.put(labelled(StorageClass, "a", 2))
    scheduler.attempt(pod("last"))
    assert plugin.calls == 2


class Warm(ScorePlugin):
    """Rates nodes by a label of theirs, beside the best."""

    reads_feasible_set = False
    normalizes_by_extremes = True

    def signature(self, pod):
        return ()

    def score(self, cycle, nodes):
        labels = (nodes.object(position).metadata.labels for position in range(len(nodes)))
        return np.array([int(each.get("warmth", self.args["base"])) for each in labels])

    def normalize(self, cycle, nodes, scores):
        return scores * 100 // max(1, int(scores.max()))


@pytest.mark.parametrize("base", ["0", "3"])
def test_scores_that_were_the_same_everywhere_are_no_longer_once_one_node_has_another(base):
    scheduler = scheduler_over(Warm, {"base": base})
    for warmth in (base, "5", base, "0", "7"):
        scheduler.cluster.add_node(node("n5", cpu="2m", labels={"warmth": warmth}))
        ask(scheduler, f"p{warmth}", 1)
    filling = ask(scheduler, "filling", 1)
    assert filling.chosen == "n5"
    scheduler.place(filling)
    assert ask(scheduler, "other", 1).chosen != "n5"
    scheduler.cluster.remove_pod(filling.pod)
    assert ask(scheduler, "again", 1).chosen == "n5"
