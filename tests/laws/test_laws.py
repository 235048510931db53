"""Every in-tree plugin obeys the laws, over clusters and pods of every family of the corpus."""

import gzip
from pathlib import Path

import msgspec
import numpy as np
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.cache.changes import ChangeKind
from schedctl.cache.nodes import NodeInfo
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.errors import NotModelled
from schedctl.framework.arithmetic import default_normalize
from schedctl.framework.cycles import StateKey
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, PreScorePlugin, Scope, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.statuses import SKIP
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing import promises
from schedctl.testing.builders import ZONE
from schedctl.testing.law_tests import broken_laws
from schedctl.testing.laws import LAWS, check
from schedctl.testing.plugin_answers import LawBroken

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
CASES = [
    msgspec.convert(msgspec.json.decode(line)["case"], Case)
    for path in sorted(CORPUS.glob("*.jsonl.gz"))
    for line in gzip.decompress(path.read_bytes()).splitlines()[:5]
]
FILTERS_AND_SCORES = [name for name, plugin in IN_TREE.items() if issubclass(plugin, FilterPlugin | ScorePlugin)]


def hold(name, cases, *laws):
    """Hold a plugin to laws in the clusters of some cases."""
    for case in cases:
        made, pods = cluster_of(case)
        scheduler = Scheduler(made, configuration(case))
        for incoming in pods[:2]:
            profile = scheduler.profile_of(incoming)
            if profile is None or name not in profile.plugins:
                continue
            try:
                check(profile.plugins[name], made, incoming, laws or LAWS)
            except NotModelled:
                continue


@pytest.mark.parametrize("name", FILTERS_AND_SCORES)
def test_every_in_tree_plugin_obeys_the_laws(name):
    hold(name, CASES)


class Peeks(FilterPlugin):
    """Refuses all but the emptiest node, which no filter may know."""

    fuller = Reason("fuller than another")

    def filter(self, cycle, nodes):
        return self.fuller.where(nodes.pod_count > nodes.pod_count.min())


class Keeps(FilterPlugin):
    """Refuses a node the second time it is asked about it."""

    again = Reason("asked again")
    seen: frozenset[str] = frozenset()

    @per_node
    def filter(self, cycle, node):
        seen, self.seen = node.name in self.seen, self.seen | {node.name}
        return self.again() if seen else None


class Overshoots(ScorePlugin):
    """Gives more than there is to give."""

    def score(self, cycle, nodes):
        return nodes.pod_count + 100


COUNTS = StateKey[dict[str, int]]("TeamSpread")


class TeamSpread(PreScorePlugin, ScorePlugin):
    """Prefers zones with few pods of the pod's team, and keeps all it promises."""

    reads_feasible_set = False
    reads_template_only = True
    normalizes_by_extremes = True

    def pre_score(self, cycle, nodes):
        if "team" not in cycle.pod.labels:
            return SKIP
        counts = {}
        for node in self.every():
            theirs = sum(pod.labels.get("team") == cycle.pod.labels["team"] for pod in node.pods)
            counts[node.labels.get(ZONE)] = counts.get(node.labels.get(ZONE), 0) + theirs
        cycle.state[COUNTS] = counts
        return None

    @per_node
    def score(self, cycle, node):
        return cycle.state[COUNTS][node.labels.get(ZONE)]

    def normalize(self, cycle, nodes, scores):
        return default_normalize(scores, reverse=True)

    def signature(self, pod):
        return (pod.labels.get("team"),)

    def moved_by(self, cycle, change):
        if COUNTS not in cycle.state or change.kind is ChangeKind.OBJECT:
            return Scope.NOTHING
        if change.kind not in (ChangeKind.POD_ADDED, ChangeKind.POD_REMOVED):
            return Scope.EVERYTHING
        ours = change.subject.labels.get("team") == cycle.pod.labels.get("team")
        return Scope.DOMAINS if ours else Scope.NOTHING

    def follow(self, cycle, change):
        zone, sign = self.zone(change.row), 1 if change.kind is ChangeKind.POD_ADDED else -1
        counts = cycle.state[COUNTS]
        cycle.state[COUNTS] = {**counts, zone: counts[zone] + sign}
        return frozenset(int(row) for row in self.handle.cluster.rows if self.zone(row) == zone)

    def every(self):
        nodes = self.handle.cluster.nodes
        return [NodeInfo(nodes, position) for position in range(len(nodes))]

    def zone(self, row):
        return (self.handle.cluster.node_table.objects[row].metadata.labels or {}).get(ZONE)


class Overlooks(TeamSpread):
    """Says that pods move nothing."""

    def moved_by(self, cycle, change):
        return Scope.NOTHING


class Miscounts(TeamSpread):
    """Counts pods that go as if they came."""

    def follow(self, cycle, change):
        return super().follow(cycle, change._replace(kind=ChangeKind.POD_ADDED))


class NamesOne(TeamSpread):
    """Counts right, but says that only the node itself is moved."""

    def follow(self, cycle, change):
        super().follow(cycle, change)
        return frozenset((change.row,))


class WritesInto(TeamSpread):
    """Counts right, but into the value that other cycles have, too."""

    def follow(self, cycle, change):
        counts = cycle.state[COUNTS]
        rows = super().follow(cycle, change)
        counts.update(cycle.state[COUNTS])
        return rows


class StartsLate(TeamSpread):
    """Falls over a state that no PreScore has written, for no node would do."""

    def moved_by(self, cycle, change):
        cycle.state[COUNTS]
        return super().moved_by(cycle, change)


