"""Ready tests of a plugin: the laws over dozens of drawn clusters, as a class that pytest collects.

``TestLaws = laws_of(TeamFence)`` in a module of tests is all it takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any
from unittest import SkipTest

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config.types import API_VERSION, KIND
from schedctl.engine.faults import CycleError
from schedctl.errors import PluginError
from schedctl.framework.points import BindPlugin, Plugin, QueueSortPlugin
from schedctl.scheduler import Scheduler
from schedctl.testing import laws, promises
from schedctl.testing.coverage import NOT_DECLARED, Coverage, LawResult, exemption
from schedctl.testing.examples import draw_cluster
from schedctl.testing.plugin_answers import LawBroken

SEEDS = range(50)
"""The clusters that are asked about unless others are wanted."""
MAX_PODS = 60
"""About how many pods of a cluster of one's own are asked about."""
_BROKEN = (LawBroken, CycleError, PluginError)


def scheduler_with(
    plugin: type[Plugin], cluster: Cluster, args: Mapping[str, Any] | None = None, *, plugins_only: bool = False
) -> Scheduler:
    """Return a scheduler over a cluster, in whose default profile a plugin takes part.

    Args:
        plugin: the plugin.
        cluster: what pods are placed on.
        args: its arguments, as a configuration has them; its defaults if None.
        plugins_only: whether none of Kubernetes' own takes part, but for those that every profile must have.

    Raises:
        ConfigError: the arguments are refused, or the plugin cannot be made.
        UsageError: it is no plugin.
    """
    if args is None and not plugins_only:
        return Scheduler.configured(cluster, plugins=[plugin])
    enabled = [{"name": plugin.name}]
    plugins: dict[str, Any] = {"multiPoint": {"enabled": enabled}}
    if plugins_only:
        plugins["multiPoint"]["disabled"] = [{"name": "*"}]
        plugins["queueSort"] = {"enabled": [{"name": "PrioritySort"}]}
        if not issubclass(plugin, BindPlugin):
            plugins["bind"] = {"enabled": [{"name": "DefaultBinder"}]}
    if issubclass(plugin, QueueSortPlugin):
        plugins["queueSort"] = {"enabled": enabled, "disabled": [{"name": "*"}]}
    profile: dict[str, Any] = {"plugins": plugins}
    if args is not None:
        profile["pluginConfig"] = [{"name": plugin.name, "args": dict(args)}]
    text = json.dumps({"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]})
    return Scheduler.configured(cluster, text.encode(), [plugin])


def plugin_on(plugin: type[Plugin], cluster: Cluster, args: Mapping[str, Any] | None = None) -> Any:
    """Return a plugin as a scheduler over a cluster has made it, to ask it directly; see `scheduler_with`."""
    (profile,) = scheduler_with(plugin, cluster, args).profiles.values()
    return profile.plugins[plugin.name]


def try_laws(
    plugin: type[Plugin],
    args: Mapping[str, Any] | None = None,
    law_names: Iterable[str] = laws.LAWS,
    seeds: Iterable[int] = SEEDS,
    clusters: Mapping[str, Cluster] | None = None,
) -> dict[str, LawResult]:
    """Hold a plugin to laws, and return what became of each; of one that is broken, the first cluster that shows it.

    Args:
        plugin: the plugin.
        args: its arguments, as a configuration has them; its defaults if None.
        law_names: the laws.
        seeds: the clusters, as `schedctl.testing.examples.draw_cluster` draws them, which show best what is broken.
        clusters: further clusters, by what they are called.
    """
    names = tuple(law_names)
    exempt = {law: text for law in names if (text := _exemption(plugin, law))}
    open_laws = [law for law in names if law not in exempt]
    coverage, found = Coverage(), dict[str, str]()
    for where, cluster, pods in _stage(seeds, clusters or {}):
        left = [law for law in open_laws if law not in found]
        if left:
            broken = find_violations(plugin_on(plugin, cluster, args), cluster, pods, left, coverage)
            found |= {law: f"{text} (in {where})" for law, text in broken.items()}
    results = {}
    for law in names:
        tried, untried = coverage.split(plugin, law)
        results[law] = LawResult(law, found.get(law, ""), exempt.get(law, ""), tuple(untried), not tried)
    return results


def broken_laws(
    plugin: type[Plugin],
    args: Mapping[str, Any] | None = None,
    law_names: Iterable[str] = laws.LAWS,
    seeds: Iterable[int] = SEEDS,
) -> dict[str, str]:
    """Return the laws that a plugin breaks, each with the first cluster that shows it, in words; see `try_laws`."""
    results = try_laws(plugin, args, law_names, seeds)
    return {law: result.violation for law, result in results.items() if result.violation}


def laws_of(
    plugin: type[Plugin],
    args: Mapping[str, Any] | None = None,
    seeds: Iterable[int] = SEEDS,
    clusters: Iterable[Cluster] = (),
) -> type[Any]:
    """Return a class of tests, one for each law, to be collected by pytest under a name that begins with ``Test``.

    A law that is not about the plugin, or saw nothing happen, is a test that is skipped, with the reason.

    Args:
        plugin: the plugin.
        args: its arguments, as a configuration has them; its defaults if None.
        seeds: the clusters, as `schedctl.testing.examples.draw_cluster` draws them.
        clusters: clusters of your own besides, in which what the plugin looks at occurs, with up to 60 of their pods.
    """
    kept = tuple(seeds)
    others = {f"clusters[{number}]": cluster for number, cluster in enumerate(clusters)}

    @cache
    def results() -> dict[str, LawResult]:
        return try_laws(plugin, args, laws.LAWS, kept, others)

    def holds(law: str) -> None:
        result = results()[law]
        assert not result.violation, result.violation
        if result.exempt or result.proves_nothing:
            raise SkipTest(f"{law}: {result}")

    class Laws:
        """The laws every plugin must satisfy, and those of what it promises."""

        def test_a_row_is_judged_by_itself(self) -> None:
            """Under one state, a row's verdict and raw score depend on that row alone."""
            holds("slice")

        def test_the_order_of_nodes_does_not_matter(self) -> None:
            """Permuting the nodes permutes the answers."""
            holds("order")

        def test_asking_changes_nothing(self) -> None:
            """The cluster is as before."""
            holds("purity")

        def test_normalised_scores_lie_between_0_and_100(self) -> None:
            """As the framework wants them."""
            holds("range")

        def test_a_pod_that_is_placed_and_released_leaves_no_trace(self) -> None:
            """Unreserve takes back what Reserve did, also when it is called twice or without it."""
            holds("reserve")

        def test_what_the_plugin_keeps_follows_the_cluster(self) -> None:
            """A plugin just made gives the same answers, and a fork that is left leaves those of before."""
            holds("state")

        def test_pods_of_equal_signatures_get_equal_answers(self) -> None:
            """What the signature leaves out is not read."""
            holds("signature")

        def test_what_is_followed_is_as_if_asked_anew(self) -> None:
            """Whatever happens, answers are what they were where nothing that they were read from has changed."""
            holds("following")

        def test_pods_written_alike_are_answered_alike(self) -> None:
            """Running or supposed, wherever they stand."""
            holds("template")

        def test_normalised_scores_depend_on_the_extremes_alone(self) -> None:
            """On the raw score, the least and the largest."""
            holds("extremes")

    Laws.__qualname__ = Laws.__name__ = f"LawsOf{plugin.__name__}"
    return Laws


def pods_of(cluster: Cluster) -> list[PodInfo]:
    """Return pods of a cluster, those that wait first, and no more than a few dozen, from all over it."""
    pods = [*cluster.pending.values(), *cluster.pod_table]
    return pods[:: -(-len(pods) // MAX_PODS) or 1]


def find_violations(
    plugin: Plugin, cluster: Cluster, pods: Iterable[PodInfo], law_names: Iterable[str], coverage: Coverage
) -> dict[str, str]:
    """Return the laws that a plugin breaks, or fails under, over pods of a cluster, each with the pod that shows it."""
    found: dict[str, str] = {}
    for pod in pods if len(cluster.rows) else ():
        left = [law for law in law_names if law not in found]
        try:
            trial = laws.Trial(plugin, cluster, pod, coverage)
        except _BROKEN as broken:
            return found | dict.fromkeys(left, f"{broken}; pod {pod.key}")
        for law in left:
            try:
                trial.check(law)
            except _BROKEN as broken:
                found[law] = f"{broken}; pod {pod.key}"
                if law == "purity":  # what follows would be asked about another cluster
                    return found
    return found


def _exemption(plugin: type[Plugin], law: str) -> str:
    if law in promises.LAWS and not promises.promises(plugin, law):
        return NOT_DECLARED
    return exemption(plugin, law)


def _stage(seeds: Iterable[int], clusters: Mapping[str, Cluster]) -> Iterator[tuple[str, Cluster, list[PodInfo]]]:
    """Yield clusters with the pods to ask about, and what they are called; the drawn ones first."""
    for seed in seeds:
        yield f"the cluster of seed {seed}", *draw_cluster(seed)
    for name, cluster in clusters.items():
        yield name, cluster, pods_of(cluster)
