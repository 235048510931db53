"""The laws of plugins that take part in the cycle of a pod group, over drawn clusters in racks with a group in each.

`check_group` asks one plugin about one group; `group_laws_of` makes ready tests of it. The laws of what plugins say of
single pods are in `laws`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from schedctl.api.meta import ObjectMeta
from schedctl.api.pod_groups import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from schedctl.cache.cluster import Cluster
from schedctl.engine.groups.cycles import group_cycle
from schedctl.engine.groups.trials import Trial
from schedctl.framework.arithmetic import MAX_NODE_SCORE
from schedctl.framework.group_points import (
    GroupCycle,
    PlacementFeasiblePlugin,
    PlacementGeneratePlugin,
    PlacementProgress,
    PlacementScorePlugin,
)
from schedctl.framework.points import Plugin
from schedctl.framework.statuses import Code, Status
from schedctl.releases import GENERIC_WORKLOAD, NEWEST
from schedctl.scheduler import Scheduler
from schedctl.testing import builders
from schedctl.testing.law_tests import scheduler_with
from schedctl.testing.plugin_answers import LawBroken

RACK = "topology.example.com/rack"
RELEASE = NEWEST.with_gates({GENERIC_WORKLOAD: True, "TopologyAwareWorkloadScheduling": True})
OF_GROUPS = (PlacementGeneratePlugin, PlacementFeasiblePlugin, PlacementScorePlugin)
"""The extension points they are about."""
LAWS: dict[str, tuple[type[Plugin], ...]] = {
    # each placement has a name of its own, and nodes of the cluster, each once
    "placements": (PlacementGeneratePlugin,),
    # what will do is not forbidden by one more pod that found a node, nor allowed by one that found none
    "progress": (PlacementFeasiblePlugin,),
    # asking changes nothing in the cluster
    "purity": OF_GROUPS,
    # asked again, a plugin says the same
    "repetition": OF_GROUPS,
    # normalised scores of placements lie in 0 to 100
    "range": (PlacementScorePlugin,),
}
"""Their names, and the extension points each is about."""
_FEASIBLE = (Code.SUCCESS, Code.WAIT, Code.UNSCHEDULABLE)
"""What PlacementFeasible may answer, the best first."""


def draw_group(seed: int) -> tuple[Cluster, PodGroup]:
    """Return a cluster of nodes in racks and a group in it, other ones for other seeds."""
    drawn = random.Random(seed)
    nodes = [
        builders.node(f"n{number}", cpu=str(drawn.choice((2, 4, 8))), labels={RACK: drawn.choice("abc")})
        for number in range(drawn.randint(1, 9))
    ]
    pods = drawn.randint(1, 6)
    constraints = PodGroupSchedulingConstraints(topology=[TopologyConstraint(key=RACK)])
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=drawn.randint(1, pods)))
    spec = PodGroupSpec(scheduling_policy=policy, scheduling_constraints=constraints if drawn.random() < 0.7 else None)
    group = PodGroup(metadata=ObjectMeta(name="train", namespace="default"), spec=spec)
    cluster = builders.cluster(*nodes, group, release=RELEASE)
    of_group: dict[str, Any] = {"schedulingGroup": {"podGroupName": "train"}}
    for number in range(pods):
        cluster.add_pod(builders.pod(f"train-{number}", cpu=str(drawn.choice((1, 2))), **of_group))
    return cluster, group


def check_group(scheduler: Scheduler, plugin: Plugin, group: PodGroup, laws: Iterable[str] = LAWS) -> None:
    """Check laws, all unless named, for one plugin and one group of the scheduler's cluster.

    Raises:
        LawBroken: a law does not hold.
    """
    cluster, names = scheduler.cluster, frozenset(laws)
    pods = list(cluster.pending.values())
    cycle, before = group_cycle(cluster, group, pods), cluster.generation
    if isinstance(plugin, PlacementGeneratePlugin):
        _check_placements(plugin, cycle, cluster, names)
    if isinstance(plugin, PlacementFeasiblePlugin):
        _check_progress(plugin, cycle, names)
    if "purity" in names and cluster.generation != before:
        raise LawBroken(f"purity: {plugin.name} changed the cluster it was asked about")
    if isinstance(plugin, PlacementScorePlugin):
        trials = [each for each in scheduler.attempt_group(group, pods).trials if each.status.successful]
        _check_scores(plugin, cycle, trials, cluster, names)


def _check_placements(
    plugin: PlacementGeneratePlugin, cycle: GroupCycle, cluster: Cluster, laws: frozenset[str]
) -> None:
    first, again = (plugin.placement_generate(cycle, cluster.nodes) for _ in range(2))
    if isinstance(first, Status) or isinstance(again, Status):
        if "repetition" in laws and first != again:
            raise LawBroken(f"repetition: {plugin.name} generates {first}, and asked again {again}")
        return
    pictures = [[(each.name, each.nodes.names) for each in answer] for answer in (first, again)]
    if "repetition" in laws and pictures[0] != pictures[1]:
        raise LawBroken(f"repetition: {plugin.name} generates {pictures[0]}, and asked again {pictures[1]}")
    names = [each.name for each in first]
    if "placements" in laws and len(set(names)) < len(names):
        raise LawBroken(f"placements: {plugin.name} gives two placements one name: {names}")
    for name, nodes in pictures[0] if "placements" in laws else ():
        if len(set(nodes)) < len(nodes) or not set(nodes) <= cluster.node_table.row_of.keys():
            raise LawBroken(
                f"placements: {name!r} of {plugin.name} has nodes twice, or others than the cluster: {nodes}"
            )


def _check_progress(plugin: PlacementFeasiblePlugin, cycle: GroupCycle, laws: frozenset[str]) -> None:
    pods = len(cycle.pods)

    def answer(scheduled: int, remaining: int) -> Code:
        return plugin.placement_feasible(cycle, PlacementProgress(scheduled, remaining)).code

    for scheduled in range(pods + 1):
        for remaining in range(pods + 1 - scheduled):
            here = answer(scheduled, remaining)
            if "repetition" in laws and here is not answer(scheduled, remaining):
                raise LawBroken(f"repetition: {plugin.name} answers otherwise when it is asked again")
            if "progress" not in laws or not remaining:
                continue
            better, worse = answer(scheduled + 1, remaining - 1), answer(scheduled, remaining - 1)
            if not _rank(better) <= _rank(here) <= _rank(worse):
                raise LawBroken(
                    f"progress: with {scheduled} pods placed and {remaining} left {plugin.name} says {here.label},"
                    f" with one more placed {better.label}, with one that found no node {worse.label}"
                )


def _rank(code: Code) -> int:
    return _FEASIBLE.index(code) if code in _FEASIBLE else len(_FEASIBLE)


def _check_scores(
    plugin: PlacementScorePlugin, cycle: GroupCycle, trials: list[Trial], cluster: Cluster, laws: frozenset[str]
) -> None:
    before = cluster.generation
    answers = [[plugin.placement_score(cycle, each.placement, each.assignments) for each in trials] for _ in range(2)]
    if "repetition" in laws and answers[0] != answers[1]:
        raise LawBroken(f"repetition: {plugin.name} scores {answers[0]}, and asked again {answers[1]}")
    if "purity" in laws and cluster.generation != before:
        raise LawBroken(f"purity: {plugin.name} changed the cluster it was asked about")
    if "range" in laws and trials:
        normalized = plugin.normalize_placements(cycle, np.array(answers[0], np.int64)).tolist()
        if not all(0 <= score <= MAX_NODE_SCORE for score in normalized):
            raise LawBroken(f"range: {plugin.name} normalises to {normalized}")


def broken_group_laws(
    plugin: type[Plugin], args: Mapping[str, Any] | None = None, seeds: Iterable[int] = range(30)
) -> dict[str, str]:
    """Return the laws that a plugin breaks, each with the first cluster that shows it, in words."""
    return dict(_broken(plugin, args, seeds, LAWS))


def _broken(
    plugin: type[Plugin], args: Mapping[str, Any] | None, seeds: Iterable[int], laws: Iterable[str]
) -> Iterator[tuple[str, str]]:
    kept = tuple(seeds)
    for law in laws:
        for seed in kept:
            cluster, group = draw_group(seed)
            scheduler = scheduler_with(plugin, cluster, args)
            (profile,) = scheduler.profiles.values()
            try:
                check_group(scheduler, profile.plugins[plugin.name], group, (law,))
            except LawBroken as broken:
                yield law, f"{broken} (in the cluster of seed {seed})"
                break


def group_laws_of(
    plugin: type[Plugin], args: Mapping[str, Any] | None = None, seeds: Iterable[int] = range(30)
) -> type[Any]:
    """Return a class of tests, one for each law, to be collected by pytest under a name that begins with ``Test``.

    Args:
        plugin: the plugin.
        args: its arguments, as a configuration has them; its defaults if None.
        seeds: the clusters, as `draw_group` draws them.
    """
    kept = tuple(seeds)

    def holds(law: str) -> None:
        broken = dict(_broken(plugin, args, kept, (law,)))
        assert not broken, broken[law]

    class GroupLaws:
        """The laws of what a plugin says of pod groups."""

        def test_placements_are_nodes_of_the_cluster(self) -> None:
            """Each has a name of its own, and each node once."""
            holds("placements")

        def test_more_pods_with_nodes_are_never_worse(self) -> None:
            """What will do stays so with one more pod that found a node."""
            holds("progress")

        def test_asking_changes_nothing(self) -> None:
            """The cluster is as before."""
            holds("purity")

        def test_asking_again_says_the_same(self) -> None:
            """About the same group on the same cluster."""
            holds("repetition")

        def test_normalised_scores_lie_between_0_and_100(self) -> None:
            """As the framework wants them."""
            holds("range")

    GroupLaws.__qualname__ = GroupLaws.__name__ = f"GroupLawsOf{plugin.__name__}"
    return GroupLaws
