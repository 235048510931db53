"""How often plugins are asked about the next pods of a template, about whom, and when what was looked ahead is void."""

import msgspec
import numpy as np
import pytest

from schedctl.api.meta import Namespace
from schedctl.engine.attempts import attempt
from schedctl.engine.batching import equivalence_classes
from schedctl.framework.points import FilterPlugin, ScorePlugin
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


class Foreseen(Piles):
    """The same, and may be asked about pods that are not there yet."""

    foreseeable = True


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


def place(scheduler, incoming):
    """Place a pod where it would go without a memory, too; how often it asked the plugin is left as it was."""
    outcome = scheduler.attempt(incoming)
    decision = outcome.chosen, outcome.ties, outcome.feasible
    for spy in (each for each in outcome.profile.plugins.values() if isinstance(each, Piles)):
        before = spy.filtered.copy(), spy.scored.copy()
        anew = attempt(outcome.profile, scheduler.cluster, incoming, scheduler.nominator)
        assert decision == (anew.chosen, anew.ties, anew.feasible)
        assert not list(differences(outcome, anew))
        spy.filtered, spy.scored = before
    scheduler.place(outcome, outcome.chosen)
    return outcome


def hypothetical_columns(columns):
    return [names for names, is_hypothetical in columns if is_hypothetical]


# -- how often ---------------------------------------------------------------------


def test_one_column_serves_as_many_placements_as_nodes():
    scheduler, plugin = crowd(Spreads)
    for number in range(3):
        place(scheduler, web(number))
    calls = len(plugin.scored)
    assert len(hypothetical_columns(plugin.scored)) == 1
    assert len(hypothetical_columns(plugin.scored)[0]) == NODES
    for number in range(3, NODES):
        place(scheduler, web(number))
    assert len(plugin.scored) == calls
    assert len(plugin.filtered) == calls


def test_lookahead_begins_after_some_pods_in_a_row(monkeypatch):
    monkeypatch.setattr(equivalence_classes, "IN_A_ROW", 5)
    scheduler, plugin = crowd(Spreads)
    for number in range(5):
        place(scheduler, web(number))
    assert not hypothetical_columns(plugin.scored)
    place(scheduler, web(5))
    assert hypothetical_columns(plugin.scored)


def test_several_levels_of_one_node_are_scored_in_one_column():
    scheduler, plugin = crowd(Foreseen)
    chosen = {place(scheduler, web(number)).chosen for number in range(25)}
    assert len(chosen) == 1
    assert len(plugin.scored) <= 5
    assert len(hypothetical_columns(plugin.scored)) <= 3


def test_alternating_templates_do_not_look_ahead():
    scheduler, plugin = crowd(Spreads)
    for number in range(6):
        place(scheduler, web(number, cpu="1m" if number % 2 else "2m"))
    assert not hypothetical_columns(plugin.scored)


@pytest.mark.parametrize("plugin", [Foreseen, Spreads])
@pytest.mark.parametrize("nodes", [1, 2, 7, 300])
def test_lookahead_equals_a_full_cycle(plugin, nodes):
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


def shrink_node(scheduler, name):
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
    "it is resized": shrink_node,
}


@pytest.mark.parametrize("plugin", [Foreseen, Spreads])
@pytest.mark.parametrize("happens", list(HAPPENS.values()), ids=list(HAPPENS))
@pytest.mark.parametrize(
    "between", [pytest.param(True, id="between a choice and the placement"), pytest.param(False, id="between two pods")]
)
def test_change_of_a_node_invalidates_its_lookahead(plugin, happens, between):
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


def test_full_node_is_infeasible_until_a_pod_goes():
    scheduler, _ = crowd(type("Few", (Foreseen,), {"most": 4}), 3)
    for number in range(9):
        place(scheduler, web(number))
    first = running_on(scheduler, "n00")
    assert len(first) == 4
    scheduler.cluster.remove_pod(first[0])
    assert place(scheduler, web(10)).feasible >= 2
    place(scheduler, web(11))


def test_pod_placed_on_another_node_is_counted_there():
    scheduler, _ = crowd(Foreseen, 3)
    for number in range(4):
        place(scheduler, web(number))
    outcome = scheduler.attempt(web(5))
    assert outcome.chosen == "n00"
    scheduler.place(outcome, "n02")
    for number in range(6, 10):
        place(scheduler, web(number))


