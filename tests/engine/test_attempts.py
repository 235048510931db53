"""One pod's cycle: which plugins are asked about what, in which order, and what comes of it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from schedctl.api.meta import Namespace, ObjectMeta
from schedctl.engine.attempts import attempt, matrix
from schedctl.engine.batching.signature_cache import SignatureCache
from schedctl.engine.fit_error import message
from schedctl.engine.handles import ProfileHandle
from schedctl.engine.nominators import Nominator
from schedctl.framework.lifting import per_node
from schedctl.framework.points import (
    FilterPlugin,
    NodeSet,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from schedctl.framework.profiles import Profile
from schedctl.framework.reasons import ACCEPT, Lookup, Reason, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, Code, Status, unresolvable, unschedulable
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod


class Full(FilterPlugin):
    """Refuses nodes that hold more than two pods."""

    full = Reason("too full")

    def filter(self, cycle, nodes):
        return self.full.where(nodes.pod_count + 1 > 2, held=nodes.pod_count.copy())

    def signature(self, pod):
        return ()


class NotB(FilterPlugin):
    """Refuses the node named b."""

    named_b = Reason("is b, not {wanted}", unresolvable=True)

    @per_node
    def filter(self, cycle, node):
        return self.named_b(wanted="a") if node.name == "b" else None


class Fails(FilterPlugin):
    """Fails on every node it is asked about."""

    broken = Reason("broken on {where}", code=Code.ERROR)

    @per_node
    def filter(self, cycle, node):
        return self.broken(where=node.name)


class Narrow(PreFilterPlugin, FilterPlugin):
    """Narrows the search to the nodes its pod names in a label."""

    def pre_filter(self, cycle, nodes):
        only = cycle.pod.labels.get("only")
        return NodeSet(frozenset(only.split("."))) if only else SKIP

    def filter(self, cycle, nodes):
        assert cycle.pod.labels.get("only"), "a skipped plugin was asked"
        return ACCEPT


class NarrowToo(Narrow):
    """The same, by another label."""

    def pre_filter(self, cycle, nodes):
        only = cycle.pod.labels.get("only-too")
        return NodeSet(frozenset(only.split("."))) if only else None

    def filter(self, cycle, nodes):
        return ACCEPT


class ByLength(ScorePlugin):
    """Scores nodes by the length of their name."""

    @per_node
    def score(self, cycle, node):
        return len(node.name)


class TooMuch(PreScorePlugin, ScorePlugin):
    """Scores beyond what is allowed, unless it skips."""

    def pre_score(self, cycle, nodes):
        return SKIP if cycle.pod.labels.get("calm") else None

    def score(self, cycle, nodes):
        return np.full(len(nodes), 101)


class Refuses(PostFilterPlugin):
    """Finds nothing to do."""

    def post_filter(self, cycle, nodes, codes):
        return PostFilterResult(unschedulable("nothing helped"))


class Gives(PostFilterPlugin):
    """Makes room on a."""

    def post_filter(self, cycle, nodes, codes):
        return PostFilterResult(SUCCESS, "a")


class Gate(PreEnqueuePlugin):
    """Keeps every pod out."""

    def pre_enqueue(self, pod):
        return unresolvable("not yet")


def profile(*plugins, weights=None, **points):
    made = [plugin(None, ProfileHandle(cluster(), Nominator())) for plugin in plugins]
    chosen = {
        "pre_enqueue": PreEnqueuePlugin,
        "pre_filter": PreFilterPlugin,
        "filter": FilterPlugin,
        "post_filter": PostFilterPlugin,
        "pre_score": PreScorePlugin,
        "score": ScorePlugin,
    }
    ordered = {field: tuple(p for p in made if isinstance(p, base)) for field, base in chosen.items()}
    ones = {p.name: 1 for p in made}
    return replace(Profile("default-scheduler", {p.name: p for p in made}, weights=ones | (weights or {})), **ordered)


def run(plugins, pod_, *objects, nominator=None, **options):
    return attempt(profile(*plugins), cluster(*objects), pod_, nominator or Nominator(), **options)


AB = (node("a"), node("b"))
CROWDED = (*AB, pod("x", on="a"), pod("y", on="a"))


def test_first_rejecting_plugin_of_a_node_counts():
    outcome = run([NotB, Full], pod(), *AB, *(pod(f"p{i}", on="b") for i in range(3)))
    assert outcome.filtering.status(1) == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("is b, not a",), "NotB")
    assert outcome.filtering.status(0) == SUCCESS
    assert outcome.chosen == "a"


def test_the_matrix_asks_every_plugin_about_every_node():
    outcome = run([NotB, Full], pod(), *AB, *(pod(f"p{i}", on="b") for i in range(3)))
    assert {name: verdicts.mask.tolist() for name, verdicts in matrix(outcome).items()} == {
        "NotB": [False, True],
        "Full": [False, True],
    }


def test_evidence_of_an_older_cluster_is_refused():
    made = cluster(*AB)
    outcome = attempt(profile(Full), made, pod(), Nominator())
    made.add_node(node("c"))
    with pytest.raises(ValueError, match="has changed"):
        matrix(outcome)


def test_reasons_are_counted_by_their_words():
    outcome = run([NotB, Full, Refuses], pod(), *CROWDED)
    assert message(outcome) == "0/2 nodes are available: 1 is b, not a, 1 too full. nothing helped"
    assert outcome.unschedulable_plugins == {"NotB", "Full"}


def test_post_filter_stops_at_the_first_success():
    outcome = run([NotB, Full, Refuses, Gives, Refuses], pod(), *CROWDED)
    assert outcome.post_filter == PostFilterResult(SUCCESS, "a")


def test_a_skipped_pre_filter_takes_its_filter_out():
    assert run([Narrow], pod(), *AB).ties == ["a", "b"]


def test_node_sets_are_intersected_and_nodes_outside_count_as_not_satisfying_the_plugins():
    outcome = run([Narrow, NarrowToo, NotB], pod(labels={"only": "a.b", "only-too": "b.c"}), *AB, node("c"))
    assert message(outcome) == (
        "0/3 nodes are available: 1 is b, not a, 2 node(s) didn't satisfy plugin(s) [Narrow NarrowToo]."
    )


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        pytest.param(
            {"only": "a", "only-too": "b"},
            "node(s) didn't satisfy plugin(s) [Narrow NarrowToo] simultaneously",
            id="two plugins that share no node",
        ),
        pytest.param({"only": ""}, None, id="a label without nodes narrows nothing"),
    ],
)
def test_an_empty_intersection_refuses_the_pod(labels, text):
    outcome = run([Narrow, NarrowToo], pod(labels=labels), *AB)
    if text is None:
        assert outcome.chosen
    else:
        assert outcome.pre_filter == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
        assert message(outcome) == f"0/2 nodes are available: {text}."


def test_a_failing_filter_ends_the_cycle_with_the_first_node_it_failed_on_by_name():
    outcome = run([Full, Fails], pod(), node("c"), node("b"), node("a"), pod("x", on="a"), pod("y", on="a"))
    assert outcome.error == 'running "Fails" filter plugin: broken on b'


class FailsOnA(FilterPlugin):
    """Fails on the node named a."""

    broken = Reason("broken", code=Code.ERROR)

    @per_node
    def filter(self, cycle, node):
        return self.broken() if node.name == "a" else None


def test_error_on_the_nominated_node_does_not_end_the_cycle():
    promised = pod(labels={"only": "b"}, status={"nominatedNodeName": "a"})
    outcome = run([Narrow, FailsOnA], promised, *AB)
    assert (outcome.error, outcome.ties) == ("", ["b"])


class Breaks(FilterPlugin):
    """Has a bug."""

    def filter(self, cycle, nodes):
        raise KeyError("rack")


def test_an_exception_in_a_plugin_is_an_error_in_its_name():
    text = run([Breaks], pod(), *AB).error
    assert re.fullmatch(r"plugin \"Breaks\" failed: KeyError: 'rack' \(test_attempts\.py:\d+\)", text)


class Notes:
    """Findings: the name and the number of pods of each row."""

    def __init__(self, nodes):
        self.notes = list(zip(nodes.names, nodes.pod_count.tolist(), strict=True))

    def at(self, row):
        return self.notes[row]


class Finds(FilterPlugin):
    """Accepts every node and notes what it saw."""

    def filter(self, cycle, nodes):
        return Verdicts(findings=Notes(nodes))


class FindsEverywhere(Finds):
    """The same, asked about every row."""

    filters_all_nodes = True


@pytest.mark.parametrize("finder", [FindsEverywhere, Finds], ids=["asked about every row", "asked about standing rows"])
def test_findings_are_known_of_the_nodes_a_filter_reached(finder):
    outcome = run([NotB, finder], pod(), *AB, node("c"), pod("x", on="c"))
    found = outcome.cycle.findings[finder.__name__]
    assert [found.at(row) for row in range(3)] == [("a", 0), None, ("c", 1)]
    assert list(found.every()) == [(0, ("a", 0)), (2, ("c", 1))]


def test_finding_of_the_pass_without_nominated_pods_is_kept():
    nominator = Nominator()
    nominator.nominate(pod("promised"), "a")
    outcome = run([Finds, Full], pod(), *AB, nominator=nominator)
    found = outcome.cycle.findings["Finds"]
    assert found.at(0) == ("a", 0)
    assert list(found.every()) == [(0, ("a", 1)), (0, ("a", 0)), (1, ("b", 0))]


class Names(FilterPlugin):
    """Refuses every node with evidence on demand."""

    refused = Reason("no")

    def filter(self, cycle, nodes):
        return self.refused.where(np.ones(len(nodes), np.bool_), seen=Notes(nodes))


class Seen(FilterPlugin):
    """Accepts every node and notes its name."""

    def __init__(self, args, handle):
        super().__init__(args, handle)
        self.names = []

    @per_node
    def filter(self, cycle, node):
        self.names.append(node.name)


class SeenInColumns(Seen):
    """The same, over columns."""

    def filter(self, cycle, nodes):
        self.names += nodes.names
        return ACCEPT


class SeenEverywhere(SeenInColumns):
    """The same, over all nodes."""

    filters_all_nodes = True


@pytest.mark.parametrize(
    ("kind", "names"), [(Seen, ["a", "c"]), (SeenInColumns, ["a", "c"]), (SeenEverywhere, ["a", "b", "c"])]
)
def test_a_filter_is_asked_about_nodes_still_standing_unless_it_wants_all(kind, names):
    made = profile(NotB, kind)
    attempt(made, cluster(*AB, node("c")), pod(), Nominator())
    assert made.plugins[kind.__name__].names == names


def test_a_filter_is_not_asked_where_no_node_is_left():
    made = profile(NotB, Seen)
    attempt(made, cluster(node("b")), pod(), Nominator())
    assert made.plugins["Seen"].names == []


def test_evidence_on_demand_of_a_narrowed_column_is_that_of_the_row():
    outcome = run([NotB, Names], pod(), node("b"), node("c"))
    [(_, [(part, row)], _)] = outcome.filtering.refusal_at(1)
    assert part.at(row) == {"seen": ("c", 0)}


class Releases(PostFilterPlugin):
    """Would leave another namespace behind."""

    def post_filter(self, cycle, nodes, codes):
        return PostFilterResult(unschedulable("released"), objects=(Namespace(ObjectMeta(name="freed")),))


def test_objects_changed_by_post_filter_are_kept_after_a_later_success():
    outcome = run([Full, Releases, Gives], pod(), *CROWDED, pod("z", on="b"), pod("w", on="b"))
    assert outcome.post_filter.nominated_node == "a"
    assert [obj.metadata.name for obj in outcome.post_filter.objects] == ["freed"]


def test_scores_are_normalised_weighted_and_summed_and_ties_are_listed():
    outcome = attempt(
        profile(ByLength, weights={"ByLength": 3}), cluster(node("bb"), node("aa"), node("c")), pod(), Nominator()
    )
    assert dict(zip(outcome.scoring.nodes.names, outcome.scoring.totals.tolist(), strict=True)) == {
        "bb": 6,
        "aa": 6,
        "c": 3,
    }
    assert outcome.ties == ["aa", "bb"]
    assert outcome.chosen == "aa"


def test_a_normalised_score_outside_the_range_is_a_fault():
    assert "returns an invalid score 101" in run([TooMuch], pod(), *AB).error


def test_a_skipped_pre_score_takes_its_score_out():
    outcome = run([TooMuch, ByLength], pod(labels={"calm": "yes"}), *AB)
    assert [scores.plugin for scores in outcome.scoring.plugins] == ["ByLength"]


def test_a_gated_pod_goes_no_further():
    assert run([Gate, NotB], pod(), *AB).gated == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("not yet",), "Gate")


def test_an_empty_cluster_has_a_line_of_its_own():
    assert message(run([NotB], pod())) == "no nodes available to schedule pods"


def test_a_deleted_pod_is_not_scheduled():
    gone = pod("gone", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert message(run([NotB], gone, *AB)) == "skip schedule deleting pod: default/gone"


def test_a_nominated_node_that_fits_is_the_only_one_looked_at():
    outcome = run([Full], pod(status={"nominatedNodeName": "b"}), *AB)
    assert outcome.nominated_first
    assert outcome.ties == ["b"]


def test_a_nominated_node_that_is_gone_is_ignored():
    assert run([Full], pod(status={"nominatedNodeName": "ghost"}), *AB).ties == ["a", "b"]


@pytest.mark.parametrize(
    ("priority", "ties"),
    [
        pytest.param(0, ["b"], id="a node must also do with the more important pods nominated to it"),
        pytest.param(10, ["a", "b"], id="less important nominated pods do not count"),
    ],
)
def test_nominated_pods_count_by_priority(priority, ties):
    nominator = Nominator()
    nominator.nominate(pod("promised", priority=5), "a")
    outcome = run([Full], pod(priority=priority), *AB, pod("x", on="a"), nominator=nominator)
    assert outcome.ties == ties


def test_sampling_stops_at_enough_feasible_nodes_and_goes_on_from_there():
    made = cluster(*(node(f"n{i:03d}", zone=f"z{i % 2}") for i in range(200)))
    outcome = attempt(profile(Full, ByLength), made, pod(), Nominator(), percentage=50)
    assert outcome.sampled == 100
    assert int(outcome.filtering.feasible.sum()) == 100


class FindsNames(FilterPlugin):
    """Finds out what each node is called."""

    def filter(self, cycle, nodes):
        return Verdicts((), Lookup(nodes.names, np.arange(len(nodes))))


@pytest.mark.parametrize(
    "nominated", [pytest.param([], id="no pod is nominated"), pytest.param(["n150", "n001"], id="pods are nominated")]
)
def test_of_nodes_that_sampling_does_not_reach_nothing_is_found(nominated):
    made = cluster(*(node(f"n{i:03d}") for i in range(200)))
    nominator = Nominator()
    for name in nominated:
        nominator.nominate(pod(f"for-{name}", priority=5), name)
    outcome = attempt(profile(FindsNames, ByLength), made, pod(), nominator, percentage=50)
    found = {name for _, name in outcome.cycle.findings["FindsNames"].every()}
    assert found == {f"n{i:03d}" for i in range(100)}


def test_sampling_stops_at_the_first_feasible_node_where_nobody_scores():
    made = cluster(*(node(f"n{i:03d}") for i in range(200)))
    outcome = attempt(profile(Full), made, pod(), Nominator(), percentage=50)
    assert outcome.sampled == 1
    assert len(outcome.ties) == 1


def test_templates_give_the_same_answers_as_full_cycles():
    made = cluster(*(node(f"n{i}") for i in range(5)))
    alike, cache = profile(Full), SignatureCache(made)
    for number in range(12):
        again = attempt(alike, made, pod(f"p{number}"), Nominator(), cache=cache)
        anew = attempt(alike, made, pod(f"p{number}"), Nominator())
        assert again.ties == anew.ties
        assert message(again) == message(anew)
        if again.chosen:
            made.assume(again.pod, again.chosen)


def test_a_sampled_cycle_begins_where_the_last_one_stopped():
    made = cluster(*(node(f"n{i:03d}") for i in range(300)))
    scheduler = Scheduler(made)
    chosen = []
    for number in range(3):
        outcome = scheduler.attempt(pod(f"p{number}"), sampling=True)
        scheduler.rotate(outcome)
        chosen.append(outcome.filtering.nodes.names[0])
    assert len(set(chosen)) == 3


def test_nomination_by_another_scheduler_reserves_nothing():
    foreign = pod("q", cpu="3", priority=1000, schedulerName="other", status={"nominatedNodeName": "a"})
    made = cluster(node("a", cpu="4"), foreign)
    assert Scheduler(made).attempt(pod("p", cpu="2")).ties == ["a"]
