"""The laws of what a plugin promises so that its answers can be used again; who promises nothing keeps them all.

What happens in between is drawn from what is there: pods come and go, nodes are cordoned, emptied of labels or become
like others, objects of the kinds that the plugin reads go. The cluster is forked for it, and is as before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from random import Random
from typing import Any

import msgspec
import numpy as np

from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.engine import answers
from schedctl.engine.batching.reading import ReadingRunner
from schedctl.engine.calls import DIRECT
from schedctl.framework.cycles import Cycle
from schedctl.framework.points import Plugin, PreFilterPlugin, ScorePlugin
from schedctl.framework.signatures import AsWritten
from schedctl.testing import builders
from schedctl.testing.plugin_answers import (
    LawBroken,
    PluginAnswers,
    ask_plugin,
    call_plugin,
    require_equal,
    statuses,
)

_SAMPLE_SIZE = 2
"""How many pods, nodes and objects are tried of each kind."""
ROUNDS = 4
"""How many times something happens, once or several times in a row."""
replace = msgspec.structs.replace


# -- signature -------------------------------------------------------------------


def _check_signature(plugin: Plugin, cluster: Cluster, pod: PodInfo) -> None:
    """Pods of equal signatures get equal answers."""
    signature = _signature(plugin, pod)
    if signature is None:
        return
    nodes = cluster.nodes_by_name
    expected = ask_plugin(plugin, Cycle(pod), nodes, feasible_only=True).expand_skip(nodes)
    for other, what in _siblings(pod, _sample(list(cluster.pod_table), _random_of(cluster, pod))):
        if _signature(plugin, other) == signature:
            between = f"and for a pod of the same signature, with {what}, {{}}"
            found = ask_plugin(plugin, Cycle(other), nodes, feasible_only=True).expand_skip(nodes)
            require_equal("signature", expected, found, between, scaled=True)


def _siblings(pod: PodInfo, others: list[PodInfo]) -> Iterator[tuple[PodInfo, str]]:
    """Yield pods that have one thing of another pod, or of none in particular, and what that is."""
    mine = pod.pod
    yield twin(pod, "twin"), "another name"
    for other in (builders.pod("plain"), *others):
        for name in ("namespace", "labels", "annotations", "owner_references"):
            theirs = getattr(other.pod.metadata, name)
            if theirs != getattr(mine.metadata, name):
                yield PodInfo(replace(mine, metadata=replace(mine.metadata, **{name: theirs}))), f"other {name}"
        for name in mine.spec.__struct_fields__:
            theirs = getattr(other.pod.spec, name)
            if name not in ("node_name", "scheduler_name") and theirs != getattr(mine.spec, name):
                yield PodInfo(replace(mine, spec=replace(mine.spec, **{name: theirs}))), f"another spec.{name}"


# -- following -------------------------------------------------------------------


def _check_following(plugin: Plugin, cluster: Cluster, pod: PodInfo) -> None:
    """When something has happened, answers about nodes that are as they were in what was read are as they were.

    What PreFilter and PreScore left in the state gives the answers that asking anew gives, as long as that holds.
    """
    signature = _signature(plugin, pod)
    if signature is None:
        return
    if isinstance(signature, AsWritten):
        _check_equal_signatures("following", plugin, pod)
    nodes, random = cluster.nodes_by_name, _random_of(cluster, pod)
    cycle, runner = Cycle(pod), ReadingRunner(cluster)
    before = ask_plugin(plugin, cycle, nodes, runner, feasible_only=True)
    for _ in range(ROUNDS):
        with cluster.fork():
            generation, remembered = cluster.generation, cycle.scratch()
            events = [_make_change(plugin, cluster, pod, random) for _ in range(random.choice((1, 1, 2, 3)))]
            happened = " and ".join(filter(None, events))
            if not happened or not _keeps_signature(plugin, pod, signature, happened):
                continue
            changed = _changed_nodes(cluster, runner, generation)
            if changed is not None:
                _check_remembered(plugin, cluster, (before, remembered), changed, happened)
        now = before.ask_again(plugin, cycle, nodes, feasible_only=True)
        between = f"at first and {{}} after {happened} and was undone"
        rule = "a state is of the cluster as it is, or of nothing that changes"
        require_equal("following", before, now, f"{between}: {rule}", scaled=True)


def _keeps_signature(plugin: Plugin, pod: PodInfo, signature: Hashable, happened: str) -> bool:
    """Return whether the signature of a pod is what it was: answers are used again under equal signatures alone."""
    now = _signature(plugin, pod)
    if now != signature and (plugin.foreseeable or isinstance(signature, AsWritten)):
        raise LawBroken(f"following: the signature of a template was {signature!r} and is {now!r} after {happened}")
    return now == signature


def _check_remembered(
    plugin: Plugin, cluster: Cluster, known: tuple[PluginAnswers, Cycle], spoiled: frozenset[str], happened: str
) -> None:
    """Hold what is remembered, after it was told what happened, against what the plugin says when asked anew."""
    before, remembered = known
    nodes, cycle = cluster.nodes_by_name, Cycle(remembered.pod)
    anew = ask_plugin(plugin, cycle, nodes, feasible_only=True)
    now = before.ask_again(plugin, remembered, nodes, feasible_only=True)
    if plugin.reads_feasible_set and before.feasible(nodes) != anew.feasible(nodes):  # all scores are asked for anew
        before, now, anew = (each.without_scores() for each in (before, now, anew))
    require_equal("following", now, anew, f"reused and {{}} asked again, after {happened}", scaled=True)
    for name in before.differing_nodes(anew, sorted(before.statuses.keys() | before.scores.keys())):
        if name not in spoiled:
            raise LawBroken(
                f"following: the answer about {name} changes after {happened}, and nothing that it was read from has"
            )
    if before.statuses and isinstance(plugin, PreFilterPlugin):
        column = nodes.hypothetical_copies(np.arange(len(nodes)), twin(remembered.pod, "supposed"))
        one, other = remembered.scratch(), cycle.scratch()
        DIRECT.with_pods(plugin, one, column)
        DIRECT.with_pods(plugin, other, column)
        supposed, expected = (PluginAnswers(statuses=statuses(plugin, each, column)) for each in (one, other))
        between = f"reused and {{}} asked again, with one more pod, after {happened}"
        require_equal("following", supposed, expected, between)


def _changed_nodes(cluster: Cluster, runner: ReadingRunner, since: int) -> frozenset[str] | None:
    """Return the names of the nodes that have changed in what was read of them, None where anything else has."""
    rows = runner.rows_changed(since)
    return None if rows is None else frozenset(cluster.node_table.names[row] for row in rows.tolist())


def _signature(plugin: Plugin, pod: PodInfo) -> Hashable | None:
    return answers.signature(plugin, call_plugin(plugin, lambda: plugin.signature(pod)))


# -- what happens ------------------------------------------------------------------


def _make_change(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    """Let something happen to a cluster, and return in words what; "" where it could not."""
    change = random.choice((_add_pod, _add_pod, _remove_pod, _remove_pod, _change_node, _drain_node, _delete_object))
    return change(plugin, cluster, pod, random)


def _add_pod(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    """A pod like this one comes to a node, or one like a pod that runs."""
    like = random.choice((pod, *_sample(list(cluster.pod_table), random)))
    name = random.choice(cluster.nodes_by_name.names)
    cluster.assume(twin(like, f"new-{random.randrange(1 << 30)}"), name)
    return f"a pod like {like.key} came to {name}"


def _remove_pod(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    for gone in _sample(list(cluster.pod_table), random)[:1]:
        cluster.remove_pod(gone)
        return f"{gone.key} went"
    return ""


def _change_node(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    """A node is cordoned, or is now like another in some respect."""
    table = cluster.node_table
    one, other = (table.objects[row] for row in random.choices(cluster.nodes_by_name.rows.tolist(), k=2))
    name = one.metadata.name
    part = random.choice(("cordon", "labels", "no labels", "spec", "status"))
    if part == "cordon":
        cluster.add_node(replace(one, spec=replace(one.spec, unschedulable=not one.spec.unschedulable)))
        return f"{name} was cordoned, or no longer was"
    if part in ("spec", "status"):
        cluster.add_node(replace(one, **{part: getattr(other, part)}))
        return f"{name} had the {part} of {other.metadata.name}"
    labels = None if part == "no labels" else other.metadata.labels
    cluster.add_node(replace(one, metadata=replace(one.metadata, labels=labels)))
    return f"{name} had " + (part if labels is None else f"the labels of {other.metadata.name}")


def _drain_node(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    """A node changes, and its pods go: what they were counted under is told by what is remembered alone."""
    change = _change_node(plugin, cluster, pod, random)
    gone = cluster.pod_table.on(random.choice(cluster.nodes_by_name.rows.tolist()))
    for each in gone:
        cluster.remove_pod(each)
    return " and ".join((change, *(f"{each.key} went" for each in gone)))


def _delete_object(plugin: Plugin, cluster: Cluster, pod: PodInfo, random: Random) -> str:
    objects: list[Any] = []
    for kind in plugin.reads:
        every: Mapping[str, Any] = cluster.every(kind)
        objects += every.values()
    for gone in _sample(objects, random)[:1]:
        cluster.delete(gone)
        return f"{type(gone).__name__} {gone.metadata.name} went"
    return ""


# -- template ----------------------------------------------------------------------


def _check_template(plugin: Plugin, cluster: Cluster, pod: PodInfo) -> None:
    """Of pods written alike the signatures are equal, and a row where one is supposed is answered as one where it runs.

    That is what a `foreseeable` plugin promises.
    """
    if not plugin.foreseeable or _signature(plugin, pod) is None:
        return
    nodes, random = cluster.nodes_by_name, _random_of(cluster, pod)
    cycle, runner = Cycle(pod), ReadingRunner(cluster)
    before = ask_plugin(plugin, cycle, nodes, runner, feasible_only=True)
    _check_equal_signatures("template", plugin, pod)
    for other in (pod, *_sample(list(cluster.pod_table), random)):
        _check_foresight(plugin, cluster, (before, cycle, runner), other, random)


def _check_equal_signatures(law: str, plugin: Plugin, pod: PodInfo) -> None:
    one, other = _signature(plugin, pod), _signature(plugin, _twin_of_template(pod, "twin"))
    if one != other:
        raise LawBroken(f"{law}: the signature is {one!r} and that of a pod of the same template {other!r}")


def _check_foresight(
    plugin: Plugin,
    cluster: Cluster,
    known: tuple[PluginAnswers, Cycle, ReadingRunner],
    other: PodInfo,
    random: Random,
) -> None:
    """Hold rows on which pods are supposed against those on which they run, where nothing but the row changes."""
    before, cycle, runner = known
    if other.is_terminating:
        return
    for name in _sample(cluster.nodes_by_name.names, random):
        for number in (1, 2):
            row = cluster.nodes_named([name])
            supposed = row.hypothetical_copies(np.zeros(number, np.intp), other)
            foreseen = before.ask_again(plugin, cycle, supposed, feasible_only=True)
            with cluster.fork():
                generation = cluster.generation
                for each in range(number):
                    cluster.assume(_twin_of_template(other, f"other-{each}"), name)
                if runner.rows.tracked or runner.before.tracked or runner.rows_changed(generation) is None:
                    continue
                found = before.ask_again(plugin, cycle, cluster.nodes_named([name]), feasible_only=True)
                between = f"with {number} of {other.key} supposed and {{}} with as many running"
                require_equal("template", foreseen, found, between)


# -- extremes ----------------------------------------------------------------------


def _check_extremes(plugin: Plugin, cluster: Cluster, pod: PodInfo) -> None:
    """A normalised score depends on the raw one, the least and the largest alone (`normalizes_by_extremes`)."""
    if not (isinstance(plugin, ScorePlugin) and plugin.normalizes_by_extremes):
        return
    nodes, cycle = cluster.nodes_by_name, Cycle(pod)
    whole = ask_plugin(plugin, cycle, nodes, feasible_only=True)
    if not whole.scores:
        return
    least, most = min(whole.scores.values()), max(whole.scores.values())
    for position, name in enumerate(nodes.names):
        if name not in whole.scores:
            continue
        beside = np.array((least, most, whole.scores[name]), np.int64)
        column = nodes.take(np.repeat(position, len(beside)))
        alone = int(DIRECT.normalize(plugin, cycle, column, beside)[-1])
        if alone != whole.normalized[name]:
            expected = f"{whole.normalized[name]} among all and {alone} beside {least} and {most} alone"
            raise LawBroken(f"extremes: the score of {name}, {whole.scores[name]}, is normalised to {expected}")


# -- pods --------------------------------------------------------------------------


def twin(pod: PodInfo, name: str) -> PodInfo:
    """Return a pod like another under a name of its own."""
    metadata = replace(pod.pod.metadata, name=f"{pod.pod.metadata.name}-{name}", uid=f"uid-{pod.key}-{name}")
    return PodInfo(replace(pod.pod, metadata=metadata))


def _twin_of_template(pod: PodInfo, name: str) -> PodInfo:
    """Return a pod that has in common with another what a template writes, and nothing else that can be helped.

    The claims of ephemeral volumes are called after the pod, which is therefore written otherwise.
    """
    original = pod.pod
    if any(volume.ephemeral for volume in original.spec.volumes or ()):
        return twin(pod, name)
    made = twin(pod, name).pod
    metadata = replace(made.metadata, annotations={"written-by": name}, creation_timestamp=None)
    return PodInfo(replace(made, metadata=metadata))


def _random_of(cluster: Cluster, pod: PodInfo) -> Random:
    """Return chance that is the same for the same pod in the same cluster."""
    return Random(f"{pod.key} {len(cluster.rows)} {' '.join(info.key for info in cluster.pod_table)}")


def _sample(choices: list[Any], random: Random) -> list[Any]:
    """Return a few of some."""
    return random.sample(choices, min(_SAMPLE_SIZE, len(choices)))


def promises(plugin: type[Plugin], law: str) -> bool:
    """Return whether a plugin promises what a law of this module is about; without that nothing is tried."""
    if law == "extremes":
        return issubclass(plugin, ScorePlugin) and plugin.normalizes_by_extremes
    signs = plugin.signature is not Plugin.signature
    if law == "template":
        return signs and plugin.foreseeable
    return signs


LAWS: dict[str, Callable[[Plugin, Cluster, PodInfo], None]] = {
    "signature": _check_signature,
    "following": _check_following,
    "template": _check_template,
    "extremes": _check_extremes,
}
"""The laws, by name."""
