"""What-ifs about nodes: cordon, drain, remove, lose, add, taint, label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from schedctl.api.devices import ResourceSlice
from schedctl.api.nodes import Node, Taint
from schedctl.api.pods import Pod
from schedctl.api.storage import CSINode
from schedctl.api.tolerations import NO_EXECUTE, tolerates
from schedctl.cache import node_edits
from schedctl.cache.cluster import Cluster
from schedctl.documents.spelling import suggest_names
from schedctl.errors import UsageError
from schedctl.simulation.node_choices import node_named, nodes_chosen
from schedctl.simulation.what_ifs.changes import WhatIf, WhatIfResult
from schedctl.simulation.what_ifs.displacement import displace_from, is_mirror, pods_on, stays
from schedctl.simulation.what_ifs.phrases import abbreviate, describe_daemons
from schedctl.workloads.node_daemons import start_daemons, start_daemons_like

_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Cordon(WhatIf):
    """Nodes take no more pods; those that run there stay.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "cordon"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Cordon the nodes."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, node_edits.cordon)
        return WhatIfResult(kind=self.kind, text=f"cordoned {abbreviate(names)}", nodes=names)


@dataclass(frozen=True, slots=True)
class Drain(WhatIf):
    """Nodes are cordoned and emptied, but for the pods of DaemonSets and those their kubelets run by themselves.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "drain"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Cordon the nodes, then let their pods come back on no node."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, node_edits.cordon)
        leaving = [info for info in pods_on(cluster, *names) if not stays(info.pod)]
        return displace_from(self.kind, f"drained {abbreviate(names)}", cluster, names, leaving)


@dataclass(frozen=True, slots=True)
class RemoveNode(WhatIf):
    """Nodes are gone, and the pods on them with them.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
    """

    nodes: str

    kind: ClassVar[str] = "remove-node"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Remove the nodes; their pods come back on no node, but for those of DaemonSets."""
        return remove_nodes(cluster, nodes_chosen(cluster, self.nodes))


@dataclass(frozen=True, slots=True)
class Lose(WhatIf):
    """All nodes of a zone, or with another label, fail at once.

    Attributes:
        label: as ``zone=eu-1a``, ``region=eu-1``, ``hostname=node-3`` or ``LABEL=VALUE``.
    """

    label: str

    kind: ClassVar[str] = "lose"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Remove the nodes; their pods come back on no node, but for those of DaemonSets."""
        if "=" not in self.label:
            raise UsageError(f'"{self.label}" is not a label with a value', "e.g. `zone=eu-west-1a` or `pool=spot`")
        return remove_nodes(cluster, nodes_chosen(cluster, self.label), self.kind, f"lost {self.label}:")


@dataclass(frozen=True, slots=True)
class AddNodes(WhatIf):
    """Nodes join, described in full; empty but for the pods of the DaemonSets in the cluster.

    Attributes:
        nodes: the nodes, as read from a file.
        count: how many of each.
    """

    nodes: tuple[Node, ...]
    count: int = 1

    kind: ClassVar[str] = "add-node"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Add the nodes under their names, with numbers where those are taken or there are several."""
        added, daemons = [], 0
        for node in self.nodes:
            base = node.metadata.name
            names = [base] if self.count == 1 and base not in cluster.node_table.row_of else None
            for name in names or list(_new_names(cluster, f"{base}-", self.count)):
                cluster.add_node(node_edits.rename_node(node, name))
                daemons += start_daemons(cluster, name)
                added.append(name)
        return WhatIfResult(kind=self.kind, text=f"added {abbreviate(added)}{describe_daemons(daemons)}", nodes=added)


