"""Every in-tree plugin obeys the laws, over clusters and pods of every family of the corpus."""

import gzip
from pathlib import Path

import msgspec
import pytest

from schedctl import KUBERNETES_VERSION
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.errors import NotModelled
from schedctl.framework.lifting import per_node
from schedctl.framework.points import FilterPlugin, ScorePlugin
from schedctl.framework.reasons import Reason
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster, node, pod
from schedctl.testing.laws import LawBroken, check

CORPUS = Path(__file__).parents[2] / "conformance/corpus" / KUBERNETES_VERSION
CASES = [
    msgspec.convert(msgspec.json.decode(line)["case"], Case)
    for path in sorted(CORPUS.glob("*.jsonl.gz"))
    for line in gzip.decompress(path.read_bytes()).splitlines()[:6]
]
ASKED = [name for name, plugin in IN_TREE.items() if issubclass(plugin, FilterPlugin | ScorePlugin)]


@pytest.mark.parametrize("name", ASKED)
def test_every_in_tree_plugin_obeys_the_laws(name):
    for case in CASES:
        made, pods = cluster_of(case)
        scheduler = Scheduler(made, configuration(case))
        for asked in pods[:2]:
            profile = scheduler.profile_of(asked)
            if profile is None or name not in profile.plugins:
                continue
            try:
                check(profile.plugins[name], made, asked)
            except NotModelled:
                continue


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


@pytest.mark.parametrize(
    ("plugin", "law"),
    [
        pytest.param(Peeks, "slice", id="a filter that looks at other rows breaks the slice law"),
        pytest.param(Keeps, "slice", id="a filter that remembers breaks the slice law"),
        pytest.param(Overshoots, "range", id="a score beyond 100 breaks the range law"),
    ],
)
def test_a_plugin_that_breaks_a_law_is_caught(plugin, law):
    made = cluster(node("a"), node("b"), pod("x", on="b"))
    with pytest.raises(LawBroken, match=law):
        check(plugin(None, None), made, pod())
