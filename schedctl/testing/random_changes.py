"""Random changes: what can happen to a cluster between two attempts, each a function of a testbed and of chance.

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
from schedctl.testing.side_by_side import OBJECT_KINDS
from schedctl.testing.testbeds import Testbed

RandomChange = Callable[[Testbed, Random], str]
T = TypeVar("T")
replace = msgspec.structs.replace
LONG_AGO = "2026-01-01T00:00:00Z"


# -- pods ------------------------------------------------------------------------


def _run_pod(testbed: Testbed, random: Random) -> str:
    if not _names(testbed):
        return ""
    pod = testbed.twin(random.choice(testbed.templates), node_name=random.choice(_names(testbed)))
    testbed.cluster.add_pod(pod)
    return f"{pod.key} runs on {pod.pod.spec.node_name}"


def _run_pods_at_once(testbed: Testbed, random: Random) -> str:
    """The log of changes begins anew."""
    if not _names(testbed):
        return ""
    pods = [testbed.twin(random.choice(testbed.templates), node_name=random.choice(_names(testbed))) for _ in range(3)]
    testbed.cluster.add_pods(pods)
    return "together " + ", ".join(f"{pod.key} runs on {pod.pod.spec.node_name}" for pod in pods)


def _add_stray_pod(testbed: Testbed, random: Random) -> str:
    pod = testbed.twin(random.choice(testbed.templates), node_name=random.choice(("ghost", *_dead(testbed))))
    if pod.pod.spec.node_name in testbed.cluster.node_table.row_of:
        return ""
    testbed.cluster.add_pod(pod)
    return f"{pod.key} is said to run on {pod.pod.spec.node_name}, which is not there"


def _add_pending_pod(testbed: Testbed, random: Random) -> str:
    pod = testbed.twin(random.choice(testbed.templates))
    testbed.cluster.add_pod(pod)
    return f"{pod.key} waits"


def _assume_pod(testbed: Testbed, random: Random) -> str:
    if not _names(testbed):
        return ""
    waiting = [pod for pod in testbed.cluster.pending.values() if not pod.is_terminating]
    pod, name = (
        random.choice(waiting or [testbed.twin(random.choice(testbed.templates))]),
        random.choice(_names(testbed)),
    )
    testbed.cluster.assume(pod, name)
    return f"{pod.key} is assumed on {name}"


def _forget_pod(testbed: Testbed, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(testbed) if not pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    testbed.cluster.forget(pod)
    return f"{pod.key} is forgotten"


def _remove_running_pod(testbed: Testbed, random: Random) -> str:
    pod = _choose(_running_pods(testbed), random)
    if pod is None:
        return ""
    testbed.cluster.remove_pod(pod)
    return f"{pod.key} goes"


def _remove_waiting_pod(testbed: Testbed, random: Random) -> str:
    pod = _choose([*testbed.cluster.pending.values(), *testbed.cluster.strays.values()], random)
    if pod is None:
        return ""
    testbed.cluster.remove_pod(pod)
    return f"{pod.key}, which ran nowhere, goes"


def _drain_node(testbed: Testbed, random: Random) -> str:
    name = _choose(_names(testbed), random)
    if name is None:
        return ""
    for pod in testbed.cluster.pod_table.on(testbed.cluster.node_table.row_of[name]):
        testbed.cluster.remove_pod(pod)
    return f"all pods of {name} go"


def _toggle_termination(testbed: Testbed, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(testbed) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    metadata = replace(pod.pod.metadata, deletion_timestamp=None if pod.is_terminating else LONG_AGO)
    _replace_pod(testbed, pod, PodInfo(replace(pod.pod, metadata=metadata)))
    return f"{pod.key} is {'staying after all' if pod.is_terminating else 'on its way out'}"


def _relabel_pod(testbed: Testbed, random: Random) -> str:
    pod = _choose([pod for pod in _running_pods(testbed) if pod.pod.spec.node_name], random)
    if pod is None:
        return ""
    labels = random.choice(testbed.templates).pod.metadata.labels
    _replace_pod(testbed, pod, PodInfo(replace(pod.pod, metadata=replace(pod.pod.metadata, labels=labels))))
    return f"{pod.key} is relabelled {labels}"


def _nominate_pod(testbed: Testbed, random: Random) -> str:
    name = _choose(_names(testbed), random)
    if name is None:
        return ""
    known = list(testbed.cluster.pending.values())
    pod = random.choice(
        known or [testbed.twin(random.choice(testbed.templates), priority=random.choice((0, 10, 10_000)))]
    )
    testbed.scheduler.nominator.nominate(pod, name)
    return f"{pod.key} of priority {pod.priority} is promised {name}"


def _withdraw_nominations(testbed: Testbed, random: Random) -> str:
    nominator = testbed.scheduler.nominator
    promised = [pod for name in nominator for pod in nominator.pods(name)]
    withdrawn = promised if random.random() < 0.7 else promised[:1]
    for pod in withdrawn:
        nominator.withdraw(pod)
    return " and ".join(pod.key for pod in withdrawn) + " are promised nothing any more" if withdrawn else ""


# -- nodes -----------------------------------------------------------------------


def _add_node(testbed: Testbed, random: Random) -> str:
    like = _choose(_nodes(testbed), random)
    if like is None:
        return ""
    name = testbed.name("node")
    labels = {**(like.metadata.labels or {}), HOSTNAME: name}
    testbed.cluster.add_node(replace(like, metadata=replace(like.metadata, name=name, labels=labels)))
    return f"{name} comes, like {like.metadata.name}"


def _add_node_again(testbed: Testbed, random: Random) -> str:
    name = _choose(_dead(testbed), random)
    if name is None or name in testbed.cluster.node_table.row_of:
        return ""
    table = testbed.cluster.node_table
    testbed.cluster.add_node(next(node for node in reversed(table.objects) if node.metadata.name == name))
    return f"{name} comes back"


def _remove_node(testbed: Testbed, random: Random) -> str:
    name = _choose(_names(testbed), random)
    if name is None:
        return ""
    stay = random.random() < 0.5
    for pod in testbed.cluster.remove_node(name):
        if stay:
            testbed.cluster.add_pod(pod)
    return f"{name} goes, its pods {'stay' if stay else 'with it'}"


def _edit_node(edit: Callable[[Testbed, Node, Random], Node], testbed: Testbed, random: Random) -> str:
    before = _choose(_nodes(testbed), random)
    if before is None:
        return ""
    after = edit(testbed, before, random)
    testbed.cluster.add_node(after)
    differences = [
        f"{name} {new}"
        for part in ("metadata", "spec", "status")
        for name in getattr(after, part).__struct_fields__
        if (new := getattr(getattr(after, part), name)) != getattr(getattr(before, part), name)
    ]
    return f"{before.metadata.name} has " + ("nothing new" if not differences else "now " + ", ".join(differences))


def _leave_as_it_is(_: Testbed, node: Node, __: Random) -> Node:
    return node


def _toggle_cordon(_: Testbed, node: Node, __: Random) -> Node:
    return replace(node, spec=replace(node.spec, unschedulable=not node.spec.unschedulable))


def _relabel(testbed: Testbed, node: Node, random: Random) -> Node:
    labels = dict(node.metadata.labels or {})
    key = random.choice((ZONE, ZONE, HOSTNAME, *(random.choice(_nodes(testbed)).metadata.labels or ())))
    value = random.choice((None, "new", *(other.metadata.labels or {} for other in _nodes(testbed))))
    if isinstance(value, dict):
        value = value.get(key)
    labels.pop(key, None)
    if value is not None:
        labels[key] = value
    return replace(node, metadata=replace(node.metadata, labels=labels))


def _retaint(testbed: Testbed, node: Node, random: Random) -> Node:
    theirs = random.choice(_nodes(testbed)).spec.taints or []
    tolerations = [t for pod in testbed.templates for t in pod.pod.spec.tolerations or () if t.key]
    key = random.choice(tolerations).key if tolerations else "odd"
    effect = random.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
    taints = random.choice(([], theirs, [Taint(key=key, value="y", effect=effect)], [Taint(key="odd", effect=effect)]))
    return replace(node, spec=replace(node.spec, taints=list(taints)))


def _resize(testbed: Testbed, node: Node, random: Random) -> Node:
    offered = dict(node.status.allocatable or {})
    theirs = dict(random.choice(_nodes(testbed)).status.allocatable or {})
    name = random.choice(sorted({*offered, *theirs}) or ["cpu"])
    offered.pop(name, None)
    if name in theirs and random.random() < 0.8:
        offered[name] = theirs[name]
    elif random.random() < 0.5:
        offered[name] = "1"
    return replace(node, status=replace(node.status, allocatable=offered))


def _copy_node_part(testbed: Testbed, node: Node, random: Random) -> Node:
    other = random.choice(_nodes(testbed))
    part = random.choice(("spec", "status", "images", "images", "declared_features"))
    if part in ("spec", "status"):
        return replace(node, **{part: getattr(other, part)})
    value = None if random.random() < 0.2 else getattr(other.status, part)
    return replace(node, status=replace(node.status, **{part: value}))


# -- other objects ---------------------------------------------------------------


def _delete_object(testbed: Testbed, random: Random) -> str:
    obj = _any_object(testbed, random)
    if obj is None:
        return ""
    testbed.cluster.delete(obj)
    testbed.gone.append(obj)
    return f"{_label(obj)} goes"


def _restore_object(testbed: Testbed, random: Random) -> str:
    obj = _choose(testbed.gone, random)
    if obj is None:
        return ""
    testbed.cluster.put(obj)
    return f"{_label(obj)} comes back"


def _copy_object_part(testbed: Testbed, random: Random) -> str:
    obj = _any_object(testbed, random)
    if obj is None:
        return ""
    other = random.choice(list(testbed.cluster.every(type(obj)).values()))
    part = random.choice([name for name in obj.__struct_fields__ if name != "metadata"] or ["metadata"])
    if part == "metadata" or random.random() < 0.2:
        now = replace(obj, metadata=replace(obj.metadata, labels=other.metadata.labels))
        part = "labels"
    else:
        now = replace(obj, **{part: getattr(other, part)})
    testbed.cluster.put(now)
    return f"{_label(obj)} has now the {part} of {key_of(other)}"


def _change_namespace(testbed: Testbed, random: Random) -> str:
    name = random.choice(testbed.templates).namespace
    labels = random.choice((None, {"team": "a"}, {"team": "b"}))
    namespace = Namespace(metadata=ObjectMeta(name=name, labels=labels))
    before = testbed.cluster.get(Namespace, name)
    if random.random() < 0.2 and before is not None:
        testbed.cluster.delete(before)
        return f"Namespace {name} goes"
    testbed.cluster.put(namespace)
    return f"Namespace {name} is labelled {labels}"


def _group_pods(testbed: Testbed, random: Random) -> str:
    """Spreading by default begins, ends, or is over other pods."""
    pod, labels = (random.choice(testbed.templates) for _ in range(2))
    selector = {key: value for key, value in labels.labels.items() if random.random() < 0.7}
    owner = next((owner for owner in pod.pod.metadata.owner_references or () if owner.kind == "ReplicaSet"), None)
    made: Service | ReplicaSet
    if owner is not None and random.random() < 0.5:
        metadata = ObjectMeta(name=owner.name, namespace=pod.namespace)
        made = ReplicaSet(metadata=metadata, spec=WorkloadSpec(selector=LabelSelector(match_labels=selector)))
    else:
        made = Service(metadata=ObjectMeta(name="all", namespace=pod.namespace), spec=ServiceSpec(selector=selector))
    before = testbed.cluster.get(type(made), key_of(made))
    if random.random() < 0.3 and before is not None:
        testbed.cluster.delete(before)
        return f"{_label(made)} goes"
    testbed.cluster.put(made)
    return f"{_label(made)} selects {selector}"


# -- what there is to choose from --------------------------------------------------


def _choose(choices: list[T], random: Random) -> T | None:
    return random.choice(choices) if choices else None


def _names(testbed: Testbed) -> list[str]:
    return testbed.cluster.nodes_by_name.names


def _nodes(testbed: Testbed) -> list[Node]:
    table = testbed.cluster.node_table
    return [table.objects[row] for row in testbed.cluster.nodes_by_name.rows.tolist()]


def _dead(testbed: Testbed) -> list[str]:
    table = testbed.cluster.node_table
    return sorted(name for row, name in enumerate(table.names) if not table.alive[row] and name not in table.row_of)


def _running_pods(testbed: Testbed) -> list[PodInfo]:
    return sorted(testbed.cluster.pod_table, key=lambda pod: pod.key)


def _any_object(testbed: Testbed, random: Random) -> Any:
    """An object of any kind there is, kinds of few objects as often as kinds of many."""
    kinds = [kind for kind in OBJECT_KINDS if testbed.cluster.every(kind)]
    if not kinds:
        return None
    every: Mapping[str, Any] = testbed.cluster.every(random.choice(kinds))
    return every[random.choice(sorted(every))]


def _replace_pod(testbed: Testbed, before: PodInfo, after: PodInfo) -> None:
    testbed.cluster.remove_pod(before)
    testbed.cluster.add_pod(after)


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


def make_random_change(testbed: Testbed, random: Random) -> str:
    """Let one thing happen to a testbed and return what it was, "" where it could not."""
    (change,) = random.choices([each for _, each in CHANGES], [weight for weight, _ in CHANGES])
    return change(testbed, random)
