"""Every in-tree plugin obeys the laws, over clusters and pods of every family of the corpus."""

import gzip
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.errors import NotModelled
from schedctl.framework.arithmetic import default_normalize
from schedctl.framework.cycles import StateKey
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, PreScorePlugin, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.framework.signatures import AsWritten
from schedctl.framework.statuses import SKIP
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing import promises
from schedctl.testing.builders import ZONE
from schedctl.testing.law_tests import broken_laws
from schedctl.testing.laws import LAWS, check
from schedctl.testing.plugin_answers import LawBroken
from tests.hidden_reads import hide_reads

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
FILTERS_AND_SCORES = [name for name, plugin in IN_TREE.items() if issubclass(plugin, FilterPlugin | ScorePlugin)]


@cache
def cases(family="*"):
    """Some cases of a family, or of every one."""
    return [
        msgspec.convert(msgspec.json.decode(line)["case"], Case)
        for path in sorted(CORPUS.glob(f"{family}.jsonl.gz"))
        for line in gzip.decompress(path.read_bytes()).splitlines()[:5]
    ]


def scheduler_of(case):
    """The scheduler of a case, and two pods that it asks about."""
    made, pods = cluster_of(case)
    return Scheduler(made, configuration(case)), pods[:2]


@cache
def schedulers():
    """Those of all cases; the laws leave a cluster as it was, or say that it is not."""
    return [*map(scheduler_of, cases())]


def hold(name, asked, *laws):
    """Hold a plugin to laws in the clusters of schedulers."""
    for scheduler, pods in asked:
        for incoming in pods:
            profile = scheduler.profile_of(incoming)
            if profile is None or name not in profile.plugins:
                continue
            try:
                check(profile.plugins[name], scheduler.cluster, incoming, laws or LAWS)
            except NotModelled:
                continue


@pytest.mark.parametrize("name", FILTERS_AND_SCORES)
def test_every_in_tree_plugin_obeys_the_laws(name):
    hold(name, schedulers())


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


COUNTS = StateKey("TeamSpread")


class TeamSpread(PreScorePlugin, ScorePlugin):
    """Prefers zones with few pods of the pod's team, and keeps all it promises."""

    reads_feasible_set = False
    foreseeable = True
    normalizes_by_extremes = True

    def pre_score(self, cycle, nodes):
        if "team" not in cycle.pod.labels:
            return SKIP
        cycle.state[COUNTS] = nodes.cluster.counter({"team": cycle.pod.labels["team"]}).by_domain(ZONE)
        return None

    def score(self, cycle, nodes):
        counter = cycle.state[COUNTS]
        return counter.sums[nodes.gather(counter.domains.codes)]

    def normalize(self, cycle, nodes, scores):
        return default_normalize(scores, reverse=True)

    def signature(self, pod):
        return (pod.labels.get("team"),)


class Overlooks(TeamSpread):
    """Says that it reads nothing of pods."""

    def score(self, cycle, nodes):
        with nodes.cluster.rest_on():
            return super().score(cycle, nodes)


class Remembers(TeamSpread):
    """Scores by the counts as they were at PreScore, and says that nothing was read there."""

    def pre_score(self, cycle, nodes):
        skips = super().pre_score(cycle, nodes)
        if skips is None:
            with nodes.cluster.rest_on():
                counter = cycle.state[COUNTS]
                cycle.state[COUNTS] = SimpleNamespace(sums=counter.sums.copy(), domains=counter.domains)
        return skips


class NamesOne(TeamSpread):
    """Says that only the node itself is read."""

    def score(self, cycle, nodes):
        with nodes.cluster.rest_on(occupancy=True):
            return super().score(cycle, nodes)


class Undersigned(TeamSpread):
    """Forgets the team in its signature."""

    def signature(self, pod):
        return ()


class SignsByName(TeamSpread):
    """Says that it reads what a template writes, and signs with more."""

    def signature(self, pod):
        return pod.key


class WritesItsName(TeamSpread):
    """Says of a signature with the pod's name in it that all pods written alike have it."""

    foreseeable = False

    def signature(self, pod):
        return AsWritten((pod.labels.get("team"), pod.key))


class ReadsTheTable(FilterPlugin):
    """Looks at the table where it should look at the column."""

    foreseeable = True
    full = Reason("full")

    def filter(self, cycle, nodes):
        with nodes.cluster.rest_on(occupancy=True):
            return self.full.where(nodes.cluster.node_table.pod_count[nodes.rows] > 1)

    def signature(self, pod):
        return ()


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
        pytest.param(Remembers, "following", id="a state of an earlier cluster breaks the following law"),
        pytest.param(NamesOne, "following", id="too few rows that were read break the following law"),
        pytest.param(SignsByName, "template", id="a signature of more than a template writes breaks the template law"),
        pytest.param(
            WritesItsName, "following", id="a signature as written that tells pods apart breaks the following law"
        ),
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
    promises = ("signature", "foreseeable", "normalizes_by_extremes")
    silent = {name: getattr(ScorePlugin, name) for name in promises}
    assert broken_laws(type("Silent", (TeamSpread,), silent), seeds=range(10)) == {}


def by_number(plugin, cycle, nodes, scores):
    """How many nodes there are is nothing that a normalised score may depend on."""
    return np.full_like(scores, min(len(nodes), 100))


@pytest.mark.parametrize(
    ("plugin", "method", "broken", "family", "law"),
    [
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
        hold(plugin, map(scheduler_of, cases(family)), law)


@pytest.mark.parametrize(
    ("plugin", "family"),
    [
        ("NodeResourcesFit", "resources"),
        ("NodePorts", "ports"),
        ("TaintToleration", "taints"),
        ("InterPodAffinity", "podaffinity"),
        ("PodTopologySpread", "spread"),
    ],
)
def test_an_in_tree_plugin_that_hid_what_it_reads_would_be_caught(plugin, family, monkeypatch):
    hide_reads(plugin, monkeypatch)
    monkeypatch.setattr(promises, "ROUNDS", 20)
    with pytest.raises(LawBroken, match="following"):
        hold(plugin, map(scheduler_of, cases(family)), "following")
