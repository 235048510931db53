"""What may be the cause where a decision comes out otherwise: every trace that the state and the events still bear.

A trace is not a proof: it says what is known to have been different, or cannot be known to have been the same. A
difference without any trace is the one that a reader should look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import msgspec

from schedctl.api.events import Event
from schedctl.calibration.replays import Replay, Result
from schedctl.calibration.timelines import Gone, Timeline

OFTEN = 3
"""How many decisions on end a node has to be passed over by to be told as shunned."""
_ON_NODE = re.compile(r" on node (\S+)")


class Trace(Enum):
    """What may be the cause."""

    PROMISED = "Promised"
    """Preemption had promised the node to the pod, so that no other was looked at."""
    SAMPLED = "Sampled"
    """kube-scheduler looks at a part of so many nodes only, and need not have seen the better one."""
    SAME_MOMENT = "SameMoment"
    """Other pods were decided about so close by that it is not known who came first."""
    PLACED_THEN = "PlacedThen"
    """Pods that nobody scheduled, or another scheduler did, came so close by that it is not known who came first."""
    GONE = "Gone"
    """Pods that had come before are not there any more, and were where they matter to the comparison."""
    TIMELESS = "Timeless"
    """Pods carry no time, and may have come later."""
    CORDONED = "Cordoned"
    """The node is cordoned now, and nothing tells since when."""
    TAINTED = "Tainted"
    """The node has taints now, and nothing tells since when."""
    RELABELLED = "Relabelled"
    """Labels decide, and nothing tells since when nodes and pods have theirs."""
    RESIZED = "Resized"
    """The node has no room now without any pod that came later: it was larger, or pods on it were smaller."""
    IMAGES = "Images"
    """Images decide, and nothing tells since when nodes have theirs."""
    CLAIMS = "Claims"
    """The pod's claims are bound or allocated by now."""
    SHUNNED = "Shunned"
    """The better nodes were passed over again and again, as if they were cordoned, tainted or not ready then."""
    NODES_GONE = "NodesGone"
    """Pods are on nodes that are not there any more, so there were other nodes."""


class TraceEvidence(msgspec.Struct, frozen=True):
    """A trace and what it consists of: names, the first of many."""

    trace: Trace
    names: tuple[str, ...] = ()


_OF_PLUGINS = {
    "NodeUnschedulable": Trace.CORDONED,
    "TaintToleration": Trace.TAINTED,
    "NodeAffinity": Trace.RELABELLED,
    "InterPodAffinity": Trace.RELABELLED,
    "PodTopologySpread": Trace.RELABELLED,
    "NodeResourcesFit": Trace.RESIZED,
    "ImageLocality": Trace.IMAGES,
    "VolumeBinding": Trace.CLAIMS,
    "VolumeZone": Trace.CLAIMS,
    "DynamicResources": Trace.CLAIMS,
}
"""What may have changed that a plugin reads, and carries no time. NodeResourcesFit counts where it refuses only."""

_DIRECT = frozenset((Trace.CORDONED, Trace.TAINTED))
"""What alone keeps a pod from a node, whoever else came or went."""

GENERIC = frozenset((Trace.IMAGES, Trace.NODES_GONE, Trace.RELABELLED, Trace.RESIZED, Trace.TIMELESS))
"""What can be said of almost any decision in such a cluster, and so explains little."""
_ELSEWHERE = frozenset(("InterPodAffinity", "PodTopologySpread"))
"""The plugins that judge a node by pods on others."""


class KnownHistory(msgspec.Struct, frozen=True):
    """What is known of the time before.

    Attributes:
        timeline: what came when.
        gone: pods that were on nodes once.
        promised: by the uid of a pod, the node that preemption made room on for it.
        lost_nodes: the nodes that pods are still on, but which are not there.
        shunned_nodes: by the key of a pod, the nodes that were passed over again and again when it was decided about.
    """

    timeline: Timeline
    gone: Sequence[Gone] = ()
    promised: Mapping[str, str] = msgspec.field(default_factory=dict)
    lost_nodes: Sequence[str] = ()
    shunned_nodes: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)


