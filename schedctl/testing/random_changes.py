"""Random changes: what can happen to a cluster between two attempts, each a function of a world and of chance.

Each returns what it did in a few words, "" where there was nothing to do it to. Whatever can be is taken from what is
there already, so that changes concern what pods ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeVar

import msgspec

from schedctl.api.meta import LabelSelector, Namespace, ObjectMeta, key_of
from schedctl.api.nodes import Node, Taint
from schedctl.api.workloads import ReplicaSet, Service, ServiceSpec, WorkloadSpec
from schedctl.cache.pod_info import PodInfo
from schedctl.testing.builders import HOSTNAME, ZONE
from schedctl.testing.side_by_side import OBJECT_KINDS
from schedctl.testing.worlds import World

Upheaval = Callable[[World, Random], str]
T = TypeVar("T")
replace = msgspec.structs.replace
LONG_AGO = "2026-01-01T00:00:00Z"


# -- pods ------------------------------------------------------------------------


def _pod_runs(world: World, random: Random) -> str:
    if not _names(world):
        return ""
    pod = world.twin(random.choice(world.templates), node_name=random.choice(_names(world)))
    world.cluster.add_pod(pod)
    return f"{pod.key} runs on {pod.pod.spec.node_name}"


def _pods_run_at_once(world: World, random: Random) -> str:
    """The log of changes begins anew."""
    if not _names(world):
        return ""
    pods = [world.twin(random.choice(world.templates), node_name=random.choice(_names(world))) for _ in range(3)]
    world.cluster.add_pods(pods)
    return "together " + ", ".join(f"{pod.key} runs on {pod.pod.spec.node_name}" for pod in pods)


def _pod_strays(world: World, random: Random) -> str:
    pod = world.twin(random.choice(world.templates), node_name=random.choice(("ghost", *_dead(world))))
    if pod.pod.spec.node_name in world.cluster.node_table.row_of:
        return ""
    world.cluster.add_pod(pod)
    return f"{pod.key} is said to run on {pod.pod.spec.node_name}, which is not there"


def _pod_waits(world: World, random: Random) -> str:
    pod = world.twin(random.choice(world.templates))
    world.cluster.add_pod(pod)
    return f"{pod.key} waits"


def _pod_is_assumed(world: World, random: Random) -> str:
    if not _names(world):
        return ""
    waiting = [pod for pod in world.cluster.pending.values() if not pod.is_terminating]
    pod, name = random.choice(waiting or [world.twin(random.choice(world.templates))]), random.choice(_names(world))
    world.cluster.assume(pod, name)
    return f"{pod.key} is assumed on {name}"


def _pod_is_forgotten(world: World, random: Random) -> str:
    pod = _any([pod for pod in _running_pods(world) if not pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    world.cluster.forget(pod)
    return f"{pod.key} is forgotten"


def _pod_goes(world: World, random: Random) -> str:
    pod = _any(_running_pods(world), random)
    if pod is None:
        return ""
    world.cluster.remove_pod(pod)
    return f"{pod.key} goes"


def _waiting_pod_goes(world: World, random: Random) -> str:
    pod = _any([*world.cluster.pending.values(), *world.cluster.strays.values()], random)
    if pod is None:
        return ""
    world.cluster.remove_pod(pod)
    return f"{pod.key}, which ran nowhere, goes"


def _node_is_drained(world: World, random: Random) -> str:
    name = _any(_names(world), random)
    if name is None:
        return ""
    for pod in world.cluster.pod_table.on(world.cluster.node_table.row_of[name]):
        world.cluster.remove_pod(pod)
    return f"all pods of {name} go"


def _pod_is_terminating(world: World, random: Random) -> str:
    pod = _any([pod for pod in _running_pods(world) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    metadata = replace(pod.pod.metadata, deletion_timestamp=None if pod.is_terminating else LONG_AGO)
    _instead(world, pod, PodInfo(replace(pod.pod, metadata=metadata)))
    return f"{pod.key} is {'staying after all' if pod.is_terminating else 'on its way out'}"


def _pod_is_relabelled(world: World, random: Random) -> str:
    pod = _any([pod for pod in _running_pods(world) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    labels = random.choice(world.templates).pod.metadata.labels
    _instead(world, pod, PodInfo(replace(pod.pod, metadata=replace(pod.pod.metadata, labels=labels))))
    return f"{pod.key} is relabelled {labels}"


def _pod_is_nominated(world: World, random: Random) -> str:
    name = _any(_names(world), random)
    if name is None:
        return ""
    known = list(world.cluster.pending.values())
    pod = random.choice(known or [world.twin(random.choice(world.templates), priority=random.choice((0, 10, 10_000)))])
    world.scheduler.nominator.nominate(pod, name)
    return f"{pod.key} of priority {pod.priority} is promised {name}"


def _nominations_are_withdrawn(world: World, random: Random) -> str:
    nominator = world.scheduler.nominator
    promised = [pod for name in nominator for pod in nominator.pods(name)]
    withdrawn = promised if random.random() < 0.7 else promised[:1]
    for pod in withdrawn:
        nominator.withdraw(pod)
    return " and ".join(pod.key for pod in withdrawn) + " are promised nothing any more" if withdrawn else ""


# -- nodes -----------------------------------------------------------------------


def _node_comes(world: World, random: Random) -> str:
    like = _any(_nodes(world), random)
    if like is None:
        return ""
    name = world.name("node")
    labels = {**(like.metadata.labels or {}), HOSTNAME: name}
    world.cluster.add_node(replace(like, metadata=replace(like.metadata, name=name, labels=labels)))
    return f"{name} comes, like {like.metadata.name}"


def _node_comes_back(world: World, random: Random) -> str:
    name = _any(_dead(world), random)
    if name is None or name in world.cluster.node_table.row_of:
        return ""
    table = world.cluster.node_table
    world.cluster.add_node(next(node for node in reversed(table.objects) if node.metadata.name == name))
    return f"{name} comes back"


def _node_goes(world: World, random: Random) -> str:
    name = _any(_names(world), random)
    if name is None:
        return ""
    stay = random.random() < 0.5
    for pod in world.cluster.remove_node(name):
        if stay:
            world.cluster.add_pod(pod)
    return f"{name} goes, its pods {'stay' if stay else 'with it'}"


def _node_is_cordoned(world: World, random: Random) -> str:
    return _node_changes(world, random, _cordon)


def _node_is_relabelled(world: World, random: Random) -> str:
    return _node_changes(world, random, _relabel)


def _node_is_retainted(world: World, random: Random) -> str:
    return _node_changes(world, random, _retaint)


def _node_is_resized(world: World, random: Random) -> str:
    return _node_changes(world, random, _resize)


def _node_is_like_another(world: World, random: Random) -> str:
    return _node_changes(world, random, _like_another)


def _node_is_told_of_again(world: World, random: Random) -> str:
    return _node_changes(world, random, lambda _, node, __: node)


def _node_changes(world: World, random: Random, change: Callable[[World, Node, Random], Node]) -> str:
    before = _any(_nodes(world), random)
    if before is None:
        return ""
    after = change(world, before, random)
    world.cluster.add_node(after)
    differences = [
        f"{name} {new}"
        for part in ("metadata", "spec", "status")
        for name in getattr(after, part).__struct_fields__
        if (new := getattr(getattr(after, part), name)) != getattr(getattr(before, part), name)
    ]
    return f"{before.metadata.name} has " + ("nothing new" if not differences else "now " + ", ".join(differences))


def _cordon(_: World, node: Node, __: Random) -> Node:
    return replace(node, spec=replace(node.spec, unschedulable=not node.spec.unschedulable))


def _relabel(world: World, node: Node, random: Random) -> Node:
    labels = dict(node.metadata.labels or {})
    key = random.choice((ZONE, ZONE, HOSTNAME, *(random.choice(_nodes(world)).metadata.labels or ())))
    value = random.choice((None, "new", *(other.metadata.labels or {} for other in _nodes(world))))
    if isinstance(value, dict):
        value = value.get(key)
    labels.pop(key, None)
    if value is not None:
        labels[key] = value
    return replace(node, metadata=replace(node.metadata, labels=labels))


def _retaint(world: World, node: Node, random: Random) -> Node:
    theirs = random.choice(_nodes(world)).spec.taints or []
    tolerations = [t for pod in world.templates for t in pod.pod.spec.tolerations or () if t.key]
    key = random.choice(tolerations).key if tolerations else "odd"
    effect = random.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
    taints = random.choice(([], theirs, [Taint(key=key, value="y", effect=effect)], [Taint(key="odd", effect=effect)]))
    return replace(node, spec=replace(node.spec, taints=list(taints)))


def _resize(world: World, node: Node, random: Random) -> Node:
    offered = dict(node.status.allocatable or {})
    theirs = dict(random.choice(_nodes(world)).status.allocatable or {})
    name = random.choice(sorted({*offered, *theirs}) or ["cpu"])
    offered.pop(name, None)
    if name in theirs and random.random() < 0.8:
        offered[name] = theirs[name]
    elif random.random() < 0.5:
        offered[name] = "1"
    return replace(node, status=replace(node.status, allocatable=offered))


def _like_another(world: World, node: Node, random: Random) -> Node:
    other = random.choice(_nodes(world))
    part = random.choice(("spec", "status", "images", "images", "declared_features"))
    if part in ("spec", "status"):
        return replace(node, **{part: getattr(other, part)})
    value = None if random.random() < 0.2 else getattr(other.status, part)
    return replace(node, status=replace(node.status, **{part: value}))


# -- other objects ---------------------------------------------------------------


def _object_goes(world: World, random: Random) -> str:
    obj = _any_object(world, random)
    if obj is None:
        return ""
    world.cluster.delete(obj)
    world.gone.append(obj)
    return f"{_label(obj)} goes"


def _object_comes_back(world: World, random: Random) -> str:
    obj = _any(world.gone, random)
    if obj is None:
        return ""
    world.cluster.put(obj)
    return f"{_label(obj)} comes back"


def _object_is_like_another(world: World, random: Random) -> str:
    obj = _any_object(world, random)
    if obj is None:
        return ""
    other = random.choice(list(world.cluster.every(type(obj)).values()))
    part = random.choice([name for name in obj.__struct_fields__ if name != "metadata"] or ["metadata"])
    if part == "metadata" or random.random() < 0.2:
        now = replace(obj, metadata=replace(obj.metadata, labels=other.metadata.labels))
        part = "labels"
    else:
        now = replace(obj, **{part: getattr(other, part)})
    world.cluster.put(now)
    return f"{_label(obj)} has now the {part} of {key_of(other)}"


def _namespace_changes(world: World, random: Random) -> str:
    name = random.choice(world.templates).namespace
    labels = random.choice((None, {"team": "a"}, {"team": "b"}))
    namespace = Namespace(metadata=ObjectMeta(name=name, labels=labels))
    before = world.cluster.get(Namespace, name)
    if random.random() < 0.2 and before is not None:
        world.cluster.delete(before)
        return f"Namespace {name} goes"
    world.cluster.put(namespace)
    return f"Namespace {name} is labelled {labels}"


def _pods_are_grouped(world: World, random: Random) -> str:
    """Spreading by default begins, ends, or is over other pods."""
    pod, labels = (random.choice(world.templates) for _ in range(2))
    selector = {key: value for key, value in labels.labels.items() if random.random() < 0.7}
    owner = next((owner for owner in pod.pod.metadata.owner_references or () if owner.kind == "ReplicaSet"), None)
    made: Service | ReplicaSet
    if owner is not None and random.random() < 0.5:
        metadata = ObjectMeta(name=owner.name, namespace=pod.namespace)
        made = ReplicaSet(metadata=metadata, spec=WorkloadSpec(selector=LabelSelector(match_labels=selector)))
    else:
        made = Service(metadata=ObjectMeta(name="all", namespace=pod.namespace), spec=ServiceSpec(selector=selector))
    before = world.cluster.get(type(made), key_of(made))
    if random.random() < 0.3 and before is not None:
        world.cluster.delete(before)
        return f"{_label(made)} goes"
    world.cluster.put(made)
    return f"{_label(made)} selects {selector}"


# -- what there is to choose from --------------------------------------------------


def _any(choices: list[T], random: Random) -> T | None:
    return random.choice(choices) if choices else None


def _names(world: World) -> list[str]:
    return world.cluster.nodes_by_name.names


def _nodes(world: World) -> list[Node]:
    table = world.cluster.node_table
    return [table.objects[row] for row in world.cluster.nodes_by_name.rows.tolist()]


def _dead(world: World) -> list[str]:
    table = world.cluster.node_table
    return sorted(name for row, name in enumerate(table.names) if not table.alive[row] and name not in table.row_of)


def _running_pods(world: World) -> list[PodInfo]:
    return sorted(world.cluster.pod_table, key=lambda pod: pod.key)


def _any_object(world: World, random: Random) -> Any:
    """An object of any kind there is, kinds of few objects as often as kinds of many."""
    kinds = [kind for kind in OBJECT_KINDS if world.cluster.every(kind)]
    if not kinds:
        return None
    every: Mapping[str, Any] = world.cluster.every(random.choice(kinds))
    return every[random.choice(sorted(every))]


def _instead(world: World, before: PodInfo, after: PodInfo) -> None:
    world.cluster.remove_pod(before)
    world.cluster.add_pod(after)


def _label(obj: Any) -> str:
    return f"{type(obj).__name__} {key_of(obj)}"


UPHEAVALS: tuple[tuple[int, Upheaval], ...] = (
    (4, _pod_runs),
    (1, _pods_run_at_once),
    (1, _pod_strays),
    (2, _pod_waits),
    (6, _pod_is_assumed),
    (3, _pod_is_forgotten),
    (6, _pod_goes),
    (1, _waiting_pod_goes),
    (1, _node_is_drained),
    (2, _pod_is_terminating),
    (2, _pod_is_relabelled),
    (1, _pod_is_nominated),
    (4, _nominations_are_withdrawn),
    (2, _node_comes),
    (2, _node_comes_back),
    (1, _node_goes),
    (2, _node_is_cordoned),
    (6, _node_is_relabelled),
    (3, _node_is_retainted),
    (3, _node_is_resized),
    (3, _node_is_like_another),
    (1, _node_is_told_of_again),
    (1, _object_goes),
    (1, _object_comes_back),
    (3, _object_is_like_another),
    (2, _namespace_changes),
    (3, _pods_are_grouped),
)
"""What can happen, and how often beside the others."""


def upheaval(world: World, random: Random) -> str:
    """Let one thing happen to a world and return what it was, "" where it could not."""
    (happening,) = random.choices([each for _, each in UPHEAVALS], [weight for weight, _ in UPHEAVALS])
    return happening(world, random)
