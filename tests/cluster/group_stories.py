"""Stories about pod groups: what is there, what comes one step after another, and how each is to end.

Pods come before their group where it matters that they are tried together: until the group is there, none of them is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.cluster.control_plane import Object

Step = Sequence[Object]
"""Objects that are created together."""


@dataclass(frozen=True)
class Story:
    """One of them.

    Attributes:
        title: what it is about.
        steps: what is created; after each step kube-scheduler comes to rest.
        bound: the pods of groups that have a node in the end.
        says: a part of what the condition of the group ``train`` says in the end, None where it has no condition.
        victims: the pods that are preempted.
        races: whether chance decides which of its equal pods are tried first, as it does where they come before their
            group, and what its condition says in the end: a group that is tried again before kube-scheduler has seen
            what it wrote itself may be told that it is unschedulable though it has started.
    """

    title: str
    steps: Sequence[Step]
    bound: frozenset[str] = frozenset()
    says: str | None = ""
    victims: frozenset[str] = frozenset()
    races: bool = False


def node(name: str, rack: str = "a") -> Object:
    """A node; two racks are of one size, because kube-scheduler tries them in any order and quotes the first."""
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "50"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **({"rack": rack} if rack else {})}},
        "status": {
            "allocatable": amounts,
            "capacity": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, group: str = "", cpu: str = "3", priority: str = "", **spec: object) -> Object:
    container = {"name": "main", "image": "registry.example/train:v1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": 0,
            **({"schedulingGroup": {"podGroupName": group}} if group else {}),
            **({"priorityClassName": priority} if priority else {}),
            **spec,
        },
    }


def members(count: int, group: str = "train", first: int = 0, **options: object) -> list[Object]:
    return [pod(f"{group}-{number}", group, **options) for number in range(first, first + count)]  # type: ignore[arg-type]


def group(name: str = "train", *, least: int = 0, key: str = "", priority: str = "", whole: bool = False) -> Object:
    spec: Object = {"schedulingPolicy": {"gang": {"minCount": least}} if least else {"basic": {}}}
    if key:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    if priority:
        spec["priorityClassName"] = priority
    if whole:
        spec["disruptionMode"] = {"all": {}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def names(count: int, of: str = "train") -> frozenset[str]:
    return frozenset(f"default/{of}-{number}" for number in range(count))


NODES = [node("n1"), node("n2"), node("n3", "b"), node("n4", "b"), node("n5", "")]
CLASSES: list[Object] = [
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
]
STORIES = [
    Story("a gang that fits", [[group(least=5), *members(5)]], names(5), ""),
    Story(
        "a gang that nearly fits waits with its reason, and starts when a node comes",
        [[group(least=6), *members(6)], [node("n6", "c")]],
        names(6),
        "",
    ),
    Story(
        "a gang that nearly fits and waits",
        [[group(least=6), *members(6)]],
        says="minCount (6) cannot be satisfied: 5 scheduled, 0 remaining",
    ),
    Story(
        "a gang goes to the rack that holds it",
        [[node("n6", "b")], [group(least=3, key="rack"), *members(3)]],
        names(3),
        "",
    ),
    Story(
        "no rack holds the gang",
        [[group(least=4, key="rack"), *members(4)]],
        says="0/2 placements are available, first placement status: minCount (4) cannot be satisfied",
    ),
    Story(
        "nodes lack the topology key",
        [[group(least=2, key="hall"), *members(2)]],
        says="no feasible placements found",
    ),
    Story(
        "a group preempts single pods",
        [
            [pod(f"low-{number}") for number in range(5)],
            [group(least=3, priority="urgent"), *members(3, priority="urgent")],
        ],
        names(3),
        "",
        victims=frozenset({"3 of default/low"}),
    ),
    Story(
        "a group that is disrupted whole is preempted whole",
        [
            [*members(5, "low"), group("low", least=5, whole=True)],
            [group(least=1, priority="urgent"), *members(1, priority="urgent")],
        ],
        names(1),
        "",
        victims=frozenset({"5 of default/low"}),
    ),
    Story("a pod without its PodGroup", [members(1)], says=None),
    Story("a PodGroup that comes after its pods", [members(2), [group(least=2)]], names(2), ""),
    Story("a gang with fewer pods than minCount", [[*members(2), group(least=3)]], says=None),
    Story(
        "the pod that a gang still lacked comes",
        [[*members(2), group(least=3)], members(1, first=2)],
        names(3),
        "",
    ),
    Story("of a basic group whatever fits is placed", [members(7), [group()]], says=None, races=True),
    Story("a gang starts without the pods it does not need", [members(7), [group(least=4)]], says=None, races=True),
    Story(
        "the second of two gangs waits for the nodes that the first one has",
        [[group("first", least=4), *members(4, "first")], [group(least=2), *members(2)]],
        names(4, "first"),
        "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining",
    ),
    Story(
        "pods of another priority than their group's",
        [members(2, priority="urgent"), [group(least=2)]],
        says="all pods in a single pod group should have the same priority as the pod group's priority, got 1000 and 0",
    ),
]