def nominations(preempted: Iterable[Event]) -> dict[str, str]:
    """Return the node that preemption made room on for each pod, by its uid, from the events of the victims."""
    found = {}
    for event in preempted:
        node = _ON_NODE.search(event.message)
        if node is not None and event.related is not None:
            found[event.related.uid] = node[1]
    return found


def shunned_nodes(replays: Sequence[Replay]) -> dict[str, frozenset[str]]:
    """Return the nodes that were passed over again and again at each decision, by the key of its pod.

    That is a node that scores more than the one taken in several decisions on end, of those in which it would do, and
    takes none of them.

    Args:
        replays: in the order of time, or its reverse.
    """
    found: dict[str, set[str]] = {replay.pod.key: set() for replay in replays}
    for node in {name for replay in replays for name in replay.better}:
        run: list[str] = []
        for replay in [*replays, None]:  # None ends the last run
            if replay is not None and node in replay.better:
                run.append(replay.pod.key)
            elif replay is None or replay.decision.node == node:
                for key in run if len(run) >= OFTEN else ():
                    found[key].add(node)
                run = []
    return {key: frozenset(nodes) for key, nodes in found.items()}


def of(replay: Replay, known: KnownHistory) -> list[TraceEvidence]:
    """Return what may be the cause of a decision that comes out otherwise, the likeliest first; empty for others."""
    if replay.result not in (Result.LOWER, Result.REFUSED):
        return []
    decision, pod = replay.decision, replay.pod.pod
    # The likeliest first: what is known to have happened, then what alone keeps a pod from a node, then what may have
    # mattered, and last what can be said of almost any decision.
    found = []
    promised = known.promised.get(pod.metadata.uid) or pod.status.nominated_node_name
    if replay.result is Result.LOWER and promised == decision.node:
        found.append(TraceEvidence(Trace.PROMISED))
    if replay.result is Result.LOWER and replay.feasible > replay.enough:
        found.append(TraceEvidence(Trace.SAMPLED, (str(replay.enough), str(replay.feasible))))
    unmarked = [TraceEvidence(trace) for trace in _timeless_traces(replay)]
    found += [each for each in unmarked if each.trace in _DIRECT]
    if replay.better and known.shunned_nodes.get(replay.pod.key, frozenset()) >= set(replay.better):
        found.append(TraceEvidence(Trace.SHUNNED, tuple(sorted(replay.better))))
    near = known.timeline.near(decision)
    if near:
        found.append(TraceEvidence(Trace.SAME_MOMENT, tuple(sorted(near))))
    beside = known.timeline.beside(decision)
    if beside:
        found.append(TraceEvidence(Trace.PLACED_THEN, tuple(sorted(beside))))
    gone = tuple(each.pod for each in known.gone if each.at <= decision.at and _matters(each, replay))
    if gone:
        found.append(TraceEvidence(Trace.GONE, gone))
    if known.lost_nodes:
        found.append(TraceEvidence(Trace.NODES_GONE, tuple(known.lost_nodes)))
    if known.timeline.timeless:
        found.append(TraceEvidence(Trace.TIMELESS, tuple(sorted(known.timeline.timeless))))
    return found + [each for each in unmarked if each.trace not in _DIRECT]


def _matters(gone: Gone, replay: Replay) -> bool:
    """Return whether a pod was on a node of the comparison, or the comparison goes by pods wherever they are."""
    return gone.node in (replay.decision.node, *replay.better) or not _ELSEWHERE.isdisjoint(_in_the_way(replay))


def _in_the_way(replay: Replay) -> list[str]:
    """Return the plugins that refuse the node, or speak for the one that beats it."""
    if replay.result is Result.REFUSED:
        return [plugin for reason in replay.reasons for plugin in reason.plugin.split(", ")]
    assert replay.comparison is not None
    return [each.plugin for each in replay.comparison.plugins if each.difference > 0]


def _timeless_traces(replay: Replay) -> list[Trace]:
    """Return what the plugins that stand in the way read and what carries no time."""
    plugins = _in_the_way(replay)
    # Where the node is refused for want of room it must have had more; a score differs by any pod that came and went.
    if replay.result is not Result.REFUSED:
        plugins = [plugin for plugin in plugins if plugin != "NodeResourcesFit"]
    return list(dict.fromkeys(_OF_PLUGINS[plugin] for plugin in plugins if plugin in _OF_PLUGINS))
