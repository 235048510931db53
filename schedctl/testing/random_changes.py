"""Random changes: what can happen to a cluster between two attempts, each a function of a sandbox and of chance.

Each returns what it did in a few words, "" where there was nothing to do it to. Whatever can be is taken from what is
there already, so that changes concern what pods ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any, TypeVar

import msgspec

from schedctl.api.meta import LabelSelector, Namespace, ObjectMeta, key_of
from schedctl.api.nodes import Node, Taint
from schedctl.api.workloads import ReplicaSet, Service, ServiceSpec, WorkloadSpec
from schedctl.cache.pod_info import PodInfo
from schedctl.testing.builders import HOSTNAME, ZONE
from schedctl.testing.sandboxes import Sandbox
from schedctl.testing.side_by_side import OBJECT_KINDS

RandomChange = Callable[[Sandbox, Random], str]
T = TypeVar("T")
replace = msgspec.structs.replace
LONG_AGO = "2026-01-01T00:00:00Z"


# -- pods ------------------------------------------------------------------------


def _run_pod(sandbox: Sandbox, random: Random) -> str:
    if not _names(sandbox):
        return ""
    pod = sandbox.twin(random.choice(sandbox.templates), node_name=random.choice(_names(sandbox)))
    sandbox.cluster.add_pod(pod)
    return f"{pod.key} runs on {pod.pod.spec.node_name}"


def _run_pods_at_once(sandbox: Sandbox, random: Random) -> str:
    """The log of changes begins anew."""
    if not _names(sandbox):
        return ""
    pods = [sandbox.twin(random.choice(sandbox.templates), node_name=random.choice(_names(sandbox))) for _ in range(3)]
    sandbox.cluster.add_pods(pods)
    return "together " + ", ".join(f"{pod.key} runs on {pod.pod.spec.node_name}" for pod in pods)


def _add_stray_pod(sandbox: Sandbox, random: Random) -> str:
    pod = sandbox.twin(random.choice(sandbox.templates), node_name=random.choice(("ghost", *_dead(sandbox))))
    if pod.pod.spec.node_name in sandbox.cluster.node_table.row_of:
        return ""
    sandbox.cluster.add_pod(pod)
    return f"{pod.key} names node {pod.pod.spec.node_name}, which does not exist"


def _add_pending_pod(sandbox: Sandbox, random: Random) -> str:
    pod = sandbox.twin(random.choice(sandbox.templates))
    sandbox.cluster.add_pod(pod)
    return f"{pod.key} waits"


def _assume_pod(sandbox: Sandbox, random: Random) -> str:
    if not _names(sandbox):
        return ""
    waiting = [pod for pod in sandbox.cluster.pending.values() if not pod.is_terminating]
    pod, name = (
        random.choice(waiting or [sandbox.twin(random.choice(sandbox.templates))]),
        random.choice(_names(sandbox)),
    )
    sandbox.cluster.assume(pod, name)
    return f"{pod.key} is assumed on {name}"


def _forget_pod(sandbox: Sandbox, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(sandbox) if not pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    sandbox.cluster.forget(pod)
    return f"{pod.key} is forgotten"


def _remove_running_pod(sandbox: Sandbox, random: Random) -> str:
    pod = _choose(_running_pods(sandbox), random)
    if pod is None:
        return ""
    sandbox.cluster.remove_pod(pod)
    return f"{pod.key} goes"


def _remove_waiting_pod(sandbox: Sandbox, random: Random) -> str:
    pod = _choose([*sandbox.cluster.pending.values(), *sandbox.cluster.strays.values()], random)
    if pod is None:
        return ""
    sandbox.cluster.remove_pod(pod)
    return f"{pod.key}, which ran nowhere, goes"


def _drain_node(sandbox: Sandbox, random: Random) -> str:
    name = _choose(_names(sandbox), random)
    if name is None:
        return ""
    for pod in sandbox.cluster.pod_table.on(sandbox.cluster.node_table.row_of[name]):
        sandbox.cluster.remove_pod(pod)
    return f"all pods of {name} go"


def _toggle_termination(sandbox: Sandbox, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(sandbox) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    metadata = replace(pod.pod.metadata, deletion_timestamp=None if pod.is_terminating else LONG_AGO)
    _replace_pod(sandbox, pod, PodInfo(replace(pod.pod, metadata=metadata)))
    return f"{pod.key} is {'staying after all' if pod.is_terminating else 'on its way out'}"


def _relabel_pod(sandbox: Sandbox, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(sandbox) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    labels = random.choice(sandbox.templates).pod.metadata.labels
    _replace_pod(sandbox, pod, PodInfo(replace(pod.pod, metadata=replace(pod.pod.metadata, labels=labels))))
    return f"{pod.key} is relabelled {labels}"


def _nominate_pod(sandbox: Sandbox, random: Random) -> str:
    name = _choose(_names(sandbox), random)
    if name is None:
        return ""
    known = list(sandbox.cluster.pending.values())
    pod = random.choice(
        known or [sandbox.twin(random.choice(sandbox.templates), priority=random.choice((0, 10, 10_000)))]
    )
    sandbox.scheduler.nominator.nominate(pod, name)
    return f"{pod.key} of priority {pod.priority} is promised {name}"


def _withdraw_nominations(sandbox: Sandbox, random: Random) -> str:
    nominator = sandbox.scheduler.nominator
    promised = [pod for name in nominator for pod in nominator.pods(name)]
    withdrawn = promised if random.random() < 0.7 else promised[:1]
    for pod in withdrawn:
        nominator.withdraw(pod)
    return " and ".join(pod.key for pod in withdrawn) + " are promised nothing any more" if withdrawn else ""


# -- nodes -----------------------------------------------------------------------


def _add_node(sandbox: Sandbox, random: Random) -> str:
    like = _choose(_nodes(sandbox), random)
    if like is None:
        return ""
    name = sandbox.name("node")
    labels = {**(like.metadata.labels or {}), HOSTNAME: name}
    sandbox.cluster.add_node(replace(like, metadata=replace(like.metadata, name=name, labels=labels)))
    return f"{name} comes, like {like.metadata.name}"


def _add_node_again(sandbox: Sandbox, random: Random) -> str:
    name = _choose(_dead(sandbox), random)
    if name is None or name in sandbox.cluster.node_table.row_of:
        return ""
    table = sandbox.cluster.node_table
    sandbox.cluster.add_node(next(node for node in reversed(table.objects) if node.metadata.name == name))
    return f"{name} comes back"


def _remove_node(sandbox: Sandbox, random: Random) -> str:
    name = _choose(_names(sandbox), random)
    if name is None:
        return ""
    stay = random.random() < 0.5
    for pod in sandbox.cluster.remove_node(name):
        if stay:
            sandbox.cluster.add_pod(pod)
    return f"{name} goes, its pods {'stay' if stay else 'with it'}"


def _edit_node(edit: Callable[[Sandbox, Node, Random], Node], sandbox: Sandbox, random: Random) -> str:
    before = _choose(_nodes(sandbox), random)
    if before is None:
        return ""
    after = edit(sandbox, before, random)
    sandbox.cluster.add_node(after)
    differences = [
        f"{name} {new}"
        for part in ("metadata", "spec", "status")
        for name in getattr(after, part).__struct_fields__
        if (new := getattr(getattr(after, part), name)) != getattr(getattr(before, part), name)
    ]
    return f"{before.metadata.name} has " + ("nothing new" if not differences else "now " + ", ".join(differences))


def _leave_as_it_is(_: Sandbox, node: Node, __: Random) -> Node:
    return node


def _toggle_cordon(_: Sandbox, node: Node, __: Random) -> Node:
    return replace(node, spec=replace(node.spec, unschedulable=not node.spec.unschedulable))


def _relabel(sandbox: Sandbox, node: Node, random: Random) -> Node:
    labels = dict(node.metadata.labels or {})
    key = random.choice((ZONE, ZONE, HOSTNAME, *(random.choice(_nodes(sandbox)).metadata.labels or ())))
    value = random.choice((None, "new", *(other.metadata.labels or {} for other in _nodes(sandbox))))
    if isinstance(value, dict):
        value = value.get(key)
    labels.pop(key, None)
    if value is not None:
        labels[key] = value
    return replace(node, metadata=replace(node.metadata, labels=labels))


def _retaint(sandbox: Sandbox, node: Node, random: Random) -> Node:
    theirs = random.choice(_nodes(sandbox)).spec.taints or []
    tolerations = [t for pod in sandbox.templates for t in pod.pod.spec.tolerations or () if t.key]
    key = random.choice(tolerations).key if tolerations else "odd"
    effect = random.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
    taints = random.choice(([], theirs, [Taint(key=key, value="y", effect=effect)], [Taint(key="odd", effect=effect)]))
    return replace(node, spec=replace(node.spec, taints=list(taints)))


def _resize(sandbox: Sandbox, node: Node, random: Random) -> Node:
    offered = dict(node.status.allocatable or {})
    theirs = dict(random.choice(_nodes(sandbox)).status.allocatable or {})
    name = random.choice(sorted({*offered, *theirs}) or ["cpu"])
    offered.pop(name, None)
    if name in theirs and random.random() < 0.8:
        offered[name] = theirs[name]
    elif random.random() < 0.5:
        offered[name] = "1"
    return replace(node, status=replace(node.status, allocatable=offered))


def _copy_node_part(sandbox: Sandbox, node: Node, random: Random) -> Node:
    other = random.choice(_nodes(sandbox))
    part = random.choice(("spec", "status", "images", "images", "declared_features"))
    if part in ("spec", "status"):
        return replace(node, **{part: getattr(other, part)})
    value = None if random.random() < 0.2 else getattr(other.status, part)
    return replace(node, status=replace(node.status, **{part: value}))


# -- other objects ---------------------------------------------------------------


def _delete_object(sandbox: Sandbox, random: Random) -> str:
    obj = _any_object(sandbox, random)
    if obj is None:
        return ""
    sandbox.cluster.delete(obj)
    sandbox.gone.append(obj)
    return f"{_label(obj)} goes"


def _restore_object(sandbox: Sandbox, random: Random) -> str:
    obj = _choose(sandbox.gone, random)
    if obj is None:
        return ""
    sandbox.cluster.put(obj)
    return f"{_label(obj)} comes back"


def _copy_object_part(sandbox: Sandbox, random: Random) -> str:
    obj = _any_object(sandbox, random)
    if obj is None:
        return ""
    other = random.choice(list(sandbox.cluster.every(type(obj)).values()))
    part = random.choice([name for name in obj.__struct_fields__ if name != "metadata"] or ["metadata"])
    if part == "metadata" or random.random() < 0.2:
        now = replace(obj, metadata=replace(obj.metadata, labels=other.metadata.labels))
        part = "labels"
    else:
        now = replace(obj, **{part: getattr(other, part)})
    sandbox.cluster.put(now)
    return f"{_label(obj)} has now the {part} of {key_of(other)}"


def _change_namespace(sandbox: Sandbox, random: Random) -> str:
    name = random.choice(sandbox.templates).namespace
    labels = random.choice((None, {"team": "a"}, {"team": "b"}))
    namespace = Namespace(metadata=ObjectMeta(name=name, labels=labels))
    before = sandbox.cluster.get(Namespace, name)
    if random.random() < 0.2 and before is not None:
        sandbox.cluster.delete(before)
        return f"Namespace {name} goes"
    sandbox.cluster.put(namespace)
    return f"Namespace {name} is labelled {labels}"


def _group_pods(sandbox: Sandbox, random: Random) -> str:
    """Spreading by default begins, ends, or is over other pods."""
    pod, labels = (random.choice(sandbox.templates) for _ in range(2))
    selector = {key: value for key, value in labels.labels.items() if random.random() < 0.7}
    owner = next((owner for owner in pod.pod.metadata.owner_references or () if owner.kind == "ReplicaSet"), None)
    made: Service | ReplicaSet
    if owner is not None and random.random() < 0.5:
        metadata = ObjectMeta(name=owner.name, namespace=pod.namespace)
        made = ReplicaSet(metadata=metadata, spec=WorkloadSpec(selector=LabelSelector(match_labels=selector)))
    else:
        made = Service(metadata=ObjectMeta(name="all", namespace=pod.namespace), spec=ServiceSpec(selector=selector))
    before = sandbox.cluster.get(type(made), key_of(made))
    if random.random() < 0.3 and before is not None:
        sandbox.cluster.delete(before)
        return f"{_label(made)} goes"
    sandbox.cluster.put(made)
    return f"{_label(made)} selects {selector}"


# -- what there is to choose from --------------------------------------------------


def _choose(choices: list[T], random: Random) -> T | None:
    return random.choice(choices) if choices else None


def _names(sandbox: Sandbox) -> list[str]:
    return sandbox.cluster.nodes_by_name.names


def _nodes(sandbox: Sandbox) -> list[Node]:
    table = sandbox.cluster.node_table
    return [table.objects[row] for row in sandbox.cluster.nodes_by_name.rows.tolist()]


def _dead(sandbox: Sandbox) -> list[str]:
    table = sandbox.cluster.node_table
    return sorted(name for row, name in enumerate(table.names) if not table.alive[row] and name not in table.row_of)


def _running_pods(sandbox: Sandbox) -> list[PodInfo]:
    return sorted(sandbox.cluster.pod_table, key=lambda pod: pod.key)


def _any_object(sandbox: Sandbox, random: Random) -> Any:
    """An object of any kind there is, kinds of few objects as often as kinds of many."""
    kinds = [kind for kind in OBJECT_KINDS if sandbox.cluster.every(kind)]
    if not kinds:
        return None
    every: Mapping[str, Any] = sandbox.cluster.every(random.choice(kinds))
    return every[random.choice(sorted(every))]


def _replace_pod(sandbox: Sandbox, before: PodInfo, after: PodInfo) -> None:
    sandbox.cluster.remove_pod(before)
    sandbox.cluster.add_pod(after)


def _label(obj: Any) -> str:
    return f"{type(obj).__name__} {key_of(obj)}"


CHANGES: tuple[tuple[int, RandomChange], ...] = (
    (4, _run_pod),
    (1, _run_pods_at_once),
    (1, _add_stray_pod),
    (2, _add_pending_pod),
    (6, _assume_pod),
    (3, _forget_pod),
    (6, _remove_running_pod),
    (1, _remove_waiting_pod),
    (1, _drain_node),
    (2, _toggle_termination),
    (2, _relabel_pod),
    (1, _nominate_pod),
    (4, _withdraw_nominations),
    (2, _add_node),
    (2, _add_node_again),
    (1, _remove_node),
    (2, partial(_edit_node, _toggle_cordon)),
    (6, partial(_edit_node, _relabel)),
    (3, partial(_edit_node, _retaint)),
    (3, partial(_edit_node, _resize)),
    (3, partial(_edit_node, _copy_node_part)),
    (1, partial(_edit_node, _leave_as_it_is)),
    (1, _delete_object),
    (1, _restore_object),
    (3, _copy_object_part),
    (2, _change_namespace),
    (3, _group_pods),
)
"""What can happen, and how often beside the others."""


def make_random_change(sandbox: Sandbox, random: Random) -> str:
    """Let one thing happen to a sandbox and return what it was, "" where it could not."""
    (change,) = random.choices([each for _, each in CHANGES], [weight for weight, _ in CHANGES])
    return change(sandbox, random)