class NamesNobody(TeamSpread):
    """Names a row that there is not."""

    def follow(self, cycle, change):
        return super().follow(cycle, change) | {999}


class Undersigned(TeamSpread):
    """Forgets the team in its signature."""

    def signature(self, pod):
        return ()


class SignsByName(TeamSpread):
    """Says that it reads what a template writes, and signs with more."""

    def signature(self, pod):
        return pod.key


class MovesByPlace(TeamSpread):
    """Says that it does not matter where pods stand, and names where they do."""

    def moved_by(self, cycle, change):
        if change.kind is ChangeKind.POD_ADDED:
            return frozenset((change.row,))
        return super().moved_by(cycle, change)


class DeniesIt(TeamSpread):
    """Reads what a template writes, but says that pods written alike do not move alike."""

    def moves_by_template(self, pod):
        return False


class ReadsTheTable(FilterPlugin):
    """Looks at the table where it should look at the column."""

    reads_template_only = True
    full = Reason("full")

    def filter(self, cycle, nodes):
        return self.full.where(nodes.cluster.node_table.pod_count[nodes.rows] > 1)

    def signature(self, pod):
        return ()

    def moved_by(self, cycle, change):
        return Scope.ROW


class ByMean(TeamSpread):
    """Normalises by the mean, and says by the extremes."""

    def normalize(self, cycle, nodes, scores):
        return np.where(scores > scores.mean(), 0, 100)


@pytest.mark.parametrize(
    ("plugin", "law"),
    [
        pytest.param(Peeks, "slice", id="a filter that looks at other rows breaks the slice law"),
        pytest.param(Keeps, "slice", id="a filter that remembers breaks the slice law"),
        pytest.param(Overshoots, "range", id="a score beyond 100 breaks the range law"),
        pytest.param(Undersigned, "signature", id="a signature that leaves out what is read breaks the signature law"),
        pytest.param(Overlooks, "following", id="a change that is overlooked breaks the following law"),
        pytest.param(Miscounts, "following", id="a change that is miscounted breaks the following law"),
        pytest.param(NamesOne, "following", id="too few rows named break the following law"),
        pytest.param(NamesNobody, "following", id="rows named that are not there break the following law"),
        pytest.param(WritesInto, "following", id="a state that is written to breaks the following law"),
        pytest.param(StartsLate, "following", id="a state taken for granted breaks the following law"),
        pytest.param(SignsByName, "template", id="a signature of more than a template writes breaks the template law"),
        pytest.param(MovesByPlace, "template", id="pods alike that move rows of their own break the template law"),
        pytest.param(DeniesIt, "template", id="to deny it for pods written alike breaks the template law"),
        pytest.param(ReadsTheTable, "template", id="a filter that overlooks what is supposed breaks the template law"),
        pytest.param(ByMean, "extremes", id="a mean breaks the extremes law"),
    ],
)
def test_a_plugin_that_breaks_a_law_is_caught(plugin, law):
    violations = broken_laws(plugin, law_names=(law,), seeds=range(30))
    assert law in violations
    assert violations[law].startswith((f"{law}: ", f'plugin "{plugin.__name__}" failed: '))


def test_a_plugin_that_keeps_its_promises_breaks_none():
    assert broken_laws(TeamSpread, seeds=range(15)) == {}


def test_a_plugin_that_promises_nothing_breaks_none():
    promises = ("signature", "moved_by", "follow", "reads_template_only", "normalizes_by_extremes")
    silent = {name: getattr(ScorePlugin, name) for name in promises}
    assert broken_laws(type("Silent", (TeamSpread,), silent), seeds=range(10)) == {}


def by_number(plugin, cycle, nodes, scores):
    """How many nodes there are is nothing that a normalised score may depend on."""
    return np.full_like(scores, min(len(nodes), 100))


@pytest.mark.parametrize(
    ("plugin", "method", "broken", "family", "law"),
    [
        ("NodeResourcesFit", "moved_by", lambda self, cycle, change: Scope.NOTHING, "resources", "following"),
        ("NodePorts", "moved_by", lambda self, cycle, change: Scope.NOTHING, "ports", "following"),
        ("TaintToleration", "moved_by", lambda self, cycle, change: Scope.NOTHING, "taints", "following"),
        ("InterPodAffinity", "moved_by", lambda self, cycle, change: Scope.NOTHING, "podaffinity", "following"),
        ("InterPodAffinity", "follow", lambda self, cycle, change: Scope.DOMAINS, "podaffinity", "following"),
        ("PodTopologySpread", "moved_by", lambda self, cycle, change: Scope.NOTHING, "spread", "following"),
        ("PodTopologySpread", "follow", lambda self, cycle, change: Scope.DOMAINS, "spread", "following"),
        ("NodeAffinity", "signature", lambda self, pod: (), "nodeaffinity", "signature"),
        ("PodTopologySpread", "signature", lambda self, pod: (), "spread", "signature"),
        ("NodePorts", "signature", lambda self, pod: pod.key, "ports", "template"),
        ("NodeAffinity", "normalize", by_number, "nodeaffinity", "extremes"),
    ],
)
def test_an_in_tree_plugin_that_broke_a_promise_would_be_caught(plugin, method, broken, family, law, monkeypatch):
    monkeypatch.setattr(IN_TREE[plugin], method, broken)
    monkeypatch.setattr(promises, "ROUNDS", 20)
    with pytest.raises(LawBroken, match=law):
        hold(plugin, [case for case in CASES if case.id.startswith(f"{family}-")], law)
