"""Ready tests of a plugin: the laws over dozens of drawn clusters, as a class that pytest collects.

``TestLaws = laws_of(TeamFence)`` in a module of tests is all it takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.config.types import API_VERSION, KIND
from schedctl.engine.faults import CycleError
from schedctl.errors import PluginError
from schedctl.framework.points import Plugin, QueueSortPlugin
from schedctl.scheduler import Scheduler
from schedctl.testing import laws, plugin_answers
from schedctl.testing.examples import draw_cluster

SEEDS = range(50)
"""The clusters that are asked about unless others are wanted."""


def scheduler_with(plugin: type[Plugin], cluster: Cluster, args: Mapping[str, Any] | None = None) -> Scheduler:
    """Return a scheduler over a cluster, in whose default profile a plugin takes part.

    Args:
        plugin: the plugin.
        cluster: what pods are placed on.
        args: its arguments, as a configuration has them; its defaults if None.

    Raises:
        ConfigError: the arguments are refused, or the plugin cannot be made.
        UsageError: it is no plugin.
    """
    if args is None:
        return Scheduler.configured(cluster, plugins=[plugin])
    enabled = [{"name": plugin.name}]
    plugins: dict[str, Any] = {"multiPoint": {"enabled": enabled}}
    if issubclass(plugin, QueueSortPlugin):
        plugins["queueSort"] = {"enabled": enabled, "disabled": [{"name": "*"}]}
    profile = {"plugins": plugins, "pluginConfig": [{"name": plugin.name, "args": dict(args)}]}
    text = json.dumps({"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]})
    return Scheduler.configured(cluster, text.encode(), [plugin])


def plugin_on(plugin: type[Plugin], cluster: Cluster, args: Mapping[str, Any] | None = None) -> Any:
    """Return a plugin as a scheduler over a cluster has made it, to ask it directly; see `scheduler_with`."""
    (profile,) = scheduler_with(plugin, cluster, args).profiles.values()
    return profile.plugins[plugin.name]


def broken_laws(
    plugin: type[Plugin],
    args: Mapping[str, Any] | None = None,
    law_names: Iterable[str] = laws.LAWS,
    seeds: Iterable[int] = SEEDS,
) -> dict[str, str]:
    """Return the laws that a plugin breaks, each with the first cluster that shows it, in words."""
    found: dict[str, str] = {}
    law_names = tuple(law_names)
    for seed in seeds:
        for law in law_names:
            if law not in found:
                text = _violation(plugin, args, law, seed)
                if text:
                    found[law] = f"{text} (in the cluster of seed {seed})"
    return found


def laws_of(
    plugin: type[Plugin],
    args: Mapping[str, Any] | None = None,
    seeds: Iterable[int] = SEEDS,
    clusters: Iterable[Cluster] = (),
) -> type[Any]:
    """Return a class of tests, one for each law, to be collected by pytest under a name that begins with ``Test``.

    Args:
        plugin: the plugin.
        args: its arguments, as a configuration has them; its defaults if None.
        seeds: the clusters, as `schedctl.testing.examples.draw_cluster` draws them.
        clusters: clusters of your own besides, in which what the plugin looks at occurs, with all their pods.
    """
    kept, others = tuple(seeds), tuple(clusters)

    def holds(law: str) -> None:
        broken = broken_laws(plugin, args, (law,), kept)
        assert not broken, broken[law]
        for number, cluster in enumerate(others):
            text = find_violation(plugin_on(plugin, cluster, args), cluster, pods_of(cluster), law)
            assert not text, f"{text} (in clusters[{number}])"

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
            """Reserve and Unreserve undo each other."""
            holds("reserve")

        def test_what_the_plugin_keeps_follows_the_cluster(self) -> None:
            """A fork that is left leaves the answers of before."""
            holds("state")

        def test_pods_of_equal_signatures_get_equal_answers(self) -> None:
            """What the signature leaves out is not read."""
            holds("signature")

        def test_what_is_followed_is_as_if_asked_anew(self) -> None:
            """Whatever happens, what `moved_by` and `follow` do not name has not moved."""
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
    """Return the pods of a cluster, those that wait first."""
    return [*cluster.pending.values(), *cluster.pod_table]


def _violation(plugin: type[Plugin], args: Mapping[str, Any] | None, law: str, seed: int) -> str:
    cluster, pods = draw_cluster(seed)
    return find_violation(plugin_on(plugin, cluster, args), cluster, pods, law)


def find_violation(plugin: Plugin, cluster: Cluster, pods: Iterable[PodInfo], law: str) -> str:
    """Return how a plugin breaks a law, or fails, over one of some pods of a cluster, "" where it does not."""
    for pod in pods:
        try:
            laws.check(plugin, cluster, pod, (law,))
        except (plugin_answers.LawBroken, CycleError, PluginError) as broken:
            return f"{broken}; pod {pod.key}"
    return ""