@dataclass(frozen=True, slots=True)
class AddNodesLike(WhatIf):
    """Nodes join that are like one of the cluster when it was new: same size, labels and taints, no images.

    Attributes:
        node: the node they are like.
        count: how many.
    """

    node: str
    count: int = 1

    kind: ClassVar[str] = "add-node"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Add the nodes as ``NODE-new-1`` and so on, with what drivers publish of the model and its daemons."""
        named, count = self.node, self.count
        if named not in cluster.node_table.row_of and f"{named}x{count}" in cluster.node_table.row_of:
            named, count = f"{named}x{count}", 1  # a name that ends like a number of nodes
        model = node_named(cluster, named)
        fresh = node_edits.as_new(_replace(model, status=_replace(model.status, images=None, conditions=None)))
        names = list(_new_names(cluster, f"{named}-new-", count))
        daemons = 0
        for name in names:
            cluster.add_node(node_edits.rename_node(fresh, name))
            node_edits.publish_like(cluster, named, name)
            daemons += start_daemons(cluster, name) + start_daemons_like(cluster, named, name)
        text = f"added {abbreviate(names)}, like {named}{describe_daemons(daemons)}"
        return WhatIfResult(kind=self.kind, text=text, nodes=names)


@dataclass(frozen=True, slots=True)
class SetTaint(WhatIf):
    """Nodes get a taint, as ``kubectl taint`` does it; NoExecute evicts the pods that do not tolerate it for good.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key, value, effect: the taint; it replaces the one of the same key and effect.
    """

    nodes: str
    key: str
    value: str
    effect: str

    kind: ClassVar[str] = "taint"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Set the taint."""
        names = nodes_chosen(cluster, self.nodes)
        taint = Taint(key=self.key, value=self.value, effect=self.effect)
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.add_taint(node, taint))
        evicted = []
        if self.effect == NO_EXECUTE:
            running = pods_on(cluster, *names)
            evicted = [
                info
                for info in running
                if not is_mirror(info.pod) and not _tolerates_for_good(info.pod, taint, cluster.compares_taints)
            ]
        written = f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"
        return displace_from(self.kind, f"tainted {abbreviate(names)} with {written}", cluster, names, evicted)


@dataclass(frozen=True, slots=True)
class ClearTaint(WhatIf):
    """Nodes lose their taints of a key, as with ``kubectl taint KEY-``.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key: of the taints.
        effect: of the taints, "" for any.
    """

    nodes: str
    key: str
    effect: str = ""

    kind: ClassVar[str] = "taint"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Clear the taints of those nodes that have one.

        Raises:
            UsageError: none has.
        """
        chosen = nodes_chosen(cluster, self.nodes)
        names = [name for name in chosen if any(map(self._matches, node_named(cluster, name).spec.taints or ()))]
        if not names:
            keys = {taint.key for name in chosen for taint in node_named(cluster, name).spec.taints or ()}
            raise UsageError(
                f'no taint "{self.key}" on {abbreviate(chosen)}', suggest_names(self.key, sorted(keys), "taints")
            )
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.remove_taints(node, self.key, self.effect))
        written = f"{self.key}{f':{self.effect}' if self.effect else ''}"
        return WhatIfResult(kind=self.kind, text=f"cleared taint {written} from {abbreviate(names)}", nodes=names)

    def _matches(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect)


@dataclass(frozen=True, slots=True)
class SetLabel(WhatIf):
    """Nodes get a label, or lose one; the pods that run there stay.

    Attributes:
        nodes: a name, ``all``, or a label as ``zone=eu-1a``.
        key: of the label.
        value: its value, None to remove it.
    """

    nodes: str
    key: str
    value: str | None

    kind: ClassVar[str] = "label"

    def apply(self, cluster: Cluster) -> WhatIfResult:
        """Set or remove the label."""
        names = nodes_chosen(cluster, self.nodes)
        for name in names:
            node_edits.edit_node(cluster, name, lambda node: node_edits.set_label(node, self.key, self.value))
        if self.value is None:
            return WhatIfResult(kind=self.kind, text=f"removed label {self.key} from {abbreviate(names)}", nodes=names)
        return WhatIfResult(kind=self.kind, text=f"labelled {abbreviate(names)} {self.key}={self.value}", nodes=names)


def remove_nodes(
    cluster: Cluster, names: list[str], kind: str = RemoveNode.kind, verb: str = "removed"
) -> WhatIfResult:
    """Remove nodes and the pods on them; these come back on no node, but for those of DaemonSets.

    Args:
        cluster: the cluster.
        names: the nodes.
        kind: what the result calls it.
        verb: what it says was done.
    """
    slices: dict[str | None, list[ResourceSlice]] = {}
    for each in cluster.every(ResourceSlice).values():
        slices.setdefault(each.spec.node_name, []).append(each)

    def remove() -> None:
        for name in names:
            cluster.remove_node(name)
            csi = cluster.get(CSINode, name)
            for obj in (*slices.get(name, ()), *((csi,) if csi is not None else ())):
                cluster.delete(obj)

    # a pod whose template names its node is made again with the name of one that is gone
    pods = pods_on(cluster, *names)
    return displace_from(kind, f"{verb} {abbreviate(names)}", cluster, names, pods, remove)


def _tolerates_for_good(pod: Pod, taint: Taint, compares: bool) -> bool:
    """Whether a pod tolerates a taint for good."""
    return any(
        toleration.toleration_seconds is None and tolerates(toleration, taint, compares)
        for toleration in pod.spec.tolerations or ()
    )


def _new_names(cluster: Cluster, base: str, count: int) -> Iterator[str]:
    number = 0
    for _ in range(count):
        number += 1
        while f"{base}{number}" in cluster.node_table.row_of:
            number += 1
        yield f"{base}{number}"
