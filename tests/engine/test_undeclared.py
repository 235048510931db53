"""What a plugin does not declare is not relied upon: answers from memory are those of a scheduler without one."""

import msgspec
import numpy as np

from schedctl.api.storage import CSINode
from schedctl.engine.attempts import attempt
from schedctl.framework.cycles import StateKey
from schedctl.framework.points import FilterPlugin, PreFilterPlugin, PreScorePlugin, ReservePlugin, ScorePlugin
from schedctl.framework.reasons import Reason, Verdicts
from schedctl.framework.statuses import SKIP, SUCCESS, error
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.law_tests import scheduler_with
from schedctl.testing.side_by_side import differences

SEEN = StateKey[int]("Seen")
WEB = {"app": "web"}


def six_nodes(cpu):
    return cluster(*(node(f"n{number}", cpu=cpu) for number in range(6)))


def place_and_compare(scheduler, *pods):
    """Place pods one after another, each answered as without a memory; what came of the last."""
    for incoming in pods:
        outcome = scheduler.attempt(incoming)
        anew = attempt(outcome.profile, scheduler.cluster, incoming, scheduler.nominator)
        assert not list(differences(outcome, anew))
        if outcome.chosen:
            assert scheduler.place(outcome).status.successful
    return outcome


def pods(number, **more):
    return [pod(f"web-{count}", cpu="1", **more) for count in range(number)]


class SkipsWhileManyFit(PreScorePlugin, ScorePlugin):
    """Its PreScore goes by the feasible nodes, as any may that says nothing of them."""

    def signature(self, pod):
        return ()

    def pre_score(self, cycle, nodes):
        return SKIP if len(nodes) >= 6 else None

    def score(self, cycle, nodes):
        return np.asarray(nodes.rows, np.int64) * 10


def test_skipped_pre_score_is_called_again_for_other_feasible_nodes():
    place_and_compare(scheduler_with(SkipsWhileManyFit, six_nodes("2")), *pods(9))


class TellsApartWhenFewFit(PreScorePlugin, ScorePlugin):
    """All nodes are the same to it while all are feasible."""

    normalizes_by_extremes = True

    def signature(self, pod):
        return ()

    def pre_score(self, cycle, nodes):
        cycle.state[SEEN] = len(nodes)

    def score(self, cycle, nodes):
        return np.asarray(nodes.rows % 2 * (cycle.state[SEEN] < 6), np.int64)

    def normalize(self, cycle, nodes, scores):
        return scores * 100 // max(1, int(scores.max()))


def test_uniform_scores_are_recomputed_where_they_read_the_feasible_nodes():
    place_and_compare(scheduler_with(TellsApartWhenFewFit, six_nodes("2")), *pods(12))


class Rows:
    def __init__(self, rows):
        self._rows = rows

    def at(self, position):
        return int(self._rows[position])


class NeedsItsFinding(FilterPlugin, ReservePlugin):
    """Reserves what Filter has found, and cannot find it again."""

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        return Verdicts((), Rows(nodes.rows))

    def reserve(self, cycle, node_name):
        row = self.handle.cluster.node_table.row_of[node_name]
        return SUCCESS if cycle.findings[self.name].at(row) == row else error("not found")

    def unreserve(self, cycle, node_name):
        pass


def test_filter_with_findings_is_called_for_every_pod():
    scheduler = scheduler_with(NeedsItsFinding, six_nodes("64"))
    for incoming in pods(4):
        assert scheduler.place(scheduler.attempt(incoming)).status.successful


class Tide(PreFilterPlugin, ScorePlugin):
    """Scores all nodes alike, by the number of some objects, which it counts itself."""

    reads = (CSINode,)
    reads_feasible_set = False
    foreseeable = True

    def signature(self, pod):
        return ()

    def pre_filter(self, cycle, nodes):
        cycle.state[SEEN] = len(nodes.cluster.every(CSINode))

    def score(self, cycle, nodes):
        return np.full(len(nodes), 10 * cycle.state[SEEN], np.int64)


def test_moved_column_invalidates_the_lookahead():
    scheduler = scheduler_with(Tide, six_nodes("64"))
    first, second = pods(7)[:5], pods(7)[5:]
    place_and_compare(scheduler, *first)
    scheduler.cluster.put(msgspec.convert({"metadata": {"name": "n1"}, "spec": {"drivers": []}}, CSINode))
    place_and_compare(scheduler, *second)


def test_allocated_resources_tell_equal_specs_apart():
    scheduler = Scheduler(
        cluster(
            *(node(f"n{number}", cpu="8", memory="16Gi") for number in range(3)),
            pod("x", on="n1", cpu="1", memory="8Gi"),
            pod("y", on="n2", cpu="6", memory="1Gi"),
        )
    )
    more = {"cpu": "4", "memory": "1Gi"}
    granted = {"name": "main", "allocatedResources": more, "resources": {"requests": more}}
    status = {"phase": "Pending", "containerStatuses": [granted]}
    incoming = pod("a", cpu="1", memory="1Gi"), pod("b", cpu="1", memory="1Gi", status=status)
    assert incoming[1].demand.balanced_allocation_requests["cpu"] == 4000
    place_and_compare(scheduler, *incoming)


class CountsPods(FilterPlugin):
    """Keeps apart from pods of the app, which it counts, and declares nothing."""

    filters_all_nodes = True
    apart = Reason("there is one")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        return self.apart.where(nodes.gather(nodes.cluster.counter(WEB).by_row) > 0)


def test_counts_that_a_plugin_reads_are_relied_upon():
    incoming = pods(4, labels={"app": "web"})
    assert place_and_compare(scheduler_with(CountsPods, six_nodes("64")), *incoming).feasible == 3


class BelowTheFullest(FilterPlugin):
    """Looks at other nodes than those it is asked about."""

    filters_all_nodes = True
    fullest = Reason("no node has as many pods")

    def signature(self, pod):
        return ()

    def filter(self, cycle, nodes):
        most = nodes.cluster.nodes.pod_count.max()
        return self.fullest.where((nodes.pod_count == most) & (most > 0))


def test_other_rows_that_a_plugin_reads_are_relied_upon():
    place_and_compare(scheduler_with(BelowTheFullest, six_nodes("64")), *pods(9))