class ReadsLate(ScorePlugin):
    """Reads an object only where pods are many, as they are at first where one looks ahead."""

    reads_feasible_set = False
    foreseeable = True

    def score(self, cycle, nodes):
        if (nodes.pod_count > 5).any():
            nodes.cluster.get(Namespace, "x")
        return np.minimum(nodes.pod_count, 100)

    def signature(self, pod):
        return ()


def test_what_is_read_of_pods_to_come_says_nothing_of_the_pod_that_has_come():
    scheduler, _ = crowd(ReadsLate, 60)
    for number in range(30):
        outcome = scheduler.attempt(web(number))
        anew = attempt(outcome.profile, scheduler.cluster, web(number), scheduler.nominator)
        assert not list(differences(outcome, anew))
        assert (outcome.ties, outcome.feasible) == (anew.ties, anew.feasible)
        scheduler.place(outcome, f"n{number:02}")


class Overshoots(FilterPlugin, ScorePlugin):
    """Lets seven pods onto odd nodes, and scores beyond the range where there are many."""

    reads_feasible_set = False
    foreseeable = True
    seven = Reason("seven")

    def filter(self, cycle, nodes):
        odd = np.array([int(name[1:]) % 2 for name in nodes.names], np.bool_)
        return self.seven.where(odd & (nodes.pod_count >= 7))

    def score(self, cycle, nodes):
        return np.where(nodes.pod_count > 30, 101, 0).astype(np.int64)

    def signature(self, pod):
        return ()


def test_lookahead_that_fails_half_way_is_forgotten():
    nodes = (node(f"n{each:03}", cpu="64") for each in range(110))
    scheduler = scheduler_with(Overshoots, cluster(*nodes), plugins_only=True)
    targets = [*(f"n{each:03}" for each in range(50, 60)), *["n001"] * 3, *["n000"] * 11, *["n001"] * 5]
    for number, target in enumerate(targets):
        outcome = scheduler.attempt(web(number))
        anew = attempt(outcome.profile, scheduler.cluster, web(number), scheduler.nominator)
        assert not list(differences(outcome, anew))
        assert (outcome.ties, outcome.feasible) == (anew.ties, anew.feasible)
        scheduler.place(outcome, target)


# -- who declares nothing --------------------------------------------------------------


def test_undeclared_plugin_never_sees_hypothetical_pods():
    scheduler, plugin = crowd(Piles)
    for number in range(30):
        place(scheduler, web(number))
    assert not hypothetical_columns(plugin.filtered)
    assert not hypothetical_columns(plugin.scored)


def test_undeclared_plugin_never_scores_rejected_nodes():
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


def test_plugin_without_signature_scores_all_nodes_for_every_pod():
    scheduler, plugin = crowd(type("Unsigned", (Piles,), {"signature": lambda self, pod: None}))
    for number in range(6):
        place(scheduler, web(number))
    assert [len(names) for names, _ in plugin.scored] == [NODES] * 6
    assert not hypothetical_columns(plugin.scored)


class ReadsPodTable(Piles):
    """Reads more than a column, so that nobody knows what its answers rest on."""

    def score(self, cycle, nodes):
        assert len(nodes.cluster.pod_table) >= 0
        return super().score(cycle, nodes)


def test_plugin_is_asked_again_about_the_rows_that_it_has_read():
    scheduler, plugin = crowd(Piles)
    for number in range(6):
        place(scheduler, web(number))
    assert [len(names) for names, _ in plugin.scored] == [NODES] + [1] * 5


def test_templates_that_a_plugin_reads_alike_share_its_answers():
    scheduler, plugin = crowd(Piles)
    for number in range(6):
        place(scheduler, web(number, cpu=f"{number + 1}m"))
    assert [len(names) for names, _ in plugin.scored] == [NODES] + [1] * 5


def test_plugin_of_unknown_reads_scores_all_nodes_after_any_change():
    scheduler, plugin = crowd(ReadsPodTable)
    for number in range(6):
        place(scheduler, web(number))
    assert [len(names) for names, _ in plugin.scored] == [NODES] * 6


def test_no_plugin_is_called_while_nothing_changes():
    scheduler, plugin = crowd(Piles)
    place(scheduler, web(0))
    scheduler.attempt(web(1))
    calls = len(plugin.scored)
    for number in range(5):
        scheduler.attempt(web(2 + number))
    assert len(plugin.scored) == calls


def test_hypothetical_column_reads_like_one_with_running_pods():
    made = cluster(node("a"), node("b"))
    plugin = plugin_on(Foreseen, made)
    column = made.nodes.hypothetical_copies(np.array([0, 0, 1]), web(0))
    assert plugin.score(None, column).tolist() == [54, 52]
