"""How often plugins are asked about the next pods of a template, about whom, and when what was looked ahead is void."""

import msgspec
import numpy as np
import pytest

from schedctl.engine.attempts import attempt
from schedctl.framework.points import FilterPlugin, Scope, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import plugin_on, scheduler_with
from schedctl.testing.side_by_side import differences

NODES = 20


class Piles(FilterPlugin, ScorePlugin):
    """Piles pods up on the fullest node, up to some; takes down what it is asked about, and whether that was supposed.

    It is written for whoever declares nothing.
    """

    most = 100
    sign = 1
    full = Reason("full")
    reads_feasible_set = False

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.filtered = []
        self.scored = []

    def filter(self, cycle, nodes):
        self.filtered.append((sorted(set(nodes.names)), nodes.is_hypothetical))
        return self.full.where(nodes.pod_count >= self.most)

    def score(self, cycle, nodes):
        self.scored.append((sorted(set(nodes.names)), nodes.is_hypothetical))
        return np.clip(50 + self.sign * 2 * nodes.pod_count, 0, 100)

    def signature(self, pod):
        return ()

    def moved_by(self, cycle, change):
        return Scope.ROW


class Foreseen(Piles):
    """The same, and may be asked about pods that are not there yet."""

    reads_template_only = True


class Spreads(Foreseen):
    """Prefers empty nodes."""

    sign = -1


def web(number, **more):
    return pod(f"web-{number}", **{"cpu": "1m", "labels": {"app": "web"}, **more})


def crowd(plugin, number=NODES, *running):
    """A scheduler over nodes alike, in which that plugin outweighs all others, and the plugin."""
    scheduler = scheduler_with(plugin, cluster(*(node(f"n{each:02}", cpu="64") for each in range(number)), *running))
    (profile,) = scheduler.profiles.values()
    profile.weights[plugin.name] = 1000
    return scheduler, profile.plugins[plugin.name]


def place(scheduler, asked):
    """Place a pod where it would go without a memory, too; how often it asked the plugin is left as it was."""
    outcome = scheduler.attempt(asked)
    told = outcome.chosen, outcome.ties, outcome.feasible
    for spy in (each for each in outcome.profile.plugins.values() if isinstance(each, Piles)):
        before = spy.filtered.copy(), spy.scored.copy()
        anew = attempt(outcome.profile, scheduler.cluster, asked, scheduler.nominator)
        assert told == (anew.chosen, anew.ties, anew.feasible)
        assert not list(differences(outcome, anew))
        spy.filtered, spy.scored = before
    scheduler.place(outcome, outcome.chosen)
    return outcome


def supposed(asked):
    return [names for names, was_supposed in asked if was_supposed]


# -- how often ---------------------------------------------------------------------


def test_as_many_placements_as_there_are_nodes_cost_one_column():
    scheduler, plugin = crowd(Spreads)
    for number in range(3):
        place(scheduler, web(number))
    asked = len(plugin.scored)
    assert len(supposed(plugin.scored)) == 1
    assert len(supposed(plugin.scored)[0]) == NODES
    for number in range(3, NODES):
        place(scheduler, web(number))
    assert len(plugin.scored) == asked
    assert len(plugin.filtered) == asked


def test_the_second_pod_in_a_row_is_the_sign_that_more_are_coming():
    scheduler, plugin = crowd(Spreads)
    place(scheduler, web(0))
    place(scheduler, web(1))
    assert not supposed(plugin.scored)
    place(scheduler, web(2))
    assert supposed(plugin.scored)


def test_where_pods_pile_up_on_one_node_many_levels_of_it_are_judged_at_once():
    scheduler, plugin = crowd(Foreseen)
    chosen = {place(scheduler, web(number)).chosen for number in range(25)}
    assert len(chosen) == 1
    assert len(plugin.scored) <= 5
    assert len(supposed(plugin.scored)) <= 3


def test_templates_that_take_turns_do_not_look_ahead():
    scheduler, plugin = crowd(Spreads)
    for number in range(6):
        place(scheduler, web(number, cpu="1m" if number % 2 else "2m"))
    assert not supposed(plugin.scored)


@pytest.mark.parametrize("plugin", [Foreseen, Spreads])
@pytest.mark.parametrize("nodes", [1, 2, 7, 300])
def test_what_was_looked_ahead_is_what_comes(plugin, nodes):
    plugin = type(plugin.__name__, (plugin,), {"most": 6})
    scheduler, _ = crowd(plugin, nodes)
    for number in range(40):
        outcome = scheduler.attempt(web(number))
        anew = attempt(outcome.profile, scheduler.cluster, web(number), scheduler.nominator)
        assert (outcome.ties, outcome.feasible) == (anew.ties, anew.feasible)
        if not outcome.chosen:
            assert number == 6 * nodes
            return
        scheduler.place(outcome, outcome.chosen)


# -- when it is void -----------------------------------------------------------------


def running_on(scheduler, name):
    return scheduler.cluster.pod_table.on(scheduler.cluster.node_table.row_of[name])


def resized(scheduler, name):
    table = scheduler.cluster.node_table
    obj = table.objects[table.row_of[name]]
    status = msgspec.structs.replace(obj.status, allocatable={**obj.status.allocatable, "cpu": "5m"})
    scheduler.cluster.add_node(msgspec.structs.replace(obj, status=status))


