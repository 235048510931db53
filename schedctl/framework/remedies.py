"""What would undo a rejection: `Remedy` values that a plugin offers and `explain` tries; `Advice` where it cannot try.

`Plugin.remedies` returns them for one `Rejection`, so that Kubernetes' plugins and a user's can say as much. Nothing
here is imported by a run; how rejections read is in `wording`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.framework.commands import kubectl
from schedctl.framework.statuses import Code

Evidence = dict[str, Any]
"""What stands behind a rejection, as JSON knows it, under camelCase names."""

_T = TypeVar("_T")


class Rejection(NamedTuple):
    """One reason of one plugin against one node.

    Attributes:
        plugin: who rejects.
        reference: which reason, e.g. ``node-resources-fit/insufficient``.
        text: in Kubernetes' words.
        code: the code for this node.
        node: its name, "" where PreFilter rejected the pod as a whole.
        evidence: the numbers.
        nominated_pods: the pods counted on the node because they are nominated to it.
    """

    plugin: str
    reference: str
    text: str
    code: Code
    node: str
    evidence: Evidence
    nominated_pods: tuple[str, ...] = ()


class Reach(IntEnum):
    """How far a change reaches, the least first."""

    POD = 0
    """The pod, or its claims: it keeps its rules."""
    RULE = 1
    """The pod gives up a rule that somebody wrote: affinity, spreading, a node selector."""
    NODE = 2
    """A node, or there is one more."""
    RESERVED = 3
    """The pod goes to nodes that a taint reserves for others."""
    OTHER_PODS = 4
    """Running pods go."""


def _leave(pod: Pod, cluster: Cluster) -> Pod:
    return pod


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change that might undo a rejection; `explain` tries it on a fork of the cluster before it says so.

    Two remedies are one where they are of one kind about one subject and read alike.

    Attributes:
        kind: the name of the situation, as hints carry it: ``lower-request``.
        condition: what stands behind "would fit if": ``cpu <= 1850m``.
        edit: makes the change in a fork, and returns the pod, which is another one if the change is about it.
        effort: how much it asks of people, 0 (a typo) to 6 (another node), to put cheap advice first.
        reach: what it is done to: of remedies that help, those come first that reach least far.
        subject: what it is about: of remedies of one kind about one subject, the smallest that helps is enough.
        command: what to type, "" where no single command does it.
        removed_pods: the keys of running pods that are removed before the edit.
        node: the node whose manifest the edit changes as people may, "" for none.
        size: for how many changes it counts, since small sets are told first: each pod that goes is one, a mistake
            that is corrected none.
    """

    kind: str
    condition: str
    edit: Callable[[Pod, Cluster], Pod] = field(default=_leave, compare=False)
    effort: int = 3
    subject: Hashable = None
    command: str = ""
    removed_pods: tuple[str, ...] = ()
    node: str = ""
    reach: Reach = Reach.POD
    size: int = 1

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Make the change in a fork and return the pod as it is then."""
        for key in self.removed_pods:
            row = cluster.pod_table.row_of.get(key)
            info = cluster.pod_table.infos[row] if row is not None else None
            if info is not None:  # it may have gone by another of the remedies that are tried together
                cluster.remove_pod(info)
        return self.edit(pod, cluster)


@dataclass(frozen=True, slots=True)
class Advice:
    """A step that only people can take, said of a pod that was rejected as a whole.

    Attributes:
        kind: the name of the situation, as hints carry it.
        text: a sentence without capital and full stop.
        command: what to type, "" where no single command does it.
    """

    kind: str
    text: str
    command: str = ""


Together = tuple[Remedy, ...]
"""Remedies that only together might undo a rejection."""
Remedies = Iterable[Remedy | Together | Advice]
"""What a plugin knows against one of its rejections, the best choice first."""


REMOVE_PODS, UNCORDON = "remove-pods", "uncordon"
MOST_REMOVED_PODS = 3
"""More running pods than this are not advised to be removed."""


def remove_pods(pods: Iterable[str]) -> Remedy:
    """Return the remedy where running pods hold what the pod needs, or it and they must not meet."""
    keys = tuple(pods)
    condition = f"pod{'s' if len(keys) > 1 else ''} {' and '.join(keys)} {'are' if len(keys) > 1 else 'is'} deleted"
    return Remedy(REMOVE_PODS, condition, effort=4, removed_pods=keys, reach=Reach.OTHER_PODS, size=len(keys))


def uncordon(node: str) -> Remedy:
    """Return the remedy where a cordoned node would do otherwise; the taint goes that comes with a cordon."""
    return Remedy(
        UNCORDON,
        f"{node} is uncordoned",
        edit_node(node, node_edits.uncordon),
        effort=1,
        command=kubectl("uncordon", node),
        node=node,
        reach=Reach.NODE,
    )


# -- edits -----------------------------------------------------------------------


def edit_pod(change: Callable[[Pod], Pod]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit that changes the pod alone."""
    return lambda pod, cluster: change(pod)


def edit_node(name: str, change: Callable[[Node], Node]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit that changes one node of the cluster."""

    def edit(pod: Pod, cluster: Cluster) -> Pod:
        node_edits.edit_node(cluster, name, change)
        return pod

    return edit


def edit_object(kind: type[_T], key: str, change: Callable[[_T], _T]) -> Callable[[Pod, Cluster], Pod]:
    """Return the edit that changes one object of the cluster that is neither a pod nor a node."""

    def edit(pod: Pod, cluster: Cluster) -> Pod:
        cluster.put(change(cluster.every(kind)[key]))
        return pod

    return edit
