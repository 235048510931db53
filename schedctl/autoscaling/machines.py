"""Groups of Cluster API: a MachineDeployment, MachineSet or MachinePool that Cluster Autoscaler may scale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from schedctl.api import node_labels, topology
from schedctl.api.annotation_keys import (
    MACHINE,
    MACHINE_CAPACITY,
    MACHINE_GPU_TYPE,
    MACHINE_LABELS,
    MACHINE_OWNER,
    MACHINE_TAINTS,
    MAX_SIZES,
    MIN_SIZES,
    OPENSHIFT_CPU,
    OPENSHIFT_MEMORY,
)
from schedctl.api.autoscalers import MachineDeployment, MachineGroup, MachinePool, MachineSet
from schedctl.api.meta import ObjectMeta, controller_of
from schedctl.api.nodes import Node, NodeSpec, NodeStatus, Taint
from schedctl.api.quantities import parse
from schedctl.autoscaling.groups import Autoscaler, NodeGroup, NodeTemplate, TemplateField
from schedctl.autoscaling.templates import node_of, templates_like
from schedctl.cache.cluster import Cluster

_SIZES = {"min": MIN_SIZES, "max": MAX_SIZES}
_OPENSHIFT = {"cpu": OPENSHIFT_CPU, "memory": OPENSHIFT_MEMORY}
_RESOURCES = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage", "maxPods": "pods"}
_TAINT = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^:]*))?:(?P<effect>\w+)")
_MAX_PODS = "110"


def groups(cluster: Cluster) -> Iterator[NodeGroup]:
    """Yield a group for each set of machines whose annotations let Cluster Autoscaler scale it."""
    machine_groups: list[MachineGroup] = [
        *cluster.every(MachineDeployment).values(),
        *cluster.every(MachinePool).values(),
        *(each for each in cluster.every(MachineSet).values() if controller_of(each) is None),
    ]
    scalable = sorted(
        (each for each in machine_groups if _bound(each, "max") or _bound(each, "min")),
        key=lambda each: (each.metadata.name, each.metadata.namespace),
    )
    members = _members(cluster, scalable)
    for each in scalable:
        yield _group(cluster, each, members[id(each)])


def _group(cluster: Cluster, machines: MachineGroup, nodes: Sequence[str]) -> NodeGroup:
    kind, name = type(machines).__name__, machines.metadata.name
    origin, notes = f"{kind} {name}", list[str]()
    sizes = {}
    for which in ("min", "max"):
        written = _bound(machines, which)
        if written and not written.isdecimal():
            notes.append(f'its {which}imum size "{written}" is not a number')
        sizes[which] = int(written) if written.isdecimal() else None
    written_template, problems = _written_template(machines, origin)
    notes += problems
    like = templates_like(cluster, nodes, name)
    templates = like or ((written_template,) if written_template is not None else ())
    if not templates:
        notes.append("it has no node and no capacity annotations, so that nothing says what a new node is like")
    if machines.spec.replicas is not None and machines.spec.replicas != len(nodes):
        notes.append(f"it wants {machines.spec.replicas} machines, and {len(nodes)} of the nodes are of it")
    return NodeGroup(
        name,
        f"Cluster API {origin}",
        Autoscaler.CLUSTER_AUTOSCALER,
        templates,
        tuple(nodes),
        min_size=sizes["min"] or 0,
        max_size=sizes["max"],
        notes=tuple(notes),
    )


def _bound(machines: MachineGroup, which: str) -> str:
    annotations = machines.metadata.annotations or {}
    return next((found for key in _SIZES[which] if (found := annotations.get(key))), "")


def _members(cluster: Cluster, machine_groups: Sequence[MachineGroup]) -> Mapping[int, list[str]]:
    """Return the nodes of each group: they name their MachineSet, which belongs to a MachineDeployment."""
    owners = {
        each.metadata.name: owner.name
        for each in cluster.every(MachineSet).values()
        if (owner := controller_of(each)) is not None
    }
    found: dict[int, list[str]] = {id(each): [] for each in machine_groups}
    longest_first = sorted(machine_groups, key=lambda each: -len(each.metadata.name))
    for name in sorted(cluster.node_table.row_of):
        annotations = node_of(cluster, name).metadata.annotations or {}
        machine_set = annotations.get(MACHINE_OWNER, "")
        if not machine_set and MACHINE in annotations:
            machine_set = annotations[MACHINE].rpartition("/")[2].rpartition("-")[0]
        if not machine_set:
            continue
        named = owners.get(machine_set, machine_set)
        for each in longest_first:
            group_name = each.metadata.name
            # a MachineSet that is not in the state is known by its name, which begins with that of its deployment
            if named == group_name or (machine_set not in owners and machine_set.startswith(f"{group_name}-")):
                found[id(each)].append(name)
                break
    return found


def _written_template(machines: MachineGroup, origin: str) -> tuple[NodeTemplate | None, list[str]]:
    """Return what annotations say of a new node, by which Cluster Autoscaler scales a group from nothing."""
    annotations, problems = machines.metadata.annotations or {}, []
    offered: dict[str, str] = {}
    for written, resource in _RESOURCES.items():
        key, of_openshift = f"{MACHINE_CAPACITY}{written}", _OPENSHIFT.get(written, "")
        text = annotations.get(key) or annotations.get(of_openshift, "")
        if not text:
            continue
        text = f"{text}Mi" if key not in annotations and written == "memory" else text
        try:
            parse(text)
        except ValueError:
            problems.append(f'its annotation {MACHINE_CAPACITY}{written} "{text}" is not a quantity')
        else:
            offered[resource] = text
    gpus = annotations.get(f"{MACHINE_CAPACITY}gpu-count", "")
    if gpus.isdecimal():
        offered[annotations.get(MACHINE_GPU_TYPE, "nvidia.com/gpu")] = gpus
    if not {"cpu", "memory"} <= offered.keys():
        return None, problems
    offered.setdefault("pods", _MAX_PODS)
    labels = dict(part.split("=", 1) for part in _parts(annotations, MACHINE_LABELS) if "=" in part)
    labels = {node_labels.OPERATING_SYSTEM: "linux", node_labels.ARCHITECTURE: "amd64"} | labels
    taints = [
        Taint(key=match["key"], value=match["value"] or "", effect=match["effect"])
        for part in _parts(annotations, MACHINE_TAINTS)
        if (match := _TAINT.fullmatch(part))
    ]
    node = Node(
        metadata=ObjectMeta(name=machines.metadata.name, labels=labels),
        spec=NodeSpec(taints=taints or None),
        status=NodeStatus(allocatable=dict(offered), capacity=dict(offered)),
    )
    source = f"annotations of {origin}"
    fields = [TemplateField(part, source) for part in ("labels", "taints", "allocatable")]
    fields.append(TemplateField("daemons", "DaemonSets of the cluster"))
    return NodeTemplate(
        node, topology.zone_of(labels), node_labels.instance_type_of(labels), fields=tuple(fields)
    ), problems


def _parts(annotations: Mapping[str, str], key: str) -> list[str]:
    return [part.strip() for part in annotations.get(key, "").split(",") if part.strip()]