HAPPENS = {
    "another pod comes to it": lambda scheduler, name: scheduler.cluster.assume(pod("big", cpu="63"), name),
    "two other pods come to it": lambda scheduler, name: [
        scheduler.cluster.assume(pod(f"big-{number}", cpu="20"), name) for number in range(2)
    ],
    "a pod of the template comes to it": lambda scheduler, name: scheduler.cluster.assume(web("extra"), name),
    "a pod goes from it": lambda scheduler, name: scheduler.cluster.remove_pod(running_on(scheduler, name)[0]),
    "it is resized": resized,
}


@pytest.mark.parametrize("plugin", [Foreseen, Spreads])
@pytest.mark.parametrize("happens", list(HAPPENS.values()), ids=list(HAPPENS))
@pytest.mark.parametrize(
    "between", [pytest.param(True, id="between a choice and the placement"), pytest.param(False, id="between two pods")]
)
def test_what_happens_to_a_node_voids_what_was_looked_ahead_of_it(plugin, happens, between):
    scheduler, _ = crowd(plugin, 3, pod("old", on="n00"), pod("older", on="n01"), pod("oldest", on="n02"))
    for number in range(5):
        outcome = place(scheduler, web(number))
    if between:
        outcome = scheduler.attempt(web(5))
        happens(scheduler, outcome.chosen)
        scheduler.place(outcome, outcome.chosen)
    else:
        happens(scheduler, outcome.chosen)
    for number in range(6, 12):
        place(scheduler, web(number))


def test_a_node_that_takes_no_more_is_left_out_and_comes_back():
    scheduler, _ = crowd(type("Few", (Foreseen,), {"most": 4}), 3)
    for number in range(9):
        place(scheduler, web(number))
    first = running_on(scheduler, "n00")
    assert len(first) == 4
    scheduler.cluster.remove_pod(first[0])
    assert place(scheduler, web(10)).feasible >= 2
    place(scheduler, web(11))


def test_a_pod_placed_elsewhere_than_it_was_to_go_is_counted_where_it_went():
    scheduler, _ = crowd(Foreseen, 3)
    for number in range(4):
        place(scheduler, web(number))
    outcome = scheduler.attempt(web(5))
    assert outcome.chosen == "n00"
    scheduler.place(outcome, "n02")
    for number in range(6, 10):
        place(scheduler, web(number))


# -- who declares nothing --------------------------------------------------------------


def test_who_does_not_declare_it_is_never_asked_about_pods_that_are_not_there():
    scheduler, plugin = crowd(Piles)
    for number in range(30):
        place(scheduler, web(number))
    assert not supposed(plugin.filtered)
    assert not supposed(plugin.scored)


def test_who_does_not_declare_it_never_scores_nodes_that_others_refuse():
    taint = [{"key": "spot", "effect": "NoSchedule"}]
    scheduler, plugin = crowd(type("Packs", (Piles,), {"most": 4}), 4)
    scheduler.cluster.add_node(node("n01", cpu="64", taints=taint))
    scheduler.cluster.add_node(node("n02", cpu="3m"))
    for number in range(10):
        place(scheduler, web(number))
        if len(running_on(scheduler, "n02")) == 3:
            plugin.scored.clear()
            scheduler.cluster.assume(pod(f"more-{number}", cpu="1m"), "n01")
            scheduler.cluster.remove_pod(pod_named(scheduler, f"more-{number}"))
            place(scheduler, web(100 + number))
            assert not any("n02" in names for names, _ in plugin.scored)
    assert not any("n01" in names for names, _ in plugin.scored)


def pod_named(scheduler, name):
    return next(info for info in scheduler.cluster.pod_table if info.key == f"default/{name}")


def test_who_has_no_signature_is_asked_about_all_nodes_for_every_pod():
    scheduler, plugin = crowd(type("Unsigned", (Piles,), {"signature": lambda self, pod: None}))
    for number in range(6):
        place(scheduler, web(number))
    assert [len(names) for names, _ in plugin.scored] == [NODES] * 6
    assert not supposed(plugin.scored)


def test_who_only_has_a_signature_is_asked_about_all_nodes_whenever_anything_changes():
    scheduler, plugin = crowd(type("Signed", (Piles,), {"moved_by": lambda self, cycle, change: Scope.EVERYTHING}))
    for number in range(6):
        place(scheduler, web(number))
    assert [len(names) for names, _ in plugin.scored] == [NODES] * 6


def test_nobody_is_asked_at_all_while_nothing_changes():
    scheduler, plugin = crowd(Piles)
    place(scheduler, web(0))
    scheduler.attempt(web(1))
    asked = len(plugin.scored)
    for number in range(5):
        scheduler.attempt(web(2 + number))
    assert len(plugin.scored) == asked


def test_a_column_on_which_pods_are_supposed_reads_like_one_on_which_they_run():
    made = cluster(node("a"), node("b"))
    plugin = plugin_on(Foreseen, made)
    column = made.nodes.hypothetical_copies(np.array([0, 0, 1]), web(0))
    assert plugin.score(None, column).tolist() == [54, 52]
