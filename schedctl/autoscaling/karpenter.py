"""Groups of Karpenter: a NodePool, its nodes, and the instance types that it may launch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from schedctl.api import node_labels, topology
from schedctl.api.autoscalers import EC2NodeClass, NodeClaim, NodePool, Requirement
from schedctl.api.meta import Quantity
from schedctl.api.pods import ResourceList
from schedctl.api.quantities import parse
from schedctl.api.resources import CPU, MEMORY, allocatable
from schedctl.autoscaling import requirements as rules
from schedctl.autoscaling.groups import Autoscaler, NodeGroup, NodeTemplate, TemplateField
from schedctl.autoscaling.instance_types import LABELS, Catalogue, InstanceType
from schedctl.autoscaling.templates import in_zone, node_of, templates_like, with_labels, with_taints
from schedctl.cache.cluster import Cluster
from schedctl.reports import counts

_MOST_CHOICES = 12
_replace = msgspec.structs.replace


class _Pool(msgspec.Struct, frozen=True):
    """A NodePool with what its nodes have in common."""

    object: NodePool
    requirements: Sequence[Requirement]
    labels: Mapping[str, str]

    @property
    def origin(self) -> str:
        return f"NodePool {self.object.metadata.name}"


def groups(cluster: Cluster, catalogue: Catalogue) -> Iterator[NodeGroup]:
    """Yield the group of each NodePool.

    Args:
        cluster: with the pools, their nodes and claims.
        catalogue: the instance types there are; without any a pool can only have more of those that it has.
    """
    members: dict[str, list[str]] = {}
    for name in cluster.node_table.row_of:
        pool = (node_of(cluster, name).metadata.labels or {}).get(node_labels.KARPENTER_POOL)
        if pool is not None:
            members.setdefault(pool, []).append(name)
    for _, node_pool in sorted(cluster.every(NodePool).items()):
        yield _group(cluster, node_pool, sorted(members.get(node_pool.metadata.name, ())), catalogue)


def _group(cluster: Cluster, node_pool: NodePool, nodes: Sequence[str], catalogue: Catalogue) -> NodeGroup:
    name, spec = node_pool.metadata.name, node_pool.spec
    written = spec.template.spec.requirements or []
    labels = {**(spec.template.metadata.labels or {}), node_labels.KARPENTER_POOL: name}
    pool = _Pool(node_pool, written, {**labels, **rules.labels_of(written)})
    notes = [f"operator {each} of its requirements is unknown" for each in rules.unknown_operators(written)]
    if catalogue:
        templates = list(_of_catalogue(cluster, pool, catalogue))
        notes += _unjudged(pool, catalogue)
        if not templates:
            notes.append(f"no instance type of {catalogue.source} meets its requirements")
    else:
        templates = list(_like_nodes(cluster, pool, nodes))
        if not nodes:
            notes.append(
                "it has no node and no instance types are known, so that nothing says what a new node is like; "
                "`--instance-types FILE` does"
            )
        elif not templates:
            unmet = _unmet(cluster, pool, nodes)
            notes.append(f"none of its nodes meets {unmet} any more, so that nothing says what a new one is like")
    templates = [with_taints(each, spec.template.spec.taints, pool.origin) for each in templates]
    choices, left_out = _choices(pool)
    notes += left_out
    templates = [with_labels(each, labels, pool.origin) for each in templates for labels in choices]
    notes += _pending_claims(cluster, name)
    if node_pool.metadata.deletion_timestamp is not None:
        templates, notes = [], [*notes, "it is being deleted"]
    return NodeGroup(
        name,
        f"Karpenter {pool.origin}",
        Autoscaler.KARPENTER,
        tuple(templates),
        tuple(nodes),
        max_size=spec.replicas,
        limits=dict(allocatable(spec.limits)),
        used=_used(cluster, node_pool, nodes),
        priority=spec.weight or 0,
        startup_taints=tuple(spec.template.spec.startup_taints or ()),
        disruption=_disruption(node_pool),
        notes=tuple(notes),
    )


def _like_nodes(cluster: Cluster, pool: _Pool, nodes: Sequence[str]) -> Iterator[NodeTemplate]:
    """Yield templates like the nodes that a pool has, in each zone that its requirements list."""
    name = pool.object.metadata.name
    found = [
        each
        for each in templates_like(cluster, nodes, name)
        if all(rules.allows(rule, _labels(each)) for rule in _of_types(pool.requirements))
    ]
    allowed = rules.values_of(pool.requirements, topology.ZONE)
    if allowed is None:
        yield from (with_labels(each, pool.labels, pool.origin) for each in found)
        return
    models: dict[tuple[str, bool], dict[str, NodeTemplate]] = {}
    for each in found:
        models.setdefault((each.instance_type, each.spot), {})[each.zone] = each
    for by_zone in models.values():
        first = next(iter(by_zone.values()))
        for zone in allowed:
            yield with_labels(by_zone.get(zone) or in_zone(first, zone), pool.labels, pool.origin)


def _unmet(cluster: Cluster, pool: _Pool, nodes: Sequence[str]) -> str:
    """Return the requirement that no node of a pool meets, in words; of several the first."""
    labels = [_labels(each) for each in templates_like(cluster, nodes, pool.object.metadata.name)]
    for rule in _of_types(pool.requirements):
        if not any(rules.allows(rule, each) for each in labels):
            values = f" {', '.join(rule.values)}" if rule.values else ""
            return f"its requirement {rule.key} {rule.operator}{values}"
    return "all of its requirements at once"


def _of_types(requirements: Sequence[Requirement]) -> list[Requirement]:
    """Return the requirements that a node like another one meets or not; zones and new labels it gets from the pool."""
    keys = (
        node_labels.INSTANCE_TYPE,
        node_labels.ARCHITECTURE,
        node_labels.OPERATING_SYSTEM,
        node_labels.CAPACITY_TYPE,
    )
    return [
        each
        for each in requirements
        if rules.current_key(each.key) in keys or each.key.startswith("karpenter.k8s.aws/instance-")
    ]


def _labels(template: NodeTemplate) -> dict[str, str]:
    labels = dict(template.node.metadata.labels or {})
    return {rules.current_key(key): value for key, value in labels.items()} | labels


def _of_catalogue(cluster: Cluster, pool: _Pool, catalogue: Catalogue) -> Iterator[NodeTemplate]:
    """Yield templates of the instance types that meet the requirements of a pool."""
    name = pool.object.metadata.name
    like = {
        each.instance_type: each
        for each in templates_like(cluster, [*cluster.node_table.row_of], name)
        if each.instance_type
    }
    for instance_type in catalogue.types.values():
        # a label of the pool's own says nothing of types: its nodes get it
        if not all(rules.allows(rule, instance_type.labels) for rule in pool.requirements if _is_of_types(rule)):
            continue
        zones = _zones_of(cluster, pool, instance_type)
        for spot in sorted({each.spot for each in instance_type.offerings}):
            capacity = {node_labels.CAPACITY_TYPE: node_labels.SPOT if spot else node_labels.ON_DEMAND}
            if not all(
                rules.allows(each, capacity) for each in rules.about(pool.requirements, node_labels.CAPACITY_TYPE)
            ):
                continue
            for zone in zones:
                if instance_type.is_offered(zone, spot=spot):
                    template = _of_type(cluster, pool, instance_type, zone, spot, like.get(instance_type.name))
                    yield with_labels(template, {**pool.labels, **capacity}, pool.origin)


def _zones_of(cluster: Cluster, pool: _Pool, instance_type: InstanceType) -> list[str]:
    """Return the zones in which a pool may have a type: those of its subnets, else of the type, else of the nodes."""
    reference = pool.object.spec.template.spec.node_class_ref
    node_class = cluster.get(EC2NodeClass, reference.name) if reference is not None else None
    subnets = (node_class.status.subnets if node_class is not None else None) or ()
    listed = rules.values_of(pool.requirements, topology.ZONE) or []
    found = sorted({each.zone for each in subnets}) or list(instance_type.zones) or listed or _known_zones(cluster)
    about = rules.about(pool.requirements, topology.ZONE)
    return [zone for zone in found if all(rules.allows(rule, {topology.ZONE: zone}) for rule in about)] or (
        [] if found else [""]
    )


def _is_of_types(rule: Requirement) -> bool:
    """Return whether a requirement is about what a catalogue says of types; zones and prices are judged by offering."""
    return rules.current_key(rule.key) in LABELS


def _unjudged(pool: _Pool, catalogue: Catalogue) -> list[str]:
    """Say which requirements are about what a catalogue does not tell of its types."""
    keys = dict.fromkeys(rules.current_key(each.key) for each in pool.requirements)
    return [
        f"its requirement of {key} would not be considered: {catalogue.source} does not say it of types"
        for key in keys
        if key.startswith(rules.PROVIDERS) and key not in LABELS
    ]


def _choices(pool: _Pool) -> tuple[list[dict[str, str]], list[str]]:
    """Return the labels that a new node may get by requirements with several values, and what is left out of that."""
    choices = rules.choices_of(pool.requirements)
    found = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    notes = []
    if len(found) > _MOST_CHOICES:
        notes.append(f"of {len(found)} combinations of its labels {', '.join(choices)} only {_MOST_CHOICES} are tried")
    return found[:_MOST_CHOICES], notes


def _of_type(
    cluster: Cluster, pool: _Pool, instance_type: InstanceType, zone: str, spot: bool, like: NodeTemplate | None
) -> NodeTemplate:
    """Return a template of an instance type; what pods get of it is that of a like node, else less what is reserved."""
    template = instance_type.template(pool.object.metadata.name, zone, spot=spot)
    if like is not None:
        offered, origin = like.node.status.allocatable or {}, f"node {like.like}"
        template = replace(template, like=like.like)
    else:
        offered, origin = _less_reserved(cluster, pool, template)
    status = _replace(template.node.status, allocatable=offered)
    fields = tuple(
        TemplateField("allocatable", origin) if each.name == "allocatable" else each for each in template.fields
    )
    return replace(template, node=_replace(template.node, status=status), fields=fields)


def _less_reserved(cluster: Cluster, pool: _Pool, template: NodeTemplate) -> tuple[ResourceList, str]:
    """Return what is left of an instance type when the kubelet has its share, and where that is from."""
    offered: dict[str, Quantity] = {
        name: str(amount) for name, amount in (template.node.status.allocatable or {}).items()
    }
    reference = pool.object.spec.template.spec.node_class_ref
    node_class = cluster.get(EC2NodeClass, reference.name) if reference is not None else None
    kubelet = node_class.spec.kubelet if node_class is not None else None
    origin = f"instance type {template.instance_type}"
    if node_class is None or kubelet is None:
        return offered, f"{origin}, nothing reserved: no node of that type and no reservation is known"
    evicted = {MEMORY: (kubelet.eviction_hard or {}).get("memory.available", "0")}
    for name in (CPU, MEMORY):
        left = parse(offered[name])
        for reserved in (kubelet.system_reserved, kubelet.kube_reserved, evicted):
            amount = str((reserved or {}).get(name, "0"))
            left = left.minus(parse("0" if amount.endswith("%") else amount))
        offered[name] = f"{left.milli_value}m" if name == CPU else str(left.value)
    pods = [parse(offered["pods"]).value] + [each for each in (kubelet.max_pods,) if each is not None]
    offered["pods"] = str(pods[-1])
    return offered, f"{origin}, less what EC2NodeClass {node_class.metadata.name} reserves"


def _known_zones(cluster: Cluster) -> list[str]:
    zones = {topology.zone_of(node_of(cluster, name).metadata.labels) for name in cluster.node_table.row_of}
    return sorted(zones - {""})


def _used(cluster: Cluster, node_pool: NodePool, nodes: Sequence[str]) -> dict[str, int]:
    """Return what the nodes of a pool have together, which its limits are about."""
    if node_pool.status.resources:
        return dict(allocatable(node_pool.status.resources))
    used: dict[str, int] = {}
    for name in nodes:
        status = node_of(cluster, name).status
        for resource, amount in allocatable(status.capacity or status.allocatable).items():
            used[resource] = used.get(resource, 0) + amount
    return used | {"nodes": len(nodes)}


def _pending_claims(cluster: Cluster, pool: str) -> list[str]:
    """Say that nodes are on their way, which no answer counts."""
    waiting = [
        claim
        for claim in cluster.every(NodeClaim).values()
        if (claim.metadata.labels or {}).get(node_labels.KARPENTER_POOL) == pool
        and claim.status.node_name not in cluster.node_table.row_of
    ]
    if not waiting:
        return []
    have = "has" if len(waiting) == 1 else "have"
    return [f"{counts.of(len(waiting), 'NodeClaim')} of it {have} no node yet and would not be counted"]


def _disruption(node_pool: NodePool) -> str:
    """Return why no node of a pool is consolidated, "" where some may be."""
    disruption = node_pool.spec.disruption
    for budget in disruption.budgets or ():
        is_about = not budget.reasons or "Underutilized" in budget.reasons
        if is_about and budget.schedule is None and str(budget.nodes) in ("0", "0%"):
            return f"the disruption budget of NodePool {node_pool.metadata.name} allows no node"
    if disruption.consolidate_after == "Never":
        return f"NodePool {node_pool.metadata.name} has consolidateAfter: Never"
    return ""


def only_empty(node_pool: NodePool) -> bool:
    """Return whether only nodes of a pool without pods are consolidated."""
    return node_pool.spec.disruption.consolidation_policy == "WhenEmpty"
