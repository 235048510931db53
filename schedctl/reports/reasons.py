"""Why nodes are rejected, what would help, and what plugins add: the same records in every report."""

from __future__ import annotations

from typing import Any, Literal

from schedctl.reports.metadata import Record


class NodeGroup(Record, frozen=True):
    """Nodes refused on the same evidence.

    Attributes:
        nodes: their names, sorted.
        code: ``Unschedulable``, or ``UnschedulableAndUnresolvable`` where no preemption could help.
        detail: the numbers in words, e.g. ``cpu: 1850m free of 4, 150m missing``.
        evidence: the numbers, by name, as the plugin gave them.
        nominated_pods: pods counted as if they stood on these nodes already because they are promised to them.
        zones: how many of the nodes are in which zone, "" for nodes in none.
    """

    nodes: list[str]
    code: str
    detail: str = ""
    evidence: dict[str, Any] = {}
    nominated_pods: list[str] = []
    zones: dict[str, int] = {}


class CountedDetail(Record, frozen=True):
    """Numbers in words, and on how many nodes they are so.

    Attributes:
        text: the numbers in words, as a group of nodes has them.
        nodes: how many nodes.
    """

    text: str
    nodes: int


class Reason(Record, frozen=True):
    """One cause and the nodes it refuses.

    Attributes:
        reference: a stable name, e.g. ``node-resources-fit/insufficient-cpu``.
        plugin: who says so.
        code: ``UnschedulableAndUnresolvable`` where that holds for all the nodes, else ``Unschedulable``; ``Error`` for
            a fault, which only the full matrix can have.
        text: Kubernetes' own words.
        count: how many nodes it refuses; 0 where the pod is refused as a whole.
        whole_pod: PreFilter refused the pod before any node was asked.
        summary: the evidence over all the nodes in one line, e.g. ``cpu: 2 requested, at most 1850m free``.
        detail: the numbers behind it in one line: the summary, or without one those of the first groups, each behind
            the number of its nodes where they differ.
        details: the numbers by the nodes that share them, nearest miss first; empty where a summary covers them all or
            none differ. Of many different ones the first are there, and `count` tells how many nodes are left.
        diagnosis: what is likely to be wrong with the pod, a sentence each; empty where nothing strikes the eye.
        zones: how many of the nodes are in which zone, "" for nodes in none.
        groups: the nodes by evidence, nearest miss first; none in reports about many pods.
        evidence: where the pod is refused as a whole, what stands behind it; else each group has its own.
    """

    reference: str
    plugin: str
    code: str
    text: str
    count: int
    whole_pod: bool = False
    summary: str = ""
    detail: str = ""
    details: list[CountedDetail] = []
    diagnosis: list[str] = []
    zones: dict[str, int] = {}
    groups: list[NodeGroup] = []
    evidence: dict[str, Any] = {}


class Patch(Record, frozen=True):
    """A change of one object, of its manifest as well as in the cluster.

    Attributes:
        kind: of the object: a workload whose pod template is changed, a ``Pod`` without one, a ``Node``, or a claim
            that is not in the cluster yet.
        namespace: its namespace, "" for a node.
        name: its name.
        type: how to read the patch, in kubectl's words: ``strategic``, ``json`` or ``merge``.
        patch: the patch: an object, of type ``json`` a list of operations.
    """

    kind: str
    namespace: str
    name: str
    type: str
    patch: Any


class ManifestEdit(Record, frozen=True):
    """A change of one field of a manifest.

    Attributes:
        source: the file, or the Helm template that it was rendered from.
        line: of the field, or of what it is to stand in; 0 where the line is not known.
        field: where, e.g. ``spec.template.spec.nodeSelector``.
        action: ``set`` the field, ``append`` to the list, or ``remove`` the field.
        value: what it is set to or what is appended, null where it is removed.
    """

    source: str
    line: int
    field: str
    action: Literal["set", "append", "remove"]
    value: Any = None


class Hint(Record, frozen=True):
    """A next step.

    Attributes:
        type: the situation, e.g. ``lower-request``.
        text: in words.
        tried: whether the change was tried on the cluster in hand: for a run, its final state.
        fits: on how many nodes the pod would fit after it, 0 where it was not tried or fits nowhere.
        node: the node that would then be chosen, "" for none.
        consequences: what else it would cause, a sentence each: workloads that lose their spread, and pods that lose
            their place. Of other pending pods the most important two workloads are looked at.
        cut: by how many percent the pod would request less of the resource that is cut most, 0 where nothing is cut.
        command: what to type, "" where no command does all of it. It is quoted for a shell.
        undoes: the reasons that it undoes, in Kubernetes' words; empty where it is not about single reasons.
        patches: the same change as patches of a workload's pod template or of nodes; empty where it is of another kind.
        edits: the same change of the manifests that are being released, which then stands in the place of a command.
    """

    type: str
    text: str
    tried: bool = False
    fits: int = 0
    node: str = ""
    consequences: list[str] = []
    cut: int = 0
    command: str = ""
    undoes: list[str] = []
    patches: list[Patch] = []
    edits: list[ManifestEdit] = []


class Remark(Record, frozen=True):
    """What a plugin says of the pod beyond its verdicts, such as how the group of the pod stands.

    Attributes:
        plugin: who says so.
        text: in one sentence.
        details: more of it, a line each.
        evidence: what stands behind it, by name, as the plugin gave it.
        starts: of a plugin that holds the pod back at Permit for others, whether these find nodes as things are; null
            where it does not say.
    """

    plugin: str
    text: str
    details: list[str] = []
    evidence: dict[str, Any] = {}
    starts: bool | None = None
